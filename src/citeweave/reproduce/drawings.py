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
"""Okabe and Ito's colours, which all eyes can tell apart."""

RESOLUTION = 200
"""Dots per inch of PNG files."""


def draw(drawing: str, data: Mapping[str, Any], stem: Path) -> list[Path]:
    """Draw a figure into ``stem.svg`` and ``stem.png`` and return these paths.

    Raises
    ------
    MissingDependencyError
        matplotlib is not installed.
    ParameterError
        There is no drawing of this name.
    """
    if drawing not in DRAWINGS:
        near = difflib.get_close_matches(drawing, DRAWINGS, 1)
        hint = f"Did you mean {near[0]!r}?" if near else f"There are {', '.join(DRAWINGS)}."
        raise ParameterError(f"There is no drawing {drawing!r}. {hint}")
    try:
        import matplotlib as mpl  # noqa: PLC0415 (an extra)
        from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415
        from matplotlib.figure import Figure  # noqa: PLC0415
    except ImportError as error:
        raise MissingDependencyError(
            "Pictures of results need matplotlib, which is not installed. "
            "Run: pip install 'citeweave[plot]'"
        ) from error
    stem.parent.mkdir(parents=True, exist_ok=True)
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
        FigureCanvasAgg(figure)  # no window, whatever the user's setting of a backend
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
        axes.set_ylabel(panel["values"])
        axes.set_xlabel("iteration")
    figure.legend(
        *figure.axes[0].get_legend_handles_labels(), loc="outside upper left", ncols=2, fontsize=8
    )


def _trace_panel(axes: Axes, panel: Mapping[str, Any]) -> None:
    styles = ((COLOURS["vermillion"], "-", 0.9), (COLOURS["blue"], (0, (4, 1.5)), 0.9))
    low, high = float("inf"), float("-inf")
    for (colour, dash, width), group in zip(styles, panel["groups"], strict=False):
        for number, (iterations, values) in enumerate(group["lines"]):
            label = group["label"] if number == 0 else None
            axes.plot(
                iterations, values, color=colour, linestyle=dash, linewidth=width, label=label
            )
            # the climb of the first iterations would flatten all that follows
            settled = [
                value
                for iteration, value in zip(iterations, values, strict=True)
                if iteration >= panel["settled_from"]
            ] or list(values)
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


def bars(figure: Figure, data: Mapping[str, Any]) -> None:
    """Draw pairs of horizontal bars on a logarithmic scale: ``labels``, ``groups``, ``values``."""
    labels: Sequence[str] = data["labels"]
    groups: Sequence[Mapping[str, Any]] = data["groups"]
    figure.set_size_inches(5.6, 0.55 * len(labels) + 1.2)
    axes = figure.add_subplot()
    palette = (COLOURS["orange"], COLOURS["blue"], COLOURS["green"])
    height = 0.8 / len(groups)
    for place, (colour, group) in enumerate(zip(palette, groups, strict=False)):
        shown = [(row, value) for row, value in enumerate(group["values"]) if value is not None]
        at = [row + (place - (len(groups) - 1) / 2) * height for row, _ in shown]
        values = [value for _, value in shown]
        drawn = axes.barh(at, values, height * 0.92, color=colour, label=group["label"])
        axes.bar_label(drawn, labels=[f"{value:,.3g}" for value in values], padding=2, fontsize=7)
    axes.set_xscale("log")
    axes.margins(x=0.15)
    axes.set_yticks(range(len(labels)), labels)
    axes.invert_yaxis()
    axes.set_xlabel(data["values"])
    figure.legend(loc="outside upper left", ncols=len(groups), fontsize=8)


DRAWINGS: dict[str, Callable[[Figure, Mapping[str, Any]], None]] = {"traces": traces, "bars": bars}
