"""The arrays of a fold-in: the fixed model, the documents, and the results.

This module does not depend on a corpus: words, cited documents and groups are rows of the given
tables, which need to contain only the rows that the documents use.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from citeweave.engines.core.arrays import StackedTables
from citeweave.engines.core.stirling import build_ratio_table

__all__ = ["Base", "Documents", "Means", "Sets", "stack_tables", "streams"]

_GOLDEN = 0x9E3779B97F4A7C15


class Base(NamedTuple):
    """The fitted model, held fixed.

    Examples
    --------
    >>> import numpy as np
    >>> from citeweave.foldin import Base
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
    >>> base.word_topic.shape
    (2, 2)
    """

    word_topic: np.ndarray
    """float64 [words, topics]: phi, transposed so that a token reads one row."""
    nodes: np.ndarray
    """float64 [nodes, topics]: base measures of documents (nu, or mu)."""
    cited: np.ndarray
    """float64 [cited documents, topics]: lambdaT_k theta'_jk, up to a factor per row."""
    rate: np.ndarray
    """float64 [topics]: lambdaT_k sum_j lambda-_j theta'_jk over all training documents j.

    The rate at which a document cites any of them is proportional to ``theta'_d @ rate``.
    """
    discount: np.ndarray
    """float64 [document levels]: alpha of theta', theta, upper first; empty if words choose
    nodes."""
    concentration: np.ndarray
    """float64 [document levels]: beta."""
    seen: int
    """The document level that citations see."""
    burst_discount: float
    """alpha of phi'."""
    burst_concentration: float
    """beta of phi'; infinite if the model has no such level."""


class Sets(NamedTuple):
    """Sets of groups; a document belongs to one group of its set.

    Examples
    --------
    >>> import numpy as np
    >>> from citeweave.foldin import Sets
    >>> Sets(start=np.array([0, 1]), node=np.array([0]), prior=np.array([1.0])).node.tolist()
    [0]
    """

    start: np.ndarray
    """int64 [sets + 1]."""
    node: np.ndarray
    """int64 [members]: row of ``Base.nodes``."""
    prior: np.ndarray
    """float64 [members]: prior probability inside the set."""


class Documents(NamedTuple):
    """The documents to fold in.

    Examples
    --------
    >>> import numpy as np
    >>> from citeweave.foldin import Documents
    >>> none = np.zeros(0, np.int64)
    >>> words = np.array([0, 0, 1])
    >>> one = Documents(words, np.array([0, 3]), none, np.array([0, 0]), np.array([0]))
    >>> len(one.group)
    1
    """

    word: np.ndarray
    """int64 [tokens]: row of ``Base.word_topic``, sorted inside each document."""
    start: np.ndarray
    """int64 [documents + 1]."""
    link: np.ndarray
    """int64 [links]: row of ``Base.cited``."""
    link_start: np.ndarray
    """int64 [documents + 1]."""
    group: np.ndarray
    """int64 [documents]: its set of groups."""


class Means(NamedTuple):
    """Posterior means of the documents.

    Examples
    --------
    >>> import numpy as np
    >>> from citeweave.foldin import Means
    >>> topic = np.array([[0.7, 0.3]], np.float32)
    >>> means = Means(topic, topic, np.ones(1, np.float32), np.array([0, 1]), topic, topic[0])
    >>> means.topic.argmax(axis=1).tolist()
    [0]
    """

    topic: np.ndarray
    """float32 [documents, topics]: theta' (the level that citations see)."""
    word_topic: np.ndarray
    """float32 [documents, topics]: theta (the last level)."""
    group: np.ndarray
    """float32 [members of the documents' sets]: posterior of groups, documents in order."""
    group_start: np.ndarray
    """int64 [documents + 1]."""
    burst_topic: np.ndarray
    """float32 [documents, topics]: theta_k (beta + alpha T) / (beta + C), T and C of phi'_dk."""
    burst_word: np.ndarray
    """float32 [tokens]: contribution of phi' to the probability of each token's word.

    The probability of a further token being word w is
    ``burst_topic[d] @ word_topic[w] + burst_word[any token of d that is w]`` (0 if there is none).
    """


@lru_cache(maxsize=4)
def stack_tables(discounts: tuple[float, ...]) -> StackedTables:
    """Build the ratio tables of the document levels and, last, of phi'; cached."""
    distinct = np.unique(discounts)
    tables = [build_ratio_table(float(discount)) for discount in distinct]
    return StackedTables(
        place=np.searchsorted(distinct, discounts).astype(np.int64),
        discount=distinct,
        ratios=np.stack([table.ratios for table in tables]),
        weights=np.stack([table.weights for table in tables]),
        patches=np.stack([table.patches for table in tables]),
    )


def streams(seed: int, first: int, last: int) -> np.ndarray:
    """Return random states of documents ``first`` to ``last`` - 1, given by (seed, document) alone.

    SplitMix64 from one key per seed, four outputs per document; the parts of the sequence of
    different documents do not overlap.

    Returns
    -------
    ndarray of uint64, shape (last - first, 4)
    """
    key = np.random.SeedSequence(seed).generate_state(1, np.uint64)
    place = np.arange(4 * first, 4 * last, dtype=np.uint64) + np.uint64(1)
    mixed = key + place * np.uint64(_GOLDEN)  # arrays wrap around on purpose
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return np.ascontiguousarray(mixed.reshape(-1, 4))
