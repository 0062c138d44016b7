"""Agreement of a clustering with known classes: purity, NMI, adjusted Rand, adjusted MI.

Each takes the cluster and the class of every document, as integers or strings. Documents without
a class (a negative integer, as in `Corpus.categories`) are left out. All depend on the partitions
alone, not on the names of clusters and classes.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln

from citeweave.evaluate._arrays import labelled_pair

__all__ = [
    "ClusteringScores",
    "adjusted_mutual_information",
    "adjusted_rand",
    "clustering_scores",
    "nmi",
    "purity",
]


class ClusteringScores(NamedTuple):
    """All measures of one clustering, and the number of documents with a class behind them.

    Examples
    --------
    >>> from citeweave.evaluate import clustering_scores
    >>> scores = clustering_scores([0, 0, 1, 1], ["a", "a", "b", "b"])
    >>> scores.purity, scores.adjusted_rand, scores.documents
    (1.0, 1.0, 4)
    """

    purity: float
    nmi: float
    adjusted_rand: float
    adjusted_mutual_information: float
    documents: int


class _Counts(NamedTuple):
    """Documents n_ij in cluster i and class j where there are any, with the margins."""

    cluster: np.ndarray
    group: np.ndarray
    both: np.ndarray
    cluster_sizes: np.ndarray
    class_sizes: np.ndarray

    @property
    def total(self) -> int:
        return int(self.both.sum())

    @property
    def same(self) -> bool:
        """Whether the two partitions are one and the same."""
        return len(self.both) == len(self.cluster_sizes) == len(self.class_sizes)


def purity(clusters: Any, classes: Any) -> float:
    """Share of documents that belong to the commonest class of their cluster.

    1/D sum_i max_j n_ij. It grows with the number of clusters: compare at equal numbers.

    Parameters
    ----------
    clusters, classes : array-like, shape (D,)
        Cluster and class of each document.

    Examples
    --------
    >>> round(purity([0, 0, 0, 1, 1], ["a", "a", "b", "b", "b"]), 3)
    0.8
    """
    return _purity(_count(clusters, classes))


def nmi(clusters: Any, classes: Any) -> float:
    """Mutual information of clusters and classes over the mean of their entropies.

    The paper's formula, 2 I(O; C) / (E(O) + E(C)); 1 if there is one cluster and one class.

    Examples
    --------
    >>> nmi([0, 0, 1, 1], ["a", "a", "b", "b"]), nmi([0, 1, 0, 1], ["a", "a", "b", "b"])
    (1.0, 0.0)
    """
    return _nmi(_count(clusters, classes))


def adjusted_rand(clusters: Any, classes: Any) -> float:
    """Rand index adjusted for chance (Hubert and Arabie 1985): 0 on average for random clusters.

    Examples
    --------
    >>> adjusted_rand([0, 0, 1, 1], ["a", "a", "b", "b"])
    1.0
    """
    return _adjusted_rand(_count(clusters, classes))


def adjusted_mutual_information(clusters: Any, classes: Any) -> float:
    """Mutual information adjusted for chance (Vinh et al. 2010), with the mean of the entropies.

    (I - E[I]) / (mean entropy - E[I]), the expectation over clusterings of the same sizes.

    Examples
    --------
    >>> adjusted_mutual_information([0, 0, 1, 1], ["a", "a", "b", "b"])
    1.0
    """
    return _adjusted_mutual_information(_count(clusters, classes))


def clustering_scores(clusters: Any, classes: Any) -> ClusteringScores:
    """Return all clustering measures at once.

    Parameters
    ----------
    clusters, classes : array-like, shape (D,)
        Cluster and class of each document, such as `labels_` of a model and `Corpus.categories`.

    Returns
    -------
    ClusteringScores

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.evaluate import clustering_scores
    >>> model = citeweave.example_model()
    >>> clustering_scores(model.labels_, model.corpus_.categories).purity > 0.5
    True
    """
    counts = _count(clusters, classes)
    return ClusteringScores(
        purity=_purity(counts),
        nmi=_nmi(counts),
        adjusted_rand=_adjusted_rand(counts),
        adjusted_mutual_information=_adjusted_mutual_information(counts),
        documents=counts.total,
    )


def _count(clusters: Any, classes: Any) -> _Counts:
    given, true = labelled_pair(clusters, classes, names=("clusters", "classes"))
    _, cluster = np.unique(given, return_inverse=True)
    names, group = np.unique(true, return_inverse=True)
    keys, both = np.unique(cluster.astype(np.int64) * len(names) + group, return_counts=True)
    return _Counts(
        cluster=keys // len(names),
        group=keys % len(names),
        both=both.astype(np.int64),
        cluster_sizes=np.bincount(cluster),
        class_sizes=np.bincount(group),
    )


def _purity(counts: _Counts) -> float:
    best = np.zeros(len(counts.cluster_sizes), dtype=np.int64)
    np.maximum.at(best, counts.cluster, counts.both)
    return float(best.sum() / counts.total)


def _entropy(sizes: np.ndarray) -> float:
    share = sizes / sizes.sum()
    return float(-(share * np.log(share)).sum())


def _mutual_information(counts: _Counts) -> float:
    share = counts.both / counts.total
    margins = (
        counts.cluster_sizes[counts.cluster].astype(np.float64) * counts.class_sizes[counts.group]
    )
    # rounding may leave -1e-17 where clusters and classes are independent
    return max(0.0, float((share * np.log(counts.both * (counts.total / margins))).sum()))


def _nmi(counts: _Counts) -> float:
    if counts.same:  # also where both entropies are 0
        return 1.0
    entropies = _entropy(counts.cluster_sizes) + _entropy(counts.class_sizes)
    return 2.0 * _mutual_information(counts) / entropies


def _pairs(sizes: np.ndarray) -> float:
    return float((sizes.astype(np.float64) * (sizes - 1)).sum() / 2.0)


def _adjusted_rand(counts: _Counts) -> float:
    if counts.same:
        return 1.0
    together = _pairs(counts.both)
    by_cluster, by_class = _pairs(counts.cluster_sizes), _pairs(counts.class_sizes)
    expected = by_cluster * by_class / _pairs(np.array([counts.total]))
    return (together - expected) / ((by_cluster + by_class) / 2.0 - expected)


def _adjusted_mutual_information(counts: _Counts) -> float:
    # E[I] reaches the mean entropy only where both partitions are one cluster, or both are all
    # single documents; they are then the same, so below there is no division by zero
    if counts.same:
        return 1.0
    expected = _expected_information(counts)
    highest = (_entropy(counts.cluster_sizes) + _entropy(counts.class_sizes)) / 2.0
    return (_mutual_information(counts) - expected) / (highest - expected)


def _expected_information(counts: _Counts) -> float:
    """Mean of I over all pairs of partitions with these sizes: n_ij is hypergeometric.

    Sizes that occur several times are worked out once.
    """
    n = counts.total
    first, first_times = np.unique(counts.cluster_sizes, return_counts=True)
    second, second_times = np.unique(counts.class_sizes, return_counts=True)
    log_factorial = gammaln(np.arange(n + 1, dtype=np.float64) + 1.0)
    total = 0.0
    for a, a_times in zip(first.tolist(), first_times.tolist(), strict=True):
        for b, b_times in zip(second.tolist(), second_times.tolist(), strict=True):
            both = np.arange(max(1, a + b - n), min(a, b) + 1)
            log_probability = (
                (log_factorial[a] - log_factorial[a - both])
                + (log_factorial[b] - log_factorial[b - both])
                + (log_factorial[n - a] - log_factorial[n - a - b + both])
                + (log_factorial[n - b] - log_factorial[n])
                - log_factorial[both]
            )
            information = both / n * np.log(both * (n / (float(a) * b)))
            total += a_times * b_times * float((information * np.exp(log_probability)).sum())
    return total
