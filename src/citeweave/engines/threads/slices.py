"""Slice draws of concentrations on which the citation likelihood depends, nodes grouped by size.

If all nodes n of a level share the concentration beta,

    P_k = rest_k + sum_n weight_n (c_nk - alpha t_nk + (alpha T_n + beta) mean_pk) / (beta + C_n)

with p the parent of n and mean_p its posterior mean, and M_k likewise. Nodes with the same number
of customers C_n are combined into one term (A_k + beta B_k) / (beta + C). After one pass over the
nodes, the number of terms per point of the slice is the number of distinct C, whatever the number
of nodes.
"""

from typing import NamedTuple

import numpy as np

from citeweave.compiled import hot_kernel, index, inlined
from citeweave.engines.core.exchange import Exchange
from citeweave.engines.core.exponent import Exponent
from citeweave.engines.core.slice_sampling import slice_draw
from citeweave.engines.threads.exponents import Nodes
from citeweave.engines.threads.workers import WorkerPool

__all__ = ["draw_pooled", "find_terms", "weigh"]

_WIDE = 1 << 16


class Terms(NamedTuple):
    """P and M of a level as functions of its concentration."""

    size: np.ndarray
    """float64 [sizes]: C."""
    fixed: np.ndarray
    """float64 [sizes, 2, topics]: A, of P and of M."""
    slope: np.ndarray
    """float64 [sizes, 2, topics]: B."""
    rest: np.ndarray
    """float64 [2, topics]: the part that does not depend on the concentration."""
    now: np.ndarray
    """float64 [2, topics]: P and M at the concentration evaluated last."""


def draw_pooled(
    terms: Terms, scale: np.ndarray, beta: float, gamma: tuple[float, float], rng: np.ndarray
) -> float:
    """Draw a concentration from Gamma(shape, rate) x exp(-E), starting from ``beta``.

    ``gamma`` holds shape and rate; ``scale`` is lambdaT.
    """
    return float(_draw(rng, terms, scale, beta, *gamma))


def find_terms(
    workers: WorkerPool,
    nodes: Nodes,
    exponent: Exponent,
    discounts: np.ndarray,
    level: int,
    bounds: tuple[int, int],
    unit: np.ndarray,
    exchange: Exchange,
) -> Terms:
    """Compute the terms in one pass over the nodes of a level.

    ``bounds`` holds the level's first node and the end of the nodes that this part of the chain
    owns. The sums of ``exponent`` must be those at the current concentration. ``unit`` (float64
    [2]) converts weights to integers whose sums do not overflow.
    """
    begin, end = bounds
    sizes, order, start = _group(nodes.total_customers[begin:end])
    topics = len(exponent.cite_sum)
    sums = np.zeros((len(sizes), 2, 2, topics), np.int64)
    # a node's own counts and its share from above are each at most its customers
    units = unit / np.exp2(np.frexp(2.0 * sizes + 1.0)[1])[:, None]
    means = np.zeros((workers.size, topics))
    weights = (exponent.cite_weight, exponent.cited_weight)

    def add_up(worker: int) -> None:
        _add_up(
            nodes,
            discounts,
            level,
            (begin, order, start),
            weights,
            (unit, units),
            sums,
            means,
            worker,
            workers.size,
        )

    workers.run(add_up)
    sizes, sums = _join(exchange.gather(sizes), exchange.gather(sums))
    units = unit / np.exp2(np.frexp(2.0 * sizes + 1.0)[1])[:, None]
    terms = Terms(
        size=sizes.astype(np.float64),
        fixed=sums[:, 0] / units[:, :, None],
        slope=sums[:, 1] / unit[:, None],
        rest=np.zeros((2, topics)),
        now=np.zeros((2, topics)),
    )
    weigh(terms, np.ones(topics), float(nodes.concentration[begin]), 1.0, 1.0)
    terms.rest[0] = exponent.cite_sum - terms.now[0]
    terms.rest[1] = exponent.cited_sum - terms.now[1]
    return terms


def _join(sizes: list[np.ndarray], sums: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Add up the sums of several parts of a chain by size."""
    if len(sizes) == 1:
        return sizes[0], sums[0]
    found, place = np.unique(np.concatenate(sizes), return_inverse=True)
    total = np.zeros((len(found), *sums[0].shape[1:]), np.int64)
    np.add.at(total, place, np.concatenate(sums))
    return found, total


def _group(customers: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the distinct sizes, the nodes sorted by size, and the start of each size."""
    most = int(customers.max(initial=0))
    if most > 8 * len(customers) + _WIDE:
        sizes, place = np.unique(customers, return_inverse=True)
    else:
        held = np.zeros(most + 1, np.int64)
        held[customers] = 1
        sizes = np.flatnonzero(held)
        place = (np.cumsum(held) - 1)[customers]
    start = np.zeros(len(sizes) + 1, np.int64)
    order = np.zeros(len(customers), np.int64)
    _sort(place.astype(np.int64), start, order)
    return sizes, order, start


@hot_kernel
def _sort(place, start, order):
    """Sort by counting; the order is stable."""
    for i in range(place.shape[0]):
        start[place[i] + 1] += 1
    for s in range(1, start.shape[0]):
        start[s] += start[s - 1]
    for i in range(place.shape[0]):
        order[start[place[i]]] = i
        start[place[i]] += 1
    for s in range(start.shape[0] - 1, 0, -1):
        start[s] = start[s - 1]
    start[0] = 0


@hot_kernel
def _add_up(nodes, discounts, level, by_size, weights, units, sums, means, first, step):
    """Add up the terms of every ``step``-th size from ``first``.

    ``by_size`` holds the level's first node, its nodes sorted by size, and the start of each size.
    ``sums`` (int64 [sizes, 2, 2, topics]) receives A and B in units: of weights, and by size.
    """
    begin, order, start = by_size
    slope_units, fixed_units = units
    mean = means[first]
    n_topics = index(mean.shape[0])
    discount = discounts[level]
    for s in range(first, sums.shape[0], step):
        for j in range(start[s], start[s + 1]):
            n = begin + order[j]
            _mean(nodes, discounts, level - 1, nodes.parent[n], mean)
            cite, cited = weights[0][n], weights[1][n]
            tables = discount * nodes.total_tables[n]
            row, size = index(n), index(s)
            for k in range(n_topics):
                own = nodes.customers[row, k] - discount * nodes.tables[row, k]
                own += tables * mean[k]
                sums[size, 0, 0, k] += np.int64(cite * fixed_units[size, 0] * own)
                sums[size, 0, 1, k] += np.int64(cited * fixed_units[size, 1] * own)
                sums[size, 1, 0, k] += np.int64(cite * slope_units[0] * mean[k])
                sums[size, 1, 1, k] += np.int64(cited * slope_units[1] * mean[k])


@inlined
def _mean(nodes, discounts, level, node, mean):
    """Fill in the posterior mean of a node, without the mass that mu keeps for unseen topics."""
    n_topics = index(mean.shape[0])
    for k in range(n_topics):
        mean[k] = 0.0
    left = 1.0
    n = node
    for lower in range(level, -1, -1):
        discount = discounts[lower]
        beta = nodes.concentration[n]
        scale = left / (beta + nodes.total_customers[n])
        row = index(n)
        for k in range(n_topics):
            mean[k] += scale * (nodes.customers[row, k] - discount * nodes.tables[row, k])
        left = scale * (beta + discount * nodes.total_tables[n])
        n = nodes.parent[n]


@hot_kernel
def weigh(terms, scale, beta, shape, rate):
    """Return the log density of a concentration, including the exponential of citations."""
    n_topics = index(scale.shape[0])
    for side in range(index(2)):
        for k in range(n_topics):
            terms.now[side, k] = terms.rest[side, k]
        for s in range(index(terms.size.shape[0])):
            inverse = 1.0 / (beta + terms.size[s])
            for k in range(n_topics):
                term = terms.fixed[s, side, k] + beta * terms.slope[s, side, k]
                terms.now[side, k] += inverse * term
    total = 0.0
    for k in range(n_topics):
        total += scale[k] * terms.now[0, k] * terms.now[1, k]
    return (shape - 1.0) * np.log(beta) - rate * beta - total


@inlined
def _log_density(given, beta, shape, rate):
    """Implement the callback of ``slice_draw``."""
    terms, scale = given
    return weigh(terms, scale, beta, shape, rate)


@hot_kernel
def _draw(rng, terms, scale, start, shape, rate):
    """Draw from Gamma(shape, rate) x exp(-E(beta))."""
    return slice_draw(rng, _log_density, (terms, scale), start, shape, rate)
