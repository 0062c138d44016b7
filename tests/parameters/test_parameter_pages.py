"""The tables of the documentation are those of the code."""

import importlib.util
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def tables():
    spec = importlib.util.spec_from_file_location("tables", PAGES / "tables.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_no_page_is_behind(tables):
    pages = [page.name for page, _ in tables.behind(tables.make_tables())]
    assert not pages, f"the tables of {pages} are behind: python docs/tables.py renews them"


def test_every_table_stands_on_a_page(tables):
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES.rglob("*.md"))
    for name in tables.make_tables():
        assert text.count(f"<!-- table {name} -->") == 1


def test_a_page_that_is_behind_is_seen(tables):
    page = "before\n<!-- table SCNTM -->\nold\n<!-- end of table -->\nafter\n"
    new = tables.renewed(page, {"SCNTM": "| new |"})
    assert new == "before\n<!-- table SCNTM -->\n| new |\n<!-- end of table -->\nafter\n"
    assert tables.renewed(new, {"SCNTM": "| new |"}) == new
