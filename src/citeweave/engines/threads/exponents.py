"""The sums P and M of the citation likelihood, piece by piece; see `engines.core.exponent`."""

from typing import NamedTuple

import numpy as np

from citeweave.compiled import hot_kernel, index, inlined
from citeweave.engines.core.arrays import Layout, State
from citeweave.engines.core.exponent import Exponent
from citeweave.engines.core.pieces import Share, cut
from citeweave.engines.threads.workers import WorkerPool

__all__ = [
    "Children",
    "Network",
    "Nodes",
    "leave_share",
    "list_children",
    "new_network",
    "node_rate",
    "node_view",
    "rate_nodes",
    "rebuild",
    "scaled_weights",
]

_FEW = 256
"""Levels of fewer nodes are not worth waking a thread for."""


class Nodes(NamedTuple):
    """What kernels here read of the topic side."""

    customers: np.ndarray
    tables: np.ndarray
    total_customers: np.ndarray
    total_tables: np.ndarray
    concentration: np.ndarray
    parent: np.ndarray


class Network(NamedTuple):
    """Room for the sums, and the tree read downwards."""

    child_start: np.ndarray
    """int64 [nodes + 1]: first entry of each node in ``child``."""
    child: np.ndarray
    """int32: children, in their own order; none of nodes on the level that citations reach."""
    share: np.ndarray
    """float64 [nodes, 2]: what a node adds to its parent's two weights."""
    rate: np.ndarray
    """float64 [nodes]: expected citations of a document of weight 1 that is like the node."""
    bounds: tuple[np.ndarray, ...]
    """By level: bounds of its pieces."""
    sums: tuple[np.ndarray, ...]
    """By level: float64 [pieces, 2, topics]."""


class Children(NamedTuple):
    """What kernels here read and write of a `Network`."""

    start: np.ndarray
    child: np.ndarray
    share: np.ndarray


def node_view(layout: Layout, state: State) -> Nodes:
    """Gather what kernels here read of a chain."""
    counts = state.topics
    return Nodes(
        counts.customers,
        counts.tables,
        counts.total_customers,
        counts.total_tables,
        state.parameters.topic_concentration,
        layout.parent,
    )


def new_network(layout: Layout, level: int, topics: int) -> Network:
    """Make room for the sums; ``level`` is the one that citations reach."""
    starts = layout.level_start
    n_nodes = int(starts[level + 1])
    bounds = tuple(cut(int(starts[i]), int(starts[i + 1])) for i in range(level + 1))
    network = Network(
        child_start=np.zeros(n_nodes + 1, np.int64),
        child=np.zeros(n_nodes - 1, np.int32),
        share=np.zeros((n_nodes, 2)),
        rate=np.zeros(n_nodes),
        bounds=bounds,
        sums=tuple(np.zeros((len(pieces) - 1, 2, topics)) for pieces in bounds),
    )
    list_children(network, layout)
    return network


def list_children(network: Network, layout: Layout) -> None:
    """Read the tree downwards, as the layout has it now."""
    n_nodes = len(network.share)
    parent = layout.parent[1:n_nodes]
    network.child[:] = np.argsort(parent, kind="stable") + 1
    np.cumsum(np.bincount(parent, minlength=n_nodes), out=network.child_start[1:])


@inlined
def scaled_weights(nodes, children, weights, inherit, n):
    """Give a node's two weights over (beta + C); where it inherits, they are its children's first.

    ``weights`` are those of citing and of being cited, of all nodes.
    """
    cite_weight, cited_weight = weights
    cite, cited = cite_weight[n], cited_weight[n]
    if inherit:
        cite, cited = 0.0, 0.0
        for j in range(children.start[n], children.start[n + 1]):
            cite += children.share[children.child[j], 0]
            cited += children.share[children.child[j], 1]
        cite_weight[n] = cite
        cited_weight[n] = cited
    scale = 1.0 / (nodes.concentration[n] + nodes.total_customers[n])
    return cite * scale, cited * scale


@inlined
def leave_share(nodes, children, discount, n, cite, cited):
    """Note what a node of such weights leaves to its parent."""
    left = nodes.concentration[n] + discount * nodes.total_tables[n]
    children.share[n, 0] = cite * left
    children.share[n, 1] = cited * left


@inlined
def node_rate(nodes, discount, rate, n, own):
    """Give the rate of a node whose own counts add ``own``; the root's parent adds nothing."""
    beta = nodes.concentration[n]
    if n > 0:
        own += (beta + discount * nodes.total_tables[n]) * rate[nodes.parent[n]]
    return own / (beta + nodes.total_customers[n])


@hot_kernel
def _weigh_nodes(nodes, discount, inherit, children, weights, sums, share):
    """Sum the terms of one level's nodes, in a worker's share of pieces.

    Nodes above the lowest level ``inherit``: they first take the weights that their children leave
    them.
    """
    bounds, first, step = share
    n_topics = index(sums.shape[2])
    for c in range(first, bounds.shape[0] - 1, step):
        sums[c] = 0.0
        for n in range(bounds[c], bounds[c + 1]):
            cite, cited = scaled_weights(nodes, children, weights, inherit, n)
            row, piece = index(n), index(c)
            for k in range(n_topics):
                own = nodes.customers[row, k] - discount * nodes.tables[row, k]
                sums[piece, 0, k] += cite * own
                sums[piece, 1, k] += cited * own
            leave_share(nodes, children, discount, n, cite, cited)


def rebuild(
    workers: WorkerPool, nodes: Nodes, network: Network, discounts: np.ndarray, exponent: Exponent
) -> None:
    """Recompute P, M and the weights of shared nodes; those of documents are set already."""
    levels = len(network.bounds)
    weights = (exponent.cite_weight, exponent.cited_weight)
    children = Children(network.child_start, network.child, network.share)
    for level in range(levels - 1, -1, -1):
        bounds, sums = network.bounds[level], network.sums[level]

        def weigh(
            worker: int,
            step: int = workers.size,
            level: int = level,
            bounds: np.ndarray = bounds,
            sums: np.ndarray = sums,
        ) -> None:
            share = Share(bounds, worker, step)
            inherit = level < levels - 1
            _weigh_nodes(nodes, discounts[level], inherit, children, weights, sums, share)

        if bounds[-1] - bounds[0] < _FEW:
            weigh(0, 1)
        else:
            workers.run(weigh)
    total = sum(sums.sum(axis=0) for sums in network.sums)
    exponent.cite_sum[:], exponent.cited_sum[:] = total


@hot_kernel
def rate_nodes(nodes, discount, rate, slope, share):
    """Set ``rate`` of one level's nodes to the product of ``slope`` and their posterior means.

    Equals ``rate[n] = slope @ mean[n]``; the level above is done, the root's parent counts as
    nothing.
    """
    bounds, first, step = share
    n_topics = index(slope.shape[0])
    for c in range(first, bounds.shape[0] - 1, step):
        for n in range(bounds[c], bounds[c + 1]):
            own = 0.0
            row = index(n)
            for k in range(n_topics):
                own += slope[k] * (nodes.customers[row, k] - discount * nodes.tables[row, k])
            rate[n] = node_rate(nodes, discount, rate, n, own)
