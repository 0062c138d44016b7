"""The experiment `convergence`: training log likelihood with and without the network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from reproduction import paper_figures
from reproduction.base import (
    Cell,
    Context,
    Experiment,
    Figure,
    Outcome,
    Spread,
    Table,
    difference,
    spread,
)
from reproduction.context import not_finished
from reproduction.settings import paper_stages, settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citeweave.corpus import Corpus
    from citeweave.experiments.folds import Fold

__all__ = ["EXPERIMENT"]

FOLDS = 10
MODELS = {"scntm": "with network", "cntm-text": "text alone"}
KINDS = {"topics": "given topics", "papers": "given papers"}
_POINTS = 400
_MARGINALS = 80

_PROTOCOL = """\
SCNTM (eta = 0), whose citations are used from halfway on, and the same model without citations
(`cntm-text`), with the same seeds, so both are the same chain up to that point. There is one chain
per fold, whose training documents are the other nine tenths of a ten-fold partition. The maximum
number of topics is that of the set's settings ({topics}). Two log likelihoods of the training words
are shown. *Given topics*: the sum over words of log p(w | z, phi'), with phi' at its posterior mean
given the state, the formula that the paper gives for its figure (subsec:convergence). *Given
papers*: the sum of log p(w | theta', phi), with the topic of each word summed out
(eq:word_probability), from which perplexity is computed. Figures of the table are means over the
last tenth of the iterations before the halfway point and before the end; acceptance is the mean of
Metropolis-Hastings for citing topics over all iterations with the network."""

_FALLS = (
    "The paper's figure (of Cora; it has no numbers) shows a log likelihood that rises when the "
    "network is switched on. That is how the likelihood given papers should behave if citations "
    "help; the likelihood given topics need not rise. We checked Cora with one seed: after 400 "
    "iterations, the words of a paper are in 1.43 topics on average with the network and in 2.00 "
    "without. With fewer topics per paper, each word has fewer to choose from, which may be why "
    "this likelihood falls; this was not shown to be the reason. Compare the two columns 'change'."
)

_CHANGE = (
    "Folds differ in their training documents; 'change' compares within each. Multiply by the "
    "number of training words for the log likelihoods of the figure."
)


class _Task(NamedTuple):
    dataset: str
    model: str
    fold: Fold
    seed: int


def run(context: Context) -> Outcome:
    """Fit both models to the training documents of some folds and keep their traces."""
    from citeweave.experiments.folds import k_folds  # noqa: PLC0415 (loads the compiler)

    runs = min(context.runs, 2) if context.quick else context.runs
    folds = k_folds(max(FOLDS, runs), seed=context.seed)[:runs]
    iterations = context.chain_length()
    left_out = [name for name in context.datasets if not context.corpus(name).n_citations]
    names = [name for name in context.datasets if name not in left_out]
    tasks = [
        _Task(name, model, fold, seed)
        for name in names
        for fold, seed in zip(folds, context.seeds, strict=False)
        for model in MODELS
    ]
    if context.finished:
        tasks = _finished(context, tasks, iterations)
        if names and not tasks:
            raise not_finished("The experiment 'convergence'")
    found = context.map(lambda task: _trace(context, task, iterations), tasks)
    results = dict(zip(tasks, found, strict=True))
    drawn = [name for name in names if any(task.dataset == name for task in tasks)]
    notes = [f"{name} has no citations and is left out." for name in left_out]
    notes.append(_FALLS)
    return Outcome(
        title="Convergence",
        protocol=_PROTOCOL.format(
            topics=", ".join(f"{name}: {settings(name).topics}" for name in names) or "none"
        ),
        tables=[_likelihoods(names, results), _acceptances(names, results)] if names else [],
        figures=[_figure(drawn, results, iterations)] if drawn else [],
        notes=notes,
        seeds=context.seeds[:runs],
    )


def _trace(context: Context, task: _Task, iterations: int) -> dict[str, Any]:
    """Fit one chain, or read the result of an earlier one."""
    from citeweave.experiments.folds import cut  # noqa: PLC0415 (loads the compiler)

    corpus = context.corpus(task.dataset)
    key = _key(context, task, iterations)

    def fit() -> dict[str, Any]:
        context.say(f"{task.dataset}: {task.model}, fold {task.fold.name}")
        train = cut(corpus, task.fold).train
        return _fit(context, train, task, key["topics"], iterations)

    value: dict[str, Any] = context.remember(f"convergence-{task.dataset}", key, fit)
    return value


def _key(context: Context, task: _Task, iterations: int) -> dict[str, Any]:
    """Collect everything that determines the traces of a chain."""
    return {
        "corpus": context.corpus(task.dataset).fingerprint,
        "model": task.model,
        "fold": task.fold.as_json(),
        "seed": task.seed,
        "topics": settings(task.dataset).topics,
        "iterations": iterations,
    }


def _finished(context: Context, tasks: list[_Task], iterations: int) -> list[_Task]:
    """Leave out unfinished chains, and count them for the notes."""
    done = []
    for task in tasks:
        there = context.remembers(f"convergence-{task.dataset}", _key(context, task, iterations))
        counted = context.missing.setdefault(f"{task.dataset}, {MODELS[task.model]}", [0, 0])
        counted[0] += not there
        counted[1] += 1
        if there:
            done.append(task)
    return done


def _fit(
    context: Context, train: Corpus, task: _Task, topics: int, iterations: int
) -> dict[str, Any]:
    from reproduction.chain_traces import trace_chain  # noqa: PLC0415 (loads the compiler)

    shown = _shown(iterations)
    some = set((shown + 1)[:: max(1, len(shown) // _MARGINALS)].tolist()) | {iterations}
    traces = trace_chain(
        train,
        marginal_at=some,
        stop=context.stop,
        topics=topics,
        model=task.model,
        iterations=iterations,
        seed=task.seed,
        **paper_stages(iterations),
        self_citations="paper",
    )
    at = np.array(list(traces.marginal))
    marginal = np.array(list(traces.marginal.values()))
    everywhere = np.arange(1, iterations + 1)
    return {
        "words": int(train.n_tokens),
        "acceptance": traces.acceptance,
        "topics": _summary(everywhere, traces.assigned, iterations)
        | {"line": [(shown + 1).tolist(), np.round(traces.assigned[shown], 1).tolist()]},
        "papers": _summary(at, marginal, iterations)
        | {"line": [at.tolist(), np.round(marginal, 1).tolist()]},
    }


def _summary(at: np.ndarray, values: np.ndarray, iterations: int) -> dict[str, float]:
    """Mean over the last tenth before the half, and before the end (or the last value there)."""
    half, window = iterations // 2, max(1, iterations // 10)

    def before(end: int) -> float:
        inside = (at > end - window) & (at <= end)
        return float(values[inside].mean() if inside.any() else values[at <= end][-1])

    return {"half": before(half), "end": before(iterations)}


def _shown(iterations: int) -> np.ndarray:
    """Choose iterations to draw: the first ones, then evenly, the last always."""
    step = max(1, iterations // _POINTS)
    chosen = {*range(min(20, iterations)), *range(0, iterations, step), iterations - 1}
    return np.array(sorted(chosen))


def _of(
    results: dict[_Task, dict[str, Any]], name: str, model: str
) -> list[tuple[_Task, dict[str, Any]]]:
    return [
        (task, result)
        for task, result in results.items()
        if task.dataset == name and task.model == model
    ]


def _likelihoods(names: Sequence[str], results: dict[_Task, dict[str, Any]]) -> Table:
    rows: list[list[Cell]] = []
    for name in names:
        for model, words in MODELS.items():
            found = [result for _, result in _of(results, name, model)]
            row: list[Cell] = [name, words, len(found)]
            for kind in KINDS:
                a_word = [(each[kind], each["words"]) for each in found]
                row.append(spread(part["half"] / n for part, n in a_word))
                row.append(spread((part["end"] - part["half"]) / n for part, n in a_word))
            rows.append(row)
    columns = ["set", "model", "folds"]
    for label in KINDS.values():
        columns += [f"{label}, half", f"{label}, change"]
    return Table(
        title="Training log likelihood per word halfway through, and its change in the second half",
        columns=columns,
        rows=rows,
        decimals=dict.fromkeys(columns[3:], 3),
        signed=[column for column in columns if column.endswith("change")],
        notes=[_CHANGE],
    )


def _acceptances(names: Sequence[str], results: dict[_Task, dict[str, Any]]) -> Table:
    rows: list[list[Cell]] = []
    for name in names:
        ours = spread(result["acceptance"] for _, result in _of(results, name, "scntm"))
        percent = None
        if ours is not None:
            percent = Spread(100 * ours.mean, None if ours.sd is None else 100 * ours.sd, ours.n)
        # the paper gives one figure, for no set in particular
        paper = 100 * paper_figures.ACCEPTANCE
        rows.append([name, percent, paper, difference(percent, paper)])
    return Table(
        title="Acceptance of Metropolis-Hastings for citing topics, in percent",
        columns=["set", "ours", "paper (about)", "difference"],
        rows=rows,
        decimals={"ours": 1, "paper (about)": 0, "difference": 1},
    )


def _figure(names: Sequence[str], results: dict[_Task, dict[str, Any]], iterations: int) -> Figure:
    panels, rows = [], []
    for name in names:
        for kind, label in KINDS.items():
            groups = []
            for model, words in MODELS.items():
                lines = []
                for task, result in _of(results, name, model):
                    line = result[kind]["line"]
                    lines.append(line)
                    start = [name, label, words, task.fold.name]
                    rows += [[*start, *pair] for pair in zip(*line, strict=True)]
                groups.append({"label": f"SCNTM, {words}", "lines": lines})
            panels.append(
                {
                    "title": f"{name}: {label}",
                    "values": "log likelihood of words",
                    "network_from": iterations // 2,
                    "settled_from": iterations // 4,
                    "groups": groups,
                }
            )
    return Figure(
        name="likelihood",
        caption="Training log likelihood of words against iterations, one line per fold; citations "
        "are used from the dotted line on. Left: given topics, log p(w | z, phi'); right: given "
        "papers, log p(w | theta', phi). Values of the first quarter of the iterations "
        "outside these ranges are cut off.",
        drawing="traces",
        data={"panels": panels},
        table=Table(
            title="Traces",
            columns=["set", "likelihood", "model", "fold", "iteration", "log likelihood"],
            rows=rows,
        ),
    )


EXPERIMENT = Experiment(
    name="convergence",
    label="fig:likelihood",
    what="Training log likelihood against iterations, with and without the network.",
    datasets=("cora", "citeseer", "ieee-vis"),
    quick_datasets=("cora",),
    run=run,
)
