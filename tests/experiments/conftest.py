"""A small corpus with authors, categories and citations, drawn once."""

import pytest

from citeweave.simulate import simulate


@pytest.fixture(scope="session")
def small():
    return simulate(
        documents=80,
        vocabulary=60,
        topics=3,
        authors=20,
        categories=3,
        words_per_document=14,
        citations=140,
        seed=5,
    ).corpus
