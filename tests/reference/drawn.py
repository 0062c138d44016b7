"""The tiny corpus with authors, categories and citations that several folders of tests use."""

from citeweave.corpus import Corpus
from citeweave.simulate import simulate


def tiny_literature(**changes: int) -> Corpus:
    """Sixty papers, always the same; sizes can be changed by name."""
    sizes = {
        "documents": 60,
        "vocabulary": 80,
        "topics": 3,
        "authors": 12,
        "categories": 3,
        "words_per_document": 15,
        "citations": 120,
        "seed": 5,
    }
    return simulate(**(sizes | changes)).corpus
