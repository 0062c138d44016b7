"""The aims of the sampler, each judged from the measurements of one run."""

from __future__ import annotations

from statistics import median
from typing import Any

from benchmarks.sampler_report import exponent, find, per_iteration, rates, ratios

__all__ = ["targets"]

Row = dict[str, Any]

MEMORY_MB = 700.0
CITATIONS_PER_SECOND = 1e6
TWO_CHAINS = 1.8


def _line(name: str, *, reached: bool, figure: str) -> str:
    return f"- {'reached' if reached else 'MISSED'}: {name}: {figure}"


def targets(result: dict[str, Any]) -> list[str]:
    """Compare the figures of a run with the aims; on tiny corpora they mean nothing."""
    lines: list[str] = []
    for block in result.get("speed", []):
        lines += _speed(block)
    for block in result.get("cores", []):
        rows = block["rows"]
        one, all_cores = (find(rows, "citeweave scntm", n) for n in (1, 2))
        if one and all_cores and one is not all_cores and all_cores["threads"] == 2:
            gain = median(ratios(all_cores, one))
            name = f"two chains on two cores at least {TWO_CHAINS} times as fast as one"
            name += f" ({block['shape']})"
            lines.append(_line(name, reached=gain >= TWO_CHAINS, figure=f"{gain:.2f}"))
    for block in result.get("slope", []):
        for name, amount, seconds in (
            ("tokens", "tokens", "word_seconds"),
            ("citations", "citations", "citation_seconds"),
        ):
            power = exponent([per_iteration(row, amount, seconds) for row in block["rows"]])
            figure = f"power {power:.2f}"
            lines.append(_line(f"cost linear in {name}", reached=power <= 1.1, figure=figure))
    for block in result.get("growth", []):
        points = [
            (row["topics"], 1.0 / median(rates(row, seconds="word_seconds")))
            for row in block["rows"]
        ]
        power = exponent(points)
        name = "word sweep grows slower than K"
        lines.append(_line(name, reached=power < 1.0, figure=f"power {power:.2f}"))
    return lines


def _speed(block: Row) -> list[str]:
    rows, where = block["rows"], f"{block['shape']}, K = {block['topics']}"
    full = find(rows, "citeweave scntm")
    lines: list[str] = []
    if full is None:
        return lines
    kinds = {"tomotopy HDP": "with its default prior", "tomotopy HDP-few": "kept near K"}
    for label, kind in kinds.items():
        hdp = find(rows, label)
        if hdp is not None and block["topics"] >= 50:
            ratio = median(ratios(full, hdp, "word_seconds"))
            live = hdp["turns"][-1]["topics"]
            name = f"full word sweep as fast as tomotopy's HDPModel {kind} ({where})"
            figure = f"{ratio:.2f} times its speed (it has {live} topics)"
            lines.append(_line(name, reached=ratio >= 1.0, figure=figure))
    if block["topics"] == 20:
        speed = median(rates(full, "citations", "citation_seconds") or [0.0])
        name = f"citation sweep at {CITATIONS_PER_SECOND:,.0f} citations/s ({where})"
        reached = speed >= CITATIONS_PER_SECOND
        lines.append(_line(name, reached=reached, figure=f"{speed:,.0f}/s"))
    if block["shape"].startswith("ML"):
        name = f"under {MEMORY_MB:.0f} MB in total ({where})"
        figure = f"{full['peak']:.0f} MB"
        lines.append(_line(name, reached=full["peak"] < MEMORY_MB, figure=figure))
    return lines
