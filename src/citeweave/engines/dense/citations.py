"""The citation sweep: remove every citation from both of its documents and draw a citing topic.

A citation i -> j with citing topic y is one customer of topic y at theta'_i and one at theta'_j,
each with its own table indicators. The proposal is the product of the collapsed weights at both
ends (eq:proposal_y). Metropolis-Hastings (eq:acceptance_probability) corrects for two effects that
it ignores: the exponential, and the tables opened by the first customer, which the second customer
sees wherever the two paths meet (at the same author, and always at mu).
"""

from typing import NamedTuple

import numpy as np

from citeweave.compiled import hot_kernel, index, inlined
from citeweave.engines.core.climb import (
    Climb,
    Ends,
    TopicPath,
    draw_addition,
    find_ends,
    move_customer,
    new_climb,
    take_out_ends,
)
from citeweave.engines.core.exponent import commit_change, discard_change, exponent_change
from citeweave.engines.core.hierarchy import node_weights, path_weight
from citeweave.engines.core.prefetch import prefetch, prefetch_item
from citeweave.engines.core.random import uniform
from citeweave.engines.core.turnover import Move

__all__ = [
    "CitationWork",
    "citation_sweep",
    "draw_citing_topic",
    "new_citation_work",
    "start_citations",
    "weigh_ends",
]


_AHEAD = 6
"""Number of citations ahead of the current one whose counts are prefetched."""
_FAR_AHEAD = 12
"""Number of citations ahead whose nodes in the tree are prefetched."""
_LINE = 16
"""Number of topics per cache line."""


class CitationWork(NamedTuple):
    """Scratch arrays of the citation sweep."""

    citing_weight: np.ndarray
    """float64 [topics]."""
    cited_weight: np.ndarray
    """float64 [topics]."""
    mass: np.ndarray
    """float64 [topics]."""
    row: np.ndarray
    """int64 [2, levels]: nodes above both ends of the current citation."""
    climb: Climb


def new_citation_work(n_topics: int, n_levels: int) -> CitationWork:
    """Allocate scratch arrays for one worker."""
    return CitationWork(
        citing_weight=np.zeros(n_topics),
        cited_weight=np.zeros(n_topics),
        mass=np.zeros(n_topics),
        row=np.zeros((2, n_levels), np.int64),
        climb=new_climb(n_levels),
    )


@inlined
def draw_citing_topic(rng, parameters, work):
    """Draw from eq:proposal_y, with the collapsed weights of both ends."""
    total = 0.0
    n_topics = work.mass.shape[0]
    for k in range(n_topics):
        total += parameters.topic_scale[k] * work.citing_weight[k] * work.cited_weight[k]
        work.mass[k] = total
    target = uniform(rng) * total
    for k in range(n_topics):
        if target < work.mass[k]:
            return k
    return n_topics - 1


@inlined
def weigh_ends(tables, counts, parameters, ends, work):
    """Compute the weights of all topics at both ends."""
    node_weights(tables, counts, parameters, ends.row[0], ends.level, work.citing_weight)
    node_weights(tables, counts, parameters, ends.row[1], ends.level, work.cited_weight)


@inlined
def _seat(rng, tables, counts, parameters, path, level, climb):
    """Add one customer with indicators from their conditional; return its depth and weight."""
    weight = path_weight(tables, counts, parameters, path, level, climb)
    depth = draw_addition(rng, climb, level)
    move_customer(counts, path, level, depth, 1)
    return depth, weight


@hot_kernel
def start_citations(level, layout, tables, state, work):
    """Assign a first topic to every citation, drawn as if there were no other citation.

    If each were drawn given the previous ones, first topics would reinforce each other, and chains
    would take longer to converge (docs/results/parallel.md).
    """
    counts = state.topics
    parameters = state.parameters
    rng = state.random
    y = state.assignments.citing_topic
    for drawn in range(2):  # first the topics of all citations, then their customers
        for e in range(layout.citing.shape[0]):
            first = layout.citation_node + layout.citing[e]
            second = layout.citation_node + layout.cited[e]
            ends = Ends(work.row, level, find_ends(layout, work.row, level, first, second))
            if drawn == 0:
                weigh_ends(tables, counts, parameters, ends, work)
                y[e] = draw_citing_topic(rng, parameters, work)
            else:
                for side in range(2):
                    path = TopicPath(work.row[side], int(y[e]))
                    _seat(rng, tables, counts, parameters, path, level, work.climb)


@inlined
def _ask_for(layout, counts, e):
    """Prefetch counts for later citations; cited papers and groups are scattered in memory."""
    n_citations = layout.citing.shape[0]
    if e + _FAR_AHEAD < n_citations:
        prefetch_item(layout.parent, index(layout.citation_node + layout.cited[e + _FAR_AHEAD]))
    if e + _AHEAD < n_citations:
        n = index(layout.citation_node + layout.cited[e + _AHEAD])
        parent = index(layout.parent[n])
        for k in range(0, counts.customers.shape[1], _LINE):
            prefetch(counts.customers, n, index(k))
            prefetch(counts.tables, n, index(k))
            prefetch(counts.customers, parent, index(k))
            prefetch(counts.tables, parent, index(k))
        prefetch_item(counts.total_customers, n)
        prefetch_item(counts.total_tables, n)


@hot_kernel
def citation_sweep(level, layout, tables, state, work, exponent, tally):
    """Visit every citation once; ``level`` is the level that citations reach.

    ``tally`` (int64 [4]) counts citations visited, blocked, and proposals accepted.
    """
    counts = state.topics
    parameters = state.parameters
    rng = state.random
    y = state.assignments.citing_topic
    n_citations = layout.citing.shape[0]
    for e in range(n_citations):
        tally[0] += 1
        _ask_for(layout, counts, e)
        first = layout.citation_node + layout.citing[e]
        second = layout.citation_node + layout.cited[e]
        ends = Ends(work.row, level, find_ends(layout, work.row, level, first, second))
        old = int(y[e])
        citing, cited = TopicPath(work.row[0], old), TopicPath(work.row[1], old)
        first_out, second_out = take_out_ends(rng, counts, ends, old)
        if first_out == 0:
            tally[1] += 1
            continue
        weight_old = path_weight(tables, counts, parameters, cited, level, work.climb)
        move_customer(counts, citing, level, first_out, -1)
        weigh_ends(tables, counts, parameters, ends, work)
        new = draw_citing_topic(rng, parameters, work)
        joined, joined_too = TopicPath(work.row[0], new), TopicPath(work.row[1], new)
        first_in, _ = _seat(rng, tables, counts, parameters, joined, level, work.climb)
        second_in, weight_new = _seat(
            rng, tables, counts, parameters, joined_too, level, work.climb
        )
        # the second end's weight given the first's new tables, over the weight in the proposal
        coupling = weight_new * work.cited_weight[old] / (weight_old * work.cited_weight[new])
        change = 0.0
        moved = new != old or first_in != first_out or second_in != second_out
        if moved:
            move = Move(old, new, (first_out, second_out), (first_in, second_in))
            change = exponent_change(counts, parameters, exponent, ends, move)
        if uniform(rng) < coupling * np.exp(-change):
            tally[2] += 1
            y[e] = new
            if moved:
                commit_change(exponent)
        else:
            if moved:
                discard_change(exponent)
            move_customer(counts, joined_too, level, second_in, -1)
            move_customer(counts, joined, level, first_in, -1)
            move_customer(counts, citing, level, first_out, 1)
            move_customer(counts, cited, level, second_out, 1)
