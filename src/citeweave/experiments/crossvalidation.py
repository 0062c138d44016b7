"""Cross-validation of models over folds and seeds, in one call, as a tidy table."""

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
    """Fit models to the training documents of folds, and evaluate them on both parts.

    The measures are perplexity in sample and on test documents (no word is used both for estimation
    and for scoring), clustering of training and test documents if there are categories, and
    accuracy and macro-F1 of inferred labels if a model learns from labels. See
    docs/how-to/cross-validation.md.

    Parameters
    ----------
    corpora : Corpus, or mapping of names to corpora
        A single corpus is called "corpus" in the table.
    models : sequence of str or ModelChoice
        Names as `choose` reads them, or choices with parameters.
    folds : int, or sequence of Fold
        Number of folds, or the result of `k_folds` or `random_splits`.
    seeds : int, or sequence of int
        Seeds of the models: their number, counted from 1, or a list. Each is run on each fold.
    fold_seed : int
        Seed of the partition into folds, if `folds` is a number.
    words : "title", share between 0 and 1, or None
        Words from which topics of test documents are estimated; the others are scored. None: titles
        if there are titles and other words, otherwise half of the words.
    labels : sequence of {"hidden", "seen"}
        For models that learn from labels: whether those of test documents are hidden, seen (the
        paper's protocol), or both, one after the other.
    method : {"paper", "gibbs"}, or a sequence of them
        How test documents are folded in. Several are applied to the same fit, each with its own
        rows, distinguished by ``protocol``.
    samples : int
        Number of samples of the fold-in.
    out : path, optional
        Folder for results: one file per task, and the tables at the end. Existing results are not
        computed again.
    workers, fresh, progress, stop
        As in `run_tasks`.

    Returns
    -------
    Table
        One row per value.

    Raises
    ------
    ParameterError
        A parameter has a wrong value.
    RunError
        A task failed; the others are done.
    RunInterrupted
        It was stopped; the same call continues.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.experiments import cross_validate
    >>> table = cross_validate(citeweave.example_corpus(), ["k-means"], folds=2, workers=1)
    >>> sorted({row.fold for row in table})
    ['1/2', '2/2']
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
    """Make the tasks of a cross-validation; every model is built once, to find errors early.

    The parameters are those of `cross_validate`.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.experiments import cross_validation_tasks
    >>> corpora = {"example": citeweave.example_corpus()}
    >>> len(cross_validation_tasks(corpora, ["scntm", "k-means"], folds=5, seeds=2))
    20
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
            f"'models' must have different names, by which tables distinguish them. Got "
            f"{repeated[0]!r} twice."
        )
    if isinstance(folds, int):
        folds = k_folds(folds, seed=fold_seed)
    for corpus in corpora.values():
        for fold in folds:
            fold.test_documents(corpus.n_documents)  # too few documents are reported now
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
    """Return the requested seeds: a number of them from 1, or those given.

    Examples
    --------
    >>> seeds_from(3), seeds_from([5, 7])
    ([1, 2, 3], [5, 7])
    """
    # a number beyond the limit is refused before that many seeds are listed
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
            f"{choice('None', 'left out')} for the default of the corpus. Got {words!r} instead."
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
