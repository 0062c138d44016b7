"""Hubs: nodes with too many topics to visit one by one, namely mu and prolific authors.

A move changes the totals of such a node, and with them P and M of every topic that it has, by a
multiple of the node's own share of each topic. So these terms are left out of P and M,

    P_k = cite_k + sum_j a_j own_jk,  M_k = cited_k + sum_j b_j own_jk,

where j runs over the hubs, mu first. The effect of a change of a_j and b_j on E follows from the
sums over all topics of lambdaT own_j M, lambdaT own_j P and lambdaT own_j own_l. While citations
are swept, `RateSums.cite` and `RateSums.cited` leave out all hubs; otherwise only mu.
"""

from typing import NamedTuple

import numpy as np

from citeweave.compiled import hot_kernel, index, inlined
from citeweave.engines.core.row_places import ranked_count
from citeweave.engines.slots.presence import lowest_bit

__all__ = [
    "MANY_TOPICS",
    "MOST_HUBS",
    "HubRows",
    "Hubs",
    "add_hubs",
    "close_hubs",
    "copy_hubs",
    "find_hub",
    "list_hubs",
    "new_hub_rows",
    "new_hubs",
    "open_hubs",
    "restore_hubs",
    "sum_hubs",
]

_WIDTH = 64
MOST_HUBS = 32
"""Maximum number of hubs, including mu. Further nodes are visited topic by topic."""
MANY_TOPICS = 192
"""Number of topics from which a node is a hub."""


class HubRows(NamedTuple):
    """The hubs of a sweep as lists, mu first and the others in the order of the whole tree."""

    size: np.ndarray
    """int64 [1]: number of hubs."""
    node: np.ndarray
    """int64 [hubs]: their numbers, -1 for those that no citation here touches."""
    slope: np.ndarray
    """float64 [hubs, 2]: a and b."""
    length: np.ndarray
    """int64 [hubs]: number of topics of each hub."""
    topic: np.ndarray
    """int32 [entries]: topics of the first hub, then those of the next, and so on."""
    own: np.ndarray
    """float64 [entries]: the hub's own share of each topic."""


def new_hub_rows(n_topics: int) -> HubRows:
    """Allocate memory for lists of the maximum number of hubs."""
    return HubRows(
        size=np.zeros(1, np.int64),
        node=np.zeros(MOST_HUBS, np.int64),
        slope=np.zeros((MOST_HUBS, 2)),
        length=np.zeros(MOST_HUBS, np.int64),
        topic=np.zeros(MOST_HUBS * n_topics, np.int32),
        own=np.zeros(MOST_HUBS * n_topics),
    )


class Hubs(NamedTuple):
    """Hubs, their sums, and the effect of a pending change."""

    node: np.ndarray
    """int64 [hubs]: their numbers, -1 for those that no citation here touches."""
    size: np.ndarray
    """int64 [2]: number of hubs; number of topics from which a node is a hub."""
    own: np.ndarray
    """float64 [topics, hubs]: the hubs' own shares."""
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
    rows: HubRows
    """Memory to list hubs, if they are chosen in every sweep."""


def new_hubs(n_topics: int, *, choosing: bool = False) -> Hubs:
    """Allocate memory for one worker; ``choosing`` if its sweep chooses the hubs itself."""
    return Hubs(
        node=np.zeros(MOST_HUBS, np.int64),
        size=np.array([0, MANY_TOPICS]),
        own=np.zeros((n_topics, MOST_HUBS)),
        slope=np.zeros((MOST_HUBS, 2)),
        sums=np.zeros((MOST_HUBS, 2)),
        both=np.zeros((MOST_HUBS, MOST_HUBS)),
        gain=np.zeros((MOST_HUBS, 2)),
        shift=np.zeros((2, MOST_HUBS)),
        rows=new_hub_rows(n_topics if choosing else 0),
    )


@inlined
def find_hub(hubs, n):
    """Return the index of a node among the hubs, -1 if it is not one."""
    for j in range(hubs.size[0]):
        if hubs.node[j] == n:
            return j
    return -1


@inlined
def _count_bits(presence, n):
    """Count the topics of a node."""
    topics = 0
    for i in range(presence.shape[1]):
        bits = presence[index(n), index(i)]
        while bits != np.uint64(0):
            bits &= bits - np.uint64(1)
            topics += 1
    return topics


@inlined
def _list_hub(counts, parameters, presence, exponent, rows, n, lower, at):
    """Append a node of level ``lower`` to the lists, from entry ``at`` on; return their end."""
    j = index(rows.size[0])
    rows.size[0] += 1
    rows.node[j] = n
    discount = parameters.topic_discount[lower]
    scale = 1.0 / (parameters.topic_concentration[n] + counts.total_customers[n])
    rows.slope[j, 0] = exponent.cite_weight[n] * scale
    rows.slope[j, 1] = exponent.cited_weight[n] * scale
    end, rank, row = at, 0, index(n)
    for i in range(presence.shape[1]):
        bits = presence[row, index(i)]
        while bits != np.uint64(0):
            topic = _WIDTH * i + lowest_bit(bits)
            bits &= bits - np.uint64(1)
            k = index(topic)
            own = ranked_count(counts.customers, row, rank, k)
            rows.topic[end] = topic
            rows.own[end] = own - discount * ranked_count(counts.tables, row, rank, k)
            rank += 1
            end += 1
    rows.length[j] = end - at
    return end


@hot_kernel
def list_hubs(counts, parameters, presence, exponent, levels, least, rows):
    """List mu and the nodes above papers that have ``least`` topics or more, parents first.

    ``levels`` holds, by level above papers, the first node and the node after the last to list,
    and the number of these levels.
    """
    starts, ends, n_levels = levels
    rows.size[0] = 0
    at = _list_hub(counts, parameters, presence, exponent, rows, 0, 0, 0)
    for lower in range(1, n_levels):
        for n in range(starts[lower], ends[lower]):
            if rows.size[0] < MOST_HUBS and _count_bits(presence, n) >= least:
                at = _list_hub(counts, parameters, presence, exponent, rows, n, lower, at)


@inlined
def add_hubs(parameters, rates, hubs, rows):
    """Initialise the hubs from the lists.

    The term of mu is not part of ``rates``; those of all other hubs are subtracted from it.
    """
    hubs.size[0] = rows.size[0]
    at = 0
    for i in range(rows.size[0]):
        j = index(i)
        hubs.node[j] = rows.node[j]
        for k in range(index(hubs.own.shape[0])):
            hubs.own[k, j] = 0.0
        cite, cited = rows.slope[j, 0], rows.slope[j, 1]
        hubs.slope[j, 0] = cite
        hubs.slope[j, 1] = cited
        for _ in range(rows.length[j]):
            k = index(rows.topic[at])
            own = rows.own[at]
            at += 1
            hubs.own[k, j] = own
            if i > 0:
                rates.cite[k] -= cite * own
                rates.cited[k] -= cited * own
    sum_hubs(parameters, rates, hubs)


@hot_kernel
def open_hubs(layout, counts, parameters, presence, exponent, rates, hubs):
    """Add mu and the nodes above papers with many topics to the hubs."""
    starts = layout.level_start
    n_levels = 0  # above papers
    while starts[n_levels] < layout.citation_node:
        n_levels += 1
    levels = (starts, starts[1:], n_levels)
    list_hubs(counts, parameters, presence, exponent, levels, hubs.size[1], hubs.rows)
    add_hubs(parameters, rates, hubs, hubs.rows)


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
    """Restore the hubs' own shares of a topic."""
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
