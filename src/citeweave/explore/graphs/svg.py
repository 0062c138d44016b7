"""A graph as SVG: a file of its own, or a part of a page with styles and scripts."""

import math
from collections.abc import Callable, Mapping
from xml.sax.saxutils import escape, quoteattr

from citeweave.explore.graphs.graph import Graph, Node
from citeweave.explore.graphs.picture import GROUND, HEADING, Entry, Line, NodeShape, compose
from citeweave.explore.graphs.text import clean

__all__ = ["to_svg"]

FONTS = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"

_STYLE = f"text{{font-family:{FONTS};text-anchor:middle}}"


def to_svg(
    graph: Graph,
    positions: Mapping[str, tuple[float, float]],
    *,
    standalone: bool = True,
    css_classes: bool = True,
    link: Callable[[Node], str] | None = None,
) -> str:
    """Draw a graph as SVG.

    Parameters
    ----------
    graph : Graph
    positions : mapping from node ids to (x, y)
        As returned by `layout`.
    standalone : bool
        Write a complete file with an XML declaration, a white background and a heading; otherwise a
        bare ``<svg>`` element for a web page, with a view box but no size.
    css_classes : bool
        Give nodes and edges classes (``cw-node cw-topic``, ``cw-edge``, ``cw-label``) and let the
        page style the background, strokes and text; colours are then attributes that a style sheet
        overrides.
    link : callable, optional
        Maps a node to the address of its page, or to an empty string if it has none.

    Returns
    -------
    str
        Every node is a ``<g>`` with ``data-kind`` and ``data-id`` (``topic`` and ``3``), its centre
        as ``data-x`` and ``data-y``, and a ``<title>``; every edge has ``data-source`` and
        ``data-target`` (``author-4``, ``topic-3``).

    Examples
    --------
    >>> from citeweave.explore.graphs import Graph, Node, to_svg
    >>> graph = Graph("pair", "", (Node("word", 0, ("soil",)),), ())
    >>> to_svg(graph, {"word-0": (0.0, 0.0)}, standalone=False)[:4]
    '<svg'
    """
    picture = compose(graph, positions)
    x, y, width, height = picture.box
    room = HEADING if standalone and picture.title else 0.0
    y, height = y - room, height + room
    box = f"{x:.1f} {y:.1f} {width:.1f} {height:.1f}"
    lines = []
    if standalone:
        lines.append('<?xml version="1.0" encoding="UTF-8"?>')
    size = f' width="{width:.0f}pt" height="{height:.0f}pt"' if standalone else ""
    named = ' class="graph"' if css_classes and not standalone else ""
    # for screen readers, a picture with focusable parts is a document, not an image
    lines.append(
        f'<svg xmlns="http://www.w3.org/2000/svg"{named} viewBox="{box}"{size} '
        f'role="graphics-document" aria-label={quoteattr(picture.title)}>'
    )
    lines.append(f"<title>{escape(picture.title)}</title>")
    lines.append(f"<desc>{escape(picture.notes)}</desc>")
    if standalone:
        lines.append(f"<style>{_STYLE}</style>")
        lines.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
            f'fill="{GROUND}"/>'
        )
        if room:
            lines.append(
                f'<text x="{x + width / 2:.1f}" y="{y + 20:.1f}" font-size="13" '
                f'font-weight="bold">{escape(picture.title)}</text>'
            )
    lines.append(_group("cw-edges", css_classes=css_classes))
    lines += [_edge(line, css_classes=css_classes) for line in picture.lines]
    lines.append("</g>")
    lines.append(_group("cw-nodes", css_classes=css_classes))
    lines += [_node(shape, css_classes=css_classes, link=link) for shape in picture.shapes]
    lines.append("</g>")
    lines += [_entry(entry, css_classes=css_classes) for entry in picture.entries]
    lines += ["</svg>", ""]
    return "\n".join(lines)


def _entry(entry: Entry, *, css_classes: bool) -> str:
    x, y, radius = entry.dot
    named = ' class="cw-listed"' if css_classes else ""
    return (
        f'<g{named}><circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{entry.colour}"/>'
        f'<text x="{entry.begin:.1f}" y="{entry.y:.1f}" font-size="{entry.size:.2f}" '
        f'style="text-anchor:start">{escape(entry.text)}</text></g>'
    )


def _group(name: str, *, css_classes: bool) -> str:
    return f'<g class="{name}">' if css_classes else "<g>"


def _edge(line: Line, *, css_classes: bool) -> str:
    edge = line.edge
    named = ' class="cw-edge"' if css_classes else ""
    title = f"<title>{escape(edge.title)}</title>" if edge.title else ""
    step = "L" if len(line.points) == 2 else "Q"
    begin, *rest = (f"{x:.1f} {y:.1f}" for x, y in line.points)
    head = ""
    if line.head:
        corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in line.head)
        head = f'<polygon points="{corners}" fill="{edge.colour}" fill-opacity="0.9"/>'
    return (
        f'<g{named} data-source="{edge.source}" data-target="{edge.target}" '
        f'data-width="{edge.width:.2f}">{title}'
        f'<path d="M{begin}{step}{" ".join(rest)}" fill="none" stroke="{edge.colour}" '
        f'stroke-width="{edge.width:.2f}" stroke-opacity="0.7" stroke-linecap="round"/>{head}</g>'
    )


def _node(shape: NodeShape, *, css_classes: bool, link: Callable[[Node], str] | None) -> str:
    node = shape.node
    named = f' class="cw-node cw-{node.kind} cw-{node.shape}"' if css_classes else ""
    group = f' data-group="{node.group}"' if node.group is not None else ""
    x, y = f"{shape.x:.1f}", f"{shape.y:.1f}"
    about = f'data-kind="{node.kind}" data-id="{node.key}"{group} data-x="{x}" data-y="{y}"'
    parts = [
        f'<g{named} id="{node.id}" {about} transform="translate({x} {y})">',
        f"<title>{escape(shape.title)}</title>",
    ]
    address = "" if link is None else link(node)
    if address:
        name = quoteattr(f"{node.kind}: {clean(node.text or node.title)}")
        parts.append(f"<a href={quoteattr(address)} aria-label={name}>")
    parts += [_outline(shape, css_classes=css_classes), _label(shape, css_classes=css_classes)]
    parts.append("</a></g>" if address else "</g>")
    return "".join(parts)


def _outline(shape: NodeShape, *, css_classes: bool) -> str:
    """Draw a background, which a page may darken, and the tinted colour above it."""
    node = shape.node
    wide, high = node.width, node.height
    if node.shape == "box":
        form = (
            f'rect x="{-wide / 2:.1f}" y="{-high / 2:.1f}" width="{wide:.1f}" '
            f'height="{high:.1f}" rx="3"'
        )
    elif node.shape == "ellipse":
        form = f'ellipse rx="{wide / 2:.1f}" ry="{high / 2:.1f}"'
    elif node.shape == "dot":
        return (
            f'<circle r="{wide / 2:.2f}" fill="{shape.fill}" stroke="{shape.border}" '
            'stroke-width="0.3"/>'
        )
    else:
        return ""
    ground = ' class="cw-ground"' if css_classes else ""
    named = ' class="cw-shape"' if css_classes else ""
    if node.colour == GROUND:
        return f'<{form}{named or ground} fill="{GROUND}" stroke="{shape.border}"/>'
    return (
        f'<{form}{ground} fill="{GROUND}"/><{form}{named} fill="{node.colour}" '
        f'fill-opacity="{node.tint:.2f}" stroke="{node.colour}" stroke-width="1.5"/>'
    )


def _label(shape: NodeShape, *, css_classes: bool) -> str:
    if not shape.words:
        return ""
    size = math.floor(shape.node.font_size * 100) / 100
    halo = ""
    if shape.bare:
        halo = f' stroke="{GROUND}" stroke-width="{size / 5:.1f}" paint-order="stroke"'
    named = ' class="cw-label"' if css_classes else ""
    lines = []
    for words in shape.words:
        bold = ' font-weight="bold"' if words.bold else ""
        place = f'x="{words.x - shape.x:.1f}" y="{words.y - shape.y:.1f}"'
        lines.append(f"<tspan {place}{bold}>{escape(words.text)}</tspan>")
    look = f'font-size="{size:g}" text-anchor="middle" fill="{shape.ink}"{halo}'
    return f"<text{named} {look}>{''.join(lines)}</text>"
