"""A graph to be drawn: nodes with shape and size, edges with a weight, and what was left out."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

from citeweave.errors import ParameterError

__all__ = ["SHAPES", "Edge", "Graph", "Node"]

SHAPES = ("box", "ellipse", "dot", "label")


@dataclass(frozen=True, slots=True)
class Node:
    """One node.

    Attributes
    ----------
    kind : str
        What it stands for: ``topic``, ``author``, ``paper``, ``word``, ...
    key : int
        Its number among those of its kind: topic k, author id, document d.
    label : tuple of str
        Lines of text inside the node, or below a dot; none for a node without text.
    title : str
        A sentence that tells all about it, shown when pointed at.
    value : float
        What its size or its colour stands for: share of a topic, influence of an author.
    shape : {"box", "ellipse", "dot", "label"}
        A label is text alone, which stands over what it names.
    width, height : float
        Size in points.
    font_size : float
        Of the label, in points.
    colour : str
        As ``#rrggbb``; that of its topic wherever there is one.
    tint : float
        Share of the colour in the fill, 0 to 1; the rest is the ground. The border is the colour.
    group : int, optional
        The topic or cluster it belongs to most.
    heading : int
        How many of the first lines of the label are its heading.
    position : (float, float), optional
        Where it stands, x to the right and y downwards, if its graph brings its own layout.
    full_name : str
        What it is called, where its label has no room for that.
    above : bool
        Whether the label of a dot stands above it, not below.
    facts : tuple of (str, float)
        Further numbers by name, for programs: ``year``, ``citations``, ...
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
        """Name of the node, such as ``topic-3``: unique in its graph, and fit for any format."""
        return f"{self.kind}-{self.key}"

    @property
    def name(self) -> str:
        """What it is called, in one line: its name, the heading of its label, or its id."""
        return self.full_name or " ".join(self.label[: self.heading] or self.label) or self.id

    @property
    def text(self) -> str:
        """The label in one line."""
        return " ".join(self.label)


@dataclass(frozen=True, slots=True)
class Edge:
    """A link from one node to another by their ids, as heavy as `weight`, `width` points wide.

    `count` is what the weight was made of, where the two differ.
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
    """Nodes and edges, ready for a layout and for the writers.

    Attributes
    ----------
    name : str
        What kind of graph it is: ``author-topics``, ``topic-flow``, ``co-citation``, ...
    title : str
        Its heading.
    nodes : tuple of Node
    edges : tuple of Edge
        One between two labels is a line of the picture, such as an axis.
    directed : bool
    notes : tuple of str
        What was chosen or left out to keep it legible, in sentences.
    spacing : float
        How much room a layout leaves between nodes, in parts of what is usual.
    legend : tuple of (str, str)
        Colours that have a meaning, with what they stand for.
    listed : tuple of (str, str)
        Lines that are written below the picture, each after a mark of a colour.
    group_names : tuple of (int, str)
        Names of groups of nodes, where these are no topics.

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
                        f"An edge of the graph {self.name!r} ends at {end!r}, which is no node."
                    )

    @cached_property
    def _index(self) -> dict[str, int]:
        return {node.id: place for place, node in enumerate(self.nodes)}

    def index(self, node_id: str) -> int:
        """Return the place of a node in `nodes`."""
        try:
            return self._index[node_id]
        except KeyError:
            raise ParameterError(
                f"The graph {self.name!r} has no node {node_id!r}; ids are like 'topic-3'."
            ) from None

    def node(self, node_id: str) -> Node:
        """Return a node by its id."""
        return self.nodes[self.index(node_id)]

    def degrees(self) -> list[tuple[int, float]]:
        """Count the edges at each node, and sum their weights."""
        number = [0] * len(self.nodes)
        total = [0.0] * len(self.nodes)
        for edge in self.edges:
            for end in {edge.source, edge.target}:
                place = self._index[end]
                number[place] += 1
                total[place] += edge.weight
        return list(zip(number, total, strict=True))

    def placed(self, positions: Mapping[str, tuple[float, float]]) -> Self:
        """Return the graph with the positions of its nodes fixed."""
        nodes = tuple(replace(node, position=positions[node.id]) for node in self.nodes)
        return replace(self, nodes=nodes)

    def to_dict(self, positions: Mapping[str, tuple[float, float]] | None = None) -> dict[str, Any]:
        """Describe the graph by plain values, with the positions of its nodes if there are any."""
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
        """Show the sizes."""
        nodes, edges = len(self.nodes), len(self.edges)
        return (
            f"Graph({self.name!r}, {nodes:,} node{'s' * (nodes != 1)}, "
            f"{edges:,} edge{'s' * (edges != 1)})"
        )

    def _repr_svg_(self) -> str | None:
        """Draw itself in a notebook, unless it is too large for one."""
        if len(self.nodes) > 5000:
            return None
        from citeweave.explore.graphs.layout import layout  # noqa: PLC0415 (imports this file)
        from citeweave.explore.graphs.svg import to_svg  # noqa: PLC0415

        return to_svg(self, layout(self), standalone=True)
