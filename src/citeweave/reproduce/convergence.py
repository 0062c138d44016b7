"""The experiment `convergence`: training log likelihood with and without the network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from citeweave.reproduce import paper_figures
from citeweave.reproduce.base import (
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
from citeweave.reproduce.settings import settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citeweave.corpus import Corpus
    from citeweave.experiments.folds import Fold

__all__ = ["EXPERIMENT"]

FOLDS = 10
MODELS = {"scntm": "with network", "cntm-text": "text alone"}
_POINTS = 400

_PROTOCOL = """\
The sum over all words of the training documents of log p(w | z, phi'), with phi' at its posterior
mean given the state (subsec:convergence), after each iteration of SCNTM (eta = 0), whose
citations count from the half of the iterations on, and of the same model without citations
(`cntm-text`). One chain a fold: training documents are the other nine tenths of a ten-fold
partition. Topics are at most as many as the set's settings say ({topics}). Log likelihoods of the
table are means over the last tenth of the iterations before the half and before the end;
acceptance is the mean of Metropolis-Hastings for citing topics over all iterations with the
network."""

_CHANGE = (
    "Folds differ in their training documents: 'change' compares within each. 'A word': at the "
    "end, by number of training words."
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
    found = context.map(lambda task: _trace(context, task, iterations), tasks)
    results = dict(zip(tasks, found, strict=True))
    notes = [f"{name} has no citations and is left out." for name in left_out]
    notes.append(
        "The paper's figure has no numbers; it shows Cora, where the log likelihood rises when the "
        "network is switched on, and stays with text alone."
    )
    return Outcome(
        title="Convergence",
        protocol=_PROTOCOL.format(
            topics=", ".join(f"{name}: {settings(name).topics}" for name in names) or "none"
        ),
        tables=[_likelihoods(names, results), _acceptances(names, results)] if names else [],
        figures=[_figure(names, results, iterations)] if names else [],
        notes=notes,
        seeds=context.seeds[:runs],
    )


def _trace(context: Context, task: _Task, iterations: int) -> dict[str, Any]:
    """Fit one chain, or take up what an earlier one left."""
    from citeweave.experiments.folds import cut  # noqa: PLC0415 (loads the compiler)

    corpus = context.corpus(task.dataset)
    topics = settings(task.dataset).topics
    key = {
        "corpus": corpus.fingerprint,
        "model": task.model,
        "fold": task.fold.as_json(),
        "seed": task.seed,
        "topics": topics,
        "iterations": iterations,
    }

    def fit() -> dict[str, Any]:
        context.say(f"{task.dataset}: {task.model}, fold {task.fold.name}")
        train = cut(corpus, task.fold).train
        return _fit(context, train, task, topics, iterations)

    value: dict[str, Any] = context.remember(f"convergence-{task.dataset}", key, fit)
    return value


def _fit(
    context: Context, train: Corpus, task: _Task, topics: int, iterations: int
) -> dict[str, Any]:
    from citeweave.model import SCNTM  # noqa: PLC0415 (loads the compiler)

    model = SCNTM(
        topics=topics, model=task.model, iterations=iterations, seed=task.seed, thin=iterations
    ).fit(train, stop=context.stop)
    values = np.asarray(model.traces_["log_likelihood"][0], float)
    half, window = iterations // 2, max(1, iterations // 10)
    shown = _shown(iterations)
    has_network = task.model == "scntm"
    return {
        "iterations": (shown + 1).tolist(),
        "log_likelihood": np.round(values[shown], 1).tolist(),
        "at_half": float(values[max(half - window, 0) : half].mean()),
        "at_end": float(values[-window:].mean()),
        "words": int(train.n_tokens),
        "acceptance": model.acceptance_ if has_network else None,
    }


def _shown(iterations: int) -> np.ndarray:
    """Choose iterations to draw: the first ones, then evenly, the last always."""
    step = max(1, iterations // _POINTS)
    chosen = {*range(min(20, iterations)), *range(0, iterations, step), iterations - 1}
    return np.array(sorted(chosen))


def _gather(
    results: dict[_Task, dict[str, Any]], name: str, model: str, figure: str
) -> list[float]:
    return [
        result[figure]
        for task, result in results.items()
        if task.dataset == name and task.model == model
    ]


def _likelihoods(names: Sequence[str], results: dict[_Task, dict[str, Any]]) -> Table:
    rows: list[list[Cell]] = []
    for name in names:
        for model, words in MODELS.items():
            half = _gather(results, name, model, "at_half")
            end = _gather(results, name, model, "at_end")
            gain = spread(after - before for before, after in zip(half, end, strict=True))
            tokens = spread(_gather(results, name, model, "words"))
            last = spread(end)
            each = last.mean / tokens.mean if last is not None and tokens is not None else None
            rows.append([name, words, len(half), spread(half), last, gain, each])
    return Table(
        title="Training log likelihood of words",
        columns=["set", "model", "folds", "at the half", "at the end", "change", "a word"],
        rows=rows,
        decimals={"at the half": 0, "at the end": 0, "change": 0, "a word": 4},
        signed=["change"],
        notes=[_CHANGE],
    )


def _acceptances(names: Sequence[str], results: dict[_Task, dict[str, Any]]) -> Table:
    rows: list[list[Cell]] = []
    for name in names:
        ours = spread(_gather(results, name, "scntm", "acceptance"))
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
        groups = []
        for model, words in MODELS.items():
            lines = []
            for task, result in results.items():
                if task.dataset == name and task.model == model:
                    lines.append((result["iterations"], result["log_likelihood"]))
                    rows += [
                        [name, words, task.fold.name, *pair]
                        for pair in zip(*lines[-1], strict=True)
                    ]
            groups.append({"label": f"SCNTM, {words}", "lines": lines})
        panels.append(
            {
                "title": name,
                "values": "log likelihood of training words",
                "network_from": iterations // 2,
                "settled_from": iterations // 4,
                "groups": groups,
            }
        )
    return Figure(
        name="likelihood",
        caption="Training log likelihood of words against iterations, one line a fold; the "
        "network counts from the dotted line on. What the first quarter of the iterations does "
        "outside this range is cut off.",
        drawing="traces",
        data={"panels": panels},
        table=Table(
            title="Traces",
            columns=["set", "model", "fold", "iteration", "log likelihood"],
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
