"""PMTLM, the Poisson mixed-topic link model of Zhu, Yan, Getoor and Moore (2013), by EM.

The main competitor in the paper; docs/understand/pmtlm.md describes the model and the updates.
"""

import math
from typing import NamedTuple

import numpy as np

from citeweave.baselines._pmtlm_kernels import (
    PmtlmData,
    PmtlmParameters,
    PmtlmSums,
    expect,
    maximise,
    place,
)
from citeweave.baselines._pmtlm_labels import refine_labels
from citeweave.baselines.base import Baseline, Outcome, Report, Step, seed_parameter
from citeweave.baselines.matching import undirected
from citeweave.corpus import Corpus
from citeweave.errors import CorpusError
from citeweave.model.clusters import cluster_documents
from citeweave.model.unseen import count_words
from citeweave.naming import choice
from citeweave.parameters import (
    Rule,
    declared,
    integer,
    number,
    one_of,
    parameter,
    true_or_false,
)
from citeweave.parameters.scntm import CLUSTERS, RANDOM

__all__ = ["PMTLM"]

_SPREAD = 0.9  # of initial topics; the rest is uniform, because EM hardly moves values near 0
_PLACE_STEPS = 200
_SHARE = number(0.0, 1.0)


class _Fit(NamedTuple):
    parameters: PmtlmParameters
    trace: np.ndarray
    converged: bool

    @property
    def log_likelihood(self) -> float:
        return float(self.trace[-1])


@declared
class PMTLM(Baseline):
    """Poisson mixed-topic link model: topics from words and undirected links together.

    A word of document d is w with probability sum_z theta_dz beta_zw; the links between d and d'
    are Poisson with rate S_d S_d' sum_z eta_z theta_dz theta_d'z, where all S are 1 unless
    `degree_corrected`. Fitted by EM to alpha times the log likelihood of the words (each document
    divided by its length) plus 1 - alpha times that of the links. Citations are undirected.

    Attributes
    ----------
    doc_topic_ : ndarray, shape (D, K)
        theta. A document with neither words nor links keeps its uniform start.
    topic_word_ : ndarray, shape (K, V)
        beta.
    topic_scale_ : ndarray, shape (K,)
        eta, on the scale that belongs to `popularity_`.
    popularity_ : ndarray, shape (D,)
        S, of mean 1 (all 1 unless degree-corrected; 0 for documents without links; in
        proportion to the number of links if alpha = 1).
    labels_ : ndarray of int, shape (D,)
        Topic of each document: refined, or the dominant one of `doc_topic_` without `refine`.
    alpha_ : float
        The weight that was used.
    log_likelihood_ : float
        The weighted log likelihood of the kept run, without log A! of repeated links.
    log_likelihoods_ : ndarray, shape (restarts,)
        The log likelihoods of all runs.
    trace_ : ndarray, shape (`n_iter_` + 1,)
        Log likelihood after `words_first` and after each further iteration of the kept run.
    n_iter_ : int
        Number of iterations of the kept run, without `words_first`.
    converged_ : bool
        Whether the kept run ended by `tolerance`.

    Examples
    --------
    >>> from citeweave import simulate
    >>> from citeweave.baselines import PMTLM
    >>> corpus = simulate(documents=60, vocabulary=80, topics=3, authors=20, citations=90).corpus
    >>> model = PMTLM(topics=3, restarts=2, seed=1).fit(corpus)
    >>> model.doc_topic_.shape, model.topic_word_.shape
    ((60, 3), (3, 80))
    """

    kind = "pmtlm"

    topics: int = parameter(20, integer(1), "Number of topics.")
    alpha: float | str = parameter(
        0.5,
        Rule(
            "a number from 0 to 1, or 'joint'",
            lambda value: value == "joint" if isinstance(value, str) else _SHARE.accepts(value),
        ),
        "Weight of words relative to links, from 0 (links only) to 1 (words only), or joint.",
        "Weight of words relative to links, from 0 (links only) to 1 (words only). With "
        '``"joint"``, a word has the weight of a link, as in the plain joint likelihood: mean '
        "length / (1 + mean length) of the documents with words; see `alpha_`.",
    )
    degree_corrected: bool = parameter(
        True,
        true_or_false(),
        "Whether each document has its own popularity S (PMTLM-DC).",
    )
    restarts: int = parameter(
        10,
        integer(1),
        "EM runs from different starts; the one with the highest likelihood is kept.",
        "EM runs from different starts; the one with the highest likelihood is kept (with "
        "`refine`, the highest likelihood after refinement).",
    )
    iterations: int = parameter(500, integer(1), "Maximum number of iterations per run.")
    start: str = parameter(
        RANDOM,
        one_of(RANDOM, CLUSTERS),
        "Start of runs: random topics, or clusters of words smoothed over citations.",
        'Start of runs: ``"random"`` topics, or ``"clusters"`` of words smoothed over citations, '
        "from which refinement usually reaches a higher likelihood.",
    )
    words_first: int = parameter(
        100,
        integer(0),
        "Initial iterations on the words alone.",
        "Initial iterations on the words alone, if 0 < alpha < 1 and starts are random. If links "
        "are sparse and have much weight, EM on both from random starts ends at lower "
        "likelihoods.",
    )
    refine: bool = parameter(
        True,
        true_or_false(),
        "After EM, assign one topic to each document and improve their likelihood.",
        "After EM, assign one topic to each document and move documents while the likelihood "
        "grows. `labels_` holds these topics; `doc_topic_` is that of EM.",
    )
    tolerance: float = parameter(
        1e-6,
        number(0.0, 1.0),
        "Stop when an iteration improves the log likelihood by less than this share.",
    )
    seed: int | None = seed_parameter()

    @property
    def name(self) -> str:
        """``pmtlm``, or ``pmtlm-dc`` if degree-corrected."""
        return "pmtlm-dc" if self.degree_corrected else "pmtlm"

    @property
    def reads(self) -> frozenset[str]:  # type: ignore[override]
        """The data that have any weight under alpha."""
        alpha = 0.5 if isinstance(self.alpha, str) else self.alpha
        parts = {"words": alpha > 0, "links": alpha < 1}
        return frozenset(name for name, has_weight in parts.items() if has_weight)

    def check_corpus(self, corpus: Corpus) -> None:
        """Refuse a corpus without words if alpha > 0, or without links if alpha < 1.

        Examples
        --------
        >>> from citeweave import Corpus
        >>> from citeweave.baselines import PMTLM
        >>> words_only = Corpus.from_lists(tokens=[["soil"], ["seed"]])
        >>> PMTLM(topics=2, alpha=1.0).check_corpus(words_only)
        >>> PMTLM(topics=2, alpha=0.5).check_corpus(words_only)
        Traceback (most recent call last):
        citeweave.errors.CorpusError: The corpus has no citations; ...
        """
        if self.start == CLUSTERS and corpus.n_tokens == 0:
            raise CorpusError(
                "The corpus has no words to cluster documents by; fit PMTLM with "
                f"{choice('start=random', '--set start=random')}, or add words."
            )
        if "words" in self.reads and corpus.n_tokens == 0:
            raise CorpusError(f"The corpus has no words; fit PMTLM with {_alpha(0)}, or add words.")
        if "links" in self.reads and corpus.n_citations == 0:
            raise CorpusError(
                f"The corpus has no citations; fit PMTLM with {_alpha(1)}, or add some."
            )

    def _fit(self, corpus: Corpus, seed: int, report: Report) -> Outcome:
        data = _prepare(corpus)
        graph = undirected(corpus)
        alpha = _joint_weight(corpus) if isinstance(self.alpha, str) else float(self.alpha)
        best, reached, found = None, -math.inf, np.empty(0, dtype=np.int64)
        likelihoods = np.empty(int(self.restarts))
        for start in range(len(likelihoods)):
            begin = _start(data, int(self.topics), corpus.vocabulary_size, [seed, start])
            clusters = None
            if self.start == CLUSTERS:
                rng = np.random.default_rng([seed, start, 2])
                clusters = cluster_documents(corpus, int(self.topics), rng)
                _begin_at(clusters, data, begin)
            run = self._run(data, begin, alpha)
            likelihoods[start] = value = run.log_likelihood
            labels = run.parameters.doc_topic.argmax(axis=1)
            if self.refine:
                rng = np.random.default_rng([seed, start, 1])
                searches = [
                    refine_labels(
                        data,
                        graph,
                        first,
                        int(self.topics),
                        alpha=alpha,
                        degree_corrected=bool(self.degree_corrected),
                        rng=rng,
                    )
                    for first in (labels, clusters)
                    if first is not None
                ]
                labels, value = max(searches, key=lambda search: search[1])
            if best is None or value > reached:
                best, reached, found = run, value, labels
            report(Step("restart", start + 1, len(likelihoods)))
        assert best is not None  # noqa: S101 (there is at least one restart)
        mean = best.parameters.popularity.mean() or 1.0  # 0 if there are no links at all
        return Outcome(
            estimates={
                "doc_topic": best.parameters.doc_topic,
                "topic_word": np.ascontiguousarray(best.parameters.word_topic.T),
                "popularity": best.parameters.popularity / mean,
                "topic_scale": best.parameters.topic_scale * mean * mean,
                "labels": found.astype(np.int64),
            },
            traces={"log_likelihood": best.trace, "log_likelihoods": likelihoods},
            facts={
                "log_likelihood": best.log_likelihood,
                "iterations": len(best.trace) - 1,
                "converged": bool(best.converged),
                "alpha": alpha,
            }
            | ({"refined_log_likelihood": reached} if self.refine else {}),
        )

    def _place(self, new: Corpus, links: np.ndarray) -> np.ndarray:
        """Estimate theta of new documents by EM, from the training documents' mean topics."""
        counts = count_words(new, self.corpus_)
        lengths = np.asarray(counts.sum(axis=1))
        ordered = links[np.argsort(links[:, 0], kind="stable")]
        data = PmtlmData(
            offsets=counts.indptr.astype(np.int64),
            words=counts.indices.astype(np.int32),
            shares=counts.data / np.repeat(lengths, np.diff(counts.indptr)),
            first=ordered[:, 0].astype(np.int32),
            second=ordered[:, 1].astype(np.int32),
            times=np.ones(len(ordered)),
        )
        fitted = PmtlmParameters(
            doc_topic=np.array(self.doc_topic_),
            word_topic=np.ascontiguousarray(self.topic_word_.T),
            popularity=np.array(self.popularity_),
            topic_scale=np.array(self.topic_scale_),
        )
        mean = fitted.doc_topic.mean(axis=0)
        out = np.tile(mean, (new.n_documents, 1))
        place(data, fitted, self.alpha_, bool(self.degree_corrected), _PLACE_STEPS, out)
        return out

    @property
    def labels_(self) -> np.ndarray:
        """Topic of each document [D]."""
        return self._fitted.estimates["labels"]

    @property
    def alpha_(self) -> float:
        """Weight of words that was used."""
        return float(self._fitted.facts["alpha"])

    @property
    def popularity_(self) -> np.ndarray:
        """Popularities S [D]."""
        return self._fitted.estimates["popularity"]

    @property
    def topic_scale_(self) -> np.ndarray:
        """Scales eta [K]."""
        return self._fitted.estimates["topic_scale"]

    @property
    def log_likelihood_(self) -> float:
        """Weighted log likelihood of the kept run."""
        return float(self._fitted.facts["log_likelihood"])

    @property
    def log_likelihoods_(self) -> np.ndarray:
        """Weighted log likelihoods of all runs [restarts]."""
        return self._fitted.traces["log_likelihoods"]

    @property
    def trace_(self) -> np.ndarray:
        """Log likelihood by iteration of the kept run."""
        return self._fitted.traces["log_likelihood"]

    @property
    def n_iter_(self) -> int:
        """Iterations of the kept run."""
        return int(self._fitted.facts["iterations"])

    @property
    def converged_(self) -> bool:
        """Whether the kept run ended by `tolerance`."""
        return bool(self._fitted.facts["converged"])

    def _run(self, data: PmtlmData, now: PmtlmParameters, alpha: float) -> _Fit:
        """Run EM from one start; the trace has the likelihood of every set of parameters."""
        theta, beta = now.doc_topic, now.word_topic
        sums = PmtlmSums(np.empty_like(theta), np.empty_like(theta), np.empty_like(beta))
        if 0.0 < alpha < 1.0 and self.start == RANDOM:
            for _ in range(int(self.words_first)):
                expect(data, now, sums)
                maximise(sums, now, 1.0, bool(self.degree_corrected))
            # a topic at 0 would stay there, whatever the links
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


def _joint_weight(corpus: Corpus) -> float:
    """Return the alpha at which a word and a link have equal weight, given the mean length."""
    lengths = corpus.lengths
    mean = float(lengths[lengths > 0].mean()) if lengths.any() else 0.0
    return mean / (1.0 + mean)


def _prepare(corpus: Corpus) -> PmtlmData:
    """Count words by document, and links by unordered pair of documents."""
    size = corpus.vocabulary_size
    lengths = corpus.lengths
    documents = np.repeat(np.arange(corpus.n_documents, dtype=np.int64), lengths)
    keys, counts = np.unique(documents * size + corpus.tokens, return_counts=True)
    row = keys // size
    offsets = np.searchsorted(row, np.arange(corpus.n_documents + 1)).astype(np.int64)
    ends = np.sort(corpus.citations.astype(np.int64), axis=1)
    pairs, times = np.unique(ends[:, 0] * corpus.n_documents + ends[:, 1], return_counts=True)
    return PmtlmData(
        offsets=offsets,
        words=(keys % size).astype(np.int32),
        shares=counts / lengths[row],
        first=(pairs // corpus.n_documents).astype(np.int32),
        second=(pairs % corpus.n_documents).astype(np.int32),
        times=times.astype(np.float64),
    )


def _start(data: PmtlmData, topics: int, vocabulary: int, seed: list[int]) -> PmtlmParameters:
    """Draw positive parameters, different for each topic so that EM can separate them."""
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
    return PmtlmParameters(
        doc_topic=doc_topic,
        word_topic=word_topic / word_topic.sum(axis=0),
        popularity=np.ones(documents),
        topic_scale=np.full(topics, topics * degree.sum() / documents**2),
    )


def _begin_at(clusters: np.ndarray, data: PmtlmData, now: PmtlmParameters) -> None:
    """Start topics from clusters of documents and their words, with a share of all others."""
    theta, beta = now.doc_topic, now.word_topic
    topics = theta.shape[1]
    told = np.diff(data.offsets) > 0  # without words, the cluster of a document is meaningless
    theta[told] = _SPREAD * np.eye(topics)[clusters[told]] + (1.0 - _SPREAD) / topics
    beta[:] = 1e-6
    rows = np.repeat(np.arange(len(theta)), np.diff(data.offsets))
    np.add.at(beta, data.words, data.shares[:, None] * theta[rows])
    beta /= beta.sum(axis=0)


def _alpha(value: int) -> str:
    return choice(f"alpha={value}", f"--set alpha={value}")
