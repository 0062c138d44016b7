"""Networks as maps: similar nodes are close, dots show sizes, colours show clusters."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from citeweave.explore.colours import mix
from citeweave.explore.graphs.geometry import LINE
from citeweave.explore.graphs.graph import Edge, Graph, Node
from citeweave.explore.graphs.stress import MARGIN, arrange
from citeweave.explore.graphs.text import clean, text_width
from citeweave.networks import WeightedNetwork
from citeweave.networks.clusters import as_networkx

__all__ = ["LINKS", "Painting", "link_edges", "map_graph", "map_nodes", "strongest"]

LINKS = 1000
"""Number of links that are drawn, the strongest ones."""

LABELS = 150
"""Number of nodes with a name in the picture, the largest ones."""

DOTS = (6.0, 30.0)
LETTERS = (7.0, 11.0)
WIDTHS = (0.4, 4.0)
LONGEST = 34
FILL = 0.3
"""Part of the area of a map that dots and their names cover."""

ITERATIONS = (300, 60)
"""Steps of the layout of small maps, and of large ones with more than `LARGE` nodes."""

LARGE = 300


@dataclass(frozen=True)
class Painting:
    """Colours of the nodes of a network, and their meaning.

    Attributes
    ----------
    colours : sequence of str, length n
    groups : sequence of int, length n, or None
        Groups of the nodes, if colours show groups.
    listed : tuple of (str, str)
        Colours and their meaning.
    group_names : tuple of (int, str)
    """

    colours: Sequence[str]
    groups: Sequence[int] | None
    listed: tuple[tuple[str, str], ...]
    group_names: tuple[tuple[int, str], ...] = ()


def map_graph(
    network: WeightedNetwork, painting: Painting, *, links: int = LINKS, seed: int = 0
) -> Graph:
    """Draw a network with a force-directed layout (networkx's spring layout).

    Parameters
    ----------
    network : WeightedNetwork
        Network with at least one node.
    painting : Painting
    links : int
        Number of links drawn, those with the largest counts, and in any case the strongest link of
        each node. All links shape the map.
    seed : int
        Seed of the initial positions; the same seed gives the same map.
    """
    nodes = map_nodes(network, painting)
    forest = _forest(network)
    shown = np.union1d(strongest(network, links), forest)
    places = _places(network, nodes, forest, seed)
    notes = list(network.notes)
    if len(shown) < len(network.links):
        notes.append(f"{len(shown):,} of {len(network.links):,} links are drawn (the strongest).")
    placed = {node.id: place for node, place in zip(nodes, places, strict=True)}
    return Graph(
        name=network.kind,
        title=network.title,
        nodes=tuple(nodes),
        edges=tuple(link_edges(network, nodes, shown)),
        directed=network.directed,
        notes=tuple(notes),
        listed=painting.listed,
        legend=painting.listed,
        group_names=painting.group_names,
    ).placed(placed)


def map_nodes(network: WeightedNetwork, painting: Painting) -> list[Node]:
    """Make a dot for each node, with names below the largest."""
    relative = np.sqrt(network.sizes / max(float(network.sizes.max(initial=0.0)), 1e-300))
    named = np.zeros(len(network.names), bool)
    named[np.lexsort((np.arange(len(named)), -network.sizes))[:LABELS]] = True
    labels = network.labels or network.names
    strength = network.strength
    nodes = []
    for place, name in enumerate(network.names):
        share = float(relative[place])
        dot = DOTS[0] + (DOTS[1] - DOTS[0]) * share
        size, year = float(network.sizes[place]), float(network.years[place])
        facts = [(network.size_name, size), ("link_strength", float(strength[place]))]
        if not np.isnan(year):
            facts.append(("year", round(year, 2)))
        if network.groups is not None:
            facts.append(("cluster", float(network.groups[place] + 1)))
        nodes.append(
            Node(
                kind=network.of,
                key=int(network.keys[place]),
                label=(_short(labels[place]),) if named[place] else (),
                title=_title(network, place, painting),
                value=size,
                shape="dot",
                width=dot,
                height=dot,
                font_size=LETTERS[0] + (LETTERS[1] - LETTERS[0]) * share,
                colour=painting.colours[place],
                group=None if painting.groups is None else int(painting.groups[place]),
                full_name=clean(name),
                facts=tuple(facts),
            )
        )
    return nodes


def _title(network: WeightedNetwork, place: int, painting: Painting) -> str:
    """Describe a node."""
    size, year = network.sizes[place], network.years[place]
    parts = [clean(network.names[place])]
    label = network.labels[place] if network.labels else ""
    if label and label != network.names[place]:
        parts.append(clean(label))
    one = network.size_name.removesuffix("s") if size == 1 else network.size_name
    parts.append(f"{size:,.6g} {one}")
    if not np.isnan(year) and network.of != "paper":
        parts.append(f"mean year {year:.1f}")
    groups = dict(painting.group_names)
    if painting.groups is not None and painting.groups[place] in groups:
        parts.append(groups[painting.groups[place]])
    return " · ".join(parts)


def _short(text: str) -> str:
    text = clean(text)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1].rstrip()}…"


def link_edges(network: WeightedNetwork, nodes: Sequence[Node], shown: np.ndarray) -> list[Edge]:
    """Make lines for some links; their width grows with the count."""
    largest = max(float(network.counts.max(initial=0.0)), 1e-300)
    edges = []
    for row in shown.tolist():
        source, target = (nodes[place] for place in network.links[row].tolist())
        count = float(network.counts[row])
        same = source.group is not None and source.group == target.group
        edges.append(
            Edge(
                source=source.id,
                target=target.id,
                weight=float(network.weights[row]),
                width=WIDTHS[0] + (WIDTHS[1] - WIDTHS[0]) * count / largest,
                title=f"{source.text or source.name} – {target.text or target.name}: {count:,.4g}",
                colour=mix(source.colour, "#ffffff", 0.45) if same else "#c4c4c4",
                count=count,
            )
        )
    return edges


def strongest(network: WeightedNetwork, most: int) -> np.ndarray:
    """Return the rows of the links with the largest counts, in ascending order."""
    order = np.lexsort((np.arange(len(network.links)), -network.weights, -network.counts))
    return np.sort(order[:most])


def _forest(network: WeightedNetwork) -> np.ndarray:
    """Return the rows of the links of a maximum spanning forest, so that all nodes stay linked."""
    n = len(network.names)
    first, second = network.links.T
    # from 1 to 2: the smallest is the strongest, and none is 0, which would mean no link
    cost = 2.0 - network.counts / max(float(network.counts.max(initial=0.0)), 1e-300)
    tree = minimum_spanning_tree(csr_array((cost, (first, second)), shape=(n, n))).tocoo()
    kept = set(zip(*(axis.tolist() for axis in tree.coords), strict=True))
    return np.array(
        [row for row, (a, b) in enumerate(network.links.tolist()) if (a, b) in kept], np.int64
    )


def _places(
    network: WeightedNetwork, nodes: Sequence[Node], forest: np.ndarray, seed: int
) -> list[tuple[float, float]]:
    """Place dots with their names so that none overlap, component by component."""
    import networkx as nx  # noqa: PLC0415 (for maps alone)

    drop = np.array([LINE * node.font_size if node.label else 0.0 for node in nodes])
    wide = [
        max(node.width, *(text_width(line, node.font_size) for line in node.label), 0.0)
        for node in nodes
    ]
    sizes = np.column_stack((wide, np.array([node.height for node in nodes]) + drop))
    graph: Any = as_networkx(network)
    places = np.zeros((len(nodes), 2))
    links = network.links[forest]
    table = csr_array((np.ones(len(links)), (links[:, 0], links[:, 1])), shape=(len(nodes),) * 2)
    number, part = connected_components(table, directed=False)
    for one in range(number):
        inside = np.flatnonzero(part == one)
        if len(inside) == 1:
            continue
        steps = ITERATIONS[len(inside) > LARGE]
        found = nx.spring_layout(
            graph.subgraph(inside.tolist()), weight="weight", seed=seed, iterations=steps
        )
        spots = np.array([found[place] for place in inside.tolist()])
        needed = float(np.prod(sizes[inside] + 2 * MARGIN, axis=1).sum()) / FILL
        extent = np.maximum(np.ptp(spots, axis=0), 1e-9)
        places[inside] = spots / extent * np.sqrt(needed * np.array([1.4, 1 / 1.4]))
    places[:, 1] += drop / 2  # boxes have their names below the dot
    arranged = arrange(places, sizes, links, spacing=0.5)
    arranged[:, 1] -= drop / 2
    return [(float(x), float(y)) for x, y in arranged]
