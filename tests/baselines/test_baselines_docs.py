"""The page on baselines names all of them."""

from pathlib import Path

from citeweave import baselines

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_names_all_that_is_public():
    text = (DOCS / "understand" / "baselines.md").read_text("utf-8")
    missing = [name for name in baselines.__all__ if f"`{name}" not in text]
    assert missing == []
