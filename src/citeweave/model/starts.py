"""Starting points of chains: random topics, clusters of documents, or given topics."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from citeweave.corpus import Corpus
from citeweave.engines.core.data import Data
from citeweave.engines.core.setting_up import sort_by_word
from citeweave.errors import RunError
from citeweave.model.clusters import agreed_clusters, cluster_documents
from citeweave.model.few_labels import FewLabels
from citeweave.model.groups import Tree
from citeweave.model.last_state import state_of_chain
from citeweave.model.parameters import GIVEN, Plan, fail
from citeweave.model.results import Result
from citeweave.model.under_way import Beginning
from citeweave.parameters.scntm import CLUSTERS, RANDOM

__all__ = ["FirstTopics", "beginnings", "first_topics"]

FirstTopics = Callable[[int], np.ndarray | None]
"""Returns the initial topics of a chain's tokens in corpus order; None for random ones."""
_CATEGORIES = 1
"""Separates the random stream of initial categories from that of initial topics."""


def first_topics(
    start: Any, plan: Plan, corpus: Corpus, data: Data, load: Callable[[Any], Result]
) -> FirstTopics:
    """Find the initial topics of the chains of a run.

    Parameters
    ----------
    start : object
        The parameter of `SCNTM`: "random", "clusters", a run or its folder, or topics.
    plan : Plan
    corpus : Corpus
    data : Data
        Data of that corpus.
    load : callable
        Reads the result of a run from its folder.

    Raises
    ------
    ParameterError
        The given topics have the wrong size, or exceed those of the model.
    RunError
        The given run has another corpus, or no stored states of its chains.
    """
    if isinstance(start, str) and start == RANDOM:
        return lambda _: None
    if isinstance(start, str) and start == CLUSTERS:
        return lambda number: _clusters(plan, corpus, number)
    if isinstance(start, str) and start.startswith(GIVEN):
        raise RunError(
            "The run was stopped before its first checkpoint, and its initial topics were not "
            "stored; fit again."
        )
    if isinstance(start, str | os.PathLike):
        if not Path(start).is_dir():
            raise fail("start", f"'{RANDOM}', '{CLUSTERS}' or the folder of a run", start)
        rows = _topics_of_run(load(start), f"The run '{os.fspath(start)}'", corpus, data)
    elif hasattr(start, "_fitted"):
        rows = _topics_of_run(start._fitted, "The model", corpus, data)  # noqa: SLF001
    else:
        rows = _given_topics(start, corpus)
    highest = plan.settings.topics - 1
    if rows.size and not (rows.min() >= 0 and rows.max() <= highest):
        found = f"topics from {rows.min()} to {rows.max()}"
        raise fail("start", f"topics from 0 to {highest} (one less than topics)", found)
    return lambda number: rows[number % len(rows)]


def beginnings(
    start: Any,
    plan: Plan,
    corpus: Corpus,
    tree: Tree,
    load: Callable[[Any], Result],
    labels: FewLabels | None = None,
) -> Callable[[int], Beginning]:
    """Find the starting points of the chains of a run, by number; see `first_topics`.

    Papers in latent categories start in the most probable ones by words and citations if ``labels``
    are known. Otherwise they start in the consensus of several runs of k-means on words and
    citations, separately for each chain and around any labels.
    """
    topics = first_topics(start, plan, corpus, tree.data, load)
    unlabelled = tree.data.unlabelled
    if len(unlabelled) == 0:
        return lambda number: Beginning(topics(number))
    if labels is not None:
        return lambda number: Beginning(topics(number), labels.first_categories(number))
    groups = tree.levels[0]
    known = groups.of_document.astype(np.int64)
    known[unlabelled] = -1

    def begin(number: int) -> Beginning:
        rng = np.random.default_rng([plan.seed, number, _CATEGORIES])
        found = agreed_clusters(corpus, len(groups), rng, known=known)
        return Beginning(topics(number), found)

    return begin


def _clusters(plan: Plan, corpus: Corpus, number: int) -> np.ndarray:
    rng = np.random.default_rng([plan.seed, number])
    found = cluster_documents(corpus, plan.settings.topics, rng)
    return np.repeat(found, corpus.lengths)


def _topics_of_run(result: Result, what: str, corpus: Corpus, data: Data) -> np.ndarray:
    """Return the final topics of all tokens, one row per chain of the run."""
    if result.corpus.fingerprint != corpus.fingerprint:
        raise RunError(
            f"{what} was made with a different corpus ({result.corpus.n_documents:,} documents, "
            f"{result.corpus.n_tokens:,} words) from the one to be fitted "
            f"({corpus.n_documents:,} and {corpus.n_tokens:,}), so chains cannot start from it."
        )
    rows = np.empty((result.plan.chains, corpus.n_tokens), np.int16)
    order = sort_by_word(data)
    for chain, row in enumerate(rows):
        row[order] = state_of_chain(result, chain).arrays["assignments.topic"]
    return rows


def _given_topics(start: Any, corpus: Corpus) -> np.ndarray:
    """Return topics of tokens, one row per chain."""
    rows = np.atleast_2d(np.asarray(start))
    sizes = {corpus.n_documents, corpus.n_tokens}
    if rows.ndim != 2 or rows.shape[1] not in sizes or rows.dtype.kind not in "iu" or not len(rows):
        wanted = (
            f"an integer for each of {corpus.n_documents:,} documents or of {corpus.n_tokens:,} "
            "words, in one row or one for each chain"
        )
        shape = " x ".join(f"{size:,}" for size in np.shape(start))
        raise fail("start", wanted, f"{shape} values of type {rows.dtype}")
    if rows.shape[1] == corpus.n_documents:
        return np.repeat(rows, corpus.lengths, axis=1)
    return rows
