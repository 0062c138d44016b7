"""Moves of one customer below a fixed base measure, and their weights.

The climb is that of `engines.core.climb`, for one document whose parent nu does not change: nu
takes the place of the root of other engines, on level 0, and the document levels follow it. A
customer of the uppermost one who opens a table draws from nu, so the climb ends there.
"""

from typing import NamedTuple

import numpy as np

from citeweave.compiled import hot_kernel, index, inlined, kernel
from citeweave.engines.core.arrays import TopicCounts, level_table
from citeweave.engines.core.climb import TopicPath, move_below_root
from citeweave.engines.core.random import uniform
from citeweave.engines.core.stirling import weight_pair

__all__ = [
    "NestedWeights",
    "Scratch",
    "accept",
    "citing_rate",
    "empty",
    "move_burst",
    "new_scratch",
    "opening_scales",
    "pick",
    "shift_customer",
]


class NestedWeights(NamedTuple):
    """Weights of all topics on the document levels, in the form ``nested_weight`` expects."""

    stay: np.ndarray
    """float64 [document levels, topics]: A0."""
    open: np.ndarray
    """float64 [document levels, topics]: B1."""
    scale: np.ndarray
    """float64 [document levels]: factor of a new table."""


class Scratch(NamedTuple):
    """The current document."""

    counts: TopicCounts
    """int64, one row per document level."""
    row: np.ndarray
    """int64 [document levels + 1]: rows of the levels, nu (-1) first; see `TopicPath`."""
    weights: NestedWeights
    word_topic: np.ndarray
    """int64 [tokens]: z."""
    burst_table: np.ndarray
    """int64 [tokens]: table indicators at phi'."""
    citing_topic: np.ndarray
    """int64 [links]: y."""
    tokens: np.ndarray
    """int64 [topics]: customers of phi'_dk."""
    burst_tables: np.ndarray
    """int64 [topics]: tables of phi'_dk."""
    run_customers: np.ndarray
    """int64 [topics]: customers of phi'_dk at the current word."""
    run_tables: np.ndarray
    """int64 [topics]."""
    mass: np.ndarray
    """float64 [topics]: weights of the current token or citation."""


@kernel
def new_scratch(n_levels, n_topics, n_words, n_links):
    """Allocate scratch arrays for documents with at most this many words and links."""
    return Scratch(
        TopicCounts(
            np.zeros((n_levels, n_topics), np.int64),
            np.zeros((n_levels, n_topics), np.int64),
            np.zeros(n_levels, np.int64),
            np.zeros(n_levels, np.int64),
            np.zeros((0, n_topics), np.int64),
        ),
        np.arange(-1, n_levels),
        NestedWeights(
            np.zeros((n_levels, n_topics)), np.zeros((n_levels, n_topics)), np.empty(n_levels)
        ),
        np.zeros(n_words, np.int64),
        np.zeros(n_words, np.int64),
        np.zeros(n_links, np.int64),
        np.zeros(n_topics, np.int64),
        np.zeros(n_topics, np.int64),
        np.zeros(n_topics, np.int64),
        np.zeros(n_topics, np.int64),
        np.empty(n_topics),
    )


@hot_kernel
def empty(scratch):
    """Reset to a document without customers."""
    counts, weights = scratch.counts, scratch.weights
    counts.customers[:] = 0
    counts.tables[:] = 0
    counts.total_customers[:] = 0
    counts.total_tables[:] = 0
    weights.stay[:] = 0.0
    weights.open[:] = 1.0
    scratch.tokens[:] = 0
    scratch.burst_tables[:] = 0


@inlined
def opening_scales(base, scratch):
    """Compute factors of a new table, (beta + alpha T) / (beta_parent + C_parent); nu sums to 1."""
    discount, concentration, counts = base.discount, base.concentration, scratch.counts
    for level in range(discount.shape[0]):
        above = 1.0
        if level > 0:
            above = concentration[level - 1] + counts.total_customers[level - 1]
        opening = concentration[level] + discount[level] * counts.total_tables[level]
        scratch.weights.scale[level] = opening / above


@inlined
def shift_customer(tables_of, scratch, level, k, depth, sign):
    """Add or remove a customer that climbs ``depth`` levels, and update its topic's weights.

    Levels are counted from nu, which is on level 0 and does not change.
    """
    counts, weights = scratch.counts, scratch.weights
    move_below_root(counts, TopicPath(scratch.row, k), level, depth, sign)
    for step in range(min(depth, level)):
        row = index(level - 1 - step)
        weights.stay[row, k], weights.open[row, k] = weight_pair(
            level_table(tables_of, row), counts.customers[row, k], counts.tables[row, k]
        )


@inlined
def move_burst(scratch, k, table, sign):
    """Add or remove a customer of phi'_dk at the current word, with or without a table."""
    scratch.run_customers[k] += sign
    scratch.run_tables[k] += sign * table
    scratch.tokens[k] += sign
    scratch.burst_tables[k] += sign * table


@hot_kernel
def pick(rng, masses, total):
    """Draw an index with probability proportional to its mass."""
    target = uniform(rng) * total
    last = 0
    for k in range(masses.shape[0]):
        if target < masses[k]:
            return k
        target -= masses[k]
        if masses[k] > 0.0:
            last = k
    return last


@hot_kernel
def citing_rate(base, counts, node):
    """Return the rate of citing any training document, ``theta' @ rate`` (eq:recover_vector)."""
    discount, concentration = base.discount, base.concentration
    total = 0.0
    for k in range(base.nodes.shape[1]):
        mean = base.nodes[node, k]
        for level in range(base.seen + 1):
            own = counts.customers[level, k] - discount[level] * counts.tables[level, k]
            share = concentration[level] + discount[level] * counts.total_tables[level]
            mean = (share * mean + own) / (concentration[level] + counts.total_customers[level])
        total += mean * base.rate[k]
    return total


@hot_kernel
def accept(rng, before, after, n_links):
    """Accept or reject a move that changes the rate of citing, under ``rate ** -n_links``."""
    return after <= before or uniform(rng) < (before / after) ** n_links
