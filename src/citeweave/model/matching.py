"""Matching topics of several chains, and whether they may be averaged.

Topic numbers are arbitrary in each chain, and chains may have found different topics. Topics are
paired to maximise the sum of the cosines of their words; the pairs' mean cosine, weighted by the
topics' shares, measures how well two chains agree.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from citeweave.engines.core.estimates import Sums, merge_sums, renumber_categories
from citeweave.model.consensus import align_topics, consensus_memberships

__all__ = ["GOOD_MATCH", "Combination", "combine_chains", "match_categories", "match_topics"]

GOOD_MATCH = 0.9
"""``combine="auto"`` averages chains if each agrees at least this well with the best one."""


class Combination(NamedTuple):
    """How the chains of a run were combined into one model."""

    how: str
    """``average``, ``consensus`` or ``best`` (one chain alone is the best of one)."""
    best: int
    """The chain with the highest score, whose numbering of topics is used."""
    likelihoods: list[float]
    """Mean log likelihood of each chain's words, given their topics, after burn-in."""
    agreements: list[float]
    """Agreement of each chain with the best one, from 0 to 1."""
    orders: list[list[int]]
    """For each chain, its topic that matches topic k of the best one."""
    scores: Sequence[float] = ()
    """Log likelihood of each chain's words and citations, topics summed out, at its means."""


def match_topics(
    reference: np.ndarray, other: np.ndarray, *, weights: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, float]:
    """Pair the rows of two matrices of word probabilities.

    Parameters
    ----------
    reference, other : ndarray, shape (K, V) and (L, V)
    weights : ndarray, shape (K,), optional
        Weights of the reference's topics in the mean, for instance their shares.

    Returns
    -------
    order : ndarray of int, shape (K,)
        Row of ``other`` that row k of ``reference`` is paired with, -1 if L < K leaves none.
    cosines : ndarray, shape (K,)
        Cosine of each pair, 0 if there is none.
    agreement : float
        Weighted mean of the cosines.

    Examples
    --------
    >>> order, cosines, agreement = match_topics(np.eye(3), np.eye(3)[[2, 0, 1]])
    >>> order.tolist(), agreement
    ([1, 2, 0], 1.0)
    """
    cosine = _unit_rows(reference) @ _unit_rows(other).T
    rows, columns = linear_sum_assignment(cosine, maximize=True)
    order = np.full(len(reference), -1)
    order[rows] = columns
    cosines = np.zeros(len(reference))
    cosines[rows] = cosine[rows, columns]
    share = np.full(len(reference), 1.0) if weights is None else np.asarray(weights, float)
    return order, cosines, float(cosines @ share / share.sum())


def _unit_rows(matrix: np.ndarray) -> np.ndarray:
    rows = np.asarray(matrix, np.float64)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(norms, np.finfo(float).tiny))


def combine_chains(
    sums: Sequence[Sums],
    likelihoods: Sequence[float],
    scores: Sequence[float],
    memberships: Sequence[np.ndarray] = (),
    *,
    combine: str,
) -> tuple[Sums, Combination]:
    """Combine the sums of several chains into one; the first argument is overwritten.

    Parameters
    ----------
    sums : sequence of Sums
    likelihoods : sequence of float
        Mean log likelihood of each chain's words after burn-in.
    scores : sequence of float
        Scores by which chains are compared, see `citeweave.model.scoring`.
    memberships : sequence of ndarray, shape (D, K)
        Topics of documents, one array per chain; only needed for a consensus.
    combine : {"auto", "average", "best", "consensus"}
        A consensus pairs topics by the documents they share, the others by their words.
    """
    best = int(np.argmax(scores))
    reference = _topic_word(sums[best])
    share = sums[best].nodes[0] / sums[best].samples[0]
    joint = None
    if combine == "consensus" and len(sums) > 1:
        joint = _numbered_as(align_topics(memberships), best)
    orders, agreements = [], []
    for i, chain in enumerate(sums):
        if i == best:
            order, agreement = np.arange(len(share)), 1.0
        else:
            order, _, agreement = match_topics(reference, _topic_word(chain), weights=share)
        orders.append(order if joint is None else joint[i])
        agreements.append(agreement)
    how = combine
    if combine == "auto":
        how = "average" if min(agreements) >= GOOD_MATCH else "best"
    if len(sums) == 1:
        how = "best"
    if how != "best":
        for i, chain in enumerate(sums):
            if i != best:
                merge_sums(sums[best], chain, orders[i])
    return sums[best], Combination(
        how=how,
        best=best,
        likelihoods=[float(value) for value in likelihoods],
        agreements=[round(value, 6) for value in agreements],
        orders=[order.tolist() for order in orders],
        scores=[float(value) for value in scores],
    )


def match_categories(
    sums: Sequence[Sums], best: int, known: np.ndarray, *, agree: bool
) -> list[float]:
    """Renumber the categories of all chains as in one of them, by the papers they share.

    Categories that have a known label are the same in all chains. Returns, for each chain, the
    share of papers whose most probable category in this chain is that of the chains together;
    nothing if labels are known, because chains that leave out different labels are bound to differ.

    Parameters
    ----------
    sums : sequence of Sums
        Changed in place.
    best : int
        The chain that keeps its numbers.
    known : ndarray of int, shape (D,)
        Categories of papers whose labels are known, -1 for the others.
    agree : bool
        Whether the probabilities of all chains become those of the classes that they agree on.
    """
    labelled = int(known.max(initial=-1)) + 1
    shown = [chain.category / chain.samples[0] for chain in sums]
    if labelled < shown[0].shape[1]:
        orders = _numbered_as(align_topics([one[:, labelled:] for one in shown]), best)
        for chain, order in zip(sums, orders, strict=True):
            renumber_categories(chain, np.append(np.arange(labelled), labelled + order))
    shown = [chain.category / chain.samples[0] for chain in sums]
    classes = consensus_memberships(shown) if agree else np.mean(shown, axis=0)
    together = classes.argmax(axis=1)
    agreements = [float((one.argmax(axis=1) == together).mean()) for one in shown]
    if agree:
        classes[known >= 0] = np.eye(classes.shape[1])[known[known >= 0]]
        for chain in sums:
            chain.category[:] = classes * chain.samples[0]
    return [] if labelled else [round(value, 6) for value in agreements]


def _numbered_as(orders: Sequence[np.ndarray], chain: int) -> list[np.ndarray]:
    """Renumber the common topics so that one chain keeps its own numbers."""
    back = np.argsort(orders[chain])
    return [order[back] for order in orders]


def _topic_word(sums: Sums) -> np.ndarray:
    """Return the word sums of each topic; cosines do not depend on the number of samples."""
    return sums.topic_word.T
