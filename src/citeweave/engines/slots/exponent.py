"""Change of the citations' exponential by a word's move, over slots.

A topic without a slot has customers only at shared levels. The effect of a move on all such topics
is therefore a quadratic form in the slopes of their nodes. Its coefficients are sums over the
topics of each node, computed when the document is opened, minus the sums over slots. See
`citeweave.engines.core.exponent`.
"""

from typing import NamedTuple

import numpy as np

from citeweave.compiled import hot_kernel, index, inlined
from citeweave.engines.core.row_places import pair_at, ranked_count
from citeweave.engines.core.turnover import root_turnover, turnover
from citeweave.engines.slots.presence import lowest_bit
from citeweave.engines.slots.rates import root_own, root_slopes, set_rate

__all__ = [
    "Pending",
    "commit_move",
    "join_rates",
    "leave_rates",
    "move_change",
    "new_pending",
    "open_rates",
]

_FAST = {"reassoc", "contract", "nsz"}


class Pending(NamedTuple):
    """Sums over topics without a slot, weights of the path's nodes, and a move not yet decided."""

    cited: np.ndarray
    """float64 [shared levels]: sums of lambdaT own M."""
    cite: np.ndarray
    """float64 [shared levels]: sums of lambdaT own P."""
    both: np.ndarray
    """float64 [shared levels, shared levels]: sums of lambdaT own own."""
    moved: np.ndarray
    """float64 [levels, 2]: change of each level's slope of P and of M so far."""
    weight: np.ndarray
    """float64 [levels, 2]: current weight+ and weight- of the path's nodes."""
    gain: np.ndarray
    """float64 [levels, 2]: change of these weights by the pending move."""
    slope: np.ndarray
    """float64 [levels, 2]: change of the slopes by it."""
    special: np.ndarray
    """float64 [2, 2]: additional change of P and M of the topic left and of the one joined."""
    everywhere: np.ndarray
    """bool [1]: whether the move affects topics other than these two."""


def new_pending(n_levels: int, n_shared: int) -> Pending:
    """Allocate memory for one worker."""
    return Pending(
        cited=np.zeros(n_shared),
        cite=np.zeros(n_shared),
        both=np.zeros((n_shared, n_shared)),
        moved=np.zeros((n_levels, 2)),
        weight=np.zeros((n_levels, 2)),
        gain=np.zeros((n_levels, 2)),
        slope=np.zeros((n_levels, 2)),
        special=np.zeros((2, 2)),
        everywhere=np.zeros(1, np.bool_),
    )


@inlined
def _leave_outside(shape, slots, pending, s):
    """Remove a slot's topic from the sums over topics without a slot."""
    for level in range(len(shape.shared)):
        own = slots.scaled[s] * slots.own[level, s]
        pending.cited[level] -= own * slots.cited[s]
        pending.cite[level] -= own * slots.cite[s]
        for other in range(len(shape.shared)):
            pending.both[level, other] -= own * slots.own[other, s]


@inlined
def _read_rate(shape, counts, parameters, network, slots, pending, s):
    """Set P and M of a slot, including the effect of the document's moves so far."""
    rates, exponent = network.rates, network.exponent
    k = index(slots.topic[s])
    own = root_own(counts, parameters, k)
    cite_slope, cited_slope = root_slopes(counts, parameters, exponent)
    cite = rates.cite[k] + cite_slope * own
    cited = rates.cited[k] + cited_slope * own
    for level in range(len(shape.shared)):
        cite += pending.moved[level, 0] * slots.own[level, s]
        cited += pending.moved[level, 1] * slots.own[level, s]
    slots.scaled[s] = parameters.topic_scale[k]
    slots.cite[s] = cite
    slots.cited[s] = cited


@inlined
def join_rates(shape, counts, parameters, network, slots, pending, s):
    """Add a topic that was just assigned a slot."""
    _read_rate(shape, counts, parameters, network, slots, pending, s)
    _leave_outside(shape, slots, pending, s)


@inlined
def _visit_outside(visit, given, presence, slots, level):
    """Call ``visit(given, level, n, rank, k)`` for each topic of a level's node without a slot.

    ``rank`` is the index of the topic among all topics of the node.
    """
    n = index(slots.node[level])
    rank = -1
    for i in range(presence.shape[1]):
        bits = presence[n, index(i)]
        while bits != np.uint64(0):
            k = index(64 * i + lowest_bit(bits))
            bits &= bits - np.uint64(1)
            rank += 1
            if slots.place[k] < 0:
                visit(given, level, n, rank, k)


@inlined
def _ranked_own(counts, parameters, level, n, rank, k):
    """Return c - alpha t of a topic whose rank is known."""
    customers = ranked_count(counts.customers, n, rank, k)
    return customers - parameters.topic_discount[level] * ranked_count(counts.tables, n, rank, k)


@inlined
def _add_outside(given, level, n, rank, k):
    """Add a topic without a slot to the sums of a node between mu and the documents."""
    counts, parameters, rates, slots, pending, slopes = given
    root = root_own(counts, parameters, k)
    itself = _ranked_own(counts, parameters, level, n, rank, k)
    own = itself * parameters.topic_scale[k]
    pending.cited[level] += own * (rates.cited[k] + slopes[1] * root)
    pending.cite[level] += own * (rates.cite[k] + slopes[0] * root)
    for other in range(level):
        customers, tables = pair_at(counts.customers, counts.tables, index(slots.node[other]), k)
        pending.both[level, other] += own * (customers - parameters.topic_discount[other] * tables)
    pending.both[level, level] += own * itself


@inlined
def _move_outside(given, level, n, rank, k):
    """Update P and M of a topic without a slot after the slope of a node changed."""
    counts, parameters, rates, pending = given
    own = _ranked_own(counts, parameters, level, n, rank, k)
    root = root_own(counts, parameters, k)
    cite = rates.cite[k] + pending.moved[level, 0] * own
    cited = rates.cited[k] + pending.moved[level, 1] * own
    set_rate(parameters, rates, k, root, root, cite, cited)


@inlined
def open_rates(shape, counts, parameters, network, presence, slots, pending, listed):
    """Initialise the sums for a document that has made no move yet; its slots must be filled."""
    rates, exponent = network.rates, network.exponent
    n_shared = len(shape.shared)
    slopes = root_slopes(counts, parameters, exponent)
    for level in range(n_shared + len(shape.document)):
        n = index(slots.node[level])
        pending.moved[level, 0] = 0.0
        pending.moved[level, 1] = 0.0
        pending.weight[level, 0] = exponent.cite_weight[n]
        pending.weight[level, 1] = exponent.cited_weight[n]
    for level in range(n_shared):
        pending.cited[level] = 0.0
        pending.cite[level] = 0.0
        for other in range(n_shared):
            pending.both[level, other] = 0.0
        # all topics of a listed author have slots
        if level > 0 and not (listed and level == n_shared - 1):
            given = (counts, parameters, rates, slots, pending, slopes)
            _visit_outside(_add_outside, given, presence, slots, level)
    for level in range(n_shared):
        for other in range(level):
            pending.both[other, level] = pending.both[level, other]
    cited, cite, both = rates.total[0], rates.total[1], rates.total[2]
    cited += slopes[1] * both
    cite += slopes[0] * both
    for s in range(slots.used[0]):
        _read_rate(shape, counts, parameters, network, slots, pending, index(s))
        own = slots.own[0, s]
        scaled = slots.scaled[s] * own
        cited -= scaled * slots.cited[s]
        cite -= scaled * slots.cite[s]
        both -= scaled * own
    pending.cited[0] = cited
    pending.cite[0] = cite
    pending.both[0, 0] = both


@inlined
def _slopes(shape, parameters, slots, pending, old, new, out, into):
    """Compute the effect of a move on the nodes of the path, from the document up.

    This is the sum over nodes of `engines.core.exponent`, in a form that loses no digits if totals
    are large and needs only the counts of slots. `engines.slots.ends` has the form for two paths.
    The three forms round differently, so all are kept.
    """
    citation_level = len(shape.shared) + len(shape.document) - 1 - shape.below_citations
    carry, carried = 0.0, 0.0
    pending.special[:] = 0.0
    pending.everywhere[0] = False
    for step in range(citation_level + 1):
        level = citation_level - step
        moved = turnover(step, out, into)
        pending.gain[level, 0] = carry
        pending.gain[level, 1] = carried
        pending.slope[level, 0] = 0.0
        pending.slope[level, 1] = 0.0
        if moved.left + moved.came == 0 and carry == 0.0 and carried == 0.0:
            continue
        if level == 0:
            moved = root_turnover(slots.customers, old, new, moved)
        left, closed, came, opened = moved
        discount = parameters.topic_discount[level]
        beta = slots.beta[level]
        seats = beta + slots.total_customers[level]
        now = 1.0 / seats
        was = now if came == left else 1.0 / (seats - (came - left))
        fall = (left - came) * now * was  # now - was
        cite, cited = pending.weight[level, 0], pending.weight[level, 1]
        pending.slope[level, 0] = carry * now + cite * fall
        pending.slope[level, 1] = carried * now + cited * fall
        if pending.slope[level, 0] != 0.0 or pending.slope[level, 1] != 0.0:
            pending.everywhere[0] = True
        went = was * (left - discount * closed)
        arrived = was * (came - discount * opened)
        pending.special[0, 0] -= cite * went
        pending.special[0, 1] -= cited * went
        pending.special[1, 0] += cite * arrived
        pending.special[1, 1] += cited * arrived
        gain = discount * (opened - closed)
        top = beta + discount * slots.total_tables[level]
        rise = gain * now + (top - gain) * fall  # of the share that children take
        carry = carry * top * now + cite * rise
        carried = carried * top * now + cited * rise


@inlined
def _slot_slopes(shape, slots, pending, s):
    """Return the change of P and M of a slot by the slopes alone."""
    cite, cited = 0.0, 0.0
    for level in range(len(shape.shared) + len(shape.document) - shape.below_citations):
        cite += pending.slope[level, 0] * slots.own[level, s]
        cited += pending.slope[level, 1] * slots.own[level, s]
    return cite, cited


@inlined
def _rate(slots, s, cite, cited):
    """Return one slot's contribution to the change of E."""
    change = cite * (slots.cited[s] + cited) + slots.cite[s] * cited
    return slots.scaled[s] * change


@hot_kernel(fastmath=_FAST, forceinline=True)
def _sum_slots(shape, slots, pending):
    """Sum the change of E by the slopes alone over all slots."""
    total = 0.0
    for s in range(index(slots.used[0])):
        cite, cited = _slot_slopes(shape, slots, pending, s)
        total += _rate(slots, s, cite, cited)
    return total


@inlined
def move_change(shape, parameters, slots, pending, old, new, out, into):
    """Compute the change of E by a move already made in the counts, and leave it pending.

    ``old`` and ``new`` are slots; ``out`` and ``into`` are depths, counted from the level that
    citations reach.
    """
    _slopes(shape, parameters, slots, pending, old, new, out, into)
    everywhere = pending.everywhere[0]
    total = _sum_slots(shape, slots, pending) if everywhere else 0.0
    for which in range(2):
        s = old if which == 0 else new
        if which == 1 and new == old:
            break
        cite, cited = 0.0, 0.0
        if everywhere:
            cite, cited = _slot_slopes(shape, slots, pending, s)
            total -= _rate(slots, s, cite, cited)
        for end in range(2):
            if s == (old if end == 0 else new):
                cite += pending.special[end, 0]
                cited += pending.special[end, 1]
        total += _rate(slots, s, cite, cited)
    if everywhere:
        for level in range(len(shape.shared)):
            cited = pending.cited[level]
            for other in range(len(shape.shared)):
                cited += pending.slope[other, 1] * pending.both[level, other]
            total += pending.slope[level, 0] * cited
            total += pending.slope[level, 1] * pending.cite[level]
    return total


@inlined
def commit_move(shape, slots, pending, old, new):
    """Make the pending move final."""
    n_shared = len(shape.shared)
    if pending.everywhere[0]:
        for s in range(index(slots.used[0])):
            cite, cited = _slot_slopes(shape, slots, pending, s)
            slots.cite[s] += cite
            slots.cited[s] += cited
        for level in range(n_shared):
            for other in range(n_shared):
                pending.cited[level] += pending.slope[other, 1] * pending.both[level, other]
                pending.cite[level] += pending.slope[other, 0] * pending.both[level, other]
    slots.cite[old] += pending.special[0, 0]
    slots.cited[old] += pending.special[0, 1]
    slots.cite[new] += pending.special[1, 0]
    slots.cited[new] += pending.special[1, 1]
    for level in range(n_shared + len(shape.document) - shape.below_citations):
        for side in range(2):
            pending.moved[level, side] += pending.slope[level, side]
            pending.weight[level, side] += pending.gain[level, side]


@inlined
def leave_rates(shape, counts, parameters, network, presence, slots, pending, listed):
    """Update the sums over all topics with the changes of a document.

    ``counts`` still holds the counts from before; the slots hold the new ones.
    """
    rates, exponent = network.rates, network.exponent
    n_shared = len(shape.shared)
    for level in range(1, n_shared):
        if listed and level == n_shared - 1:
            continue
        given = (counts, parameters, rates, pending)
        _visit_outside(_move_outside, given, presence, slots, level)
    scale = 1.0 / (slots.beta[0] + slots.total_customers[0])
    for j in range(slots.used[0]):
        s = index(j)
        k = index(slots.topic[s])
        own = slots.own[0, s]
        cite = slots.cite[s] - pending.weight[0, 0] * scale * own
        cited = slots.cited[s] - pending.weight[0, 1] * scale * own
        set_rate(parameters, rates, k, root_own(counts, parameters, k), own, cite, cited)
    for level in range(n_shared + len(shape.document) - shape.below_citations):
        n = index(slots.node[level])
        exponent.cite_weight[n] = pending.weight[level, 0]
        exponent.cited_weight[n] = pending.weight[level, 1]
