"""Snapshot sweeps in threads: how fast they are, and what the number of snapshots does.

    python -m benchmarks.threads speed       # two million tokens: sequential, one thread, two
    python -m benchmarks.threads rounds      # the size of Cora: quality by snapshots per sweep
    python -m benchmarks.threads heights     # from one sequential state: likelihood and repairs

All write tables in Markdown. In ``speed`` the chains take turns, sweep by sweep, so that a slow
minute of the machine hits all of them; ratios are of medians. On a machine that is busy with other
work, two threads may get no more of it than one. A second figure, the processor time along the
longest path through a step, therefore shows what an idle machine would.
"""

from __future__ import annotations

import argparse
import os
import time
from statistics import mean, median, stdev
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from citeweave import SCNTM, preset, simulate
from citeweave.engines.core.random import new_generator
from citeweave.evaluate import evaluate, hold_out
from citeweave.model.chains import new_chain
from citeweave.model.groups import build_tree
from citeweave.model.parameters import make_plan

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from citeweave.corpus import Corpus
    from citeweave.engines.core.data import Data
    from citeweave.engines.dense.chain import DenseChain
    from citeweave.engines.threads.workers import WorkerPool


class Turn(NamedTuple):
    """Wall-clock and processor seconds of one sweep."""

    wall: float
    cpu: float
    path: float
    """Processor time along the longest path: the wall-clock time of an idle machine."""
    words: float
    citations: float


class Path:
    """Adds up the longest path of a chain's threads through each step, in processor seconds."""

    def __init__(self, chain: DenseChain) -> None:
        self.chain = chain
        self._waited = 0.0
        workers = getattr(chain, "workers", None)
        if workers is not None and workers.size > 1:
            self._watch(workers)

    def _watch(self, workers: WorkerPool) -> None:
        """Note by how much the slowest of the other workers outlasts the calling one."""
        run = workers.run

        def timed_run(task: Callable[[int], object]) -> None:
            taken: dict[int, float] = {}

            def timed(worker: int) -> None:
                began = time.thread_time()
                task(worker)
                taken[worker] = time.thread_time() - began

            run(timed)
            self._waited += max(taken.values()) - taken[0]

        workers.run = timed_run  # type: ignore[method-assign]

    def step(self) -> Turn:
        """Take one step of the chain."""
        self._waited = 0.0
        cpu, wall, own = time.process_time(), time.perf_counter(), time.thread_time()
        info = self.chain.step()
        return Turn(
            wall=time.perf_counter() - wall,
            cpu=time.process_time() - cpu,
            path=time.thread_time() - own + self._waited,
            words=info.word_seconds,
            citations=info.citation_seconds,
        )


def main() -> None:
    """Read the command line and run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m benchmarks.threads")
    kinds = parser.add_subparsers(dest="kind", required=True)
    speed = kinds.add_parser("speed", help="time by threads")
    speed.add_argument("--documents", type=int, default=33_600)
    speed.add_argument("--topics", type=int, default=20)
    speed.add_argument("--threads", type=int, nargs="+", default=[2])
    speed.add_argument("--rounds", type=int, nargs="+", default=[1, 4, 16])
    speed.add_argument("--repeats", type=int, default=9)
    rounds = kinds.add_parser("rounds", help="quality by snapshots per sweep")
    rounds.add_argument("--iterations", type=int, default=300)
    rounds.add_argument("--seeds", type=int, default=4)
    rounds.add_argument("--rounds", type=int, nargs="+", default=[1, 4, 16])
    heights = kinds.add_parser("heights", help="likelihood from one state on")
    heights.add_argument("--documents", type=int, nargs="+", default=[2_708, 27_080])
    heights.add_argument("--before", type=int, default=100, help="sequential sweeps")
    heights.add_argument("--after", type=int, default=60, help="sweeps of each kind")
    heights.add_argument("--rounds", type=int, nargs="+", default=[1, 4, 16])
    heights.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    {"speed": time_sweeps, "rounds": compare_rounds, "heights": compare_heights}[options.kind](
        options
    )


def time_sweeps(options: argparse.Namespace) -> None:
    """Let a sequential chain and snapshot chains take turns on one corpus."""
    corpus = simulate(
        documents=options.documents,
        vocabulary=8_322,
        topics=20,
        authors=options.documents // 3,
        words_per_document=59.4,
        citations=8 * options.documents,
        seed=1,
    ).corpus
    data = build_tree(corpus, preset("scntm"), eta=0, unknown="shared").data
    chains = {"sequential": _chain(corpus, data, options.topics, sweep="sequential")}
    for rounds in options.rounds:
        for threads in (1, *options.threads):
            chains[f"snapshot, {rounds} per sweep, {_threads(threads)}"] = _chain(
                corpus, data, options.topics, sweep="snapshot", rounds=rounds, threads=threads
            )
    load = [os.getloadavg()[0]]
    turns: dict[str, list[Turn]] = {name: [] for name in chains}
    paths = {name: Path(chain) for name, chain in chains.items()}
    for _ in range(options.repeats):
        for name, path in paths.items():
            turns[name].append(path.step())
        load.append(os.getloadavg()[0])
    print(f"{corpus.n_tokens:,} tokens, {corpus.n_citations:,} citations, K = {options.topics}, ")
    print(f"{options.repeats} turns; load of the machine {min(load):.1f} to {max(load):.1f}, ")
    print(f"of which this program is up to {max(options.threads)}.\n")
    _print_times(turns, options)


def _threads(number: int) -> str:
    return "1 thread" if number == 1 else f"{number} threads"


def _chain(
    corpus: Corpus, data: Data, topics: int, *, seed: int = 1, steps: int = 3, **parameters: object
) -> DenseChain:
    """Make a chain as `SCNTM.fit` does, past its first sweeps with citations."""
    model = SCNTM(
        topics=topics, seed=seed, iterations=100, network_from=1, burn_in=50, chains=1, exactly=True
    )
    plan = make_plan(model.set_params(**parameters).get_params())
    plan = plan.for_corpus(
        tokens=corpus.n_tokens, documents=corpus.n_documents, words=corpus.vocabulary_size
    )
    chain = new_chain(plan, data, 0)
    chain.start()
    for _ in range(steps):
        chain.step()
    return chain


def _print_times(turns: dict[str, list[Turn]], options: argparse.Namespace) -> None:
    columns = ("s, median (range)", "words s", "citations s", "processor s", "longest path s")
    _print_row("sweeps", *columns)
    _print_row("---", *["--:"] * 5)
    for name, taken in turns.items():
        wall = [turn.wall for turn in taken]
        _print_row(
            name,
            f"{median(wall):.2f} ({min(wall):.2f} to {max(wall):.2f})",
            f"{median(turn.words for turn in taken):.2f}",
            f"{median(turn.citations for turn in taken):.2f}",
            f"{median(turn.cpu for turn in taken):.2f}",
            f"{median(turn.path for turn in taken):.2f}",
        )
    print()
    pairs = []
    for rounds in options.rounds:
        one = f"snapshot, {rounds} per sweep, 1 thread"
        pairs.append((one, "sequential"))
        many = (f"snapshot, {rounds} per sweep, {_threads(number)}" for number in options.threads)
        pairs += [pair for name in many for pair in ((name, one), (name, "sequential"))]
    _print_row("speed of", "relative to", "wall-clock", "longest path")
    _print_row("---", "---", "--:", "--:")
    for fast, slow in pairs:
        ratios = (_ratio(turns[slow], turns[fast], name) for name in ("wall", "path"))
        _print_row(fast, slow, *(f"{ratio:.2f}" for ratio in ratios))


def _ratio(slow: Sequence[Turn], fast: Sequence[Turn], name: str) -> float:
    """Form the ratio of medians of one of the times."""
    above, below = (median(getattr(turn, name) for turn in turns) for turns in (slow, fast))
    return float(above / below)


def compare_rounds(options: argparse.Namespace) -> None:
    """Fit the same simulated corpora with sequential sweeps and with some numbers of rounds."""
    kinds: list[tuple[str, dict[str, object]]] = [("sequential", {"sweep": "sequential"})]
    kinds += [
        (f"snapshot, {rounds} per sweep", {"sweep": "snapshot", "rounds": rounds})
        for rounds in options.rounds
    ]
    found: dict[str, list[dict[str, float]]] = {name: [] for name, _ in kinds}
    for seed in range(options.seeds):
        corpus = _cora_like(2_708)
        train, held_out = hold_out(corpus, words=0.1, citations=0.1, seed=0)
        for name, parameters in kinds:
            model = SCNTM(
                topics=10,
                iterations=options.iterations,
                seed=seed,
                threads=1,
                chains=1,
                exactly=True,
            )
            model.set_params(**parameters).fit(train, held_out=held_out)
            found[name].append(_measure(model))
            print(f"<!-- seed {seed}, {name}: {found[name][-1]} -->", flush=True)
    print(f"\n{train.n_tokens:,} tokens, {train.n_citations:,} citations, K = 10, ")
    print(f"{options.iterations} iterations, {options.seeds} seeds: mean and standard deviation.\n")
    measures = list(found["sequential"][0])
    _print_row("sweeps", *measures)
    _print_row("---", *["--:"] * len(measures))
    for name, rows in found.items():
        _print_row(name, *(_mean_and_spread([row[key] for row in rows]) for key in measures))


def _measure(model: SCNTM) -> dict[str, float]:
    late = model.n_iter_ * 3 // 4
    evaluation = evaluate(model, samples=1)
    return {
        "log likelihood per word": float(
            np.mean(model.traces_["log_likelihood"][:, late:]) / model.corpus_.n_tokens
        ),
        "after 20 iterations": float(
            np.mean(model.traces_["log_likelihood"][:, 19]) / model.corpus_.n_tokens
        ),
        "perplexity, held-out words": evaluation["perplexity, held-out words"],
        "AUC, held-out citations": evaluation["AUC"],
        "NMI": evaluation["NMI"],
        "acceptance": model.acceptance_,
        "topics": float(np.mean(model.traces_["topics"][:, late:])),
    }


def compare_heights(options: argparse.Namespace) -> None:
    """Go on from the same sequential state with each kind of sweep, and compare the likelihoods.

    Starts in common take the spread of whole runs out of the comparison; a second sequential chain
    with other draws shows the spread that is left.
    """
    kinds: dict[str, dict[str, object]] = {
        "sequential": {"sweep": "sequential"},
        "sequential, other draws": {"sweep": "sequential"},
    }
    for rounds in options.rounds:
        kinds[f"snapshot, {rounds} per sweep"] = {"sweep": "snapshot", "rounds": rounds}
    head = ("documents", "tokens", "sweeps", "log likelihood per word", "gap", "repaired per sweep")
    _print_row(*head)
    _print_row("--:", "--:", "---", "--:", "--:", "--:")
    for documents in options.documents:
        corpus = _cora_like(documents)
        data = build_tree(corpus, preset("scntm"), eta=0, unknown="shared").data
        heights: dict[str, list[float]] = {}
        repaired: dict[str, float] = {}
        for seed in range(options.seeds):
            start = _chain(corpus, data, 10, seed=seed, sweep="sequential")
            for _ in range(options.before):
                start.step()
            for number, (name, kind) in enumerate(kinds.items()):
                chain = _chain(corpus, data, 10, seed=seed, steps=0, **kind)
                chain.restore(start.state)
                chain.state.random[:] = new_generator(seed, 1 + number)
                seen = [chain.step().log_likelihood for _ in range(options.after)]
                late = seen[options.after // 3 :]
                heights.setdefault(name, []).append(float(np.mean(late)) / corpus.n_tokens)
                tables = getattr(chain, "repaired", np.zeros(2)).sum()
                repaired[name] = float(tables) / options.after / corpus.n_tokens
                chain.close()
        for name, found in heights.items():
            gaps = [a - b for a, b in zip(found, heights["sequential"], strict=True)]
            share = f"{100 * repaired[name]:.2f} % of tokens"
            cells = (_mean_and_spread(found), _mean_and_spread(gaps), share)
            _print_row(f"{documents:,}", f"{corpus.n_tokens:,}", name, *cells)


def _cora_like(documents: int) -> Corpus:
    """Draw a corpus with as many documents for each author and citation as Cora might have."""
    return simulate(
        documents=documents,
        vocabulary=1_433,
        topics=7,
        authors=documents * 4 // 9,
        categories=7,
        words_per_document=40,
        citations=2 * documents,
        seed=0,
    ).corpus


def _mean_and_spread(values: Sequence[float]) -> str:
    spread = stdev(values) if len(values) > 1 else float("nan")
    return f"{mean(values):.4g} ± {spread:.2g}"


def _print_row(*cells: str) -> None:
    print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
