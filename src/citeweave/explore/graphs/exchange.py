"""Graphs for other programs: JSON, DOT, GraphML, GEXF and the JSON of VOSviewer.

Nodes that are text alone (shape ``label``) name parts of a picture: they go into DOT and our JSON,
not into the formats of programs that count and compute.
"""

import html
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree as ET

from citeweave.explore.graphs.graph import Edge, Graph, Node
from citeweave.explore.graphs.text import clean

__all__ = [
    "counted_nodes",
    "drawn_edges",
    "node_name",
    "to_dot",
    "to_gexf",
    "to_graphml",
    "to_json",
    "to_vosviewer",
]

Positions = Mapping[str, tuple[float, float]]

GRAPHML = "http://graphml.graphdrawing.org/xmlns"
GEXF = "http://gexf.net/1.3"
GEXF_VIZ = "http://gexf.net/1.3/viz"

_POINTS_PER_INCH = 72.0
_DOT_SHAPES = {"box": "box", "ellipse": "ellipse", "dot": "circle", "label": "plaintext"}
_GEXF_SHAPES = {"box": "square", "ellipse": "disc", "dot": "disc"}


def to_json(graph: Graph, positions: Positions | None = None) -> str:
    """Write a graph as JSON: ``name``, ``title``, ``directed``, ``notes``, ``nodes``, ``edges``.

    Examples
    --------
    >>> to_json(Graph("paper-map", "", (), ()))[:21]
    '{"name": "paper-map",'
    """
    return json.dumps(graph.to_dict(positions), ensure_ascii=False)


def to_dot(graph: Graph, positions: Positions | None = None) -> str:
    """Write a graph in the DOT language of Graphviz.

    Parameters
    ----------
    graph : Graph
    positions : mapping from node ids to (x, y), optional
        With them, neato reproduces the layout; without them, any program of Graphviz makes its own.

    Returns
    -------
    str

    Examples
    --------
    >>> from citeweave.explore.graphs import Graph, Node, to_dot
    >>> to_dot(Graph("pair", "", (Node("word", 0, ("soil",)),), ())).splitlines()[0]
    'graph "pair" {'
    """
    link = "->" if graph.directed else "--"
    kind = "digraph" if graph.directed else "graph"
    lines = [
        f"{kind} {_quoted(graph.name)} {{",
        f"  graph [label={_quoted(graph.title)}, labelloc=t, overlap=false, inputscale=72];",
        '  node [fontname="Helvetica", style=filled, margin="0.08,0.04"];',
        '  edge [color="#8a8a8a"];',
    ]
    for node in graph.nodes:
        parts = {
            "label": "\\n".join(_inside(line) for line in node.label),
            "shape": _DOT_SHAPES[node.shape],
            "fillcolor": node.colour,
            "fontsize": f"{node.font_size:.1f}",
            "width": f"{node.width / _POINTS_PER_INCH:.3f}",
            "height": f"{node.height / _POINTS_PER_INCH:.3f}",
            "tooltip": _inside(node.title),
        }
        if positions is not None:
            x, y = positions[node.id]
            parts["pos"] = f"{x:.1f},{-y:.1f}!"  # Graphviz counts y upwards
        attributes = ", ".join(f'{name}="{value}"' for name, value in parts.items())
        lines.append(f"  {_quoted(node.id)} [{attributes}];")
    lines += [
        f"  {_quoted(edge.source)} {link} {_quoted(edge.target)} "
        f'[weight="{edge.weight:.6g}", penwidth="{edge.width:.2f}", '
        f'tooltip="{_inside(edge.title)}"];'
        for edge in graph.edges
    ]
    return "\n".join([*lines, "}", ""])


def _inside(text: str) -> str:
    r"""Escape a text for use between double quotes in DOT.

    A backslash is doubled, or ``\N`` and ``\n`` in a title would be commands of Graphviz; its
    entities (``&amp;``) are read inside labels too.
    """
    text = clean(text).replace("&", "&amp;")
    return re.sub(r'(["\\])', r"\\\1", text)


def _quoted(text: str) -> str:
    return f'"{_inside(text)}"'


def _attributes(node: Node, degree: int, strength: float) -> list[tuple[str, str, Any]]:
    """Name, type and value of what both XML formats say of a node."""
    rows: list[tuple[str, str, Any]] = [
        ("label", "string", node_name(node)),
        ("kind", "string", node.kind),
        ("key", "integer", node.key),
        ("title", "string", clean(node.title)),
        ("value", "double", node.value),
        ("links", "integer", degree),
        ("strength", "double", strength),
    ]
    if node.group is not None:
        rows.append(("group", "integer", node.group))
    return rows + [(name, "double", float(value)) for name, value in node.facts]


def to_graphml(graph: Graph, positions: Positions | None = None) -> str:
    """Write a graph as GraphML, for Gephi, yEd, Cytoscape, igraph and networkx.

    Parameters
    ----------
    graph : Graph
    positions : mapping from node ids to (x, y), optional
        Adds the attributes ``x`` and ``y``.

    Returns
    -------
    str

    Examples
    --------
    >>> import citeweave, networkx
    >>> from citeweave.explore.graphs import to_graphml, topic_flow
    >>> flow = networkx.parse_graphml(to_graphml(topic_flow(citeweave.example_model())))
    >>> sorted(flow.nodes)
    ['topic-0', 'topic-1', 'topic-2']
    """
    root = ET.Element("graphml", {"xmlns": GRAPHML})
    kinds = {"string": "string", "integer": "int", "double": "double"}
    names = [("label", "string"), ("kind", "string"), ("key", "integer"), ("title", "string")]
    names += [("value", "double"), ("links", "integer"), ("strength", "double")]
    names += [("group", "integer"), ("colour", "string"), ("size", "double")]
    names += [(name, "double") for name in _fact_names(graph)]
    names += [("x", "double"), ("y", "double")] if positions is not None else []
    for name, kind in names:
        attributes = {"id": f"n_{name}", "for": "node", "attr.name": name}
        ET.SubElement(root, "key", {**attributes, "attr.type": kinds[kind]})
    for name, kind in (("weight", "double"), ("title", "string"), ("count", "double")):
        attributes = {"id": f"e_{name}", "for": "edge", "attr.name": name}
        ET.SubElement(root, "key", {**attributes, "attr.type": kind})
    direction = "directed" if graph.directed else "undirected"
    body = ET.SubElement(root, "graph", {"id": graph.name, "edgedefault": direction})
    _describe(body, graph)
    for node, degree, strength in counted_nodes(graph):
        entry = ET.SubElement(body, "node", {"id": node.id})
        rows = [(name, value) for name, _, value in _attributes(node, degree, strength)]
        rows += [("colour", node.colour), ("size", node.width)]
        if positions is not None:
            rows += list(zip(("x", "y"), positions[node.id], strict=True))
        for name, value in rows:
            ET.SubElement(entry, "data", {"key": f"n_{name}"}).text = _number(value)
    for number, edge in enumerate(drawn_edges(graph)):
        ends = {"id": f"e{number}", "source": edge.source, "target": edge.target}
        entry = ET.SubElement(body, "edge", ends)
        ET.SubElement(entry, "data", {"key": "e_weight"}).text = _number(edge.weight)
        ET.SubElement(entry, "data", {"key": "e_title"}).text = clean(edge.title)
        if edge.count is not None:
            ET.SubElement(entry, "data", {"key": "e_count"}).text = _number(edge.count)
    return _document(root)


def _describe(parent: ET.Element, graph: Graph) -> None:
    ET.SubElement(parent, "desc").text = clean(" ".join((f"{graph.title}.", *graph.notes)))


def to_gexf(graph: Graph, positions: Positions | None = None) -> str:
    """Write a graph as GEXF 1.3, the format of Gephi, with colours, sizes and positions.

    Parameters
    ----------
    graph : Graph
    positions : mapping from node ids to (x, y), optional

    Returns
    -------
    str

    Examples
    --------
    >>> from citeweave.explore.graphs import Graph, Node, to_gexf
    >>> "soil" in to_gexf(Graph("pair", "", (Node("word", 0, ("soil",)),), ()))
    True
    """
    root = ET.Element("gexf", {"xmlns": GEXF, "xmlns:viz": GEXF_VIZ, "version": "1.3"})
    meta = ET.SubElement(root, "meta")
    ET.SubElement(meta, "creator").text = "citeweave"
    ET.SubElement(meta, "description").text = clean(" ".join((f"{graph.title}.", *graph.notes)))
    direction = "directed" if graph.directed else "undirected"
    body = ET.SubElement(root, "graph", {"defaultedgetype": direction, "mode": "static"})
    columns = ET.SubElement(body, "attributes", {"class": "node", "mode": "static"})
    fields = [("kind", "string"), ("key", "integer"), ("title", "string"), ("value", "double")]
    fields += [("links", "integer"), ("strength", "double"), ("group", "integer")]
    fields += [(name, "double") for name in _fact_names(graph)]
    for name, kind in fields:
        ET.SubElement(columns, "attribute", {"id": name, "title": name, "type": kind})
    columns = ET.SubElement(body, "attributes", {"class": "edge", "mode": "static"})
    for name, kind in (("title", "string"), ("count", "double")):
        ET.SubElement(columns, "attribute", {"id": name, "title": name, "type": kind})
    nodes = ET.SubElement(body, "nodes")
    for node, degree, strength in counted_nodes(graph):
        label, *rows = _attributes(node, degree, strength)
        entry = ET.SubElement(nodes, "node", {"id": node.id, "label": label[2]})
        values = ET.SubElement(entry, "attvalues")
        for name, _, value in rows:
            ET.SubElement(values, "attvalue", {"for": name, "value": _number(value)})
        red, green, blue = (str(int(node.colour[i : i + 2], 16)) for i in (1, 3, 5))
        ET.SubElement(entry, "viz:color", {"r": red, "g": green, "b": blue})
        if positions is not None:
            x, y = positions[node.id]
            # Gephi counts y upwards
            ET.SubElement(entry, "viz:position", {"x": f"{x:.2f}", "y": f"{-y:.2f}", "z": "0.0"})
        ET.SubElement(entry, "viz:size", {"value": f"{node.width:.2f}"})
        ET.SubElement(entry, "viz:shape", {"value": _GEXF_SHAPES[node.shape]})
    edges = ET.SubElement(body, "edges")
    for number, edge in enumerate(drawn_edges(graph)):
        ends = {"id": str(number), "source": edge.source, "target": edge.target}
        entry = ET.SubElement(edges, "edge", {**ends, "weight": _number(edge.weight)})
        values = ET.SubElement(entry, "attvalues")
        ET.SubElement(values, "attvalue", {"for": "title", "value": clean(edge.title)})
        if edge.count is not None:
            ET.SubElement(values, "attvalue", {"for": "count", "value": _number(edge.count)})
        ET.SubElement(entry, "viz:thickness", {"value": f"{edge.width:.2f}"})
    return _document(root)


def _number(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _document(root: ET.Element) -> str:
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def to_vosviewer(graph: Graph, positions: Positions) -> str:
    """Write a graph as JSON for VOSviewer and VOSviewer Online.

    Clusters are the groups to which nodes mainly belong, numbered from 1 in order of appearance.
    Positions are scaled to about -1 to 1, with y upwards, as in VOSviewer.

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
    >>> import json
    >>> from citeweave.explore.graphs import Edge, Graph, Node, to_vosviewer
    >>> nodes = (Node("author", 0, ("Ann Lee",)), Node("author", 1, ("Bo Chen",)))
    >>> graph = Graph("co-authors", "", nodes, (Edge("author-0", "author-1", 2.0),))
    >>> text = to_vosviewer(graph, {"author-0": (0.0, 0.0), "author-1": (50.0, 0.0)})
    >>> json.loads(text)["network"]["links"]
    [{'source_id': 1, 'target_id': 2, 'strength': 2.0}]
    """
    clusters = _clusters(graph.nodes)
    places = _scaled(graph, positions)
    items = []
    numbers = {}
    for number, (node, degree, strength) in enumerate(counted_nodes(graph), start=1):
        numbers[node.id] = number
        x, y = places[node.id]
        item: dict[str, Any] = {
            "id": number,
            "label": node_name(node),
            # shown as HTML there, and titles come from anywhere
            "description": html.escape(clean(node.title)),
            "x": round(x, 4),
            "y": round(y, 4),
            "weights": {
                "Links": degree,
                "Total link strength": round(strength, 6),
                "Size": round(node.value, 6),
            },
        }
        if node.group is not None:
            item["cluster"] = clusters[node.group]
        if node.facts:
            item["scores"] = {name: round(float(value), 6) for name, value in node.facts}
        items.append(item)
    links = [
        {
            "source_id": numbers[edge.source],
            "target_id": numbers[edge.target],
            # VOSviewer makes similarities of counts itself
            "strength": round(edge.weight if edge.count is None else edge.count, 6),
        }
        for edge in drawn_edges(graph)
        if edge.source != edge.target  # VOSviewer has no loops
    ]
    topics = {node.group: node.name for node in graph.nodes if node.kind == "topic"}
    names = topics | dict(graph.group_names)
    listed = [
        {"cluster": number, "label": clean(names[group])}
        for group, number in clusters.items()
        if group in names
    ]
    network = {"items": items, "links": links, "clusters": listed}
    painted = {node.group: node.colour for node in reversed(graph.nodes) if _has_topic_colour(node)}
    colours = [
        {"cluster": number, "color": painted[group]}
        for group, number in clusters.items()
        if group in painted
    ]
    schemes = {"color_schemes": {"cluster_colors": colours}}
    return json.dumps({"network": network, "config": schemes}, ensure_ascii=False)


def _has_topic_colour(node: Node) -> bool:
    """Whether a node is painted in the colour of its group; labels and white ellipses are not."""
    return node.group is not None and node.shape not in {"label", "ellipse"}


def _fact_names(graph: Graph) -> list[str]:
    return list(dict.fromkeys(name for node in graph.nodes for name, _ in node.facts))


def drawn_edges(graph: Graph) -> list[Edge]:
    """Edges between things; one between labels is a line of the picture alone."""
    return [edge for edge in graph.edges if graph.node(edge.source).shape != "label"]


def node_name(node: Node) -> str:
    """Call a node by its name; a dot that has neither name nor label by its title."""
    return clean(node.name if node.label or node.full_name else node.title or node.id)


def _clusters(nodes: Sequence[Node]) -> dict[int, int]:
    groups = dict.fromkeys(node.group for node in nodes if node.group is not None)
    return {group: number for number, group in enumerate(groups, start=1)}


def _scaled(graph: Graph, positions: Positions) -> dict[str, tuple[float, float]]:
    if not graph.nodes:
        return {}
    spots = [positions[node.id] for node in graph.nodes]
    middle = [(min(axis) + max(axis)) / 2 for axis in zip(*spots, strict=True)]
    half = max((max(axis) - min(axis)) / 2 for axis in zip(*spots, strict=True)) or 1.0
    return {
        node.id: ((x - middle[0]) / half, -(y - middle[1]) / half)
        for node, (x, y) in zip(graph.nodes, spots, strict=True)
    }


def counted_nodes(graph: Graph) -> list[tuple[Node, int, float]]:
    """Nodes other than plain labels, each with its number of links and their total weight."""
    rows = zip(graph.nodes, graph.degrees(), strict=True)
    return [(node, *counts) for node, counts in rows if node.shape != "label"]
