"""Change of the exponential by a citation's move, over the topics of the nodes that it touches.

The result is that of `engines.core.exponent`, up to the last few bits. A move changes the totals
of nodes on two paths, and with them P and M of the topics that these nodes have. For nodes with few
topics, the code loops over these topics. Nodes with many topics, including mu, are left to `hubs`.
"""

import numpy as np

from citeweave.compiled import index, inlined
from citeweave.engines.core.turnover import ends_turnover, walk_ends
from citeweave.engines.slots.hubs import find_hub
from citeweave.engines.slots.sparse_change import change_above, change_papers

__all__ = ["commit_ends", "ends_change"]

_WIDTH = 64


@inlined
def _visit_node(room, lower, side, moved, carry, carried):
    """Compute the effect of a move on one node below mu, from the counts after the move.

    The signature is the one that ``walk_ends`` requires. The sum is that of
    `engines.core.exponent`, in a form that loses no digits if totals are large. The two forms
    round differently, so both are kept.
    """
    counts, parameters, exponent, sparse, hubs = room
    left, closed, came, opened = moved
    n = sparse.row[side, lower]
    discount = parameters.topic_discount[lower]
    seats = parameters.topic_concentration[n] + counts.total_customers[n]
    after = 1.0 / seats
    before = after if came == left else 1.0 / (seats - came + left)
    fall = (left - came) * after * before  # after - before
    cite, cited = exponent.cite_weight[n], exponent.cited_weight[n]
    sparse.gain[side, lower, 0] = carry
    sparse.gain[side, lower, 1] = carried
    went = left - discount * closed
    arrived = came - discount * opened
    j = find_hub(hubs, n)
    if j > 0:
        hubs.gain[j, 0] = carry * after + cite * fall
        hubs.gain[j, 1] = carried * after + cited * fall
        hubs.shift[0, j] = -went
        hubs.shift[1, j] = arrived
    else:
        sparse.slope[side, lower, 0] = carry * after + cite * fall
        sparse.slope[side, lower, 1] = carried * after + cited * fall
        sparse.special[0, 0] -= cite * before * went
        sparse.special[0, 1] -= cited * before * went
        sparse.special[1, 0] += cite * before * arrived
        sparse.special[1, 1] += cited * before * arrived
    gain = discount * (opened - closed)
    top = parameters.topic_concentration[n] + discount * counts.total_tables[n]
    rise = gain * before + top * fall  # of the share that children take
    return carry * top * after + cite * rise, carried * top * after + cited * rise


@inlined
def _climb_ends(counts, parameters, exponent, work, ends, move):
    """Compute the slopes of all nodes below mu; return the gain of mu's weights."""
    sparse = work.sparse
    sparse.special[:] = 0.0
    for lower in range(1, ends.level + 1):
        for side in range(2):
            for which in range(2):
                sparse.slope[side, lower, which] = 0.0
                sparse.gain[side, lower, which] = 0.0
    room = (counts, parameters, exponent, sparse, work.hubs)
    return walk_ends(_visit_node, room, ends, move)


@inlined
def _root_own(parameters, customers):
    """Return mu's own share of a topic: its customers minus the discount of its one table."""
    return customers - parameters.topic_discount[0] if customers > 0 else 0.0


@inlined
def _root_slopes(counts, parameters, exponent, sparse, hubs, move, moved):
    """Compute the effect of a move on mu, given the gain of its weights."""
    old, new, left, came = move.old, move.new, moved.left, moved.came
    carry, carried = sparse.gain[0, 0, 0], sparse.gain[0, 0, 1]
    seats = parameters.topic_concentration[0] + counts.total_customers[0]
    after = 1.0 / seats
    before = after if came == left else 1.0 / (seats - came + left)
    fall = (left - came) * after * before
    hubs.gain[0, 0] = carry * after + exponent.cite_weight[0] * fall
    hubs.gain[0, 1] = carried * after + exponent.cited_weight[0] * fall
    customers = counts.customers[0, index(old)]
    earlier = customers + left - (came if old == new else 0)
    hubs.shift[0, 0] = _root_own(parameters, customers) - _root_own(parameters, earlier)
    customers = counts.customers[0, index(new)]
    earlier = customers - came
    hubs.shift[1, 0] = 0.0
    if old != new:
        hubs.shift[1, 0] = _root_own(parameters, customers) - _root_own(parameters, earlier)


@inlined
def _shifted(hubs, which, side):
    """Return the change of P or M of the topic left or joined due to the new counts of hubs."""
    total = 0.0
    for j in range(hubs.size[0]):
        total += (hubs.slope[j, side] + hubs.gain[j, side]) * hubs.shift[which, j]
    return total


@inlined
def _sum_change(parameters, rates, sparse, hubs, listed, old, new):
    """Sum the change of E: from slopes of hubs over all topics, the rest over listed ones."""
    size = index(hubs.size[0])
    change = 0.0
    for j in range(size):
        cite, cited = hubs.gain[j, 0], hubs.gain[j, 1]
        if cite != 0.0 or cited != 0.0:
            change += cite * hubs.sums[j, 0] + cited * hubs.sums[j, 1]
            for m in range(size):
                change += cite * hubs.gain[m, 1] * hubs.both[j, m]
    sparse.special[0, 0] = _shifted(hubs, 0, 0)
    sparse.special[0, 1] = _shifted(hubs, 0, 1)
    sparse.special[1, 0] = _shifted(hubs, 1, 0)
    sparse.special[1, 1] = _shifted(hubs, 1, 1)
    for i in range(listed):
        k = index(sparse.topic[index(i)])
        cite, cited = rates.cite[k], rates.cited[k]
        for j in range(size):
            own = hubs.own[k, j]
            cite += (hubs.slope[j, 0] + hubs.gain[j, 0]) * own
            cited += (hubs.slope[j, 1] + hubs.gain[j, 1]) * own
        more, more_cited = _whole_change(sparse, k, old, new)
        change += parameters.topic_scale[k] * (more * (cited + more_cited) + cite * more_cited)
    return change


@inlined
def _whole_change(sparse, k, old, new):
    """Return the change of P and M of a listed topic, except that due to the slopes of hubs."""
    more, more_cited = sparse.cite[k], sparse.cited[k]
    if k == index(old):
        more += sparse.special[0, 0]
        more_cited += sparse.special[0, 1]
    if k == index(new):
        more += sparse.special[1, 0]
        more_cited += sparse.special[1, 1]
    return more, more_cited


@inlined
def ends_change(counts, parameters, presence, exponent, rates, work, ends, listed, move):
    """Compute the change of E by a move already made at both ends of a citation.

    ``listed`` is that of ``list_ends``, except that ``move.new`` must be listed too; the list is
    overwritten. Depths of the move are counted from the papers. ``presence`` may be that before the
    move or after it. The change is left pending: ``commit_ends`` makes it final; to discard it,
    nothing needs to be done.
    """
    sparse, hubs, level = work.sparse, work.hubs, ends.level
    old, new = move.old, move.new
    sparse.counter[0] += 1
    for j in range(hubs.size[0]):
        hubs.gain[j, 0] = 0.0
        hubs.gain[j, 1] = 0.0
        hubs.shift[0, j] = 0.0
        hubs.shift[1, j] = 0.0
    carry, carried = _climb_ends(counts, parameters, exponent, work, ends, move)
    sloped = False
    for lower in range(1, level + 1):
        for side in range(2):
            sloped |= sparse.slope[side, lower, 0] != 0.0 or sparse.slope[side, lower, 1] != 0.0
    if sloped:
        change_papers(counts, parameters, presence, sparse, level, listed, old, new)
        for lower in range(level - 1, 0, -1):
            for side in range(2):
                listed = change_above(
                    counts, parameters, presence, sparse, side, lower, listed, new
                )
    else:  # no totals change, only these two topics
        sparse.topic[0] = old
        sparse.topic[1] = new
        listed = 1 if new == old else 2
        for j in range(listed):
            sparse.cite[index(sparse.topic[j])] = 0.0
            sparse.cited[index(sparse.topic[j])] = 0.0
    sparse.cite[index(old)] += sparse.special[0, 0]
    sparse.cited[index(old)] += sparse.special[0, 1]
    sparse.cite[index(new)] += sparse.special[1, 0]
    sparse.cited[index(new)] += sparse.special[1, 1]
    sparse.counter[1] = listed
    sparse.gain[0, 0, 0] = carry
    sparse.gain[0, 0, 1] = carried
    moved = ends_turnover(level, move)
    _root_slopes(counts, parameters, exponent, sparse, hubs, move, moved)
    return _sum_change(parameters, rates, sparse, hubs, listed, old, new)


@inlined
def _commit_sums(parameters, rates, sparse, hubs, old, new):
    """Update the sums of hubs and `RateSums`."""
    size = index(hubs.size[0])
    for m in range(size):
        cite, cited = hubs.gain[m, 0], hubs.gain[m, 1]
        if cite != 0.0 or cited != 0.0:
            hubs.slope[m, 0] += cite
            hubs.slope[m, 1] += cited
            for j in range(size):
                hubs.sums[j, 0] += cited * hubs.both[m, j]
                hubs.sums[j, 1] += cite * hubs.both[m, j]
    for i in range(sparse.counter[1]):
        k = sparse.topic[index(i)]
        place = index(k)
        more, more_cited = _whole_change(sparse, place, old, new)
        more *= parameters.topic_scale[place]
        more_cited *= parameters.topic_scale[place]
        for j in range(size):
            hubs.sums[j, 0] += more_cited * hubs.own[place, j]
            hubs.sums[j, 1] += more * hubs.own[place, j]
        rates.cite[place] += sparse.cite[place]
        rates.cited[place] += sparse.cited[place]
        sparse.changed[place // index(_WIDTH)] |= np.uint64(1) << np.uint64(k % _WIDTH)


@inlined
def _commit_own(parameters, rates, hubs, which, topic):
    """Set the new counts of hubs for the topic left or joined."""
    size = index(hubs.size[0])
    k = index(topic)
    moved = False
    cite, cited = rates.cite[k], rates.cited[k]
    for j in range(size):
        own = hubs.own[k, j] + hubs.shift[which, j]
        moved |= hubs.shift[which, j] != 0.0
        cite += hubs.slope[j, 0] * own
        cited += hubs.slope[j, 1] * own
    if not moved:
        return
    scale = parameters.topic_scale[k]
    for j in range(size):
        shift = hubs.shift[which, j]
        if shift != 0.0:
            hubs.sums[j, 0] += scale * shift * cited
            hubs.sums[j, 1] += scale * shift * cite
            # one node after the other: own own' changes by the current counts of the others
            hubs.both[j, j] += scale * shift * shift
            for m in range(size):
                hubs.both[j, m] += scale * shift * hubs.own[k, m]
                hubs.both[m, j] += scale * shift * hubs.own[k, m]
            hubs.own[k, j] += shift


@inlined
def commit_ends(parameters, exponent, rates, work, level, move):
    """Make the pending change final."""
    sparse, hubs = work.sparse, work.hubs
    old, new = move.old, move.new
    _commit_sums(parameters, rates, sparse, hubs, old, new)
    if old == new:
        for j in range(hubs.size[0]):
            hubs.shift[0, j] += hubs.shift[1, j]
    _commit_own(parameters, rates, hubs, 0, old)
    if old != new:
        _commit_own(parameters, rates, hubs, 1, new)
    exponent.cite_weight[0] += sparse.gain[0, 0, 0]
    exponent.cited_weight[0] += sparse.gain[0, 0, 1]
    for lower in range(1, level):  # weights of papers are their propensities
        for side in range(2):
            n = sparse.row[side, lower]
            exponent.cite_weight[n] += sparse.gain[side, lower, 0]
            exponent.cited_weight[n] += sparse.gain[side, lower, 1]
