"""Change of P and M by a citation's move, only for the topics that change.

The topics of both ends are listed once, followed by those of other nodes that the move affects.
"""

from typing import NamedTuple

import numpy as np

from citeweave.compiled import index, inlined
from citeweave.engines.core.row_places import pair_at
from citeweave.engines.slots.presence import lowest_bit

__all__ = [
    "SparseChange",
    "busy_words",
    "change_above",
    "change_papers",
    "list_ends",
    "new_sparse_change",
    "own_bit",
]

_WIDTH = 64


class SparseChange(NamedTuple):
    """Topics of both ends of a citation, and memory for one pending change."""

    topic: np.ndarray
    """int64 [topics + 1]: those of both papers, the present one first; then others that change."""
    stamp: np.ndarray
    """int64 [topics]: number of the last change for which a topic was listed."""
    cite: np.ndarray
    """float64 [topics]: change of `RateSums.cite`, only for listed topics."""
    cited: np.ndarray
    """float64 [topics]: change of `RateSums.cited`."""
    row: np.ndarray
    """int64 [2, levels]: nodes of both ends; once the paths have met, those of the first count."""
    slope: np.ndarray
    """float64 [2, levels, 2]: change of the weight of a node's own counts in P and M."""
    gain: np.ndarray
    """float64 [2, levels, 2]: change of its weights."""
    special: np.ndarray
    """float64 [2, 2]: additional change of P and M of the topic left and of the one joined."""
    counter: np.ndarray
    """int64 [2]: index of the change; number of topics that change."""
    word: np.ndarray
    """int64 [words + 1]: indices of nonzero words of bits."""
    changed: np.ndarray
    """uint64 [words of 64 topics]: topics of final changes; the reader clears it."""


def new_sparse_change(n_topics: int, n_levels: int) -> SparseChange:
    """Allocate memory for the changes of one worker."""
    n_words = -(-n_topics // _WIDTH)
    return SparseChange(
        topic=np.zeros(n_topics + 1, np.int64),
        stamp=np.zeros(n_topics, np.int64),
        cite=np.zeros(n_topics),
        cited=np.zeros(n_topics),
        row=np.zeros((2, n_levels), np.int64),
        slope=np.zeros((2, n_levels, 2)),
        gain=np.zeros((2, n_levels, 2)),
        special=np.zeros((2, 2)),
        counter=np.zeros(2, np.int64),
        word=np.zeros(n_words + 1, np.int64),
        changed=np.zeros(n_words, np.uint64),
    )


@inlined
def own_bit(presence, n, k):
    """Return 1 if the bit of a topic is set, else 0."""
    bits = presence[index(n), index(k) // index(_WIDTH)]
    return np.int64((bits >> np.uint64(k % _WIDTH)) & np.uint64(1))


@inlined
def busy_words(presence, n, word):
    """List the nonzero words of a node's bits; return their number.

    With many topics, set bits are sparse: a branch per 64-bit word would often be mispredicted.
    """
    found = 0
    for i in range(presence.shape[1]):
        word[index(found)] = i
        found += np.int64(presence[n, index(i)] != np.uint64(0))
    return found


@inlined
def list_ends(presence, sparse, level, old):
    """List the topics of both papers, ``old`` before all others; return their number."""
    n, m = index(sparse.row[0, level]), index(sparse.row[1, level])
    n_words = 0
    for i in range(presence.shape[1]):
        sparse.word[index(n_words)] = i
        bits = presence[n, index(i)] | presence[m, index(i)]
        n_words += np.int64(bits != np.uint64(0))
    sparse.topic[0] = old
    listed = 1
    for w in range(n_words):
        i = sparse.word[index(w)]
        bits = presence[n, index(i)] | presence[m, index(i)]
        while bits != np.uint64(0):
            k = _WIDTH * i + lowest_bit(bits)
            bits &= bits - np.uint64(1)
            sparse.topic[index(listed)] = k
            listed += np.int64(k != old)
    return listed


@inlined
def _own(counts, n, k, discount):
    """Return a node's own share of a topic."""
    customers, tables = pair_at(counts.customers, counts.tables, n, k)
    return customers - discount * tables


@inlined
def change_papers(counts, parameters, presence, sparse, level, listed, old, new):
    """Initialise the changes of the listed topics with the effect of both papers.

    If a bit is not set, the count of ``old``, which is at hand, is read and multiplied by zero.
    """
    now = sparse.counter[0]
    discount = parameters.topic_discount[level]
    n, m = index(sparse.row[0, level]), index(sparse.row[1, level])
    cite, cited = sparse.slope[0, level, 0], sparse.slope[0, level, 1]
    cite_too, cited_too = sparse.slope[1, level, 0], sparse.slope[1, level, 1]
    for j in range(listed):
        k = sparse.topic[index(j)]
        fresh = np.int64(k == new)
        bit = own_bit(presence, n, k) | fresh
        own = bit * _own(counts, n, index(old ^ ((k ^ old) & -bit)), discount)
        bit = own_bit(presence, m, k) | fresh
        other = bit * _own(counts, m, index(old ^ ((k ^ old) & -bit)), discount)
        sparse.stamp[index(k)] = now
        sparse.cite[index(k)] = cite * own + cite_too * other
        sparse.cited[index(k)] = cited * own + cited_too * other


@inlined
def change_above(counts, parameters, presence, sparse, side, lower, listed, new):
    """Add the effect of a node between mu and the papers; return the new number of topics."""
    cite, cited = sparse.slope[side, lower, 0], sparse.slope[side, lower, 1]
    if cite == 0.0 and cited == 0.0:
        return listed
    now = sparse.counter[0]
    n = index(sparse.row[side, lower])
    discount = parameters.topic_discount[lower]
    for w in range(busy_words(presence, n, sparse.word)):
        i = sparse.word[index(w)]
        bits = presence[n, index(i)]
        while bits != np.uint64(0):
            place = _WIDTH * i + lowest_bit(bits)
            k = index(place)
            bits &= bits - np.uint64(1)
            own = _own(counts, n, k, discount)
            if sparse.stamp[k] == now:
                sparse.cite[k] += cite * own
                sparse.cited[k] += cited * own
            else:
                sparse.stamp[k] = now
                sparse.cite[k] = cite * own
                sparse.cited[k] = cited * own
                sparse.topic[index(listed)] = place
                listed += 1
    if own_bit(presence, n, new) == 0:  # the move may have added this topic to the node
        own = _own(counts, n, index(new), discount)
        sparse.cite[index(new)] += cite * own
        sparse.cited[index(new)] += cited * own
    return listed
