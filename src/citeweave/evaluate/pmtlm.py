"""PMTLM, the Poisson mixed-topic link model of Zhu, Yan, Getoor and Moore (2013), by EM.

The peer that the paper compares SCNTM with; docs/pmtlm.md has the model and the updates.
"""

import inspect
import math
import numbers
import os
import secrets
from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np

from citeweave.corpus import Corpus
from citeweave.errors import CorpusError, ParameterError
from citeweave.evaluate._pmtlm_kernels import Data, Parameters, Sums, expect, maximise

__all__ = ["PMTLM"]

_SPREAD = 0.9  # of first topics; the rest is even, since EM hardly leaves what is near 0


class _Fit(NamedTuple):
    parameters: Parameters
    trace: np.ndarray
    converged: bool

    @property
    def log_likelihood(self) -> float:
        return float(self.trace[-1])


class PMTLM:
    """Poisson mixed-topic link model: topics from words and undirected links together.

    A word of document d is w with probability sum_z theta_dz beta_zw; the links between d and d'
    are Poisson with rate S_d S_d' sum_z eta_z theta_dz theta_d'z, where all S are 1 unless
    `degree_corrected`. Fitted by EM to alpha times the log likelihood of the words (each document
    divided by its length) plus 1 - alpha times that of the links. Citations lose their direction.

    Parameters
    ----------
    topics : int
        Number of topics K.
    alpha : float
        Weight of words against links, from 0 (links alone) to 1 (words alone).
    degree_corrected : bool
        Whether documents have popularities S of their own (PMTLM-DC).
    restarts : int
        EM runs from random starts; the one of highest likelihood is kept.
    iterations : int
        Most iterations of a run.
    words_first : int
        Iterations on the words alone before those that count, if 0 < alpha < 1. Where links weigh
        much and are sparse, EM on both from random starts ends at lower likelihoods.
    tolerance : float
        A run ends when an iteration gains less than this share of the log likelihood.
    seed : int, optional
        The same seed gives the same estimates; a fresh one is drawn (and kept in `seed_`) if not
        given.

    Attributes
    ----------
    doc_topic_ : ndarray, shape (D, K)
        theta. A document with neither words nor links keeps its random start's uniform row.
    topic_word_ : ndarray, shape (K, V)
        beta.
    topic_scale_ : ndarray, shape (K,)
        eta, on the scale that belongs to `popularity_`.
    popularity_ : ndarray, shape (D,)
        S, of mean 1 (all 1 unless degree-corrected; 0 for documents without links; in
        proportion to the number of links if alpha = 1).
    labels_ : ndarray of int, shape (D,)
        Dominant topic of each document.
    log_likelihood_ : float
        The weighted log likelihood of the run that was kept, without log A! of repeated links.
    log_likelihoods_ : ndarray, shape (restarts,)
        Those of all runs.
    trace_ : ndarray, shape (n_iter_ + 1,)
        Log likelihood after `words_first` and after each further iteration of the run kept.
    n_iter_ : int
        Its iterations, without `words_first`.
    converged_ : bool
        Whether it ended by `tolerance`.

    Examples
    --------
    >>> from citeweave import simulate
    >>> from citeweave.evaluate import PMTLM
    >>> corpus = simulate(documents=60, vocabulary=80, topics=3, authors=20, citations=90).corpus
    >>> model = PMTLM(topics=3, restarts=2, seed=1).fit(corpus)
    >>> model.doc_topic_.shape, model.topic_word_.shape
    ((60, 3), (3, 80))
    """

    def __init__(
        self,
        *,
        topics: int = 20,
        alpha: float = 0.5,
        degree_corrected: bool = True,
        restarts: int = 10,
        iterations: int = 500,
        words_first: int = 100,
        tolerance: float = 1e-6,
        seed: int | None = None,
    ) -> None:
        self.topics = topics
        self.alpha = alpha
        self.degree_corrected = degree_corrected
        self.restarts = restarts
        self.iterations = iterations
        self.words_first = words_first
        self.tolerance = tolerance
        self.seed = seed

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002, FBT001, FBT002 (scikit-learn's signature)
        """Return the parameters by name."""
        return {name: getattr(self, name) for name in _defaults()}

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; they are checked by `fit`."""
        for name in params:
            if name not in _defaults():
                raise ParameterError(
                    f"PMTLM has no parameter {name!r}. "
                    f"Did you mean one of: {', '.join(_defaults())}?"
                )
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def fit(self, corpus: Corpus | str | os.PathLike[str]) -> Self:
        """Fit the model to a corpus, or to the corpus in a folder.

        Raises
        ------
        ParameterError
            A parameter has a wrong value.
        CorpusError
            The corpus has no words although alpha > 0, or no citations although alpha < 1.
        """
        for name, (wanted, accepts) in _RULES.items():
            value = getattr(self, name)
            if not accepts(value):
                raise ParameterError(
                    f"The '{name}' parameter of PMTLM must be {wanted}. Got {value!r} instead."
                )
        given = corpus if isinstance(corpus, Corpus) else Corpus.load(corpus)
        if self.alpha > 0 and given.n_tokens == 0:
            raise CorpusError("The corpus has no words; fit PMTLM with alpha=0, or add words.")
        if self.alpha < 1 and given.n_citations == 0:
            raise CorpusError("The corpus has no citations; fit PMTLM with alpha=1, or add some.")
        self.seed_ = secrets.randbits(32) if self.seed is None else int(self.seed)
        data = _prepare(given)
        runs = [self._run(data, given.vocabulary_size, start) for start in range(self.restarts)]
        self.log_likelihoods_ = np.array([run.log_likelihood for run in runs])
        best = runs[int(np.argmax(self.log_likelihoods_))]
        mean = best.parameters.popularity.mean() or 1.0  # 0 where there are no links at all
        self.doc_topic_ = best.parameters.doc_topic
        self.topic_word_ = np.ascontiguousarray(best.parameters.word_topic.T)
        self.popularity_ = best.parameters.popularity / mean
        self.topic_scale_ = best.parameters.topic_scale * mean * mean
        self.labels_ = self.doc_topic_.argmax(axis=1)
        self.log_likelihood_ = best.log_likelihood
        self.trace_ = best.trace
        self.n_iter_ = len(best.trace) - 1
        self.converged_ = best.converged
        return self

    def fit_transform(self, corpus: Corpus | str | os.PathLike[str]) -> np.ndarray:
        """Fit and return `doc_topic_`."""
        return self.fit(corpus).doc_topic_

    def __repr__(self) -> str:
        """Give the parameters that are not the defaults."""
        defaults = _defaults()
        changed = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if type(value) is not type(defaults[name]) or value != defaults[name]
        ]
        return f"PMTLM({', '.join(changed)})"

    def _run(self, data: Data, vocabulary: int, number: int) -> _Fit:
        """Run EM from one random start; the trace has the likelihood of every set of parameters."""
        alpha = float(self.alpha)
        now = _start(data, int(self.topics), vocabulary, [self.seed_, number])
        theta, beta = now.doc_topic, now.word_topic
        sums = Sums(np.empty_like(theta), np.empty_like(theta), np.empty_like(beta))
        if 0.0 < alpha < 1.0:
            for _ in range(int(self.words_first)):
                expect(data, now, sums)
                maximise(sums, now, 1.0, bool(self.degree_corrected))
            # a topic that has gone to 0 would stay there, whatever the links say
            theta *= _SPREAD
            theta += (1.0 - _SPREAD) / theta.shape[1]
        trace: list[float] = []
        converged = False
        for iteration in range(int(self.iterations) + 1):
            by_words, by_links = expect(data, now, sums)
            # a part of weight 0 may be minus infinity
            words = alpha * by_words if alpha > 0.0 else 0.0
            trace.append(words + ((1.0 - alpha) * by_links if alpha < 1.0 else 0.0))
            gain = trace[-1] - trace[-2] if iteration else math.inf
            converged = gain <= self.tolerance * abs(trace[-1])
            if converged or iteration == self.iterations:
                break
            maximise(sums, now, alpha, bool(self.degree_corrected))
        return _Fit(now, np.array(trace), converged)


def _prepare(corpus: Corpus) -> Data:
    """Count words by document, and links by unordered pair of documents."""
    size = corpus.vocabulary_size
    lengths = corpus.lengths
    documents = np.repeat(np.arange(corpus.n_documents, dtype=np.int64), lengths)
    keys, counts = np.unique(documents * size + corpus.tokens, return_counts=True)
    row = keys // size
    offsets = np.searchsorted(row, np.arange(corpus.n_documents + 1)).astype(np.int64)
    ends = np.sort(corpus.citations.astype(np.int64), axis=1)
    pairs, times = np.unique(ends[:, 0] * corpus.n_documents + ends[:, 1], return_counts=True)
    return Data(
        offsets=offsets,
        words=(keys % size).astype(np.int32),
        shares=counts / lengths[row],
        first=(pairs // corpus.n_documents).astype(np.int32),
        second=(pairs % corpus.n_documents).astype(np.int32),
        times=times.astype(np.float64),
    )


def _start(data: Data, topics: int, vocabulary: int, seed: list[int]) -> Parameters:
    """Draw positive parameters, different for each topic so that EM can part them."""
    rng = np.random.default_rng(seed)
    documents = len(data.offsets) - 1
    doc_topic = rng.dirichlet(np.ones(topics), size=documents)
    doc_topic = _SPREAD * doc_topic + (1.0 - _SPREAD) / topics
    used = np.bincount(data.words, weights=data.shares, minlength=vocabulary) + 1e-6
    word_topic = used[:, None] * rng.uniform(0.5, 1.5, size=(vocabulary, topics))
    degree = np.bincount(data.first, weights=data.times, minlength=documents)
    degree += np.bincount(data.second, weights=data.times, minlength=documents)
    alone = (degree == 0) & (np.diff(data.offsets) == 0)
    doc_topic[alone] = 1.0 / topics
    return Parameters(
        doc_topic=doc_topic,
        word_topic=word_topic / word_topic.sum(axis=0),
        popularity=np.ones(documents),
        topic_scale=np.full(topics, topics * degree.sum() / documents**2),
    )


def _is_integer(value: object, lowest: int) -> bool:
    return (
        isinstance(value, numbers.Integral) and not isinstance(value, bool) and int(value) >= lowest
    )


def _is_real(value: Any, lowest: float, highest: float) -> bool:
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    return real and bool(lowest <= value <= highest)


_RULES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "topics": ("an integer of at least 1", lambda value: _is_integer(value, 1)),
    "alpha": ("a number from 0 to 1", lambda value: _is_real(value, 0.0, 1.0)),
    "degree_corrected": ("True or False", lambda value: isinstance(value, bool)),
    "restarts": ("an integer of at least 1", lambda value: _is_integer(value, 1)),
    "iterations": ("an integer of at least 1", lambda value: _is_integer(value, 1)),
    "words_first": ("an integer of at least 0", lambda value: _is_integer(value, 0)),
    "tolerance": ("a number from 0 to 1", lambda value: _is_real(value, 0.0, 1.0)),
    "seed": (
        "an integer of at least 0, or None for a fresh one",
        lambda value: value is None or _is_integer(value, 0),
    ),
}


def _defaults() -> dict[str, Any]:
    return {
        name: parameter.default
        for name, parameter in inspect.signature(PMTLM.__init__).parameters.items()
        if name != "self"
    }
