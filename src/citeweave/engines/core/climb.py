"""The climb, for all engines: a customer moves up a path of nodes, in one topic's column of counts.

A customer of a node either joins an existing table (the climb ends) or opens one and becomes a
customer of the parent too. The number of levels that it reaches is its *depth*: 1 for the node
alone, up to the number of levels. The depth is the only information in the table indicators u of a
token, so a move is (topic, depth) and can be undone exactly.

Engines lay out their counts differently, and present them as a *path view*: counts with the fields
of `TopicCounts`, and a `TopicPath` that says where in them a level's node and the topic are. Dense
counts have a row for each node and a column for each topic; slots and a fold-in have a row for each
level of the current document. The kernels here are compiled for each of these layouts and inlined.
"""

from typing import NamedTuple

import numpy as np

from citeweave.compiled import index, inlined
from citeweave.engines.core.random import uniform
from citeweave.engines.core.row_places import pair_at

__all__ = [
    "Climb",
    "Ends",
    "TopicPath",
    "draw_addition",
    "draw_nested_addition",
    "draw_removal",
    "find_ends",
    "find_path",
    "move_below_root",
    "move_customer",
    "nested_weight",
    "new_climb",
    "take_out_ends",
]


class TopicPath(NamedTuple):
    """Location of one topic's counts on the path from the root to a node."""

    row: np.ndarray
    """int64 [levels]: row of each level's node, root first."""
    column: int
    """Column of the topic."""


class Ends(NamedTuple):
    """The paths above the two papers of a citation, or above a single document."""

    row: np.ndarray
    """int64 [2, levels]: rows of the nodes above the citing paper and above the cited one."""
    level: int
    """The level that citations reach, where both paths end."""
    meet: int
    """Lowest level on which both paths are at the same node, or ``level`` if there is only one
    path."""


class Climb(NamedTuple):
    """Weights of one topic on the levels of a path, from which depths are drawn."""

    stay: np.ndarray
    """float64 [levels]: A0, the weight of joining an existing table."""
    weight: np.ndarray
    """float64 [levels]: A0 + B1 s (...), before division by (beta + C)."""


def new_climb(n_levels: int) -> Climb:
    """Allocate memory for the weights of one path."""
    return Climb(np.zeros(n_levels), np.zeros(n_levels))


@inlined
def find_path(layout, row, level, node):
    """Fill ``row`` with the nodes from ``node``, on ``level``, up to the root."""
    n = node
    for lower in range(level, -1, -1):
        row[index(lower)] = n
        n = layout.parent[index(n)]


@inlined
def find_ends(layout, row, level, first, second):
    """Fill ``row`` with the nodes above both ends; return the lowest level on which they meet."""
    a, b = first, second
    meet = 0
    for lower in range(level, -1, -1):
        if a == b and meet < lower:
            meet = lower
        row[index(0), index(lower)] = a
        row[index(1), index(lower)] = b
        a, b = layout.parent[index(a)], layout.parent[index(b)]
    return meet


@inlined
def draw_removal(rng, counts, path, level):
    """Draw how far the removed customer had climbed: u ~ Bernoulli(t / c) on each level.

    Returns 0 if the removal is blocked: the customer holds the only table of others, so the state
    without it has probability zero and it must return unchanged; or its table is served by an
    author other than the current one.
    """
    depth = 1
    column = index(path.column)
    for lower in range(level, 0, -1):
        row = index(path.row[index(lower)])
        c, t = pair_at(counts.customers, counts.tables, row, column)
        held = counts.held[row, column] if counts.held.shape[0] > 0 else 0
        if t < c or held > 0:
            place = uniform(rng) * c
            if place >= t:
                return depth
            if place < held or t == 1 < c:
                return 0
        depth += 1
    return depth


@inlined
def move_below_root(counts, path, level, depth, sign):
    """Add or remove a customer that climbs ``depth`` levels, on all levels except the root."""
    column = index(path.column)
    for step in range(min(depth, level)):
        row = index(path.row[index(level - step)])
        counts.customers[row, column] += sign
        counts.total_customers[row] += sign
        if step + 1 < depth:
            counts.tables[row, column] += sign
            counts.total_tables[row] += sign


@inlined
def move_customer(counts, path, level, depth, sign):
    """Add (sign 1) or remove (sign -1) a customer that climbs ``depth`` levels."""
    move_below_root(counts, path, level, depth, sign)
    if depth > level:  # the root: a topic has one table while it has customers
        root, column = index(path.row[index(0)]), index(path.column)
        counts.customers[root, column] += sign
        counts.total_customers[root] += sign
        standing = 1 if counts.customers[root, column] > 0 else 0
        counts.total_tables[root] += standing - counts.tables[root, column]
        counts.tables[root, column] = standing


@inlined
def take_out_ends(rng, counts, ends, topic):
    """Draw how far both ends of a citation had climbed, and remove the second one.

    Returns the depths of the first end, which is still there, and of the second; zeros, with
    nothing changed, if either removal is blocked.
    """
    path = TopicPath(ends.row[1], topic)
    second = draw_removal(rng, counts, path, ends.level)
    if second == 0:
        return 0, 0
    move_customer(counts, path, ends.level, second, -1)
    first = draw_removal(rng, counts, TopicPath(ends.row[0], topic), ends.level)
    if first == 0:
        move_customer(counts, path, ends.level, second, 1)
        return 0, 0
    return first, second


@inlined
def draw_addition(rng, climb, level):
    """Draw how far a new customer climbs (eq:sample_counts), given the weights of its path."""
    depth = 1
    for lower in range(level, 0, -1):
        stay = climb.stay[lower]
        if stay > 0.0 and uniform(rng) * climb.weight[lower] < stay:
            return depth
        depth += 1
    return depth


@inlined
def nested_weight(weights, base, levels, column):
    """Compute the weight of a topic with weight ``base`` above the first of ``levels`` levels.

    ``weights`` has A0 (``stay``) and B1 (``open``) by level and column, and by level the factor
    of a new table (``scale``): A0 + B1 s (...), the nested eq:conditional_posterior.
    """
    weight = base
    for i in range(levels):
        weight = weights.stay[i, column] + weights.open[i, column] * weights.scale[i] * weight
    return weight


@inlined
def draw_nested_addition(rng, weights, base, levels, column):
    """Draw how far a new customer climbs, recomputing the nested weights for each level."""
    depth = 1
    for i in range(levels - 1, -1, -1):
        stay = weights.stay[i, column]
        if stay > 0.0 and uniform(rng) * nested_weight(weights, base, i + 1, column) < stay:
            return depth
        depth += 1
    return depth
