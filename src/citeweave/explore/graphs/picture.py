"""A graph as a picture: shapes, lines and words with positions and colours, in no file format.

SVG, PNG, PDF and the pages are all drawn from it, so that they show the same.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from citeweave.explore.colours import mix, readable_on
from citeweave.explore.graphs.geometry import LINE, arrow, bounds, curve
from citeweave.explore.graphs.graph import Edge, Graph, Node
from citeweave.explore.graphs.text import clean, text_width

__all__ = ["GROUND", "HEADING", "Entry", "Line", "NodeShape", "Picture", "Words", "compose"]

Point = tuple[float, float]
Positions = Mapping[str, Point]

GROUND = "#ffffff"
MARGIN = 12.0
HEADING = 24.0
"""Space above the picture for its title, in a file of its own."""

OUTLINE = "#6f6f6f"


@dataclass(frozen=True, slots=True)
class Words:
    """A line of text, centred at x, with its baseline at y."""

    text: str
    x: float
    y: float
    bold: bool


@dataclass(frozen=True, slots=True)
class NodeShape:
    """A node at its position.

    Attributes
    ----------
    node : Node
    x, y : float
        Its centre.
    fill, border, ink : str
        Colours on a white background; the fill is the node's colour at the strength of its tint.
    words : tuple of Words
    bare : bool
        Whether its words are drawn on the background, where they need a halo.
    """

    node: Node
    x: float
    y: float
    fill: str
    border: str
    ink: str
    words: tuple[Words, ...]
    bare: bool

    @property
    def title(self) -> str:
        """Description shown when the pointer rests on it."""
        return clean(self.node.title or self.node.text)


@dataclass(frozen=True, slots=True)
class Line:
    """An edge: a straight line of two points, or a curve of three and the corners of its head."""

    edge: Edge
    points: tuple[Point, ...]
    head: tuple[Point, ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the list below a picture; x and y are the start of its baseline."""

    text: str
    colour: str
    x: float
    y: float
    size: float

    @property
    def dot(self) -> tuple[float, float, float]:
        """Centre and radius of the mark before it."""
        return self.x + 0.4 * self.size, self.y - 0.35 * self.size, 0.4 * self.size

    @property
    def begin(self) -> float:
        """Start of its text."""
        return self.x + 1.2 * self.size


@dataclass(frozen=True)
class Picture:
    """Everything that is drawn, from back to front.

    Attributes
    ----------
    title, notes : str
    box : (left, top, width, height)
        The visible area, with a margin but without the space for a heading.
    lines : tuple of Line
    shapes : tuple of NodeShape
        Dots first, then shapes with words, so that no dot hides a label.
    entries : tuple of Entry
        The list below the picture.
    """

    title: str
    notes: str
    box: tuple[float, float, float, float]
    lines: tuple[Line, ...]
    shapes: tuple[NodeShape, ...]
    entries: tuple[Entry, ...] = ()


def compose(graph: Graph, positions: Positions) -> Picture:
    """Lay out all shapes, lines and words of a graph at given positions.

    Parameters
    ----------
    graph : Graph
    positions : mapping from node ids to (x, y)
        As returned by `layout`.
    """
    left, top, right, bottom = bounds(graph, positions)
    ordered = sorted(graph.nodes, key=lambda node: bool(node.label))
    entries, right, end = _entries(graph, left, right, bottom)
    return Picture(
        title=clean(graph.title),
        notes=clean(" ".join(graph.notes)),
        box=(left - MARGIN, top - MARGIN, right - left + 2 * MARGIN, end - top + 2 * MARGIN),
        lines=tuple(_line(graph, edge, positions) for edge in graph.edges),
        shapes=tuple(_shape(node, positions[node.id]) for node in ordered),
        entries=entries,
    )


def _entries(
    graph: Graph, left: float, right: float, bottom: float
) -> tuple[tuple[Entry, ...], float, float]:
    """Arrange the list in columns below a picture; also return its right and lower ends."""
    if not graph.listed:
        return (), right, bottom
    size = max(node.font_size for node in graph.nodes if node.label)
    widest = max(text_width(text, size) for _, text in graph.listed) + 2.2 * size
    columns = max(1, min(int((right - left) // widest), len(graph.listed)))
    rows = -(-len(graph.listed) // columns)
    step, first = size * LINE, bottom + 2.5 * size
    entries = []
    for number, (colour, text) in enumerate(graph.listed):
        column, row = divmod(number, rows)
        x = left + column * max(widest, (right - left) / columns)
        entries.append(Entry(clean(text), colour, x, first + row * step, size))
    return tuple(entries), max(right, left + widest), first + rows * step - 0.5 * size


def _line(graph: Graph, edge: Edge, positions: Positions) -> Line:
    begin, end = positions[edge.source], positions[edge.target]
    source = graph.node(edge.source)
    if not graph.directed or source.shape == "label":
        return Line(edge, (begin, end))
    path = curve(begin, end, source, graph.node(edge.target), edge.width)
    *corners, shaft = arrow(path, edge.width)
    return Line(edge, (path[0], path[1], shaft), tuple(corners))


def _shape(node: Node, place: Point) -> NodeShape:
    x, y = place
    fill = mix(GROUND, node.colour, node.tint)
    bare = node.shape in {"dot", "label"}
    if node.shape == "dot":
        border = GROUND
    else:
        border = OUTLINE if node.colour == GROUND else mix(node.colour, "#000000", 0.15)
    step = node.font_size * LINE
    # the middle of lower-case letters is about 0.35 em above the baseline
    first = y - step * (len(node.label) - 1) / 2 + 0.35 * node.font_size
    if node.shape == "dot" and node.above:
        first = y - node.height / 2 - step * (len(node.label) - 1) - 0.3 * node.font_size
    elif node.shape == "dot":
        first = y + node.height / 2 + 0.95 * node.font_size
    words = tuple(
        Words(clean(text), x, first + number * step, number < node.heading)
        for number, text in enumerate(node.label)
    )
    ink = "#000000" if bare else readable_on(fill)
    return NodeShape(node, x, y, fill, border, ink, words, bare)
