"""Assignment of documents to workers.

Documents are divided by group (author or category), so that a group's node and all documents below
it are in one part, and parts are balanced by tokens and citations. A group that exceeds a given
share of a part is itself divided; its node then belongs to one part, and others hold copies.

The driver makes the `Division` of a chain once; each worker makes the plan of its own part from it
(`citeweave.engines.cluster.plans`).
"""

import heapq
from typing import NamedTuple

import numpy as np

from citeweave.engines.core.data import Data, WordsOf
from citeweave.engines.core.row_files import Rows

__all__ = [
    "CITATION_COST",
    "Division",
    "crossing_share",
    "divide",
    "divide_documents",
    "level_starts",
    "own_nodes",
    "owned_nodes",
    "owned_rows",
]

CITATION_COST = 4
"""Number of tokens that take as long to sample as one citation."""
_LARGEST = 0.25
"""Largest share of a part that a unit, which is assigned as a whole, may have."""


class Division(NamedTuple):
    """A chain and who owns what of it: the source of the plan of any part."""

    tokens: np.ndarray | WordsOf
    """Words of the whole chain, as in `Data`; those on disk stay there."""
    offsets: np.ndarray
    """int64 [documents + 1]."""
    n_words: int
    parents: tuple[np.ndarray, ...]
    """By topic-side level from the one below the root to the documents: int [nodes], the parent's
    place one level up."""
    citing: np.ndarray
    """int32 [citations]."""
    cited: np.ndarray
    """int32 [citations]."""
    level_start: np.ndarray
    """int64 [levels + 1]: first node of each level of the whole tree, and the number of nodes."""
    parts: int
    owners: tuple[np.ndarray, ...]
    """By level from the root to the documents: unsigned [nodes], the part that owns each; the root
    belongs to every part (`owned_nodes`)."""
    degrees: tuple[np.ndarray, np.ndarray]
    """int32 [documents]: citations made and received."""
    divided: bool
    """Whether any part has documents below a node that another part owns."""
    rooms: np.ndarray | None = None
    """int16 [nodes]: maximum number of topics of each node, if there are many topics
    (`citeweave.engines.cluster.part_rooms`)."""
    citation_level: int = 0
    """The level that citations reach; only with ``rooms``."""

    @property
    def n_shared(self) -> int:
        """Number of levels above documents, including the root."""
        return len(self.parents)


def divide(
    data: Data, degrees: tuple[np.ndarray, np.ndarray], n_shared: int, parts: int
) -> Division:
    """Divide a chain into parts.

    Parameters
    ----------
    data : Data
        Those of the whole chain, which are not copied.
    degrees : tuple of ndarray
        Citations made and received by each document.
    n_shared : int
        Number of levels above documents, including the root.
    parts : int
    """
    part = divide_documents(data, n_shared, parts).astype(np.min_scalar_type(parts))
    owners = own_nodes(data, n_shared, part)
    parents = tuple(np.asarray(array) for array in data.parents[:n_shared])
    return Division(
        tokens=data.tokens,
        offsets=np.asarray(data.offsets),
        n_words=data.n_words,
        parents=parents,
        citing=np.asarray(data.citing),
        cited=np.asarray(data.cited),
        level_start=level_starts(data),
        parts=parts,
        owners=tuple(owners),
        degrees=(degrees[0].astype(np.int32), degrees[1].astype(np.int32)),
        divided=any(
            bool(np.any(owners[level][parents[level]] != owners[level + 1]))
            for level in range(1, n_shared)
        ),
    )


def level_starts(data: Data) -> np.ndarray:
    """Return the first node of each topic-side level, root first, and the number of nodes."""
    sizes = [1, *(len(parent) for parent in data.parents)]
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def owned_nodes(division: Division, level: int, p: int) -> np.ndarray:
    """List the nodes of a level, at most that of documents, that a part owns: int64, ascending."""
    return np.zeros(1, np.int64) if level == 0 else np.flatnonzero(division.owners[level] == p)


def owned_rows(division: Division, p: int) -> Rows:
    """Return the indices of the rows that a part owns."""
    starts, lowest = division.level_start[:-1], division.n_shared
    levels = [owned_nodes(division, min(n, lowest), p) for n in range(len(starts))]
    document = levels[-1]
    begins = division.offsets[document]
    return Rows(
        document=document,
        node=np.concatenate([start + level for start, level in zip(starts, levels, strict=True)]),
        citation=np.flatnonzero(division.owners[-1][division.citing] == p),
        token_start=begins,
        token_count=division.offsets[document + 1] - begins,
    )


def divide_documents(data: Data, n_shared: int, parts: int) -> np.ndarray:
    """Choose the part of each document.

    Parameters
    ----------
    data : Data
    n_shared : int
        Number of levels above documents, including the root.
    parts : int

    Returns
    -------
    ndarray of int64 [documents]

    Examples
    --------
    >>> tokens, leaf = np.zeros(8, np.int32), np.arange(4)
    >>> offsets = np.array([0, 2, 4, 6, 8])
    >>> groups = np.array([0, 0, 1, 1])
    >>> none = np.zeros(0, np.int32)
    >>> parents = (np.zeros(2, int), groups, leaf)
    >>> data = Data(tokens, offsets, 1, parents, leaf, np.arange(5), none, none)
    >>> divide_documents(data, 2, 2)
    array([0, 1, 0, 1])
    """
    n_documents = len(data.offsets) - 1
    cost = 1 + np.diff(data.offsets)
    cost = cost + CITATION_COST * np.bincount(data.citing, minlength=n_documents)
    group = data.parents[n_shared - 1] if n_shared > 1 else np.arange(n_documents)
    unit = _units(np.asarray(group), cost, cost.sum() / parts * _LARGEST)
    if unit.max(initial=-1) + 1 < parts:
        unit = np.arange(n_documents)
    sizes = np.bincount(unit, cost)
    part = np.zeros(len(sizes), np.int64)
    loads = [(0.0, p) for p in range(parts)]
    for one in np.argsort(-sizes, kind="stable"):
        load, p = loads[0]
        part[one] = p
        heapq.heapreplace(loads, (load + float(sizes[one]), p))
    return np.asarray(part[unit])


def _units(group: np.ndarray, cost: np.ndarray, most: float) -> np.ndarray:
    """Enumerate the units that are assigned as a whole: groups, and pieces of large groups."""
    order = np.argsort(group, kind="stable")
    total = np.bincount(group, cost)
    before = np.cumsum(cost[order]) - cost[order]
    starts = np.concatenate([[0], np.cumsum(total)[:-1]])
    by_group = group[order]
    large = (total > most)[by_group]
    piece = np.where(large, (before - starts[by_group]) // max(most, 1.0), 0)
    unit = np.zeros(len(group), np.int64)
    unit[order[1:]] = np.cumsum((np.diff(by_group) != 0) | (np.diff(piece) != 0))
    return unit


def own_nodes(data: Data, n_shared: int, part: np.ndarray) -> list[np.ndarray]:
    """Assign each node between the root and the documents to the part of its first child.

    Returns
    -------
    list of ndarray
        Parts by level, from the root (part 0) to the documents, in the type of ``part``.
    """
    owners = [part]
    for level in range(n_shared - 1, 0, -1):
        parents = np.asarray(data.parents[level])
        found = np.zeros(len(data.parents[level - 1]), part.dtype)
        found[parents[::-1]] = owners[-1][::-1]  # the first child is written last
        owners.append(found)
    return [np.zeros(1, part.dtype), *reversed(owners)]


def crossing_share(data: Data, part: np.ndarray) -> float:
    """Return the share of citations between different parts; nan if there are no citations."""
    if len(data.citing) == 0:
        return float("nan")
    return float(np.mean(part[data.citing] != part[data.cited]))
