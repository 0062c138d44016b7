"""The sums P and M of the citation likelihood; see `engines.core.exponent`.

They are sums of integers (`engines.core.exact_sums`), so they depend neither on the number of
threads nor on how a chain is divided into parts.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from citeweave.compiled import hot_kernel, index, inlined
from citeweave.engines.core.arrays import Layout, State
from citeweave.engines.core.exact_sums import unit_for
from citeweave.engines.core.exchange import ChainPart, Exchange
from citeweave.engines.core.exponent import Exponent
from citeweave.engines.core.pieces import Share, cut
from citeweave.engines.threads.workers import WorkerPool

__all__ = [
    "Children",
    "Network",
    "Nodes",
    "inherit_shares",
    "leave_share",
    "list_children",
    "new_network",
    "node_rate",
    "node_view",
    "rate_nodes",
    "read_children",
    "rebuild",
    "scaled_weights",
    "set_units",
]

_FEW = 256
"""Minimum number of nodes in a level for which waking threads is worthwhile."""
_ROOT = np.array([0, 1])


class Nodes(NamedTuple):
    """The part of the topic side that kernels in this module read."""

    customers: np.ndarray
    tables: np.ndarray
    total_customers: np.ndarray
    total_tables: np.ndarray
    concentration: np.ndarray
    parent: np.ndarray
    number: np.ndarray
    """Number of each node in the whole tree."""


class Network(NamedTuple):
    """Arrays for the sums, and the children of each node."""

    child_start: np.ndarray
    """int64 [nodes + 1]: first entry of each node in ``child``."""
    child: np.ndarray
    """int32: children in ascending order; nodes on the level that citations reach have none."""
    share: np.ndarray
    """int64 [nodes, 2]: contribution of a node to its parent's two weights, in units."""
    unit: np.ndarray
    """float64 [2]: units per 1, for citing and for being cited; powers of two."""
    rate: np.ndarray
    """float64 [nodes]: expected citations of a document of weight 1 with the node's topics."""
    bounds: tuple[np.ndarray, ...]
    """By level: bounds of the pieces of the nodes that the chain owns."""
    held: tuple[np.ndarray, ...]
    """By level: bounds of the pieces of all nodes, including copies of other parts' nodes."""


class Children(NamedTuple):
    """The part of a `Network` that kernels in this module read and write."""

    start: np.ndarray
    child: np.ndarray
    share: np.ndarray
    unit: np.ndarray


def node_view(layout: Layout, state: State, part: ChainPart) -> Nodes:
    """Return the arrays of a chain that kernels in this module read."""
    counts = state.topics
    return Nodes(
        counts.customers,
        counts.tables,
        counts.total_customers,
        counts.total_tables,
        state.parameters.topic_concentration,
        layout.parent,
        part.node,
    )


def new_network(layout: Layout, level: int, part: ChainPart) -> Network:
    """Allocate the sums; ``level`` is the level that citations reach."""
    starts = layout.level_start
    n_nodes = int(starts[level + 1])
    begins = [int(start) for start in starts[: level + 1]]
    network = Network(
        child_start=np.zeros(n_nodes + 1, np.int64),
        child=np.zeros(n_nodes - 1, np.int32),
        share=np.zeros((n_nodes, 2), np.int64),
        unit=np.ones(2),
        rate=np.zeros(n_nodes),
        bounds=tuple(cut(begin, int(part.level_end[i])) for i, begin in enumerate(begins)),
        held=tuple(cut(begin, int(starts[i + 1])) for i, begin in enumerate(begins)),
    )
    list_children(network, layout)
    return network


def list_children(network: Network, layout: Layout) -> None:
    """List the children of each node in the current layout."""
    n_nodes = len(network.share)
    parent = layout.parent[1:n_nodes]
    network.child[:] = np.argsort(parent, kind="stable") + 1
    np.cumsum(np.bincount(parent, minlength=n_nodes), out=network.child_start[1:])


@inlined
def scaled_weights(nodes, children, weights, inherit, n):
    """Return a node's two weights over (beta + C), taken from its children if it inherits.

    ``weights`` holds the citing and cited weights of all nodes.
    """
    cite_weight, cited_weight = weights
    if inherit:
        cite, cited = inherited(children, n)
        cite_weight[n] = cite / children.unit[0]
        cited_weight[n] = cited / children.unit[1]
    scale = 1.0 / (nodes.concentration[n] + nodes.total_customers[n])
    return cite_weight[n] * scale, cited_weight[n] * scale


@inlined
def inherited(children, n):
    """Return the sum of the shares that a node inherits from its children, in units."""
    cite, cited = np.int64(0), np.int64(0)
    for j in range(children.start[n], children.start[n + 1]):
        cite += children.share[children.child[j], 0]
        cited += children.share[children.child[j], 1]
    return cite, cited


@inlined
def leave_share(nodes, children, discount, n, cite, cited):
    """Store the share that a node with the given weights leaves to its parent."""
    left = nodes.concentration[n] + discount * nodes.total_tables[n]
    children.share[n, 0] = np.int64(cite * left * children.unit[0])
    children.share[n, 1] = np.int64(cited * left * children.unit[1])


@inlined
def node_rate(nodes, discount, rate, n, own):
    """Return the rate of a node whose own counts add ``own``; the root has no parent term."""
    beta = nodes.concentration[n]
    if n > 0:
        own += (beta + discount * nodes.total_tables[n]) * rate[nodes.parent[n]]
    return own / (beta + nodes.total_customers[n])


@hot_kernel
def _weigh_nodes(nodes, discount, inherit, children, weights, sums, share):
    """Sum the terms of one level's nodes in a worker's share of pieces.

    Nodes above the lowest level ``inherit``: their weights are first computed from the shares of
    their children. ``sums`` (int64 [workers, 2, topics]) are in units.
    """
    bounds, first, step = share
    n_topics = index(sums.shape[2])
    worker = index(first)
    for c in range(first, bounds.shape[0] - 1, step):
        for n in range(bounds[c], bounds[c + 1]):
            cite, cited = scaled_weights(nodes, children, weights, inherit, n)
            cite_unit, cited_unit = cite * children.unit[0], cited * children.unit[1]
            row = index(n)
            for k in range(n_topics):
                own = nodes.customers[row, k] - discount * nodes.tables[row, k]
                sums[worker, 0, k] += np.int64(cite_unit * own)
                sums[worker, 1, k] += np.int64(cited_unit * own)
            leave_share(nodes, children, discount, n, cite, cited)


@hot_kernel
def inherit_shares(children, begin, end, found):
    """Sum the shares that nodes ``begin`` to ``end`` - 1 inherit: int64 [nodes, 2]."""
    for n in range(begin, end):
        found[n - begin, 0], found[n - begin, 1] = inherited(children, n)


def set_units(network: Network, exponent: Exponent, part: ChainPart, exchange: Exchange) -> None:
    """Choose the units of sums from the largest document weights in all parts of the chain.

    A node's weight is at most the sum of the weights below it, and so is its term in P and M.
    """
    first = int(network.bounds[-1][0])
    own = slice(first, first + part.n_documents)
    weights = (exponent.cite_weight[own], exponent.cited_weight[own])
    largest = np.array([weight.max(initial=0.0) for weight in weights])
    largest = np.max(exchange.gather(largest), axis=0)
    network.unit[:] = [unit_for(part.all_documents * float(weight)) for weight in largest]


def read_children(network: Network) -> Children:
    """Return the arrays of a network that kernels in this module read and write."""
    return Children(network.child_start, network.child, network.share, network.unit)


Inherit = Callable[[int, np.ndarray], None]
"""Callback of a part of a chain, called with a level and the shares that its nodes inherit (int64
[nodes, 2]). It adds the shares of children in other parts and sets the weights of copies."""


def rebuild(
    workers: WorkerPool,
    nodes: Nodes,
    network: Network,
    discounts: np.ndarray,
    exponent: Exponent,
    exchange: Exchange,
    inherit: Inherit | None = None,
) -> None:
    """Recompute P, M and the weights of shared nodes; document weights are already set.

    Every node except the root belongs to one part of the chain. The root is summed last, from the
    shares of all parts.
    """
    lowest = len(network.bounds) - 1
    topics = len(exponent.cite_sum)
    weights = (exponent.cite_weight, exponent.cited_weight)
    children = read_children(network)
    sums = np.zeros((workers.size, 2, topics), np.int64)
    for level in range(lowest, 0, -1):
        bounds = network.bounds[level]
        if level < lowest and inherit is not None:
            begin, end = int(network.held[level][0]), int(network.held[level][-1])
            found = np.zeros((end - begin, 2), np.int64)
            inherit_shares(children, begin, end, found)
            inherit(level, found)

        def weigh(
            worker: int,
            step: int = workers.size,
            level: int = level,
            bounds: np.ndarray = bounds,
        ) -> None:
            share = Share(bounds, worker, step)
            inherits = level < lowest and inherit is None
            _weigh_nodes(nodes, discounts[level], inherits, children, weights, sums, share)

        if bounds[-1] - bounds[0] < _FEW:
            weigh(0, 1)
        else:
            workers.run(weigh)
    found = np.zeros((1, 2), np.int64)
    if lowest > 0:
        inherit_shares(children, 0, 1, found)
        both = exchange.sum(np.concatenate([sums.sum(axis=0), found.T], axis=1))
        sums[0], found = both[:, :-1], both[:, -1:].T
        sums[1:] = 0
        exponent.cite_weight[0], exponent.cited_weight[0] = found[0] / network.unit
    _weigh_nodes(nodes, discounts[0], False, children, weights, sums, Share(_ROOT, 0, 1))
    exponent.cite_sum[:], exponent.cited_sum[:] = sums.sum(axis=0) / network.unit[:, None]


@hot_kernel
def rate_nodes(nodes, discount, rate, slope, share):
    """Set ``rate`` of one level's nodes to the product of ``slope`` and their posterior means.

    Equals ``rate[n] = slope @ mean[n]``. The level above must already be done; the root has no
    parent term.
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
