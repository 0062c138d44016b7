"""The examples on the pages of the baselines are true."""

import doctest
from pathlib import Path

import pytest

from citeweave import baselines

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("page", ["understand/baselines.md", "understand/pmtlm.md"])
def test_pages(page):
    outcome = doctest.testfile(str(DOCS / page), module_relative=False)
    assert outcome.attempted > 0
    assert outcome.failed == 0


def test_the_page_names_all_that_is_public():
    text = (DOCS / "understand" / "baselines.md").read_text("utf-8")
    missing = [name for name in baselines.__all__ if f"`{name}" not in text]
    assert missing == []
