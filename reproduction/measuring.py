"""Shared parts of experiments that measure models: models, folds, and tasks run only once."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING, Any

from citeweave.experiments import (
    PROTOCOLS,
    Fold,
    ModelChoice,
    TaskProgress,
    finished_tasks,
    k_folds,
    make_tasks,
    random_splits,
    run_tasks,
)
from reproduction.base import Spread, Table, spread
from reproduction.context import PARTS
from reproduction.paper_figures import MODELS
from reproduction.settings import settings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from citeweave.corpus import Corpus
    from citeweave.experiments import Table as Values
    from citeweave.experiments import Task
    from reproduction.base import Cell, Context

__all__ = [
    "ETAS",
    "LINQS",
    "METHODS",
    "by",
    "chains_table",
    "choice",
    "describe_folds",
    "folded_in",
    "folds_for",
    "run",
    "run_folds",
    "shown",
    "value_of",
]

LINQS = ("cora", "citeseer", "pubmed")
"""Data sets for which the paper reports ten-fold cross-validation."""

FOLDS = 10
QUICK_FOLDS = 2
TEST_SHARE = 0.1

ETAS: dict[str, float] = {"scntm": 0, "scntm-eta-10": 10, "scntm-eta-inf": math.inf}
"""The paper's values of eta, by the names of `paper_figures.MODELS`."""


def choice(key: str, *, topics: int, **parameters: Any) -> ModelChoice:
    """Choose a model of the paper by its key in `paper_figures.MODELS`.

    Its settings are the defaults, except for the given parameters (see `Context.chain`).
    """
    given = {"topics": topics, **parameters}
    kind = "scntm" if key in ETAS else key
    if ETAS.get(key):
        given["eta"] = ETAS[key]
    if kind != "scntm":
        given.pop("self_citations", None)  # a model without citations has none of these
    return ModelChoice(MODELS[key], kind, given)


def folds_for(context: Context, name: str) -> list[Fold]:
    """Return ten folds for the LINQS sets, and as many 90/10 splits as runs for the others.

    With ``--quick``, two of them; at most the requested number of the ten folds.
    """
    if name in LINQS:
        folds = k_folds(FOLDS, seed=context.seed)[: _folds_asked(context, name)]
    else:
        folds = random_splits(context.runs, test=TEST_SHARE, seed=context.seed)
    return folds[:QUICK_FOLDS] if context.quick else folds


def _folds_asked(context: Context, name: str) -> int:
    return min(context.folds.get(name, context.folds.get("", FOLDS)), FOLDS)


def describe_folds(context: Context) -> str:
    """Describe how the data sets are divided."""
    linqs = [name for name in context.datasets if name in LINQS]
    others = [name for name in context.datasets if name not in LINQS]
    parts = []
    if linqs:
        most = QUICK_FOLDS if context.quick else FOLDS
        done = {name: min(_folds_asked(context, name), most) for name in linqs}
        some = [f"{name} {number}" for name, number in done.items() if number < FOLDS]
        part = f"{', '.join(linqs)}: ten-fold cross-validation"
        parts.append(part + (f" (folds done: {', '.join(some)})" if some else ""))
    if others:
        count = min(context.runs, QUICK_FOLDS) if context.quick else context.runs
        parts.append(
            f"{', '.join(others)}: {count} random split{'s' if count > 1 else ''}, with a tenth of "
            "the papers as test papers"
        )
    return "; ".join(parts)


METHODS = ("paper", "gibbs")
"""How test papers are folded in: by the paper's method and by Gibbs sampling, after the same fit.
Every experiment with folds uses both, so that experiments share their fits."""


def run_folds(context: Context, models: Mapping[str, Sequence[ModelChoice]]) -> Values:
    """Fit models to the training papers of all folds, and fold the test papers in by `METHODS`.

    Parameters
    ----------
    context : Context
    models : mapping
        By name of the set.
    """
    return run(
        context,
        models,
        protocol="folds",
        folds={name: folds_for(context, name) for name in models},
        seeds=context.seeds[:1],
        options={"method": list(METHODS)},
    )


def folded_in(
    values: Values, *, labels: str = "hidden", method: str = "paper", **wanted: Any
) -> Values:
    """Select the measures of test papers for one method of fold-in.

    Parameters
    ----------
    values : Table
        Result of `run_folds`.
    labels : {"hidden", "seen"}
        Labels of test papers.
    method : {"paper", "gibbs"}
    **wanted
        As in `Table.select`.
    """
    found = values.select(where="test", **wanted)
    way = f"labels of test documents {labels}, {method} fold-in"
    return found.select(protocol=[p for p in {row.protocol for row in found} if p.endswith(way)])


def by(method: str) -> str:
    """Return the end of the title of a table, which names a fold-in other than the paper's.

    Examples
    --------
    >>> by("gibbs"), by("paper")
    (', Gibbs fold-in', '')
    """
    return "" if method == METHODS[0] else f", {method.capitalize()} fold-in"


def run(
    context: Context,
    models: Mapping[str, Sequence[ModelChoice]],
    *,
    protocol: str,
    folds: Mapping[str, Sequence[Fold]] | None = None,
    seeds: Sequence[int] | None = None,
    options: Mapping[str, Any] | None = None,
) -> Values:
    """Run all models of all sets, or read stored results: one file per task below ``out``.

    Experiments with the same task share it.

    Parameters
    ----------
    context : Context
    models : mapping
        By name of the set.
    protocol : str
        Protocol of the measurement, see `citeweave.experiments.PROTOCOLS`.
    folds : mapping, optional
        By name of the set; the whole corpus if not given.
    seeds : sequence of int, optional
        By default those of the context.
    options : mapping, optional
        Options of the protocol.
    """
    corpora: dict[str, Corpus] = {name: context.corpus(name) for name in models}
    tasks = []
    for name, corpus in corpora.items():
        some: dict[str, Any] = {} if folds is None else {"folds": folds[name]}
        tasks += make_tasks(
            {name: corpus.fingerprint},
            models[name],
            **some,
            seeds=context.seeds if seeds is None else seeds,
            protocol=protocol,
            version=PROTOCOLS[protocol].version,
            options={name: dict(options or {})},
        )

    if context.finished or (context.parts and protocol not in context.parts):
        tasks = _finished(context, tasks, protocol)

    def tell(progress: TaskProgress) -> None:
        if progress.state in {"done", "kept"}:
            context.ran.setdefault(progress.machine, {})[progress.task.key] = progress.seconds
        if progress.state in {"done", "failed"}:
            took = f"{progress.seconds:.1f} s"
            place = f"{progress.finished} of {progress.total}"
            end = took if progress.state == "done" else f"failed: {progress.error}"
            context.say(f"{progress.task} ({place}): {end}")

    return run_tasks(
        tasks,
        {corpus.fingerprint: corpus for corpus in corpora.values()},
        out=context.out,
        workers=context.workers,
        device=context.device,
        progress=tell,
        stop=context.stop,
    )


def _finished(context: Context, tasks: Sequence[Task], protocol: str) -> list[Task]:
    """Leave out unfinished tasks, and count them for the notes."""
    done = finished_tasks(tasks, context.out)
    keys = {task.key for task in done}
    for task in tasks:
        what = f"{task.dataset}, {task.model.name}, {PARTS[protocol]}"
        counted = context.missing.setdefault(what, [0, 0])
        counted[0] += task.key not in keys
        counted[1] += 1
    return done


def value_of(table: Values, **wanted: Any) -> Spread | None:
    """Summarise the values of the selected rows; None if there are none."""
    return spread(table.values(**wanted).tolist())


def shown(name: str) -> str:
    """Return the name of a data set in tables, with the paper's name if it differs."""
    paper = settings(name).paper_name
    return name if paper is None or paper.lower() == name else f"{name} ({paper})"


_CHAIN_COLUMNS = (
    "set",
    "model",
    "fits",
    "on a GPU",
    "settled",
    "iterations",
    "R-hat, median",
    "R-hat, highest",
    "topics in use",
    "acceptance, %",
    "terms from 0.99, %",
)
_CHAIN_NOTE = (
    "Settled: the halves of the chain agree (docs/understand/settling.md). R-hat is the largest of "
    "the log posterior and all concentrations, given as median and maximum over chains. Acceptance "
    "is that of citing topics. The last column is the share of the exponentials exp(-lambda+ "
    "lambda- lambdaT theta' theta'), over all citations and topics at posterior means, that lie "
    "between 0.99 and 1, where the paper found almost all of them."
)


def chains_table(values: Sequence[Values], models: Mapping[str, Sequence[ModelChoice]]) -> Table:
    """Return a table of the lengths and devices of all chains, one row per set and model.

    Parameters
    ----------
    values : sequence of tables
        All measurements of these models.
    models : mapping
        By name of the set; those that are not fitted by chains are left out.
    """
    rows: list[list[Cell]] = []
    for name, chosen in models.items():
        for model in chosen:
            if not model.is_scntm:
                continue
            wanted = {"dataset": name, "model": model.name}
            found = {
                measure: [v for one in values for v in one.values(**wanted, measure=measure)]
                for measure in ("settled", "gpu", "iterations", "rhat", "topics_in_use")
            }
            if not found["settled"]:
                continue  # nothing is finished
            rhats = sorted(v for v in found["rhat"] if math.isfinite(v))
            row: list[Cell] = [name, model.name, len(found["settled"])]
            row += [round(sum(found["gpu"])), round(sum(found["settled"]))]
            row.append(spread(found["iterations"]))
            row += [statistics.median(rhats), rhats[-1]] if rhats else [None, None]
            row.append(spread(found["topics_in_use"]))
            for measure in ("acceptance", "near_one"):
                of_all = [100 * v for one in values for v in one.values(**wanted, measure=measure)]
                row.append(spread(of_all))
            rows.append(row)
    return Table(
        title="Chains",
        columns=_CHAIN_COLUMNS,
        rows=rows,
        decimals={
            "iterations": 0,
            "R-hat, median": 2,
            "R-hat, highest": 2,
            **dict.fromkeys(_CHAIN_COLUMNS[-3:], 1),
        },
        notes=[_CHAIN_NOTE],
    )
