"""The sums P and M of the citation likelihood, piece by piece; see `engines.core.exponent`."""

from typing import NamedTuple

import numpy as np

from citeweave.compiled import hot_kernel, index
from citeweave.engines.core.arrays import Layout, State
from citeweave.engines.core.exponent import Exponent
from citeweave.engines.threads.workers import WorkerPool, cut

__all__ = ["Network", "Nodes", "new_network", "node_view", "rate_nodes", "rebuild"]

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


def node_view(layout: Layout, state: State) -> Nodes:
    """Gather what kernels here read of a chain."""
    return Nodes(*state.topics, state.parameters.topic_concentration, layout.parent)


def new_network(layout: Layout, level: int, topics: int) -> Network:
    """Make room for the sums; ``level`` is the one that citations reach."""
    starts = layout.level_start
    n_nodes = int(starts[level + 1])
    parent = layout.parent[1:n_nodes]
    child = np.argsort(parent, kind="stable").astype(np.int32) + 1
    made = np.bincount(parent, minlength=n_nodes)
    bounds = tuple(cut(int(starts[i]), int(starts[i + 1])) for i in range(level + 1))
    return Network(
        child_start=np.concatenate([[0], np.cumsum(made)]).astype(np.int64),
        child=child.astype(np.int32),
        share=np.zeros((n_nodes, 2)),
        rate=np.zeros(n_nodes),
        bounds=bounds,
        sums=tuple(np.zeros((len(pieces) - 1, 2, topics)) for pieces in bounds),
    )


@hot_kernel
def _weigh_nodes(nodes, discount, lowest, start, child, share, weights, bounds, sums, first, step):
    """Sum the terms of one level's nodes, in pieces ``first``, ``first + step``, ...

    Nodes above the lowest level first take the weights that their children leave them. ``weights``
    are those of citing and of being cited.
    """
    cite_weight, cited_weight = weights
    n_topics = index(sums.shape[2])
    for c in range(first, bounds.shape[0] - 1, step):
        sums[c] = 0.0
        for n in range(bounds[c], bounds[c + 1]):
            cite, cited = cite_weight[n], cited_weight[n]
            if not lowest:
                cite, cited = 0.0, 0.0
                for j in range(start[n], start[n + 1]):
                    cite += share[child[j], 0]
                    cited += share[child[j], 1]
                cite_weight[n] = cite
                cited_weight[n] = cited
            beta = nodes.concentration[n]
            scale = 1.0 / (beta + nodes.total_customers[n])
            cite *= scale
            cited *= scale
            row, piece = index(n), index(c)
            for k in range(n_topics):
                own = nodes.customers[row, k] - discount * nodes.tables[row, k]
                sums[piece, 0, k] += cite * own
                sums[piece, 1, k] += cited * own
            left = beta + discount * nodes.total_tables[n]
            share[n, 0] = cite * left
            share[n, 1] = cited * left


def rebuild(
    workers: WorkerPool, nodes: Nodes, network: Network, discounts: np.ndarray, exponent: Exponent
) -> None:
    """Recompute P, M and the weights of shared nodes; those of documents are set already."""
    levels = len(network.bounds)
    weights = (exponent.cite_weight, exponent.cited_weight)
    for level in range(levels - 1, -1, -1):
        bounds, sums = network.bounds[level], network.sums[level]

        def weigh(
            worker: int,
            step: int = workers.size,
            level: int = level,
            bounds: np.ndarray = bounds,
            sums: np.ndarray = sums,
        ) -> None:
            _weigh_nodes(
                nodes,
                discounts[level],
                level == levels - 1,
                network.child_start,
                network.child,
                network.share,
                weights,
                bounds,
                sums,
                worker,
                step,
            )

        if bounds[-1] - bounds[0] < _FEW:
            weigh(0, 1)
        else:
            workers.run(weigh)
    total = sum(sums.sum(axis=0) for sums in network.sums)
    exponent.cite_sum[:], exponent.cited_sum[:] = total


@hot_kernel
def rate_nodes(nodes, discount, rate, slope, bounds, first, step):
    """Set ``rate`` of one level's nodes to the product of ``slope`` and their posterior means.

    Equals ``rate[n] = slope @ mean[n]``; the level above is done, the root's parent counts as
    nothing.
    """
    n_topics = index(slope.shape[0])
    for c in range(first, bounds.shape[0] - 1, step):
        for n in range(bounds[c], bounds[c + 1]):
            own = 0.0
            row = index(n)
            for k in range(n_topics):
                own += slope[k] * (nodes.customers[row, k] - discount * nodes.tables[row, k])
            beta = nodes.concentration[n]
            if n > 0:
                own += (beta + discount * nodes.total_tables[n]) * rate[nodes.parent[n]]
            rate[n] = own / (beta + nodes.total_customers[n])
