"""Linear discriminant analysis of documents: it corrects clusters, or learns from few labels.

k-means assigns a document to the closest centre, as if documents spread equally in all directions
around their centre. They do not: some directions tell clusters apart, and along others documents of
the same cluster differ widely. The step measures this spread within the clusters and assigns each
document to the cluster under which it is most probable,

    score_dc = r_d' S^-1 m_c - m_c' S^-1 m_c / 2 + log share_c

with r_d the document's coordinates, m_c the mean of cluster c and S the covariance around the
means, common to all clusters and shrunk towards a multiple of the identity. If documents have
several sets of coordinates, these count as independent.

If the clusters of a few documents are known, the means begin with these and S with the covariance
of all documents; a few steps of EM then let the others take part, in proportion to their
probability of each cluster. However many they are, together they count as much as the known ones.

Sums are taken in the same order on every machine, whatever the number of threads.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import softmax

__all__ = ["Discriminant", "correct_clusters", "learn_discriminant"]

SHRINKAGE = 0.3
"""Share of S that is the same in all directions."""
_NO_SPREAD = 1e-12
STEPS = 5
"""Steps of EM. Three or ten make no difference."""


class Discriminant(NamedTuple):
    """Scores r' slopes + offsets of documents, with equal shares of the clusters."""

    slopes: np.ndarray
    """float64 [dimensions, C]: S^-1 m_c."""
    offsets: np.ndarray
    """float64 [C]: -m_c' S^-1 m_c / 2."""

    def scores(self, rows: np.ndarray) -> np.ndarray:
        """Return the scores of documents [D, C]."""
        return np.asarray(np.einsum("dr,rc->dc", rows, self.slopes) + self.offsets)


def learn_discriminant(rows: np.ndarray, known: np.ndarray) -> Discriminant:
    """Learn clusters from a few known documents, and from where the others are.

    Parameters
    ----------
    rows : ndarray, shape (D, dimensions)
        Coordinates of the documents.
    known : ndarray of int, shape (D,)
        Clusters of the known documents, -1 for the others. Every cluster has at least one.

    Returns
    -------
    Discriminant
        Zero if all documents are equal.

    Examples
    --------
    One group is above the other, and both are wide. The known documents are also apart from left
    to right; the others show that this does not tell the groups apart:

    >>> lower, upper = [[x, 0.0] for x in range(-3, 4)], [[x, 3.0] for x in range(-3, 4)]
    >>> known = np.full(14, -1)
    >>> known[[2, 11]] = 0, 1
    >>> found = learn_discriminant(np.array(lower + upper), known)
    >>> found.scores(np.array([[3.0, 0.0], [-3.0, 3.0]])).argmax(axis=1).tolist()
    [0, 1]
    """
    free = known < 0
    clusters = int(known.max()) + 1
    labels = np.eye(clusters)[known[~free]]
    taught = rows[~free]
    spread = _covariance(rows)
    means = np.einsum("dc,dr->cr", labels, taught) / labels.sum(axis=0)[:, None]
    found = _discriminant(spread, means)
    if found is None:
        return Discriminant(np.zeros(means.T.shape), np.zeros(clusters))
    others = rows[free]
    if not len(others):
        return found
    each = len(taught) / len(others)
    second = _moments(taught) + each * _moments(others)
    share = np.ones(clusters) / clusters
    for _ in range(STEPS):
        member = each * softmax(found.scores(others) + np.log(share), axis=1)
        size = labels.sum(axis=0) + member.sum(axis=0)
        sums = np.einsum("dc,dr->cr", labels, taught) + np.einsum("dc,dr->cr", member, others)
        means, share = sums / size[:, None], size / size.sum()
        around = second - np.einsum("c,cr,cs->rs", size, means, means)
        moved = _discriminant(around / size.sum(), means)
        if moved is None:
            break
        found = moved
    return found


def _moments(rows: np.ndarray) -> np.ndarray:
    return np.asarray(np.einsum("dr,ds->rs", rows, rows))


def _covariance(rows: np.ndarray) -> np.ndarray:
    mean = rows.mean(axis=0)
    return np.asarray(_moments(rows) / len(rows) - mean[:, None] * mean)


def _discriminant(spread: np.ndarray, means: np.ndarray) -> Discriminant | None:
    """Shrink the covariance and solve for the slopes; None without any spread."""
    evenly = float(np.einsum("rr->", spread)) / len(spread)
    if evenly < _NO_SPREAD:
        return None
    shrunk = spread * (1.0 - SHRINKAGE)
    shrunk[np.diag_indices_from(shrunk)] += SHRINKAGE * evenly
    slopes = _solve(shrunk, means.T)
    return Discriminant(slopes, -0.5 * np.einsum("cr,rc->c", means, slopes))


def correct_clusters(views: Sequence[np.ndarray], labels: np.ndarray, clusters: int) -> np.ndarray:
    """Assign documents to the clusters under which they are most probable.

    Take one step from the given clusters. They are returned unchanged if the step is not defined,
    because documents are equal within all clusters, or if it would empty a cluster.

    Parameters
    ----------
    views : sequence of ndarray, shape (D, dimensions)
        Sets of coordinates of the documents.
    labels : ndarray of int, shape (D,)
    clusters : int
        Their number; some may be empty, and remain so.

    Returns
    -------
    ndarray of int, shape (D,)

    Examples
    --------
    One cluster is above the other, and both are wider than high. A document at the left end
    of the upper one is closer to the centre of the lower one, so k-means would move it there:

    >>> lower, upper = [[x, 0.0] for x in range(-2, 3)], [[x, 1.5] for x in range(5)]
    >>> labels = np.repeat([0, 1], 20)
    >>> labels[20] = 0
    >>> int(correct_clusters([np.array(lower * 4 + upper * 4)], labels, 2)[20])
    1
    """
    size = np.bincount(labels, minlength=clusters).astype(np.float64)
    used = np.flatnonzero(size)
    scores = np.tile(np.log(size[used] / len(labels)), (len(labels), 1))
    defined = False
    for rows in views:
        found = _likelihoods(rows, labels, used, size[used])
        if found is not None:
            scores += found
            defined = True
    moved = used[scores.argmax(axis=1)]
    emptied = len(np.unique(moved)) < len(used)
    return labels if emptied or not defined else np.asarray(moved)


def _likelihoods(
    rows: np.ndarray, labels: np.ndarray, used: np.ndarray, size: np.ndarray
) -> np.ndarray | None:
    """Compute r' S^-1 m - m' S^-1 m / 2 for one set of coordinates; None without any spread."""
    member = (labels[:, None] == used).astype(np.float64)
    means = np.einsum("dc,dr->cr", member, rows) / size[:, None]
    around = rows - means[np.searchsorted(used, labels)]
    found = _discriminant(_moments(around) / len(labels), means)
    return None if found is None else found.scores(rows)


def _solve(matrix: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Solve for a positive definite matrix by elimination, always in the same order."""
    width = len(matrix)
    table = np.hstack([matrix, columns])
    for row in range(width):
        table[row] /= table[row, row]
        factor = table[:, row].copy()
        factor[row] = 0.0
        table -= factor[:, None] * table[row]
    return table[:, width:]
