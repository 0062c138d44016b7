"""The shared nodes that a document can reach: the small tree in which its tokens move."""

from typing import NamedTuple

import numpy as np

from citeweave.compiled import kernel

__all__ = ["Paths", "find_paths"]


class Paths(NamedTuple):
    """For each document, the nodes between the root and its leaves, root first."""

    start: np.ndarray
    """int64 [documents + 1]: first entry of each document in ``node`` and ``parent``."""
    node: np.ndarray
    """int32: nodes, numbered as in the whole tree."""
    parent: np.ndarray
    """int32: place of each node's parent among the document's own nodes."""
    leaf: np.ndarray
    """int32 [paths]: as ``Layout.leaf``, but places among the document's own nodes."""
    most: int
    """Largest number of nodes per document."""


def find_paths(layout, n_levels: int) -> Paths:
    """List the nodes of every document; ``n_levels`` is the number of topic-side levels."""
    room = int(np.diff(layout.leaf_start).max(initial=1)) * n_levels
    n_documents = len(layout.leaf_start) - 1
    start = np.zeros(n_documents + 1, np.int64)
    found = np.zeros(room, np.int32)
    _count_nodes(layout, n_levels, found, start)
    node = np.zeros(start[-1], np.int32)
    parent = np.zeros(start[-1], np.int32)
    leaf = np.zeros(len(layout.leaf), np.int32)
    _list_nodes(layout, n_levels, found, start, node, parent, leaf)
    most = int(np.diff(start).max(initial=1))
    return Paths(start=start, node=node, parent=parent, leaf=leaf, most=most)


@kernel
def _nodes_of(layout, n_levels, d, found):
    """Fill ``found`` with the distinct nodes of a document, root first; return their number."""
    n = 0
    for height in range(n_levels - 1, -1, -1):  # the root is n_levels - 1 steps above a leaf
        for p in range(layout.leaf_start[d], layout.leaf_start[d + 1]):
            node = layout.leaf[p]
            for _ in range(height):
                node = layout.parent[node]
            known = False
            for i in range(n):
                known = known or found[i] == node
            if not known:
                found[n] = node
                n += 1
    return n


@kernel
def _count_nodes(layout, n_levels, found, start):
    for d in range(start.shape[0] - 1):
        start[d + 1] = start[d] + _nodes_of(layout, n_levels, d, found)


@kernel
def _list_nodes(layout, n_levels, found, start, node, parent, leaf):
    for d in range(start.shape[0] - 1):
        n = _nodes_of(layout, n_levels, d, found)
        for i in range(n):
            node[start[d] + i] = found[i]
            for j in range(n):
                if found[j] == layout.parent[found[i]]:
                    parent[start[d] + i] = j
        for p in range(layout.leaf_start[d], layout.leaf_start[d + 1]):
            for j in range(n):
                if found[j] == layout.leaf[p]:
                    leaf[p] = j
