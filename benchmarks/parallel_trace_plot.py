"""Draw the traces of `benchmarks.parallel_trace`, and write a table of them.

python -m benchmarks.parallel_quality plot trace.jsonl --out trace.svg
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.parallel_trace import parse_backend

from citeweave.errors import ParameterError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

_BLUES = ("#9ecae1", "#6baed6", "#4292c6", "#2171b5", "#08306b")
_REDS = ("#D55E00", "#E69F00", "#882255")


def add_plot_options(parser: argparse.ArgumentParser) -> None:
    """Describe the options of `plot`."""
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True, help="an SVG, PNG or PDF file")


def plot_traces(options: argparse.Namespace) -> None:
    """Draw all traces of some files in one plot and write a table of them."""
    lines = []
    for path in options.files:
        if not path.exists():
            raise ParameterError(f"There is no file '{path}'; make it with `trace --out`.")
        lines += [json.loads(text) for text in path.read_text(encoding="utf-8").splitlines()]
    if not lines:
        raise ParameterError("The files hold no traces; make some with `trace --out`.")
    latest = {(line["tokens"], line["backend"]): line for line in lines}
    panels = [
        [latest[key] for key in sorted(latest, key=lambda key: _place(key[1])) if key[0] == tokens]
        for tokens in sorted({tokens for tokens, _ in latest})
    ]
    draw(panels, options.out)
    for panel in panels:
        print(f"\n{describe(panel[0])}:\n")
        print("\n".join(table(panel)))


def _place(name: str) -> tuple[int, int]:
    kind, number = parse_backend(name)
    return ["sequential", "threads", "cuda"].index(kind), number


def label(line: Mapping[str, Any]) -> str:
    """Name a trace in words."""
    kind, number = parse_backend(line["backend"])
    snapshots = f"{line['rounds']} snapshot{'s' if line['rounds'] != 1 else ''} per sweep"
    if kind == "sequential":
        return kind
    if kind == "cuda":
        return f"GPU, {snapshots}"
    return f"{number} thread{'s' if number > 1 else ''}, {snapshots}"


def describe(line: Mapping[str, Any]) -> str:
    """Name the corpus of a trace by its size."""
    return f"{line['tokens']:,} words, {line['citations']:,} citations, K = {line['topics']}"


def draw(panels: Sequence[Sequence[Mapping[str, Any]]], out: Path) -> None:
    """Draw perplexity against seconds, a panel for each corpus."""
    from citeweave.explore.plots.style import (  # noqa: PLC0415 (Matplotlib is an extra)
        new_figure,
        saving,
    )

    with saving():
        figure = new_figure(6.8, 0.4 + 2.9 * len(panels))
        axes = figure.subplots(len(panels), 1, squeeze=False)[:, 0]
        for ax, lines in zip(axes, panels, strict=True):
            _draw_panel(ax, lines)
        axes[-1].set_xlabel("seconds since the random start")
        figure.canvas.draw()  # labels are placed by the size that axes have
        for ax, lines in zip(axes, panels, strict=True):
            _label_panel(ax, lines)
        metadata = {"Date": None} if out.suffix == ".svg" else None
        figure.savefig(out, metadata=metadata)


def _colours(lines: Sequence[Mapping[str, Any]]) -> list[str]:
    """Give black to the reference, blues to threads (the more the darker), warm ones to GPUs."""
    blues = dict(zip(_named(lines, "threads"), _BLUES, strict=False))
    reds = dict(zip(_named(lines, "cuda"), _REDS, strict=False))
    return [(blues | reds).get(line["backend"], "#000000") for line in lines]


def _draw_panel(ax: Axes, lines: Sequence[Mapping[str, Any]]) -> None:
    from citeweave.explore.plots.style import head  # noqa: PLC0415 (as above)

    for line, colour in zip(lines, _colours(lines), strict=True):
        seconds = [point["seconds"] for point in line["points"]]
        values = [point["perplexity"] for point in line["points"]]
        ax.plot(seconds, values, color=colour, marker="o", markersize=2.0)
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter("{x:g}")
    ax.set_ylabel("perplexity, held-out words")
    start = f"citations from iteration {lines[0]['network from'] + 1} on"
    head(ax, f"Perplexity against time\n{describe(lines[0])}; {start}")


def _label_panel(ax: Axes, lines: Sequence[Mapping[str, Any]]) -> None:
    from citeweave.explore.plots.style import label_ends  # noqa: PLC0415 (as above)

    lasts = [line["points"][-1] for line in lines]
    ends = [(last["seconds"], last["perplexity"]) for last in lasts]
    names = [
        f"{label(line)} ({last['iteration']:,} it.)"
        for line, last in zip(lines, lasts, strict=True)
    ]
    label_ends(ax, ends, names, _colours(lines))


def _named(lines: Sequence[Mapping[str, Any]], kind: str) -> list[str]:
    return [line["backend"] for line in lines if line["backend"].startswith(kind)]


def reach(line: Mapping[str, Any], wanted: float) -> float | None:
    """Return the seconds after which a trace first reached a perplexity; None if it never did.

    Examples
    --------
    >>> points = [{"seconds": s, "perplexity": p} for s, p in ((1, 900), (2, 800), (4, 700))]
    >>> [reach({"points": points}, wanted) for wanted in (750, 1000, 1)]
    [3.0, 1.0, None]
    """
    before = None
    for point in line["points"]:
        if point["perplexity"] <= wanted:
            if before is None:
                return float(point["seconds"])
            part = (before["perplexity"] - wanted) / (before["perplexity"] - point["perplexity"])
            return float(before["seconds"] + part * (point["seconds"] - before["seconds"]))
        before = point
    return None


def table(lines: Sequence[Mapping[str, Any]]) -> list[str]:
    """Write iterations, speed, and the time to *P*, the sequential chain's final perplexity."""
    reference = [line for line in lines if line["backend"] == "sequential"]
    wanted = reference[0]["points"][-1]["perplexity"] if reference else None
    rows = [
        "| chain | iterations | s | s per iteration | final perplexity | s to *P* | s to prepare |",
        "| --- | --: | --: | --: | --: | --: | --: |",
    ]
    for line in lines:
        last = line["points"][-1]
        reached = None if wanted is None else reach(line, wanted)
        cells = [
            label(line),
            f"{last['iteration']:,}",
            f"{last['seconds']:.1f}",
            f"{last['seconds'] / last['iteration']:.3g}",
            f"{last['perplexity']:.1f}",
            "not reached" if reached is None else f"{reached:.3g}",
            f"{line['seconds to prepare']:.1f}",
        ]
        rows.append("| " + " | ".join(cells) + " |")
    return rows
