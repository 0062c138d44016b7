"""The citation sweep over the topics of two papers.

`engines.dense.citations` sweeps over all topics. With both ends of a citation removed, let
W(k) = lambdaT_k w(k) w'(k), where w and w' are the collapsed weights of its ends, and let *inside*
be the topics that either paper still has. A topic is proposed from

    q(k) = [k inside] W(k) + s R(k)

where R is a proposal table that is fixed during the sweep, and s depends only on the counts without
the citation. The proposal k' is accepted with probability min(1, W(k') q(k) / (W(k) q(k'))), a
Metropolis-Hastings step that leaves W invariant. Then tables are drawn. A second test accepts or
rejects them together with the topic, for the two factors that W leaves out, as in the sweep over
all topics: the second end sees the tables of the first, and the exponential.
"""

from typing import NamedTuple

import numpy as np

from citeweave.compiled import hot_kernel, index, inlined
from citeweave.engines.core.arrays import level_table
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
from citeweave.engines.core.hierarchy import (
    climb_weight,
    new_topic_weight,
    opening_scale,
    root_weight,
)
from citeweave.engines.core.prefetch import prefetch
from citeweave.engines.core.random import uniform
from citeweave.engines.core.row_places import ask_count, pair_at
from citeweave.engines.core.stirling import weight_pair
from citeweave.engines.core.turnover import Move
from citeweave.engines.slots.ends import commit_ends, ends_change
from citeweave.engines.slots.hubs import Hubs, close_hubs, new_hubs, open_hubs
from citeweave.engines.slots.presence import lowest_bit, note_presence
from citeweave.engines.slots.proposal_tables import draw_proposal, proposal_weight
from citeweave.engines.slots.sparse_change import (
    SparseChange,
    busy_words,
    list_ends,
    new_sparse_change,
    own_bit,
)

__all__ = ["SparseCitationWork", "ask_bits", "citation_sweep", "new_citation_work", "sweep_opened"]

_WIDTH = 64
_LINE = 8
"""Words of 64 bits per cache line."""
_AHEAD = 1
_LARGE = 1 << 20
_MANY = 1000
"""Above these numbers of counts and of citations, a sweep prefetches for the citations ahead."""


class SparseCitationWork(NamedTuple):
    """Scratch arrays of the citation sweep."""

    weight: np.ndarray
    """float64 [2, topics + 1]: w and w' of the topics listed in ``sparse``."""
    mass: np.ndarray
    """float64 [topics + 1]: W."""
    place: np.ndarray
    """int64 [topics + 1]: positions in ``sparse.topic`` of the topics that a node has."""
    climb: Climb
    sparse: SparseChange
    hubs: Hubs
    log: np.ndarray
    """int32 [entries, 2]: nodes above papers, with a topic that changed there; may be empty."""
    logged: np.ndarray
    """int64 [1]: number of entries; the reader resets it to 0."""


def new_citation_work(n_topics: int, n_levels: int, n_logged: int = 0) -> SparseCitationWork:
    """Allocate memory for one worker, with a log for ``n_logged`` citations (0: no log)."""
    return SparseCitationWork(
        weight=np.zeros((2, n_topics + 1)),
        mass=np.zeros(n_topics + 1),
        place=np.zeros(n_topics + 1, np.int64),
        climb=new_climb(n_levels),
        sparse=new_sparse_change(n_topics, n_levels),
        hubs=new_hubs(n_topics, choosing=n_logged == 0),
        log=np.zeros((4 * n_levels * n_logged, 2), np.int32),
        logged=np.zeros(1, np.int64),
    )


@inlined
def ask_bits(layout, presence, node):
    """Prefetch the bits of a paper and of its author."""
    for i in range(0, presence.shape[1], _LINE):
        prefetch(presence, index(node), index(i))
        prefetch(presence, index(layout.parent[node]), index(i))


@inlined
def _ask_counts(layout, counts, presence, word, node):
    """Prefetch the counts of a paper, and those of its author in the paper's topics."""
    n, parent = index(node), index(layout.parent[node])
    for w in range(busy_words(presence, n, word)):
        i = word[index(w)]
        bits = presence[n, index(i)]
        while bits != np.uint64(0):
            k = index(_WIDTH * i + lowest_bit(bits))
            bits &= bits - np.uint64(1)
            ask_count(counts.customers, n, k)
            ask_count(counts.tables, n, k)
            ask_count(counts.customers, parent, k)
            ask_count(counts.tables, parent, k)


@inlined
def _weigh_node(tables, counts, parameters, presence, work, lower, side, first, last):
    """Compute the weights of listed topics at one level from those at the level above, at one end.

    Topics that the node has are gathered first, which avoids a branch that would be mispredicted.
    """
    sparse = work.sparse
    n = index(sparse.row[side, lower])
    scale = opening_scale(counts, parameters, lower, n, sparse.row[side, lower - 1])
    table = level_table(tables.topic, lower)
    found = 0
    for j in range(first, last):
        work.weight[index(side), index(j)] *= scale
    for j in range(first, last):
        work.place[index(found)] = j
        found += own_bit(presence, n, sparse.topic[index(j)])
    for i in range(found):
        j = index(work.place[index(i)])
        k = index(sparse.topic[j])
        customers, seated = pair_at(counts.customers, counts.tables, n, k)
        stay, opened = weight_pair(table, customers, seated)
        work.weight[index(side), j] = stay + opened * work.weight[index(side), j]


@inlined
def _weigh(tables, counts, parameters, presence, work, ends, first, last):
    """Compute W of the topics listed from ``first`` to ``last`` - 1; return the sum of W."""
    topic = work.sparse.topic
    fresh = new_topic_weight(counts, parameters)
    for j in range(first, last):
        root = root_weight(counts, parameters, fresh, index(topic[index(j)]))
        work.weight[index(0), index(j)] = root
        work.weight[index(1), index(j)] = root
    for lower in range(1, ends.level + 1):
        for side in range(2):
            if side == 0 or lower > ends.meet:
                _weigh_node(tables, counts, parameters, presence, work, lower, side, first, last)
            else:
                for j in range(first, last):
                    work.weight[index(1), index(j)] = work.weight[index(0), index(j)]
    total = 0.0
    for j in range(first, last):
        both = work.weight[index(0), index(j)] * work.weight[index(1), index(j)]
        mass = parameters.topic_scale[index(topic[index(j)])] * both
        work.mass[index(j)] = mass
        total += mass
    return total


@inlined
def _note_topic(counts, presence, work, step, n, k):
    """Update the bit of a topic, and log the change if the node is above papers."""
    note_presence(presence, n, k, counts.customers[index(n), index(k)])
    if step > 0 and work.log.shape[0] > 0:
        i = index(work.logged[0])
        work.log[i, 0] = n
        work.log[i, 1] = k
        work.logged[0] += 1


@inlined
def _note_path(counts, presence, work, level, side, move):
    """Update the bits of one end, after the moves of both ends."""
    out, into = move.removed[side], move.added[side]
    for step in range(max(out, into)):
        n = work.sparse.row[side, level - step]
        if step < out:
            _note_topic(counts, presence, work, step, n, move.old)
        if step < into:
            _note_topic(counts, presence, work, step, n, move.new)


@inlined
def _propose(rng, tables, counts, parameters, presence, proposal, work, ends, listed, tally):
    """Propose a topic for both ends, and accept or reject it; return its position in the list.

    A position of -1 means that the proposal was rejected. 0 is the current topic, and ``listed`` is
    a topic that was not in the list and has been appended.
    """
    sparse, level = work.sparse, ends.level
    old = sparse.topic[0]
    inside = False
    outside = proposal.citation_mass[0]
    for side in range(2):
        n = index(sparse.row[side, level])
        inside |= counts.customers[n, index(old)] > 0
        # the factor that turns a share at the level above into the weight of a topic without counts
        discount = parameters.topic_discount[level]
        outside *= parameters.topic_concentration[n] + discount * counts.total_tables[n]
    total = _weigh(tables, counts, parameters, presence, work, ends, 0, listed)
    before = work.mass[0]
    if not inside:
        total = max(total - before, 0.0)
    target = uniform(rng) * (total + outside)
    place = 0
    if target < total:
        place = 0 if inside else 1
        while place < listed - 1:
            target -= work.mass[index(place)]
            if target < 0.0:
                break
            place += 1
    else:
        tally[4] += 1
        new = draw_proposal(rng, proposal.citation)
        while place < listed and sparse.topic[index(place)] != new:
            place += 1
        if place == listed:
            sparse.topic[index(place)] = new
            _weigh(tables, counts, parameters, presence, work, ends, place, place + 1)
    if place > 0:
        unit = outside / proposal.citation[index(proposal.citation.shape[0] - 1)]
        after = work.mass[index(place)]
        back = unit * proposal_weight(proposal.citation, old) + (before if inside else 0.0)
        there = unit * proposal_weight(proposal.citation, sparse.topic[index(place)])
        there += after if place < listed else 0.0
        if uniform(rng) * before * there >= after * back:
            tally[5] += 1
            place = -1
    return place


@hot_kernel
def sweep_opened(level, layout, tables, state, work, presence, proposal, rates, exponent, tally):
    """Visit every citation once, like ``citation_sweep``, with ``work.hubs`` already opened."""
    counts = state.topics
    parameters = state.parameters
    rng = state.random
    y = state.assignments.citing_topic
    n_citations = layout.citing.shape[0]
    large = counts.customers.size > _LARGE and n_citations > _MANY
    for e in range(n_citations):
        tally[0] += 1
        if large and e + 3 < n_citations:
            ask_bits(layout, presence, layout.citation_node + layout.cited[e + 3])
            ahead = layout.citation_node + layout.cited[e + _AHEAD]
            _ask_counts(layout, counts, presence, work.sparse.word, ahead)
        first = layout.citation_node + layout.citing[e]
        second = layout.citation_node + layout.cited[e]
        row = work.sparse.row
        ends = Ends(row, level, find_ends(layout, row, level, first, second))
        old = int(y[e])
        first_out, second_out = take_out_ends(rng, counts, ends, old)
        if first_out == 0:
            tally[1] += 1
            continue
        listed = list_ends(presence, work.sparse, level, old)
        # an end that climbs only below the level where the paths meet does not affect the other end
        seen = first_out > level - ends.meet
        weight_old = -1.0
        if seen:
            path = TopicPath(row[1], old)
            weight_old = climb_weight(tables, counts, parameters, path, level, work.climb)
        move_customer(counts, TopicPath(row[0], old), level, first_out, -1)
        place = _propose(
            rng, tables, counts, parameters, presence, proposal, work, ends, listed, tally
        )
        new = old
        accepted = False
        if place >= 0:
            new = work.sparse.topic[index(place)]
            first_in, second_in = 0, 0
            weight_new = 0.0
            for side in range(2):
                path = TopicPath(row[side], new)
                weight_new = climb_weight(tables, counts, parameters, path, level, work.climb)
                depth = draw_addition(rng, work.climb, level)
                move_customer(counts, path, level, depth, 1)
                if side == 0:
                    first_in = depth
                else:
                    second_in = depth
            # the second end's weight given the first's new tables, divided by that of the proposal
            coupling = weight_new / work.weight[index(1), index(place)]
            if seen:
                coupling *= work.weight[index(1), index(0)] / weight_old
            change = 0.0
            moved = new != old or first_in != first_out or second_in != second_out
            move = Move(old, new, (first_out, second_out), (first_in, second_in))
            if moved:
                listed = max(listed, place + 1)
                change = ends_change(
                    counts, parameters, presence, exponent, rates, work, ends, listed, move
                )
            accepted = uniform(rng) < coupling * np.exp(-change)
            if accepted:
                tally[2] += 1
                y[e] = new
                if moved:
                    commit_ends(parameters, exponent, rates, work, level, move)
                    _note_path(counts, presence, work, level, 0, move)
                    _note_path(counts, presence, work, level, 1, move)
            else:
                move_customer(counts, TopicPath(row[1], new), level, second_in, -1)
                move_customer(counts, TopicPath(row[0], new), level, first_in, -1)
        if not accepted:
            move_customer(counts, TopicPath(row[0], old), level, first_out, 1)
            move_customer(counts, TopicPath(row[1], old), level, second_out, 1)


@hot_kernel
def citation_sweep(level, layout, tables, state, work, presence, proposal, rates, exponent, tally):
    """Visit every citation once; ``level`` is the level at which citations enter the tree.

    ``tally`` (int64 [6]) counts citations visited, citations blocked and moves accepted; then an
    unused entry, topics proposed from the table, and proposals rejected before tables were drawn.
    The weights of ``exponent`` are kept up to date; the sums P and M are in ``rates``.
    """
    counts, parameters = state.topics, state.parameters
    open_hubs(layout, counts, parameters, presence, exponent, rates, work.hubs)
    sweep_opened(level, layout, tables, state, work, presence, proposal, rates, exponent, tally)
    close_hubs(parameters, rates, work.hubs)
