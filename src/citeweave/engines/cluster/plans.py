"""The plan of each part of a chain: its documents, copies of cited papers, and message routes.

Nodes and documents have local indices in each part: on every level those that the part owns come
first, then its copies of others, both in the order of the whole corpus.

Each worker makes its own plan from the division of the whole chain, without those of other parts.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from citeweave.engines.cluster.holders import Citations, find_citations, find_copied, mark_below
from citeweave.engines.cluster.partition import Division, owned_nodes
from citeweave.engines.core.data import Data, WordsOf
from citeweave.engines.core.exchange import ChainPart
from citeweave.engines.core.row_files import tokens_of

__all__ = ["PartPlan", "Route", "make_plan"]


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


def make_plan(division: Division, p: int) -> PartPlan:
    """Make the plan of one part, with arrays of its own; words that are on disk stay there.

    What it says about other parts is found from the division, without their plans.
    """
    below = mark_below(division, p)
    citations = find_citations(division, p, below[-1])
    held = find_copied(division, p, below, citations)
    del below
    part, parts = division.owners[-1], division.parts
    received = division.cited[citations.received]
    citing_part = part[division.citing[citations.received]]
    cited_part = part[division.cited[citations.made]]
    documents = _documents(division, p, citations, cited_part)
    levels = _ancestors(division, documents, p)
    plan = PartPlan(
        data=_local_data(division, levels, documents, citations),
        token_start=division.offsets[documents.owned],
        part=_part(division, levels, documents, citations),
        degrees=(
            division.degrees[0][documents.all].astype(np.float64),
            division.degrees[1][documents.all].astype(np.float64),
        ),
        nodes=tuple(
            _route(members, members.copies, owner, found)
            for members, owner, found in zip(levels, division.owners, held.nodes, strict=False)
        ),
        parents=tuple(
            _route(members, members.used, owner, found)
            for members, owner, found in zip(levels, division.owners, held.parents, strict=False)
        ),
        cited=_route(
            documents,
            documents.used,
            part,
            [np.unique(received[citing_part == q]) for q in range(parts)],
        ),
        citations=Route(
            owned=tuple(
                len(citations.made) + np.flatnonzero(citing_part == q) for q in range(parts)
            ),
            copies=tuple(np.flatnonzero((cited_part == q) & (q != p)) for q in range(parts)),
        ),
        citation=np.concatenate([citations.made, citations.received]),
        divided=division.divided,
        group_start=int(division.level_start[division.n_shared - 1]),
    )
    return plan if division.rooms is None else plan._replace(rooms=_rooms(plan, division))


def _documents(
    division: Division, p: int, citations: Citations, cited_part: np.ndarray
) -> _Members:
    """List the documents of a part, and those in other parts that its citations involve."""
    out = np.unique(division.cited[citations.made[cited_part != p]])
    into = np.unique(division.citing[citations.received])
    return _Members(owned_nodes(division, division.n_shared, p), np.union1d(out, into), out)


def _ancestors(division: Division, documents: _Members, p: int) -> list[_Members]:
    """List the nodes above the documents of a part, by level from the root."""
    found = [documents]
    for level in range(division.n_shared - 1, 0, -1):
        below, parents = found[-1], division.parents[level]
        owned = owned_nodes(division, level, p)
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


def _route(
    members: _Members, wanted: np.ndarray, owner: np.ndarray, held: Sequence[np.ndarray]
) -> Route:
    """Find what the part receives from each other part, and what it sends to each.

    ``wanted`` are its copies of what others own; ``held``, by part, what others hold of its own.
    """
    return Route(
        owned=tuple(_places(members, own, copies=False) for own in held),
        copies=tuple(
            _places(members, wanted[owner[wanted] == q], copies=True) for q in range(len(held))
        ),
    )


def _local_data(
    division: Division, levels: list[_Members], documents: _Members, citations: Citations
) -> Data:
    """Return the data of a part, with local indices."""
    begins = division.offsets[documents.owned]
    lengths = division.offsets[documents.owned + 1] - begins
    n_copies = len(documents.copies)
    offsets = np.concatenate([[0], np.cumsum(lengths), np.full(n_copies, lengths.sum())])
    members = [*levels, documents]
    parents = [
        _place_of(members[level], above[members[level + 1].all])
        for level, above in enumerate(division.parents)
    ]
    n_local = len(documents.all)
    parents += [np.arange(n_local, dtype=np.int64)] * _deeper(division)
    known = np.concatenate([citations.made, citations.received])
    return Data(
        tokens=WordsOf(division.tokens.words, documents.owned)
        if isinstance(division.tokens, WordsOf)
        else division.tokens[tokens_of(begins, lengths)],
        offsets=offsets.astype(np.int64),
        n_words=division.n_words,
        parents=tuple(parents),
        leaf=np.arange(n_local),
        leaf_start=np.arange(n_local + 1),
        citing=_place_of(documents, division.citing[known]).astype(np.int32),
        cited=_place_of(documents, division.cited[known]).astype(np.int32),
    )


def _deeper(division: Division) -> int:
    """Return the number of levels below the first level of documents."""
    return len(division.level_start) - 2 - division.n_shared


def _place_of(members: _Members, wanted: np.ndarray) -> np.ndarray:
    """Return the local indices of nodes that a part owns or holds copies of."""
    place = np.searchsorted(members.owned, wanted)
    inside = np.minimum(place, max(len(members.owned) - 1, 0))
    is_own = members.owned[inside] == wanted if len(members.owned) else np.zeros(len(wanted), bool)
    return np.where(is_own, place, _places(members, wanted, copies=True))


def _part(
    division: Division, levels: list[_Members], documents: _Members, citations: Citations
) -> ChainPart:
    """Describe what a part owns."""
    first = division.level_start[:-1]
    members = [*levels, documents, *[documents] * _deeper(division)]
    sizes = [len(one.all) for one in members]
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    return ChainPart(
        n_documents=len(documents.owned),
        level_end=starts + np.array([len(one.owned) for one in members]),
        document=documents.all,
        node=np.concatenate([start + one.all for start, one in zip(first, members, strict=True)]),
        n_citations=len(citations.made),
        all_documents=len(division.offsets) - 1,
    )


def _rooms(plan: PartPlan, division: Division) -> np.ndarray:
    """Return the rooms of the nodes that a part holds.

    Copies of papers have none, except for those that the part cites, on the level that citations
    reach. No other counts of papers in other parts are ever read.
    """
    found: np.ndarray = np.asarray(division.rooms)[plan.part.node]
    sizes = [1, *(len(parents) for parents in plan.data.parents)]
    ends = np.cumsum(sizes)
    for level in range(division.n_shared, len(sizes)):
        copies = np.arange(plan.part.level_end[level], ends[level])
        if level == division.citation_level:
            cited = ends[level] - sizes[level] + np.concatenate(plan.cited.copies)
            copies = np.setdiff1d(copies, cited)
        found[copies] = 0
    return found
