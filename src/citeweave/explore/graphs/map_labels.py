"""Names of islands on the map of papers: none overlap, and all are on their island.

First every island gets its number; then, from the largest, one phrase of its name where that covers
no other label, and a second and a third where there is still room. What keeps its number is listed
below the map. The explorer's map names its islands in the same way at every zoom (``map.js``).
"""

import math
from typing import NamedTuple

from citeweave.explore.graphs.text import text_width

__all__ = ["Island", "Label", "letter_size", "place_labels"]

LINES = 64
"""Number of lines of text in the height of a square map."""

SMALLEST = 7.0
"""Font size of a small map, in points."""

LEADING = 1.25
MOST_PHRASES = 3
STEPS = 400
_SHIFTS = (0.0, -0.5, 0.5, -0.9, 0.9)


class Island(NamedTuple):
    """A topic and its position on the map."""

    topic: int
    name: str
    x: float
    y: float
    radius: float


class Label(NamedTuple):
    """The text on an island, with its centre, and its size including a margin."""

    topic: int
    lines: tuple[str, ...]
    font_size: float
    x: float
    y: float
    width: float
    height: float
    numbered: bool

    def covers(self, other: "Label") -> bool:
        """Return whether it overlaps another label."""
        return (
            abs(self.x - other.x) < (self.width + other.width) / 2
            and abs(self.y - other.y) < (self.height + other.height) / 2
        )


def letter_size(span: float) -> float:
    """Return the font size for a map that is `span` points wide or high."""
    return max(span / LINES, SMALLEST)


def place_labels(islands: list[Island], *, span: float) -> list[Label]:
    """Label islands so that no label covers another.

    Parameters
    ----------
    islands : list of Island
    span : float
        Width or height of the map, the larger one.

    Returns
    -------
    list of Label
        One for each island, in their order.
    """
    size = letter_size(span)
    widest = max(span / 5, 14 * size)
    order = sorted(islands, key=lambda island: (-island.radius, island.topic))
    placed: dict[int, Label] = {}
    for island in order:
        placed[island.topic] = _numbered(island, 0.92 * size, list(placed.values()))
    for most in range(1, MOST_PHRASES + 1):
        for island in order:
            present = placed[island.topic]
            if len(present.lines) < most - 1 or (most > 1 and present.numbered):
                continue
            others = [label for topic, label in placed.items() if topic != island.topic]
            for shift in _SHIFTS:
                longer = _named(island, most, size, shift)
                if longer is None or longer.width > widest:
                    break
                if most > 1 and longer.height > 2.4 * island.radius:
                    break  # small islands are named shortly
                if not any(longer.covers(other) for other in others):
                    placed[island.topic] = longer
                    break
    return [placed[island.topic] for island in islands]


def _numbered(island: Island, size: float, others: list[Label]) -> Label:
    """Place the number of an island; if it overlaps another, it moves outwards in a spiral."""
    label = _label(island, (str(island.topic),), size, island.y, numbered=True)
    step = 0
    while any(label.covers(other) for other in others) and step < STEPS:
        step += 1
        away, turn = 0.05 * size * step, 2.4 * step
        label = label._replace(
            x=island.x + away * math.cos(turn), y=island.y + away * math.sin(turn)
        )
    return label


def _named(island: Island, most: int, size: float, shift: float) -> Label | None:
    """Write the first phrases of a name, moved up or down by parts of the radius."""
    phrases = island.name.split(", ")[:most]
    if len(phrases) < most:
        return None
    lines = (*(f"{phrase}," for phrase in phrases[:-1]), phrases[-1])
    y = island.y + shift * max(island.radius, size)
    return _label(island, lines, size, y, numbered=False)


def _label(
    island: Island, lines: tuple[str, ...], size: float, y: float, *, numbered: bool
) -> Label:
    width = max(text_width(line, size, bold=True) for line in lines) + 0.5 * size
    height = len(lines) * size * LEADING
    return Label(island.topic, lines, size, island.x, y, width, height, numbered)
