"""Clusters of tf-idf vectors: k-means of the words, and AGC, which smooths them over citations."""

from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse.linalg import svds

from citeweave.baselines.base import Baseline, Outcome, Report, Step, seed_parameter
from citeweave.baselines.k_means import best_k_means, nearest_centres
from citeweave.baselines.matching import topics_of_clusters, words_of_topics
from citeweave.corpus import Corpus
from citeweave.errors import CorpusError
from citeweave.model.smoothing import low_pass, normalised_graph, smooth_new, tfidf
from citeweave.parameters import declared, integer, parameter

__all__ = ["AGC", "KMeans"]


class _Found(NamedTuple):
    """Clusters of documents, the data for placing new ones, and figures of the fit."""

    labels: np.ndarray
    centres: np.ndarray
    projection: np.ndarray | None
    facts: dict[str, Any]


class _FeatureClustering(Baseline):
    """Clusters of documents with features; for the others, the clusters' sizes are their topics."""

    topics: int

    @abstractmethod
    def _cluster(self, corpus: Corpus, seed: int, report: Report) -> tuple[np.ndarray, _Found]:
        """Return the documents that have features, and their clusters."""

    def check_corpus(self, corpus: Corpus) -> None:
        """Refuse a corpus without words, or with fewer documents than clusters."""
        name = type(self).__name__
        if corpus.n_tokens == 0:
            raise CorpusError(f"{name} clusters documents by their words, and the corpus has none.")
        if self.topics > corpus.n_documents:
            raise CorpusError(
                f"The corpus has only {corpus.n_documents} documents, too few for {self.topics} "
                "clusters. Use fewer topics."
            )

    def _fit(self, corpus: Corpus, seed: int, report: Report) -> Outcome:
        rows, found = self._cluster(corpus, seed, report)
        doc_topic, order = topics_of_clusters(found.labels, rows, corpus.n_documents)
        estimates = {
            "doc_topic": doc_topic,
            "topic_word": words_of_topics(doc_topic, corpus),
            "centres": found.centres[order],
        }
        if found.projection is not None:
            estimates["projection"] = found.projection
        return Outcome(estimates, {}, found.facts)

    def _place(self, new: Corpus, links: np.ndarray) -> np.ndarray:
        """Assign each new document to the cluster with the nearest centre."""
        centres = np.array(self._fitted.estimates["centres"])
        points = self._features_of(new, links)
        out: np.ndarray = np.eye(len(centres))[nearest_centres(points, centres)]
        return out

    @abstractmethod
    def _features_of(self, new: Corpus, links: np.ndarray) -> Any:
        """Return new documents in the space of the centres."""

    def _rows(self, corpus: Corpus, features: Any) -> np.ndarray:
        """Find the documents with features, and check that there are enough of them."""
        rows = np.flatnonzero(np.asarray(abs(features).sum(axis=1)).ravel() > 0)
        if len(rows) < self.topics:
            raise CorpusError(
                f"Only {len(rows)} of {corpus.n_documents} documents have words that distinguish "
                f"them from others, too few for {self.topics} clusters. Use fewer topics."
            )
        return rows


@declared
class KMeans(_FeatureClustering):
    """k-means of documents' tf-idf vectors, by words alone (Lloyd 1982).

    The weight of a word is (1 + log tf) log((1 + D) / (1 + df)); vectors have length 1. Each run is
    initialised by k-means++ (Arthur and Vassilvitskii 2007).

    Examples
    --------
    >>> from citeweave import simulate
    >>> corpus = simulate(documents=60, vocabulary=80, topics=3, authors=20, citations=90).corpus
    >>> model = KMeans(topics=3, seed=1).fit(corpus)
    >>> model.doc_topic_.shape, model.facts_["squares"] < 60
    ((60, 3), True)
    """

    kind = "k-means"

    topics: int = parameter(20, integer(1), "Number of clusters.")
    restarts: int = parameter(
        10, integer(1), "k-means runs; the one with the least sum of squares is kept."
    )
    seed: int | None = seed_parameter()

    def _cluster(self, corpus: Corpus, seed: int, report: Report) -> tuple[np.ndarray, _Found]:
        features = tfidf(corpus)
        rows = self._rows(corpus, features)
        restarts = int(self.restarts)
        found = best_k_means(
            features[rows],
            int(self.topics),
            np.random.default_rng(seed),
            restarts=restarts,
            report=lambda done: report(Step("restart", done, restarts)),
        )
        return rows, _Found(found.labels, found.centres, None, {"squares": found.squares})

    def _features_of(self, new: Corpus, links: np.ndarray) -> Any:  # noqa: ARG002 (words alone)
        return tfidf(new, self.corpus_)


@declared
class AGC(_FeatureClustering):
    """Adaptive graph convolution: tf-idf vectors smoothed over citations, then clustered.

    Zhang, Liu, Li and Wu (2019), "Attributed graph clustering via adaptive graph convolution".
    Vectors are smoothed k times by I - L / 2, with L the normalised Laplacian of the citations
    (directions aside, each document a neighbour of itself). For k = 1, 2, ... documents are
    clustered spectrally by the linear kernel of their smoothed vectors (k-means on the leading
    left singular vectors), until the clusters' mean squared distance between members, averaged
    over clusters, rises for the first time; the previous clusters are kept. Smoothed vectors are
    dense: a fit needs 16 bytes of memory per document and word of the vocabulary.

    Examples
    --------
    >>> from citeweave import simulate
    >>> corpus = simulate(documents=60, vocabulary=80, topics=3, authors=20, citations=90).corpus
    >>> model = AGC(topics=3, seed=1).fit(corpus)
    >>> model.doc_topic_.shape, model.facts_["smoothing_steps"] >= 1
    ((60, 3), True)
    """

    kind = "agc"
    reads = frozenset({"words", "links"})

    topics: int = parameter(20, integer(1), "Number of clusters.")
    restarts: int = parameter(
        10, integer(1), "k-means runs for each k; the one with the least sum of squares is kept."
    )
    most_steps: int = parameter(60, integer(1), "Largest k to try.")
    seed: int | None = seed_parameter()

    def check_corpus(self, corpus: Corpus) -> None:
        """Refuse a corpus without words or citations, or with fewer documents than clusters.

        Examples
        --------
        >>> import citeweave
        >>> from citeweave.baselines import AGC
        >>> AGC(topics=80).check_corpus(citeweave.example_corpus())
        Traceback (most recent call last):
        citeweave.errors.CorpusError: AGC can only make fewer clusters than there are ...
        """
        super().check_corpus(corpus)
        if corpus.n_citations == 0:
            raise CorpusError(
                "AGC smooths words over citations, and the corpus has none; choose k-means."
            )
        least = min(corpus.n_documents, corpus.vocabulary_size)
        if self.topics >= least:
            raise CorpusError(
                f"AGC can only make fewer clusters than there are documents ({corpus.n_documents}) "
                f"and words ({corpus.vocabulary_size}). Got topics={self.topics}; use fewer."
            )

    def _cluster(self, corpus: Corpus, seed: int, report: Report) -> tuple[np.ndarray, _Found]:
        words = tfidf(corpus)
        graph = low_pass(normalised_graph(corpus, loops=True))
        rows = self._rows(corpus, graph @ words)
        rng = np.random.default_rng(seed)
        topics, most = int(self.topics), int(self.most_steps)
        features = words.toarray()
        before, best = np.inf, None
        for step in range(1, most + 1):
            features = graph @ features
            begin = rng.normal(size=min(len(rows), features.shape[1]))
            vectors, values, words_of = svds(features[rows], k=topics, v0=begin)
            found = best_k_means(vectors, topics, rng, restarts=int(self.restarts))
            spread = _spread(features[rows], found.labels)
            if spread > before:
                break
            before = spread
            facts = {"smoothing_steps": step, "distance": spread}
            projection = words_of.T / np.maximum(values, 1e-12)
            best = _Found(found.labels, found.centres, projection, facts)
            report(Step("smoothing step", step, most))
        assert best is not None  # noqa: S101 (the first step is always kept)
        steps = best.facts["smoothing_steps"]
        report(Step("smoothing step", steps, steps))
        return rows, best

    def _features_of(self, new: Corpus, links: np.ndarray) -> Any:
        """Project smoothed words onto the singular vectors in which clusters were found."""
        projection = np.array(self._fitted.estimates["projection"])
        steps = int(self._fitted.facts["smoothing_steps"])
        train = self.corpus_
        old, fresh = tfidf(train) @ projection, tfidf(new, train) @ projection
        return smooth_new(train, old, fresh, links, steps, half=True)


def _spread(features: np.ndarray, labels: np.ndarray) -> float:
    """Return the mean squared distance between members of a cluster, averaged over clusters.

    Equals, for x the rows of one cluster, ``((x[:, None] - x[None]) ** 2).sum(2).mean()``, which is
    twice the mean squared length minus the squared length of the mean.
    """
    parts = [features[labels == c] for c in np.unique(labels)]
    found = [
        2.0 * (np.einsum("iv,iv->", x, x) / len(x) - (x.mean(axis=0) ** 2).sum()) for x in parts
    ]
    return float(np.mean(found))
