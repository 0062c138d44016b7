"""Check and time the GPU backend on a machine that has one.

    python benchmarks/parallel.py --topics 20 50 200 1000 --iterations 50

Data have the shape of the paper's ML corpus (or ``--scale`` times it): 139,227 documents of 59.4
words, 8,322 words, 43,643 authors and 1,105,462 citations, drawn from a topic model of that many
topics. Everything is sampled, citations count from iteration 10 on, and in the second half every
tenth sample is kept. Seconds of 2,000 iterations are the mean iteration times 2,000 and marked so,
except with ``--iterations 2000``, where they run from the random start to the sums on the host.
Counts are checked against the assignments at the end, outside the clock.
"""

# ruff: noqa: SLF001 - the parts of an iteration are timed one by one

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np

from citeweave.engines.core.data import ChainSettings, Data
from citeweave.engines.core.estimates import new_sums
from citeweave.engines.core.invariants import check_state
from citeweave.engines.core.spec import preset
from citeweave.engines.cuda import CudaChain

_ALL = 2000
_WARM = 12
"""Iterations in which the network comes on and kernels are loaded; not part of the mean."""
DOCUMENTS, WORDS, AUTHORS, CITATIONS, LENGTH = 139_227, 8_322, 43_643, 1_105_462, 59.4


def draw_data(scale: float, topics: int, seed: int = 0) -> Data:
    """Draw a corpus of the ML shape from a topic model with authors and citations."""
    rng = np.random.default_rng(seed)
    documents, authors = int(DOCUMENTS * scale), max(int(AUTHORS * scale), 1)
    lengths = rng.poisson(LENGTH, documents)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    popularity = 1.0 / np.arange(1, WORDS + 1)
    phi = rng.gamma(0.1, size=(topics, WORDS)) * popularity
    phi = np.cumsum(phi / phi.sum(axis=1, keepdims=True), axis=1)
    group = rng.integers(authors, size=documents)
    group[rng.random(documents) < 0.1] = 0  # those whose author is too rare to have a node
    field = rng.integers(topics, size=authors)
    main = np.where(rng.random(documents) < 0.8, field[group], rng.integers(topics, size=documents))
    document = np.repeat(np.arange(documents), lengths)
    own = rng.random(offsets[-1]) < 0.7
    z = np.where(own, main[document], rng.integers(topics, size=offsets[-1]))
    order = np.argsort(z, kind="stable")
    tokens = np.empty(offsets[-1], np.int32)
    u = rng.random(offsets[-1])
    begins = np.searchsorted(z[order], np.arange(topics + 1))
    for k in range(topics):
        here = order[begins[k] : begins[k + 1]]
        tokens[here] = np.minimum(np.searchsorted(phi[k], u[here]), WORDS - 1)
    n_citations = int(CITATIONS * scale)
    citing = rng.integers(documents, size=n_citations)
    by_field = np.argsort(main, kind="stable")
    starts = np.searchsorted(main[by_field], np.arange(topics + 1))
    low, high = starts[main[citing]], starts[main[citing] + 1]
    place = low + ((high - low) * rng.random(n_citations) ** 3).astype(np.int64)
    cited = np.where(
        rng.random(n_citations) < 0.8, by_field[place], rng.integers(documents, size=n_citations)
    )
    keys = np.unique((citing * documents + cited)[citing != cited])
    citing, cited = np.divmod(keys, documents)
    places = np.arange(documents)
    return Data(
        tokens=tokens,
        offsets=offsets,
        n_words=WORDS,
        parents=(np.zeros(authors, np.int64), group, places),
        leaf=places,
        leaf_start=np.arange(documents + 1),
        citing=citing.astype(np.int32),
        cited=cited.astype(np.int32),
    )


def stages(chain: CudaChain, repeats: int) -> dict[str, float]:
    """Seconds of the parts of an iteration, each alone, after everything before it is done."""
    draws = chain._draws
    xp = chain.device.xp
    parts = {
        "words": chain.sweep_words,
        "citations": chain.sweep_citations,
        "merge of words": chain._repair_words,
        "merge of nodes": chain._repair_nodes,
        "P, M and E": draws.weigh,
        "concentrations": draws.draw_concentrations,
        "propensities": draws.draw_propensities,
    }
    seconds = {}
    for name, part in parts.items():
        times = []
        for _ in range(repeats):
            xp.cuda.Device().synchronize()
            began = time.perf_counter()
            part()
            xp.cuda.Device().synchronize()
            times.append(time.perf_counter() - began)
        seconds[name] = float(np.median(times))
    return seconds


def launches(chain: CudaChain, iterations: int) -> dict[str, dict[str, float]]:
    """Milliseconds per iteration of every kernel, waited for one by one, the longest first."""
    events = chain.device.xp.cuda
    first, last = events.Event(), events.Event()
    spent: dict[str, list[float]] = {}
    launch = chain.device.launch

    def timed(name: str, *args: object) -> None:
        first.record()
        launch(name, *args)
        last.record()
        last.synchronize()
        spent.setdefault(name, []).append(events.get_elapsed_time(first, last))

    chain.device.launch = timed
    try:
        for _ in range(iterations):
            chain.step()
    finally:
        chain.device.launch = launch
    return {
        name: {
            "milliseconds": round(sum(times) / iterations, 3),
            "launches": len(times) / iterations,
        }
        for name, times in sorted(spent.items(), key=lambda item: -sum(item[1]))
    }


def measure(
    data: Data,
    topics: int,
    iterations: int,
    rounds: int,
    *,
    check: bool,
    kernels: bool = False,
) -> dict:
    """Run a chain and report its speed."""
    began = time.perf_counter()
    settings = ChainSettings(topics=topics, network_from=10)
    chain = CudaChain(preset("scntm"), data, settings, seed=1, rounds=rounds)
    sums = new_sums(chain)
    ready = time.perf_counter()
    chain.start()
    infos = []
    warm = ready
    for i in range(iterations):
        if i == min(_WARM, iterations // 2):
            warm, first = time.perf_counter(), i
        infos.append(chain.step())
        # the first is kept early: what keeping a sample compiles is not part of the mean either
        if i == 1 or (i >= iterations // 2 and i % 10 == 0):
            chain.keep_sample(sums)
    stepped = time.perf_counter()
    chain.collect_samples(sums)
    ended = time.perf_counter()
    if check:
        check_state(chain.spec, chain.layout, chain.state)
    an_iteration = (stepped - warm) / (iterations - first)
    total = ended - ready if iterations == _ALL else _ALL * an_iteration
    parts = stages(chain, 5)
    pool = chain.device.xp.get_default_memory_pool()
    return {
        "topics": topics,
        "rounds": rounds,
        "documents": chain.n_documents,
        "tokens": len(data.tokens),
        "citations": len(data.citing),
        "seconds to prepare": round(ready - began, 2),
        "milliseconds per iteration": round(1e3 * an_iteration, 3),
        "seconds of 2,000 iterations": round(total, 1),
        "extrapolated": iterations != _ALL,
        "samples": int(sums.samples[0]),
        "seconds to collect them": round(ended - stepped, 2),
        "million tokens per second": round(len(data.tokens) / parts["words"] / 1e6),
        "million citations per second": round(len(data.citing) / parts["citations"] / 1e6, 1),
        "milliseconds": {name: round(1e3 * value, 3) for name, value in parts.items()},
        "log likelihood a token": [
            round(infos[i].log_likelihood / len(data.tokens), 4) for i in (0, len(infos) // 2, -1)
        ],
        "acceptance": round(infos[-1].acceptance, 4),
        "word acceptance": round(infos[-1].word_acceptance, 4),
        "blocked": round(infos[-1].blocked, 4),
        "rate": infos[-1].rate,
        "concentrations": infos[-1].concentrations,
        "repaired per iteration": [int(x) for x in chain.repaired / len(infos)],
        "device gigabytes": round(pool.total_bytes() / 1e9, 2),
        "kernels": launches(chain, 5) if kernels else {},
    }


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--topics", type=int, nargs="+", default=[20, 50, 200, 1000])
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--iterations", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--no-check", action="store_true")
    parser.add_argument("--kernels", action="store_true", help="time every kernel, too")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    results = []
    data = draw_data(options.scale, 20)
    for topics in options.topics:
        result = measure(
            data,
            topics,
            options.iterations,
            options.rounds,
            check=not options.no_check,
            kernels=options.kernels,
        )
        results.append(result)
        json.dump(result, sys.stdout, indent=1)
        sys.stdout.write("\n")
        sys.stdout.flush()
        if options.out:
            options.out.write_text(json.dumps(results, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
