"""What a chain takes of memory, by what its arrays are about: on the CPU, and planned for a GPU.

    python -m benchmarks.memory arrays --topics 50 1000 4096 --threads 2 16
    python -m benchmarks.memory gpu --topics 50 1000 4096
    python -m benchmarks.memory swept --scale 0.1 --topics 1000
    python -m benchmarks.memory swept-on-gpu --scale 1 --topics 1000

Data have the shape of the paper's ML corpus (`benchmarks.parallel.draw_data`). ``arrays`` makes
chains of the engine that ``fit`` chooses, without sweeping them, and adds up the sizes of their
arrays. What it prints for ten times the shape is the straight line through half of it and the
whole (documents, authors and citations grow; words and topics do not), with the snapshots a sweep
that ten times the shape gets. ``gpu`` asks the GPU engine's own count of what it is about to
allocate, for a card that is not there; blocks at work are those of an H200 at full occupancy.
``swept`` takes chains that keep counts of nodes and their changes in different ways through the
same iterations, in turns, and tells what they take and how many topics nodes have.
``swept-on-gpu`` does the same on a GPU, with counts of nodes in lists and in dense rows.
"""

from __future__ import annotations

import argparse
import time
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest import mock

import numpy as np
from benchmarks.parallel import draw_data

from citeweave.engines.core.capabilities import SNAPSHOT
from citeweave.engines.core.chain import Chain
from citeweave.engines.core.data import ChainSettings, Data, Request
from citeweave.engines.core.estimates import new_sums
from citeweave.engines.core.spec import preset
from citeweave.engines.cuda import chain as cuda_chain
from citeweave.engines.cuda import memory
from citeweave.engines.registry import choose_engine
from citeweave.engines.slots import SparseSnapshotChain
from citeweave.engines.slots import snapshot as slots_module
from citeweave.engines.slots import snapshot_citations as citations_module
from citeweave.model.sweeps import default_rounds

if TYPE_CHECKING:
    from citeweave.engines.core.arrays import State

KINDS = {
    "counts of nodes": ("state.topics.customers", "state.topics.tables"),
    "bits of nodes": ("proposals.nodes", "presence", "marks.nodes"),
    "changes of nodes": ("node_customers", "node_tables", "lists"),
    "rows of citation sweeps": ("citations.topics", "_neighbourhoods"),
    "words and topics": (
        *("state.words", "cache", "proposals.", "changes.words", "marks.words", "_worlds"),
        *("_means", "background_tables"),
    ),
}
"""What the names of arrays that belong together have in them; all others are by paper, token,
citation or node."""
REST = "papers, tokens, citations"
SUMS = "sums of samples"
_ROWS_THAT_STAY = 1 << 29
"""Most bytes of rows that citation sweeps keep, of all threads together."""


def list_arrays(thing: Any, name: str, found: dict[int, tuple[str, int]]) -> None:
    """Find all arrays that something holds, each once, by the place of their memory."""
    if isinstance(thing, np.ndarray):
        whole = thing
        while isinstance(whole.base, np.ndarray):
            whole = whole.base
        place = whole.__array_interface__["data"][0]
        if whole.nbytes and place not in found:
            found[place] = (name, whole.nbytes)
    elif isinstance(thing, tuple) and hasattr(thing, "_fields"):
        for field, part in zip(thing._fields, thing, strict=True):
            list_arrays(part, f"{name}.{field}", found)
    elif isinstance(thing, (list, tuple)):
        for part in thing:
            list_arrays(part, name, found)
    elif type(thing).__module__.startswith("citeweave") and hasattr(thing, "__dict__"):
        for field, part in vars(thing).items():
            if not isinstance(part, Chain):  # what it belongs to
                list_arrays(part, f"{name}.{field}", found)


def measure_arrays(data: Data, topics: int, threads: int, rounds: int) -> dict[str, int]:
    """Make a chain with all that its sweeps write to, and add up its arrays by kind."""
    spec = preset("scntm")
    choice = choose_engine(spec, topics, SNAPSHOT, device="cpu")
    settings = ChainSettings(topics=topics)
    request = Request(spec, data, settings, 1, threads=threads, rounds=rounds)
    chain: Any = choice.engine.open(request)
    # made when first swept
    made = chain._buffers if choice.name == "sparse-snapshot" else chain._workers()  # noqa: SLF001
    found: dict[int, tuple[str, int]] = {}
    list_arrays(chain, "", found)
    list_arrays(made, "", found)
    sizes = dict.fromkeys((*KINDS, REST, SUMS), 0)
    for name, size in found.values():
        kind = next((k for k, parts in KINDS.items() if any(p in name for p in parts)), REST)
        sizes[kind] += size
    sizes[SUMS] = sum(array.nbytes for array in new_sums(chain))
    chain.close()
    return sizes


def show_arrays(topics: list[int], threads: list[int]) -> None:
    """Print gigabytes by kind, of the ML shape and of ten times it."""
    half, whole = draw_data(0.5, 20), draw_data(1.0, 20)
    tokens = len(whole.tokens)
    print(f"| scale | topics | threads | {' | '.join((*KINDS, REST))} | all | {SUMS} |")
    print(f"|--:|--:|--:|{'--:|' * (len(KINDS) + 3)}")
    for n_threads in threads:
        for scale in (1, 10):
            for k in topics:
                rounds = default_rounds(scale * tokens, whole.n_words * k)
                sizes = measure_arrays(whole, k, n_threads, rounds)
                if scale > 1:
                    less = measure_arrays(half, k, n_threads, rounds)
                    sizes = {
                        kind: size + 2 * (scale - 1) * (size - less[kind])
                        for kind, size in sizes.items()
                    }
                    rows = "rows of citation sweeps"
                    sizes[rows] = min(sizes[rows], _ROWS_THAT_STAY)
                kept = [sizes[kind] for kind in (*KINDS, REST)]
                cells = " | ".join(f"{size / 1e9:.2f}" for size in (*kept, sum(kept), sizes[SUMS]))
                mark = "" if scale == 1 else " (extrapolated)"
                print(f"| {scale}{mark} | {k:,} | {n_threads} | {cells} |", flush=True)


class _PlannedError(Exception):
    """A chain has counted its bytes, which is all that was wanted."""


class PlannedDevice:
    """An H200 that is not there: it says how many blocks it would run, and nothing else."""

    xp = np
    units, resident = 132, 2048
    """Multiprocessors, and threads that each runs at a time."""

    def prepare(self, program: Any) -> None:
        """Compile nothing."""

    def size(self, blocks: int, threads: int) -> tuple[int, int]:
        """Have blocks and threads as they are asked for."""
        return blocks, threads

    def resident_blocks(self, name: str, threads: int, shared: int) -> int:  # noqa: ARG002
        """Give the blocks at full occupancy, as far as shared memory goes."""
        by_memory = 227 * 1024 // max(shared, 1)
        return self.units * max(min(self.resident // threads, by_memory), 1)


def plan_gpu(data: Data, topics: int, rounds: int) -> dict[str, int]:
    """Count what a chain on a GPU is about to allocate, by kind, as the engine does."""
    count = cuda_chain.bytes_needed
    found: dict[str, int] = {}

    def note(
        chain: Any, stored: State, fixed: dict[str, np.ndarray], room: dict[str, tuple[int, type]]
    ) -> int:
        held: dict[int, tuple[str, int]] = {}
        list_arrays((stored.topics.customers, stored.topics.tables), "", held)
        bytes_of = {name: n * np.dtype(kind).itemsize for name, (n, kind) in room.items()}
        above = sum(bytes_of[name] for name in ("node_customers", "node_tables", "node_mean"))
        found.update(
            {
                "counts of nodes": sum(size for _, size in held.values()),
                "changes and means of nodes above papers": above,
                "bits of nodes": bytes_of["bits"],
                "all": count(chain, stored, fixed, room),
                SUMS: memory.bytes_of_sums(chain),
            }
        )
        raise _PlannedError

    with mock.patch.object(cuda_chain, "bytes_needed", note):
        settings = ChainSettings(topics=topics)
        try:
            cuda_chain.CudaChain(
                preset("scntm"), data, settings, seed=1, rounds=rounds, device=PlannedDevice()
            )
        except _PlannedError:
            return found
    raise AssertionError("the chain has not counted its bytes")


def _nodes_of(data: Data) -> int:
    """Count the nodes of the topic side."""
    return 1 + sum(len(parents) for parents in data.parents)


def show_gpu(topics: list[int]) -> None:
    """Print gigabytes by kind, of the ML shape and of ten times it."""
    half, whole = draw_data(0.5, 20), draw_data(1.0, 20)
    names: tuple[str, ...] = ()
    for scale in (1, 10):
        for k in topics:
            rounds = default_rounds(scale * len(whole.tokens), whole.n_words * k)
            sizes = plan_gpu(whole, k, rounds)
            if scale > 1:
                less = plan_gpu(half, k, rounds)
                sizes = {n: size + 2 * (scale - 1) * (size - less[n]) for n, size in sizes.items()}
            if not names:
                names = tuple(sizes)
                print(f"| scale | topics | {' | '.join(names)} | bytes a node and topic |")
                print(f"|--:|--:|{'--:|' * (len(names) + 1)}")
            nodes = scale * _nodes_of(whole) * k
            mark = "" if scale == 1 else " (extrapolated)"
            cells = " | ".join(f"{sizes[name] / 1e9:.2f}" for name in names)
            print(f"| {scale}{mark} | {k:,} | {cells} | {sizes['all'] / nodes:.1f} |", flush=True)


def most_resident() -> float:
    """Give the gigabytes that this process has held at most (Linux)."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return int(dict(line.split(":", 1) for line in lines)["VmHWM"].split()[0]) / 1e6


def topics_of_nodes(chain: SparseSnapshotChain) -> list[float]:
    """Give the mean number of topics that the nodes of each level have."""
    bits = np.bitwise_count(chain.proposals.nodes).sum(axis=1)
    return [float(bits[a:b].mean()) for a, b in pairwise(chain.layout.level_start)]


class DenseRowsChain(SparseSnapshotChain):
    """A chain whose counts of nodes are dense rows."""

    compact_counts = False


class Way(NamedTuple):
    """How a chain keeps counts of nodes, and what sweeps do to them."""

    counts_as_lists: bool = True
    changes_as_lists: bool = True
    share: float = 1.0
    """Of the nodes above papers whose rows citation sweeps keep."""


def kept_in(way: Way, request: Request) -> SparseSnapshotChain:
    """Make a chain that keeps counts and changes of nodes in one of several ways."""
    chain = (SparseSnapshotChain if way.counts_as_lists else DenseRowsChain).open(request)
    n_shared = int(chain.layout.level_start[chain.spec.n_shared])
    keep = slots_module.rows_kept if way.changes_as_lists else lambda *_: (n_shared, 0)
    most = int(way.share * 8 * request.settings.topics * request.threads * n_shared)
    with (
        mock.patch.object(slots_module, "rows_kept", keep),
        mock.patch.object(citations_module, "_MOST_BYTES", most),
    ):
        chain._buffers  # noqa: B018, SLF001 (made when first asked for)
    return chain


WAYS = {
    "rows, changes in rows": Way(counts_as_lists=False, changes_as_lists=False),
    "rows": Way(counts_as_lists=False),
    "lists": Way(),
    "lists, rows of a twentieth of the authors": Way(share=0.05),
}
"""By what counts of nodes are kept in; changes are lists where nothing else is said."""


def show_swept(scale: float, topics: int, threads: int, iterations: int) -> None:
    """Sweep chains in turn that keep counts and changes in different ways, to the same counts."""
    data = draw_data(scale, 20)
    rounds = default_rounds(len(data.tokens), data.n_words * topics)
    settings = ChainSettings(topics=topics, network_from=2)
    request = Request(preset("scntm"), data, settings, 1, threads=threads, rounds=rounds)
    chains = {name: kept_in(way, request) for name, way in WAYS.items()}
    seconds: dict[str, list[float]] = {name: [] for name in chains}
    for chain in chains.values():
        chain.start()
    for _ in range(iterations):
        for name, chain in chains.items():
            clock = time.process_time()
            chain.step()
            seconds[name].append(time.process_time() - clock)
    first = next(iter(chains.values()))
    print(f"{scale} of the shape, {topics} topics, {threads} threads, {rounds} snapshots a sweep")
    levels = ", ".join(f"{mean:.1f}" for mean in topics_of_nodes(first))
    print(f"topics of nodes by level, root first: {levels}; process {most_resident():.1f} GB")
    kinds = ("counts of nodes", "changes of nodes", "rows of citation sweeps")
    print(f"| counts of nodes | MB: {' | '.join(kinds)} | processor s | same counts |")
    print("|---|--:|--:|--:|--:|---|")
    for name, chain in chains.items():
        found: dict[int, tuple[str, int]] = {}
        list_arrays(chain.state, ".state", found)
        list_arrays(chain._buffers, "", found)  # noqa: SLF001
        sizes = [
            sum(size for what, size in found.values() if any(part in what for part in KINDS[kind]))
            for kind in kinds
        ]
        pairs = zip(chain.state.topics, first.state.topics, strict=True)
        same = "yes" if all(np.array_equal(*pair) for pair in pairs) else "no"
        later = seconds[name][3:]  # citations have joined
        taken = f"{median(later):.2f} ({min(later):.2f} to {max(later):.2f})"
        cells = " | ".join(f"{size / 1e6:.1f}" for size in sizes)
        print(f"| {name} | {cells} | {taken} | {same} |")


class DenseRowsOnGpu(cuda_chain.CudaChain):
    """A chain on a GPU whose counts of nodes are dense rows."""

    def _keeps_lists(self, *_: Any) -> bool:
        return False


def show_swept_on_gpu(scale: float, topics: int, rounds: int, iterations: int) -> None:
    """Sweep two chains on a GPU in turns, with counts in lists and in rows, to the same counts."""
    data = draw_data(scale, 20)
    rounds = rounds or default_rounds(len(data.tokens), data.n_words * topics)
    settings = ChainSettings(topics=topics, network_from=2)
    request = Request(preset("scntm"), data, settings, 1, rounds=rounds)
    kinds = {"rows": DenseRowsOnGpu, "lists": cuda_chain.CudaChain}
    with mock.patch.object(cuda_chain.CudaChain, "log_posterior", return_value=np.nan):
        chains = {name: kind.open(request) for name, kind in kinds.items()}
        taken: dict[str, list[float]] = {name: [] for name in chains}
        for chain in chains.values():
            chain.start()
        for _ in range(iterations):
            for name, chain in chains.items():
                taken[name].append(1000 * chain.step().seconds)
    print(f"{scale} of the shape, {topics} topics, {rounds} snapshots a sweep")
    print("| counts of nodes | GB: counts of nodes | arrays | ms per iteration | same counts |")
    print("|---|--:|--:|--:|---|")
    first = next(iter(chains.values())).state
    for name, chain in chains.items():
        counts = ("customers", "tables", "count_row", "count_topic", "counts")
        sizes = [sum(chain.arrays[each].nbytes for each in some) for some in (counts, chain.arrays)]
        mine, theirs = chain.state.assignments, first.assignments
        same = "yes" if all(map(np.array_equal, mine, theirs)) else "no"
        later = taken[name][6:]  # citations have joined
        cells = " | ".join(f"{size / 1e9:.2f}" for size in sizes)
        middle = f"{median(later):.1f} ({min(later):.1f} to {max(later):.1f})"
        print(f"| {name} | {cells} | {middle} | {same} |")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    arrays, gpu, swept = (commands.add_parser(name) for name in ("arrays", "gpu", "swept"))
    for one in (arrays, gpu):
        one.add_argument("--topics", type=int, nargs="+", default=[50, 1000, 4096])
    arrays.add_argument("--threads", type=int, nargs="+", default=[2])
    swept.add_argument("--scale", type=float, default=0.1)
    swept.add_argument("--topics", type=int, default=1000)
    swept.add_argument("--threads", type=int, default=2)
    swept.add_argument("--iterations", type=int, default=8)
    on_gpu = commands.add_parser("swept-on-gpu")
    on_gpu.add_argument("--scale", type=float, default=1.0)
    on_gpu.add_argument("--topics", type=int, default=1000)
    on_gpu.add_argument("--rounds", type=int, default=0, help="0 for those that fit chooses")
    on_gpu.add_argument("--iterations", type=int, default=20)
    given = parser.parse_args()
    if given.command == "arrays":
        show_arrays(given.topics, given.threads)
    elif given.command == "gpu":
        show_gpu(given.topics)
    elif given.command == "swept-on-gpu":
        show_swept_on_gpu(given.scale, given.topics, given.rounds, given.iterations)
    else:
        show_swept(given.scale, given.topics, given.threads, given.iterations)


if __name__ == "__main__":
    main()
