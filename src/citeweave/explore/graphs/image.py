"""A graph as PNG or PDF: its picture, drawn by Matplotlib."""

import io
from typing import TYPE_CHECKING, Any

from citeweave.explore.graphs.graph import Graph
from citeweave.explore.graphs.picture import (
    GROUND,
    HEADING,
    Entry,
    NodeShape,
    Picture,
    Positions,
    compose,
)
from citeweave.explore.plots.style import need_matplotlib, plain, saving

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw", "draw_on", "to_image"]

LARGEST = 12_000
"""Maximum number of pixels of the longer side of a PNG."""

MANY = 5000
"""Number of dots from which a PDF contains pixels, because it would be slow to open otherwise."""


def draw(graph: Graph, positions: Positions) -> "Figure":
    """Draw a graph with Matplotlib; one point of the layout is one point of the figure.

    Parameters
    ----------
    graph : Graph
    positions : mapping from node ids to (x, y)
        As returned by `layout`.

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.explore.graphs import draw, layout, topic_flow
    >>> graph = topic_flow(citeweave.example_model())
    >>> figure = draw(graph, layout(graph))
    >>> figure.savefig("flow.png")
    """
    need_matplotlib()
    from matplotlib.figure import Figure  # noqa: PLC0415 (optional)

    picture = compose(graph, positions)
    left, top, width, height = picture.box
    figure = Figure(figsize=(width / 72.0, (height + HEADING) / 72.0))
    axes = figure.add_axes((0.0, 0.0, 1.0, height / (height + HEADING)))
    draw_on(axes, picture, room=1.0)
    axes.text(
        left + width / 2,
        top - HEADING + 20.0,
        plain(picture.title),
        fontsize=13.0,
        fontweight="bold",
        ha="center",
        va="baseline",
    )
    return figure


def draw_on(axes: "Axes", picture: Picture, *, room: float) -> None:
    """Draw a picture on axes, with `room` points for each of its units."""
    left, top, width, height = picture.box
    axes.set_axis_off()
    axes.set_xlim(left, left + width)
    axes.set_ylim(top + height, top)  # y counts downwards
    _draw_lines(axes, picture, room)
    _draw_dots(axes, picture, room)
    for shape in picture.shapes:
        _draw_shape(axes, shape, room)
    for entry in picture.entries:
        _draw_entry(axes, entry, room)


def to_image(graph: Graph, positions: Positions, *, kind: str = "png", dpi: float = 200.0) -> bytes:
    """Draw a graph and return the content of a PNG or PDF file.

    Parameters
    ----------
    graph : Graph
    positions : mapping from node ids to (x, y)
        As returned by `layout`.
    kind : {"png", "pdf"}
    dpi : float
        Resolution of a PNG, in pixels per inch; reduced for a picture that would be too large.

    Returns
    -------
    bytes

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.explore.graphs import layout, to_image, topic_flow
    >>> graph = topic_flow(citeweave.example_model())
    >>> to_image(graph, layout(graph), dpi=72)[1:4]
    b'PNG'
    """
    out = io.BytesIO()
    # without a date, so that the same graph gives the same bytes
    metadata = {"CreationDate": None} if kind == "pdf" else {"Software": "citeweave"}
    with saving():
        figure = draw(graph, positions)
        longest = max(figure.get_size_inches())
        figure.savefig(out, format=kind, dpi=min(dpi, LARGEST / longest), metadata=metadata)
    return out.getvalue()


def _draw_lines(axes: "Axes", picture: Picture, room: float) -> None:
    from matplotlib.collections import LineCollection  # noqa: PLC0415
    from matplotlib.patches import PathPatch, Polygon  # noqa: PLC0415
    from matplotlib.path import Path  # noqa: PLC0415

    straight = [line for line in picture.lines if len(line.points) == 2]
    if straight:
        axes.add_collection(
            LineCollection(
                [line.points for line in straight],
                linewidths=[room * line.edge.width for line in straight],
                colors=[line.edge.colour for line in straight],
                alpha=0.7,
                capstyle="round",
                zorder=1,
            )
        )
    codes = [Path.MOVETO, Path.CURVE3, Path.CURVE3]
    for line in picture.lines:
        if len(line.points) == 3:
            axes.add_patch(
                PathPatch(
                    Path(line.points, codes),
                    facecolor="none",
                    edgecolor=line.edge.colour,
                    linewidth=room * line.edge.width,
                    alpha=0.7,
                    zorder=1,
                )
            )
            axes.add_patch(Polygon(line.head, facecolor=line.edge.colour, linewidth=0, zorder=1))


def _draw_dots(axes: "Axes", picture: Picture, room: float) -> None:
    from matplotlib.collections import EllipseCollection  # noqa: PLC0415

    dots = [shape for shape in picture.shapes if shape.node.shape == "dot"]
    if not dots:
        return
    sizes = [shape.node.width for shape in dots]
    axes.add_collection(
        EllipseCollection(
            sizes,
            sizes,
            [0.0] * len(dots),
            units="xy",
            offsets=[(shape.x, shape.y) for shape in dots],
            offset_transform=axes.transData,
            facecolors=[shape.fill for shape in dots],
            edgecolors=GROUND,
            linewidths=0.3 * room,
            rasterized=len(dots) > MANY,
            zorder=2,
        )
    )


def _draw_shape(axes: "Axes", shape: NodeShape, room: float) -> None:
    from matplotlib.patches import Ellipse, FancyBboxPatch  # noqa: PLC0415

    node = shape.node
    look: dict[str, Any] = {
        "facecolor": shape.fill,
        "edgecolor": shape.border,
        "linewidth": room,
        "zorder": 3,
    }
    if node.shape == "box":
        corner = (shape.x - node.width / 2 + 3, shape.y - node.height / 2 + 3)
        style = "round,pad=3,rounding_size=3"
        axes.add_patch(
            FancyBboxPatch(corner, node.width - 6, node.height - 6, boxstyle=style, **look)
        )
    elif node.shape == "ellipse":
        axes.add_patch(Ellipse((shape.x, shape.y), node.width, node.height, **look))
    _draw_words(axes, shape, room)


def _draw_entry(axes: "Axes", entry: Entry, room: float) -> None:
    from matplotlib.patches import Circle  # noqa: PLC0415

    x, y, radius = entry.dot
    axes.add_patch(Circle((x, y), radius, facecolor=entry.colour, linewidth=0))
    size = room * entry.size * 0.93
    axes.text(entry.begin, entry.y, plain(entry.text), fontsize=size, ha="left", va="baseline")


def _draw_words(axes: "Axes", shape: NodeShape, room: float) -> None:
    from matplotlib.patheffects import withStroke  # noqa: PLC0415

    size = room * shape.node.font_size
    halo = [withStroke(linewidth=size / 5, foreground=GROUND)] if shape.bare else []
    for words in shape.words:
        axes.text(
            words.x,
            words.y,
            plain(words.text),
            fontsize=size * 0.93,  # DejaVu is wider than the fonts of browsers
            fontweight="bold" if words.bold else "normal",
            color=shape.ink,
            ha="center",
            va="baseline",
            path_effects=halo,
            zorder=4,
        )
