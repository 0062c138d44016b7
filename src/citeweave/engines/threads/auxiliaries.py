"""Auxiliary variables of concentrations, with one random stream per node.

As in `citeweave.engines.core.concentrations`: for each node xi ~ Beta(C, beta) and psi_j ~
Bernoulli(beta / (beta + j alpha)), j < T. The draw of a concentration needs only two sums over its
nodes. They are exact (`engines.core.exact_sums`), so they do not depend on the order of nodes. Sums
of auxiliaries are int64 [1 + BINS]: the sum of psi, then the bins of log(1 - xi).
"""

import math

import numpy as np

from citeweave.compiled import hot_kernel, inlined
from citeweave.engines.core.concentrations import draw_successes
from citeweave.engines.core.exact_sums import BINS, add_exact, bin_total
from citeweave.engines.core.random import log_beta_complement, uniform
from citeweave.engines.threads.streams import open_stream

__all__ = [
    "gather_bursts",
    "gather_nodes",
    "gather_one",
    "gather_topics",
    "new_auxiliaries",
    "read_auxiliaries",
]

_FEW = 8


def new_auxiliaries(*shape: int) -> np.ndarray:
    """Allocate sums of auxiliaries."""
    return np.zeros((*shape, 1 + BINS), np.int64)


def read_auxiliaries(sums: np.ndarray) -> tuple[float, float]:
    """Return the sum of psi and the sum of log(1 - xi)."""
    return float(sums[0]), bin_total(sums[1:])


@inlined
def _log_share(rng, customers, beta):
    """Draw log(1 - xi).

    For an integer number of customers, -log(1 - xi) is a sum of exponential variables with rates
    beta, beta + 1, ..., beta + C - 1. If C is small, this is cheaper than two Gamma draws.
    """
    if customers > _FEW:
        return log_beta_complement(rng, customers, beta)
    total = 0.0
    for j in range(customers):
        total += math.log(1.0 - uniform(rng)) / (beta + j)
    return total


@hot_kernel
def gather_one(rng, customers, n_tables, discount, beta):
    """Draw the auxiliaries of one node: the sum of psi, and log(1 - xi)."""
    return draw_successes(rng, n_tables, discount, beta), _log_share(rng, customers, beta)


@hot_kernel
def gather_nodes(nodes, discount, key, share, randoms, sums):
    """Draw the auxiliaries of one topic-side level and add them to the worker's ``sums``.

    ``share`` is the worker's share of the level's pieces.
    """
    bounds, first, step = share
    rng = randoms[first]
    bins = sums[first, 1:]
    for c in range(first, bounds.shape[0] - 1, step):
        for n in range(bounds[c], bounds[c + 1]):
            customers = nodes.total_customers[n]
            if customers > 0:
                beta = nodes.concentration[n]
                open_stream(key, 0, nodes.number[n], rng)
                won = draw_successes(rng, nodes.total_tables[n], discount, beta)
                sums[first, 0] += np.int64(won)
                add_exact(bins, _log_share(rng, customers, beta))


@hot_kernel
def gather_topics(words, parameters, key, rng, sums, first, step):
    """Draw the auxiliaries of every ``step``-th phi_k; ``sums`` is float64 [topics, 2]."""
    for k in range(first, sums.shape[0], step):
        sums[k] = 0.0
        customers = words.total_customers[k]
        if customers > 0:
            beta = parameters.topic_word_concentration[k]
            open_stream(key, 0, k, rng)
            discount = parameters.word_discount[1]
            sums[k, 0] = draw_successes(rng, words.total_tables[k], discount, beta)
            sums[k, 1] = _log_share(rng, customers, beta)


@hot_kernel
def gather_bursts(layout, number, assignments, beta, discount, key, share, randoms, room, sums):
    """Draw the auxiliaries of all phi'_dk by document, with counts taken from the assignments.

    ``number`` holds the number of each document in the whole corpus.
    """
    bounds, first, step = share
    rng = randoms[first]
    z = assignments.topic
    customers, tables = room[first, 0], room[first, 1]
    bins = sums[first, 1:]
    for c in range(first, bounds.shape[0] - 1, step):
        for d in range(bounds[c], bounds[c + 1]):
            begin = layout.document_start[d]
            end = layout.document_start[d + 1]
            open_stream(key, 1, number[d], rng)
            for i in range(begin, end):
                customers[z[i]] += 1
                tables[z[i]] += assignments.burst_table[i]
            for i in range(begin, end):
                k = z[i]
                if customers[k] > 0:
                    won = draw_successes(rng, tables[k], discount, beta)
                    sums[first, 0] += np.int64(won)
                    add_exact(bins, _log_share(rng, customers[k], beta))
                    customers[k] = 0
                    tables[k] = 0
