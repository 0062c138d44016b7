"""Graphs as plain lists: edges and nodes as CSV, and the .net files of Pajek."""

from collections.abc import Mapping
from typing import Any

from citeweave.explore.frames import make_frame, to_csv
from citeweave.explore.graphs.exchange import counted_nodes, drawn_edges, node_name
from citeweave.explore.graphs.graph import Graph

__all__ = ["edges_csv", "nodes_csv", "to_pajek"]

Positions = Mapping[str, tuple[float, float]]


def edges_csv(graph: Graph, _: Positions | None = None) -> str:
    """Write the edges as CSV: ids and names of both ends, and the weight.

    The positions are ignored; every writer accepts them.

    Examples
    --------
    >>> from citeweave.explore.graphs import Edge, Graph, Node, edges_csv
    >>> nodes = (Node("author", 0, ("Ann Lee",)), Node("author", 1, ("Bo Chen",)))
    >>> graph = Graph("co-authors", "", nodes, (Edge("author-0", "author-1", 2.0),))
    >>> print(edges_csv(graph), end="")
    source,target,source_name,target_name,weight,count
    author-0,author-1,Ann Lee,Bo Chen,2.0,
    """
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
    """Write the nodes as CSV: id, name, size, links, group, and all further facts.

    Parameters
    ----------
    graph : Graph
    positions : mapping from node ids to (x, y), optional
        Adds the columns ``x`` and ``y``.

    Returns
    -------
    str

    Examples
    --------
    >>> from citeweave.explore.graphs import Edge, Graph, Node, nodes_csv
    >>> nodes = (Node("author", 0, ("Ann Lee",)), Node("author", 1, ("Bo Chen",)))
    >>> graph = Graph("co-authors", "", nodes, (Edge("author-0", "author-1", 2.0),))
    >>> nodes_csv(graph).splitlines()[0]
    'id,kind,key,name,value,links,strength,group'
    """
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
    """Write a graph as a .net file for Pajek and VOSviewer, with positions scaled to 0 to 1.

    The format has no clusters; use GraphML, GEXF or the list of nodes as CSV for these.

    Parameters
    ----------
    graph : Graph
    positions : mapping from node ids to (x, y)
        As returned by `layout`.

    Returns
    -------
    str

    Examples
    --------
    >>> from citeweave.explore.graphs import Edge, Graph, Node, to_pajek
    >>> nodes = (Node("author", 0, ("Ann Lee",)), Node("author", 1, ("Bo Chen",)))
    >>> graph = Graph("co-authors", "", nodes, (Edge("author-0", "author-1", 2.0),))
    >>> print(to_pajek(graph, {"author-0": (0.0, 0.0), "author-1": (50.0, 0.0)}), end="")
    *Vertices 2
    1 "Ann Lee" 0.0000 0.0000 0.5000
    2 "Bo Chen" 1.0000 0.0000 0.5000
    *Edges
    1 2 2
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
