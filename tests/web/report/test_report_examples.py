"""Examples in docstrings and on the page about the report do what they show."""

import doctest
import importlib
import re
from pathlib import Path

import pytest

from web.report.literature import fit, literature

MODULES = ("explore.courses", "web.glossary", "wording")
PAGE = Path(__file__).resolve().parents[3] / "docs" / "how-to" / "report.md"


@pytest.mark.parametrize("name", [f"citeweave.{name}" for name in MODULES])
def test_examples_in_docstrings(name: str) -> None:
    failed, tried = doctest.testmod(importlib.import_module(name))
    assert tried > 0
    assert failed == 0


def test_the_example_of_a_table_in_a_notebook() -> None:
    assert doctest.testmod(importlib.import_module("citeweave.html")).failed == 0


def test_the_page_shows_what_works(tmp_path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    if not PAGE.exists():
        pytest.skip("the pages are not beside these tests")
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(code, {"model": fit(literature(), iterations=30)})  # noqa: S102 (our own page)
    assert capsys.readouterr().out.startswith("report.html")
    assert (tmp_path / "report.html").exists()
