"""The examples on the pages of the API are true."""

import doctest
import importlib.util
from pathlib import Path

import pytest

API = Path(__file__).parents[2] / "docs" / "reference" / "api"
PAGES = [page.stem for page in sorted(API.glob("*.md")) if ">>>" in page.read_text("utf-8")]


@pytest.mark.parametrize("page", PAGES)
def test_page(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if page == "plots" and importlib.util.find_spec("matplotlib") is None:
        pytest.skip("needs the extra 'plot': pip install '.[plot]'")
    monkeypatch.chdir(tmp_path)
    outcome = doctest.testfile(str(API / f"{page}.md"), module_relative=False)
    assert outcome.attempted > 0
    assert outcome.failed == 0
