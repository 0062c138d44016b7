"""The pages on measures name all of them."""

from pathlib import Path

from citeweave import evaluate

DOCS = Path(__file__).parents[2] / "docs"


def test_the_pages_name_all_that_is_public():
    pages = ("reference/measures.md", "understand/pmtlm.md")
    text = "".join((DOCS / page).read_text("utf-8") for page in pages)
    missing = [name for name in evaluate.__all__ if f"`{name}" not in text]
    assert missing == []
