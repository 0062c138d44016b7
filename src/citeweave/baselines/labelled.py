"""Semi-supervised models: label propagation, logistic regression, SGC.

Papers with a category are training data; categories of the others are predicted. Topics are the
categories, in the order of the corpus's table, and `doc_topic_` contains their probabilities.
"""

from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.special import softmax

from citeweave.baselines.base import Baseline, Outcome, Report, Step, seed_parameter
from citeweave.baselines.matching import mean_of_linked, undirected, words_of_topics
from citeweave.corpus import Corpus
from citeweave.errors import CorpusError
from citeweave.model.logistic import choose_penalty, fit_regression, to_row_space
from citeweave.model.smoothing import normalised_graph, smooth, smooth_new, tfidf
from citeweave.parameters import declared, integer, number, parameter, true_or_false

__all__ = ["SGC", "LabelPropagation", "LogisticRegression"]


class _Classifier(Baseline):
    """Base class of models that use labels; refuses a corpus with fewer than two."""

    def check_corpus(self, corpus: Corpus) -> None:
        """Refuse a corpus that lacks labels, or other data the model needs."""
        name = type(self).__name__
        known = np.unique(corpus.categories[corpus.categories >= 0])
        if len(known) < 2:
            raise CorpusError(
                f"{name} learns from documents of at least two categories; the corpus has "
                f"{len(known)}. Import one with labels, or choose a model that needs none."
            )
        if "words" in self.reads and corpus.n_tokens == 0:
            raise CorpusError(f"{name} uses words, and the corpus has none.")
        if "links" in self.reads and corpus.n_citations == 0:
            raise CorpusError(f"{name} uses citations, and the corpus has none.")


@declared
class LabelPropagation(_Classifier):
    """Label propagation along citations, without words (Zhu, Ghahramani and Lafferty 2003).

    A labelled document keeps its label; the probabilities of any other are the mean of those of its
    neighbours, with repeated links counted repeatedly. This is iterated until nothing changes: the
    probability of a label is then the probability that a random walk meets it first. With few
    labels, one near the hubs would take almost everything, so each label's probabilities are scaled
    to sum to its share of the given labels (class mass normalisation). Documents from which no
    labelled one can be reached get the shares of the given labels. The method is deterministic, so
    the seed has no effect.

    Examples
    --------
    >>> corpus = Corpus.from_lists(
    ...     tokens=[["a"]] * 5, citations=[(0, 1), (1, 2), (2, 3), (3, 4)],
    ...     categories=["x", None, None, None, "y"],
    ... )
    >>> LabelPropagation(tolerance=0.0).fit(corpus).doc_topic_[:, 0].round(3).tolist()
    [1.0, 0.75, 0.5, 0.25, 0.0]
    """

    kind = "label-propagation"
    reads = frozenset({"links", "labels"})

    class_masses: bool = parameter(
        True,
        true_or_false(),
        "Whether to scale the probabilities of a label to its share of the given labels.",
    )
    iterations: int = parameter(5000, integer(1), "Maximum number of rounds.")
    tolerance: float = parameter(
        1e-6, number(0.0, 1.0), "Stop when no probability changes by more than this."
    )
    seed: int | None = seed_parameter()

    def _fit(self, corpus: Corpus, seed: int, report: Report) -> Outcome:  # noqa: ARG002 (no draws)
        graph = undirected(corpus)
        degree = np.asarray(graph.sum(axis=1)).ravel()
        known = corpus.categories >= 0
        target = np.eye(corpus.n_categories)[corpus.categories[known]]
        means: Any = sparse.diags_array(1.0 / np.maximum(degree, 1.0)) @ graph
        free = np.flatnonzero(~known & (degree > 0))
        rest = np.tile(target.mean(axis=0), (corpus.n_documents, 1))
        rest[known] = target
        # only documents that labels reach are averaged; the rest get the labels' shares
        reached = _reached(graph, known)
        free = free[reached[free]]
        inner, given = means[free][:, free], means[free][:, known] @ target
        found, rounds, total = rest[free], 0, int(self.iterations)
        for rounds in range(1, total + 1):  # noqa: B007 (used below)
            before = found
            found = inner @ before + given
            if np.abs(found - before).max(initial=0.0) <= self.tolerance:
                break
        report(Step("round", rounds, rounds))
        if self.class_masses and len(free):
            found = found * target.mean(axis=0) / np.maximum(found.mean(axis=0), 1e-300)
        rest[free] = found / found.sum(axis=1, keepdims=True)
        facts = {
            "iterations": rounds,
            "labelled_documents": int(known.sum()),
            "documents_out_of_reach": int((~known & ~reached).sum()),
        }
        estimates = {"doc_topic": rest, "topic_word": words_of_topics(rest, corpus)}
        return Outcome(estimates, {}, facts)

    def _place(self, new: Corpus, links: np.ndarray) -> np.ndarray:
        """Take the mean probabilities of the training documents that a new one is linked with."""
        return mean_of_linked(np.asarray(self.doc_topic_), links, new.n_documents)


class _Regression(_Classifier):
    """Multinomial logistic regression of labels on tf-idf vectors, optionally smoothed."""

    smoothing: ClassVar[int]
    """Number of smoothing steps along citations."""
    penalty: float | None
    folds: int

    def _fit(self, corpus: Corpus, seed: int, report: Report) -> Outcome:
        words = tfidf(corpus)
        graph = normalised_graph(corpus, loops=True)
        known = np.flatnonzero(corpus.categories >= 0)
        present, classes = np.unique(corpus.categories[known], return_inverse=True)
        chosen = sparse.eye_array(corpus.n_documents, format="csr")[known]
        # smoothed words of labelled documents only: all rows would be nearly dense
        features, basis = to_row_space(_smooth_rows(chosen, graph, self.smoothing) @ words)
        penalty = self.penalty
        if penalty is None:
            rng = np.random.default_rng(seed)
            penalty = choose_penalty(features, classes, len(present), rng, folds=int(self.folds))
        report(Step("fit", 0, 1))
        fitted = fit_regression(features, classes, len(present), penalty=float(penalty))
        weights = fitted.weights if basis is None else basis.T @ fitted.weights
        scores = smooth(graph, words @ weights, self.smoothing) + fitted.intercepts
        doc_topic = np.zeros((corpus.n_documents, corpus.n_categories))
        doc_topic[:, present] = softmax(scores, axis=1)
        report(Step("fit", 1, 1))
        estimates = {
            "doc_topic": doc_topic,
            "topic_word": words_of_topics(doc_topic, corpus),
            "weights": weights,
            "intercepts": fitted.intercepts,
            "classes": present.astype(np.int64),
        }
        facts = {"penalty": float(penalty), "labelled_documents": len(known)}
        return Outcome(estimates, {}, facts)

    def _place(self, new: Corpus, links: np.ndarray) -> np.ndarray:
        """Apply the regression to new documents' vectors, smoothed like the training ones."""
        weights = np.array(self._fitted.estimates["weights"])
        train = self.corpus_
        scores = smooth_new(
            train,
            tfidf(train) @ weights,
            tfidf(new, train) @ weights,
            links,
            self.smoothing,
            half=False,
        )
        out = np.zeros((new.n_documents, self.doc_topic_.shape[1]))
        present = np.asarray(self._fitted.estimates["classes"])
        out[:, present] = softmax(scores + self._fitted.estimates["intercepts"], axis=1)
        return out


def _smooth_rows(rows: Any, graph: Any, steps: int) -> Any:
    """Multiply sparse rows by the graph repeatedly, from the right."""
    for _ in range(steps):
        rows = rows @ graph
    return rows


def _reached(graph: Any, known: np.ndarray) -> np.ndarray:
    """Return whether each document is connected to a labelled one."""
    _, part = sparse.csgraph.connected_components(graph, directed=False)
    return np.isin(part, part[known])


def _penalty_parameter() -> Any:
    return parameter(
        None,
        number(0.0, above=True, none="chosen by cross-validation"),
        "L2 penalty of the weights, the inverse of scikit-learn's C.",
        "L2 penalty of the weights, the inverse of scikit-learn's C; by default, the value "
        "from 10 to 0.00001 with the least log loss in cross-validation on the given labels.",
    )


def _folds_parameter() -> Any:
    return parameter(5, integer(2), "Number of folds of the given labels for choosing the penalty.")


@declared
class LogisticRegression(_Regression):
    """Multinomial logistic regression of labels on documents' tf-idf vectors, by words alone.

    The penalty is chosen by cross-validation on the given labels only.

    Examples
    --------
    >>> from citeweave import simulate
    >>> corpus = simulate(documents=60, vocabulary=80, topics=3, categories=3, seed=1).corpus
    >>> model = LogisticRegression(seed=1).fit(corpus)
    >>> model.doc_topic_.shape, model.facts_["labelled_documents"]
    ((60, 3), 60)
    """

    kind = "logistic"
    reads = frozenset({"words", "labels"})
    smoothing = 0

    penalty: float | None = _penalty_parameter()
    folds: int = _folds_parameter()
    seed: int | None = seed_parameter()


@declared
class SGC(_Regression):
    """Simple graph convolution: tf-idf vectors smoothed twice over citations, then regression.

    Wu, Souza, Zhang, Fifty, Yu and Weinberger (2019), "Simplifying graph convolutional networks".
    Vectors are smoothed by D^-1/2 (A + I) D^-1/2, with A the undirected citations; then
    multinomial logistic regression as in `LogisticRegression`.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.baselines import SGC
    >>> model = SGC(penalty=1.0, seed=1).fit(citeweave.example_corpus())
    >>> model.doc_topic_.shape
    (80, 3)
    """

    kind = "sgc"
    reads = frozenset({"words", "links", "labels"})
    smoothing = 2

    penalty: float | None = _penalty_parameter()
    folds: int = _folds_parameter()
    seed: int | None = seed_parameter()
