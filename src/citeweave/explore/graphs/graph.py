"""A graph to draw: nodes with shapes and sizes, weighted edges, and notes on omissions."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

from citeweave.errors import ParameterError

__all__ = ["SHAPES", "Edge", "Graph", "Node"]

SHAPES = ("box", "ellipse", "dot", "label")


@dataclass(frozen=True, slots=True)
class Node:
    """One node of a graph.

    Attributes
    ----------
    kind : str
        What the node represents: ``topic``, ``author``, ``paper``, ``word``, ...
    key : int
        Its number among nodes of its kind: topic k, author id, document d.
    label : tuple of str
        Lines of text inside the node, or below a dot; empty for a node without text.
    title : str
        A full description, shown when the pointer rests on the node.
    value : float
        The quantity that its size or colour shows: share of a topic, influence of an author.
    shape : {"box", "ellipse", "dot", "label"}
        A label is text without a shape.
    width, height : float
        Size in points.
    font_size : float
        Font size of the label, in points.
    colour : str
        Colour as ``#rrggbb``; that of its topic, if it has one.
    tint : float
        Share of the colour in the fill, 0 to 1; the rest is the background. The border has the full
        colour.
    group : int, optional
        The topic or cluster to which it mainly belongs.
    heading : int
        Number of lines at the start of the label that form its heading.
    position : (float, float), optional
        Its position, x to the right and y downwards, if the graph has its own layout.
    full_name : str
        Its full name, if it does not fit into the label.
    above : bool
        Whether the label of a dot is above it instead of below.
    facts : tuple of (str, float)
        Further numbers by name, for other programs: ``year``, ``citations``, ...

    Examples
    --------
    >>> from citeweave.explore.graphs import Node
    >>> node = Node("topic", 3, ("soil", "crop yield"), value=0.2)
    >>> node.id, node.text
    ('topic-3', 'soil crop yield')
    """

    kind: str
    key: int
    label: tuple[str, ...] = ()
    title: str = ""
    value: float = 0.0
    shape: str = "box"
    width: float = 8.0
    height: float = 8.0
    font_size: float = 10.0
    colour: str = "#ffffff"
    tint: float = 1.0
    group: int | None = None
    heading: int = 0
    position: tuple[float, float] | None = None
    full_name: str = ""
    above: bool = False
    facts: tuple[tuple[str, float], ...] = ()

    @property
    def id(self) -> str:
        """Id of the node, such as ``topic-3``: unique in its graph and valid in every format."""
        return f"{self.kind}-{self.key}"

    @property
    def name(self) -> str:
        """Name of the node in one line: its full name, the heading of its label, or its id."""
        return self.full_name or " ".join(self.label[: self.heading] or self.label) or self.id

    @property
    def text(self) -> str:
        """The label in one line."""
        return " ".join(self.label)


@dataclass(frozen=True, slots=True)
class Edge:
    """A link between two nodes.

    Attributes
    ----------
    source, target : str
        Ids of the two nodes.
    weight : float
    width : float
        Width of the line, in points.
    title : str
        A full description, shown when the pointer rests on the line.
    colour : str
        As ``#rrggbb``.
    count : float, optional
        The count behind the weight, if they differ.

    Examples
    --------
    >>> from citeweave.explore.graphs import Edge
    >>> Edge("author-4", "topic-0", 0.8, width=2.0).target
    'topic-0'
    """

    source: str
    target: str
    weight: float
    width: float = 1.0
    title: str = ""
    colour: str = "#8a8a8a"
    count: float | None = None


@dataclass(frozen=True)
class Graph:
    """Nodes and edges, ready to be laid out and written.

    Attributes
    ----------
    name : str
        Kind of graph: ``author-topics``, ``topic-flow``, ``co-citation``, ...
    title : str
        Its heading.
    nodes : tuple of Node
    edges : tuple of Edge
        An edge between two labels is a line of the picture, such as an axis.
    directed : bool
    notes : tuple of str
        Notes on what was selected or left out to keep the picture legible.
    spacing : float
        How much space a layout leaves between nodes, relative to the default.
    legend : tuple of (str, str)
        Colours and their meanings.
    listed : tuple of (str, str)
        Lines written below the picture, each after a mark of the given colour.
    group_names : tuple of (int, str)
        Names of groups of nodes that are not topics.

    Examples
    --------
    >>> pair = (Node("topic", 0, ("soil",)), Node("author", 4, ("Ann Lee",), shape="ellipse"))
    >>> graph = Graph("author-topics", "A picture", pair, (Edge("author-4", "topic-0", 0.8),))
    >>> graph
    Graph('author-topics', 2 nodes, 1 edge)
    >>> graph.node("author-4").text
    'Ann Lee'
    """

    name: str
    title: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    directed: bool = False
    notes: tuple[str, ...] = ()
    spacing: float = 1.0
    legend: tuple[tuple[str, str], ...] = field(default=())
    listed: tuple[tuple[str, str], ...] = field(default=())
    group_names: tuple[tuple[int, str], ...] = field(default=())

    def __post_init__(self) -> None:
        """Check that ids are unique and that edges end at nodes."""
        if len(self._index) != len(self.nodes):
            twice = next(n.id for i, n in enumerate(self.nodes) if self._index[n.id] != i)
            raise ParameterError(f"Two nodes of the graph {self.name!r} have the id {twice!r}.")
        for node in self.nodes:
            if node.shape not in SHAPES:
                raise ParameterError(
                    f"The shape of node {node.id!r} must be one of {', '.join(SHAPES)}. "
                    f"Got {node.shape!r} instead."
                )
        for edge in self.edges:
            for end in (edge.source, edge.target):
                if end not in self._index:
                    raise ParameterError(
                        f"An edge of the graph {self.name!r} ends at {end!r}, which is not a node."
                    )

    @cached_property
    def _index(self) -> dict[str, int]:
        return {node.id: place for place, node in enumerate(self.nodes)}

    def index(self, node_id: str) -> int:
        """Return the index of a node in `nodes`.

        Examples
        --------
        >>> from citeweave.explore.graphs import Graph, Node
        >>> Graph("pair", "", (Node("word", 0), Node("word", 1)), ()).index("word-1")
        1
        """
        try:
            return self._index[node_id]
        except KeyError:
            raise ParameterError(
                f"The graph {self.name!r} has no node {node_id!r}; ids are like 'topic-3'."
            ) from None

    def node(self, node_id: str) -> Node:
        """Return a node by its id.

        Examples
        --------
        >>> from citeweave.explore.graphs import Graph, Node
        >>> Graph("pair", "", (Node("word", 0), Node("word", 1)), ()).node("word-1").key
        1
        """
        return self.nodes[self.index(node_id)]

    def degrees(self) -> list[tuple[int, float]]:
        """Count the edges at each node, and sum their weights.

        Examples
        --------
        >>> from citeweave.explore.graphs import Edge, Graph, Node
        >>> nodes = (Node("word", 0), Node("word", 1))
        >>> Graph("pair", "", nodes, (Edge("word-0", "word-1", 2.0),)).degrees()
        [(1, 2.0), (1, 2.0)]
        """
        number = [0] * len(self.nodes)
        total = [0.0] * len(self.nodes)
        for edge in self.edges:
            for end in {edge.source, edge.target}:
                place = self._index[end]
                number[place] += 1
                total[place] += edge.weight
        return list(zip(number, total, strict=True))

    def placed(self, positions: Mapping[str, tuple[float, float]]) -> Self:
        """Return the graph with the positions of its nodes fixed.

        Examples
        --------
        >>> from citeweave.explore.graphs import Graph, Node
        >>> graph = Graph("one", "", (Node("word", 0),), ())
        >>> graph.placed({"word-0": (1.0, 2.0)}).nodes[0].position
        (1.0, 2.0)
        """
        nodes = tuple(replace(node, position=positions[node.id]) for node in self.nodes)
        return replace(self, nodes=nodes)

    def to_dict(self, positions: Mapping[str, tuple[float, float]] | None = None) -> dict[str, Any]:
        """Describe the graph by plain values, with the positions of its nodes if they are known.

        Examples
        --------
        >>> from citeweave.explore.graphs import Graph, Node
        >>> Graph("one", "", (Node("word", 0),), ()).to_dict()["nodes"][0]["id"]
        'word-0'
        """
        nodes = []
        for node in self.nodes:
            entry: dict[str, Any] = {
                "id": node.id,
                "kind": node.kind,
                "key": node.key,
                "label": list(node.label),
                "title": node.title,
                "value": node.value,
                "shape": node.shape,
                "width": round(node.width, 2),
                "height": round(node.height, 2),
                "colour": node.colour,
                "group": node.group,
                **dict(node.facts),
            }
            place = node.position if positions is None else positions[node.id]
            if place is not None:
                entry["x"], entry["y"] = round(place[0], 2), round(place[1], 2)
            nodes.append(entry)
        edges = [
            {
                "source": edge.source,
                "target": edge.target,
                "weight": edge.weight,
                "width": round(edge.width, 2),
                "title": edge.title,
                **({} if edge.count is None else {"count": edge.count}),
            }
            for edge in self.edges
        ]
        return {
            "name": self.name,
            "title": self.title,
            "directed": self.directed,
            "notes": list(self.notes),
            "legend": [{"colour": colour, "text": text} for colour, text in self.legend],
            "nodes": nodes,
            "edges": edges,
        }

    def __repr__(self) -> str:
        """Return a short description."""
        nodes, edges = len(self.nodes), len(self.edges)
        return (
            f"Graph({self.name!r}, {nodes:,} node{'s' * (nodes != 1)}, "
            f"{edges:,} edge{'s' * (edges != 1)})"
        )

    def _repr_svg_(self) -> str | None:
        """Return the picture for a notebook, unless it is too large."""
        if len(self.nodes) > 5000:
            return None
        from citeweave.explore.graphs.layout import layout  # noqa: PLC0415 (imports this file)
        from citeweave.explore.graphs.svg import to_svg  # noqa: PLC0415

        return to_svg(self, layout(self), standalone=True)
