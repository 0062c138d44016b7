"""Unobserved self-citations, sampled like any other unknown.

A corpus records no citation of a paper by itself, so x_ii is missing, not zero. Leaving the pairs
i = i out of the likelihood is the same as summing over all values that x_ii may have,

    1 = sum_n  r^n exp(-r) / n!,    r = lambda+_i lambda-_i sum_k lambdaT_k theta'_ik^2,

and a sampler sums by sampling: x_ii becomes an unknown, and each of its citations has a topic and
one customer at either end, both at theta'_i. Given these, the sums P and M are over all pairs,
including i = i, so no other kernel is affected. The number changes by one at a time:

    one more, of topic k:  lambda+_i lambda-_i lambdaT_k w w' exp(-change of E) / ((n + 1) q)

where w and w' are the weights of the first customer and of the second given the first, their tables
summed out, and q is the probability of proposing the topic: half of the time one of the paper's
topics, in proportion to its customers, else any topic. Removing one is the inverse. Either move is
decided in three stages: everything except w', then w', then the exponential. Each stage has its own
acceptance ratio, and a removal uses the inverse of each, so every stage satisfies detailed balance,
and the first stage rejects most proposals. (w' alone may exceed 1: the weight of a customer is a
probability only on average over tables.)
"""

from typing import NamedTuple

import numpy as np

from citeweave.compiled import hot_kernel, inlined
from citeweave.engines.core.climb import (
    Climb,
    Ends,
    TopicPath,
    draw_addition,
    draw_removal,
    find_path,
    move_customer,
    new_climb,
)
from citeweave.engines.core.exponent import commit_change, discard_change, exponent_change
from citeweave.engines.core.hierarchy import path_weight
from citeweave.engines.core.random import uniform
from citeweave.engines.core.row_places import count_at, topic_at
from citeweave.engines.core.turnover import Move

__all__ = [
    "MOST_SELF",
    "SelfWork",
    "draw_self_citations",
    "new_self_work",
    "offer_self_citation",
]

MOST_SELF = 16
"""Maximum number of self-citations per paper. Their mean is about 0.01; that of a paper would
have to exceed 6 for the truncated probability to reach one in ten thousand."""


class SelfWork(NamedTuple):
    """Scratch memory of the draw, and its outcome."""

    row: np.ndarray
    """int64 [2, levels]: nodes above the paper, in the first row."""
    climb: Climb
    moved: np.ndarray
    """int32 [documents, 2]: papers that gained or lost a self-citation, and its topic."""
    changed: np.ndarray
    """int64 [1]: number of these papers."""


def new_self_work(n_documents: int, n_levels: int) -> SelfWork:
    """Allocate scratch memory for one chain."""
    return SelfWork(
        row=np.zeros((2, n_levels), np.int64),
        climb=new_climb(n_levels),
        moved=np.zeros((n_documents, 2), np.int32),
        changed=np.zeros(1, np.int64),
    )


@inlined
def _chance(counts, node, k):
    """Return q, the probability of proposing a topic: by the paper's customers, or any."""
    n_topics = counts.customers.shape[1]
    total = counts.total_customers[node]
    if total == 0:
        return 1.0 / n_topics
    return 0.5 * counts.customers[node, k] / total + 0.5 / n_topics


@inlined
def _propose(rng, counts, node):
    """Draw a topic from q."""
    n_topics = counts.customers.shape[1]
    total = counts.total_customers[node]
    share = uniform(rng)
    if total == 0:
        return int(share * n_topics)
    if share >= 0.5:
        return int((2.0 * share - 1.0) * n_topics)
    left = int(2.0 * share * total)
    j = 0
    while left >= count_at(counts.customers, node, j):
        left -= count_at(counts.customers, node, j)
        j += 1
    return topic_at(counts.customers, node, j)


@inlined
def _allowed(rng, counts, parameters, exponent, ends, move):
    """Let the exponential decide on a move already made in the counts."""
    change = exponent_change(counts, parameters, exponent, ends, move)
    if change <= 0.0 or uniform(rng) < np.exp(-change):
        commit_change(exponent)
        return True
    discard_change(exponent)
    return False


@inlined
def _one_more(rng, tables, counts, parameters, work, exponent, ends, pair, n):
    """Propose one more for a paper, with rate ``pair`` lambdaT_k; return its topic or -1."""
    level = ends.level
    node = work.row[0, level]
    k = _propose(rng, counts, node)
    path = TopicPath(work.row[0], k)
    share = pair * parameters.topic_scale[k] / ((n + 1) * _chance(counts, node, k))
    share *= path_weight(tables, counts, parameters, path, level, work.climb)
    if uniform(rng) >= share:
        return -1
    first = draw_addition(rng, work.climb, level)
    move_customer(counts, path, level, first, 1)
    beside = path_weight(tables, counts, parameters, path, level, work.climb)
    second = draw_addition(rng, work.climb, level)
    move_customer(counts, path, level, second, 1)
    if uniform(rng) < beside:
        move = Move(k, k, (0, 0), (first, second))
        if _allowed(rng, counts, parameters, exponent, ends, move):
            return k
    move_customer(counts, path, level, second, -1)
    move_customer(counts, path, level, first, -1)
    return -1


@inlined
def _one_less(rng, tables, counts, parameters, work, exponent, ends, pair, n, k):
    """Propose to remove one of a topic from the ``n`` of a paper; return whether accepted."""
    level = ends.level
    node = work.row[0, level]
    path = TopicPath(work.row[0], k)
    second = draw_removal(rng, counts, path, level)
    if second == 0:
        return False
    move_customer(counts, path, level, second, -1)
    beside = path_weight(tables, counts, parameters, path, level, work.climb)
    first = draw_removal(rng, counts, path, level)
    if first == 0:
        move_customer(counts, path, level, second, 1)
        return False
    move_customer(counts, path, level, first, -1)
    share = path_weight(tables, counts, parameters, path, level, work.climb)
    share *= pair * parameters.topic_scale[k] / (n * _chance(counts, node, k))
    if uniform(rng) * share < 1.0 and uniform(rng) * beside < 1.0:
        move = Move(k, k, (first, second), (0, 0))
        if _allowed(rng, counts, parameters, exponent, ends, move):
            return True
    move_customer(counts, path, level, first, 1)
    move_customer(counts, path, level, second, 1)
    return False


@inlined
def offer_self_citation(rng, tables, counts, parameters, work, exponent, ends, topics, d, pair):
    """Propose, with equal probability, to add or remove a self-citation of a paper.

    ``topics`` are those of the self-citations of all papers. ``pair`` is lambda+ lambda- of this
    paper, whose path is in ``work``. Returns the topic added or removed, or -1.
    """
    most = topics.shape[1]
    n = 0
    while n < most and topics[d, n] >= 0:
        n += 1
    more = uniform(rng) < 0.5
    if n == (most if more else 0):
        return -1
    if more:
        moved = _one_more(rng, tables, counts, parameters, work, exponent, ends, pair, n)
        if moved >= 0:
            topics[d, n] = moved
        return moved
    i = int(uniform(rng) * n)
    k = int(topics[d, i])
    if _one_less(rng, tables, counts, parameters, work, exponent, ends, pair, n, k):
        topics[d, i] = topics[d, n - 1]
        topics[d, n - 1] = -1
        return k
    return -1


@hot_kernel
def draw_self_citations(level, layout, tables, state, work, exponent):
    """Propose to add or remove a self-citation of every paper, one paper after the other.

    ``exponent`` is kept up to date.
    """
    counts, parameters, rng = state.topics, state.parameters, state.random
    topics = state.assignments.self_topic
    work.changed[0] = 0
    ends = Ends(work.row, level, level)
    for d in range(topics.shape[0]):
        find_path(layout, work.row[0], level, layout.citation_node + d)
        pair = parameters.cite[d] * parameters.cited[d]
        moved = offer_self_citation(
            rng, tables, counts, parameters, work, exponent, ends, topics, d, pair
        )
        if moved >= 0:
            work.moved[work.changed[0], 0] = d
            work.moved[work.changed[0], 1] = moved
            work.changed[0] += 1
