"""Clusters of the citation graph alone: Louvain communities and spectral clusters.

Both ignore the direction of citations and use no words for clustering. The words of a cluster are
counted afterwards, so that its topic can be read like any other.
"""

from abc import abstractmethod
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import eigsh

from citeweave.baselines._graph_kernels import move_nodes
from citeweave.baselines.base import Baseline, Outcome, Report, Step, seed_parameter
from citeweave.baselines.k_means import best_k_means
from citeweave.baselines.matching import (
    mean_of_linked,
    topics_of_clusters,
    undirected,
    words_of_topics,
)
from citeweave.corpus import Corpus
from citeweave.errors import CorpusError
from citeweave.parameters import declared, integer, number, parameter

__all__ = ["Louvain", "SpectralClustering", "modularity"]

_MOST_SWEEPS = 100


def modularity(graph: Any, labels: np.ndarray, *, resolution: float = 1.0) -> float:
    """Return the share of links inside communities minus that expected from degrees (Newman 2004).

    Parameters
    ----------
    graph : sparse csr_array, shape (n, n)
        Symmetric weights of links.
    labels : ndarray of int, shape (n,)
        Community of each node.
    resolution : float
        Weight of the expected share.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> pairs = sparse.csr_array(np.kron(np.eye(2), [[0, 1], [1, 0]]))
    >>> modularity(pairs, np.array([0, 0, 1, 1])), modularity(pairs, np.zeros(4, int))
    (0.5, 0.0)
    """
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    inside = graph.data[labels[rows] == labels[graph.indices]].sum()
    totals = np.bincount(labels, weights=degrees)
    whole = degrees.sum()
    return float(inside / whole - resolution * (totals**2).sum() / whole**2)


class _GraphClustering(Baseline):
    """Clusters of documents with links; for the others, the clusters' sizes are their topics."""

    reads = frozenset({"links"})

    @abstractmethod
    def _cluster(self, graph: Any, seed: int, report: Report) -> tuple[np.ndarray, dict[str, Any]]:
        """Return the cluster of each node of a graph in which every node has a link."""

    def check_corpus(self, corpus: Corpus) -> None:
        """Refuse a corpus without citations."""
        if corpus.n_citations == 0:
            raise CorpusError(
                f"{type(self).__name__} clusters documents by their citations, and the corpus has "
                "none; choose a model of words."
            )

    def _fit(self, corpus: Corpus, seed: int, report: Report) -> Outcome:
        graph = undirected(corpus)
        linked = np.flatnonzero(np.diff(graph.indptr) > 0)
        found, facts = self._cluster(graph[linked][:, linked].tocsr(), seed, report)
        doc_topic, _ = topics_of_clusters(found, linked, corpus.n_documents)
        facts["documents_without_links"] = corpus.n_documents - len(linked)
        estimates = {"doc_topic": doc_topic, "topic_word": words_of_topics(doc_topic, corpus)}
        return Outcome(estimates, {}, facts)

    def _place(self, new: Corpus, links: np.ndarray) -> np.ndarray:
        """Take the mean clusters of the training documents that a new one is linked with."""
        return mean_of_linked(np.asarray(self.doc_topic_), links, new.n_documents)


@declared
class Louvain(_GraphClustering):
    """Communities of the citation graph by Louvain's method (Blondel et al. 2008), compiled.

    Nodes move, one after the other, to the neighbouring community where modularity grows most;
    communities become nodes of a smaller graph, and so on. The result is refined on the whole
    graph and the rounds are repeated until modularity no longer grows.

    Examples
    --------
    >>> from citeweave import simulate
    >>> corpus = simulate(documents=60, vocabulary=80, topics=3, authors=20, citations=90).corpus
    >>> model = Louvain(topics=4, seed=1).fit(corpus)
    >>> model.doc_topic_.shape, 0 < model.facts_["modularity"] < 1
    ((60, 4), True)
    """

    kind = "louvain"

    topics: int | None = parameter(
        None,
        integer(1, none="as many as are found"),
        "Maximum number of communities; documents of smaller ones join the others.",
        "Maximum number of communities. Documents of smaller ones join the large community that "
        "they have most links with (the largest, if none).",
    )
    resolution: float = parameter(
        1.0, number(0.0, above=True), "Values above 1 give more and smaller communities."
    )
    restarts: int = parameter(
        10,
        integer(1),
        "Runs with nodes in different random orders; the one with the highest modularity is kept.",
    )
    seed: int | None = seed_parameter()

    def _cluster(self, graph: Any, seed: int, report: Report) -> tuple[np.ndarray, dict[str, Any]]:
        resolution = float(self.resolution)
        best, value = np.zeros(graph.shape[0], dtype=np.int64), -np.inf
        for start in range(int(self.restarts)):
            rng = np.random.default_rng([seed, start])
            found = _communities(graph, resolution, rng)
            reached = modularity(graph, found, resolution=resolution)
            if reached > value:
                best, value = found, reached
            report(Step("restart", start + 1, int(self.restarts)))
        facts = {"communities_found": int(best.max()) + 1, "modularity": value}
        if self.topics is not None:
            best = _keep_largest(graph, best, int(self.topics))
            facts["modularity"] = modularity(graph, best, resolution=resolution)
        return best, facts


@declared
class SpectralClustering(_GraphClustering):
    """Clusters of the citation graph by its leading eigenvectors and k-means.

    The eigenvectors are those of the regularised, normalised adjacency matrix (D + t)^-1/2 A (D +
    t)^-1/2, with D the degrees and t their mean (Qin and Rohe 2013), which keeps small, loosely
    tied parts of the graph from taking an eigenvector each. Rows of eigenvectors are scaled to
    length 1 before k-means.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.baselines import SpectralClustering
    >>> model = SpectralClustering(topics=3, restarts=2, seed=1).fit(citeweave.example_corpus())
    >>> model.doc_topic_.shape
    (80, 3)
    """

    kind = "spectral"

    topics: int = parameter(20, integer(1), "Number of clusters.")
    restarts: int = parameter(
        20, integer(1), "k-means runs; the one with the least sum of squares is kept."
    )
    seed: int | None = seed_parameter()

    def _cluster(self, graph: Any, seed: int, report: Report) -> tuple[np.ndarray, dict[str, Any]]:
        nodes, wanted = graph.shape[0], int(self.topics)
        if wanted >= nodes:
            raise CorpusError(
                f"Only {nodes} documents have links, too few for {wanted} spectral clusters. "
                "Use fewer topics."
            )
        rng = np.random.default_rng(seed)
        degrees = np.asarray(graph.sum(axis=1)).ravel()
        scale = 1.0 / np.sqrt(degrees + degrees.mean())
        scaled: Any = sparse.diags_array(scale) @ graph @ sparse.diags_array(scale)
        _, vectors = eigsh(scaled, k=wanted, which="LA", v0=rng.normal(size=nodes))
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        points = vectors / np.maximum(lengths, 1e-12)
        restarts = int(self.restarts)
        found = best_k_means(
            points,
            wanted,
            rng,
            restarts=restarts,
            report=lambda done: report(Step("restart", done, restarts)),
        )
        labels = np.unique(found.labels, return_inverse=True)[1]
        return labels, {"squares": found.squares, "modularity": modularity(graph, labels)}


def _communities(graph: Any, resolution: float, rng: np.random.Generator) -> np.ndarray:
    """Run rounds of Louvain's method, each continuing from the last, while modularity grows."""
    found = np.arange(graph.shape[0])
    value = -np.inf
    while True:
        found = _one_round(graph, found, resolution, rng)
        reached = modularity(graph, found, resolution=resolution)
        if reached <= value + 1e-9:
            return found
        value = reached


def _one_round(
    graph: Any, start: np.ndarray, resolution: float, rng: np.random.Generator
) -> np.ndarray:
    """Move nodes, then whole communities, level by level, until nothing moves."""
    labels = _settle(graph, start, resolution, rng)
    while True:
        merged = _merge(graph, labels)
        upper = _settle(merged, np.arange(merged.shape[0]), resolution, rng)
        if upper.max() + 1 == merged.shape[0]:
            return labels
        labels = upper[labels]


def _settle(
    graph: Any, start: np.ndarray, resolution: float, rng: np.random.Generator
) -> np.ndarray:
    community = start.astype(np.int64)
    degrees = np.asarray(graph.sum(axis=1), dtype=np.float64).ravel()
    for _ in range(_MOST_SWEEPS):
        order = rng.permutation(len(degrees))
        if not move_nodes(
            graph.indptr.astype(np.int64),
            graph.indices.astype(np.int64),
            graph.data.astype(np.float64),
            degrees,
            order,
            resolution,
            community,
        ):
            break
    return np.asarray(np.unique(community, return_inverse=True)[1])


def _merge(graph: Any, labels: np.ndarray) -> Any:
    """Make communities the nodes: P' A P, links inside becoming loops."""
    nodes = len(labels)
    member: Any = sparse.csr_array(
        (np.ones(nodes), (np.arange(nodes), labels)), shape=(nodes, int(labels.max()) + 1)
    )
    return (member.T @ graph @ member).tocsr()


def _keep_largest(graph: Any, labels: np.ndarray, most: int) -> np.ndarray:
    """Keep the largest communities; others join their neighbours, or the largest of all."""
    sizes = np.bincount(labels)
    if len(sizes) <= most:
        return labels
    order = np.argsort(-sizes, kind="stable")
    kept = np.sort(order[:most])
    links = _merge(graph, labels).toarray()[:, kept]
    target = links.argmax(axis=1)
    target[links.max(axis=1) == 0] = int(np.flatnonzero(kept == order[0])[0])
    target[kept] = np.arange(most)
    return np.asarray(target[labels])
