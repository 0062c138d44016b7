"""Small fitted models that the tests of exploration share."""

import sys
from pathlib import Path

import numpy as np
import pytest

from citeweave import SCNTM
from citeweave.corpus import Corpus
from citeweave.explore import Exploration
from citeweave.simulate import simulate

sys.path.insert(0, str(Path(__file__).parent))  # for explore_tools

TOPICS = 5
SHORT = {"topics": TOPICS, "iterations": 40, "network_from": 15, "seed": 2}


@pytest.fixture(scope="session")
def corpus() -> Corpus:
    """Ninety papers with several authors, categories, citations, titles and years."""
    drawn = simulate(
        documents=90,
        vocabulary=70,
        topics=3,
        authors=18,
        categories=3,
        words_per_document=20,
        citations=260,
        seed=7,
    ).corpus
    rng = np.random.default_rng(3)
    words = [drawn.words(d) for d in range(drawn.n_documents)]
    vocabulary = [f"word_{drawn.vocabulary[0]}", *drawn.vocabulary[1:]]
    renamed = dict(zip(drawn.vocabulary, vocabulary, strict=True))
    authors = [
        [*drawn.authors(d), *(f"Co Author {i}" for i in rng.choice(6, 2, replace=False))]
        for d in range(drawn.n_documents)
    ]
    return Corpus.from_lists(
        tokens=[[renamed[word] for word in row] for row in words],
        vocabulary=vocabulary,
        authors=authors,
        categories=[f"area {c}" for c in drawn.categories.tolist()],
        citations=drawn.citations.tolist(),
        titles=[f"On {row[0]} and {row[-1]}, part {d}" for d, row in enumerate(words)],
        ids=[f"10.1000/paper.{d}" for d in range(drawn.n_documents)],
        metadata={"year": (2000 + rng.integers(0, 8, drawn.n_documents)).tolist()},
    )


@pytest.fixture(scope="session")
def run(corpus, tmp_path_factory):
    """A run of two chains in a folder."""
    folder = tmp_path_factory.mktemp("explore") / "run"
    SCNTM(**SHORT, chains=2, combine="average").fit(corpus, out=folder)
    return folder


@pytest.fixture(scope="session")
def view(run) -> Exploration:
    return Exploration(run)


@pytest.fixture(scope="session")
def supervised(corpus) -> Exploration:
    return Exploration(SCNTM(**SHORT, eta="inf", chains=1).fit(corpus))


@pytest.fixture(scope="session")
def bare() -> Corpus:
    """Thirty papers of words alone: no authors, titles, years, categories or citations."""
    rng = np.random.default_rng(1)
    return Corpus.from_lists(
        tokens=[[f"w{i}" for i in rng.integers(0, 12, 9) + 12 * (d % 2)] for d in range(30)]
    )
