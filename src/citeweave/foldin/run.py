"""Fold-in of documents in several threads; each document has a random stream of its own."""

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from citeweave.errors import ParameterError
from citeweave.foldin.arrays import Base, Documents, Means, Sets, stack_tables, streams
from citeweave.foldin.gibbs import fold_in_gibbs
from citeweave.foldin.paper import fold_in_paper, fold_in_words_choose, infer_groups

__all__ = ["METHODS", "fold_in_documents", "group_posteriors"]

METHODS = ("paper", "gibbs")

_CHUNK = 64
"""Number of documents that a thread takes at a time."""


def fold_in_documents(
    base: Base,
    sets: Sets,
    documents: Documents,
    *,
    method: str = "paper",
    samples: int = 500,
    burn_in: int = 50,
    seed: int = 0,
    threads: int | None = None,
) -> Means:
    """Estimate the topics of documents below fixed base measures.

    Parameters
    ----------
    base : Base
        The fitted model.
    sets : Sets
        Sets of groups that documents refer to.
    documents : Documents
    method : {"paper", "gibbs"}
        Independent topics with half as many tables as customers, or a Gibbs sampler; see the
        modules of these names. If words choose their node (no document level), neither is needed.
    samples, burn_in : int
        Number of samples per document and, for Gibbs, of sweeps before the first sample.
    seed : int
        Document d has the random stream (seed, d), whatever the number of threads.
    threads : int, optional
        All cores by default.

    Returns
    -------
    Means

    Examples
    --------
    >>> import numpy as np
    >>> from citeweave.foldin import Base, Documents, Sets, fold_in_documents
    >>> base = Base(
    ...     word_topic=np.array([[0.9, 0.1], [0.1, 0.9]]),
    ...     nodes=np.array([[0.5, 0.5]]),
    ...     cited=np.ones((1, 2)),
    ...     rate=np.ones(2),
    ...     discount=np.array([0.0, 0.0]),
    ...     concentration=np.array([1.0, 1.0]),
    ...     seen=0,
    ...     burst_discount=0.0,
    ...     burst_concentration=np.inf,
    ... )
    >>> sets = Sets(np.array([0, 1]), np.array([0]), np.array([1.0]))
    >>> none = np.zeros(0, np.int64)
    >>> words = np.zeros(5, np.int64)
    >>> documents = Documents(words, np.array([0, 5]), none, np.array([0, 0]), np.array([0]))
    >>> means = fold_in_documents(base, sets, documents, samples=50, seed=1, threads=1)
    >>> bool(means.topic[0, 0] > means.topic[0, 1])
    True
    """
    if method not in METHODS:
        raise ParameterError(
            f"'method' of a fold-in must be one of {', '.join(METHODS)}. Got {method!r} instead."
        )
    n_documents, n_topics = len(documents.start) - 1, base.nodes.shape[1]
    gibbs = method == "gibbs" and len(base.discount) > 0
    sizes = np.diff(sets.start)[documents.group]
    group_start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    means = Means(
        topic=np.zeros((n_documents, n_topics), np.float32),
        word_topic=np.zeros((n_documents, n_topics), np.float32),
        group=np.zeros(int(group_start[-1]), np.float32),
        group_start=group_start,
        burst_topic=np.zeros((n_documents if gibbs else 0, n_topics), np.float32),
        burst_word=np.zeros(len(documents.word) if gibbs else 0, np.float32),
    )
    if n_documents == 0:
        return means
    if gibbs:
        tables = stack_tables((*base.discount.tolist(), base.burst_discount))
        with np.errstate(divide="ignore"):  # a topic never used has nu = 0, and no customers
            log_nodes = np.log(base.nodes)

    def work(first: int) -> None:
        last = min(first + _CHUNK, n_documents)
        if len(base.discount) == 0:
            fold_in_words_choose(base, sets, documents, first, last, means)
            return
        random = streams(seed, first, last)
        if gibbs:
            fold_in_gibbs(
                base,
                log_nodes,
                tables,
                sets,
                documents,
                random,
                (first, last),
                (burn_in, samples),
                means,
            )
        else:
            fold_in_paper(base, sets, documents, random, first, last, samples, means)

    starts = range(0, n_documents, _CHUNK)
    workers = min(threads or _cores(), len(starts))
    if workers == 1:
        for first in starts:
            work(first)
    else:
        with ThreadPoolExecutor(workers) as pool:
            for _ in pool.map(work, starts):
                pass
    return means


def group_posteriors(
    base: Base, documents: Documents, which: np.ndarray, members: np.ndarray, priors: np.ndarray
) -> np.ndarray:
    """Compute posteriors of documents' groups, with words and citations independent.

    Parameters
    ----------
    base : Base
    documents : Documents
    which : ndarray of int64, shape (n,)
        The documents.
    members : ndarray of int64, shape (m,)
        The groups, rows of ``base.nodes``.
    priors : ndarray, shape (n, m)

    Returns
    -------
    ndarray, shape (n, m)

    Examples
    --------
    >>> import numpy as np
    >>> from citeweave.foldin import Base, Documents, group_posteriors
    >>> base = Base(
    ...     word_topic=np.array([[0.9, 0.1], [0.1, 0.9]]),
    ...     nodes=np.array([[0.8, 0.2], [0.2, 0.8]]),
    ...     cited=np.ones((1, 2)),
    ...     rate=np.ones(2),
    ...     discount=np.array([0.0, 0.0]),
    ...     concentration=np.array([1.0, 1.0]),
    ...     seen=0,
    ...     burst_discount=0.0,
    ...     burst_concentration=np.inf,
    ... )
    >>> none = np.zeros(0, np.int64)
    >>> words = np.zeros(5, np.int64)
    >>> documents = Documents(words, np.array([0, 5]), none, np.array([0, 0]), np.array([0]))
    >>> which, members = np.array([0]), np.array([0, 1])
    >>> found = group_posteriors(base, documents, which, members, np.array([[0.5, 0.5]]))
    >>> bool(found[0, 0] > found[0, 1])
    True
    """
    posteriors = np.empty(priors.shape)
    infer_groups(base, documents, which, members, priors, posteriors)
    return posteriors


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
