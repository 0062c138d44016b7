"""A small corpus with authors, categories and citations, drawn once."""

import pytest

from reference.drawn import tiny_literature


@pytest.fixture(scope="session")
def small():
    return tiny_literature(
        documents=80, vocabulary=60, authors=20, words_per_document=14, citations=140
    )
