"""Drawn categories against labels: those of all papers, and those that were held out."""

import numpy as np
import pytest

from citeweave import SCNTM
from citeweave.corpus import Corpus
from citeweave.errors import ParameterError
from citeweave.evaluate import evaluate, hold_out

KIND = np.arange(48) % 3
FIT = {"topics": 6, "iterations": 60, "exactly": True, "seed": 2, "chains": 1}


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(5)
    words = [[f"w{k}-{w}" for w in rng.integers(0, 12, 15)] for k in KIND]
    pairs = [(d, (d + 3 * step) % 48) for d in range(48) for step in (1, 4)]
    return Corpus.from_lists(tokens=words, citations=pairs, categories=[f"k{k}" for k in KIND])


def test_some_labels_stay_and_the_others_are_held_out(corpus):
    train, held_out = hold_out(corpus, labels=4, seed=1)
    kept = np.asarray(train.categories)
    assert np.bincount(kept[kept >= 0]).tolist() == [4, 4, 4]
    document, label = held_out["labels"].T
    assert sorted([*document, *np.flatnonzero(kept >= 0)]) == list(range(48))
    np.testing.assert_array_equal(label, KIND[document])
    assert train.fingerprint != corpus.fingerprint
    again, _ = hold_out(corpus, labels=4, seed=1)
    np.testing.assert_array_equal(again.categories, kept)
    with pytest.raises(ParameterError, match="labels"):
        hold_out(corpus, labels=0)


def test_held_out_labels_are_scored(corpus):
    train, held_out = hold_out(corpus, labels=2, seed=1)
    model = SCNTM(labels="some", **FIT).fit(train, held_out=held_out)
    found = evaluate(model, seed=0)
    where = "42 held-out labels"
    document, label = held_out["labels"].T
    right = float(np.mean(model.category_[document] == label))
    assert found["accuracy", where] == pytest.approx(right)
    assert right > 0.9
    assert found["calibration error", where] < 0.2


def test_clusters_are_drawn_categories_where_there_are_any(corpus):
    model = SCNTM(categories=3, **FIT).fit(corpus)
    (row,) = [one for one in evaluate(model) if one.name == "purity"]
    assert row.how.startswith("drawn category against category")
    assert row.value > 0.95
    swapped = evaluate(SCNTM(**(FIT | {"topics": 2, "iterations": 8})).fit(corpus))
    (row,) = [one for one in swapped if one.name == "purity"]
    assert row.how.startswith("dominant topic against category")


def test_models_without_labels_tell_none(corpus):
    train, held_out = hold_out(corpus, labels=2, seed=1)
    for options, told in (
        ({"categories": 3}, "has not seen labels"),
        ({}, "has no latent categories"),
    ):
        model = SCNTM(**(FIT | {"iterations": 8} | options)).fit(train, held_out=held_out)
        (row,) = [one for one in evaluate(model) if one.name == "calibration error"]
        assert row.value is None
        assert told in row.how
