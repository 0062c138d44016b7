"""The experiment `runtime`: minutes for 2,000 iterations (tbl:running_time)."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from reproduction import paper_figures
from reproduction.base import Cell, Context, Experiment, Figure, Outcome, Table
from reproduction.context import QUICK_SCALE
from reproduction.settings import ITERATIONS, NETWORK_FROM, SIZES, paper_stages, settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from citeweave.corpus import Corpus

__all__ = ["EXPERIMENT"]

TRIAL = 40
"""Iterations of the trial from which the time of a run is predicted; half with the network."""

BUDGET_MINUTES = 5.0
"""Minutes beyond which 2,000 iterations are extrapolated, and marked as such."""

WARM_UP = 4
"""Iterations in which the kernels of a GPU are compiled before timing."""

ALONE = 1.5
"""Largest load at which the machine is regarded as idle while timing."""

_STANDS_FOR = {"simulated-ml": "ML", "simulated-m10": "M10", "simulated-avs": "AvS"}

_PROTOCOL = """\
One chain on one core: {iterations:,} iterations with eta infinite as in the paper, citations
counting from iteration {network_from:,} on; eta is 0 where a set has no labels. Time is the sum
of the seconds of all iterations, everything a step does included (words, citations,
hyperparameters, likelihood), without reading the corpus and compiling. A trial of {trial}
iterations, half of them with the network, comes first. Where it foresees more than {budget:g}
minutes, or with `--quick`, the time is extrapolated: {text:,} times the mean of the last half of
its text iterations and {network:,} times that of its network iterations; the column *how* says
so. Chains change while they settle, so an extrapolated time is rough.

The paper's minutes are those of its Java program on one core of an Intel Core i7 at 3.20 GHz; the
machines differ. ML, M10 with abstracts and AvS are gone: corpora drawn from the model with their
numbers of papers, words, authors and citations stand in, and are named *simulated*.

*GPU*: the same {iterations:,} iterations on one GPU, always measured, where there is one and
`--device` lets it be used (a dash: it was not).

The paper says that the time does not depend on the number of authors. To see it, {documents:,}
papers of {words} words with {citations:,} citations are drawn from the model with ever more authors
and timed for {trial} iterations, half of them with citations: seconds an iteration, of the last
half of each part."""

AUTHOR_NUMBERS = (100, 1000, 4000)
_AUTHOR_CORPUS = {
    "documents": 4000,
    "vocabulary": 2000,
    "categories": 1,
    "words_per_document": 50,
    "citations": 16_000,
}


def run(context: Context) -> Outcome:
    """Time the sampler on each set, one at a time."""
    rows: list[list[Cell]] = []
    notes, speeds, loads, places = [], {}, {}, {}
    labels, paper_minutes, our_minutes = [], [], []
    for name in context.datasets:
        corpus = context.corpus(name)
        timed = _time(context, name, corpus)
        if timed is None:
            continue  # not finished
        paper_name = settings(name).paper_name or _STANDS_FOR.get(name)
        paper = paper_figures.RUNNING_TIME.get(paper_name or "")
        scaled = context.quick and name in SIZES
        # a fiftieth of a corpus is not compared with the whole
        printed = paper.minutes if paper is not None and not scaled else None
        speeds[name] = corpus.n_tokens * ITERATIONS / (60 * timed["minutes"])
        rows.append(
            [
                name if paper is None else f"{name} ({paper_name})",
                corpus.n_tokens,
                corpus.n_citations,
                settings(name).topics,
                timed["minutes"],
                _on_gpu(context, name, corpus),
                printed,
                None if printed is None else timed["minutes"] - printed,
                None if printed is None else printed / timed["minutes"],
                timed["how"],
            ]
        )
        loads[name] = timed.get("load")  # times of earlier releases have none
        places[name] = timed["place"]
        labels.append(name)
        our_minutes.append(timed["minutes"])
        paper_minutes.append(printed)
        if scaled:
            notes.append(f"{name}: with --quick 1/{QUICK_SCALE} of its size, not compared.")
        elif paper is not None and abs(corpus.n_tokens / paper.words - 1) > 0.02:
            notes.append(
                f"{name} has {corpus.n_tokens:,} words and {corpus.n_citations:,} citations, while "
                f"the paper's {paper_name} had {paper.words:,} and {paper.citations:,}."
            )
    notes += _company(loads, max((place["cores"] for place in places.values()), default=0))
    notes += [f"Measured on {place}." for place in dict.fromkeys(map(_described, places.values()))]
    table = Table(
        title=f"Minutes for {ITERATIONS:,} iterations",
        columns=[
            "set",
            "words",
            "citations",
            "topics",
            "ours",
            "GPU",
            "paper",
            "difference",
            "× faster",
            "how",
        ],
        rows=rows,
        decimals={"ours": 2, "GPU": 2, "difference": 1, "× faster": 0},
        notes=notes,
    )
    figure = Figure(
        name="minutes",
        caption=f"Minutes for {ITERATIONS:,} iterations of one chain on one core (logarithmic).",
        drawing="dots",
        data={
            "labels": labels,
            "values": f"minutes for {ITERATIONS:,} iterations",
            "groups": [
                {"label": "paper (Java, 2016)", "values": paper_minutes},
                {"label": "citeweave", "values": our_minutes},
            ],
        },
        table=Table(
            title="Minutes",
            columns=["set", "paper", "ours"],
            rows=list(zip(labels, paper_minutes, our_minutes, strict=True)),
        ),
    )
    return Outcome(
        title="Running time",
        protocol=_PROTOCOL.format(
            iterations=ITERATIONS,
            network_from=NETWORK_FROM,
            trial=TRIAL,
            budget=BUDGET_MINUTES,
            text=NETWORK_FROM,
            network=ITERATIONS - NETWORK_FROM,
            documents=_AUTHOR_CORPUS["documents"],
            words=_AUTHOR_CORPUS["words_per_document"],
            citations=_AUTHOR_CORPUS["citations"],
        ),
        tables=[table, _against_authors(context)],
        figures=[figure],
        seeds=[context.seed],
        facts={"words_a_second": speeds},
    )


def _described(place: Mapping[str, Any]) -> str:
    """Describe a machine and its versions.

    Examples
    --------
    >>> _described({"cores": 2, "processor": "AMD EPYC", "versions": {"numba": "0.68.1"}})
    '2 cores, AMD EPYC, with numba 0.68.1'
    """
    versions = ", ".join(f"{name} {number}" for name, number in place["versions"].items())
    return f"{place['cores']} cores, {place['processor']}, with {versions}"


def _company(loads: Mapping[str, float | None], cores: int) -> list[str]:
    """Return a note on sets timed while other processes were running, which costs some speed."""
    busy = [f"{name} {load:.0f}" for name, load in loads.items() if load and load > ALONE]
    if not busy:
        return []
    text = "Other work was running, each process on its own core; load of the"
    return [f"{text} {cores} cores at the end of each timing: {', '.join(busy)}."]


def _parameters(context: Context, name: str, corpus: Corpus) -> dict[str, Any]:
    return {
        "topics": settings(name).topics,
        "eta": "inf" if corpus.n_categories else 0,
        "seed": context.seed,
        "self_citations": "paper",
    }


_PLACE = ("machine", "versions")
"""Entries of a key that say where a time was measured, which is the only place where it holds."""


def _key(context: Context, corpus: Corpus, parameters: Mapping[str, Any]) -> dict[str, Any]:
    from reproduction.provenance import machine, versions  # noqa: PLC0415

    return {
        "corpus": corpus.fingerprint,
        "parameters": dict(parameters),
        "quick": context.quick,
        "iterations": context.iterations,
        **dict(zip(_PLACE, (machine(), versions()), strict=True)),
    }


def _finished(context: Context, part: str, key: Mapping[str, Any], what: str) -> Any:
    """Return the latest measurement of any machine, with its key; None if there is none."""
    kept = context.recall(part, key, but=_PLACE)
    if kept is None:
        context.missing[what] = [1, 1]
    return kept


def _time(context: Context, name: str, corpus: Corpus) -> Mapping[str, Any] | None:
    """Time a data set, or read the result of an earlier run on the same corpus.

    Times of this machine are repeated only if it has none; with ``--finished``, those of another
    machine are shown, and None is returned if there are none.
    """
    parameters = _parameters(context, name, corpus)
    key = _key(context, corpus, parameters)
    if context.finished:
        kept = _finished(context, f"runtime-{name}", key, f"{name}, one core")
        if kept is None:
            return None
        result, key = kept["value"], kept["key"]
    else:
        result = context.remember(
            f"runtime-{name}", key, lambda: _measure(context, name, corpus, parameters)
        )
    return {**result, "place": {**key["machine"], "versions": key["versions"]}}


def _on_gpu(context: Context, name: str, corpus: Corpus) -> float | None:
    """Time a data set on a GPU, in minutes; None if no GPU is to be used."""
    from citeweave.experiments import ModelChoice  # noqa: PLC0415 (loads the compiler)

    parameters = _parameters(context, name, corpus)
    key = _key(context, corpus, parameters)
    if context.finished:
        kept = context.recall(f"runtime-{name}-gpu", key, but=_PLACE)
        return None if kept is None else float(kept["value"])
    wanted = {"topics": parameters["topics"]}
    if ModelChoice(name, "scntm", wanted).device(context.device, corpus.n_tokens) == "cpu":
        return None

    def measure() -> float:
        context.say(f"{name}: on a GPU")
        given = parameters | {"device": "cuda"}
        iterations = context.iterations or ITERATIONS
        _seconds(context, corpus, given, WARM_UP)
        seconds = _seconds(context, corpus, given, iterations)
        return float(seconds.sum()) / 60 * ITERATIONS / iterations

    minutes: float = context.remember(f"runtime-{name}-gpu", key, measure)
    return minutes


def _against_authors(context: Context) -> Table:
    """Time corpora that differ only in the number of authors."""
    from citeweave.simulate import simulate  # noqa: PLC0415 (compiles kernels)

    scale = QUICK_SCALE if context.quick else 1
    size: dict[str, Any] = dict(_AUTHOR_CORPUS)
    for part in ("documents", "citations"):
        size[part] //= scale
    rows: list[list[Cell]] = []
    for number in AUTHOR_NUMBERS:
        authors = max(number // scale, 2)
        corpus = simulate(**size, authors=authors, topics=20, seed=context.seed).corpus
        parameters = {"topics": 20, "seed": context.seed, "self_citations": "paper"}
        key = _key(context, corpus, parameters)
        if context.finished:
            kept = _finished(context, "runtime-authors", key, f"{authors:,} authors, one core")
            if kept is None:
                continue
            found = kept["value"]
        else:
            measure = partial(_parts, context, corpus, parameters, TRIAL)
            found = context.remember("runtime-authors", key, measure)
        rows.append([authors, corpus.n_tokens, corpus.n_citations, *found])
    return Table(
        title="Seconds per iteration against the number of authors, on one core",
        columns=["authors", "words", "citations", "text alone", "with citations"],
        rows=rows,
        decimals={"text alone": 4, "with citations": 4},
    )


def _measure(
    context: Context, name: str, corpus: Corpus, parameters: Mapping[str, Any]
) -> dict[str, Any]:
    trial = min(TRIAL, context.iterations or TRIAL)
    context.say(f"{name}: trial of {trial} iterations")
    text, network = _parts(context, corpus, parameters, trial)
    minutes = (NETWORK_FROM * text + (ITERATIONS - NETWORK_FROM) * network) / 60
    if context.quick or context.iterations is not None or minutes > BUDGET_MINUTES:
        return {"minutes": minutes, "how": f"from {trial} iterations", "load": _load()}
    context.say(f"{name}: {ITERATIONS:,} iterations, about {minutes:.1f} minutes")
    seconds = _seconds(context, corpus, parameters, ITERATIONS)
    return {"minutes": float(seconds.sum()) / 60, "how": "measured", "load": _load()}


def _load() -> float | None:
    """Return the load of the last minute; None if the system does not provide it."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None


def _parts(
    context: Context, corpus: Corpus, parameters: Mapping[str, Any], trial: int
) -> tuple[float, float]:
    """Seconds per iteration without and with citations, in the last half of each part."""
    seconds = _seconds(context, corpus, parameters, trial)
    half = trial // 2
    return (
        float(seconds[half // 2 : half].mean()),
        float(seconds[half + (trial - half) // 2 :].mean()),
    )


def _seconds(
    context: Context, corpus: Corpus, parameters: Mapping[str, Any], iterations: int
) -> np.ndarray:
    """Seconds of each iteration of one chain."""
    from citeweave.model import SCNTM  # noqa: PLC0415 (loads the compiler)

    fixed = {"chains": 1, "threads": 1, "exactly": True, **paper_stages(iterations)}
    fixed |= {"device": "cpu", "sweep": "auto" if "device" in parameters else "sequential"}
    model = SCNTM(**fixed | dict(parameters), iterations=iterations, thin=iterations)
    model.fit(corpus, stop=context.stop)
    return np.asarray(model.traces_["seconds"][0], float)


EXPERIMENT = Experiment(
    name="runtime",
    label="tbl:running_time",
    what="Running time of the sampler.",
    datasets=(
        "simulated-ml",
        "simulated-m10",
        "simulated-avs",
        "citeseer",
        "cora",
        "pubmed",
        "ieee-vis",
        "hep-th",
    ),
    quick_datasets=("simulated-ml", "cora", "citeseer"),
    run=run,
)
