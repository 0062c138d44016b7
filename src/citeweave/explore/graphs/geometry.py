"""Where edges begin and end: at the borders of nodes, bent so that there and back lie apart."""

import math
from collections.abc import Mapping

from citeweave.explore.graphs.graph import Graph, Node

__all__ = ["arrow", "border_point", "bounds", "curve"]

Point = tuple[float, float]

BEND = 0.14
"""How far the middle of a directed edge stands off, in parts of its length."""


def bounds(graph: Graph, positions: Mapping[str, Point]) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of all nodes; a unit square for a graph without nodes."""
    if not graph.nodes:
        return 0.0, 0.0, 1.0, 1.0
    spots = [(positions[node.id], node) for node in graph.nodes]
    return (
        min(x - node.width / 2 for (x, _), node in spots),
        min(y - node.height / 2 for (_, y), node in spots),
        max(x + node.width / 2 for (x, _), node in spots),
        max(y + node.height / 2 for (_, y), node in spots),
    )


def border_point(node: Node, centre: Point, towards: Point, gap: float = 0.0) -> Point:
    """Where a line from the centre of a node leaves it, and `gap` farther."""
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
    """Quadratic curve from border to border: its begin, its handle and its end."""
    dx, dy = end[0] - begin[0], end[1] - begin[1]
    # to the left of the way, so that there and back are two curves
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
    """Corners of the head at the end of a curve, and where its shaft must end."""
    _, (hx, hy), (x, y) = path
    length = math.hypot(x - hx, y - hy) or 1.0
    dx, dy = (x - hx) / length, (y - hy) / length
    long, half = 5.0 + 1.5 * width, 2.5 + 0.9 * width
    back = (x - dx * long, y - dy * long)
    left = (back[0] - dy * half, back[1] + dx * half)
    right = (back[0] + dy * half, back[1] - dx * half)
    return (x, y), left, right, (x - dx * long * 0.7, y - dy * long * 0.7)
