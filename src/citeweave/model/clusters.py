"""Clusters of documents to begin with: k-means on words, smoothed over citations.

The rows of X are the documents' words by tf-idf, of length 1. Citations smooth them: with L the
normalised Laplacian of the graph that they draw (directions aside), S = (I - L / 2)^k takes out
what differs between neighbours, and documents are clustered by the rows of S X. That matrix is
never made: scores of documents are S (X c) and centres are X' (S m), so that all is products of
sparse matrices with a few columns. They are added up in the same order on every machine, whatever
the number of threads.
"""

from typing import Any, NamedTuple

import numpy as np

from citeweave.corpus import Corpus
from citeweave.model.consensus import consensus_memberships
from citeweave.model.smoothing import low_pass, normalised_graph, smooth, tfidf

__all__ = [
    "Clusters",
    "SmoothedWords",
    "agreed_clusters",
    "cluster_documents",
    "grow_clusters",
    "smooth_words",
]

SMOOTHING = 4
"""k: how many steps along citations words are carried."""
RESTARTS = 3
AGREEING = 5
"""Runs whose consensus papers are drawn into categories from."""
MOST_ROUNDS = 30
SKETCHED = 128
"""Columns of the random projection in which first centres are chosen and lengths measured."""


class SmoothedWords(NamedTuple):
    """The rows of S X that documents are clustered by, as their factors."""

    words: Any
    """csr_array [D, V]: X."""
    graph: Any
    """csr_array [D, D]: I - L / 2, which is applied ``steps`` times."""
    steps: int
    weight: np.ndarray
    """float64 [D]: 1 over the length of each row, as a random projection measures it, or 0."""


class Clusters(NamedTuple):
    """Where k-means has ended."""

    closeness: float
    """Mean cosine of documents with the centre of their cluster."""
    labels: np.ndarray
    """int64 [D]."""
    centres: np.ndarray
    """float64 [V, clusters], each of length 1."""
    scores: np.ndarray
    """float64 [D, clusters]: cosines of documents with all centres."""


def smooth_words(corpus: Corpus, rng: np.random.Generator) -> tuple[SmoothedWords, np.ndarray]:
    """Prepare the rows of S X, and sketches of them [D, columns] of length 1."""
    words = tfidf(corpus)
    graph = low_pass(normalised_graph(corpus, loops=False))
    steps = SMOOTHING if len(corpus.citations) else 0
    sketch = smooth(graph, words @ rng.standard_normal((words.shape[1], SKETCHED)), steps)
    length = np.sqrt(np.einsum("dr,dr->d", sketch, sketch) / SKETCHED)
    weight = np.divide(1.0, length, out=np.zeros_like(length), where=length > 0)
    sketch *= weight[:, None] / np.sqrt(SKETCHED)
    return SmoothedWords(words, graph, steps, weight), sketch


def grow_clusters(smoothed: SmoothedWords, known: np.ndarray) -> Clusters:
    """Let clusters grow around known documents (-1: not known), of which each cluster has some."""
    member = np.zeros((len(known), int(known.max()) + 1))
    member[known >= 0, known[known >= 0]] = smoothed.weight[known >= 0]
    return _k_means(smoothed, member, known)


def cluster_documents(
    corpus: Corpus, clusters: int, rng: np.random.Generator, *, known: np.ndarray | None = None
) -> np.ndarray:
    """Cluster the documents of a corpus by words and citations, by spherical k-means.

    The best of a few runs is taken, each begun by k-means++.

    Parameters
    ----------
    corpus : Corpus
    clusters : int
        At most so many; no more than there are documents.
    rng : Generator
    known : ndarray of int, shape (D,), optional
        Clusters of documents that are known and kept, -1 for the others.

    Returns
    -------
    ndarray of int, shape (D,)

    Examples
    --------
    >>> corpus = Corpus.from_lists(tokens=[["sun", "moon"], ["sun", "star"], ["oak", "elm"]] * 4)
    >>> found = cluster_documents(corpus, 2, np.random.default_rng(1))
    >>> found.shape, len(set(found[[0, 1, 3]])), bool(found[0] != found[2])
    ((12,), 1, True)
    """
    smoothed, sketch = smooth_words(corpus, rng)
    weight = smoothed.weight
    best, labels = -np.inf, np.zeros(corpus.n_documents, np.int64)
    if known is None or not len(known):
        known = np.full(corpus.n_documents, -1)
    centred = int(known.max(initial=-1)) + 1  # clusters that known documents have a centre for
    for _ in range(RESTARTS if centred < clusters else 1):
        first = np.zeros((corpus.n_documents, min(clusters, corpus.n_documents)))
        first[known >= 0, known[known >= 0]] = weight[known >= 0]
        drawn = np.zeros(0, np.int64)
        if centred < first.shape[1]:
            taken = np.flatnonzero(known >= 0)
            drawn = _first_centres(sketch, first.shape[1] - centred, rng, taken)
        first[drawn, centred + np.arange(len(drawn))] = weight[drawn]
        found = _k_means(smoothed, first[:, : centred + len(drawn)], known)
        if found.closeness > best:
            best, labels = found.closeness, found.labels
    return labels


def agreed_clusters(
    corpus: Corpus, clusters: int, rng: np.random.Generator, *, known: np.ndarray
) -> np.ndarray:
    """Give the clusters that several runs of `cluster_documents` agree on.

    Runs differ by their first centres: where every cluster has known documents there are none to
    draw, and one run is enough.
    """
    if int(known.max(initial=-1)) + 1 >= clusters:
        return cluster_documents(corpus, clusters, rng, known=known)
    runs = [cluster_documents(corpus, clusters, rng, known=known) for _ in range(AGREEING)]
    classes = consensus_memberships([np.eye(clusters)[found] for found in runs])
    return np.where(known >= 0, known, classes.argmax(axis=1))


def _first_centres(
    sketch: np.ndarray, clusters: int, rng: np.random.Generator, taken: np.ndarray
) -> np.ndarray:
    """Choose documents far from each other and from those taken, by k-means++ on sketches."""
    chosen = [] if len(taken) else [int(rng.integers(len(sketch)))]
    near = np.full(len(sketch), 2.0)
    for d in taken.tolist():
        near = np.minimum(near, _distance(sketch, d))
    while len(chosen) < clusters:
        if chosen:
            near = np.minimum(near, _distance(sketch, chosen[-1]))
        near[chosen] = 0.0
        near[taken] = 0.0
        total = np.cumsum(near)
        if total[-1] == 0.0:
            break
        chosen.append(int(np.searchsorted(total, rng.random() * total[-1], side="right")))
    return np.array(chosen, np.int64)


def _distance(sketch: np.ndarray, document: int) -> np.ndarray:
    """Squared distance of all documents to one, of sketches of length 1."""
    likeness = np.einsum("dr,r->d", sketch, sketch[document])
    return np.asarray(np.maximum(2.0 - 2.0 * likeness, 0.0))


def _k_means(smoothed: SmoothedWords, member: np.ndarray, known: np.ndarray) -> Clusters:
    """Let documents and centres find each other.

    ``member`` [documents, clusters] has the weights of those that the first centres are made of,
    and is used up.
    """
    words, graph, steps, weight = smoothed
    documents = words.shape[0]
    labels = np.full(documents, -1)
    backwards = words.T.tocsr()
    for _ in range(MOST_ROUNDS):
        centres = backwards @ smooth(graph, member, steps)  # S is symmetric
        centres /= np.maximum(np.sqrt(np.einsum("vk,vk->k", centres, centres)), 1e-300)
        scores = smooth(graph, words @ centres, steps) * weight[:, None]
        found = np.where(known >= 0, known, scores.argmax(axis=1))
        if np.array_equal(found, labels):
            break
        labels = found
        closeness = scores[np.arange(documents), labels]
        member[:] = 0.0
        member[np.arange(documents), labels] = weight
        empty = np.flatnonzero(~member.any(axis=0))
        if len(empty):  # the documents that fit worst have centres of their own
            alone = np.argsort(np.where(known >= 0, np.inf, closeness), kind="stable")[: len(empty)]
            member[alone, empty] = weight[alone]
    return Clusters(float(closeness.mean()), labels, centres, scores)
