"""Sweeps over slots compared with sweeps over all topics on the CPU, by number of topics.

    python -m benchmarks.many_topics cost --topics 20 50 200 400 1000 2000 4096
    python -m benchmarks.many_topics trace --topics 1000 --seconds 120

Data have the shape of the paper's ML corpus (``benchmarks/parallel.py``). ``cost`` times steps of
chains that take turns, everything sampled. ``trace`` runs one chain after the other from the same
random start and records the log likelihood of words against iterations and processor seconds.
"""

import argparse
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
from benchmarks.parallel import draw_data

from citeweave.engines.core.data import ChainSettings, Data, Info
from citeweave.engines.core.spec import preset
from citeweave.engines.dense.chain import DenseChain
from citeweave.engines.slots import SparseChain, SparseSnapshotChain
from citeweave.engines.threads import SnapshotChain

KINDS: dict[str, Callable[..., DenseChain]] = {
    "all topics": DenseChain,
    "slots": SparseChain,
    "all topics, snapshot": SnapshotChain,
    "slots, snapshot": SparseSnapshotChain,
}


def main() -> None:
    """Read the command line and do what was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0], prog="python -m benchmarks.many_topics"
    )
    kinds = parser.add_subparsers(dest="command", required=True)
    cost = kinds.add_parser("cost", help="time of a step by the number of topics")
    trace = kinds.add_parser("trace", help="likelihood against iterations and time")
    for each in (cost, trace):
        each.add_argument("--topics", type=int, nargs="+", default=[1000])
        each.add_argument("--scale", type=float, default=0.036, help="of the ML shape")
        each.add_argument("--true-topics", type=int, default=20, help="of the data")
        each.add_argument("--kinds", nargs="+", choices=list(KINDS), default=list(KINDS)[:2])
        each.add_argument("--model", default="scntm")
    cost.add_argument("--before", type=int, default=8, help="steps before the clock runs")
    cost.add_argument("--repeats", type=int, default=3)
    cost.add_argument("--rounds", type=int, default=1, help="snapshots per sweep")
    cost.add_argument("--threads", type=int, nargs="+", default=[1], help="of snapshot sweeps")
    trace.add_argument("--seconds", type=float, default=60.0, help="of processor, each chain")
    trace.add_argument("--iterations", type=int, default=200, help="at most")
    trace.add_argument("--seeds", type=int, nargs="+", default=[1])
    trace.add_argument("--out", type=Path)
    options = parser.parse_args()
    data = draw_data(options.scale, options.true_topics)
    print(f"{len(data.tokens):,} tokens, {len(data.citing):,} citations, {data.n_words:,} words\n")
    {"cost": write_costs, "trace": write_traces}[options.command](data, options)


def new_chain(
    data: Data,
    kind: str,
    topics: int,
    model: str,
    *,
    seed: int = 1,
    threads: int = 1,
    rounds: int = 1,
) -> DenseChain:
    """Make a chain and start it; citations count from the second step on."""
    settings = ChainSettings(topics=topics, network_from=1)
    more = {"threads": threads, "rounds": rounds} if kind.endswith("snapshot") else {}
    chain = KINDS[kind](preset(model), data, settings, seed=seed, **more)
    chain.start()
    return chain


def timed_step(chain: DenseChain) -> tuple[float, float, Info]:
    """Make a step and return its processor and wall-clock seconds."""
    clock, processor = time.perf_counter(), time.process_time()
    info = chain.step()
    return time.process_time() - processor, time.perf_counter() - clock, info


def write_costs(data: Data, options: argparse.Namespace) -> None:
    """Print a table in Markdown; steps that rebuild proposals are not treated differently."""
    columns = (
        "topics",
        "sweeps",
        "threads",
        "processor, ns per token (range)",
        "wall-clock, ns per token",
    )
    print("| " + " | ".join((*columns, "times fewest topics", "acceptance")) + " |")
    print("| --: | --- | --: | --: | --: | --: | --: |", flush=True)
    first: dict[tuple[str, int], float] = {}
    load = [os.getloadavg()[0]]
    for topics in options.topics:
        chosen = [
            (kind, n)
            for kind in options.kinds
            for n in (options.threads if kind.endswith("snapshot") else [1])
        ]
        chains = {
            (kind, n): new_chain(
                data, kind, topics, options.model, threads=n, rounds=options.rounds
            )
            for kind, n in chosen
        }
        for chain in chains.values():
            for _ in range(options.before):
                chain.step()
        turns: dict[tuple[str, int], list[tuple[float, float]]] = {name: [] for name in chains}
        info: dict[tuple[str, int], Info] = {}
        for _ in range(options.repeats):
            for name, chain in chains.items():
                processor, clock, info[name] = timed_step(chain)
                scale = 1e9 / len(data.tokens)
                turns[name].append((scale * processor, scale * clock))
        for name, found in turns.items():
            processors, clocks = zip(*found, strict=True)
            clock = median(clocks)
            first.setdefault(name, clock)
            print(
                f"| {topics:,} | {name[0]} | {name[1]} | {median(processors):,.0f} "
                f"({min(processors):,.0f} to {max(processors):,.0f}) | {clock:,.0f} | "
                f"{clock / first[name]:.1f} | {info[name].acceptance:.3f} |",
                flush=True,
            )
        for chain in chains.values():
            chain.close()
        load.append(os.getloadavg()[0])
    print(f"\nLoad of the machine {min(load):.1f} to {max(load):.1f}")


def write_traces(data: Data, options: argparse.Namespace) -> None:
    """Run chains and print their likelihood at some iterations and at some seconds."""
    lines = []
    for topics in options.topics:
        for seed in options.seeds:
            for kind in options.kinds:
                trace = run_trace(data, kind, topics, seed, options)
                lines.append({"topics": topics, "seed": seed, "sweeps": kind, "trace": trace})
                show_trace(lines[-1])
                if options.out:
                    text = "".join(json.dumps(line) + "\n" for line in lines)
                    options.out.write_text(text, encoding="utf-8")


def run_trace(
    data: Data, kind: str, topics: int, seed: int, options: argparse.Namespace
) -> list[tuple[float, float, int]]:
    """Return seconds so far, log likelihood per word and topics in use after each step."""
    chain = new_chain(data, kind, topics, options.model, seed=seed)
    timed_step(chain)  # may be compiling
    seconds, trace = 0.0, []
    while len(trace) < options.iterations and seconds < options.seconds:
        step, _, info = timed_step(chain)
        seconds += step
        trace.append((seconds, info.log_likelihood / len(data.tokens), info.topics))
    chain.close()
    return trace


def show_trace(line: dict[str, object]) -> None:
    """Print a trace at iterations and at seconds that double."""
    clock, height, _ = (np.array(x) for x in zip(*line["trace"], strict=True))
    n = len(clock)
    at = [i for i in (9, 19, 39, 79, 159, 319, 639) if i < n]
    by_iterations = ", ".join(f"{i + 1}: {height[i]:.4f}" for i in at)
    marks = [s for s in (2.5, 5, 10, 20, 40, 80, 160, 320) if s <= clock[-1]]
    by_seconds = ", ".join(f"{s} s: {height[np.searchsorted(clock, s)]:.4f}" for s in marks)
    print(
        f"{line['topics']} topics, {line['sweeps']}, seed {line['seed']}: {n} iterations in "
        f"{clock[-1]:.0f} s; after iterations {by_iterations}; after {by_seconds}",
        flush=True,
    )


if __name__ == "__main__":
    main()
