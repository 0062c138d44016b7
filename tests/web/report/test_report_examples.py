"""The example on the page about the report does what it shows."""

import re
from pathlib import Path

import pytest

from web.report.literature import fit, literature

PAGE = Path(__file__).resolve().parents[3] / "docs" / "how-to" / "report.md"


def test_the_page_shows_what_works(tmp_path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    if not PAGE.exists():
        pytest.skip("the pages are not beside these tests")
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(code, {"model": fit(literature(), iterations=30)})  # noqa: S102 (our own page)
    assert capsys.readouterr().out.startswith("report.html")
    assert (tmp_path / "report.html").exists()
