"""The exponential of the citation likelihood, kept up to date in O(topics) a move.

The rate of all citations is  E = sum_k lambdaT_k P_k M_k  (eq:approx_network_likelihood, summed
over i, j and k) with P_k = sum_i lambda+_i theta'_ik and M_k = sum_j lambda-_j theta'_jk, theta' being
the posterior means of eq:recover_vector, which lean on nu and mu. Written out over nodes,

    P_k = sum_n weight+_n (c_nk - alpha t_nk) / (beta_n + C_n)

where a document weighs lambda+ and any other node the sum of its children's weights times
r = (alpha T + beta) / (beta + C), the share of itself that a child takes from its parent. So a
move that touches a path changes P by one term for each node of the path, and nothing else.
"""

from typing import NamedTuple

import numpy as np

from citeweave.sampler._compile import hot_kernel

__all__ = [
    "Exponent",
    "commit_change",
    "concentration_change",
    "exponent_change",
    "new_exponent",
    "rebuild_exponent",
    "total_rate",
]


class Exponent(NamedTuple):
    """Sums that the exponential is made of, and room for one pending change."""

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
    """int64 [1]."""


def new_exponent(n_nodes: int, n_topics: int, n_levels: int) -> Exponent:
    """Make room for the sums of a model of the given size."""
    return Exponent(
        cite_sum=np.zeros(n_topics),
        cited_sum=np.zeros(n_topics),
        cite_weight=np.zeros(n_nodes),
        cited_weight=np.zeros(n_nodes),
        cite_change=np.zeros(n_topics),
        cited_change=np.zeros(n_topics),
        pending_node=np.zeros(2 * n_levels, np.int64),
        pending_weight=np.zeros((2 * n_levels, 2)),
        pending_count=np.zeros(1, np.int64),
    )


@hot_kernel
def rebuild_exponent(layout, counts, parameters, level, exponent):
    """Recompute weights and sums from the counts; ``level`` is the one that citations reach."""
    n_documents = parameters.cite.shape[0]
    n_topics = exponent.cite_sum.shape[0]
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
            for k in range(n_topics):
                own = counts.customers[n, k] - discount * counts.tables[n, k]
                exponent.cite_sum[k] += cite * own
                exponent.cited_sum[k] += cited * own
            if lower > 0:
                share = beta + discount * counts.total_tables[n]
                parent = layout.parent[n]
                exponent.cite_weight[parent] += cite * share
                exponent.cited_weight[parent] += cited * share


@hot_kernel
def total_rate(exponent, parameters):
    """Sum of all citation rates, E."""
    total = 0.0
    for k in range(exponent.cite_sum.shape[0]):
        total += parameters.topic_scale[k] * exponent.cite_sum[k] * exponent.cited_sum[k]
    return total


@hot_kernel
def _node_change(
    counts, parameters, exponent, lower, n, old, new, left, closed, came, opened, carry, carried
):
    """Add one node's term of the change, the counts being those after the move.

    ``left`` and ``closed`` customers and tables of topic ``old`` went, ``came`` and ``opened`` of
    topic ``new`` came; ``carry`` and ``carried`` are what its weights gained from its children.
    Returns what the parent's weights gain.
    """
    discount = parameters.topic_discount[lower]
    beta = parameters.topic_concentration[n]
    if lower == 0:  # the root's tables follow its customers
        c_old = counts.customers[n, old] + left - (came if old == new else 0)
        c_new = counts.customers[n, new] - came + (left if old == new else 0)
        closed = (1 if c_old > 0 else 0) - (1 if counts.customers[n, old] > 0 else 0)
        opened = (1 if counts.customers[n, new] > 0 else 0) - (1 if c_new > 0 else 0)
        if old == new:
            opened = 0
    gain = opened - closed
    after = 1.0 / (beta + counts.total_customers[n])
    before = 1.0 / (beta + counts.total_customers[n] - came + left)
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
        for k in range(exponent.cite_sum.shape[0]):
            own = counts.customers[n, k] - discount * counts.tables[n, k]
            exponent.cite_change[k] += cite_slope * own
            exponent.cited_change[k] += cited_slope * own
    went = left - discount * closed
    exponent.cite_change[old] -= cite_before * before * went
    exponent.cited_change[old] -= cited_before * before * went
    arrived = came - discount * opened
    exponent.cite_change[new] += cite_before * before * arrived
    exponent.cited_change[new] += cited_before * before * arrived
    tables = counts.total_tables[n]
    share_after = (beta + discount * tables) * after
    share_before = (beta + discount * (tables - gain)) * before
    return (
        cite_after * share_after - cite_before * share_before,
        cited_after * share_after - cited_before * share_before,
    )


@hot_kernel
def exponent_change(
    layout, counts, parameters, exponent, level, first, second, old, new, removed, added
):
    """Change of E by a move already made: customers of ``old`` left, of ``new`` came.

    ``first`` and ``second`` are nodes on the level that citations reach (``second`` -1 where only one
    document moves); ``removed`` and ``added`` are pairs of depths, counted from these nodes.
    The change is left pending: ``commit_change`` makes it final.
    """
    exponent.cite_change[:] = 0.0
    exponent.cited_change[:] = 0.0
    exponent.pending_count[0] = 0
    a = first
    b = second
    carry_a = (0.0, 0.0)
    carry_b = (0.0, 0.0)
    for step in range(level + 1):
        lower = level - step
        left_a = 1 if step < removed[0] else 0
        closed_a = 1 if step + 1 < removed[0] else 0
        came_a = 1 if step < added[0] else 0
        opened_a = 1 if step + 1 < added[0] else 0
        left_b = 1 if step < removed[1] else 0
        closed_b = 1 if step + 1 < removed[1] else 0
        came_b = 1 if step < added[1] else 0
        opened_b = 1 if step + 1 < added[1] else 0
        if a == b:
            if carry_b[0] != 0.0 or carry_b[1] != 0.0:
                carry_a = (carry_a[0] + carry_b[0], carry_a[1] + carry_b[1])
                carry_b = (0.0, 0.0)
            left_a += left_b
            closed_a += closed_b
            came_a += came_b
            opened_a += opened_b
        elif b >= 0 and (left_b + came_b > 0 or carry_b[0] != 0.0 or carry_b[1] != 0.0):
            carry_b = _node_change(
                counts,
                parameters,
                exponent,
                lower,
                b,
                old,
                new,
                left_b,
                closed_b,
                came_b,
                opened_b,
                carry_b[0],
                carry_b[1],
            )
        if left_a + came_a > 0 or carry_a[0] != 0.0 or carry_a[1] != 0.0:
            carry_a = _node_change(
                counts,
                parameters,
                exponent,
                lower,
                a,
                old,
                new,
                left_a,
                closed_a,
                came_a,
                opened_a,
                carry_a[0],
                carry_a[1],
            )
        a = layout.parent[a]
        if b >= 0:
            b = layout.parent[b]
    return _pending_rate(parameters, exponent)


@hot_kernel
def concentration_change(layout, counts, parameters, exponent, level, node, before):
    """Change of E by a new concentration of one node (already set), left pending likewise."""
    exponent.cite_change[:] = 0.0
    exponent.cited_change[:] = 0.0
    exponent.pending_count[0] = 0
    discount = parameters.topic_discount[level]
    after = parameters.topic_concentration[node]
    customers = counts.total_customers[node]
    tables = discount * counts.total_tables[node]
    slope = 1.0 / (after + customers) - 1.0 / (before + customers)
    share = (after + tables) / (after + customers) - (before + tables) / (before + customers)
    for k in range(exponent.cite_sum.shape[0]):
        own = counts.customers[node, k] - discount * counts.tables[node, k]
        exponent.cite_change[k] += exponent.cite_weight[node] * slope * own
        exponent.cited_change[k] += exponent.cited_weight[node] * slope * own
    carry = (exponent.cite_weight[node] * share, exponent.cited_weight[node] * share)
    n = node
    for lower in range(level - 1, -1, -1):
        n = layout.parent[n]
        carry = _node_change(
            counts, parameters, exponent, lower, n, 0, 0, 0, 0, 0, 0, carry[0], carry[1]
        )
    return _pending_rate(parameters, exponent)


@hot_kernel
def _pending_rate(parameters, exponent):
    change = 0.0
    for k in range(exponent.cite_sum.shape[0]):
        cite = exponent.cite_change[k]
        cited = exponent.cited_change[k]
        change += parameters.topic_scale[k] * (
            cite * (exponent.cited_sum[k] + cited) + exponent.cite_sum[k] * cited
        )
    return change


@hot_kernel
def commit_change(exponent):
    """Make the pending change final."""
    for k in range(exponent.cite_sum.shape[0]):
        exponent.cite_sum[k] += exponent.cite_change[k]
        exponent.cited_sum[k] += exponent.cited_change[k]
    for i in range(exponent.pending_count[0]):
        n = exponent.pending_node[i]
        exponent.cite_weight[n] = exponent.pending_weight[i, 0]
        exponent.cited_weight[n] = exponent.pending_weight[i, 1]
