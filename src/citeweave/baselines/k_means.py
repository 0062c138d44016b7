"""k-means of dense or sparse rows, with k-means++ initialisation."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

__all__ = ["Partition", "best_k_means", "k_means", "nearest_centres"]

_MOST_STEPS = 300


class Partition(NamedTuple):
    """Clusters of rows: labels [n], centres [K, columns] and the sum of squared distances."""

    labels: np.ndarray
    centres: np.ndarray
    squares: float


def best_k_means(
    points: Any,
    clusters: int,
    rng: np.random.Generator,
    *,
    restarts: int,
    report: Callable[[int], object] = lambda _: None,
) -> Partition:
    """Run `k_means` several times and keep the run with the smallest sum of squares.

    Parameters
    ----------
    points : ndarray or csr_array, shape (n, columns)
    clusters : int
        No more than n.
    rng : Generator
    restarts : int
    report : callable
        Called with the number of runs done.

    Examples
    --------
    >>> points = np.array([[0.0], [0.1], [5.0], [5.1], [9.0]])
    >>> found = best_k_means(points, 3, np.random.default_rng(0), restarts=5)
    >>> round(found.squares, 3), sorted(np.bincount(found.labels).tolist())
    (0.01, [1, 2, 2])
    """
    best = k_means(points, clusters, rng)
    report(1)
    for done in range(1, restarts):
        found = k_means(points, clusters, rng)
        if found.squares < best.squares:
            best = found
        report(done + 1)
    return best


def k_means(points: Any, clusters: int, rng: np.random.Generator) -> Partition:
    """Run Lloyd's algorithm once, initialised by k-means++ (Arthur and Vassilvitskii 2007)."""
    size = points.shape[0]
    length = _squared_lengths(points)
    centres = _rows(points, [int(rng.integers(size))])
    away = _squares(points, length, centres)[:, 0]
    for _ in range(clusters - 1):
        total = away.sum()
        chance = away / total if total > 0 else np.full(size, 1.0 / size)
        further = _rows(points, [int(rng.choice(size, p=chance))])
        centres = np.vstack([centres, further])
        away = np.minimum(away, _squares(points, length, further)[:, 0])
    labels = np.full(size, -1)
    for _ in range(_MOST_STEPS):
        distance = _squares(points, length, centres)
        nearest = distance.argmin(axis=1)
        if np.array_equal(nearest, labels):
            break
        labels = nearest
        centres = _means(points, labels, clusters)
        empty = np.flatnonzero(np.bincount(labels, minlength=clusters) == 0)
        if len(empty):  # the rows farthest from their centres become new centres
            worst = np.argsort(-distance.min(axis=1), kind="stable")[: len(empty)]
            centres[empty] = _rows(points, worst)
    squares = _squares(points, length, centres)[np.arange(size), labels].sum()
    return Partition(labels, centres, float(squares))


def nearest_centres(points: Any, centres: np.ndarray) -> np.ndarray:
    """Return the nearest centre of each row [n]."""
    found: np.ndarray = _squares(points, _squared_lengths(points), centres).argmin(axis=1)
    return found


def _dense(rows: Any) -> np.ndarray:
    return np.asarray(rows if isinstance(rows, np.ndarray) else rows.toarray())


def _rows(points: Any, index: Any) -> np.ndarray:
    return _dense(points[index])


def _squared_lengths(points: Any) -> np.ndarray:
    return np.asarray((points * points).sum(axis=1)).ravel()


def _squares(points: Any, length: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Compute squared distances [n, K]."""
    cross = np.asarray(points @ centres.T)
    found = length[:, None] + np.einsum("kj,kj->k", centres, centres) - 2.0 * cross
    return np.asarray(np.maximum(found, 0.0))


def _means(points: Any, labels: np.ndarray, clusters: int) -> np.ndarray:
    """Compute the mean row of each cluster [K, columns]; 0 for an empty one."""
    size = len(labels)
    member = sparse.csr_array((np.ones(size), (labels, np.arange(size))), shape=(clusters, size))
    times = np.maximum(np.bincount(labels, minlength=clusters), 1)
    return np.asarray(_dense(member @ points) / times[:, None])
