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
"""Number of links from which a network is clustered from one start only: starts differ little."""


def as_networkx(network: WeightedNetwork) -> "nx.Graph[int]":
    """Convert a network to an undirected networkx graph, with weights as ``weight``."""
    import networkx as nx  # noqa: PLC0415 (a quarter of a second, for maps alone)

    graph: Any = nx.Graph()
    graph.add_nodes_from(range(len(network.names)))
    ends, weights = network.links.tolist(), network.weights.tolist()
    graph.add_weighted_edges_from((a, b, w) for (a, b), w in zip(ends, weights, strict=True))
    return graph


def cluster(network: WeightedNetwork, *, resolution: float = 1.0, seed: int = 0) -> WeightedNetwork:
    """Find clusters of nodes that are linked more than expected from their weights.

    Louvain's method, from networkx, is started five times (fewer for a network with very many
    links) and the clustering with the highest modularity is kept. Louvain's method can produce
    clusters whose parts are not connected; each such part becomes a cluster.

    Parameters
    ----------
    network : WeightedNetwork
    resolution : float
        Values above 1 give more and smaller clusters.
    seed : int
        Seed of the order in which nodes are visited; the same seed gives the same clusters.

    Returns
    -------
    WeightedNetwork
        The same network with `groups`, the cluster of the largest total size first.

    Examples
    --------
    >>> from citeweave.networks import WeightedNetwork, cluster
    >>> edges = [("a", "b", 3), ("b", "c", 3), ("a", "c", 3), ("d", "e", 2), ("c", "d", 0.1)]
    >>> cluster(WeightedNetwork.from_edges(edges, of="word")).groups.tolist()
    [0, 0, 0, 1, 1]
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
    """Sort clusters by the total size of their nodes, then by their first node."""
    groups = np.zeros(len(sizes), np.int64)
    order = sorted(parts, key=lambda part: (-float(sizes[list(part)].sum()), min(part)))
    for number, part in enumerate(order):
        groups[list(part)] = number
    return groups
