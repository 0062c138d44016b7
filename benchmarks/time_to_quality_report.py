"""Tables, aims and the picture of `benchmarks.time_to_quality`."""

from __future__ import annotations

import json
from statistics import mean
from typing import TYPE_CHECKING, Any

from benchmarks.time_to_quality_worker import AFTER, BEFORE, TOMOTOPY

from citeweave.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

__all__ = ["aims", "draw", "join_seeds", "reach", "read_rows", "to_markdown"]

Row = dict[str, Any]
Traces = dict[str, list[Row]]

LDA, HDP = TOMOTOPY
MEASURES = ("topics", "coherence", "perplexity", "perplexity by phi")
RISES = {"coherence": True, "perplexity": False, "perplexity by phi": False}
SLOWER_THAN_LDA = 3.0
"""The whole model may take this many times LDA's time to reach LDA's final coherence."""
FASTER_THAN_BEFORE = 4.0
"""The current stages should reach the quality of earlier ones this many times faster."""
_COLOURS = {BEFORE: "#E69F00", AFTER: "#0072B2", LDA: "#009E73", HDP: "#CC79A7"}


def read_rows(paths: Iterable[Path]) -> list[Row]:
    """Read points; a point that was measured again replaces the earlier one."""
    latest: dict[tuple[Any, ...], Row] = {}
    for path in paths:
        if not path.exists():
            raise ParameterError(f"There is no file '{path}'; make it with --out.")
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            latest[row["corpus"], row["system"], row["seed"], row["iteration"]] = row
    if not latest:
        raise ParameterError("The files hold no points; make some with --out.")
    return list(latest.values())


def join_seeds(rows: Sequence[Row]) -> dict[str, Traces]:
    """Give, by corpus and system, points in their order: means over seeds at equal iterations."""
    found: dict[str, Traces] = {}
    for corpus in dict.fromkeys(row["corpus"] for row in rows):
        here = [row for row in rows if row["corpus"] == corpus]
        found[corpus] = {
            system: _means([row for row in here if row["system"] == system])
            for system in _COLOURS
            if any(row["system"] == system for row in here)
        }
    return found


def _means(rows: Sequence[Row]) -> list[Row]:
    points = []
    for iteration in sorted({row["iteration"] for row in rows}):
        same = [row for row in rows if row["iteration"] == iteration]
        measured = {name: mean(row[name] for row in same) for name in ("seconds", *MEASURES)}
        whole = all(row["whole"] for row in same)
        points.append({"iteration": iteration, "whole": whole} | measured)
    return points


def reach(points: Sequence[Mapping[str, float]], wanted: Mapping[str, float]) -> float | None:
    """Return the first time at which a trace has reached all values, None if it never does.

    Between points lines are straight; values are reached from below or above as `RISES` says.

    Examples
    --------
    >>> points = [
    ...     {"seconds": 1.0, "coherence": 0.0, "perplexity": 900.0},
    ...     {"seconds": 3.0, "coherence": 0.2, "perplexity": 700.0},
    ... ]
    >>> reach(points, {"coherence": 0.1}), reach(points, {"coherence": 0.1, "perplexity": 750.0})
    (2.0, 2.5)
    >>> reach(points, {"coherence": 0.3}) is None
    True
    """
    for number, point in enumerate(points):
        before = points[number - 1] if number else None
        parts = [_part(before, point, name, value) for name, value in wanted.items()]
        known = [part for part in parts if part is not None]
        if len(known) == len(parts):
            begin = before["seconds"] if before else point["seconds"]
            return begin + max(known) * (point["seconds"] - begin)
    return None


def _part(
    before: Mapping[str, float] | None, point: Mapping[str, float], name: str, value: float
) -> float | None:
    """Return how far towards a point a value is reached, None if it is not at the point."""
    sign = 1.0 if RISES[name] else -1.0
    if sign * point[name] < sign * value:
        return None
    if before is None or sign * before[name] >= sign * value:
        return 0.0
    return (value - before[name]) / (point[name] - before[name])


def aims(traces: Traces) -> list[str]:
    """Judge the aims on one corpus, as lines of a list.

    Of today's stages only points count at which the whole model is in.
    """
    lines: list[str] = []
    if AFTER in traces:
        traces = traces | {AFTER: [point for point in traces[AFTER] if point["whole"]]}
    if {AFTER, LDA, HDP} <= set(traces):
        lines += _beside_tomotopy(traces)
    if {AFTER, BEFORE} <= set(traces):
        whole = traces[BEFORE]
        ends = (_at(whole, whole[-1]["iteration"] // 2), whole[-1])
        lines += [_beside_before(traces[AFTER], point) for point in ends]
    return lines or ["- no aim can be judged: too few systems were run"]


def _beside_tomotopy(traces: Traces) -> list[str]:
    """Judge the time to LDA's final coherence, and perplexities from then on.

    Where that coherence is never reached, perplexities are judged from the time allowed for it on.
    """
    last = traces[LDA][-1]
    allowed = SLOWER_THAN_LDA * last["seconds"]
    got = reach(traces[AFTER], {"coherence": last["coherence"]})
    line = _line(
        f"LDA's final coherence ({last['coherence']:.3f} after {last['seconds']:.1f} s) within "
        f"{SLOWER_THAN_LDA:g} times its time",
        reached=got is not None and got <= allowed,
        figure="never" if got is None else f"{got:.1f} s, {got / last['seconds']:.1f} times",
    )
    since = allowed if got is None else got
    return [line, *(_lower(traces, name, since) for name in ("perplexity", "perplexity by phi"))]


def _beside_before(after: Sequence[Row], point: Row) -> str:
    """Judge how much sooner both measures reach their values at a point of the earlier stages."""
    found, times = [], []
    for name, digits in (("coherence", 3), ("perplexity", 0)):
        got = reach(after, {name: point[name]})
        times.append(0.0 if got is None else point["seconds"] / got)
        how = "never" if got is None else f"in {got:.1f} s, {times[-1]:.1f} times faster"
        found.append(f"{name} {point[name]:.{digits}f} {how}")
    return _line(
        f"{FASTER_THAN_BEFORE:g} times faster than earlier stages to their quality after "
        f"{point['iteration']} iterations ({point['seconds']:.1f} s)",
        reached=min(times) >= FASTER_THAN_BEFORE,
        figure="; ".join(found),
    )


def _lower(traces: Traces, measure: str, since: float) -> str:
    """Judge whether a perplexity stays below the lowest of LDA and HDP from some time on."""
    best = min(point[measure] for system in (LDA, HDP) for point in traces[system])
    points = traces[AFTER]
    later = [point[measure] for point in points if point["seconds"] >= since]
    highest = max(later or [points[-1][measure]])
    return _line(
        f"{measure} from {since:.1f} s on below the lowest of LDA and HDP at any time ({best:.0f})",
        reached=highest < best,
        figure=f"at most {highest:.0f}, finally {points[-1][measure]:.0f}",
    )


def _line(name: str, *, reached: bool, figure: str) -> str:
    return f"- {'reached' if reached else 'MISSED'}: {name}: {figure}"


def _at(points: Sequence[Row], iteration: int) -> Row:
    """Return the last point of at most this many iterations (the first if there is none)."""
    return next((p for p in reversed(points) if p["iteration"] <= iteration), points[0])


def to_markdown(rows: Sequence[Row], shown: Sequence[int] = (20, 100, 200, 400)) -> str:
    """Write a table of the points shown (the last always is), and the aims by corpus."""
    lines = [
        "| corpus | system | iterations | seconds | topics | coherence | perplexity | by phi |",
        "|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    joined = join_seeds(rows)
    for corpus, traces in joined.items():
        for system, points in traces.items():
            for point in points:
                if point["iteration"] not in shown and point is not points[-1]:
                    continue
                cells = [
                    corpus,
                    system,
                    str(point["iteration"]),
                    f"{point['seconds']:.1f}",
                    f"{point['topics']:.0f}",
                    f"{point['coherence']:.3f}",
                    f"{point['perplexity']:.0f}",
                    f"{point['perplexity by phi']:.0f}",
                ]
                lines.append("| " + " | ".join(cells) + " |")
    for corpus, traces in joined.items():
        lines += ["", f"{_describe(rows, corpus)}:", "", *aims(traces)]
    return "\n".join(lines)


def _describe(rows: Sequence[Row], corpus: str) -> str:
    """Name a corpus by its sizes."""
    here = [row for row in rows if row["corpus"] == corpus]
    seeds = len({row["seed"] for row in here})
    repeated = f"; {seeds} seeds" if seeds > 1 else ""
    return (
        f"{corpus} ({here[0]['documents']:,} documents, {here[0]['tokens']:,} words, "
        f"{here[0]['citations']:,} citations, K = {here[0]['K']}{repeated})"
    )


def draw(rows: Sequence[Row], out: Path) -> None:
    """Draw coherence and perplexity against seconds: a row of panels for each corpus."""
    from citeweave.explore.plots.style import (  # noqa: PLC0415 (Matplotlib is an extra)
        new_figure,
        saving,
    )

    joined = join_seeds(rows)
    with saving():
        figure = new_figure(7.4, 0.3 + 2.3 * len(joined))
        axes = figure.subplots(len(joined), 2, squeeze=False)
        for (corpus, traces), (left, right) in zip(joined.items(), axes, strict=True):
            described = _describe(rows, corpus).removeprefix(corpus).strip(" ()")
            _panel(left, traces, "coherence", f"{corpus}\n{described}")
            _panel(right, traces, "perplexity", "\nlower is better")
        for ax in axes[-1]:
            ax.set_xlabel("seconds of one core")
        handles, names = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=len(names), frameon=False)
        figure.savefig(out, metadata={"Date": None} if out.suffix == ".svg" else None)


def _panel(ax: Axes, traces: Traces, measure: str, title: str) -> None:
    from citeweave.explore.plots.style import head  # noqa: PLC0415 (as above)

    for system, points in traces.items():
        seconds = [point["seconds"] for point in points]
        values = [point[measure] for point in points]
        ax.plot(seconds, values, color=_COLOURS[system], marker="o", markersize=2.2, label=system)
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter("{x:g}")
    ax.set_ylabel("coherence (NPMI)" if RISES[measure] else "held-out perplexity")
    head(ax, title)
