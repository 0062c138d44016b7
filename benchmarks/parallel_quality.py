"""The quality of snapshot sweeps, in threads and on a GPU, compared with the sequential sampler.

    python -m benchmarks.parallel_quality run --data FOLDER --out results.jsonl
    python -m benchmarks.parallel_quality table results.jsonl more.jsonl
    python -m benchmarks.parallel_quality drift --data FOLDER --out drift.jsonl
    python -m benchmarks.parallel_quality drift-table drift.jsonl
    python -m benchmarks.parallel_quality trace --out trace.jsonl
    python -m benchmarks.parallel_quality plot trace.jsonl --out trace.svg

``run`` fits a chain for every corpus, backend and seed and appends a JSON line for each. A seed
decides which documents and citations are held out, so backends share these and are compared seed
by seed. Results that a file already contains are not computed again: a run may be interrupted and
continued, and files of two machines may be joined. It needs neither polars nor scikit-learn nor
Matplotlib.

``table`` writes Markdown. ``drift`` continues from one state with each kind of sweep, see
`benchmarks.parallel_drift`; ``trace`` and ``plot`` are about perplexity against time, see
`benchmarks.parallel_trace`.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
import time
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from benchmarks import parallel_drift as drifts
from benchmarks import parallel_quality_tables as tables
from benchmarks import parallel_trace as traces
from benchmarks import parallel_trace_plot as plots
from citeweave import SCNTM, simulate
from citeweave.corpus import Corpus
from citeweave.errors import ParameterError
from citeweave.evaluate import (
    auc,
    clustering_scores,
    hold_out_citations,
    model_scores,
    negative_pairs,
    perplexity,
)
from citeweave.evaluate.words import completion_words
from citeweave.model import match_topics
from citeweave.model.parameters import make_plan
from citeweave.model.scntm import fit_planned

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from citeweave.corpus import Split
    from citeweave.simulate import Truth

SEQUENTIAL, CONTROL = "sequential", "sequential, other draws"
"""The reference, and the same with other seeds of the chain, to show the effect of chance."""

BACKENDS: dict[str, dict[str, Any]] = {
    SEQUENTIAL: {"sweep": "sequential", "device": "cpu"},
    CONTROL: {"sweep": "sequential", "device": "cpu"},
    **{
        f"{name}, {rounds} per sweep": {"sweep": "snapshot", "rounds": rounds, "device": device}
        for name, device in (("threads", "cpu"), ("cuda", "cuda"))
        for rounds in (1, 4, 16)
    },
}
"""Options of `SCNTM` that choose a backend."""

SLOTS = {
    "slots": SEQUENTIAL,
    "slots, threads, 1 per sweep": "threads, 1 per sweep",
    "slots, threads, 4 per sweep": "threads, 4 per sweep",
}
"""Sweeps over slots whatever the number of topics, by the backend that they are to be like; all
others sweep over all topics, however many (docs/understand/many-topics.md)."""
BACKENDS |= {name: BACKENDS[like] for name, like in SLOTS.items()}

GROUPS = {
    "cpu": [name for name in BACKENDS if "cuda" not in name and name not in SLOTS],
    "cuda": [name for name in BACKENDS if "cuda" in name],
}

TRUTH = "simulated"
TEST, HELD_OUT, NEGATIVES = 0.1, 0.1, 5
"""Shares of documents and of citations held out, and pairs that are no citations for each."""

SAMPLES = 200
"""Of the fold-in, a test document."""

_OTHER_DRAWS = 1000


class Work(NamedTuple):
    """How a corpus is fitted."""

    topics: int
    iterations: int


WORK = {
    "cora": Work(7, 300),
    "citeseer": Work(6, 300),
    "ieee-vis": Work(30, 300),
    "hep-th": Work(20, 120),
    TRUTH: Work(10, 300),
}
"""Topics are the number of classes for Cora and CS, else those of `python -m reproduction`."""


@dataclasses.dataclass(frozen=True)
class Task:
    """One chain to be fitted and measured."""

    corpus: str
    backend: str
    seed: int
    topics: int
    iterations: int

    @property
    def key(self) -> tuple[object, ...]:
        """What makes two tasks the same."""
        return dataclasses.astuple(self)


def main() -> None:
    """Read the command line and do what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    kinds = parser.add_subparsers(dest="kind", required=True)
    run = kinds.add_parser("run", help="fit and measure chains")
    run.add_argument("--data", type=Path, help="folder of the corpora's folders")
    run.add_argument("--corpora", nargs="+", choices=list(WORK), default=list(WORK))
    run.add_argument("--backends", nargs="+", choices=[*GROUPS, *BACKENDS], default=["cpu"])
    run.add_argument("--seeds", type=int, nargs="+", default=list(range(5)))
    run.add_argument("--iterations", type=int, help="instead of each corpus's own number")
    run.add_argument("--topics", type=int, help="instead of each corpus's own number")
    run.add_argument("--threads", type=int, default=1, help="to score with; changes no figure")
    run.add_argument("--minutes", type=float, default=float("inf"), help="begin no task after")
    run.add_argument("--out", type=Path, required=True)
    table = kinds.add_parser("table", help="compare what was measured")
    table.add_argument("files", type=Path, nargs="+")
    table.add_argument("--out", type=Path)
    drifts.add_drift_options(kinds.add_parser("drift", help="go on from one state with each kind"))
    drifts.add_table_options(kinds.add_parser("drift-table", help="compare what came of it"))
    traces.add_trace_options(kinds.add_parser("trace", help="perplexity against time"))
    plots.add_plot_options(kinds.add_parser("plot", help="draw traces"))
    options = parser.parse_args()
    commands = {
        "run": run_tasks,
        "table": tables.write_tables,
        "drift": drifts.run_drifts,
        "drift-table": drifts.write_drift_table,
        "trace": traces.run_traces,
        "plot": plots.plot_traces,
    }
    commands[options.kind](options)


def run_tasks(options: argparse.Namespace) -> None:
    """Run what is not in the file yet."""
    if options.data is None and set(options.corpora) != {TRUTH}:
        raise ParameterError(
            "The corpora are not part of the package: give the folder that holds theirs as --data "
            f"(one folder each: {', '.join(name for name in WORK if name != TRUTH)}), or "
            f"--corpora {TRUTH}."
        )
    done = {task_of(line).key for line in read_lines([options.out])}
    wanted = list(plan_tasks(options))
    tasks = [task for task in wanted if task.key not in done]
    print(f"{len(tasks)} tasks to do of {len(wanted)}", flush=True)
    began = time.monotonic()
    warm: set[tuple[str, int]] = set()
    for number, task in enumerate(tasks, start=1):
        if time.monotonic() - began > 60 * options.minutes:
            print(f"{len(tasks) - number + 1} tasks are left for another time")
            return
        if (task.backend, task.topics) not in warm:
            warm_up(task)
            warm.add((task.backend, task.topics))
        line = {**dataclasses.asdict(task), **measure(task, options.data, options.threads)}
        with options.out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        print(f"{number}: {json.dumps(line)}", flush=True)


def plan_tasks(options: argparse.Namespace) -> Iterator[Task]:
    """List all tasks, seed by seed, so that an interrupted run has some of everything."""
    backends = [b for name in options.backends for b in GROUPS.get(name, [name])]
    for seed in options.seeds:
        for corpus in options.corpora:
            topics, iterations = WORK[corpus]
            for backend in backends:
                yield Task(
                    corpus,
                    backend,
                    seed,
                    options.topics or topics,
                    options.iterations or iterations,
                )


def read_lines(files: Iterable[Path]) -> list[dict[str, Any]]:
    """Read the lines of files, the last one of each task; an incomplete last line is ignored."""
    found: dict[tuple[object, ...], dict[str, Any]] = {}
    for path in files:
        if not path.exists():
            continue
        for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            try:
                line = json.loads(text)
                found[task_of(line).key] = line
            except (ValueError, KeyError) as error:
                note = f"{path}, line {number} is left out: {error!r}"
                print(note, file=sys.stderr)
    return list(found.values())


def task_of(line: dict[str, Any]) -> Task:
    """Return the task that a line is the result of."""
    return Task(**{field.name: line[field.name] for field in dataclasses.fields(Task)})


def new_model(task: Task) -> SCNTM:
    """Make the model of a task, all backends by the same door."""
    seed = task.seed + (_OTHER_DRAWS if task.backend == CONTROL else 0)
    return SCNTM(
        topics=task.topics,
        iterations=task.iterations,
        seed=seed,
        threads=1,
        chains=1,
        exactly=True,
        **BACKENDS[task.backend],
    )


def fit_model(task: Task, corpus: Corpus) -> SCNTM:
    """Fit the model of a task, over slots or over all topics as its backend says."""
    model, options = new_model(task), BACKENDS[task.backend]
    plan = make_plan(model.get_params())
    if options["device"] == "cpu":
        sparse = "sparse" if task.backend in SLOTS else "dense"
        engine = sparse if options["sweep"] == "sequential" else f"{sparse}-snapshot"
        plan = dataclasses.replace(plan, engine=engine)
    return fit_planned(model, plan, corpus)


def warm_up(task: Task) -> None:
    """Compile what a task needs, outside the clock: on a GPU, for its number of topics."""
    small = simulate(documents=40, vocabulary=30, topics=3, authors=9, citations=40).corpus
    fit_model(dataclasses.replace(task, iterations=4), small)


@lru_cache(maxsize=1)
def load_corpus(name: str, data: Path | None) -> tuple[Corpus, Truth | None]:
    """Load a corpus, or draw the one whose truth is known."""
    if name != TRUTH:
        return without_strings(Corpus.load((data or Path()) / name)), None
    simulation = simulate(
        documents=2_500,
        vocabulary=1_500,
        topics=10,
        authors=800,
        categories=10,
        words_per_document=40,
        citations=12_000,
        seed=0,
        topic_share=np.arange(6, 16) / 105,
        # documents of few topics, and topics that their words tell apart: most can be found again
        concentrations={"nu": 0.5, "theta_prime": 1.0, "phi": 50.0, "phi_prime": 50.0},
    )
    return simulation.corpus, simulation.truth


def without_strings(corpus: Corpus) -> Corpus:
    """Make up names of words, authors and classes: reading the true ones would need polars."""
    return Corpus.from_arrays(
        tokens=corpus.tokens,
        offsets=corpus.offsets,
        vocabulary_size=corpus.vocabulary_size,
        title_lengths=corpus.title_lengths,
        author_ids=corpus.author_ids,
        author_offsets=corpus.author_offsets,
        categories=corpus.categories,
        citations=corpus.citations,
    )


def measure(task: Task, data: Path | None, threads: int = 1) -> dict[str, Any]:
    """Fit the chain of a task and measure it."""
    corpus, truth = load_corpus(task.corpus, data)
    split = corpus.split(test=TEST, seed=task.seed)
    train, pairs = hold_out_citations(split.train, share=HELD_OUT, seed=task.seed)
    negatives = negative_pairs(split.train, pairs, each=NEGATIVES, seed=task.seed)
    wall, cpu = time.perf_counter(), time.process_time()
    model = fit_model(task, train)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    scores, _ = model_scores(model, propensities=False)
    folded = perplexity(
        model,
        split.test,
        words=completion_words(train),
        links=split,
        samples=SAMPLES,
        threads=threads,
    )
    late = slice(task.iterations * 3 // 4, None)
    found = {
        "log likelihood per word": float(
            model.traces_["log_likelihood"][0, late].mean() / train.n_tokens
        ),
        "training perplexity": perplexity(model).value,
        "test perplexity": folded.value,
        "AUC": auc(scores.pairs(pairs), scores.pairs(negatives)),
        "acceptance": float(model.acceptance_),
        "topics": float(np.count_nonzero(model.topic_samples_)),
    }
    if train.n_categories:
        clusters = clustering_scores(model.labels_, train.categories)
        found |= {"purity": clusters.purity, "NMI": clusters.nmi}
    if truth is not None:
        found |= recovery(model, truth, corpus, split, train)
    return {
        "measures": found,
        "seconds": wall,
        "processor seconds": cpu,
        "load": os.getloadavg()[0],
        "tokens": train.n_tokens,
        "citations": train.n_citations,
    }


def recovery(
    model: SCNTM, truth: Truth, corpus: Corpus, split: Split, train: Corpus
) -> dict[str, float]:
    """Compare with the true parameters of the corpus, with topics matched by their words."""
    used = np.flatnonzero(model.topic_samples_ > 0)
    order, cosines, _ = match_topics(truth.topic_word, model.topic_word_[used])
    true_topic = np.full(len(model.topic_share_), -1)
    true_topic[used[order[order >= 0]]] = np.flatnonzero(order >= 0)
    whole = split.train_index[train.citations.astype(np.int64)] @ [corpus.n_documents, 1]
    place = np.searchsorted(corpus.citations.astype(np.int64) @ [corpus.n_documents, 1], whole)
    citing = true_topic[model.citing_topic_.argmax(axis=1)]
    documents = truth.doc_topic[split.train_index].argmax(axis=1)
    return {
        "cosine of topics": float(cosines.mean()),
        "citing topics correct": float((citing == truth.citing_topic[place]).mean()),
        "main topics correct": float((true_topic[model.labels_] == documents).mean()),
    }


if __name__ == "__main__":
    main()
