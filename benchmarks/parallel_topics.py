"""Sweeps over slots compared with sweeps over all topics on a GPU, by number of topics.

    python benchmarks/parallel_topics.py --topics 200 1000 4096 --dense 200 1000 --seconds 40

Data have the shape of the paper's ML corpus (see parallel.py). Every chain starts at random and
runs for a number of iterations or seconds, whichever ends first; its log likelihood per token is
recorded against both. Then the parts of an iteration are timed, and counts checked against the
assignments.
"""

# ruff: noqa: SLF001 - the parts of an iteration are timed one by one

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from parallel import draw_data, stages

import citeweave.engines.cuda.chain as chain_module
from citeweave.engines.core.data import ChainSettings, Data
from citeweave.engines.core.invariants import check_state
from citeweave.engines.core.spec import preset
from citeweave.engines.cuda import CudaChain
from citeweave.engines.cuda.program import LaneGrouping


def run_chain(
    data: Data, topics: int, *, sparse: bool, iterations: int, seconds: float, check: bool
) -> tuple[CudaChain, dict[str, Any]]:
    """Run a chain from the random start, and time its parts at the end."""
    began = time.perf_counter()
    settings = ChainSettings(topics=topics, network_from=5)
    chain = CudaChain(preset("scntm"), data, settings, seed=1, sparse=sparse)
    ready = time.perf_counter()
    chain.start()
    trace, shares = [], np.zeros(16)
    for _ in range(iterations):
        info = chain.step()
        clock = time.perf_counter() - ready
        trace.append((round(clock, 3), round(info.log_likelihood / len(data.tokens), 5)))
        shares = chain.device.download(chain.arrays["report"])[32:48]
        if clock > seconds:
            break
    if check:
        check_state(chain.spec, chain.layout, chain.state)
    result = {
        "topics": topics,
        "sparse": sparse,
        "seconds to prepare": round(ready - began, 2),
        "iterations": len(trace),
        "milliseconds": milliseconds(chain),
        "word acceptance": round(info.word_acceptance, 4),
        "citation acceptance": round(info.acceptance, 4),
        "blocked": round(info.blocked, 4),
        "topics in use": info.topics,
        "outside, refused": [round(x, 4) for x in shares[9:11] / shares[0]],
        "citations outside, refused": [round(x, 4) for x in shares[11:13] / shares[4]],
        "gigabytes": round(chain.device.xp.get_default_memory_pool().total_bytes() / 1e9, 2),
        "trace": trace,
    }
    if sparse:
        result["topics a document, with its author's"] = listed_topics(chain)
    return chain, result


def milliseconds(chain: CudaChain) -> dict[str, float]:
    """Time the parts of an iteration, the median of three each."""
    return {name: round(1e3 * value, 3) for name, value in stages(chain, 3).items()}


def listed_topics(chain: CudaChain) -> list[float]:
    """Mean number of topics of a document, and of the slots it begins with."""
    xp, spec = chain.device.xp, chain.spec
    chain.proposals.before_words()
    starts = chain.layout.level_start
    rows = int(starts[spec.n_shared + 1] - starts[spec.n_shared - 1])
    bits = chain.arrays["bits"].reshape(rows, -1).view(xp.uint8)
    own = bits[int(starts[spec.n_shared] - starts[spec.n_shared - 1]) :]
    parents = xp.asarray(chain.layout.parent[starts[spec.n_shared] : starts[spec.n_shared + 1]])
    parents -= int(starts[spec.n_shared - 1])
    both = own | (bits[parents] * (chain.arrays["listed"][parents] > 0)[:, None])
    counts = xp.asarray(np.array([int(i).bit_count() for i in range(256)], np.uint8))
    return [round(float(counts[x].sum()) / len(own), 2) for x in (own, both)]


def time_groupings(
    chain: CudaChain, data: Data, groupings: list[LaneGrouping]
) -> list[dict[str, Any]]:
    """Time the sweeps of the same state, cut up otherwise."""
    results = []
    state, tables = chain.state, chain.extra_state()
    chain.close()
    choose = chain_module.choose_grouping
    for grouping in groupings:
        chain_module.choose_grouping = lambda *_, chosen=grouping, **__: chosen
        other = CudaChain(chain.spec, data, chain.settings, seed=1, sparse=True)
        other.restore(state, tables)
        other._draws.weigh()
        results.append({"grouping": list(grouping), "milliseconds": milliseconds(other)})
        other.close()
        report(results[-1])
    chain_module.choose_grouping = choose
    return results


def report(result: dict[str, Any]) -> None:
    """Write a result in a line, without its trace."""
    shown = {name: value for name, value in result.items() if name != "trace"}
    sys.stdout.write(json.dumps(shown) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--topics", type=int, nargs="*", default=[200, 1000, 4096])
    parser.add_argument("--dense", type=int, nargs="*", default=[200])
    parser.add_argument("--true-topics", type=int, default=20)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--iterations", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--groupings", type=str, default="", help="e.g. 8,32,12,16,32,32;8,32,...")
    parser.add_argument("--no-check", action="store_true")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    data = draw_data(options.scale, options.true_topics)
    results = []
    limits = {
        "iterations": options.iterations,
        "seconds": options.seconds,
        "check": not options.no_check,
    }
    chosen = [(k, True) for k in options.topics] + [(k, False) for k in options.dense]
    for topics, sparse in chosen:
        chain, result = run_chain(data, topics, sparse=sparse, **limits)
        results.append(result)
        report(result)
        if sparse and options.groupings and topics == options.topics[0]:
            groupings = [
                LaneGrouping(*(int(x) for x in part.split(",")))
                for part in options.groupings.split(";")
            ]
            results += time_groupings(chain, data, groupings)
        chain.close()
        if options.out:
            options.out.write_text(json.dumps(results, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
