"""Communication between the parts of a chain, wherever they run.

A chain is sampled whole by one process, or in parts by several. Each part makes the same steps in
the same order; when a step needs something from all documents, every part calls the same method of
its `Exchange`. Integers are added, so the result does not depend on the order of parts.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from citeweave.engines.core.arrays import Layout

__all__ = ["ALONE", "ChainPart", "Exchange", "the_whole"]


class Exchange(Protocol):
    """Connection of a part to the others; all parts make the same calls in the same order."""

    rank: int
    """Number of this part, from 0."""
    size: int
    """Number of parts."""

    def swap(self, outgoing: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Send every part its array and collect the arrays that they send back, in order."""

    def sum(self, array: np.ndarray) -> np.ndarray:
        """Sum the arrays of all parts, which have the same shape."""

    def gather(self, array: np.ndarray) -> list[np.ndarray]:
        """Collect the arrays of all parts, in their order; their lengths may differ."""

    def sum_by_ranges(self, array: np.ndarray) -> np.ndarray:
        """Do the same as `sum`, for a large integer array: each part sums a range of rows."""


class _Alone:
    """The exchange of an undivided chain."""

    rank = 0
    size = 1

    def swap(self, outgoing: Sequence[np.ndarray]) -> list[np.ndarray]:
        return list(outgoing)

    def sum(self, array: np.ndarray) -> np.ndarray:
        return array

    def gather(self, array: np.ndarray) -> list[np.ndarray]:
        return [array]

    def sum_by_ranges(self, array: np.ndarray) -> np.ndarray:
        return array


ALONE: Exchange = _Alone()


class ChainPart(NamedTuple):
    """The documents and nodes that a chain owns, and their numbers in the whole corpus.

    Copies of others come after its own on every level.
    """

    n_documents: int
    """Documents that it owns; they come first."""
    level_end: np.ndarray
    """int64 [levels]: by topic-side level, the node after the last that it owns."""
    document: np.ndarray
    """int64 [documents]: number of each document in the whole corpus."""
    node: np.ndarray
    """int64 [nodes]: number of each node in the whole tree."""
    n_citations: int
    """Citations that its own documents make; they come first."""
    all_documents: int
    """Number of documents of the whole corpus."""


def the_whole(layout: Layout) -> ChainPart:
    """Describe a chain that is not divided."""
    n_documents = len(layout.document_start) - 1
    return ChainPart(
        n_documents=n_documents,
        level_end=layout.level_start[1:].copy(),
        document=np.arange(n_documents, dtype=np.int64),
        node=np.arange(len(layout.parent), dtype=np.int64),
        n_citations=len(layout.citing),
        all_documents=n_documents,
    )
