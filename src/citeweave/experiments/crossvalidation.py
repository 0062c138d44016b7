"""Cross-validation in one call: models, folds and seeds in, a tidy table out."""

import numbers
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from citeweave.corpus import Corpus
from citeweave.errors import ParameterError
from citeweave.experiments.folds import MOST_RUNS, Fold, k_folds
from citeweave.experiments.models import ModelChoice, choose
from citeweave.experiments.protocols import PROTOCOLS, fold_in_methods
from citeweave.experiments.running import TaskProgress, run_tasks
from citeweave.experiments.tables import Table
from citeweave.experiments.tasks import Task, make_tasks
from citeweave.naming import choice, option

__all__ = ["cross_validate", "cross_validation_tasks", "seeds_from"]


def cross_validate(
    corpora: Corpus | Mapping[str, Corpus],
    models: Sequence[str | ModelChoice],
    *,
    folds: int | Sequence[Fold] = 10,
    seeds: int | Sequence[int] = 1,
    fold_seed: int = 0,
    words: str | float | None = None,
    labels: Sequence[str] = ("hidden", "seen"),
    method: str | Sequence[str] = "paper",
    samples: int = 500,
    out: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    fresh: bool = False,
    progress: Callable[[TaskProgress], object] | None = None,
    stop: threading.Event | None = None,
) -> Table:
    """Fit models to the training documents of folds, and measure them on both parts.

    Measured are perplexity in sample and on test documents (words never estimated from and scored
    both), clustering of training and test documents where there are categories, and accuracy and
    macro-F1 of inferred labels where a model learns from labels.
    See docs/how-to/cross-validation.md.

    Parameters
    ----------
    corpora : Corpus, or mapping of names to corpora
        A corpus alone is called "corpus" in the table.
    models : sequence of str or ModelChoice
        Names as `choose` reads them, or choices with parameters.
    folds : int, or sequence of Fold
        Number of folds, or what `k_folds` or `random_splits` gives.
    seeds : int, or sequence of int
        Of the models: so many from 1, or these. Each is run on each fold.
    fold_seed : int
        Seed of the partition into folds, where `folds` is a number.
    words : "title", share between 0 and 1, or None
        What test documents' topics are estimated from when other words are scored. None: titles
        where there are titles and other words, else half of the words.
    labels : sequence of {"hidden", "seen"}
        For models that learn from labels: whether those of test documents are hidden, seen (the
        paper's protocol), or both, one after the other.
    method : {"paper", "gibbs"}, or a sequence of them
        How test documents are folded in. Several are applied to the same fit, each with rows of
        its own; ``protocol`` tells them apart.
    samples : int
        Of the fold-in.
    out : path, optional
        Folder for results: a file a task, and the tables at the end. What is there is not computed
        again.
    workers, fresh, progress, stop
        As those of `run_tasks`.

    Returns
    -------
    Table
        One row a value.

    Raises
    ------
    ParameterError
        A parameter has a wrong value.
    RunError
        A task failed; the others are done.
    RunInterrupted
        It was stopped; the same call goes on.
    """
    named = {"corpus": corpora} if isinstance(corpora, Corpus) else dict(corpora)
    tasks = cross_validation_tasks(
        named,
        models,
        folds=folds,
        seeds=seeds,
        fold_seed=fold_seed,
        options={
            "words": words,
            "labels": list(labels),
            "method": method if isinstance(method, str) else list(method),
            "samples": samples,
        },
    )
    table = run_tasks(
        tasks,
        {corpus.fingerprint: corpus for corpus in named.values()},
        out=out,
        workers=workers,
        fresh=fresh,
        progress=progress,
        stop=stop,
    )
    if out is not None:
        table.save(out)
    return table


def cross_validation_tasks(
    corpora: Mapping[str, Corpus],
    models: Sequence[str | ModelChoice],
    *,
    folds: int | Sequence[Fold] = 10,
    seeds: int | Sequence[int] = 1,
    fold_seed: int = 0,
    options: Mapping[str, Any] | None = None,
) -> list[Task]:
    """Make the tasks of a cross-validation; every model is built once, so that errors come first.

    The parameters are those of `cross_validate`.
    """
    _check_options(options or {})
    if not models:
        raise ParameterError("'models' must name at least one model. Got none.")
    choices = [choose(model) if isinstance(model, str) else model for model in models]
    for chosen in choices:
        chosen.build(seed=0)
    names = [chosen.name for chosen in choices]
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise ParameterError(
            f"'models' must have different names, since tables tell them apart by these. Got "
            f"{repeated[0]!r} twice."
        )
    if isinstance(folds, int):
        folds = k_folds(folds, seed=fold_seed)
    for corpus in corpora.values():
        for fold in folds:
            fold.test_documents(corpus.n_documents)  # too few documents are told now
    protocol = PROTOCOLS["folds"]
    return make_tasks(
        {name: corpus.fingerprint for name, corpus in corpora.items()},
        choices,
        folds=folds,
        seeds=seeds_from(seeds),
        protocol=protocol.name,
        version=protocol.version,
        options={name: dict(options or {}) for name in corpora},
    )


def seeds_from(seeds: int | Sequence[int]) -> list[int]:
    """Return the seeds asked for: so many from 1, or those given.

    Examples
    --------
    >>> seeds_from(3), seeds_from([5, 7])
    ([1, 2, 3], [5, 7])
    """
    # a number beyond the limit is refused before as many seeds are listed
    given = range(1, min(seeds, MOST_RUNS + 1) + 1) if isinstance(seeds, int) else seeds
    found = [int(seed) for seed in given]
    most = len(found) > MOST_RUNS
    if not found or most or min(found) < 0 or len(set(found)) < len(found):
        raise ParameterError(
            f"{option('seeds')} must be a number from 1 to {MOST_RUNS}, or as many different "
            f"integers of at least 0. Got {seeds!r} instead."
        )
    return found


def _check_options(options: Mapping[str, Any]) -> None:
    words: Any = options.get("words")
    share = isinstance(words, numbers.Real) and not isinstance(words, bool)
    share = share and bool(0 < words < 1)
    if not (words is None or words == "title" or share):
        raise ParameterError(
            f"{option('words')} must be 'title', a share between 0 and 1, or "
            f"{choice('None', 'left out')} for what the corpus offers. Got {words!r} instead."
        )
    labels = options.get("labels", ["hidden"])
    if isinstance(labels, str) or not labels or set(labels) - {"hidden", "seen"}:
        raise ParameterError(
            f"{option('labels')} must be a list of 'hidden' or 'seen' or both. "
            f"Got {labels!r} instead."
        )
    methods = fold_in_methods(options.get("method", "paper"))
    if not methods or set(methods) - {"paper", "gibbs"} or len(set(methods)) < len(methods):
        raise ParameterError(
            f"{option('method')} must be 'paper' or 'gibbs', or both. "
            f"Got {options['method']!r} instead."
        )
