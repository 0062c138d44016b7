"""What the experiments that measure models share: models, folds, and tasks that are done once."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from citeweave.experiments import (
    PROTOCOLS,
    Fold,
    ModelChoice,
    TaskProgress,
    k_folds,
    make_tasks,
    random_splits,
    run_tasks,
)
from reproduction.base import Spread, spread
from reproduction.paper_figures import MODELS
from reproduction.settings import paper_stages, settings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from citeweave.corpus import Corpus
    from citeweave.experiments import Table
    from reproduction.base import Context

__all__ = [
    "ETAS",
    "LINQS",
    "choice",
    "describe_folds",
    "folds_for",
    "run",
    "shown",
    "value_of",
]

LINQS = ("cora", "citeseer", "pubmed")
"""Sets for which the paper says that it has done ten-fold cross-validation."""

FOLDS = 10
QUICK_FOLDS = 2
TEST_SHARE = 0.1

ETAS: dict[str, float] = {"scntm": 0, "scntm-eta-10": 10, "scntm-eta-inf": math.inf}
"""The paper's values of eta, by the names of `paper_figures.MODELS`."""


def choice(key: str, *, topics: int, iterations: int, **parameters: Any) -> ModelChoice:
    """Choose a model of the paper by its key in `paper_figures.MODELS`.

    Its settings are the defaults, but for the stages of a chain, which are the paper's, and that
    each paper cites itself once.
    """
    eta = {"eta": ETAS[key]} if ETAS.get(key) else {}
    kind = "scntm" if key in ETAS else key
    own = {"self_citations": "paper"} if kind == "scntm" else {}
    given = {
        "topics": topics,
        "iterations": iterations,
        **paper_stages(iterations),
        **eta,
        **own,
        **parameters,
    }
    return ModelChoice(MODELS[key], kind, given)


def folds_for(context: Context, name: str) -> list[Fold]:
    """Return ten folds for the LINQS sets, and as many 90/10 splits as runs for the others.

    With ``--quick``, two of them; of the ten no more than are asked for.
    """
    if name in LINQS:
        folds = k_folds(FOLDS, seed=context.seed)[: _folds_asked(context, name)]
    else:
        folds = random_splits(context.runs, test=TEST_SHARE, seed=context.seed)
    return folds[:QUICK_FOLDS] if context.quick else folds


def _folds_asked(context: Context, name: str) -> int:
    return min(context.folds.get(name, context.folds.get("", FOLDS)), FOLDS)


def describe_folds(context: Context) -> str:
    """Say in words how the sets are divided."""
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
            f"{', '.join(others)}: {count} random split{'s' if count > 1 else ''}, a tenth of the "
            "papers being test papers"
        )
    return "; ".join(parts)


def run(
    context: Context,
    models: Mapping[str, Sequence[ModelChoice]],
    *,
    protocol: str,
    folds: Mapping[str, Sequence[Fold]] | None = None,
    seeds: Sequence[int] | None = None,
    options: Mapping[str, Any] | None = None,
) -> Table:
    """Run all models of all sets, or take what is there: a file a task lies below ``out``.

    Experiments that ask for the same task share it.

    Parameters
    ----------
    context : Context
    models : mapping
        By name of the set.
    protocol : str
        What is measured, see `citeweave.experiments.PROTOCOLS`.
    folds : mapping, optional
        By name of the set; the whole corpus if not given.
    seeds : sequence of int, optional
        Those of the context if not given.
    options : mapping, optional
        Of the protocol.
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

    def tell(progress: TaskProgress) -> None:
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
        progress=tell,
        stop=context.stop,
    )


def value_of(table: Table, **wanted: Any) -> Spread | None:
    """Summarise the values of the rows wanted; None where there is none."""
    return spread(table.values(**wanted).tolist())


def shown(name: str) -> str:
    """Name a set as tables do, with the paper's name where it is another."""
    paper = settings(name).paper_name
    return name if paper is None or paper.lower() == name else f"{name} ({paper})"
