"""The citation sweep over the topics of two papers; `citeweave.sampler.citations` has it over all.

With both ends of a citation removed let W(k) = lambdaT_k w(k) w'(k), w and w' being the collapsed
weights of its ends, and *inside* the topics that either paper still has. A topic is proposed from

    q(k) = [k inside] W(k) + s R(k)

where R is a table of `guesses` that stands still and s depends on nothing but the counts without
the citation. The proposal k' is taken with probability min(1, W(k') q(k) / (W(k) q(k'))), after
which it is as good as drawn from W; then tables are drawn, and what W leaves out (that the second
end sees the tables of the first, and the exponential) decides as in the sweep over all topics.
"""

from typing import NamedTuple

import numpy as np

from citeweave.sampler._compile import hot_kernel, index, inlined
from citeweave.sampler.arrays import level_table
from citeweave.sampler.hierarchy import (
    draw_removal,
    move_customer,
    new_topic_weight,
    opening_scale,
    root_weight,
)
from citeweave.sampler.random import uniform
from citeweave.sampler.stirling import weight_pair
from citeweave.sparse.guesses import draw_guess, guess_at
from citeweave.sparse.ends import Touched, commit_ends, new_touched, ends_change
from citeweave.sparse.presence import lowest_bit, note_presence

__all__ = ["CitationWork", "citation_sweep", "new_citation_work"]

_WIDTH = 64


class CitationWork(NamedTuple):
    """Scratch of the citation sweep."""

    topic: np.ndarray
    """int64 [topics]: those weighed, the present one first."""
    citing_weight: np.ndarray
    """float64 [topics]: w by place in ``topic``."""
    cited_weight: np.ndarray
    """float64 [topics]: w'."""
    weight: np.ndarray
    """float64 [topics]: W."""
    path: np.ndarray
    """int64 [2, levels]: nodes of both ends."""
    scale: np.ndarray
    """float64 [2, levels]: ``opening_scale`` of these nodes."""
    climb: np.ndarray
    """float64 [levels]."""
    stay: np.ndarray
    """float64 [levels]."""
    touched: Touched


def new_citation_work(n_topics: int, n_levels: int) -> CitationWork:
    """Make scratch room for one worker."""
    return CitationWork(
        topic=np.zeros(n_topics, np.int64),
        citing_weight=np.zeros(n_topics),
        cited_weight=np.zeros(n_topics),
        weight=np.zeros(n_topics),
        path=np.zeros((2, n_levels), np.int64),
        scale=np.zeros((2, n_levels)),
        climb=np.zeros(n_levels),
        stay=np.zeros(n_levels),
        touched=new_touched(n_topics, n_levels),
    )


@inlined
def _has(presence, n, k):
    """Tell whether the bit of a topic is set."""
    bits = presence[index(n), index(k) // index(_WIDTH)]
    return (bits >> np.uint64(k % _WIDTH)) & np.uint64(1) != np.uint64(0)


@inlined
def _find_paths(layout, work, level, first, second):
    """Write down the nodes of both ends; returns the lowest level on which they are the same."""
    a, b = first, second
    meet = 0
    for lower in range(level, -1, -1):
        if a == b and meet < lower:
            meet = lower
        work.path[0, lower] = a
        work.path[1, lower] = b
        a, b = layout.parent[a], layout.parent[b]
    return meet


@inlined
def _node_weight(tables, counts, presence, lower, n, k, weight):
    """Weight of a topic at a node, ``weight`` being what a new table of it weighs."""
    if _has(presence, n, k):
        row, column = index(n), index(k)
        stay, opened = weight_pair(
            level_table(tables.topic, lower),
            counts.customers[row, column],
            counts.tables[row, column],
        )
        return stay + opened * weight
    return weight


@inlined
def _weigh(tables, counts, presence, parameters, work, level, meet, fresh, j, k):
    """Put a topic at place ``j`` of the list, with its weights; returns that of both ends."""
    citing = root_weight(counts, parameters, fresh, index(k))
    cited = citing
    for lower in range(1, level + 1):
        citing = _node_weight(
            tables, counts, presence, lower, work.path[0, lower], k, citing * work.scale[0, lower]
        )
        if lower <= meet:
            cited = citing
        else:
            cited = _node_weight(
                tables, counts, presence, lower, work.path[1, lower], k, cited * work.scale[1, lower]
            )
    weight = parameters.topic_scale[index(k)] * citing * cited
    place = index(j)
    work.topic[place] = k
    work.citing_weight[place] = citing
    work.cited_weight[place] = cited
    work.weight[place] = weight
    return weight


@inlined
def _climb(tables, counts, parameters, work, level, side, k):
    """Give ``path_weight`` times (beta + C), with ``climb`` and the weights of staying."""
    column = index(k)
    fresh = new_topic_weight(counts, parameters)
    weight = root_weight(counts, parameters, fresh, column)
    for lower in range(1, level + 1):
        n = work.path[side, lower]
        weight *= opening_scale(counts, parameters, lower, n, work.path[side, lower - 1])
        stay, opened = weight_pair(
            level_table(tables.topic, lower),
            counts.customers[index(n), column],
            counts.tables[index(n), column],
        )
        weight = stay + opened * weight
        work.stay[lower] = stay
        work.climb[lower] = weight
    return weight


@inlined
def _draw_depth(rng, work, level):
    """Draw how far a new customer climbs, given ``_climb``."""
    depth = 1
    for lower in range(level, 0, -1):
        stay = work.stay[lower]
        if stay > 0.0 and uniform(rng) * work.climb[lower] < stay:
            return depth
        depth += 1
    return depth


@inlined
def _note_path(layout, counts, presence, node, old, new, out, into):
    """Bring the bits of one end up to date, both moves being made."""
    n = node
    for step in range(max(out, into)):
        row = index(n)
        if step < out:
            note_presence(presence, n, old, counts.customers[row, index(old)])
        if step < into:
            note_presence(presence, n, new, counts.customers[row, index(new)])
        n = layout.parent[n]


@inlined
def _weigh_inside(tables, counts, presence, parameters, work, level, meet, fresh, old):
    """List and weigh the present topic, then all others inside.

    Returns how many are listed, the sum of the inside weights, and whether the present topic is
    inside without the citation.
    """
    first, second = index(work.path[0, level]), index(work.path[1, level])
    _weigh(tables, counts, presence, parameters, work, level, meet, fresh, 0, old)
    column = index(old)
    inside = counts.customers[first, column] > 0 or counts.customers[second, column] > 0
    total = work.weight[0] if inside else 0.0
    listed = 1
    for i in range(presence.shape[1]):
        bits = presence[first, index(i)] | presence[second, index(i)]
        if old // _WIDTH == i:
            bits &= ~(np.uint64(1) << np.uint64(old % _WIDTH))
        while bits != np.uint64(0):
            k = _WIDTH * i + lowest_bit(bits)
            bits &= bits - np.uint64(1)
            total += _weigh(
                tables, counts, presence, parameters, work, level, meet, fresh, listed, k
            )
            listed += 1
    return listed, total, inside


@inlined
def _propose(rng, tables, counts, presence, parameters, guesses, work, level, meet, old, tally):
    """Propose a topic for both ends and decide on it; returns its place in the list.

    A place of -1 means that the proposal is refused, 0 is the present topic.
    """
    fresh = new_topic_weight(counts, parameters)
    shares = 1.0
    for side in range(2):
        for lower in range(1, level + 1):
            n, parent = work.path[side, lower], work.path[side, lower - 1]
            work.scale[side, lower] = opening_scale(counts, parameters, lower, n, parent)
        # of an end's weight for a topic that it does not have, that on the level above is a share
        n = work.path[side, level]
        discount = parameters.topic_discount[level]
        shares *= parameters.topic_concentration[n] + discount * counts.total_tables[n]
    listed, total, inside = _weigh_inside(
        tables, counts, presence, parameters, work, level, meet, fresh, old
    )
    outside = shares * guesses.citation_mass[0]
    target = uniform(rng) * (total + outside)
    place = -1
    if target < total:
        place = 0
        while place < listed - 1:
            if place > 0 or inside:
                target -= work.weight[index(place)]
                if target < 0.0:
                    break
            place += 1
    else:
        tally[4] += 1
        new = draw_guess(rng, guesses.citation)
        place = 0
        while place < listed and work.topic[index(place)] != new:
            place += 1
        if place == listed:
            _weigh(tables, counts, presence, parameters, work, level, meet, fresh, place, new)
    if place > 0:
        last = index(guesses.citation.shape[0] - 1)
        unit = outside / guesses.citation[last]
        before, after = work.weight[0], work.weight[index(place)]
        back = unit * guess_at(guesses.citation, old) + (before if inside else 0.0)
        new = work.topic[index(place)]
        there = unit * guess_at(guesses.citation, new) + (after if place < listed else 0.0)
        if uniform(rng) * before * there >= after * back:
            tally[5] += 1
            place = -1
    return place


@hot_kernel
def citation_sweep(
    level, layout, tables, state, work, presence, guesses, rates, exponent, tally
):
    """Visit every citation once; ``level`` is the one that citations reach.

    ``tally`` (int64 [6]) counts citations visited, blocked, moves accepted; its fourth entry has no
    meaning; then topics proposed from ``guesses``, and proposals refused before tables were drawn.
    Of ``exponent`` the weights are kept up to date; its sums P and M are those of ``rates``.
    """
    counts = state.topics
    parameters = state.parameters
    rng = state.random
    y = state.assignments.citing_topic
    for e in range(layout.citing.shape[0]):
        tally[0] += 1
        first = layout.citation_node + layout.citing[e]
        second = layout.citation_node + layout.cited[e]
        old = int(y[e])
        second_out = draw_removal(rng, layout, counts, level, second, old)
        if second_out == 0:
            tally[1] += 1
            continue
        move_customer(layout, counts, level, second, old, second_out, -1)
        first_out = draw_removal(rng, layout, counts, level, first, old)
        if first_out == 0:
            move_customer(layout, counts, level, second, old, second_out, 1)
            tally[1] += 1
            continue
        meet = _find_paths(layout, work, level, first, second)
        alone = level - meet  # who climbs no further is not seen from the other end
        weight_old = -1.0
        if first_out > alone:
            weight_old = _climb(tables, counts, parameters, work, level, 1, old)
        move_customer(layout, counts, level, first, old, first_out, -1)
        place = _propose(
            rng, tables, counts, presence, parameters, guesses, work, level, meet, old, tally
        )
        new = old
        accepted = False
        if place >= 0:
            new = work.topic[index(place)]
            first_in, second_in = 0, 0
            weight_new = 0.0
            for side in range(2):
                weight_new = _climb(tables, counts, parameters, work, level, side, new)
                depth = _draw_depth(rng, work, level)
                move_customer(layout, counts, level, work.path[side, level], new, depth, 1)
                if side == 0:
                    first_in = depth
                else:
                    second_in = depth
            # the second end's weight beside the first's new tables, over the weight proposed with
            coupling = weight_new / work.cited_weight[index(place)]
            if first_out > alone:
                coupling *= work.cited_weight[0] / weight_old
            change = 0.0
            moved = new != old or first_in != first_out or second_in != second_out
            if moved:
                change = ends_change(
                    layout,
                    counts,
                    parameters,
                    presence,
                    exponent,
                    rates,
                    work.touched,
                    level,
                    first,
                    second,
                    (old, new),
                    (first_out, second_out),
                    (first_in, second_in),
                )
            accepted = uniform(rng) < coupling * np.exp(-change)
            if accepted:
                tally[2] += 1
                y[e] = new
                if moved:
                    commit_ends(exponent, rates, work.touched)
                    _note_path(layout, counts, presence, first, old, new, first_out, first_in)
                    _note_path(layout, counts, presence, second, old, new, second_out, second_in)
            else:
                move_customer(layout, counts, level, second, new, second_in, -1)
                move_customer(layout, counts, level, first, new, first_in, -1)
        if not accepted:
            move_customer(layout, counts, level, first, old, first_out, 1)
            move_customer(layout, counts, level, second, old, second_out, 1)
