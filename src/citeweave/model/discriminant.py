"""One step of linear discriminant analysis, which corrects clusters of documents.

k-means assigns a document to the closest centre, as if documents spread equally in all directions
around their centre. They do not: some directions tell clusters apart, and along others documents of
the same cluster differ widely. The step measures this spread within the clusters and assigns each
document to the cluster under which it is most probable,

    score_dc = r_d' S^-1 m_c - m_c' S^-1 m_c / 2 + log share_c

with r_d the document's coordinates, m_c the mean of cluster c and S the covariance around the
means, common to all clusters and shrunk towards a multiple of the identity. If documents have
several sets of coordinates, these count as independent. Sums are taken in the same order on every
machine, whatever the number of threads.
"""

from collections.abc import Sequence

import numpy as np

__all__ = ["correct_clusters"]

SHRINKAGE = 0.3
"""Share of S that is the same in all directions."""
_NO_SPREAD = 1e-12


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
    spread = np.einsum("dr,ds->rs", around, around) / len(labels)
    evenly = float(np.einsum("rr->", spread)) / len(spread)
    if evenly < _NO_SPREAD:
        return None
    spread *= 1.0 - SHRINKAGE
    spread[np.diag_indices_from(spread)] += SHRINKAGE * evenly
    slopes = _solve(spread, means.T)
    offsets = -0.5 * np.einsum("cr,rc->c", means, slopes)
    return np.asarray(np.einsum("dr,rc->dc", rows, slopes) + offsets)


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
