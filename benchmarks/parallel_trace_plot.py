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
    latest = {line["backend"]: line for line in lines}
    order = sorted(latest, key=_place)
    draw([latest[name] for name in order], options.out)
    print("\n".join(table([latest[name] for name in order])))


def _place(name: str) -> tuple[int, int]:
    kind, number = parse_backend(name)
    return ["sequential", "threads", "cuda"].index(kind), number


def label(line: Mapping[str, Any]) -> str:
    """Name a trace in words."""
    kind, number = parse_backend(line["backend"])
    snapshots = f"{line['rounds']} snapshot{'s' if line['rounds'] != 1 else ''} a sweep"
    if kind == "sequential":
        return kind
    if kind == "cuda":
        return f"GPU, {snapshots}"
    return f"{number} thread{'s' if number > 1 else ''}, {snapshots}"


def draw(lines: Sequence[Mapping[str, Any]], out: Path) -> None:
    """Draw perplexity against seconds, both on the scales that show them best."""
    from citeweave.explore.plots.style import (  # noqa: PLC0415 (Matplotlib is an extra)
        head,
        label_ends,
        new_figure,
        saving,
    )

    shades = ["#9ecae1", "#6baed6", "#4292c6", "#2171b5", "#08306b"]
    blues = {name: shades[min(i, 4)] for i, name in enumerate(_named(lines, "threads"))}
    reds = dict(zip(_named(lines, "cuda"), ["#E69F00", "#D55E00", "#882255"], strict=False))
    colours = {"sequential": "#000000", **blues, **reds}
    with saving():
        figure = new_figure(6.8, 4.0)
        ax = figure.add_subplot()
        ends = []
        for line in lines:
            seconds = [point["seconds"] for point in line["points"]]
            values = [point["perplexity"] for point in line["points"]]
            colour = colours.get(line["backend"], "#000000")
            ax.plot(seconds, values, color=colour, marker="o", markersize=2.2)
            ends.append((seconds[-1], values[-1]))
        ax.set_xscale("log")
        ax.set_xlabel("seconds since the random start")
        ax.set_ylabel("perplexity of held-out words")
        first = lines[0]
        head(
            ax,
            "Perplexity against time\n"
            f"{first['tokens']:,} words, {first['citations']:,} citations, K = {first['topics']}; "
            f"citations from iteration {first['network from'] + 1} on",
        )
        figure.canvas.draw()
        names = [f"{label(line)} ({line['points'][-1]['iteration']:,} it.)" for line in lines]
        label_ends(ax, ends, names, [colours.get(x["backend"], "#000000") for x in lines])
        metadata = {"Date": None} if out.suffix == ".svg" else None
        figure.savefig(out, metadata=metadata)


def _named(lines: Sequence[Mapping[str, Any]], kind: str) -> list[str]:
    return [line["backend"] for line in lines if line["backend"].startswith(kind)]


def reach(line: Mapping[str, Any], wanted: float) -> float | None:
    """Give the seconds at which a trace first came down to a perplexity, None if it never did.

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
    """Write iterations, speed, and the time to *P*, where the sequential chain stood at its end."""
    reference = [line for line in lines if line["backend"] == "sequential"]
    wanted = reference[0]["points"][-1]["perplexity"] if reference else None
    rows = [
        "| chain | iterations | s | s an iteration | perplexity at the end | s to *P* | s before |",
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
