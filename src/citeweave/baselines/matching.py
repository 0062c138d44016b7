"""Functions shared by baselines: undirected citations, clusters as topics, and words of topics."""

from typing import Any

import numpy as np
from scipy import sparse

from citeweave.corpus import Corpus
from citeweave.model.unseen import count_words

__all__ = ["mean_of_linked", "topics_of_clusters", "undirected", "words_of_topics"]

_SMOOTHING = 100.0  # share of the whole corpus in a topic's words, so that none is 0


def undirected(corpus: Corpus) -> Any:
    """Return the undirected citations as a symmetric csr_array [D, D] of counts."""
    first, second = corpus.citations.astype(np.int64).T
    size = corpus.n_documents
    one_way: Any = sparse.csr_array((np.ones(len(first)), (first, second)), shape=(size, size))
    both = (one_way + one_way.T).tocsr()
    both.sum_duplicates()
    return both


def mean_of_linked(doc_topic: np.ndarray, links: np.ndarray, documents: int) -> np.ndarray:
    """Return the mean topics of the training documents linked with each new one [D_new, K].

    A document without links gets the mean over all training documents.
    """
    sums = np.zeros((documents, doc_topic.shape[1]))
    np.add.at(sums, links[:, 0], doc_topic[links[:, 1]])
    times = np.bincount(links[:, 0], minlength=documents)
    sums[times == 0] = doc_topic.mean(axis=0)
    return np.asarray(sums / np.maximum(times, 1)[:, None])


def topics_of_clusters(
    labels: np.ndarray, rows: np.ndarray, documents: int
) -> tuple[np.ndarray, np.ndarray]:
    """Turn clusters into topics, the largest first.

    Parameters
    ----------
    labels : ndarray of int
        Cluster of each document that is in one.
    rows : ndarray of int
        Positions of these documents; for the others, the clusters' sizes are their topics.
    documents : int

    Returns
    -------
    doc_topic : ndarray, shape (documents, K)
    order : ndarray of int, shape (K,)
        Cluster of each topic; empty clusters are left out.
    """
    sizes = np.bincount(labels)
    order = np.argsort(-sizes, kind="stable")[: np.count_nonzero(sizes)]
    rank = np.empty(len(sizes), dtype=np.int64)
    rank[order] = np.arange(len(order))
    doc_topic = np.tile(sizes[order] / sizes.sum(), (documents, 1))
    doc_topic[rows] = np.eye(len(order))[rank[labels]]
    return doc_topic, order


def words_of_topics(doc_topic: np.ndarray, corpus: Corpus) -> np.ndarray:
    """Return word distributions of topics, smoothed towards the whole corpus [K, V]."""
    counts = count_words(corpus)
    by_topic = np.asarray((counts.T @ doc_topic).T)
    everywhere = np.asarray(counts.sum(axis=0)).ravel() + 1e-9
    everywhere /= everywhere.sum()
    mixed = by_topic + _SMOOTHING * everywhere
    return np.asarray(mixed / mixed.sum(axis=1, keepdims=True))
