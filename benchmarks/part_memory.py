"""What a worker of a cluster takes of memory for its part of a chain, by kind of array.

    python -m benchmarks.part_memory made --scale 0.1 --topics 50 1000 4096
    python -m benchmarks.part_memory counted --topics 1000 4096 --workers 2 8 32
    python -m benchmarks.part_memory swept --scale 0.03 --topics 1000
    python -m benchmarks.part_memory planned --scale 1 --workers 2 16

Data have the shape of the paper's ML corpus (`benchmarks.parallel.draw_data`). ``made`` makes the
chains of all parts, without sweeping them, and adds up the sizes of their arrays. ``counted`` takes
the sizes of counts of nodes from the plans of workers, so that nothing of that size is allocated;
what it prints for ten times the shape is the straight line through half of it and the whole.
``swept`` takes two divided chains through the same iterations in turns: one whose parts store
counts as lists, and one whose parts have dense rows. All figures are those of the largest part.
``planned`` gives what the driver keeps of a division, and what a worker takes to make its plan.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any, TypeVar
from unittest import mock

import numpy as np
from benchmarks.memory import KINDS, REST, list_arrays
from benchmarks.parallel import draw_data

from citeweave.engines.cluster import worker as worker_module
from citeweave.engines.cluster.in_process import InProcessChain, ThreadTeam
from citeweave.engines.cluster.part_rooms import with_rooms
from citeweave.engines.cluster.partition import Division, divide
from citeweave.engines.cluster.plans import make_plan
from citeweave.engines.cluster.sparse_part import SparsePartChain
from citeweave.engines.core.compact_rows import LIST_BYTES, ROW_BYTES
from citeweave.engines.core.data import ChainSettings, ClusterWorkers, Data, Request, WordsOf
from citeweave.engines.core.propensities import degrees
from citeweave.engines.core.setting_up import all_arrays
from citeweave.engines.core.sparse_sweeps import SPARSE_FROM
from citeweave.engines.core.spec import preset
from citeweave.model.sweeps import default_rounds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from citeweave.engines.cluster.plans import PartPlan

_INDEX_BYTES = 32
"""Bytes per node that say where its list is."""
_BEFORE = 3
"""Iterations that are not counted, in which citations join."""


def request(data: Data, topics: int, workers: int, rounds: int) -> Request:
    """Ask for a chain of the default model, divided between workers of one thread each."""
    settings = ChainSettings(topics=topics, network_from=1)
    team = ClusterWorkers(workers)
    spec = preset("scntm")
    return Request(spec, data, settings, 1, threads=workers, rounds=rounds, workers=team)


def measure_parts(data: Data, topics: int, workers: int) -> dict[str, int]:
    """Make the chains of all parts with all that their sweeps write to; measure the largest."""
    rounds = default_rounds(len(data.tokens), data.n_words * topics)
    divided = InProcessChain.open(request(data, topics, workers, rounds))
    team = ThreadTeam(divided.division, divided._recipe)  # noqa: SLF001
    measured = []
    for one in team.workers:
        chain: Any = one.chain
        made = chain._buffers if topics >= SPARSE_FROM else chain._workers()  # noqa: SLF001
        found: dict[int, tuple[str, int]] = {}
        list_arrays(chain, "", found)
        list_arrays(made, "", found)
        sizes = dict.fromkeys((*KINDS, REST), 0)
        for name, size in found.values():
            kind = next((k for k, parts in KINDS.items() if any(p in name for p in parts)), REST)
            sizes[kind] += size
        sizes["counts as dense rows"] = ROW_BYTES * topics * len(chain.layout.parent)
        measured.append(sizes)
    team.close()
    return max(measured, key=lambda sizes: sum(sizes.values()))


def show_made(scale: float, topics: list[int], workers: list[int]) -> None:
    """Print megabytes by kind of array."""
    data = draw_data(scale, 20)
    kinds = (*KINDS, REST)
    print(f"| topics | workers | {' | '.join(kinds)} | all | counts as dense rows |")
    print(f"|--:|--:|{'--:|' * (len(kinds) + 2)}")
    for n_workers in workers:
        for k in topics:
            sizes = measure_parts(data, k, n_workers)
            kept = [sizes[kind] for kind in kinds]
            cells = [*kept, sum(kept), sizes["counts as dense rows"]]
            shown = " | ".join(f"{size / 1e6:.1f}" for size in cells)
            print(f"| {k:,} | {n_workers} | {shown} |", flush=True)


def count_part(plan: PartPlan, topics: int, n_shared: int) -> dict[str, float]:
    """Count the bytes that the counts of a part's nodes take, as lists and as dense rows."""
    rooms = np.asarray(plan.rooms, np.int64)
    dense = rooms * LIST_BYTES >= ROW_BYTES * topics
    bytes_of = np.where(dense, ROW_BYTES * topics, LIST_BYTES * rooms) + _INDEX_BYTES
    sizes = [1, *(len(parents) for parents in plan.data.parents)]
    level = np.repeat(np.arange(len(sizes)), sizes)
    own = np.arange(len(rooms)) < plan.part.level_end[level]
    papers = level >= n_shared
    return {
        "papers": bytes_of[papers & own].sum(),
        "copies of papers": bytes_of[papers & ~own].sum(),
        "authors": bytes_of[~papers & own].sum(),
        "copies of authors": bytes_of[~papers & ~own].sum(),
        "counts as lists": bytes_of.sum(),
        "counts as dense rows": ROW_BYTES * topics * len(rooms),
    }


def count_parts(data: Data, topics: list[int], workers: int) -> list[dict[str, float]]:
    """Count the bytes of all parts, and return those of the largest, by number of topics."""
    spec = preset("scntm")
    division = divide_data(data, workers)
    found = []
    for k in topics:
        roomy = with_rooms(division, spec, data, ChainSettings(topics=k))
        counted = [count_part(make_plan(roomy, p), k, spec.n_shared) for p in range(workers)]
        found.append(max(counted, key=lambda sizes: sizes["counts as lists"]))
    return found


def divide_data(data: Data, workers: int) -> Division:
    """Divide data between workers, as the driver does."""
    n_documents = len(data.offsets) - 1
    known = ChainSettings(topics=1).self_citations
    ends = degrees(data.citing, data.cited, n_documents, self_citations=known)
    return divide(data, ends, preset("scntm").n_shared, workers)


def show_counted(topics: list[int], workers: list[int]) -> None:
    """Print gigabytes of counts of nodes, of the ML shape and of ten times it."""
    half, whole = draw_data(0.5, 20), draw_data(1.0, 20)
    heads: tuple[str, ...] = ()
    for n_workers in workers:
        pairs = zip(*(count_parts(data, topics, n_workers) for data in (whole, half)), strict=True)
        for k, (sizes, less) in zip(topics, pairs, strict=True):
            if not heads:
                heads = tuple(sizes)
                print(f"| scale | topics | workers | {' | '.join(heads)} |")
                print(f"|--:|--:|--:|{'--:|' * len(heads)}")
            for scale in (1, 10):
                line = {n: size + 2 * (scale - 1) * (size - less[n]) for n, size in sizes.items()}
                cells = " | ".join(f"{line[name] / 1e9:.3f}" for name in heads)
                mark = "" if scale == 1 else " (extrapolated)"
                print(f"| {scale}{mark} | {k:,} | {n_workers} | {cells} |", flush=True)


class _Unread:
    """Words on disk, which plans do not read."""

    def of_documents(self, documents: np.ndarray | None = None) -> np.ndarray:
        raise NotImplementedError


_T = TypeVar("_T")


def measure(work: Callable[[], _T]) -> tuple[_T, float, int]:
    """Return what a function returns, its seconds, and the peak of the bytes that it allocates."""
    tracemalloc.start()
    clock = time.perf_counter()
    found = work()
    clock = time.perf_counter() - clock
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found, clock, peak


def size_of(value: Any, *, known: set[int]) -> int:
    """Add up the bytes of the arrays of a tuple, but those that are known already."""
    if isinstance(value, np.ndarray):
        return 0 if id(value) in known else value.nbytes
    parts = value if isinstance(value, tuple) else ()
    return sum(size_of(part, known=known) for part in parts)


def show_planned(scale: float, workers: list[int]) -> None:
    """Print what the division of a chain and the plans of its parts take."""
    drawn = draw_data(scale, 20)
    # as of a corpus of shards, whose words workers read from disk
    places = tuple(parent.astype(np.int32) for parent in drawn.parents)
    data = drawn._replace(parents=places, tokens=WordsOf(_Unread()))
    papers = len(data.offsets) - 1
    arrays = {id(array) for array in (*data, *places)}
    print(f"{papers:,} papers, {len(data.citing):,} citations")
    print(
        "| workers | kept by the driver, bytes per paper | in the object store | plans of all "
        "| s to divide | peak, bytes per paper | s to make a plan | peak, bytes per paper |"
    )
    print("|--:|--:|--:|--:|--:|--:|--:|--:|")
    for n_workers in workers:
        division, divided, peak = measure(partial(divide_data, data, n_workers))
        made = [measure(partial(make_plan, division, p)) for p in range(n_workers)]
        plans = sum(size_of(plan, known=set()) for plan, _, _ in made)
        cells = [
            f"{size_of(division, known=arrays) / papers:.1f}",
            f"{size_of(division, known=set()) / papers:.1f}",
            f"{plans / papers:.0f}",
            f"{divided:.2f}",
            f"{peak / papers:.0f}",
            f"{median(seconds for _, seconds, _ in made):.2f}",
            f"{max(peak for _, _, peak in made) / papers:.0f}",
        ]
        print(f"| {n_workers} | {' | '.join(cells)} |", flush=True)


class DenseRowsPart(SparsePartChain):
    """A part whose counts of nodes are dense rows."""

    compact_counts = False


def show_swept(scale: float, topics: int, workers: int, iterations: int) -> None:
    """Sweep divided chains in turns whose parts keep counts in lists and in dense rows."""
    data = draw_data(scale, 20)
    rounds = default_rounds(len(data.tokens), data.n_words * topics)
    ways = {"dense rows": DenseRowsPart, "lists": SparsePartChain}
    chains: Mapping[str, InProcessChain] = {
        name: InProcessChain.open(request(data, topics, workers, rounds)) for name in ways
    }
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for name, chain in chains.items():
        with mock.patch.object(worker_module, "SparsePartChain", ways[name]):
            chain.start()
            chain.step()  # workers are made
        for _ in range(_BEFORE - 1):
            chain.step()
    for turn in range(iterations):
        for name in sorted(chains, reverse=turn % 2 > 0):
            clock = time.process_time()
            chains[name].step()
            seconds[name].append(time.process_time() - clock)
    expected = all_arrays(chains["dense rows"].state)
    print(f"{scale} of the shape, {topics} topics, {workers} workers, {rounds} snapshots a sweep")
    print("| counts of nodes | MB | processor s | same state | topics refused |")
    print("|---|--:|--:|---|--:|")
    for name, chain in chains.items():
        team: Any = chain._team  # noqa: SLF001
        rows = [one.chain.state.topics.customers for one in team.workers]
        sizes, refused = [], 0
        for one in team.workers:
            found: dict[int, tuple[str, int]] = {}
            list_arrays(one.chain.state.topics, "", found)
            sizes.append(sum(size for _, size in found.values()))
        if name == "lists":
            refused = sum(int(one.lost[0]) for one in rows)
        pairs = zip(all_arrays(chain.state), expected, strict=True)
        same = "yes" if all(np.array_equal(*pair) for pair in pairs) else "NO"
        taken = seconds[name]
        times = f"{median(taken):.2f} ({min(taken):.2f} to {max(taken):.2f})"
        print(f"| {name} | {max(sizes) / 1e6:.1f} | {times} | {same} | {refused} |")
        chain.close()


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    names = ("made", "counted", "swept", "planned")
    made, counted, swept, planned = (commands.add_parser(name) for name in names)
    for one in (made, counted):
        one.add_argument("--topics", type=int, nargs="+", default=[1000, 4096])
    for one, default in ((made, [2]), (counted, [2, 8, 32]), (planned, [2, 16])):
        one.add_argument("--workers", type=int, nargs="+", default=default)
    made.add_argument("--scale", type=float, default=0.1)
    planned.add_argument("--scale", type=float, default=1.0)
    swept.add_argument("--scale", type=float, default=0.03)
    swept.add_argument("--topics", type=int, default=1000)
    swept.add_argument("--workers", type=int, default=2)
    swept.add_argument("--iterations", type=int, default=8)
    given = parser.parse_args()
    if given.command == "made":
        show_made(given.scale, given.topics, given.workers)
    elif given.command == "counted":
        show_counted(given.topics, given.workers)
    elif given.command == "planned":
        show_planned(given.scale, given.workers)
    else:
        show_swept(given.scale, given.topics, given.workers, given.iterations)


if __name__ == "__main__":
    main()
