"""The examples on the pages are true, and the pages name what there is."""

import doctest
from pathlib import Path

import pytest

from citeweave import evaluate

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("page", ["reference/measures.md"])
def test_pages(page):
    outcome = doctest.testfile(str(DOCS / page), module_relative=False)
    assert outcome.attempted > 0
    assert outcome.failed == 0


def test_the_pages_name_all_that_is_public():
    pages = ("reference/measures.md", "understand/pmtlm.md")
    text = "".join((DOCS / page).read_text("utf-8") for page in pages)
    missing = [name for name in evaluate.__all__ if f"`{name}" not in text]
    assert missing == []
