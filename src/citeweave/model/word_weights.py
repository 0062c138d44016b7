"""The weight of words, chosen for a corpus by held-out citations; labels are not used.

For each weight of a short list, short chains are fitted to nine tenths of the citations and score
the last tenth by the mean of

    log ( rate_ij / sum over all pairs of documents of rate )

the log probability of a held-out citation among all pairs, at the means of the chains. It is a
proper score and needs no sample of pairs without citations.
"""

import dataclasses
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from citeweave.corpus import Corpus
from citeweave.corpus.split import split_citations
from citeweave.model.parameters import Plan
from citeweave.model.results import Result
from citeweave.parameters.scntm import CLUSTERS, RANDOM

__all__ = ["WEIGHTS", "ChosenWeight", "choose_word_weight", "link_log_score"]

WEIGHTS = (1.0, 0.5, 0.25, 0.125)
"""Candidate weights."""
HELD_OUT = 0.1
"""Share of citations held out for the choice."""
MOST_ITERATIONS, SAMPLED = 150, 50
"""Iterations of a short chain, and the number at its end in which samples are kept."""
_STREAM = 15
"""Separates the random stream that selects held-out citations from those of chains."""


class ChosenWeight(NamedTuple):
    """A weight of words, and the scores behind it."""

    weight: float
    scores: dict[float, float]
    """Mean log probability of held-out citations, by weight."""

    def __str__(self) -> str:
        """Describe the choice in one line."""
        scores = ", ".join(f"{weight:g}: {score:.3f}" for weight, score in self.scores.items())
        return (
            f"Words weigh {self.weight:g}, chosen by the mean log probability of held-out "
            f"citations ({scores})."
        )


def choose_word_weight(
    plan: Plan, corpus: Corpus, fit: Callable[[Plan, Corpus], Result]
) -> ChosenWeight:
    """Choose the weight of words for a corpus.

    Parameters
    ----------
    plan : Plan
        Plan of the run; its seed determines what is held out and how short chains start.
    corpus : Corpus
    fit : callable
        Runs the chains of a plan on a corpus.
    """
    train, pairs = split_citations(corpus, HELD_OUT, np.random.default_rng([plan.seed, _STREAM]))
    trial = _short(plan)
    scores = {
        weight: link_log_score(fit(trial.weighing_words(weight), train).estimates, pairs)
        for weight in WEIGHTS
    }
    return ChosenWeight(max(scores, key=lambda weight: scores[weight]), scores)


def _short(plan: Plan) -> Plan:
    """Return the plan of short chains of the same model."""
    iterations = min(plan.iterations, max(MOST_ITERATIONS, plan.joined + SAMPLED))
    burn_in = max(plan.joined, iterations - SAMPLED, iterations // 2)
    return dataclasses.replace(
        plan,
        iterations=iterations,
        burn_in=min(burn_in, iterations - 1),
        thin=1,
        start=plan.start if plan.start == CLUSTERS else RANDOM,
        exactly=True,
        minutes=None,
        combine="average",
    )


def link_log_score(estimates: Mapping[str, np.ndarray], pairs: np.ndarray) -> float:
    """Compute the mean log probability of citations among all pairs of documents, from estimates.

    Parameters
    ----------
    estimates : mapping of str to ndarray
        Estimates of a model with citations: ``doc_topic``, ``cite_propensity``,
        ``cited_propensity`` and ``topic_scale``.
    pairs : ndarray of int, shape (n, 2)
        Rows (citing, cited).

    Examples
    --------
    Two documents that are alike may cite each other, either way:

    >>> alike = {"doc_topic": np.full((2, 1), 1.0), "topic_scale": np.ones(1)}
    >>> alike |= {"cite_propensity": np.ones(2), "cited_propensity": np.ones(2)}
    >>> round(float(np.exp(link_log_score(alike, np.array([[0, 1]])))), 6)
    0.5
    """
    topics = np.asarray(estimates["doc_topic"], np.float64)
    citing = topics * np.asarray(estimates["cite_propensity"])[:, None] * estimates["topic_scale"]
    cited = topics * np.asarray(estimates["cited_propensity"])[:, None]
    own = np.einsum("ik,ik->", citing, cited)
    total = float(citing.sum(axis=0) @ cited.sum(axis=0) - own)
    i, j = np.asarray(pairs).T
    rates = np.einsum("nk,nk->n", citing[i], cited[j])
    tiny = np.finfo(np.float64).tiny
    return float(np.log(np.maximum(rates, tiny)).mean() - np.log(max(total, tiny)))
