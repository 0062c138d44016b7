"""The plan of each part of a chain: its documents, copies of cited papers, and message routes.

Nodes and documents have local indices in each part: on every level those that the part owns come
first, then its copies of others, both in the order of the whole corpus.
"""

from typing import NamedTuple

import numpy as np

from citeweave.engines.cluster.partition import divide_documents, own_nodes
from citeweave.engines.core.data import Data, WordsOf
from citeweave.engines.core.exchange import ChainPart
from citeweave.engines.core.row_files import tokens_of

__all__ = ["PartPlan", "Route", "level_starts", "make_plans"]


class Route(NamedTuple):
    """Items that parts hold copies of, by their local indices in this part."""

    owned: tuple[np.ndarray, ...]
    """By other part: items that this part owns and the other holds copies of."""
    copies: tuple[np.ndarray, ...]
    """By other part: copies here of items that the other owns, in the same order."""


class PartPlan(NamedTuple):
    """One part of a chain."""

    data: Data
    """Its documents and citations; documents copied from other parts have no words."""
    token_start: np.ndarray
    """int64 [documents that it owns]: index of the first token of each in the whole corpus."""
    part: ChainPart
    degrees: tuple[np.ndarray, np.ndarray]
    """Citations made and received by each of its documents in the whole corpus."""
    nodes: tuple[Route, ...]
    """By level above documents: ancestors of its documents and of those they cite."""
    parents: tuple[Route, ...]
    """By level above documents: the subset of these that are ancestors of its own documents."""
    cited: Route
    """Documents that are cited in other parts."""
    citations: Route
    """Citations between parts: ``copies`` are those made here, ``owned`` those received."""
    citation: np.ndarray
    """int64 [citations]: indices of its citations in the whole corpus."""
    divided: bool
    """Whether any part has documents below a node that another part owns."""
    group_start: int
    """First node, in the whole tree, of the lowest level above documents."""
    rooms: np.ndarray | None = None
    """int16 [nodes]: maximum number of topics of each node that it holds, if there are many topics
    (`citeweave.engines.cluster.part_rooms`)."""

    @property
    def nodes_with_room(self) -> np.ndarray | None:
        """Nodes whose counts are read in this part; None for all."""
        return None if self.rooms is None else np.flatnonzero(self.rooms)


class _Members(NamedTuple):
    """Nodes of one level that one part holds, as indices in the whole level."""

    owned: np.ndarray
    copies: np.ndarray
    used: np.ndarray
    """The subset of the copies that are ancestors of its own documents."""

    @property
    def all(self) -> np.ndarray:
        return np.concatenate([self.owned, self.copies])


def level_starts(data: Data) -> np.ndarray:
    """Return the first node of each topic-side level, root first, and the number of nodes."""
    sizes = [1, *(len(parent) for parent in data.parents)]
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def make_plans(
    data: Data,
    degrees: tuple[np.ndarray, np.ndarray],
    n_shared: int,
    parts: int,
) -> list[PartPlan]:
    """Divide a chain into parts; words that are on disk stay there."""
    part = divide_documents(data, n_shared, parts)
    owners = own_nodes(data, n_shared, part)
    citing, cited = np.asarray(data.citing), np.asarray(data.cited)
    crossing = part[citing] != part[cited] if len(citing) else np.zeros(0, bool)
    documents = [_documents(part, citing, cited, crossing, p) for p in range(parts)]
    levels = [_ancestors(data, n_shared, owners, documents[p], p) for p in range(parts)]
    made = [_citations(part, citing, cited, p) for p in range(parts)]
    nodes, parents = [], []
    for level, owner in enumerate(owners[:-1]):
        members = [one[level] for one in levels]
        nodes.append(_routes(members, [one.copies for one in members], owner))
        parents.append(_routes(members, [one.used for one in members], owner))
    cited_there = _routes(documents, [one.used for one in documents], part)
    by_citation = _citation_routes(part, citing, cited, made)
    divided = any(len(one[level].used) for one in levels for level in range(1, n_shared))
    return [
        PartPlan(
            data=_local_data(data, levels[p], documents[p], made[p]),
            token_start=np.asarray(data.offsets)[documents[p].owned],
            part=_part(data, levels[p], documents[p], made[p], n_shared),
            degrees=(degrees[0][documents[p].all], degrees[1][documents[p].all]),
            nodes=tuple(routes[p] for routes in nodes),
            parents=tuple(routes[p] for routes in parents),
            cited=cited_there[p],
            citations=by_citation[p],
            citation=np.concatenate(made[p]),
            divided=divided,
            group_start=int(level_starts(data)[n_shared - 1]),
        )
        for p in range(parts)
    ]


def _documents(
    part: np.ndarray, citing: np.ndarray, cited: np.ndarray, crossing: np.ndarray, p: int
) -> _Members:
    """List the documents of a part, and those in other parts that its citations involve."""
    out = np.unique(cited[crossing & (part[citing] == p)])
    into = np.unique(citing[crossing & (part[cited] == p)])
    return _Members(np.flatnonzero(part == p), np.union1d(out, into), out)


def _ancestors(
    data: Data, n_shared: int, owners: list[np.ndarray], documents: _Members, p: int
) -> list[_Members]:
    """List the nodes above the documents of a part, by level from the root."""
    found = [documents]
    for level in range(n_shared - 1, 0, -1):
        below, parents = found[-1], np.asarray(data.parents[level])
        owned = np.flatnonzero(owners[level] == p)
        copies = np.setdiff1d(parents[below.all], owned)
        # ancestors of its own documents; copies of documents are only cited
        own = below.owned if below is documents else np.concatenate([below.owned, below.used])
        used = np.setdiff1d(parents[own], owned)
        found.append(_Members(owned, copies, used))
    root = _Members(np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64))
    return [root, *reversed(found[1:])]


def _places(members: _Members, wanted: np.ndarray, *, copies: bool) -> np.ndarray:
    """Return the local indices of nodes that a part owns, or of nodes it holds copies of."""
    among = members.copies if copies else members.owned
    return np.searchsorted(among, wanted) + (len(members.owned) if copies else 0)


def _routes(members: list[_Members], wanted: list[np.ndarray], owner: np.ndarray) -> list[Route]:
    """Find which part sends what to which, if each part holds copies of what is ``wanted``."""
    parts = range(len(members))
    held = [[wanted[q][owner[wanted[q]] == p] for q in parts] for p in parts]
    return [
        Route(
            owned=tuple(_places(members[p], held[p][q], copies=False) for q in parts),
            copies=tuple(_places(members[p], held[q][p], copies=True) for q in parts),
        )
        for p in parts
    ]


_Citations = tuple[np.ndarray, np.ndarray]
"""Citations that a part's documents make, and those they receive from other parts."""


def _citations(part: np.ndarray, citing: np.ndarray, cited: np.ndarray, p: int) -> _Citations:
    if not len(citing):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    mine = part[citing] == p
    return np.flatnonzero(mine), np.flatnonzero(~mine & (part[cited] == p))


def _citation_routes(
    part: np.ndarray, citing: np.ndarray, cited: np.ndarray, made: list[_Citations]
) -> list[Route]:
    """Find which part sends changes of cited papers to which."""
    parts = range(len(made))

    def received(p: int, q: int) -> np.ndarray:
        """Return the indices, in part p, of citations that its documents receive from part q."""
        own, others = made[p]
        return len(own) + np.flatnonzero(part[citing[others]] == q)

    def sent(p: int, q: int) -> np.ndarray:
        """Return the indices, in part p, of its citations of documents in part q."""
        own, _ = made[p]
        if p == q:
            return np.zeros(0, np.int64)
        return np.flatnonzero(part[cited[own]] == q)

    return [
        Route(owned=tuple(received(p, q) for q in parts), copies=tuple(sent(p, q) for q in parts))
        for p in parts
    ]


def _local_data(data: Data, levels: list[_Members], documents: _Members, made: _Citations) -> Data:
    """Return the data of a part, with local indices."""
    begins = np.asarray(data.offsets)[documents.owned]
    lengths = np.asarray(data.offsets)[documents.owned + 1] - begins
    n_copies = len(documents.copies)
    offsets = np.concatenate([[0], np.cumsum(lengths), np.full(n_copies, lengths.sum())])
    members = [*levels, documents]
    parents = [
        _place_of(members[level], np.asarray(data.parents[level])[members[level + 1].all])
        for level in range(len(levels))
    ]
    n_local = len(documents.all)
    deeper = len(data.parents) - len(levels)
    parents += [np.arange(n_local, dtype=np.int64)] * deeper
    citations = np.concatenate(made)
    citing, cited = np.asarray(data.citing)[citations], np.asarray(data.cited)[citations]
    return Data(
        tokens=WordsOf(data.tokens.words, documents.owned)
        if isinstance(data.tokens, WordsOf)
        else data.tokens[tokens_of(begins, lengths)],
        offsets=offsets.astype(np.int64),
        n_words=data.n_words,
        parents=tuple(parents),
        leaf=np.arange(n_local),
        leaf_start=np.arange(n_local + 1),
        citing=_place_of(documents, citing).astype(np.int32),
        cited=_place_of(documents, cited).astype(np.int32),
    )


def _place_of(members: _Members, wanted: np.ndarray) -> np.ndarray:
    """Return the local indices of nodes that a part owns or holds copies of."""
    place = np.searchsorted(members.owned, wanted)
    inside = np.minimum(place, max(len(members.owned) - 1, 0))
    is_own = members.owned[inside] == wanted if len(members.owned) else np.zeros(len(wanted), bool)
    return np.where(is_own, place, _places(members, wanted, copies=True))


def _part(
    data: Data,
    levels: list[_Members],
    documents: _Members,
    made: _Citations,
    n_shared: int,
) -> ChainPart:
    """Describe what a part owns."""
    first = level_starts(data)[:-1]
    members = [*levels, *([documents] * (len(first) - n_shared))]
    sizes = [len(one.all) for one in members]
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    return ChainPart(
        n_documents=len(documents.owned),
        level_end=starts + np.array([len(one.owned) for one in members]),
        document=documents.all,
        node=np.concatenate([start + one.all for start, one in zip(first, members, strict=True)]),
        n_citations=len(made[0]),
        all_documents=len(data.offsets) - 1,
    )
