"""Turn the measurements of `benchmarks.sampler` into Markdown tables."""

from __future__ import annotations

import importlib.metadata
import math
import os
import platform
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.sampler_plan import LACKS

__all__ = ["describe_machine", "to_markdown"]

Row = dict[str, Any]

CORES_NOTE = (
    "citeweave runs independent chains, one per core; tomotopy divides the work of one "
    "chain between its workers (approximately). Both are counted in tokens/s."
)


def describe_machine() -> dict[str, Any]:
    """Say on what the figures were made."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line for line in info.read_text(encoding="utf-8").splitlines() if "model name" in line
        ]
        model = names[0].split(":", 1)[1].strip() if names else model
    packages = {}
    for name in ("citeweave", "numpy", "numba", "tomotopy"):
        try:
            packages[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            packages[name] = "not installed"
    many = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {"processor": model, "cores": many, "python": platform.python_version()} | packages


def rates(row: Row, amount: str = "tokens", seconds: str = "seconds") -> list[float]:
    """Amount a second of each turn that has it."""
    return [turn[amount] / turn[seconds] for turn in row["turns"] if turn.get(seconds)]


def ratios(row: Row, other: Row, seconds: str = "seconds") -> list[float]:
    """Speed over another system's whole iterations, round by round."""
    mine = rates(row, seconds=seconds)
    return [a / b for a, b in zip(mine, rates(other), strict=False)]


def big(value: float) -> str:
    """Three digits with a unit: 1.23 M."""
    for size, unit in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= size:
            return f"{value / size:.3g}{unit}"
    return f"{value:.3g}"


def spread(values: list[float], *, plain: bool = False) -> str:
    """Median and range."""
    if not values:
        return "–"
    if plain:
        return f"{median(values):.2f} ({min(values):.2f}–{max(values):.2f})"
    return f"{big(median(values))} ({big(min(values))}–{big(max(values))})"


def table(head: list[str], rows: list[list[str]]) -> str:
    """Write Markdown with columns of even width, readable in a terminal too."""
    widths = [max(len(line[i]) for line in [head, *rows]) for i in range(len(head))]
    lines = [head, ["-" * width for width in widths], *rows]
    return "\n".join(
        "| " + " | ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)) + " |"
        for line in lines
    )


def find(rows: list[Row], label: str, threads: int | None = None) -> Row | None:
    """Row of a system, by its label (and its threads: 1, or more)."""
    for row in rows:
        if row["label"] == label and (threads is None or (row["threads"] > 1) == (threads > 1)):
            return row
    return None


def _speed(blocks: list[Row]) -> str:
    head = ["corpus", "K", "system", "tokens/s, whole iterations", "word sweep alone"]
    head += ["citations/s", "blocked", "topics", "× HDP", "sweep × HDP", "peak MB"]
    head += ["first sweep, s: cold", "warm"]
    lines = []
    for block in blocks:
        hdp = find(block["rows"], "tomotopy HDP")
        for row in block["rows"]:
            last = row["turns"][-1]
            start = row.get("first_sweep", {})
            lines.append(
                [
                    block["shape"],
                    str(block["topics"]),
                    row["label"],
                    spread(rates(row)),
                    spread(rates(row, seconds="word_seconds")),
                    spread(rates(row, "citations", "citation_seconds")),
                    f"{100 * last['blocked']:.0f} %" if "blocked" in last else "–",
                    str(last["topics"]),
                    spread(ratios(row, hdp), plain=True) if hdp else "–",
                    spread(ratios(row, hdp, "word_seconds"), plain=True) if hdp else "–",
                    f"{row['peak']:.0f}"
                    + (f" (cold {start['cold_peak']:.0f})" if "cold_peak" in start else ""),
                    f"{start['cold']:.1f}" if "cold" in start else "–",
                    f"{start['warm']:.1f}" if "warm" in start else "–",
                ]
            )
    return table(head, lines)


def _cores(blocks: list[Row]) -> str:
    head = ["corpus", "K", "system", "cores", "total tokens/s", "× one core", "peak MB"]
    lines = []
    for block in blocks:
        for row in block["rows"]:
            one = find(block["rows"], row["label"], 1)
            gain = ratios(row, one) if one is not None and one is not row else []
            lines.append(
                [
                    block["shape"],
                    str(block["topics"]),
                    row["label"],
                    str(row["threads"]),
                    spread(rates(row)),
                    spread(gain, plain=True),
                    f"{row['peak']:.0f}",
                ]
            )
    return table(head, lines)


def per_iteration(
    row: Row, amount: str = "tokens", seconds: str = "seconds"
) -> tuple[float, float]:
    """Items and median seconds of one turn."""
    turns = [turn for turn in row["turns"] if turn.get(seconds)]
    return (turns[0][amount], median(turn[seconds] for turn in turns)) if turns else (0.0, 0.0)


def exponent(points: list[tuple[float, float]]) -> float:
    """Least-squares slope of log seconds over log size: 1 is linear."""
    points = [(math.log(x), math.log(y)) for x, y in points if x > 0 and y > 0]
    if len(points) < 2:
        return math.nan
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    above = sum((x - mean_x) * (y - mean_y) for x, y in points)
    return above / sum((x - mean_x) ** 2 for x, _ in points)


def _slope(blocks: list[Row]) -> str:
    rows = blocks[0]["rows"]
    head = ["corpus", "tokens", "tokens/s, whole iterations", "word sweep alone", "citations/s"]
    turns = [row["turns"][0] for row in rows]
    lines = [
        [
            row["corpus"],
            big(turn["tokens"] / turn["iterations"]),
            spread(rates(row)),
            spread(rates(row, seconds="word_seconds")),
            spread(rates(row, "citations", "citation_seconds")),
        ]
        for row, turn in zip(rows, turns, strict=True)
    ]
    whole = exponent([per_iteration(row) for row in rows])
    words = exponent([per_iteration(row, seconds="word_seconds") for row in rows])
    links = exponent([per_iteration(row, "citations", "citation_seconds") for row in rows])
    note = (
        f"Seconds grow as size to the power {whole:.2f} (whole iterations), {words:.2f} (word "
        f"sweep over tokens), {links:.2f} (citation sweep over citations); 1 is linear."
    )
    return f"{table(head, lines)}\n\n{note}"


def _growth(blocks: list[Row]) -> str:
    rows = blocks[0]["rows"]
    head = ["K", "topics in use", "tokens/s, whole iterations", "word sweep alone", "citations/s"]
    head += ["cost of a sweep, × K = " + str(rows[0]["topics"]), "K, × that", "peak MB"]
    lines = [
        [
            str(row["topics"]),
            str(row["turns"][-1]["topics"]),
            spread(rates(row)),
            spread(rates(row, seconds="word_seconds")),
            spread(rates(row, "citations", "citation_seconds")),
            f"{_sweep_seconds(row) / _sweep_seconds(rows[0]):.2f}",
            f"{row['topics'] / rows[0]['topics']:.1f}",
            f"{row['peak']:.0f}",
        ]
        for row in rows
    ]
    power = exponent([(row["topics"], _sweep_seconds(row)) for row in rows])
    return f"{table(head, lines)}\n\nThe word sweep's seconds grow as K to the power {power:.2f}."


def _sweep_seconds(row: Row) -> float:
    return 1.0 / median(rates(row, seconds="word_seconds"))


def to_markdown(result: dict[str, Any], aims: list[str]) -> str:
    """Write all sections of a result, and which aims are reached."""
    machine = ", ".join(f"{name} {value}" for name, value in result["machine"].items())
    how = (
        f"Machine and versions: {machine}. Effort: {result['effort']}, {result['repeats']} rounds, "
        f"{result.get('minutes', '?')} minutes. Iterations before measuring: "
        f"{_by_corpus(result['burn_in'])}; per turn: {_by_corpus(result['turn'])}. Figures are "
        "medians over rounds, with the smallest and the largest."
    )
    parts = ["# Speed of the sampler", how]
    if "speed" in result:
        parts += ["## Systems on one core", _speed(result["speed"]), _explain()]
    if "cores" in result:
        parts += ["## One core and several", CORES_NOTE, _cores(result["cores"])]
    if "slope" in result:
        parts += ["## Growth with the corpus (K = 20)", _slope(result["slope"])]
    if "growth" in result:
        parts += ["## Growth with the number of topics", _growth(result["growth"])]
    if aims:
        parts += ["## Aims", "\n".join(aims)]
    return "\n\n".join(parts) + "\n"


def _by_corpus(numbers: dict[str, int]) -> str:
    return ", ".join(f"{number} ({corpus})" for corpus, number in numbers.items())


def _explain() -> str:
    lines = "\n".join(f"- {name} lacks {what}." for name, what in LACKS.items())
    return (
        "Whole iterations include everything in a step: word sweep, citation sweep, all "
        "hyperparameters and the training likelihood. Blocked: share of tokens that could not "
        "move in a sweep because they hold a table open. Topics: in use at the end. First sweep: "
        "time from the start of the process, including imports and reading; cold means without "
        "compiled kernels on disk. Peak MB: resident size of the whole process with kernels on "
        "disk, and, for cold, after the first sweep of a process that compiles them. What each "
        f"system lacks:\n\n{lines}"
    )
