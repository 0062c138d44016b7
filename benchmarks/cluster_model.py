"""The cost of workers as a model: fitted to runs of `benchmarks.cluster`, and extrapolated."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

UNSEEN = [(0.02, 40, 2), (0.03, 60, 3), (0.2, 40, 2), (0.6, 30, 2)]
"""Runs on Ray that the model has to predict, as well as those of ``large``."""


def add_run(path: Path, found: dict[str, Any]) -> None:
    """Add a run to a file of runs."""
    with path.open("a", encoding="utf-8") as file:
        print(json.dumps(found), file=file)


def read_runs(path: Path) -> tuple[list[dict[str, Any]], np.ndarray]:
    """Read runs, and fit the constants to those that are not to be predicted."""
    runs = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return runs, fit_model([run for run in runs if not _is_unseen(run)])


def features(run: dict[str, Any]) -> list[float]:
    """Return the quantities to which processor time is assumed to be proportional.

    All are known before the run: bytes are the bound of `benchmarks.cluster.predict_bytes`.
    """
    documents, topics = run["documents"], run["topics"]
    messages = sum(run["messages"]) if run["on_ray"] else 0.0
    shared = sum(run["predicted_bytes"])
    return [documents, documents * topics, run["workers"], shared, messages]


def fit_model(runs: list[dict[str, Any]]) -> np.ndarray:
    """Fit seconds per document, document and topic, worker, byte to be sent, and message."""
    rows = np.array([features(run) for run in runs])
    seconds = np.array([sum(run["processor"]) for run in runs])
    weights = 1.0 / seconds  # relative errors count
    solution, *_ = np.linalg.lstsq(rows * weights[:, None], seconds * weights, rcond=None)
    return np.asarray(solution)


def show_model(path: Path) -> None:
    """Print the constants, and the errors of predictions."""
    runs, constants = read_runs(path)
    names = ("document", "document and topic", "worker", "byte to be sent", "message on Ray")
    for name, value in zip(names, constants, strict=True):
        print(f"{value:.3g} s per {name}")
    print(
        "| scale | topics | workers | used to fit | processor s | predicted | error | MB sent per "
        "worker | upper bound | messages per worker | memory, MB | estimate |"
    )
    print("|--:|--:|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    for run in runs:
        total, guess = sum(run["processor"]), float(np.dot(features(run), constants))
        used = "no" if _is_unseen(run) else "yes"
        held = [""] * 2  # parts of one process share its memory
        if run["on_ray"]:
            held = [f"{max(run[name]) / 1e6:.0f}" for name in ("memory", "predicted_memory")]
        print(
            f"| {run['scale']} | {run['topics']} | {run['workers']} | {used} | {total:.3f} | "
            f"{guess:.3f} | {100 * (guess / total - 1):+.0f} % | {max(run['bytes']) / 1e6:.2f} | "
            f"{max(run['predicted_bytes']) / 1e6:.2f} | {max(run['messages']):.0f} | "
            f"{' | '.join(held)} |"
        )


def _is_unseen(run: dict[str, Any]) -> bool:
    case = (run["scale"], run["topics"], run["workers"])
    return run["on_ray"] and (case in UNSEEN or "large" in run)


WORKS, VOCABULARY, LISTED = 280e6, 100_000, 17
"""OpenAlex: works and words, and the topics of a paper when there are many."""
NODES, CITED = 2.31, 7.9
"""Nodes and citations per paper of the ML shape."""
SLOTS = {1000: 1208e-9 * 59.4, 4096: 1283e-9 * 59.4}
"""Seconds per paper of sweeps over slots on one core (docs/understand/many-topics.md)."""
ON_A_GPU = {1000: 0.083 / 139_227, 4096: 0.122 / 139_227}
"""Seconds per paper on an H200 (docs/results/parallel.md)."""
HELD = {1000: (1.108e9, 0.148e9), 4096: (4.540e9, 0.150e9)}
"""Bytes of counts of nodes of the largest of 32 workers on the ML shape, copies of other workers'
papers and authors included, as dense rows and as lists (`benchmarks.part_memory counted`)."""
PAPERS = 139_227
"""Papers of the ML shape."""
ENTRY, ROW_ENTRY = 10, 5
"""Bytes of a change of words that is sent, and of a topic of a row."""


def show_plan() -> None:
    """Print what 500 iterations of OpenAlex would take, with sweeps over slots."""
    print(
        "| topics | workers | nodes | s per iteration | hours for 500 | GB per worker: nodes | "
        "words | GB sent per worker and iteration | GB/s |"
    )
    print("|--:|---|---|--:|--:|--:|--:|--:|--:|")
    for topics in (1000, 4096):
        dense, sparse = (held * WORKS / PAPERS for held in HELD[topics])
        nodes = WORKS / 16 * NODES
        rows = (
            ("32 of 16 cores", 32, 16, SLOTS[topics], dense, "dense"),
            ("32 of 16 cores", 32, 16, SLOTS[topics], sparse, "sparse"),
            ("16 GPUs", 16, 1, ON_A_GPU[topics], 29 * topics * nodes, "dense"),
            ("16 GPUs", 16, 1, ON_A_GPU[topics], 12 * LISTED * nodes, "sparse"),
        )
        for name, workers, cores, seconds, held, kind in rows:
            papers = WORKS / workers
            step = papers * seconds / cores
            words = VOCABULARY * topics * (16 + 8 * cores) / 1e9
            row = ROW_ENTRY * LISTED + 17  # rows are sent as lists of what is not zero
            cited = min(papers * CITED, WORKS) * (1 - 1 / workers) * row
            sent = (2 * VOCABULARY * topics * ENTRY + cited) / 1e9
            print(
                f"| {topics:,} | {name} | {kind} | {step:,.0f} | {500 * step / 3600:,.1f} | "
                f"{held / 1e9:,.0f} | {words:,.0f} | {sent:,.0f} | "
                f"{sent / step:,.1f} |"
            )
