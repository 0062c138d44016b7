"""A tiny set on disk, and what experiments are given to run on it."""

import pytest

from reference.drawn import tiny_literature
from reproduction import Context


@pytest.fixture(scope="session")
def tiny_corpus():
    return tiny_literature(vocabulary=50, words_per_document=14, citations=110, seed=8)


@pytest.fixture(scope="module")
def context_for(tiny_corpus, tmp_path_factory):
    """Give a function that makes a context in which the tiny corpus is the set of a name."""

    def make(name: str) -> Context:
        folder = tmp_path_factory.mktemp("tiny")
        tiny_corpus.save(folder / "corpus")
        return Context(
            out=folder / "out",
            datasets=(name,),
            corpora={name: folder / "corpus"},
            runs=2,
            quick=True,
            iterations=8,
        )

    return make
