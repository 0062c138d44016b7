"""The step of linear discriminant analysis that corrects initial categories."""

import numpy as np
import pytest

from citeweave.model.discriminant import SHRINKAGE, correct_clusters


def likelihoods(rows, labels):
    """Log density of rows under the normal distribution of each cluster, up to a constant."""
    means = np.stack([rows[labels == kind].mean(axis=0) for kind in np.unique(labels)])
    around = rows - means[labels]
    spread = around.T @ around / len(rows)
    even = np.trace(spread) / len(spread) * np.eye(len(spread))
    inverse = np.linalg.inv((1 - SHRINKAGE) * spread + SHRINKAGE * even)
    apart = rows[:, None, :] - means
    return -np.einsum("dcr,rs,dcs->dc", apart, inverse, apart) / 2


def by_definition(labels, *views):
    """Assign rows to clusters, none of which is empty, by the density of each."""
    shares = np.log(np.bincount(labels) / len(labels))
    return (shares + sum(likelihoods(rows, labels) for rows in views)).argmax(axis=1)


@pytest.fixture(scope="module")
def wide():
    """Three clusters, wide in a direction that tells them apart little, as k-means divides them."""
    rng = np.random.default_rng(3)
    truth = np.repeat([0, 1, 2], [150, 100, 50])
    centres = np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 0.0], [0.0, 1.0, 2.0]])
    rows = centres[truth] + rng.standard_normal((300, 3)) * [2.0, 0.5, 0.5]
    closest = ((rows[:, None, :] - centres) ** 2).sum(axis=2).argmin(axis=1)
    return rows, truth, closest


def test_documents_go_where_they_are_most_probable(wide):
    rows, truth, closest = wide
    found = correct_clusters([rows], closest, 3)
    np.testing.assert_array_equal(found, by_definition(closest, rows))
    assert np.mean(found == truth) > np.mean(closest == truth)


def test_numbers_of_clusters_do_not_matter(wide):
    rows, _, closest = wide
    found = correct_clusters([rows], closest, 3)
    order = np.array([4, 0, 2])  # clusters 1 and 3 are empty
    np.testing.assert_array_equal(correct_clusters([rows], order[closest], 5), order[found])


def test_clusters_without_spread_stay():
    labels = np.array([0, 0, 1, 1, 1])
    np.testing.assert_array_equal(correct_clusters([np.eye(2)[labels]], labels, 2), labels)
    np.testing.assert_array_equal(correct_clusters([np.zeros((5, 2))], labels, 2), labels)


def test_no_cluster_is_emptied():
    """A single document amid a large cluster would be drawn into it."""
    rows = np.random.default_rng(1).standard_normal((50, 2))
    rows[7] = rows.mean(axis=0)
    labels = np.zeros(50, np.int64)
    labels[7] = 1
    assert set(by_definition(labels, rows)) == {0}
    np.testing.assert_array_equal(correct_clusters([rows], labels, 2), labels)


def test_sets_of_coordinates_count_as_independent(wide):
    """Side by side they would be correlated; the same set twice counts twice."""
    rows, _, closest = wide
    other = np.random.default_rng(5).standard_normal((len(rows), 2)) + closest[:, None]
    expected = by_definition(closest, rows, other)
    np.testing.assert_array_equal(correct_clusters([rows, other], closest, 3), expected)
    without = correct_clusters([rows, np.zeros((len(rows), 2))], closest, 3)
    np.testing.assert_array_equal(without, correct_clusters([rows], closest, 3))
