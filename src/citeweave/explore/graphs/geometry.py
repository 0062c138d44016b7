"""Ends of edges at the borders of nodes, and curves that separate opposite directions."""

import math
from collections.abc import Mapping

from citeweave.explore.graphs.graph import Graph, Node
from citeweave.explore.graphs.text import text_width

__all__ = ["LINE", "arrow", "border_point", "bounds", "curve", "extent"]

Point = tuple[float, float]

LINE = 1.25
"""Distance between lines of text, in font sizes."""

BEND = 0.14
"""Deviation of the middle of a directed edge from a straight line, relative to its length."""


def extent(node: Node) -> tuple[float, float, float]:
    """Return half of a node's width, and its extent above and below its centre with its label."""
    wide, above, below = node.width / 2, node.height / 2, node.height / 2
    if node.shape == "dot" and node.label:
        bold = node.heading > 0
        widths = (text_width(line, node.font_size, bold=bold) for line in node.label)
        wide = max(wide, max(widths) / 2)
        room = LINE * node.font_size * len(node.label)
        above, below = (above + room, below) if node.above else (above, below + room)
    return wide, above, below


def bounds(graph: Graph, positions: Mapping[str, Point]) -> tuple[float, float, float, float]:
    """Return left, top, right and bottom of all nodes; a unit square if there are none."""
    if not graph.nodes:
        return 0.0, 0.0, 1.0, 1.0
    spots = [(*positions[node.id], *extent(node)) for node in graph.nodes]
    return (
        min(x - wide for x, _, wide, _, _ in spots),
        min(y - above for _, y, _, above, _ in spots),
        max(x + wide for x, _, wide, _, _ in spots),
        max(y + below for _, y, _, _, below in spots),
    )


def border_point(node: Node, centre: Point, towards: Point, gap: float = 0.0) -> Point:
    """Return the point where a line from the centre of a node leaves it, `gap` further out."""
    dx, dy = towards[0] - centre[0], towards[1] - centre[1]
    length = math.hypot(dx, dy)
    if length == 0.0:
        return centre
    dx, dy = dx / length, dy / length
    half_w, half_h = node.width / 2, node.height / 2
    if node.shape == "box":
        reach = min(
            half_w / abs(dx) if dx else math.inf,
            half_h / abs(dy) if dy else math.inf,
        )
    else:
        reach = 1.0 / math.hypot(dx / half_w, dy / half_h)
    reach = min(reach + gap, length)
    return centre[0] + dx * reach, centre[1] + dy * reach


def curve(
    begin: Point, end: Point, source: Node, target: Node, width: float
) -> tuple[Point, Point, Point]:
    """Return the start, control point and end of a quadratic curve from border to border."""
    dx, dy = end[0] - begin[0], end[1] - begin[1]
    # to the left of the direction, so that opposite directions are two curves
    handle = (
        (begin[0] + end[0]) / 2 + BEND * dy * 2,
        (begin[1] + end[1]) / 2 - BEND * dx * 2,
    )
    return (
        border_point(source, begin, handle),
        handle,
        border_point(target, end, handle, gap=1.0 + width * 0.2),
    )


def arrow(path: tuple[Point, Point, Point], width: float) -> tuple[Point, Point, Point, Point]:
    """Return the corners of the arrowhead of a curve, and the point where its shaft ends."""
    _, (hx, hy), (x, y) = path
    length = math.hypot(x - hx, y - hy) or 1.0
    dx, dy = (x - hx) / length, (y - hy) / length
    long, half = 5.0 + 1.5 * width, 2.5 + 0.9 * width
    back = (x - dx * long, y - dy * long)
    left = (back[0] - dy * half, back[1] + dx * half)
    right = (back[0] + dy * half, back[1] - dx * half)
    return (x, y), left, right, (x - dx * long * 0.7, y - dy * long * 0.7)
