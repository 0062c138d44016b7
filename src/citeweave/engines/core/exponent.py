"""The exponential of the citation likelihood, kept up to date in O(topics) per move.

The rate of all citations is  E = sum_k lambdaT_k P_k M_k  (eq:approx_network_likelihood, summed
over i, j and k) with P_k = sum_i lambda+_i theta'_ik and M_k = sum_j lambda-_j theta'_jk, theta'
being the posterior means of eq:recover_vector, which depend on nu and mu. Written out over nodes,

    P_k = sum_n weight+_n (c_nk - alpha t_nk) / (beta_n + C_n)

where the weight of a document is lambda+ and that of any other node the sum of its children's
weights times r = (alpha T + beta) / (beta + C), the share that a child takes from its parent. A
move that touches a path therefore changes P by one term per node of the path.
"""

from typing import NamedTuple

import numpy as np

from citeweave.compiled import hot_kernel, inlined
from citeweave.engines.core.row_places import count_at, n_places, topic_at
from citeweave.engines.core.turnover import (
    Move,
    Turnover,
    ends_turnover,
    root_turnover,
    walk_ends,
    walk_up,
)

__all__ = [
    "Exponent",
    "commit_change",
    "concentration_change",
    "discard_change",
    "exponent_change",
    "group_change",
    "new_exponent",
    "rebuild_exponent",
    "server_change",
    "total_rate",
]


class Exponent(NamedTuple):
    """The sums behind the exponential, and buffers for one pending change."""

    cite_sum: np.ndarray
    """float64 [topics]: P."""
    cited_sum: np.ndarray
    """float64 [topics]: M."""
    cite_weight: np.ndarray
    """float64 [nodes]: weight+ of the nodes from the citation level to the root."""
    cited_weight: np.ndarray
    """float64 [nodes]: weight-."""
    cite_change: np.ndarray
    """float64 [topics]: pending change of P."""
    cited_change: np.ndarray
    """float64 [topics]: pending change of M."""
    pending_node: np.ndarray
    """int64 [2 levels]: nodes whose weights change."""
    pending_weight: np.ndarray
    """float64 [2 levels, 2]: their new weights."""
    pending_count: np.ndarray
    """int64 [4]: number of nodes that change; whether all topics do; the two topics that moved."""


def new_exponent(n_nodes: int, n_topics: int, n_levels: int) -> Exponent:
    """Allocate the sums of a model of the given size."""
    return Exponent(
        cite_sum=np.zeros(n_topics),
        cited_sum=np.zeros(n_topics),
        cite_weight=np.zeros(n_nodes),
        cited_weight=np.zeros(n_nodes),
        cite_change=np.zeros(n_topics),
        cited_change=np.zeros(n_topics),
        pending_node=np.zeros(2 * n_levels, np.int64),
        pending_weight=np.zeros((2 * n_levels, 2)),
        pending_count=np.zeros(4, np.int64),
    )


@hot_kernel
def rebuild_exponent(layout, counts, parameters, level, exponent):
    """Recompute weights and sums from the counts; ``level`` is the one that citations reach."""
    n_documents = parameters.cite.shape[0]
    exponent.cite_sum[:] = 0.0
    exponent.cited_sum[:] = 0.0
    for n in range(layout.level_start[level]):
        exponent.cite_weight[n] = 0.0
        exponent.cited_weight[n] = 0.0
    for d in range(n_documents):
        exponent.cite_weight[layout.citation_node + d] = parameters.cite[d]
        exponent.cited_weight[layout.citation_node + d] = parameters.cited[d]
    for lower in range(level, -1, -1):
        discount = parameters.topic_discount[lower]
        for n in range(layout.level_start[lower], layout.level_start[lower + 1]):
            beta = parameters.topic_concentration[n]
            scale = 1.0 / (beta + counts.total_customers[n])
            cite = exponent.cite_weight[n] * scale
            cited = exponent.cited_weight[n] * scale
            for j in range(n_places(counts.customers, n)):
                own = count_at(counts.customers, n, j) - discount * count_at(counts.tables, n, j)
                k = topic_at(counts.customers, n, j)
                exponent.cite_sum[k] += cite * own
                exponent.cited_sum[k] += cited * own
            if lower > 0:
                share = beta + discount * counts.total_tables[n]
                parent = layout.parent[n]
                exponent.cite_weight[parent] += cite * share
                exponent.cited_weight[parent] += cited * share


@hot_kernel
def total_rate(exponent, parameters):
    """Compute E, the sum of all citation rates."""
    total = 0.0
    for k in range(exponent.cite_sum.shape[0]):
        total += parameters.topic_scale[k] * exponent.cite_sum[k] * exponent.cited_sum[k]
    return total


@inlined
def _node_change(counts, parameters, exponent, lower, n, topics, moved, carry, carried):
    """Add one node's term of the change, with the counts after the move.

    ``topics`` are the topics left and joined, ``moved`` the changes at the node; ``carry`` and
    ``carried`` are the gains of its weights from its children. Returns the gains of the parent's
    weights. Slots have two versions of this sum (`engines.slots.ends`, `engines.slots.exponent`),
    which round differently: a chain's draws would not be the same.
    """
    old, new = topics
    discount = parameters.topic_discount[lower]
    beta = parameters.topic_concentration[n]
    if lower == 0:
        moved = root_turnover(counts.customers, old, new, moved)
    left, closed, came, opened = moved
    gain = opened - closed
    after = 1.0 / (beta + counts.total_customers[n])
    before = after if came == left else 1.0 / (beta + counts.total_customers[n] - came + left)
    cite_before = exponent.cite_weight[n]
    cited_before = exponent.cited_weight[n]
    cite_after = cite_before + carry
    cited_after = cited_before + carried
    if carry != 0.0 or carried != 0.0:
        i = exponent.pending_count[0]
        exponent.pending_node[i] = n
        exponent.pending_weight[i, 0] = cite_after
        exponent.pending_weight[i, 1] = cited_after
        exponent.pending_count[0] = i + 1
    cite_slope = cite_after * after - cite_before * before
    cited_slope = cited_after * after - cited_before * before
    if cite_slope != 0.0 or cited_slope != 0.0:
        exponent.pending_count[1] = 1
        for j in range(n_places(counts.customers, n)):
            own = count_at(counts.customers, n, j) - discount * count_at(counts.tables, n, j)
            k = topic_at(counts.customers, n, j)
            exponent.cite_change[k] += cite_slope * own
            exponent.cited_change[k] += cited_slope * own
    went = before * (left - discount * closed)
    exponent.cite_change[old] -= cite_before * went
    exponent.cited_change[old] -= cited_before * went
    arrived = before * (came - discount * opened)
    exponent.cite_change[new] += cite_before * arrived
    exponent.cited_change[new] += cited_before * arrived
    tables = counts.total_tables[n]
    share_after = (beta + discount * tables) * after
    share_before = (beta + discount * (tables - gain)) * before
    return (
        cite_after * share_after - cite_before * share_before,
        cited_after * share_after - cited_before * share_before,
    )


@inlined
def _begin_change(exponent, old, new):
    """Open a change; ``cite_change`` and ``cited_change`` are all zero between changes."""
    exponent.pending_count[0] = 0
    exponent.pending_count[1] = 0
    exponent.pending_count[2] = old
    exponent.pending_count[3] = new


@inlined
def _topic_rate(parameters, exponent, k):
    """Compute one topic's part of the pending change of E."""
    cite = exponent.cite_change[k]
    cited = exponent.cited_change[k]
    return parameters.topic_scale[k] * (
        cite * (exponent.cited_sum[k] + cited) + exponent.cite_sum[k] * cited
    )


@inlined
def _pending_rate(parameters, exponent):
    """Sum the pending change of E: over all topics, or over the two that moved."""
    if exponent.pending_count[1] == 0:
        old, new = exponent.pending_count[2], exponent.pending_count[3]
        change = _topic_rate(parameters, exponent, old)
        if new != old:
            change += _topic_rate(parameters, exponent, new)
        return change
    change = 0.0
    for k in range(exponent.cite_sum.shape[0]):
        change += _topic_rate(parameters, exponent, k)
    return change


@inlined
def _visit_node(room, lower, side, moved, carry, carried):
    """Implement the callback of ``walk_ends``."""
    counts, parameters, exponent, row, topics = room
    n = row[side, lower]
    return _node_change(counts, parameters, exponent, lower, n, topics, moved, carry, carried)


@inlined
def exponent_change(counts, parameters, exponent, ends, move):
    """Compute the change of E by a move already made, from ``move.old`` to ``move.new``.

    Depths of the move are counted from the level that citations reach; if a single document moves,
    those of the second end are 0 and the paths meet at once. The change is left pending:
    ``commit_change`` makes it final, ``discard_change`` discards it.
    """
    topics = (move.old, move.new)
    _begin_change(exponent, move.old, move.new)
    room = (counts, parameters, exponent, ends.row, topics)
    carry, carried = walk_ends(_visit_node, room, ends, move)
    moved = ends_turnover(ends.level, move)
    if moved.left + moved.came > 0 or carry != 0.0 or carried != 0.0:
        _node_change(counts, parameters, exponent, 0, 0, topics, moved, carry, carried)
    return _pending_rate(parameters, exponent)


@inlined
def group_change(counts, parameters, exponent, ends, topics, turnovers):
    """Compute the change of E as several customers of a document change topic together.

    ``turnovers`` (int64 [levels, 4]) has the numbers of customers who left, tables closed,
    customers who came and tables opened at each level, citation level first. The move is already
    made in the counts; the change is left pending.
    """
    _begin_change(exponent, topics[0], topics[1])
    carry, carried = 0.0, 0.0
    for step in range(ends.level + 1):
        lower = ends.level - step
        at = turnovers[step]
        moved = Turnover(at[0], at[1], at[2], at[3])
        if moved.left + moved.came > 0 or carry != 0.0 or carried != 0.0:
            n = ends.row[0, lower]
            carry, carried = _node_change(
                counts, parameters, exponent, lower, n, topics, moved, carry, carried
            )
    return _pending_rate(parameters, exponent)


@inlined
def server_change(counts, parameters, exponent, ends, node):
    """Compute the change of E as a paper's ``node`` moves from the first path to the second.

    The paths end on the level above the paper. The paper's own counts stay; the share of its
    weights that it takes from its parent moves with it. The change is left pending.
    """
    level = ends.level + 1
    beta = parameters.topic_concentration[node]
    share = beta + parameters.topic_discount[level] * counts.total_tables[node]
    share /= beta + counts.total_customers[node]
    cite = exponent.cite_weight[node] * share
    cited = exponent.cited_weight[node] * share
    _begin_change(exponent, 0, 0)
    nobody = Move(0, 0, (0, 0), (0, 0))
    room = (counts, parameters, exponent, ends.row, (0, 0))
    gained = (-cite, -cited, cite, cited)
    carry, carried = walk_up(_visit_node, room, ends, nobody, gained)
    if carry != 0.0 or carried != 0.0:
        still = Turnover(0, 0, 0, 0)
        _node_change(counts, parameters, exponent, 0, 0, (0, 0), still, carry, carried)
    return _pending_rate(parameters, exponent)


@hot_kernel
def concentration_change(layout, counts, parameters, exponent, level, node, before):
    """Compute the pending change of E by a new concentration of one node (already set)."""
    _begin_change(exponent, 0, 0)
    exponent.pending_count[1] = 1
    discount = parameters.topic_discount[level]
    after = parameters.topic_concentration[node]
    customers = counts.total_customers[node]
    tables = discount * counts.total_tables[node]
    slope = 1.0 / (after + customers) - 1.0 / (before + customers)
    share = (after + tables) / (after + customers) - (before + tables) / (before + customers)
    for j in range(n_places(counts.customers, node)):
        own = count_at(counts.customers, node, j) - discount * count_at(counts.tables, node, j)
        k = topic_at(counts.customers, node, j)
        exponent.cite_change[k] += exponent.cite_weight[node] * slope * own
        exponent.cited_change[k] += exponent.cited_weight[node] * slope * own
    carry = exponent.cite_weight[node] * share
    carried = exponent.cited_weight[node] * share
    n = node
    for lower in range(level - 1, -1, -1):
        n = layout.parent[n]
        carry, carried = _node_change(
            counts, parameters, exponent, lower, n, (0, 0), Turnover(0, 0, 0, 0), carry, carried
        )
    return _pending_rate(parameters, exponent)


@inlined
def _settle_topic(exponent, k, share):
    exponent.cite_sum[k] += share * exponent.cite_change[k]
    exponent.cited_sum[k] += share * exponent.cited_change[k]
    exponent.cite_change[k] = 0.0
    exponent.cited_change[k] = 0.0


@inlined
def _settle(exponent, share):
    if exponent.pending_count[1] == 0:
        _settle_topic(exponent, exponent.pending_count[2], share)
        _settle_topic(exponent, exponent.pending_count[3], share)
    else:
        for k in range(exponent.cite_sum.shape[0]):
            _settle_topic(exponent, k, share)


@inlined
def commit_change(exponent):
    """Make the pending change final."""
    _settle(exponent, 1.0)
    for i in range(exponent.pending_count[0]):
        n = exponent.pending_node[i]
        exponent.cite_weight[n] = exponent.pending_weight[i, 0]
        exponent.cited_weight[n] = exponent.pending_weight[i, 1]


@inlined
def discard_change(exponent):
    """Discard the pending change."""
    _settle(exponent, 0.0)
