"""k-means: fixed points, dense and sparse rows alike, no cluster left empty."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans as Reference

from citeweave.baselines.k_means import best_k_means, k_means


@pytest.fixture(scope="module")
def points():
    rng = np.random.default_rng(0)
    return np.concatenate([rng.normal(c, 0.4, (30, 4)) for c in (0, 2, 4)])


def test_a_run_ends_at_a_fixed_point(points):
    found = k_means(points, 3, np.random.default_rng(0))
    centres = np.array([points[found.labels == c].mean(axis=0) for c in range(3)])
    distance = ((points[:, None] - centres) ** 2).sum(axis=2)
    assert (distance.argmin(axis=1) == found.labels).all()
    assert found.centres == pytest.approx(centres)
    assert found.squares == pytest.approx(distance.min(axis=1).sum())


def test_the_best_of_several_runs_is_as_good_as_that_of_others(points):
    squares = [k_means(points, 6, np.random.default_rng(s)).squares for s in range(10)]
    assert max(squares) > min(squares) + 1e-6  # runs differ, so that there is something to choose
    best = best_k_means(points, 6, np.random.default_rng(3), restarts=40).squares
    assert best <= min(squares)
    wanted = Reference(6, n_init=40, random_state=0).fit(points).inertia_
    assert best == pytest.approx(wanted, rel=0.01)


def test_sparse_rows_are_clustered_as_dense_ones(points):
    thin = np.where(points > 1.0, points, 0.0)
    dense = k_means(thin, 4, np.random.default_rng(5))
    found = k_means(sparse.csr_array(thin), 4, np.random.default_rng(5))
    assert (found.labels == dense.labels).all()
    assert found.centres == pytest.approx(dense.centres)


def test_as_many_clusters_as_rows_and_rows_that_are_alike():
    few = np.arange(5.0)[:, None]
    found = best_k_means(few, 5, np.random.default_rng(0), restarts=3)
    assert found.squares == 0.0
    assert len(set(found.labels)) == 5
    same = k_means(np.ones((6, 2)), 3, np.random.default_rng(0))
    assert same.squares == 0.0
