"""The citation sweep: every citation leaves both of its documents and draws a citing topic.

A citation i -> j with citing topic y is one customer of topic y at theta'_i and one at theta'_j,
each with table indicators of its own. The proposal weighs topics by both ends' collapsed weights
(eq:proposal_y); Metropolis-Hastings (eq:acceptance_probability) corrects for what it leaves
out: the exponential, and that the second customer sees the tables the first has opened
wherever the two paths meet (at the same author, and always at mu).
"""

from typing import NamedTuple

import numpy as np

from citeweave.compiled import hot_kernel, inlined
from citeweave.engines.core.exponent import commit_change, discard_change, exponent_change
from citeweave.engines.core.hierarchy import (
    draw_addition,
    draw_removal,
    move_customer,
    node_weights,
    path_weight,
)
from citeweave.engines.core.random import uniform

__all__ = ["CitationWork", "citation_sweep", "new_citation_work", "start_citations"]


_AHEAD = 2


class CitationWork(NamedTuple):
    """Scratch of the citation sweep."""

    citing_weight: np.ndarray
    """float64 [topics]."""
    cited_weight: np.ndarray
    """float64 [topics]."""
    mass: np.ndarray
    """float64 [topics]."""
    path: np.ndarray
    """int64 [levels]."""
    climb: np.ndarray
    """float64 [levels]."""


def new_citation_work(n_topics: int, n_levels: int) -> CitationWork:
    """Make scratch room for one worker."""
    return CitationWork(
        citing_weight=np.zeros(n_topics),
        cited_weight=np.zeros(n_topics),
        mass=np.zeros(n_topics),
        path=np.zeros(n_levels, np.int64),
        climb=np.zeros(n_levels),
    )


@inlined
def _draw_topic(rng, parameters, work):
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
def _seat(rng, layout, tables, counts, parameters, work, level, node, topic):
    """Add one customer with indicators from their conditional; return its depth and weight."""
    weight = path_weight(
        tables, layout, counts, parameters, level, node, topic, work.path, work.climb
    )
    depth = draw_addition(rng, tables, counts, level, topic, work.path, work.climb)
    move_customer(layout, counts, level, node, topic, depth, 1)
    return depth, weight


@hot_kernel
def start_citations(level, layout, tables, state, work):
    """Give every citation its first topic, drawn as if there were no other citation.

    Drawn given those before it, first topics pull each other along, and chains take longer to
    come down (docs/parallel-quality.md).
    """
    counts = state.topics
    parameters = state.parameters
    rng = state.random
    y = state.assignments.citing_topic
    for e in range(layout.citing.shape[0]):
        first = layout.citation_node + layout.citing[e]
        second = layout.citation_node + layout.cited[e]
        node_weights(
            tables, layout, counts, parameters, level, first, work.path, work.citing_weight
        )
        node_weights(
            tables, layout, counts, parameters, level, second, work.path, work.cited_weight
        )
        y[e] = _draw_topic(rng, parameters, work)
    for e in range(layout.citing.shape[0]):
        first = layout.citation_node + layout.citing[e]
        second = layout.citation_node + layout.cited[e]
        _seat(rng, layout, tables, counts, parameters, work, level, first, int(y[e]))
        _seat(rng, layout, tables, counts, parameters, work, level, second, int(y[e]))


@hot_kernel
def citation_sweep(level, layout, tables, state, work, exponent, tally):
    """Visit every citation once; ``level`` is the one that citations reach.

    ``tally`` (int64 [4]) counts citations visited, blocked, and proposals accepted; its last entry
    has no meaning.
    """
    counts = state.topics
    parameters = state.parameters
    rng = state.random
    y = state.assignments.citing_topic
    n_citations = layout.citing.shape[0]
    touched = 0
    for e in range(n_citations):
        tally[0] += 1
        if e + _AHEAD < n_citations:  # cited papers lie anywhere: read ahead what will be needed
            n = layout.citation_node + layout.cited[e + _AHEAD]
            parent = layout.parent[n]
            touched += counts.customers[n, 0] + counts.tables[n, 0] + counts.total_customers[n]
            touched += counts.customers[parent, 0] + counts.tables[parent, 0]
        first = layout.citation_node + layout.citing[e]
        second = layout.citation_node + layout.cited[e]
        old = int(y[e])
        second_out = draw_removal(rng, layout, counts, level, second, old)
        if second_out == 0:
            tally[1] += 1
            continue
        move_customer(layout, counts, level, second, old, second_out, -1)
        weight_old = path_weight(
            tables, layout, counts, parameters, level, second, old, work.path, work.climb
        )
        first_out = draw_removal(rng, layout, counts, level, first, old)
        if first_out == 0:
            move_customer(layout, counts, level, second, old, second_out, 1)
            tally[1] += 1
            continue
        move_customer(layout, counts, level, first, old, first_out, -1)
        node_weights(
            tables, layout, counts, parameters, level, first, work.path, work.citing_weight
        )
        node_weights(
            tables, layout, counts, parameters, level, second, work.path, work.cited_weight
        )
        new = _draw_topic(rng, parameters, work)
        first_in, _ = _seat(rng, layout, tables, counts, parameters, work, level, first, new)
        second_in, weight_new = _seat(
            rng, layout, tables, counts, parameters, work, level, second, new
        )
        # the second end's weight beside the first's new tables, over the weight proposed with
        coupling = weight_new * work.cited_weight[old] / (weight_old * work.cited_weight[new])
        change = 0.0
        moved = new != old or first_in != first_out or second_in != second_out
        if moved:
            change = exponent_change(
                layout,
                counts,
                parameters,
                exponent,
                level,
                first,
                second,
                old,
                new,
                (first_out, second_out),
                (first_in, second_in),
            )
        if uniform(rng) < coupling * np.exp(-change):
            tally[2] += 1
            y[e] = new
            if moved:
                commit_change(exponent)
        else:
            if moved:
                discard_change(exponent)
            move_customer(layout, counts, level, second, new, second_in, -1)
            move_customer(layout, counts, level, first, new, first_in, -1)
            move_customer(layout, counts, level, first, old, first_out, 1)
            move_customer(layout, counts, level, second, old, second_out, 1)
    tally[3] += touched  # keeps the compiler from dropping the reads
