"""Hubs: nodes with so many topics that they are not visited one by one: mu, prolific authors.

A move changes the totals of such a node, and with them P and M of every topic that it has, by a
multiple of what the node itself has of each. So these terms are left out of P and M,

    P_k = cite_k + sum_j a_j own_jk,  M_k = cited_k + sum_j b_j own_jk,

j going over the hubs, mu first, and what a change of a_j and b_j does to E follows from the
sums over all topics of lambdaT own_j M, lambdaT own_j P and lambdaT own_j own_l. While citations
are swept, `RateSums.cite` and `RateSums.cited` leave out all hubs, else mu alone.
"""

from typing import NamedTuple

import numpy as np

from citeweave.compiled import hot_kernel, index, inlined
from citeweave.engines.core.row_places import ranked_count
from citeweave.engines.slots.presence import lowest_bit

__all__ = [
    "Hubs",
    "add_hub",
    "choose_hubs",
    "close_hubs",
    "copy_hubs",
    "find_hub",
    "new_hubs",
    "node_level",
    "open_hubs",
    "restore_hubs",
    "sum_hubs",
]

_WIDTH = 64
_MOST = 32
"""Maximum number of hubs, including mu. Further ones are visited topic by topic."""
_MANY = 192
"""Number of topics from which a node is a hub."""


class Hubs(NamedTuple):
    """Hubs, their sums, and the effect of a pending change."""

    node: np.ndarray
    """int64 [hubs]: their numbers."""
    size: np.ndarray
    """int64 [2]: how many there are; topics from which on a node is a hub."""
    own: np.ndarray
    """float64 [topics, hubs]: what they themselves have."""
    slope: np.ndarray
    """float64 [hubs, 2]: a and b."""
    sums: np.ndarray
    """float64 [hubs, 2]: sums of lambdaT own M and of lambdaT own P."""
    both: np.ndarray
    """float64 [hubs, hubs]: sums of lambdaT own own."""
    gain: np.ndarray
    """float64 [hubs, 2]: change of ``slope``."""
    shift: np.ndarray
    """float64 [2, hubs]: change of ``own`` of the topic left and of the one joined."""


def new_hubs(n_topics: int) -> Hubs:
    """Allocate room for one worker."""
    return Hubs(
        node=np.zeros(_MOST, np.int64),
        size=np.array([0, _MANY]),
        own=np.zeros((n_topics, _MOST)),
        slope=np.zeros((_MOST, 2)),
        sums=np.zeros((_MOST, 2)),
        both=np.zeros((_MOST, _MOST)),
        gain=np.zeros((_MOST, 2)),
        shift=np.zeros((2, _MOST)),
    )


@inlined
def find_hub(hubs, n):
    """Return the index of a node among the hubs, -1 if it is not one."""
    for j in range(hubs.size[0]):
        if hubs.node[j] == n:
            return j
    return -1


@inlined
def add_hub(counts, parameters, presence, exponent, rates, hubs, n, lower):
    """Add a node of level ``lower`` to the hubs; mu must be the first.

    mu's term is not a part of ``rates``, that of any other node leaves it.
    """
    j = index(hubs.size[0])
    hubs.size[0] += 1
    hubs.node[j] = n
    for k in range(index(hubs.own.shape[0])):
        hubs.own[k, j] = 0.0
    discount = parameters.topic_discount[lower]
    scale = 1.0 / (parameters.topic_concentration[n] + counts.total_customers[n])
    cite, cited = exponent.cite_weight[n] * scale, exponent.cited_weight[n] * scale
    hubs.slope[j, 0] = cite
    hubs.slope[j, 1] = cited
    rank, row = 0, index(n)
    for i in range(presence.shape[1]):
        bits = presence[row, index(i)]
        while bits != np.uint64(0):
            k = index(_WIDTH * i + lowest_bit(bits))
            bits &= bits - np.uint64(1)
            own = ranked_count(counts.customers, row, rank, k)
            own = own - discount * ranked_count(counts.tables, row, rank, k)
            rank += 1
            hubs.own[k, j] = own
            if n > 0:
                rates.cite[k] -= cite * own
                rates.cited[k] -= cited * own


@inlined
def node_level(layout, node):
    """Return the level of a node; that of mu is 0."""
    lower = 0
    n = node
    while n > 0:
        n = layout.parent[n]
        lower += 1
    return lower


@hot_kernel
def open_hubs(layout, counts, parameters, presence, exponent, rates, hubs):
    """Add mu and the nodes above papers with many topics to the hubs."""
    hubs.size[0] = 0
    found = choose_hubs(presence, hubs, layout.citation_node)
    add_hub(counts, parameters, presence, exponent, rates, hubs, 0, 0)
    for j in range(1, found + 1):
        n = hubs.node[j]
        lower = node_level(layout, n)
        add_hub(counts, parameters, presence, exponent, rates, hubs, n, lower)
    sum_hubs(parameters, rates, hubs)


@inlined
def choose_hubs(presence, hubs, n_nodes):
    """Find nodes of many topics from 1 to ``n_nodes`` - 1, parents first; returns how many.

    Their numbers follow that of mu.
    """
    found = 0
    most = hubs.node.shape[0] - 1
    least = hubs.size[1]
    for n in range(1, n_nodes):
        topics = 0
        for i in range(presence.shape[1]):
            bits = presence[index(n), index(i)]
            while bits != np.uint64(0):
                bits &= bits - np.uint64(1)
                topics += 1
        if topics >= least and found < most:
            found += 1
            hubs.node[found] = n
    return found


@inlined
def copy_hubs(hubs, base):
    """Copy everything about hubs that changes, except their topics."""
    base.size[0] = hubs.size[0]
    for j in range(index(hubs.size[0])):
        for side in range(index(2)):
            base.slope[j, side] = hubs.slope[j, side]
            base.sums[j, side] = hubs.sums[j, side]
        for m in range(index(hubs.size[0])):
            base.both[j, m] = hubs.both[j, m]


@inlined
def restore_hubs(hubs, base, k):
    """Restore the hubs' share of a topic."""
    for j in range(index(hubs.size[0])):
        hubs.own[k, j] = base.own[k, j]


@inlined
def sum_hubs(parameters, rates, hubs):
    """Compute the sums over all topics."""
    size = index(hubs.size[0])
    hubs.sums[:] = 0.0
    hubs.both[:] = 0.0
    for k in range(index(hubs.own.shape[0])):
        cite, cited = rates.cite[k], rates.cited[k]
        for j in range(size):
            cite += hubs.slope[j, 0] * hubs.own[k, j]
            cited += hubs.slope[j, 1] * hubs.own[k, j]
        scale = parameters.topic_scale[k]
        for j in range(size):
            own = scale * hubs.own[k, j]
            hubs.sums[j, 0] += own * cited
            hubs.sums[j, 1] += own * cite
            for m in range(size):
                hubs.both[j, m] += own * hubs.own[k, m]


@hot_kernel
def close_hubs(parameters, rates, hubs):
    """Put all terms except that of mu back into ``rates`` and recompute its totals."""
    size = index(hubs.size[0])
    rates.total[:] = 0.0
    for k in range(index(hubs.own.shape[0])):
        for j in range(index(1), size):
            rates.cite[k] += hubs.slope[j, 0] * hubs.own[k, j]
            rates.cited[k] += hubs.slope[j, 1] * hubs.own[k, j]
        scaled = parameters.topic_scale[k] * hubs.own[k, index(0)]
        rates.total[0] += scaled * rates.cited[k]
        rates.total[1] += scaled * rates.cite[k]
        rates.total[2] += scaled * hubs.own[k, index(0)]
    hubs.size[0] = 0
