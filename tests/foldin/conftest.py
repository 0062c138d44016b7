"""A simulated literature with its truth, split, and models of the training part."""

import math

import numpy as np
import pytest

from citeweave import SCNTM
from citeweave.simulate import simulate


@pytest.fixture(scope="session")
def parts():
    """Short documents with authors, categories and citations, a fifth of them held out."""
    found = simulate(
        documents=500,
        vocabulary=120,
        topics=4,
        authors=60,
        categories=3,
        words_per_document=16,
        citations=1500,
        seed=6,
    )
    return found.corpus.split(test=0.2, seed=0)


@pytest.fixture(scope="session")
def topical():
    """Documents of few topics each, in categories: their truth, a split, models by eta."""
    found = simulate(
        documents=600,
        vocabulary=200,
        topics=4,
        categories=3,
        eta=math.inf,
        words_per_document=12,
        citations=5000,
        topic_share=np.full(4, 0.25),
        concentrations={"theta_prime": 1.0, "nu": 2.0},
        seed=7,
    )
    split = found.corpus.split(test=0.2, seed=0)
    models = {
        eta: SCNTM(topics=4, iterations=150, seed=1, eta=eta, chains=1).fit(split.train)
        for eta in (0, math.inf)
    }
    return found, split, models


@pytest.fixture(scope="session")
def fit(parts):
    """Fit a model of the training part, each once a session."""
    models = {}

    def fitted(**parameters):
        key = repr(sorted(parameters.items(), key=lambda item: item[0]))
        if key not in models:
            models[key] = SCNTM(topics=5, iterations=60, seed=1, chains=1, **parameters).fit(
                parts.train
            )
        return models[key]

    return fitted
