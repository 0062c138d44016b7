"""Assignment of documents to workers.

Documents are divided by group (author or category), so that a group's node and all documents below
it are in one part, and parts are balanced by tokens and citations. A group that exceeds a given
share of a part is itself divided; its node then belongs to one part, and others hold copies.
"""

import heapq

import numpy as np

from citeweave.engines.core.data import Data

__all__ = ["CITATION_COST", "crossing_share", "divide_documents", "own_nodes"]

CITATION_COST = 4
"""Number of tokens that take as long to sample as one citation."""
_LARGEST = 0.25
"""Largest share of a part that a unit, which is assigned as a whole, may have."""


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
    piece = np.zeros(len(group), np.int64)
    large = (total > most)[group[order]]
    piece[order] = np.where(large, (before - starts[group[order]]) // max(most, 1.0), 0)
    _, unit = np.unique(np.stack([group, piece]), axis=1, return_inverse=True)
    return np.asarray(unit.reshape(-1), np.int64)


def own_nodes(data: Data, n_shared: int, part: np.ndarray) -> list[np.ndarray]:
    """Assign each node between the root and the documents to the part of its first child.

    Returns
    -------
    list of ndarray of int64
        Parts by level, from the root (part 0) to the documents.
    """
    owners = [part]
    for level in range(n_shared - 1, 0, -1):
        parents = np.asarray(data.parents[level])
        found = np.zeros(len(data.parents[level - 1]), np.int64)
        found[parents[::-1]] = owners[-1][::-1]  # the first child is written last
        owners.append(found)
    return [np.zeros(1, np.int64), *reversed(owners)]


def crossing_share(data: Data, part: np.ndarray) -> float:
    """Return the share of citations between different parts; nan if there are no citations."""
    if len(data.citing) == 0:
        return float("nan")
    return float(np.mean(part[data.citing] != part[data.cited]))
