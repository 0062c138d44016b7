"""A graph as PNG or PDF: the picture of the SVG, drawn by Matplotlib."""

import io
from collections.abc import Mapping
from typing import TYPE_CHECKING

from citeweave.explore.graphs.colours import mix, readable_on
from citeweave.explore.graphs.geometry import arrow, bounds, curve
from citeweave.explore.graphs.graph import Graph, Node
from citeweave.explore.graphs.svg import LINE, MARGIN
from citeweave.explore.graphs.text import clean
from citeweave.explore.plots.style import need_matplotlib, saving

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw", "to_image"]

HEADING = 24.0
LARGEST = 12_000
"""Pixels of the longer side of a PNG, at most."""

Positions = Mapping[str, tuple[float, float]]


def draw(graph: Graph, positions: Positions) -> "Figure":
    """Draw a graph at given positions, a point of the layout being a point of the figure."""
    need_matplotlib()
    from matplotlib.figure import Figure  # noqa: PLC0415 (optional)

    left, top, right, bottom = bounds(graph, positions)
    left, right, bottom = left - MARGIN, right + MARGIN, bottom + MARGIN
    top -= MARGIN + HEADING
    figure = Figure(figsize=((right - left) / 72.0, (bottom - top) / 72.0))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    axes.set_xlim(left, right)
    axes.set_ylim(bottom, top)  # y counts downwards
    _draw_edges(axes, graph, positions)
    _draw_nodes(axes, graph, positions)
    axes.text(
        (left + right) / 2,
        top + 20.0,
        _plain(graph.title),
        fontsize=13.0,
        fontweight="bold",
        ha="center",
        va="baseline",
    )
    return figure


def to_image(graph: Graph, positions: Positions, *, kind: str = "png", dpi: float = 200.0) -> bytes:
    """Draw a graph as the bytes of a PNG or PDF file.

    Parameters
    ----------
    graph : Graph
    positions : mapping from node ids to (x, y)
    kind : {"png", "pdf"}
    dpi : float
        Pixels an inch of a PNG; less for a picture that would be too large.
    """
    out = io.BytesIO()
    # without a date, so that the same graph gives the same bytes
    metadata = {"CreationDate": None} if kind == "pdf" else {"Software": "citeweave"}
    with saving():
        figure = draw(graph, positions)
        longest = max(figure.get_size_inches())
        figure.savefig(out, format=kind, dpi=min(dpi, LARGEST / longest), metadata=metadata)
    return out.getvalue()


def _plain(text: str) -> str:
    """Take a dollar sign as it is: Matplotlib would read a formula between two."""
    return clean(text).replace("$", r"\$")


def _draw_edges(axes: "Axes", graph: Graph, positions: Positions) -> None:
    from matplotlib.collections import LineCollection  # noqa: PLC0415
    from matplotlib.patches import PathPatch, Polygon  # noqa: PLC0415
    from matplotlib.path import Path  # noqa: PLC0415

    if not graph.directed:
        lines = [[positions[edge.source], positions[edge.target]] for edge in graph.edges]
        axes.add_collection(
            LineCollection(
                lines,
                linewidths=[edge.width for edge in graph.edges],
                colors=[edge.colour for edge in graph.edges],
                alpha=0.7,
                capstyle="round",
                zorder=1,
            )
        )
        return
    codes = [Path.MOVETO, Path.CURVE3, Path.CURVE3]
    for edge in graph.edges:
        source, target = graph.node(edge.source), graph.node(edge.target)
        path = curve(positions[edge.source], positions[edge.target], source, target, edge.width)
        tip = arrow(path, edge.width)
        axes.add_patch(
            PathPatch(
                Path([path[0], path[1], tip[3]], codes),
                facecolor="none",
                edgecolor=edge.colour,
                linewidth=edge.width,
                alpha=0.75,
                zorder=1,
            )
        )
        axes.add_patch(Polygon(tip[:3], facecolor=edge.colour, linewidth=0, zorder=1))


def _draw_nodes(axes: "Axes", graph: Graph, positions: Positions) -> None:
    from matplotlib.collections import EllipseCollection  # noqa: PLC0415
    from matplotlib.patches import Ellipse, FancyBboxPatch  # noqa: PLC0415

    dots = [node for node in graph.nodes if node.shape == "dot"]
    if dots:
        sizes = [node.width for node in dots]
        axes.add_collection(
            EllipseCollection(
                sizes,
                sizes,
                [0.0] * len(dots),
                units="xy",
                offsets=[positions[node.id] for node in dots],
                offset_transform=axes.transData,
                facecolors=[node.colour for node in dots],
                edgecolors="#ffffff",
                linewidths=0.3,
                zorder=2,
            )
        )
    for node in graph.nodes:
        x, y = positions[node.id]
        border = mix(node.colour, "#000000", 0.45)
        if node.shape == "box":
            corner = (x - node.width / 2 + 3, y - node.height / 2 + 3)
            axes.add_patch(
                FancyBboxPatch(
                    corner,
                    node.width - 6,
                    node.height - 6,
                    boxstyle="round,pad=3,rounding_size=3",
                    facecolor=node.colour,
                    edgecolor=border,
                    linewidth=1.0,
                    zorder=3,
                )
            )
        elif node.shape == "ellipse":
            axes.add_patch(
                Ellipse(
                    (x, y),
                    node.width,
                    node.height,
                    facecolor=node.colour,
                    edgecolor=border,
                    linewidth=1.0,
                    zorder=3,
                )
            )
        _draw_label(axes, node, x, y)


def _draw_label(axes: "Axes", node: Node, x: float, y: float) -> None:
    from matplotlib.patheffects import withStroke  # noqa: PLC0415

    if not node.label:
        return
    step = node.font_size * LINE
    first = y - step * (len(node.label) - 1) / 2 + 0.35 * node.font_size
    bare = node.shape in {"dot", "label"}
    halo = [withStroke(linewidth=node.font_size / 5, foreground="#ffffff")] if bare else []
    for number, line in enumerate(node.label):
        axes.text(
            x,
            first + number * step,
            _plain(line),
            fontsize=node.font_size * 0.93,  # DejaVu is wider than what browsers draw with
            fontweight="bold" if number < node.heading else "normal",
            color="#000000" if bare else readable_on(node.colour),
            ha="center",
            va="baseline",
            path_effects=halo,
            zorder=4,
        )
