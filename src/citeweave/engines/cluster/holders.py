"""What a part has to know of other parts: citations between them, and copies of its nodes.

Both are found in the division of the whole chain. Citations are read in blocks, so that no array
has the length of all of them, and arrays with the length of all documents have a byte for each.
"""

from typing import NamedTuple

import numpy as np

from citeweave.engines.cluster.partition import Division

__all__ = ["Citations", "CopiedNodes", "find_citations", "find_copied", "mark_below"]

_BLOCK = 1 << 18
"""Citations read at a time."""
_NOTHING = np.zeros(0, np.int64)


class Citations(NamedTuple):
    """The citations that one part knows, by their indices in the whole corpus."""

    made: np.ndarray
    """int64: those that its documents make."""
    received: np.ndarray
    """int64: those that its documents receive from other parts."""
    pairs: np.ndarray
    """int64, ascending: pairs (`_join`) of a group (a node of the lowest level above documents) and
    another part with a copy of a document below it, for groups that are, or are below, nodes of
    this part."""


class CopiedNodes(NamedTuple):
    """The nodes of a part that other parts hold copies of, by level from the root and by part.

    They are indices in the whole level.
    """

    nodes: list[list[np.ndarray]]
    """All of them: ancestors of the other part's documents and of its copies of documents."""
    parents: list[list[np.ndarray]]
    """The subset of these that are ancestors of the other part's own documents."""


def mark_below(division: Division, p: int) -> list[np.ndarray]:
    """Mark the nodes that have an ancestor below the root that a part owns.

    Returns
    -------
    list of ndarray of bool
        By level from the root to the documents.
    """
    owned = np.zeros(1, bool)
    marks = [owned]
    for level, parents in enumerate(division.parents, start=1):
        marks.append(owned[parents])
        if level < division.n_shared:
            owned = marks[-1] | (division.owners[level] == p)
    return marks


def find_citations(division: Division, p: int, below: np.ndarray) -> Citations:
    """Find the citations of a part; ``below`` are the marks of documents (`mark_below`)."""
    part, group = division.owners[-1], division.parents[-1]
    made, received, pairs = [_NOTHING], [_NOTHING], [_NOTHING]
    for begin in range(0, len(division.citing), _BLOCK):
        ends = [array[begin : begin + _BLOCK] for array in (division.citing, division.cited)]
        citing, cited = (part[end] for end in ends)
        mine = citing == p
        made.append(begin + np.flatnonzero(mine))
        received.append(begin + np.flatnonzero(~mine & (cited == p)))
        for document, other in ((ends[0], cited), (ends[1], citing)):
            chosen = np.flatnonzero((citing != cited) & (other != p) & below[document])
            nodes = group[document[chosen]]
            pairs.append(np.unique(_join(nodes, other[chosen], division.parts)))
    distinct = np.unique(np.concatenate(pairs))
    return Citations(np.concatenate(made), np.concatenate(received), distinct)


def find_copied(
    division: Division, p: int, below: list[np.ndarray], citations: Citations
) -> CopiedNodes:
    """Find the copies that other parts hold of nodes between the root and the documents.

    This goes up from the documents, through those nodes of other parts that are below the part's.
    """
    parts, owners = division.parts, division.owners
    levels: tuple[list[list[np.ndarray]], ...] = ([], [])
    # pairs of a node and another part that holds a copy: of any node, and of ancestors of its own
    pairs_of = [citations.pairs, _NOTHING]
    for level in range(division.n_shared - 1, 0, -1):
        lower = np.flatnonzero(below[level + 1] & (owners[level + 1] != p))
        own = _join(division.parents[level][lower], owners[level + 1][lower], parts)
        for kind, pairs in enumerate(pairs_of):
            node, other = np.divmod(np.unique(np.concatenate([pairs, own])), parts)
            copied = owners[level][node] != other
            node, other = node[copied], other[copied]
            mine = owners[level][node] == p
            levels[kind].insert(0, [node[mine & (other == q)] for q in range(parts)])
            higher = below[level][node]
            above = division.parents[level - 1][node[higher]]
            pairs_of[kind] = _join(above, other[higher], parts)
    root = [_NOTHING] * parts
    return CopiedNodes([root, *levels[0]], [root, *levels[1]])


def _join(nodes: np.ndarray, others: np.ndarray, parts: int) -> np.ndarray:
    """Encode pairs of a node and a part as numbers in the same order."""
    joined: np.ndarray = nodes.astype(np.int64) * parts + others
    return joined
