"""The cost of workers on Ray: processor time, bytes and memory, and a cost model.

    python -m benchmarks.cluster runs --out runs.jsonl      # runs of 1, 2 and 3 workers
    python -m benchmarks.cluster model runs.jsonl           # constants and predictions
    python -m benchmarks.cluster plan                       # what OpenAlex would take
    python -m benchmarks.cluster crossing hep-th ieee-vis   # citations between parts
    python -m benchmarks.cluster turns                      # two workers compared with two threads
    python -m benchmarks.cluster large runs.jsonl           # ten times the ML shape, by two workers
    python -m benchmarks.cluster gpu                        # parts on one GPU beside it alone

Data have the shape of the paper's ML corpus (`benchmarks.parallel.draw_data`). Times are processor
times, which other work on the machine hardly affects; ``turns`` and ``gpu`` give wall-clock times.
``gpu`` needs neither Ray nor a table library.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
from benchmarks.cluster_model import UNSEEN, add_run, show_model, show_plan
from benchmarks.parallel import WORDS, draw_data

from citeweave.engines.cluster.chain import RayChain
from citeweave.engines.cluster.in_process import InProcessChain
from citeweave.engines.cluster.partition import crossing_share, divide_documents
from citeweave.engines.cluster.plans import make_plan
from citeweave.engines.cluster.worker import most_memory
from citeweave.engines.core.capabilities import CPU, CUDA
from citeweave.engines.core.data import ChainSettings, ClusterWorkers, Data, Request
from citeweave.engines.core.setting_up import all_arrays
from citeweave.engines.core.sparse_sweeps import SPARSE_FROM
from citeweave.engines.core.spec import preset
from citeweave.engines.cuda import CudaChain, CudaDevice
from citeweave.engines.slots.snapshot import SparseSnapshotChain
from citeweave.engines.threads.chain import SnapshotChain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from citeweave.engines.cluster.divided import DividedChain
    from citeweave.engines.cluster.plans import PartPlan
    from citeweave.engines.protocol import RunningChain

RUNS = [
    *((0.01, topics, workers) for topics in (20, 60) for workers in (1, 2, 3)),
    *((scale, 20, workers) for scale in (0.03, 0.1, 0.3) for workers in (1, 2, 3)),
    *((0.1, 60, workers) for workers in (1, 2)),
    *((1.0, 20, workers) for workers in (1, 2)),
]
"""Scale of the ML shape, topics and workers of the runs to which constants are fitted: workers are
threads of one process, whose kernels are loaded once."""
ON_RAY = [(0.01, 20, 2), (0.01, 20, 3), (0.1, 20, 2), (0.3, 20, 2)]
"""Runs on Ray, which show the cost of a message."""
STEPS = 4
EMPTY, PER_NODE = 340_000_000, 1_700
"""Bytes of a worker process without papers, and of a node of its part besides its counts: arrays of
papers, citations and plans, and what the start needs for a while."""
_BEFORE = 3
"""Iterations that are not counted, in which kernels are loaded and citations join."""
_BEFORE_ON_GPU = 6
"""The same on a GPU, where the first few also bring the state to the host."""


def request(
    data: Data, topics: int, *, threads: int = 1, workers: int = 1, device: str = CPU
) -> Request:
    """Request a chain with the default model and one snapshot per sweep."""
    settings = ChainSettings(topics=topics, network_from=1)
    team = ClusterWorkers(workers, device=device)
    return Request(preset("scntm"), data, settings, 1, threads=threads, workers=team)


def run_workers(
    kind: type[DividedChain], scale: float, topics: int, workers: int, steps: int = STEPS
) -> dict[str, Any]:
    """Run some iterations with workers of one thread each, and measure their resources."""
    data = draw_data(scale, min(topics, 20))
    chain = kind.open(request(data, topics, threads=workers, workers=workers))
    chain.start()
    for _ in range(_BEFORE):
        chain.step()
    before = chain.usage()
    clock = time.perf_counter()
    for _ in range(steps):
        chain.step()
    clock = (time.perf_counter() - clock) / steps
    after = chain.usage()
    pairs = list(zip(before, after, strict=True))
    one_process = kind is InProcessChain
    part = divide_documents(data, 2, workers)
    out = {
        "scale": scale,
        "topics": topics,
        "workers": workers,
        "on_ray": not one_process,
        "documents": len(data.offsets) - 1,
        "tokens": len(data.tokens),
        "citations": len(data.citing),
        "crossing": crossing_share(data, part),
        "processor": [
            (b.processor - a.processor) / steps for a, b in (pairs[:1] if one_process else pairs)
        ],
        "bytes": [(b.bytes - a.bytes) / steps for a, b in pairs],
        "messages": [(b.messages - a.messages) / steps for a, b in pairs],
        "predicted_bytes": predict_bytes(chain, topics),
        "memory": [one.memory for one in after],
        "predicted_memory": predict_memory(chain, topics),
        "driver_memory": most_memory(),
        "clock": clock,
    }
    chain.close()
    return out


def plans_of(chain: DividedChain) -> Iterator[PartPlan]:
    """Make the plans of all workers, one after the other."""
    return (make_plan(chain.division, p) for p in range(chain.division.parts))


def predict_memory(chain: DividedChain, topics: int) -> list[int]:
    """Estimate the bytes that each worker holds, by the rule of docs/how-to/cluster.md."""
    words = WORDS * topics * (16 + 8)
    node = PER_NODE + 8 * topics
    return [
        EMPTY + node * len(plan.part.node) + words + 7 * len(plan.data.tokens)
        for plan in plans_of(chain)
    ]


def predict_bytes(chain: DividedChain, topics: int) -> list[float]:
    """Predict the bytes that each worker sends per iteration, from what it shares with others.

    These are all changes of words and topics, as if none were zero; once before citations, the rows
    of nodes and papers that others hold copies of; once after, changes of copies and records of
    citations.
    """
    out = []
    workers = chain.division.parts
    for plan in plans_of(chain):
        row = 8 * topics + 32
        words = 2 * (workers - 1) / workers * WORDS * (8 * topics + 4)
        papers = sum(map(len, plan.cited.owned)) * row
        nodes = sum(len(owned) for route in plan.nodes for owned in route.owned) * row
        changes = sum(len(copies) for route in plan.nodes for copies in route.copies) * 8 * topics
        citations = sum(map(len, plan.citations.copies)) * 20
        out.append(words + papers + nodes + changes + citations)
    return out


def show_large(path: Path, scale: float, topics: int, steps: int) -> None:
    """Run two workers on data of many times the ML shape, add the run, and print all of them."""
    add_run(path, run_workers(RayChain, scale, topics, 2, steps) | {"large": True})
    show_model(path)


def compare_turns(scale: float, topics: int, turns: int) -> None:
    """Let two threads and two workers take turns, iteration by iteration.

    Both sweep over slots from 256 topics on.
    """
    data = draw_data(scale, min(topics, 20))
    kind = SparseSnapshotChain if topics >= SPARSE_FROM else SnapshotChain
    whole = kind.open(request(data, topics, threads=2))
    divided = RayChain.open(request(data, topics, threads=2, workers=2))
    taken: dict[str, list[tuple[float, float]]] = {"two threads": [], "two workers": []}
    sent: list[tuple[float, float]] = []
    for chain in (whole, divided):
        chain.start()
        for _ in range(_BEFORE):
            chain.step()
    for _ in range(turns):
        clock, processor = time.perf_counter(), time.process_time()
        whole.step()
        taken["two threads"].append((time.perf_counter() - clock, time.process_time() - processor))
        before, clock = divided.usage(), time.perf_counter()
        divided.step()
        clock = time.perf_counter() - clock
        pairs = list(zip(before, divided.usage(), strict=True))
        taken["two workers"].append((clock, sum(b.processor - a.processor for a, b in pairs)))
        messages = max(b.messages - a.messages for a, b in pairs)
        sent.append((messages, max(b.bytes - a.bytes for a, b in pairs) / 1e6))
    divided.close()
    whole.close()
    print("| sweeps | s, median (range) | processor s, median (range) |")
    print("|---|--:|--:|")
    for name, rows in taken.items():
        cells = [
            f"{median(values):.2f} ({min(values):.2f} to {max(values):.2f})"
            for values in zip(*rows, strict=True)
        ]
        print(f"| {name} | {' | '.join(cells)} |")
    ratios = [[a[i] / b[i] for a, b in zip(*taken.values(), strict=True)] for i in range(2)]
    print(
        f"Speed of workers: {median(ratios[0]):.2f} of threads' by the clock, "
        f"{median(ratios[1]):.2f} by processor time; turns {min(ratios[0]):.2f} to "
        f"{max(ratios[0]):.2f} and {min(ratios[1]):.2f} to {max(ratios[1]):.2f}."
    )
    found = [sorted(values) for values in zip(*sent, strict=True)]
    print(
        f"Sent per worker and iteration: {median(found[0]):.0f} messages ({found[0][0]} to "
        f"{found[0][-1]}), {median(found[1]):.2f} MB ({found[1][0]:.2f} to {found[1][-1]:.2f})."
    )


def compare_gpu(scale: float, topics: int, turns: int, numbers: list[int]) -> None:
    """Time a GPU alone, and with several parts of a chain on it that are threads of one process."""
    print(f"{CudaDevice().describe()}; {scale:g} of the ML shape, {topics} topics")
    data = draw_data(scale, topics)
    alone = CudaChain.open(request(data, topics))
    _warm_up(alone)
    taken = [alone.step().seconds for _ in range(turns)]
    expected = [array.copy() for array in all_arrays(alone.state)]
    alone.close()
    print("| chain | ms, median (range) | MB sent per part | messages | ms of exchanges | bytes |")
    print("|---|--:|--:|--:|--:|---|")
    print(f"| in one piece | {_spread(taken)} | | | | |", flush=True)
    for parts in numbers:
        chain = InProcessChain.open(request(data, topics, workers=parts, device=CUDA))
        _warm_up(chain)
        before = chain.usage()
        taken = [chain.step().seconds for _ in range(turns)]
        used = list(zip(before, chain.usage(), strict=True))
        sent, messages, waited = (
            sum(getattr(b, name) - getattr(a, name) for a, b in used) / parts / turns
            for name in ("bytes", "messages", "waited")
        )
        state = zip(all_arrays(chain.state), expected, strict=True)
        same = all(np.array_equal(mine, theirs) for mine, theirs in state)
        chain.close()
        cells = [_spread(taken), f"{sent / 1e6:.2f}", f"{messages:.0f}", f"{1000 * waited:.1f}"]
        cells.append("the same" if same else "OTHERS")
        print(f"| {parts} parts | {' | '.join(cells)} |", flush=True)


def _warm_up(chain: RunningChain) -> None:
    chain.start()
    for _ in range(_BEFORE_ON_GPU):
        chain.step()


def _spread(seconds: list[float]) -> str:
    low, middle, high = (1000 * value for value in (min(seconds), median(seconds), max(seconds)))
    return f"{middle:.1f} ({low:.1f} to {high:.1f})"


def show_crossing(names: list[str]) -> None:
    """Print the share of citations between parts, and how well parts are balanced."""
    # read tables, which the other commands do without
    from citeweave import datasets  # noqa: PLC0415
    from citeweave.model.groups import build_tree  # noqa: PLC0415

    print("| corpus | parts | citations that cross | at random | largest part of the mean |")
    print("|---|--:|--:|--:|--:|")
    for name in names:
        data = build_tree(datasets.load(name), preset("scntm"), eta=0, unknown="shared").data
        tokens = np.diff(data.offsets)
        for parts in (2, 4, 16):
            part = divide_documents(data, 2, parts)
            loads = np.bincount(part, tokens)
            print(
                f"| {name} | {parts} | {crossing_share(data, part):.2f} | {1 - 1 / parts:.2f} | "
                f"{loads.max() / loads.mean():.3f} |"
            )


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    runs = commands.add_parser("runs")
    runs.add_argument("--out", type=Path, required=True)
    commands.add_parser("model").add_argument("runs", type=Path)
    commands.add_parser("plan")
    crossing = commands.add_parser("crossing")
    crossing.add_argument("corpora", nargs="+")
    turns = commands.add_parser("turns")
    large = commands.add_parser("large")
    large.add_argument("runs", type=Path, help="those that constants are fitted to")
    gpu = commands.add_parser("gpu")
    gpu.add_argument("--parts", type=int, nargs="+", default=[1, 2, 4])
    for one, scale in ((turns, 1.0), (large, 10.0), (gpu, 0.3)):
        one.add_argument("--scale", type=float, default=scale)
        one.add_argument("--topics", type=int, default=20)
        one.add_argument("--turns", type=int, default=5)
    given = parser.parse_args()
    if given.command == "runs":
        cases = [(InProcessChain, case) for case in RUNS]
        cases += [(RayChain, case) for case in (*ON_RAY, *UNSEEN)]
        for kind, case in cases:
            add_run(given.out, run_workers(kind, *case))
    elif given.command == "model":
        show_model(given.runs)
    elif given.command == "plan":
        show_plan()
    elif given.command == "crossing":
        show_crossing(given.corpora)
    elif given.command == "turns":
        compare_turns(given.scale, given.topics, given.turns)
    elif given.command == "gpu":
        compare_gpu(given.scale, given.topics, given.turns, given.parts)
    else:
        show_large(given.runs, given.scale, given.topics, given.turns)


if __name__ == "__main__":
    main()
