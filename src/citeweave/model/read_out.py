"""The probability of each category for papers without a label, inferred from all evidence.

    log p(c | d) = log(s_c / g_c) + w_r r_dc + w_l l_dc + w_s s_dc + w_a a_dc + w_t t_dc + constant

r, l, s and a are the evidence of words, citations and authors (`citeweave.model.evidence`), and t
that of the chains: t_dc = sum_k theta'_dk log nu_ck measures how well the topics of the paper match
those of the category. Each is computed without a part of the given labels: with several chains,
each samples the papers of one part as if they had no label. The weights w >= 0 maximise the
probability of the labels that were left out, which also calibrates the probabilities; the evidence
for other papers is the mean over parts.

l is a cosine that grows with the number of a paper's words and citations, so its size differs more
between papers than the probability that it is right. It is therefore multiplied by
(m / |l_d|)^(1/2), where |l_d| is its size for the paper (root mean square over categories) and m
the mean size: half of the difference is removed on the log scale. r and s need no such correction.

g are the shares of categories among the given labels and s those among the papers: the mean of p
over papers without a label when s = g. The labels left out are then weighted by s / g, and the
weights are fitted again.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from citeweave.corpus import Corpus
from citeweave.model.evidence import KINDS, Evidence, author_evidence, centred, shared_authors
from citeweave.model.logistic import Regression

__all__ = [
    "EVIDENCE",
    "LeftOut",
    "ReadOut",
    "first_categories",
    "labels_left_out",
    "read_out",
    "topic_evidence",
]

EVIDENCE = ("regression", "likeness", "authors", "topics", "discriminant")
_REGRESSION, _LIKENESS, _AUTHORS, _TOPICS, _DISCRIMINANT = range(5)
_OF_WORDS = [EVIDENCE.index(name) for name in KINDS]
EVENED = 0.5
"""Share of the differences in the size of likeness between papers that is removed, chosen by the
log loss of left-out labels (docs/understand/categories.md)."""
PRECISION = 4.0
"""Precision of the normal priors of weights: a few labels must show that evidence is useful. Chosen
by the log loss of left-out labels (docs/understand/categories.md)."""
LEAST_SHARE = 1e-3
"""Added to nu, so that a topic that a category lacks counts against it without ruling it out."""


class ReadOut(NamedTuple):
    """Probabilities of categories, and the evidence behind them."""

    probability: np.ndarray
    """float32 [D, C]: probability of each category; 1 for a given label."""
    left_out: np.ndarray
    """float32 [labelled papers, C]: the same for papers with a label, in their order, from evidence
    computed without it; nan if no chain left it out."""
    regression: np.ndarray
    """float32 [V, C]: W."""
    centres: np.ndarray
    """float32 [V, C]: M."""
    lengths: np.ndarray
    """float32 [D]: factor of a paper's likeness: 1 / |.|, evened."""
    authors: np.ndarray
    """float32 [D, C]: a."""
    topics: np.ndarray
    """float32 [D, C]: t."""
    weights: np.ndarray
    """float64 [5]: w of `EVIDENCE`; 0 for missing evidence. Runs without a discriminant have 4."""
    intercepts: np.ndarray
    """float64 [C]: log(s / g) + w_r b + w_s o."""
    carried: np.ndarray | None = None
    """float32 [D]: 1 / |.| of the regression; None in runs that used the same smoothing for
    both."""
    discriminant: np.ndarray | None = None
    """float32 [V, C]: Q U; None in runs without a discriminant."""
    placed: np.ndarray | None = None
    """float32 [D]: 1 / |.| of the discriminant."""


class LeftOut(NamedTuple):
    """How well the labels that were left out are predicted."""

    labels: int
    right: float
    """Share of them that is predicted correctly."""
    sure: float
    """Mean probability of the predictions."""


def labels_left_out(told: ReadOut, categories: np.ndarray) -> LeftOut:
    """Compare predictions for the labels that were left out with these labels.

    Parameters
    ----------
    told : ReadOut
    categories : ndarray of int, shape (D,)
        The given labels, -1 for papers without one.
    """
    given = np.asarray(categories)
    label = np.unique(given[given >= 0], return_inverse=True)[1]
    seen = np.isfinite(told.left_out[:, 0])
    predicted = told.left_out[seen]
    return LeftOut(
        int(seen.sum()),
        float((predicted.argmax(axis=1) == label[seen]).mean()),
        float(predicted.max(axis=1).mean()),
    )


def topic_evidence(doc_topic: np.ndarray, nu: np.ndarray) -> np.ndarray:
    """Return sum_k theta'_dk log nu_ck, centred over categories [D, C].

    Examples
    --------
    >>> topic_evidence(np.eye(2), np.array([[0.9, 0.1], [0.1, 0.9]])).round(2).tolist()
    [[1.09, -1.09], [-1.09, 1.09]]
    """
    return centred(np.asarray(doc_topic) @ np.log(np.asarray(nu) + LEAST_SHARE).T)


def first_categories(evidence: Evidence, part: int | None) -> np.ndarray:
    """Return the most probable categories [D] by words and citations, as a chain's start.

    Parameters
    ----------
    evidence : Evidence
    part : int or None
        The part whose labels the chain leaves out; they must not be used here either.
    """
    scores = _mean(evidence) if part is None else evidence.parts[part].scores
    known = evidence.known if part is None else evidence.seen(part)
    # the weights are three numbers from all labels, which reveal nothing about a single one
    weights = _plain_weights(evidence)
    return np.where(known >= 0, known, (scores @ weights).argmax(axis=1))


def read_out(evidence: Evidence, corpus: Corpus, topics: Mapping[int, np.ndarray]) -> ReadOut:
    """Weigh all evidence by its fit to the labels that were left out.

    Parameters
    ----------
    evidence : Evidence
        Of words and citations.
    corpus : Corpus
        Source of the authors.
    topics : mapping of int to ndarray of shape (D, C)
        Topic evidence by the part that its chain left out; empty if none did.

    Examples
    --------
    >>> from citeweave.model.evidence import make_evidence
    >>> corpus = Corpus.from_lists(
    ...     tokens=[["sun", "moon"], ["oak", "elm"]] * 6, citations=[(0, 2), (1, 3), (4, 6)]
    ... )
    >>> known = np.array([0, 1, 0, 1, 0, 1] + [-1] * 6)
    >>> found = read_out(make_evidence(corpus, known, np.random.default_rng(1)), corpus, {})
    >>> found.probability.argmax(axis=1).tolist()
    [0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1]
    """
    known, categories = evidence.known, evidence.n_categories
    labelled, others = np.flatnonzero(known >= 0), known < 0
    parts = _all_evidence(evidence, corpus, topics)
    honest = labelled[np.isin(evidence.part[labelled], list(parts))]
    label = known[honest]
    scores = np.stack([parts[evidence.part[d]][d] for d in honest.tolist()])
    mean = np.mean(list(parts.values()), axis=0)
    mean[:, :, _OF_WORDS] = _mean(evidence)  # of all parts, even if there are chains for some only
    usual = float(_size(mean[:, :, _LIKENESS]).mean())
    scores[:, :, _LIKENESS] *= _evening(scores[:, :, _LIKENESS], usual)[:, None]
    evening = _evening(mean[:, :, _LIKENESS], usual)
    mean[:, :, _LIKENESS] *= evening[:, None]
    given = np.bincount(known[labelled], minlength=categories) / len(labelled)
    shift = np.zeros(categories)
    weights = _fit_weights(scores, label, np.ones(len(label)), shift)
    if others.any():
        share = softmax(mean[others] @ weights, axis=1).mean(axis=0)
        shift = np.log(share / given)
        weights = _fit_weights(scores, label, (share / given)[label], shift)
    probability = softmax(mean @ weights + shift, axis=1)
    probability[labelled] = np.eye(categories)[known[labelled]]
    left_out = np.full((len(labelled), categories), np.nan, np.float32)
    left_out[np.isin(labelled, honest)] = softmax(scores @ weights + shift, axis=1)
    fitted = [part.fitted for part in evidence.parts]
    placing = [part.discriminant for part in evidence.parts]
    intercepts = shift + weights[_REGRESSION] * _mean_intercepts(fitted)
    intercepts += weights[_DISCRIMINANT] * _mean_intercepts(placing)
    return ReadOut(
        probability=probability.astype(np.float32),
        left_out=left_out,
        regression=_mean_weights(fitted),
        centres=np.stack([one.centres for one in evidence.parts]).mean(axis=0).astype(np.float32),
        lengths=(evidence.lengths * evening).astype(np.float32),
        authors=mean[:, :, _AUTHORS].astype(np.float32),
        topics=mean[:, :, _TOPICS].astype(np.float32),
        weights=weights,
        intercepts=intercepts,
        carried=evidence.carried.astype(np.float32),
        discriminant=_mean_weights(placing),
        placed=evidence.placed.astype(np.float32),
    )


def _mean_weights(fitted: Sequence[Regression]) -> np.ndarray:
    mean = np.stack([one.weights for one in fitted]).mean(axis=0)
    return np.asarray(mean, np.float32)


def _mean_intercepts(fitted: Sequence[Regression]) -> np.ndarray:
    return centred(np.mean([one.intercepts for one in fitted], axis=0))


def _mean(evidence: Evidence) -> np.ndarray:
    return np.asarray(np.mean([part.scores for part in evidence.parts], axis=0))


def _size(scores: np.ndarray) -> np.ndarray:
    """Compute the root mean square of scores over categories, the last axis."""
    return np.asarray(np.sqrt(np.square(scores).mean(axis=-1)))


def _evening(scores: np.ndarray, usual: float) -> np.ndarray:
    """Compute the factors that bring the sizes of scores [n, C] closer to the usual one.

    Examples
    --------
    >>> _evening(np.array([[1.0, -1.0], [4.0, -4.0], [0.0, 0.0]]), 1.0).tolist()
    [1.0, 0.5, 1.0]
    """
    size = _size(scores)
    ratio = np.divide(usual, size, out=np.ones_like(size), where=size > 0.0)
    return np.asarray(ratio**EVENED)


def _plain_weights(evidence: Evidence) -> np.ndarray:
    """Weigh the evidence of words and citations by its fit to all labels, each left out once."""
    labelled = np.flatnonzero(evidence.known >= 0)
    scores = np.stack([evidence.parts[evidence.part[d]].scores[d] for d in labelled.tolist()])
    nothing = np.zeros(evidence.n_categories)
    ones = np.ones(len(labelled))
    return _fit_weights(scores, evidence.known[labelled], ones, nothing)


def _all_evidence(
    evidence: Evidence, corpus: Corpus, topics: Mapping[int, np.ndarray]
) -> dict[int, np.ndarray]:
    """Stack all evidence, by part [D, C, kinds]; parts without chains are omitted.

    The evidence of other papers by the same authors uses words, citations and the labels of the
    other parts.
    """
    categories = evidence.n_categories
    incidence = shared_authors(corpus)
    weights = _plain_weights(evidence)
    out = {}
    for number in sorted(topics) or range(len(evidence.parts)):
        own = evidence.parts[number].scores
        found = np.zeros((*own.shape[:2], len(EVIDENCE)))
        found[:, :, _OF_WORDS] = own
        if incidence is not None:
            probability = softmax(own @ weights, axis=1)
            seen = evidence.seen(number)
            probability[seen >= 0] = np.eye(categories)[seen[seen >= 0]]
            found[:, :, _AUTHORS] = author_evidence(incidence, probability)
        if number in topics:
            found[:, :, _TOPICS] = topics[number]
        out[number] = found
    return out


def _fit_weights(
    evidence: np.ndarray,
    label: np.ndarray,
    counts: np.ndarray,
    shift: np.ndarray,
) -> np.ndarray:
    """Find the nonnegative weights [kinds] that maximise the probability of labels.

    Each kind of evidence is scaled to a mean square of 1, and its weight has a normal prior around
    0. With hundreds of labels the prior hardly matters; with few it prevents overconfidence, and
    keeps out evidence that fits them by chance.

    Parameters
    ----------
    evidence : ndarray, shape (n, C, kinds)
    label : ndarray of int, shape (n,)
    counts : ndarray, shape (n,)
        Weight of each label.
    shift : ndarray, shape (C,)
        Added to the scores of categories.
    """
    scale = np.sqrt(np.square(evidence).mean(axis=(0, 1)))
    there = scale > 0.0
    scaled = evidence[:, :, there] / scale[there]
    target = np.eye(evidence.shape[1])[label]

    def value(weights: np.ndarray) -> tuple[float, np.ndarray]:
        logs = log_softmax(scaled @ weights + shift, axis=1)
        excess = counts[:, None] * (np.exp(logs) - target)
        loss = -(counts[:, None] * target * logs).sum() + 0.5 * PRECISION * weights @ weights
        return float(loss), np.einsum("nc,nce->e", excess, scaled) + PRECISION * weights

    bounds = [(0.0, None)] * int(there.sum())
    found = minimize(value, np.ones(len(bounds)), jac=True, method="L-BFGS-B", bounds=bounds)
    out = np.zeros(len(scale))
    out[there] = found.x / scale[there]
    return out
