"""Graphs as plain lists: edges and nodes as CSV, and the .net files of Pajek."""

from collections.abc import Mapping
from typing import Any

from citeweave.explore.frames import make_frame, to_csv
from citeweave.explore.graphs.exchange import counted_nodes, drawn_edges, node_name
from citeweave.explore.graphs.graph import Graph

__all__ = ["edges_csv", "nodes_csv", "to_pajek"]

Positions = Mapping[str, tuple[float, float]]


def edges_csv(graph: Graph, _: Positions | None = None) -> str:
    """Write the edges as CSV: ids and names of both ends, and the weight."""
    edges = drawn_edges(graph)
    ends = [(graph.node(edge.source), graph.node(edge.target)) for edge in edges]
    columns = {
        "source": ("text", [edge.source for edge in edges]),
        "target": ("text", [edge.target for edge in edges]),
        "source_name": ("text", [node_name(source) for source, _ in ends]),
        "target_name": ("text", [node_name(target) for _, target in ends]),
        "weight": ("float", [edge.weight for edge in edges]),
        "count": ("float", [edge.count for edge in edges]),
    }
    return to_csv(make_frame(columns))


def nodes_csv(graph: Graph, positions: Positions | None = None) -> str:
    """Write the nodes as CSV: id, name, size, links and group, and what else is known of them."""
    rows = counted_nodes(graph)
    nodes = [node for node, _, _ in rows]
    names = dict(graph.group_names)
    columns: dict[str, tuple[str, list[Any]]] = {
        "id": ("text", [node.id for node in nodes]),
        "kind": ("text", [node.kind for node in nodes]),
        "key": ("int", [node.key for node in nodes]),
        "name": ("text", [node_name(node) for node in nodes]),
        "value": ("float", [float(node.value) for node in nodes]),
        "links": ("int", [degree for _, degree, _ in rows]),
        "strength": ("float", [float(strength) for _, _, strength in rows]),
        "group": ("int", [node.group for node in nodes]),
    }
    if names:
        of = [None if node.group is None else names.get(node.group) for node in nodes]
        columns["group_name"] = ("text", of)
    facts = [dict(node.facts) for node in nodes]
    for name in dict.fromkeys(name for known in facts for name in known):
        columns[name] = ("float", [known.get(name) for known in facts])
    if positions is not None:
        columns["x"] = ("float", [float(positions[node.id][0]) for node in nodes])
        columns["y"] = ("float", [float(positions[node.id][1]) for node in nodes])
    return to_csv(make_frame(columns))


def to_pajek(graph: Graph, positions: Positions) -> str:
    """Write a graph as a .net file of Pajek, with places between 0 and 1; VOSviewer reads it too.

    Clusters are not part of the format; take GraphML, GEXF or the nodes as CSV for these.
    """
    nodes = [node for node, _, _ in counted_nodes(graph)]
    numbers = {node.id: number for number, node in enumerate(nodes, start=1)}
    spots = [positions[node.id] for node in nodes]
    lows = [min((spot[axis] for spot in spots), default=0.0) for axis in (0, 1)]
    highs = [max((spot[axis] for spot in spots), default=0.0) for axis in (0, 1)]
    span = max(highs[0] - lows[0], highs[1] - lows[1]) or 1.0
    lines = [f"*Vertices {len(nodes)}"]
    for node, (x, y) in zip(nodes, spots, strict=True):
        name = node_name(node).replace('"', "'")  # a quotation mark ends a name
        place = f"{(x - lows[0]) / span:.4f} {(y - lows[1]) / span:.4f}"
        lines.append(f'{numbers[node.id]} "{name}" {place} 0.5000')
    lines.append("*Arcs" if graph.directed else "*Edges")
    lines += [
        f"{numbers[edge.source]} {numbers[edge.target]} {edge.weight:.6g}"
        for edge in drawn_edges(graph)
    ]
    return "\n".join([*lines, ""])
