"""Clustering and classification measures against scikit-learn and cases worked by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

from citeweave.errors import ParameterError
from citeweave.evaluate import (
    accuracy,
    adjusted_mutual_information,
    adjusted_rand,
    class_scores,
    clustering_scores,
    macro_f1,
    nmi,
    purity,
)

labels = st.integers(2, 40).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(0, 5), min_size=n, max_size=n),
        st.lists(st.integers(0, 3), min_size=n, max_size=n),
    )
)


@settings(max_examples=60)
@given(labels)
def test_scikit_learn_agrees(pair):
    clusters, classes = pair
    assert nmi(clusters, classes) == pytest.approx(
        metrics.normalized_mutual_info_score(classes, clusters), abs=1e-9
    )
    assert adjusted_rand(clusters, classes) == pytest.approx(
        metrics.adjusted_rand_score(classes, clusters), abs=1e-9
    )
    assert adjusted_mutual_information(clusters, classes) == pytest.approx(
        metrics.adjusted_mutual_info_score(classes, clusters), abs=1e-7
    )
    table = metrics.cluster.contingency_matrix(classes, clusters)
    assert purity(clusters, classes) == pytest.approx(table.max(axis=0).sum() / table.sum())


@settings(max_examples=40)
@given(labels)
def test_scikit_learn_agrees_on_classification(pair):
    predicted, classes = pair
    assert accuracy(predicted, classes) == pytest.approx(metrics.accuracy_score(classes, predicted))
    assert macro_f1(predicted, classes) == pytest.approx(
        metrics.f1_score(classes, predicted, average="macro", zero_division=0)
    )
    scores = class_scores(predicted, classes)
    names = sorted({*classes, *predicted})
    assert scores.names.tolist() == names
    if len(names) > 1:  # scikit-learn warns of a table of one class
        assert (scores.confusion == metrics.confusion_matrix(classes, predicted)).all()
    precision, recall, f1, support = metrics.precision_recall_fscore_support(
        classes, predicted, zero_division=0
    )
    assert np.allclose(scores.precision, precision)
    assert np.allclose(scores.recall, recall)
    assert np.allclose(scores.f1, f1)
    assert (scores.documents == support).all()


def test_the_book_s_example():
    # Manning, Raghavan and Schütze (2008), figure 16.4: three clusters of x, o and diamonds
    clusters = [0] * 6 + [1] * 6 + [2] * 5
    classes = list("xxxxxo" + "xoooo#" + "xx###")
    assert purity(clusters, classes) == pytest.approx(12 / 17)
    assert nmi(clusters, classes) == pytest.approx(0.36, abs=0.005)


def test_expected_information_by_permuting():
    rng = np.random.default_rng(3)
    clusters, classes = rng.integers(0, 4, 12), rng.integers(0, 3, 12)
    shuffled = [
        adjusted_mutual_information(rng.permutation(clusters), classes) for _ in range(3000)
    ]
    assert abs(np.mean(shuffled)) < 4 * np.std(shuffled) / np.sqrt(len(shuffled))


def test_names_do_not_matter_and_all_at_once_is_the_same():
    rng = np.random.default_rng(0)
    clusters, classes = rng.integers(0, 7, 500), rng.integers(0, 5, 500)
    scores = clustering_scores(clusters, classes)
    renamed = clustering_scores(np.array(list("gfedcba"))[clusters], 10 - classes)
    assert scores == pytest.approx(renamed)
    assert scores.purity == purity(clusters, classes)
    assert scores.nmi == nmi(clusters, classes)
    assert scores.adjusted_rand == adjusted_rand(clusters, classes)
    assert scores.adjusted_mutual_information == adjusted_mutual_information(clusters, classes)


@pytest.mark.parametrize("measure", [nmi, adjusted_rand, adjusted_mutual_information])
def test_the_measures_that_are_symmetric(measure):
    rng = np.random.default_rng(1)
    first, second = rng.integers(0, 7, 200), rng.integers(0, 5, 200)
    assert measure(first, second) == pytest.approx(measure(second, first))


def test_large_counts_do_not_overflow():
    clusters = np.repeat([0, 1], 200_000)
    classes = np.tile([0, 1], 200_000)
    scores = clustering_scores(clusters, classes)
    assert scores.adjusted_rand == pytest.approx(0.0, abs=1e-5)
    assert scores.adjusted_mutual_information == pytest.approx(0.0, abs=1e-5)


def test_documents_without_a_class_are_left_out():
    scores = clustering_scores([0, 0, 1, 1, 2], [4, 4, 5, 5, -1])
    assert scores == (1.0, 1.0, 1.0, 1.0, 4)
    assert accuracy([0, 1, 1], [0, 1, -1]) == 1.0


@pytest.mark.parametrize(
    ("clusters", "classes", "text"),
    [
        ([0, 1], [0], "Got 2 and 1 entries"),
        ([0, -1], [0, 1], "Got -1 for document 1"),
        ([0, 1], [-1, -1], "negative values"),
        ([], [], r"shape \(0,\)"),
        ([0.5, 1.0], [0, 1], "float64"),
    ],
)
def test_bad_labels(clusters, classes, text):
    with pytest.raises(ParameterError, match=text):
        nmi(clusters, classes)


def test_labels_of_two_kinds_are_not_compared():
    with pytest.raises(ParameterError, match="both integers or both strings"):
        accuracy(["a", "b"], [0, 1])
