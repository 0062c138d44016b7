"""Concentrations of the word side if its density is raised to a power zeta.

The auxiliary variables of `citeweave.engines.core.concentrations` belong to zeta = 1. Otherwise a
concentration is slice-sampled from its density

    Gamma(beta; tau_0, tau_1) [prod over nodes (beta|alpha)_T / (beta)_C]^zeta

in which nodes of the same size are grouped: the many phi' have few distinct sizes.
"""

from typing import NamedTuple

import numpy as np

from citeweave.compiled import hot_kernel
from citeweave.engines.core.arrays import Array, Layout, Shape, State
from citeweave.engines.core.log_stirling import log_rising
from citeweave.engines.core.slice_sampling import slice_draw

__all__ = ["draw_tempered_concentrations"]


class _Nodes(NamedTuple):
    """Nodes that share a concentration, grouped by size."""

    customers: Array
    """int64 [n]: distinct values of C."""
    with_customers: Array
    """int64 [n]: number of nodes with each value."""
    tables: Array
    """int64 [m]: distinct values of T."""
    with_tables: Array
    """int64 [m]."""
    discount: float
    power: float


def draw_tempered_concentrations(
    shape: Shape, layout: Layout, state: State, prior: Array, power: float, *, pooled: bool
) -> None:
    """Update the word side's concentrations: gamma, phi (pooled or one per topic) and phi'."""
    words, parameters, rng = state.words, state.parameters, state.random
    n_topics = len(words.total_customers)

    def draw(level: int, start: float, customers: Array, tables: Array) -> float:
        nodes = _nodes(customers, tables, float(parameters.word_discount[level]), power)
        return float(_draw(rng, nodes, start, prior[0], prior[1]))

    if shape.background:
        totals = words.background_totals
        values = parameters.word_concentration
        values[0] = draw(0, float(values[0]), totals[:1], totals[1:])
    betas = parameters.topic_word_concentration
    step = n_topics if pooled else 1
    for k in range(0, n_topics, step):
        own = slice(k, k + step)
        betas[own] = draw(1, float(betas[k]), words.total_customers[own], words.total_tables[own])
    if shape.burst:
        values = parameters.word_concentration
        values[1] = draw(2, float(values[1]), *_bursts(layout, state, n_topics))


def _bursts(layout: Layout, state: State, n_topics: int) -> tuple[Array, Array]:
    """Count customers and tables of all phi'_dk."""
    lengths = np.diff(layout.document_start)
    node = np.repeat(np.arange(len(lengths)), lengths) * n_topics + state.assignments.topic
    size = len(lengths) * n_topics
    tables = np.bincount(node, state.assignments.burst_table, minlength=size)
    return np.bincount(node, minlength=size), tables.astype(np.int64)


def _nodes(customers: Array, tables: Array, discount: float, power: float) -> _Nodes:
    """Group nodes by size; nodes without customers do not matter."""
    sizes = (np.unique(each[each > 0], return_counts=True) for each in (customers, tables))
    (c, with_c), (t, with_t) = sizes
    return _Nodes(c.astype(np.int64), with_c, t.astype(np.int64), with_t, discount, power)


@hot_kernel
def _log_density(nodes, beta, shape, rate):
    """Compute the log density of a concentration, up to a constant."""
    total = 0.0
    for i in range(nodes.tables.shape[0]):
        total += nodes.with_tables[i] * log_rising(beta, nodes.discount, nodes.tables[i])
    for i in range(nodes.customers.shape[0]):
        total -= nodes.with_customers[i] * log_rising(beta, 1.0, nodes.customers[i])
    return (shape - 1.0) * np.log(beta) - rate * beta + nodes.power * total


@hot_kernel
def _draw(rng, nodes, start, shape, rate):
    """Draw a concentration given the nodes that share it."""
    return slice_draw(rng, _log_density, nodes, start, shape, rate)
