"""A graph as SVG: alone as a file, or as a part of a page that styles it and reacts to it."""

import math
from collections.abc import Mapping
from xml.sax.saxutils import escape, quoteattr

from citeweave.explore.graphs.colours import mix, readable_on
from citeweave.explore.graphs.geometry import arrow, bounds, curve
from citeweave.explore.graphs.graph import Edge, Graph, Node
from citeweave.explore.graphs.text import clean

__all__ = ["to_svg"]

FONTS = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
MARGIN = 12.0
LINE = 1.25
"""Distance of lines of text, in font sizes."""

_STYLE = f"text{{font-family:{FONTS};text-anchor:middle}}"


def to_svg(
    graph: Graph,
    positions: Mapping[str, tuple[float, float]],
    *,
    standalone: bool = True,
    css_classes: bool = True,
) -> str:
    """Draw a graph at given positions.

    Parameters
    ----------
    graph : Graph
    positions : mapping from node ids to (x, y)
        As `layout` gives them.
    standalone : bool
        A whole file with an XML head, a white ground and a heading; else a bare ``<svg>`` element
        for a page, without a size of its own but with a view box.
    css_classes : bool
        Give nodes and edges classes (``cw-node cw-topic``, ``cw-edge``, ``cw-label``) and let a
        page colour the strokes and the text; colours are then attributes that a style sheet
        overrides.

    Returns
    -------
    str
        Every node is a ``<g>`` with ``data-kind`` and ``data-id`` (``topic`` and ``3``) and a
        ``<title>``; every edge has ``data-source`` and ``data-target`` (``author-4``, ``topic-3``).
    """
    left, top, right, bottom = bounds(graph, positions)
    head = _heading(graph) if standalone else []
    room = 24.0 if head else 0.0
    x, y = left - MARGIN, top - MARGIN - room
    width, height = right - left + 2 * MARGIN, bottom - top + 2 * MARGIN + room
    box = f"{x:.1f} {y:.1f} {width:.1f} {height:.1f}"
    label = quoteattr(clean(graph.title))
    lines = []
    if standalone:
        lines.append('<?xml version="1.0" encoding="UTF-8"?>')
    size = f' width="{width:.0f}pt" height="{height:.0f}pt"' if standalone else ""
    # a picture with parts that can be reached is a document for screen readers, not an image
    lines.append(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}"{size} role="graphics-document" '
        f"aria-label={label}>"
    )
    lines.append(f"<title>{escape(clean(graph.title))}</title>")
    lines.append(f"<desc>{escape(clean(' '.join(graph.notes)))}</desc>")
    if standalone:
        lines.append(f"<style>{_STYLE}</style>")
        lines.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
            f'fill="#ffffff"/>'
        )
        lines += [
            f'<text x="{x + width / 2:.1f}" y="{y + 20:.1f}" font-size="13" '
            f'font-weight="bold">{escape(line)}</text>'
            for line in head
        ]
    lines.append(_group("cw-edges", css_classes=css_classes))
    lines += [_edge(graph, edge, positions, css_classes=css_classes) for edge in graph.edges]
    lines.append("</g>")
    lines.append(_group("cw-nodes", css_classes=css_classes))
    # dots first, then what carries text, so that no dot hides a label
    for node in sorted(graph.nodes, key=lambda node: bool(node.label)):
        lines.append(_node(node, positions[node.id], css_classes=css_classes))
    lines += ["</g>", "</svg>", ""]
    return "\n".join(lines)


def _heading(graph: Graph) -> list[str]:
    return [clean(graph.title)] if graph.title else []


def _group(name: str, *, css_classes: bool) -> str:
    return f'<g class="{name}">' if css_classes else "<g>"


def _edge(
    graph: Graph, edge: Edge, positions: Mapping[str, tuple[float, float]], *, css_classes: bool
) -> str:
    source, target = graph.node(edge.source), graph.node(edge.target)
    begin, end = positions[edge.source], positions[edge.target]
    named = ' class="cw-edge"' if css_classes else ""
    marks = f'{named} data-source="{edge.source}" data-target="{edge.target}"'
    title = f"<title>{escape(edge.title)}</title>" if edge.title else ""
    if not graph.directed:
        return (
            f'<line{marks} x1="{begin[0]:.1f}" y1="{begin[1]:.1f}" x2="{end[0]:.1f}" '
            f'y2="{end[1]:.1f}" stroke="{edge.colour}" stroke-width="{edge.width:.2f}" '
            f'stroke-opacity="0.7" stroke-linecap="round">{title}</line>'
        )
    path = curve(begin, end, source, target, edge.width)
    tip = arrow(path, edge.width)
    (x0, y0), (x1, y1), (x2, y2) = path[0], path[1], tip[3]
    points = " ".join(f"{px:.1f},{py:.1f}" for px, py in tip[:3])
    return (
        f'<g{marks}>{title}<path d="M{x0:.1f} {y0:.1f}Q{x1:.1f} {y1:.1f} {x2:.1f} {y2:.1f}" '
        f'fill="none" stroke="{edge.colour}" stroke-width="{edge.width:.2f}" '
        f'stroke-opacity="0.75"/>'
        f'<polygon points="{points}" fill="{edge.colour}" fill-opacity="0.9"/></g>'
    )


def _node(node: Node, place: tuple[float, float], *, css_classes: bool) -> str:
    x, y = place
    named = f' class="cw-node cw-{node.kind}"' if css_classes else ""
    group = f' data-group="{node.group}"' if node.group is not None else ""
    title = f"<title>{escape(clean(node.title or node.text))}</title>"
    parts = [
        f'<g{named} id="{node.id}" data-kind="{node.kind}" data-id="{node.key}"{group}>{title}'
    ]
    border = mix(node.colour, "#000000", 0.45) if node.shape != "dot" else "#ffffff"
    wide, high = node.width, node.height
    if node.shape == "box":
        parts.append(
            f'<rect x="{x - wide / 2:.1f}" y="{y - high / 2:.1f}" width="{wide:.1f}" '
            f'height="{high:.1f}" rx="3" fill="{node.colour}" stroke="{border}"/>'
        )
    elif node.shape == "ellipse":
        parts.append(
            f'<ellipse cx="{x:.1f}" cy="{y:.1f}" rx="{wide / 2:.1f}" ry="{high / 2:.1f}" '
            f'fill="{node.colour}" stroke="{border}"/>'
        )
    elif node.shape == "dot":
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{wide / 2:.2f}" fill="{node.colour}" '
            f'stroke="{border}" stroke-width="0.3"/>'
        )
    parts.append(_label(node, x, y, css_classes=css_classes))
    parts.append("</g>")
    return "".join(parts)


def _label(node: Node, x: float, y: float, *, css_classes: bool) -> str:
    if not node.label:
        return ""
    step = node.font_size * LINE
    # the middle of small letters lies about 0.35 em above the base line
    first = y - step * (len(node.label) - 1) / 2 + 0.35 * node.font_size
    bare = node.shape in {"dot", "label"}
    ink = "#000000" if bare else readable_on(node.colour)
    halo = ""
    if bare:
        halo = f' stroke="#ffffff" stroke-width="{node.font_size / 5:.1f}" paint-order="stroke"'
    named = ' class="cw-label"' if css_classes else ""
    lines = []
    for number, line in enumerate(node.label):
        bold = ' font-weight="bold"' if number < node.heading else ""
        place = f'x="{x:.1f}" y="{first + number * step:.1f}"'
        lines.append(f"<tspan {place}{bold}>{escape(clean(line))}</tspan>")
    size = math.floor(node.font_size * 100) / 100
    look = f'font-size="{size:g}" text-anchor="middle" fill="{ink}"{halo}'
    return f"<text{named} {look}>{''.join(lines)}</text>"
