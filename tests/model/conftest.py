"""Small corpora, drawn once."""

import sys
from pathlib import Path

import pytest

from citeweave.corpus import Corpus
from citeweave.simulate import simulate

sys.path.insert(0, str(Path(__file__).parent))  # for model_tools


@pytest.fixture(scope="session")
def small():
    """Seventy short documents with authors, categories and citations."""
    return simulate(
        documents=70,
        vocabulary=60,
        topics=3,
        authors=15,
        categories=3,
        words_per_document=12,
        citations=120,
        seed=3,
    ).corpus


@pytest.fixture(scope="session")
def people():
    """Six documents whose groups can be worked out by hand.

    First authors: Ann of 0, 1, 2; Bo of 3; nobody of 4 and 5. Categories: x, x, y, y, x, none.
    """
    return Corpus.from_lists(
        tokens=[["a", "b"], ["a"], ["b", "c"], ["c"], ["a", "c", "c"], ["b"]],
        authors=[["Ann"], ["Ann", "Bo", "Ann"], ["Ann"], ["Bo", "Cy"], None, []],
        categories=["x", "x", "y", "y", "x", None],
        citations=[(1, 0), (4, 0), (5, 3)],
    )
