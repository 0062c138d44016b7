"""Snapshot sweeps by number of threads and of topics, on data that need no table library.

    python -m benchmarks.threads_scaling --threads 1 2 4 8 16           # a quarter of the ML shape
    python -m benchmarks.threads_scaling --threads 1 --scale 0.036 --topics 20 50 200 800 2000 4096

Data have the shape of the paper's ML corpus, as in ``benchmarks/parallel.py``. The sequential chain
and snapshot chains take turns, step by step, everything sampled. Wall-clock times are meaningful
only on an idle machine; the longest path is explained in ``benchmarks/threads.py``.
"""

import argparse
import os
import resource
from statistics import median

from benchmarks.parallel import draw_data
from benchmarks.threads import Path

from citeweave.engines.core.data import ChainSettings, Data
from citeweave.engines.core.spec import preset
from citeweave.engines.dense.chain import DenseChain
from citeweave.engines.threads import SnapshotChain

_COLUMNS = (
    "topics",
    "sweeps",
    "s per step (range)",
    "longest path s",
    "ns per token",
    "words, wall-clock ns per token",
    "citations, wall-clock ns each",
    "× sequential, wall-clock",
    "longest path",
    "× one thread, wall-clock",
    "longest path",
)


def main() -> None:
    """Read the command line and print a table in Markdown."""
    parser = argparse.ArgumentParser(
        description=__doc__, prog="python -m benchmarks.threads_scaling"
    )
    parser.add_argument("--scale", type=float, default=0.25, help="of the ML shape")
    parser.add_argument("--topics", type=int, nargs="+", default=[20])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--before", type=int, default=4, help="steps before the clock runs")
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    data = draw_data(options.scale, 20)
    print(f"{len(data.tokens):,} tokens, {len(data.citing):,} citations, {data.n_words:,} words\n")
    print("| " + " | ".join(_COLUMNS) + " |")
    print("| --: | --- " + "| --: " * (len(_COLUMNS) - 2) + "|", flush=True)
    load = [os.getloadavg()[0]]
    for topics in options.topics:
        settings = ChainSettings(topics=topics, network_from=1)
        chains: dict[str, DenseChain] = {
            "sequential": DenseChain(preset("scntm"), data, settings, seed=1)
        }
        for threads in options.threads:
            chains[f"snapshot, threads {threads}"] = SnapshotChain(
                preset("scntm"), data, settings, seed=1, threads=threads, rounds=options.rounds
            )
        _compare(topics, chains, data, options)
        load.append(os.getloadavg()[0])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(f"\nLoad of the machine {min(load):.1f} to {max(load):.1f}, peak {peak:,.0f} MB")


def _compare(
    topics: int, chains: dict[str, DenseChain], data: Data, options: argparse.Namespace
) -> None:
    """Let chains of one number of topics take turns and print their rows."""
    paths = {}
    for name, chain in chains.items():
        chain.start()
        for _ in range(options.before):
            chain.step()
        paths[name] = Path(chain)
    turns = {name: [] for name in chains}
    for _ in range(options.repeats):
        for name, path in paths.items():
            turns[name].append(path.step())
    found = {
        name: {field: median(getattr(turn, field) for turn in taken) for field in taken[0]._fields}
        for name, taken in turns.items()
    }
    one = found.get("snapshot, threads 1")
    for name, taken in found.items():
        walls = [turn.wall for turn in turns[name]]
        ratios = [found["sequential"][field] / taken[field] for field in ("wall", "path")]
        if one is not None and name != "sequential":
            ratios += [one[field] / taken[field] for field in ("wall", "path")]
        cells = (
            f"{topics:,}",
            name,
            f"{taken['wall']:.3f} ({min(walls):.3f} to {max(walls):.3f})",
            f"{taken['path']:.3f}",
            f"{1e9 * taken['path'] / len(data.tokens):.0f}",
            f"{1e9 * taken['words'] / len(data.tokens):.0f}",
            f"{1e9 * taken['citations'] / len(data.citing):.0f}",
            *(f"{ratio:.2f}" for ratio in ratios),
            *[""] * (4 - len(ratios)),
        )
        print("| " + " | ".join(cells) + " |", flush=True)
    for chain in chains.values():
        chain.close()


if __name__ == "__main__":
    main()
