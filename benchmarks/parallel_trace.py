"""Perplexity against time: the sequential sampler, threads and a GPU on one machine.

    python -m benchmarks.parallel_quality trace --out trace.jsonl

Data have the shape of the paper's ML corpus (`benchmarks.parallel.draw_data`). Half of the words of
2,000 documents are held out; at times that grow by half each, with the clock stopped, they are
scored with theta' and phi of the chain's present state. The clock runs from the random start on:
compiling and laying out the data are reported beside it. Chains of one stage run at the same time,
in processes of their own; stages follow each other. Threads take as many snapshots per sweep as
`fit` would.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from benchmarks.parallel import draw_data

from citeweave.engines.core.data import ChainSettings, Data
from citeweave.engines.core.estimates import add_sample, new_sums, take_means
from citeweave.engines.core.spec import preset
from citeweave.engines.dense.chain import DenseChain
from citeweave.engines.threads import SnapshotChain
from citeweave.errors import ParameterError
from citeweave.model.sweeps import default_rounds

STAGES = [
    "sequential,threads-1,threads-2,threads-4:60",
    "threads-8:30",
    "threads-16:30",
    "cuda-4:45",
    "cuda-1:45",
]
NETWORK_FROM = 10
TEST_DOCUMENTS = 2_000
GROWTH = 1.5
_WARM = 12


class Scored(NamedTuple):
    """Held-out words of documents, to be scored."""

    document: np.ndarray
    word: np.ndarray


def add_trace_options(parser: argparse.ArgumentParser) -> None:
    """Describe the options of `trace`."""
    parser.add_argument(
        "--stages",
        nargs="+",
        default=STAGES,
        help="chains that run at the same time, and their seconds: sequential,threads-2:60 cuda-1"
        " (threads-N has N threads, cuda-R has R snapshots per sweep)",
    )
    parser.add_argument("--scale", type=float, default=1.0, help="of the ML corpus")
    parser.add_argument("--topics", type=int, default=20)
    parser.add_argument("--iterations", type=int, default=2000, help="at most")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--data", type=Path, help=argparse.SUPPRESS)


def run_traces(options: argparse.Namespace) -> None:
    """Run the stages one after the other, or (in a process of a stage) one chain."""
    if options.one is not None:
        _run_one(options)
        return
    began = time.monotonic()
    stages = [parse_stage(stage) for stage in options.stages]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "data.npz"
        save_data(file, *take_words_out(draw_data(options.scale, 20), seed=options.seed))
        print(f"data drawn after {time.monotonic() - began:.0f} s", flush=True)
        for names, seconds in stages:
            processes = {name: _begin(name, seconds, file, options) for name in names}
            failed = [name for name, process in processes.items() if process.wait()]
            note = f"; failed: {', '.join(failed)}" if failed else ""
            print(f"{', '.join(names)}: after {time.monotonic() - began:.0f} s{note}", flush=True)


def parse_stage(stage: str) -> tuple[list[str], float]:
    """Read the names and the seconds of a stage.

    Examples
    --------
    >>> parse_stage("sequential,threads-2:30"), parse_stage("cuda-1")
    ((['sequential', 'threads-2'], 30.0), (['cuda-1'], 60.0))
    """
    names, _, seconds = stage.partition(":")
    found = names.split(",")
    for name in found:
        parse_backend(name)
    return found, float(seconds or 60)


def parse_backend(name: str) -> tuple[str, int]:
    """Split a name as threads-4 into the kind of chain and its number."""
    kind, _, number = name.partition("-")
    if name == "sequential":
        return name, 1
    if kind in {"threads", "cuda"} and number.isdecimal() and int(number) > 0:
        return kind, int(number)
    raise ParameterError(
        f"There is no backend {name!r}. Give sequential, threads-N (N threads) or cuda-R (R "
        "snapshots per sweep)."
    )


def _begin(
    name: str, seconds: float, data: Path, options: argparse.Namespace
) -> subprocess.Popen[bytes]:
    arguments = {
        "one": name,
        "stages": f"{name}:{seconds}",
        "data": data,
        "topics": options.topics,
        "iterations": options.iterations,
        "seed": options.seed,
        "out": options.out,
    }
    given = [text for key, value in arguments.items() for text in (f"--{key}", str(value))]
    return subprocess.Popen(
        [sys.executable, "-m", "benchmarks.parallel_quality", "trace", *given],
        env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )


def take_words_out(data: Data, *, seed: int) -> tuple[Data, Scored]:
    """Take half of the words of some documents out, to be scored."""
    rng = np.random.default_rng([seed, 1])
    lengths = np.diff(data.offsets)
    n_test = min(TEST_DOCUMENTS, len(lengths))
    test = np.zeros(len(lengths), bool)
    test[rng.permutation(len(lengths))[:n_test]] = True
    document = np.repeat(np.arange(len(lengths)), lengths)
    out = test[document] & (rng.random(len(document)) < 0.5)
    left = np.bincount(document[~out], minlength=len(lengths))
    train = data._replace(
        tokens=data.tokens[~out],
        offsets=np.concatenate([[0], np.cumsum(left)]).astype(np.int64),
    )
    return train, Scored(document[out], data.tokens[out].astype(np.int64))


def save_data(path: Path, data: Data, scored: Scored) -> None:
    """Write data for the processes of the stages; one author speaks for each of its papers."""
    arrays = {k: v for k, v in data._asdict().items() if k not in {"parents", "servers"}}
    levels = {f"parents{level}": array for level, array in enumerate(data.parents)}
    np.savez(path, **arrays, **levels, scored_document=scored.document, scored_word=scored.word)


def load_data(path: Path) -> tuple[Data, Scored]:
    """Read what `save_data` wrote."""
    with np.load(path) as stored:
        names = sorted(name for name in stored.files if name.startswith("parents"))
        fields = {name: stored[name] for name in Data._fields if name in stored.files}
        fields |= {
            "n_words": int(stored["n_words"]),
            "parents": tuple(stored[name] for name in names),
        }
        return Data(**fields), Scored(stored["scored_document"], stored["scored_word"])


def new_chain(name: str, data: Data, *, topics: int, seed: int) -> DenseChain:
    """Make the chain of a backend's name."""
    kind, number = parse_backend(name)
    settings = ChainSettings(topics=topics, network_from=NETWORK_FROM)
    spec = preset("scntm")
    if kind == "sequential":
        return DenseChain(spec, data, settings, seed=seed)
    if kind == "threads":
        rounds = default_rounds(len(data.tokens), data.n_words * topics)
        return SnapshotChain(spec, data, settings, seed=seed, threads=number, rounds=rounds)
    from citeweave.engines.cuda import CudaChain  # noqa: PLC0415 (an extra)

    return CudaChain(spec, data, settings, seed=seed, rounds=number)


def _run_one(options: argparse.Namespace) -> None:
    """Trace one chain and append its line."""
    (_, seconds), name = parse_stage(options.stages[0]), options.one
    data, scored = load_data(options.data)
    line = trace_chain(
        name,
        data,
        scored,
        topics=options.topics,
        seed=options.seed,
        seconds=seconds,
        iterations=options.iterations,
    )
    with options.out.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def trace_chain(
    name: str,
    data: Data,
    scored: Scored,
    *,
    topics: int,
    seed: int,
    seconds: float,
    iterations: int,
) -> dict[str, Any]:
    """Run a chain and score the words taken out, the clock stopped, at growing times."""
    _warm_up(name, data, scored, topics)
    began = time.perf_counter()
    chain = new_chain(name, data, topics=topics, seed=seed)
    prepared = time.perf_counter() - began
    points: list[dict[str, float]] = []
    clock, due = 0.0, 0.0
    try:
        began = time.perf_counter()
        chain.start()
        while chain.iteration < iterations and clock < seconds:
            info = chain.step()
            if time.perf_counter() - began + clock < due and chain.iteration < iterations:
                continue
            _synchronise(name)
            clock += time.perf_counter() - began
            value = score(chain, scored)
            points.append(
                {
                    "iteration": info.iteration,
                    "seconds": clock,
                    "perplexity": value,
                    "log likelihood per word": info.log_likelihood / len(data.tokens),
                }
            )
            due = clock * GROWTH
            # a chain that has had its time is scored where it stands
            due = min(due, max(seconds, clock))
            began = time.perf_counter()
    finally:
        chain.close()
    kind, number = parse_backend(name)
    return {
        "backend": name,
        "threads": number if kind == "threads" else 1,
        "rounds": getattr(chain, "rounds", None),
        "topics": topics,
        "tokens": len(data.tokens),
        "citations": len(data.citing),
        "documents": len(data.offsets) - 1,
        "scored": len(scored.word),
        "network from": NETWORK_FROM,
        "seconds to prepare": prepared,
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
        "points": points,
    }


def _warm_up(name: str, data: Data, scored: Scored, topics: int) -> None:
    """Compile everything: kernels of a GPU for the very data, those of the CPU for small ones."""
    if not name.startswith("cuda"):
        data, scored = take_words_out(draw_data(0.002, 5), seed=0)
    chain = new_chain(name, data, topics=topics, seed=0)
    try:
        chain.start()
        for _ in range(_WARM):
            chain.step()
        score(chain, scored)
    finally:
        chain.close()


def _synchronise(name: str) -> None:
    """Wait until a GPU has done all that it was asked for."""
    if name.startswith("cuda"):
        import cupy  # noqa: PLC0415 (an extra)

        cupy.cuda.Device().synchronize()


def score(chain: DenseChain, scored: Scored) -> float:
    """Return the perplexity of words by theta' and phi of the present state."""
    # topics of citations are not needed, and would be the most of the work
    sums = new_sums(chain)._replace(citing=np.zeros((0, chain.settings.topics), np.float32))
    add_sample(chain, sums)
    means = take_means(sums)
    theta = means.documents[0][scored.document].astype(np.float64)
    chance = np.einsum("nk,nk->n", theta, means.topic_word[scored.word])
    return float(np.exp(-np.log(chance).mean()))
