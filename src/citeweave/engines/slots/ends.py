"""What a citation's move does to the exponential, over the topics of the nodes that it touches.

The same as `engines.core.exponent` gives, to the last few bits. A move changes the totals of
nodes on two paths, and with them P and M of the topics that these nodes have. Nodes of few topics
are gone through topic by topic; what those of many do, mu among them, `wide` tells.
"""

import numpy as np

from citeweave.compiled import index, inlined
from citeweave.engines.slots.touched import touch_above, touch_papers
from citeweave.engines.slots.wide import find_wide

__all__ = ["commit_ends", "ends_change"]

_WIDTH = 64


@inlined
def _node_slopes(
    counts,
    parameters,
    exponent,
    touched,
    wide,
    lower,
    side,
    left,
    closed,
    came,
    opened,
    carry,
    carried,
):
    """Work out what a move does to one node below mu, the counts being those after it.

    ``left`` and ``closed`` customers and tables of the old topic went, ``came`` and ``opened`` of
    the new one came; ``carry`` and ``carried`` are what its weights gained from its children.
    Returns what the parent's weights gain.
    """
    n = touched.node[side, lower]
    discount = parameters.topic_discount[lower]
    seats = parameters.topic_concentration[n] + counts.total_customers[n]
    after = 1.0 / seats
    before = after if came == left else 1.0 / (seats - came + left)
    fall = (left - came) * after * before  # after - before
    cite, cited = exponent.cite_weight[n], exponent.cited_weight[n]
    touched.gain[side, lower, 0] = carry
    touched.gain[side, lower, 1] = carried
    went = left - discount * closed
    arrived = came - discount * opened
    j = find_wide(wide, n)
    if j > 0:
        wide.gain[j, 0] = carry * after + cite * fall
        wide.gain[j, 1] = carried * after + cited * fall
        wide.shift[0, j] = -went
        wide.shift[1, j] = arrived
    else:
        touched.slope[side, lower, 0] = carry * after + cite * fall
        touched.slope[side, lower, 1] = carried * after + cited * fall
        touched.special[0, 0] -= cite * before * went
        touched.special[0, 1] -= cited * before * went
        touched.special[1, 0] += cite * before * arrived
        touched.special[1, 1] += cited * before * arrived
    gain = discount * (opened - closed)
    top = parameters.topic_concentration[n] + discount * counts.total_tables[n]
    rise = gain * before + top * fall  # of the share that children take
    return carry * top * after + cite * rise, carried * top * after + cited * rise


@inlined
def _climb_ends(counts, parameters, exponent, touched, wide, level, meet, removed, added):
    """Work out slopes of all nodes below mu; returns what mu's weights gain."""
    touched.special[:] = 0.0
    carry_a, carried_a, carry_b, carried_b = 0.0, 0.0, 0.0, 0.0
    for step in range(level):
        lower = level - step
        if lower == meet:
            carry_a += carry_b
            carried_a += carried_b
            carry_b, carried_b = 0.0, 0.0
        for side in range(2):
            touched.slope[side, lower, 0] = 0.0
            touched.slope[side, lower, 1] = 0.0
            touched.gain[side, lower, 0] = 0.0
            touched.gain[side, lower, 1] = 0.0
            if side == 1 and lower <= meet:
                continue
            carry = carry_a if side == 0 else carry_b
            carried = carried_a if side == 0 else carried_b
            left = 1 if step < removed[side] else 0
            closed = 1 if step + 1 < removed[side] else 0
            came = 1 if step < added[side] else 0
            opened = 1 if step + 1 < added[side] else 0
            if lower <= meet:
                left += 1 if step < removed[1] else 0
                closed += 1 if step + 1 < removed[1] else 0
                came += 1 if step < added[1] else 0
                opened += 1 if step + 1 < added[1] else 0
            if left + came > 0 or carry != 0.0 or carried != 0.0:
                carry, carried = _node_slopes(
                    counts,
                    parameters,
                    exponent,
                    touched,
                    wide,
                    lower,
                    side,
                    left,
                    closed,
                    came,
                    opened,
                    carry,
                    carried,
                )
            if side == 0:
                carry_a, carried_a = carry, carried
            else:
                carry_b, carried_b = carry, carried
    return carry_a + carry_b, carried_a + carried_b


@inlined
def _root_own(parameters, customers):
    """Give what mu has of a topic: its customers less the discount of its one table."""
    return customers - parameters.topic_discount[0] if customers > 0 else 0.0


@inlined
def _root_slopes(counts, parameters, exponent, touched, wide, old, new, left, came):
    """Work out what a move does to mu, whose weights' gain is known."""
    carry, carried = touched.gain[0, 0, 0], touched.gain[0, 0, 1]
    seats = parameters.topic_concentration[0] + counts.total_customers[0]
    after = 1.0 / seats
    before = after if came == left else 1.0 / (seats - came + left)
    fall = (left - came) * after * before
    wide.gain[0, 0] = carry * after + exponent.cite_weight[0] * fall
    wide.gain[0, 1] = carried * after + exponent.cited_weight[0] * fall
    customers = counts.customers[0, index(old)]
    earlier = customers + left - (came if old == new else 0)
    wide.shift[0, 0] = _root_own(parameters, customers) - _root_own(parameters, earlier)
    customers = counts.customers[0, index(new)]
    earlier = customers - came
    wide.shift[1, 0] = 0.0
    if old != new:
        wide.shift[1, 0] = _root_own(parameters, customers) - _root_own(parameters, earlier)


@inlined
def _shifted(wide, which, side):
    """Give what new counts of wide nodes do to P or M of the topic left, or of the one joined."""
    total = 0.0
    for j in range(wide.size[0]):
        total += (wide.slope[j, side] + wide.gain[j, side]) * wide.shift[which, j]
    return total


@inlined
def _sum_change(parameters, rates, touched, wide, listed, old, new):
    """Sum the change of E: what slopes of wide nodes do to all topics, the rest to listed ones."""
    size = index(wide.size[0])
    change = 0.0
    for j in range(size):
        cite, cited = wide.gain[j, 0], wide.gain[j, 1]
        if cite != 0.0 or cited != 0.0:
            change += cite * wide.sums[j, 0] + cited * wide.sums[j, 1]
            for m in range(size):
                change += cite * wide.gain[m, 1] * wide.both[j, m]
    touched.special[0, 0] = _shifted(wide, 0, 0)
    touched.special[0, 1] = _shifted(wide, 0, 1)
    touched.special[1, 0] = _shifted(wide, 1, 0)
    touched.special[1, 1] = _shifted(wide, 1, 1)
    for i in range(listed):
        k = index(touched.topic[index(i)])
        cite, cited = rates.cite[k], rates.cited[k]
        for j in range(size):
            own = wide.own[k, j]
            cite += (wide.slope[j, 0] + wide.gain[j, 0]) * own
            cited += (wide.slope[j, 1] + wide.gain[j, 1]) * own
        more, more_cited = _whole_change(touched, k, old, new)
        change += parameters.topic_scale[k] * (more * (cited + more_cited) + cite * more_cited)
    return change


@inlined
def _whole_change(touched, k, old, new):
    """Give the change of P and M of a listed topic besides by wide nodes' slopes."""
    more, more_cited = touched.cite[k], touched.cited[k]
    if k == index(old):
        more += touched.special[0, 0]
        more_cited += touched.special[0, 1]
    if k == index(new):
        more += touched.special[1, 0]
        more_cited += touched.special[1, 1]
    return more, more_cited


@inlined
def ends_change(
    counts,
    parameters,
    presence,
    exponent,
    rates,
    touched,
    wide,
    level,
    meet,
    listed,
    old,
    new,
    removed,
    added,
):
    """Change of E by a move already made: customers of ``old`` left both ends, of ``new`` came.

    ``meet`` and ``listed`` are those of ``list_ends``, but that ``new`` must be listed too; what is
    listed is lost. ``removed`` and ``added`` are pairs of depths, counted from the papers.
    ``presence`` may be that before the move or after it. The change is left pending:
    ``commit_ends`` makes it final, and where it is forgotten there is nothing to do.
    """
    touched.counter[0] += 1
    for j in range(wide.size[0]):
        wide.gain[j, 0] = 0.0
        wide.gain[j, 1] = 0.0
        wide.shift[0, j] = 0.0
        wide.shift[1, j] = 0.0
    carry, carried = _climb_ends(
        counts, parameters, exponent, touched, wide, level, meet, removed, added
    )
    sloped = False
    for lower in range(1, level + 1):
        for side in range(2):
            sloped |= touched.slope[side, lower, 0] != 0.0 or touched.slope[side, lower, 1] != 0.0
    if sloped:
        touch_papers(counts, parameters, presence, touched, level, listed, old, new)
        for lower in range(level - 1, 0, -1):
            for side in range(2):
                listed = touch_above(
                    counts, parameters, presence, touched, side, lower, listed, new
                )
    else:  # no totals change: these two topics do
        touched.topic[0] = old
        touched.topic[1] = new
        listed = 1 if new == old else 2
        for j in range(listed):
            touched.cite[index(touched.topic[j])] = 0.0
            touched.cited[index(touched.topic[j])] = 0.0
    touched.cite[index(old)] += touched.special[0, 0]
    touched.cited[index(old)] += touched.special[0, 1]
    touched.cite[index(new)] += touched.special[1, 0]
    touched.cited[index(new)] += touched.special[1, 1]
    touched.counter[1] = listed
    left = (1 if level < removed[0] else 0) + (1 if level < removed[1] else 0)
    came = (1 if level < added[0] else 0) + (1 if level < added[1] else 0)
    touched.gain[0, 0, 0] = carry
    touched.gain[0, 0, 1] = carried
    _root_slopes(counts, parameters, exponent, touched, wide, old, new, left, came)
    return _sum_change(parameters, rates, touched, wide, listed, old, new)


@inlined
def _commit_sums(parameters, rates, touched, wide, old, new):
    """Bring the sums of wide nodes up to date, and `RateSums` with them."""
    size = index(wide.size[0])
    for m in range(size):
        cite, cited = wide.gain[m, 0], wide.gain[m, 1]
        if cite != 0.0 or cited != 0.0:
            wide.slope[m, 0] += cite
            wide.slope[m, 1] += cited
            for j in range(size):
                wide.sums[j, 0] += cited * wide.both[m, j]
                wide.sums[j, 1] += cite * wide.both[m, j]
    for i in range(touched.counter[1]):
        k = touched.topic[index(i)]
        place = index(k)
        more, more_cited = _whole_change(touched, place, old, new)
        more *= parameters.topic_scale[place]
        more_cited *= parameters.topic_scale[place]
        for j in range(size):
            wide.sums[j, 0] += more_cited * wide.own[place, j]
            wide.sums[j, 1] += more * wide.own[place, j]
        rates.cite[place] += touched.cite[place]
        rates.cited[place] += touched.cited[place]
        touched.changed[place // index(_WIDTH)] |= np.uint64(1) << np.uint64(k % _WIDTH)


@inlined
def _commit_own(parameters, rates, wide, which, topic):
    """Give wide nodes their new counts of the topic left, or of the one joined."""
    size = index(wide.size[0])
    k = index(topic)
    moved = False
    cite, cited = rates.cite[k], rates.cited[k]
    for j in range(size):
        own = wide.own[k, j] + wide.shift[which, j]
        moved |= wide.shift[which, j] != 0.0
        cite += wide.slope[j, 0] * own
        cited += wide.slope[j, 1] * own
    if not moved:
        return
    scale = parameters.topic_scale[k]
    for j in range(size):
        shift = wide.shift[which, j]
        if shift != 0.0:
            wide.sums[j, 0] += scale * shift * cited
            wide.sums[j, 1] += scale * shift * cite
            # one node after the other: own own' changes by what the others have by then
            wide.both[j, j] += scale * shift * shift
            for m in range(size):
                wide.both[j, m] += scale * shift * wide.own[k, m]
                wide.both[m, j] += scale * shift * wide.own[k, m]
            wide.own[k, j] += shift


@inlined
def commit_ends(parameters, exponent, rates, touched, wide, level, old, new):
    """Make the pending change final."""
    _commit_sums(parameters, rates, touched, wide, old, new)
    if old == new:
        for j in range(wide.size[0]):
            wide.shift[0, j] += wide.shift[1, j]
    _commit_own(parameters, rates, wide, 0, old)
    if old != new:
        _commit_own(parameters, rates, wide, 1, new)
    exponent.cite_weight[0] += touched.gain[0, 0, 0]
    exponent.cited_weight[0] += touched.gain[0, 0, 1]
    for lower in range(1, level):  # weights of papers are their propensities
        for side in range(2):
            n = touched.node[side, lower]
            exponent.cite_weight[n] += touched.gain[side, lower, 0]
            exponent.cited_weight[n] += touched.gain[side, lower, 1]
