"""What a citation's move does to the exponential, over the topics of the nodes that it touches.

The same as `citeweave.sampler.exponent` gives, to the last few bits, with P and M as `rates` keeps
them: what mu itself has is left out of both. A move changes the totals of nodes on one path or two,
and with them P and M of the topics that these nodes have, and of no others but by mu, whose part
follows from the three sums in `RateSums.total`.
"""

from typing import NamedTuple

import numpy as np

from citeweave.sampler._compile import index, inlined
from citeweave.sparse.presence import lowest_bit

__all__ = ["Touched", "commit_ends", "ends_change", "new_touched"]

_WIDTH = 64


class Touched(NamedTuple):
    """Room for one change that is not final yet."""

    topic: np.ndarray
    """int64 [topics]: those that change."""
    stamp: np.ndarray
    """int64 [topics]: number of the last change that a topic was listed for."""
    cite: np.ndarray
    """float64 [topics]: by topic, change of `RateSums.cite`; of listed topics only."""
    cited: np.ndarray
    """float64 [topics]: of `RateSums.cited`."""
    total: np.ndarray
    """float64 [3]: of `RateSums.total`."""
    node: np.ndarray
    """int64 [2 levels]: nodes whose weights change."""
    weight: np.ndarray
    """float64 [2 levels, 2]: their new weights."""
    count: np.ndarray
    """int64 [3]: number of the change, topics and nodes listed."""
    changed: np.ndarray
    """uint64 [words of 64 topics]: topics of changes made final; whoever reads it clears it."""


def new_touched(n_topics: int, n_levels: int) -> Touched:
    """Make room for the changes of one worker."""
    return Touched(
        topic=np.zeros(n_topics, np.int64),
        stamp=np.zeros(n_topics, np.int64),
        cite=np.zeros(n_topics),
        cited=np.zeros(n_topics),
        total=np.zeros(3),
        node=np.zeros(2 * n_levels, np.int64),
        weight=np.zeros((2 * n_levels, 2)),
        count=np.zeros(3, np.int64),
        changed=np.zeros(-(-n_topics // _WIDTH), np.uint64),
    )


@inlined
def _touch(touched, now, listed, k, cite, cited):
    """Add to the change of one topic; returns how many are listed then."""
    k = index(k)
    if touched.stamp[k] == now:
        touched.cite[k] += cite
        touched.cited[k] += cited
        return listed
    touched.stamp[k] = now
    touched.cite[k] = cite
    touched.cited[k] = cited
    touched.topic[index(listed)] = k
    return listed + 1


@inlined
def _list_node(touched, n, cite, cited):
    """Note the new weights of a node."""
    i = index(touched.count[2])
    touched.node[i] = n
    touched.weight[i, 0] = cite
    touched.weight[i, 1] = cited
    touched.count[2] += 1


@inlined
def _touch_topics(counts, presence, touched, now, listed, n, discount, new, cite, cited):
    """Add a node's own counts times its new slopes to the topics that it has, ``new`` among them.

    Bits may be those before the move: one without customers adds nothing.
    """
    n = index(n)
    for i in range(presence.shape[1]):
        bits = presence[n, index(i)]
        if new // _WIDTH == i:
            bits |= np.uint64(1) << np.uint64(new % _WIDTH)
        while bits != np.uint64(0):
            k = index(_WIDTH * i + lowest_bit(bits))
            bits &= bits - np.uint64(1)
            own = counts.customers[n, k] - discount * counts.tables[n, k]
            listed = _touch(touched, now, listed, k, cite * own, cited * own)
    return listed


@inlined
def _node_change(
    counts,
    parameters,
    presence,
    exponent,
    touched,
    listed,
    lower,
    n,
    topics,
    left,
    closed,
    came,
    opened,
    carry,
    carried,
):
    """Add the term of one node below mu, as that of the same name in `sampler.exponent` does.

    Returns the topics listed and what the parent's weights gain.
    """
    old, new = topics
    now = touched.count[0]
    discount = parameters.topic_discount[lower]
    beta = parameters.topic_concentration[n]
    gain = opened - closed
    after = 1.0 / (beta + counts.total_customers[n])
    before = after if came == left else 1.0 / (beta + counts.total_customers[n] - came + left)
    cite_before = exponent.cite_weight[n]
    cited_before = exponent.cited_weight[n]
    cite_after = cite_before + carry
    cited_after = cited_before + carried
    if carry != 0.0 or carried != 0.0:
        _list_node(touched, n, cite_after, cited_after)
    cite_slope = cite_after * after - cite_before * before
    cited_slope = cited_after * after - cited_before * before
    if cite_slope != 0.0 or cited_slope != 0.0:
        listed = _touch_topics(
            counts, presence, touched, now, listed, n, discount, new, cite_slope, cited_slope
        )
    went = before * (left - discount * closed)
    arrived = before * (came - discount * opened)
    listed = _touch(touched, now, listed, old, -cite_before * went, -cited_before * went)
    listed = _touch(touched, now, listed, new, cite_before * arrived, cited_before * arrived)
    tables = counts.total_tables[n]
    share_after = (beta + discount * tables) * after
    share_before = (beta + discount * (tables - gain)) * before
    return (
        listed,
        cite_after * share_after - cite_before * share_before,
        cited_after * share_after - cited_before * share_before,
    )


@inlined
def _root_change(
    counts, parameters, exponent, rates, touched, listed, topics, left, came, carry, carried
):
    """Add mu's term and sum the change of E over the listed topics; mu's of all others is known.

    ``left`` customers of mu went and ``came`` came; its weights gain ``carry`` and ``carried``.
    """
    old, new = topics
    beta = parameters.topic_concentration[0]
    discount = parameters.topic_discount[0]
    after = 1.0 / (beta + counts.total_customers[0])
    before = after if came == left else 1.0 / (beta + counts.total_customers[0] - came + left)
    cite_before = exponent.cite_weight[0] * before
    cited_before = exponent.cited_weight[0] * before
    cite_after = (exponent.cite_weight[0] + carry) * after
    cited_after = (exponent.cited_weight[0] + carried) * after
    if carry != 0.0 or carried != 0.0:
        _list_node(touched, 0, exponent.cite_weight[0] + carry, exponent.cited_weight[0] + carried)
    change, by_cited, by_cite, squared = 0.0, 0.0, 0.0, 0.0
    for i in range(listed):
        k = index(touched.topic[index(i)])
        customers = counts.customers[0, k]
        earlier = customers
        if k == index(old):
            earlier += left
        if k == index(new):
            earlier -= came
        own = customers - discount if customers > 0 else 0.0
        own_before = earlier - discount if earlier > 0 else 0.0
        scale = parameters.topic_scale[k]
        cite, cited = rates.cite[k], rates.cited[k]
        more, more_cited = touched.cite[k], touched.cited[k]
        change += scale * (more * (cited + more_cited) + cite * more_cited)
        by_cited += scale * (own * (cited + more_cited) - own_before * cited)
        by_cite += scale * (own * (cite + more) - own_before * cite)
        squared += scale * (own * own - own_before * own_before)
    touched.total[0] = by_cited
    touched.total[1] = by_cite
    touched.total[2] = squared
    change += cite_after * by_cited + (cite_after - cite_before) * rates.total[0]
    change += cited_after * by_cite + (cited_after - cited_before) * rates.total[1]
    both = cite_after * cited_after
    change += both * squared + (both - cite_before * cited_before) * rates.total[2]
    return change


@inlined
def ends_change(
    layout,
    counts,
    parameters,
    presence,
    exponent,
    rates,
    touched,
    level,
    first,
    second,
    topics,
    removed,
    added,
):
    """Change of E by a move already made: customers of ``topics[0]`` left, of ``topics[1]`` came.

    The rest is as that of `sampler.exponent.exponent_change`. ``presence`` may be that before the
    move or after it. The change is left touched: ``commit_ends`` makes it final, and where it is
    forgotten there is nothing to do.
    """
    touched.count[0] += 1
    touched.count[2] = 0
    listed = 0
    a, b = first, second
    carry_a, carried_a, carry_b, carried_b = 0.0, 0.0, 0.0, 0.0
    for step in range(level):
        if a == b:  # the paths have met
            carry_a += carry_b
            carried_a += carried_b
            carry_b, carried_b = 0.0, 0.0
        for side in range(2):
            if side == 1 and (b < 0 or a == b):
                continue
            n = a if side == 0 else b
            carry = carry_a if side == 0 else carry_b
            carried = carried_a if side == 0 else carried_b
            left = 1 if step < removed[side] else 0
            closed = 1 if step + 1 < removed[side] else 0
            came = 1 if step < added[side] else 0
            opened = 1 if step + 1 < added[side] else 0
            if side == 0 and a == b:
                left += 1 if step < removed[1] else 0
                closed += 1 if step + 1 < removed[1] else 0
                came += 1 if step < added[1] else 0
                opened += 1 if step + 1 < added[1] else 0
            if left + came > 0 or carry != 0.0 or carried != 0.0:
                listed, carry, carried = _node_change(
                    counts,
                    parameters,
                    presence,
                    exponent,
                    touched,
                    listed,
                    level - step,
                    n,
                    topics,
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
        a = layout.parent[a]
        if b >= 0:
            b = layout.parent[b]
    left = (1 if level < removed[0] else 0) + (1 if level < removed[1] else 0)
    came = (1 if level < added[0] else 0) + (1 if level < added[1] else 0)
    touched.count[1] = listed
    return _root_change(
        counts,
        parameters,
        exponent,
        rates,
        touched,
        listed,
        topics,
        left,
        came,
        carry_a + carry_b,
        carried_a + carried_b,
    )


@inlined
def commit_ends(exponent, rates, touched):
    """Make the pending change final."""
    for i in range(touched.count[1]):
        k = touched.topic[index(i)]
        rates.cite[index(k)] += touched.cite[index(k)]
        rates.cited[index(k)] += touched.cited[index(k)]
        touched.changed[index(k) // index(_WIDTH)] |= np.uint64(1) << np.uint64(k % _WIDTH)
    for i in range(3):
        rates.total[i] += touched.total[i]
    for i in range(touched.count[2]):
        n = touched.node[i]
        exponent.cite_weight[n] = touched.weight[i, 0]
        exponent.cited_weight[n] = touched.weight[i, 1]
