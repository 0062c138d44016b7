"""Experiments by name; each is a file of this package, imported on demand."""

from __future__ import annotations

import difflib
from importlib import import_module
from typing import TYPE_CHECKING

from citeweave.errors import ParameterError
from reproduction.context import DEMO
from reproduction.settings import SIZES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reproduction.base import Experiment
    from reproduction.context import Context

__all__ = ["NAMES", "check_datasets", "choose_datasets", "find_experiment", "unknown_experiment"]

NAMES = (
    "datasets",
    "perplexity",
    "clustering",
    "supervision",
    "labels",
    "links",
    "topics",
    "authors",
    "network",
    "convergence",
    "counts",
    "runtime",
    "people",
)
"""Names in the order of the paper; see `find_experiment`."""


def find_experiment(name: str) -> Experiment:
    """Return an experiment, or raise an error that lists them.

    Examples
    --------
    >>> find_experiment("runtime").label
    'tbl:running_time'
    """
    if name not in NAMES:
        raise unknown_experiment(name, NAMES)
    module = import_module(f"reproduction.{name}")
    experiment: Experiment = module.EXPERIMENT
    return experiment


def unknown_experiment(name: str, known: Sequence[str]) -> ParameterError:
    """Return the error for an unknown experiment."""
    return ParameterError(f"There is no experiment {name!r}. {_hint(name, known)}")


def check_datasets(names: Iterable[str], own: Iterable[str] = ()) -> None:
    """Refuse names that are neither a data set nor one of the user's own corpora.

    Raises
    ------
    ParameterError
        A name is unknown; the message lists the known ones.
    """
    unknown = [name for name in names if name not in {DEMO, *SIZES, *own}]
    if not unknown:
        return
    from citeweave.datasets import DATASETS  # noqa: PLC0415 (readers are not needed before)

    known = [*DATASETS, DEMO, *SIZES, *own]
    for name in unknown:
        if name not in known:
            raise ParameterError(
                f"There is no data set {name!r}. {_hint(name, known)} "
                "A corpus of your own: --corpus NAME=FOLDER"
            )


def choose_datasets(experiment: Experiment, context: Context) -> tuple[str, ...]:
    """Choose the data sets of an experiment: those requested, or its own.

    With ``--quick``, its own are limited to those on this computer, so that nothing is downloaded;
    the demo corpus is used if there are none.
    """
    if context.datasets:
        check_datasets(context.datasets, context.corpora)
        return tuple(context.datasets)
    if not context.quick:
        return tuple(experiment.datasets)
    here = [name for name in experiment.quick_datasets if _is_here(name, context)]
    return tuple(here) or (DEMO,)


def _is_here(name: str, context: Context) -> bool:
    if name in context.corpora or name in SIZES or name == DEMO:
        return True
    from citeweave.datasets import DATASETS  # noqa: PLC0415 (readers are not needed before)
    from citeweave.datasets.table import is_here  # noqa: PLC0415

    return name in DATASETS and is_here(DATASETS[name])


def _hint(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name.lower(), known, 1)
    return f"Did you mean {near[0]!r}?" if near else f"There are {', '.join(known)}."
