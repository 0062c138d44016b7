"""The thematic map of a fitted model: topics by centrality and density, in four quadrants."""

from typing import Any, NamedTuple

import numpy as np

from citeweave.errors import ParameterError
from citeweave.explore.graphs.facts import PictureFacts, facts_of
from citeweave.explore.graphs.geometry import LINE
from citeweave.explore.graphs.graph import Edge, Graph, Node
from citeweave.explore.graphs.stress import remove_overlaps
from citeweave.explore.graphs.text import clean, text_width
from citeweave.naming import option
from citeweave.networks.thematic import QUADRANTS, Themes, themes_of
from citeweave.wording import percent

__all__ = ["thematic_map"]

WIDE, HIGH = 760.0, 520.0
"""Size of a map of twenty topics, in points."""

DOTS = (12.0, 52.0)
LETTERS = 8.5
AXIS = "#9a9a9a"
LINKS = 2
_MEANING = {
    "motor": ("Motor themes", "central and well developed"),
    "niche": ("Niche themes", "well developed, marginal"),
    "emerging or declining": ("Emerging or declining themes", "little developed, marginal"),
    "basic": ("Basic themes", "central, little developed"),
}


class _Room(NamedTuple):
    """Size of the map, and positions of the lines between its quadrants."""

    wide: float
    high: float
    x: float
    y: float


def thematic_map(view: Any, *, topics: int | None = None, words: int = 30) -> Graph:
    """Build the thematic map of a model: topics by Callon's centrality and density.

    Parameters
    ----------
    view : Exploration, SCNTM or path of a run
    topics : int, optional
        Number of topics, the largest ones; by default all in use.
    words : int
        Maximum number of words per theme; see `citeweave.networks.themes_of`.

    Returns
    -------
    Graph
        Topics with ``centrality``, ``density`` and ``quadrant`` (1 motor, 2 niche, 3 emerging or
        declining, 4 basic) among their facts. Topics are placed by rank, with lines at the medians;
        edges join each topic to the two topics with which its words co-occur most.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.explore.graphs import thematic_map
    >>> graph = thematic_map(citeweave.example_model())
    >>> [name for name, value in graph.nodes[0].facts]
    ['centrality', 'density', 'quadrant']
    """
    if topics is not None and topics < 1:
        raise ParameterError(f"{option('topics')} must be at least 1. Got {topics} instead.")
    facts = facts_of(view)
    chosen = facts.topics[:topics]
    found = themes_of(facts.corpus, facts.view.topic_word, np.array(chosen), words=words)
    room = _room(found)
    nodes = _topic_nodes(facts, found, room)
    note = "Topics are placed by rank of centrality (to the right) and of density (upwards)."
    return Graph(
        name="thematic-map",
        title="Topics by centrality and density",
        nodes=(*nodes, *_frame(room)),
        edges=(*_axes(), *_edges(facts, found)),
        notes=(note, "The lines between the quadrants are the medians."),
        legend=tuple((node.colour, node.full_name) for node in nodes),
    )


def _room(found: Themes) -> _Room:
    number = len(found.topics)
    scale = float(np.sqrt(max(number, 8) / 20.0))
    low_x, low_y = (
        int((values < middle).sum()) / number
        for values, middle in zip((found.centrality, found.density), found.middle, strict=True)
    )
    wide, high = WIDE * scale, HIGH * scale
    return _Room(wide, high, low_x * wide, (1.0 - low_y) * high)


def _steps(values: np.ndarray) -> np.ndarray:
    """Ranks of values, from 0 to 1."""
    steps = np.empty(len(values))
    steps[np.argsort(values, kind="stable")] = (np.arange(len(values)) + 0.5) / len(values)
    return steps


def _topic_nodes(facts: PictureFacts, found: Themes, room: _Room) -> list[Node]:
    numbers = found.topics.tolist()
    share = facts.share[found.topics]
    dots = DOTS[0] + (DOTS[1] - DOTS[0]) * np.sqrt(share / share.max())
    labels = [_label(clean(facts.name(k))) for k in numbers]
    places = _places(found, room, dots, labels)
    order = list(QUADRANTS)
    nodes = []
    for i, (k, quadrant) in enumerate(zip(numbers, found.quadrant, strict=True)):
        centrality, density = float(found.centrality[i]), float(found.density[i])
        about = f"centrality {centrality:.2f}, density {density:.2f}"
        size = f"{percent(float(share[i]))} of the literature"
        words = ", ".join(facts.words(k, 6))
        nodes.append(
            Node(
                kind="topic",
                key=k,
                label=labels[i],
                title=f"Topic {k}: {words} · {_MEANING[quadrant][0]} · {about} · {size}",
                value=float(share[i]),
                shape="dot",
                width=float(dots[i]),
                height=float(dots[i]),
                font_size=LETTERS,
                colour=facts.colours[k],
                group=k,
                position=(float(places[i, 0]), float(places[i, 1])),
                full_name=clean(facts.name(k)),
                facts=(
                    ("centrality", centrality),
                    ("density", density),
                    ("quadrant", order.index(quadrant) + 1.0),
                ),
            )
        )
    return nodes


def _label(name: str) -> tuple[str, ...]:
    """Return the first two phrases of a name, one per line."""
    *first, last = name.split(", ")[:2]
    return (*(f"{part}," for part in first), last)


def _places(
    found: Themes, room: _Room, dots: np.ndarray, labels: list[tuple[str, ...]]
) -> np.ndarray:
    """Place topics by rank, without overlaps, each in its quadrant, shape (n, 2)."""
    across, up = _steps(found.centrality), _steps(found.density)
    ideal = np.column_stack((across * room.wide, (1.0 - up) * room.high))
    texts = [max(text_width(line, LETTERS) for line in label) for label in labels]
    below = np.array([LINE * LETTERS * len(label) for label in labels])
    sizes = np.column_stack((np.maximum(dots, texts), dots + below))
    boxes = ideal + np.column_stack((np.zeros(len(below)), below / 2))
    places = remove_overlaps(boxes, sizes, margin=2.0)
    places[:, 1] -= below / 2
    middle = np.array([room.x, room.y])
    side = np.sign(ideal - middle)
    return np.asarray(middle + side * np.maximum((places - middle) * side, 4.0))


def _text(key: int, lines: tuple[str, ...], x: float, y: float, size: float) -> Node:
    wide = max((text_width(line, size, bold=True) for line in lines), default=0.0)
    return Node(
        kind="rule",
        key=key,
        label=lines,
        title=" ".join(lines),
        shape="label",
        width=wide,
        height=LINE * size * len(lines),
        font_size=size,
        heading=1,
        position=(x, y),
    )


def _frame(room: _Room) -> list[Node]:
    """Create the ends of the axes, and the names of axes and quadrants."""
    left, right, top, bottom = -60.0, room.wide + 60.0, -70.0, room.high + 80.0
    ends = [(left, room.y), (right, room.y), (room.x, top), (room.x, bottom)]
    marks = [_text(number, (), x, y, 1.0) for number, (x, y) in enumerate(ends)]
    corners = {
        "motor": ((room.x + right) / 2, top + 14.0),
        "niche": ((left + room.x) / 2, top + 14.0),
        "emerging or declining": ((left + room.x) / 2, bottom - 10.0),
        "basic": ((room.x + right) / 2, bottom - 10.0),
    }
    marks += [
        _text(4 + number, _MEANING[name], *place, 10.0)
        for number, (name, place) in enumerate(corners.items())
    ]
    marks.append(_text(8, ("centrality →",), right - 34.0, room.y + 9.0, 9.0))
    marks.append(_text(9, ("density ↑",), room.x + 30.0, top + 7.0, 9.0))
    return marks


def _axes() -> list[Edge]:
    return [
        Edge("rule-0", "rule-1", 0.0, width=0.8, colour=AXIS),
        Edge("rule-2", "rule-3", 0.0, width=0.8, colour=AXIS),
    ]


def _edges(facts: PictureFacts, found: Themes) -> list[Edge]:
    """Join each topic to the two topics with which its words co-occur most."""
    pairs = set()
    for place, row in enumerate(found.links):
        for other in np.argsort(-row, kind="stable")[:LINKS].tolist():
            if row[other] > 0:
                pairs.add((min(place, other), max(place, other)))
    heaviest = max((float(found.links[pair]) for pair in pairs), default=1.0)
    numbers = found.topics.tolist()
    edges = []
    for a, b in sorted(pairs):
        strength = float(found.links[a, b])
        one, other = (clean(facts.name(numbers[place])) for place in (a, b))
        edges.append(
            Edge(
                source=f"topic-{numbers[a]}",
                target=f"topic-{numbers[b]}",
                weight=strength,
                width=0.3 + 1.7 * strength / heaviest,
                title=f"{one} – {other}: {strength:.2f}",
                colour="#dcdcdc",
            )
        )
    return edges
