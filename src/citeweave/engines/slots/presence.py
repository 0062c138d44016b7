"""The topics in which a node has customers, one bit per topic.

Counts are read one topic at a time, whether they are dense rows or lists. Loops over all topics of
a node use its bits instead, 64 topics at a time.
"""

from typing import NamedTuple

import numpy as np
from numba import types
from numba.extending import intrinsic

from citeweave.compiled import hot_kernel, index, inlined, numba_config
from citeweave.engines.core.row_places import count_at, n_places, topic_at

__all__ = [
    "Support",
    "is_present",
    "list_topics",
    "lowest_bit",
    "mark_topics",
    "new_presence",
    "note_papers",
    "note_presence",
]

_WIDTH = 64


class Support(NamedTuple):
    """Topics in which nodes and words have customers."""

    nodes: np.ndarray
    """uint64 [nodes, words of 64 topics]."""
    words: np.ndarray
    """uint64 [words, words of 64 topics]."""


def new_presence(n_nodes: int, n_topics: int) -> np.ndarray:
    """Allocate memory for the bits: uint64 [nodes, words of 64 topics]."""
    return np.zeros((n_nodes, -(-n_topics // _WIDTH)), np.uint64)


if numba_config.DISABLE_JIT:

    def lowest_bit(bits):
        """Return the position of the lowest set bit of a nonzero number, in Python integers."""
        bits = int(bits)
        return (bits & -bits).bit_length() - 1

else:

    @intrinsic
    def _trailing_zeros(typing_context, bits):  # noqa: ARG001 (Numba requires these names)
        def generate(context, builder, signature, arguments):  # noqa: ARG001
            is_zero_poison = context.get_constant(types.boolean, True)
            return builder.cttz(arguments[0], is_zero_poison)

        return types.uint64(types.uint64), generate

    @inlined
    def lowest_bit(bits):
        """Return the position of the lowest set bit of a nonzero number (uint64)."""
        return np.int64(_trailing_zeros(bits))


@hot_kernel
def mark_topics(counts, presence, first, last):
    """Set the bits of rows ``first`` to ``last`` - 1 from their counts, of nodes or of words."""
    for n in range(first, last):
        row = index(n)
        for i in range(presence.shape[1]):
            presence[row, index(i)] = np.uint64(0)
        for j in range(n_places(counts.customers, row)):
            if count_at(counts.customers, row, j) > 0:
                note_presence(presence, row, topic_at(counts.customers, row, j), 1)


@inlined
def is_present(presence, row, topic):
    """Return whether a row has customers of a topic."""
    k = index(topic)
    word = presence[index(row), k // index(_WIDTH)]
    return (word >> np.uint64(k % index(_WIDTH))) & np.uint64(1) != np.uint64(0)


@inlined
def note_presence(presence, node, topic, customers):
    """Update the bit of one topic from its number of customers."""
    n, i = index(node), index(topic) // index(_WIDTH)
    bit = np.uint64(1) << np.uint64(index(topic) % index(_WIDTH))
    if customers > 0:
        presence[n, i] |= bit
    else:
        presence[n, i] &= ~bit


@hot_kernel
def note_papers(layout, counts, presence, level, moved):
    """Update the bits of papers and of all nodes above them, for one topic per paper.

    ``moved`` is int32 [papers, 2]: a paper and the topic; ``level`` is that of papers.
    """
    for i in range(moved.shape[0]):
        n, k = layout.citation_node + moved[i, 0], np.int64(moved[i, 1])
        for _ in range(level + 1):
            note_presence(presence, n, k, counts.customers[index(n), index(k)])
            n = layout.parent[n]


@inlined
def list_topics(presence, node, listed):
    """Write the topics of a node to ``listed``, in ascending order; return their number."""
    n = index(node)
    count = 0
    for i in range(presence.shape[1]):
        bits = presence[n, index(i)]
        while bits != np.uint64(0):
            listed[index(count)] = _WIDTH * i + lowest_bit(bits)
            bits &= bits - np.uint64(1)
            count += 1
    return count
