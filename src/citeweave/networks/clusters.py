"""Clusters of a network: communities of high modularity, found by networkx."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from citeweave.networks.counting import check_number
from citeweave.networks.network import WeightedNetwork

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["as_networkx", "cluster"]

STARTS = 5
MANY = 60_000
"""Networks of so many links are begun once: each start takes seconds, and starts differ little."""


def as_networkx(network: WeightedNetwork) -> "nx.Graph[int]":
    """Give a network to networkx: nodes by place, weights as ``weight``, directions forgotten."""
    import networkx as nx  # noqa: PLC0415 (a quarter of a second, for maps alone)

    graph: Any = nx.Graph()
    graph.add_nodes_from(range(len(network.names)))
    ends, weights = network.links.tolist(), network.weights.tolist()
    graph.add_weighted_edges_from((a, b, w) for (a, b), w in zip(ends, weights, strict=True))
    return graph


def cluster(network: WeightedNetwork, *, resolution: float = 1.0, seed: int = 0) -> WeightedNetwork:
    """Find clusters of nodes that are linked more than their weights let expect.

    Louvain's method, as networkx has it, begun five times (a network of very many links fewer
    times); the clusters of highest modularity are kept. Where a cluster falls into parts without a
    link between them, which Louvain's method allows, each part is a cluster.

    Parameters
    ----------
    network : WeightedNetwork
    resolution : float
        Above 1 finds more and smaller clusters.
    seed : int
        Of the orders in which nodes are visited; the same seed gives the same clusters.

    Returns
    -------
    WeightedNetwork
        The same with `groups`, the cluster of the largest total size first.
    """
    import networkx as nx  # noqa: PLC0415

    check_number("resolution", resolution, 0.0)
    graph: Any = as_networkx(network)
    if not len(network.links):
        return replace(network, groups=_by_size([{n} for n in graph], network.sizes))
    found = []
    for start in range(min(STARTS, 1 + MANY // len(network.links))):
        parts = nx.community.louvain_communities(
            graph, weight="weight", resolution=resolution, seed=seed * STARTS + start
        )
        value = nx.community.modularity(graph, parts, weight="weight", resolution=resolution)
        found.append((value, -start, parts))
    best = max(found, key=lambda entry: entry[:2])[2]
    whole = [part for nodes in best for part in nx.connected_components(graph.subgraph(nodes))]
    return replace(network, groups=_by_size(whole, network.sizes))


def _by_size(parts: list[set[int]], sizes: np.ndarray) -> np.ndarray:
    """Give clusters numbers by the total size of their nodes, of equal ones by their first node."""
    groups = np.zeros(len(sizes), np.int64)
    order = sorted(parts, key=lambda part: (-float(sizes[list(part)].sum()), min(part)))
    for number, part in enumerate(order):
        groups[list(part)] = number
    return groups
