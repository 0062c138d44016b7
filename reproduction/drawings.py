"""Pictures of results, drawn by matplotlib (the extra ``plot``) from the numbers in a JSON file."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

from citeweave.errors import MissingDependencyError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "DRAWINGS", "draw"]

COLOURS = {
    "blue": "#0072B2",
    "vermillion": "#D55E00",
    "green": "#009E73",
    "orange": "#E69F00",
    "sky": "#56B4E9",
    "purple": "#CC79A7",
    "yellow": "#F0E442",
    "black": "#000000",
}
"""Okabe and Ito's colours, which people with colour blindness can distinguish."""

RESOLUTION = 200
"""Dots per inch of PNG files."""

GRAPH_RESOLUTION = 120
"""Dots per inch of graphs, whose size follows from their text and exceeds a page."""


def draw(drawing: str, data: Mapping[str, Any], stem: Path) -> list[Path]:
    """Draw a figure into ``stem.svg`` and ``stem.png`` and return these paths.

    Without matplotlib, only the SVG file of a graph is written.

    Raises
    ------
    MissingDependencyError
        matplotlib is needed but not installed.
    ParameterError
        There is no drawing of this name.
    """
    known = (*DRAWINGS, GRAPH)
    if drawing not in known:
        near = difflib.get_close_matches(drawing, known, 1)
        hint = f"Did you mean {near[0]!r}?" if near else f"There are {', '.join(known)}."
        raise ParameterError(f"There is no drawing {drawing!r}. {hint}")
    stem.parent.mkdir(parents=True, exist_ok=True)
    if drawing == GRAPH:
        return _draw_graph(data, stem)
    try:
        import matplotlib as mpl  # noqa: PLC0415 (an extra)
        from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415
        from matplotlib.figure import Figure  # noqa: PLC0415
    except ImportError as error:
        raise MissingDependencyError(
            "Pictures of results need matplotlib, which is not installed. "
            "Run: pip install '.[plot]'"
        ) from error
    # text stays text in SVG files, and the same numbers give the same file
    style: dict[Any, Any] = {
        "svg.fonttype": "none",
        "svg.hashsalt": "citeweave",
        "font.size": 8,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.linewidth": 0.6,
        "legend.frameon": False,
    }
    paths = []
    with mpl.rc_context(style):
        figure = Figure(figsize=(6.5, 3.6), layout="constrained")
        FigureCanvasAgg(figure)  # no window, whatever backend the user has set
        DRAWINGS[drawing](figure, data)
        for suffix in ("svg", "png"):
            path = stem.with_name(f"{stem.name}.{suffix}")
            dated: dict[str, Any] = {"Date": None} if suffix == "svg" else {}
            figure.savefig(path, dpi=RESOLUTION, metadata=dated)
            paths.append(path)
    return paths


def traces(figure: Figure, data: Mapping[str, Any]) -> None:
    """Draw traces over iterations, a panel for each entry of ``data["panels"]``.

    A panel has a title, a label for its values, ``network_from`` (drawn as a vertical line), and
    groups of lines, each with a label and ``lines`` of (iterations, values).
    """
    panels: Sequence[Mapping[str, Any]] = data["panels"]
    rows = -(-len(panels) // 2)
    columns = min(len(panels), 2)
    figure.set_size_inches(6.5 if columns == 2 else 5.2, 3.0 * rows + 0.5)
    for number, panel in enumerate(panels, start=1):
        axes = figure.add_subplot(rows, columns, number)
        _trace_panel(axes, panel)
        axes.set_title(panel["title"], fontsize=9, loc="left")
        axes.set_ylabel(f"{panel['values']}, thousands")
        axes.set_xlabel("iteration")
    figure.legend(
        *figure.axes[0].get_legend_handles_labels(), loc="outside upper left", ncols=2, fontsize=8
    )


def _trace_panel(axes: Axes, panel: Mapping[str, Any]) -> None:
    styles = ((COLOURS["vermillion"], "-", 0.9), (COLOURS["blue"], (0, (4, 1.5)), 0.9))
    low, high = float("inf"), float("-inf")
    for (colour, dash, width), group in zip(styles, panel["groups"], strict=False):
        for number, (iterations, trace) in enumerate(group["lines"]):
            label = group["label"] if number == 0 else None
            values = [value / 1000 for value in trace]
            axes.plot(
                iterations, values, color=colour, linestyle=dash, linewidth=width, label=label
            )
            # values right after the random start would flatten everything that follows
            settled = [
                value
                for iteration, value in zip(iterations, values, strict=True)
                if iteration >= panel["settled_from"]
            ]
            low, high = min(low, *settled), max(high, *settled)
    margin = 0.08 * (high - low) or 1.0
    axes.set_ylim(low - margin, high + margin)
    if panel["network_from"] is not None:
        axes.axvline(panel["network_from"], color="0.45", linewidth=0.8, linestyle=":")
        axes.annotate(
            "network on",
            (panel["network_from"], 0.02),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            xytext=(3, 2),
            fontsize=7,
            color="0.3",
        )


def dots(figure: Figure, data: Mapping[str, Any]) -> None:
    """Draw figures of several groups as dots in rows, on a logarithmic scale.

    ``labels`` name the rows, ``values`` the scale; each of ``groups`` has a label and values, None
    for a missing one.
    """
    from matplotlib.ticker import FuncFormatter, NullFormatter  # noqa: PLC0415 (an extra)

    labels: Sequence[str] = data["labels"]
    groups: Sequence[Mapping[str, Any]] = data["groups"]
    figure.set_size_inches(5.6, 0.34 * len(labels) + 1.1)
    axes = figure.add_subplot()
    for row, values in enumerate(zip(*(group["values"] for group in groups), strict=True)):
        shown = [value for value in values if value is not None]
        axes.plot([min(shown), max(shown)], [row, row], color="0.75", linewidth=1.5, zorder=1)
    styles = ((COLOURS["orange"], "s"), (COLOURS["blue"], "o"), (COLOURS["green"], "^"))
    for (colour, marker), group in zip(styles, groups, strict=False):
        points = [(value, row) for row, value in enumerate(group["values"]) if value is not None]
        if not points:
            continue
        across, down = [value for value, _ in points], [row for _, row in points]
        axes.scatter(
            across, down, s=30, color=colour, marker=marker, label=group["label"], zorder=2
        )
        for value, row in points:
            axes.annotate(
                f"{value:,.0f}" if value >= 100 else f"{value:.2g}",
                (value, row),
                textcoords="offset points",
                xytext=(0, 5),
                ha="center",
                fontsize=7,
            )
    axes.set_xscale("log")
    axes.margins(x=0.08)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    low, high = axes.get_xlim()
    # beyond two powers of ten, there is space only for the powers
    axes.xaxis.set_minor_formatter(
        FuncFormatter(_label_some) if high < 100 * low else NullFormatter()
    )
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.5, -0.7)
    axes.set_xlabel(data["values"])
    figure.legend(loc="outside upper left", ncols=len(groups), fontsize=8)


def _label_some(value: float, _: int | None = None) -> str:
    """Label the twos and fives between powers of ten."""
    return f"{value:,g}" if f"{value:e}"[0] in "25" else ""


def _draw_graph(data: Mapping[str, Any], stem: Path) -> list[Path]:
    """Write a graph whose nodes have positions, as `citeweave.explore` draws it."""
    from citeweave.explore.graphs import Edge, Graph, Node, layout, write_graph  # noqa: PLC0415

    fields = dict(data["graph"])
    nodes = tuple(
        Node(**(node | {"label": tuple(node["label"]), "position": tuple(node["position"])}))
        for node in fields["nodes"]
    )
    edges = tuple(Edge(**edge) for edge in fields["edges"])
    legend = tuple((colour, text) for colour, text in fields["legend"])
    kept = {"nodes": nodes, "edges": edges, "legend": legend, "notes": tuple(fields["notes"])}
    graph = Graph(**(fields | kept))
    places = layout(graph)  # those of the nodes themselves
    paths = [stem.with_name(f"{stem.name}.{suffix}") for suffix in ("svg", "png")]
    write_graph(graph, paths[0], positions=places)
    try:
        write_graph(graph, paths[1], positions=places, dpi=GRAPH_RESOLUTION)
    except MissingDependencyError:
        del paths[1]
    return paths


GRAPH = "graph"
DRAWINGS: dict[str, Callable[[Figure, Mapping[str, Any]], None]] = {"traces": traces, "dots": dots}
