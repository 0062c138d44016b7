"""Groups of documents: from authors, labels and eta to the tree of a chain."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from citeweave.corpus import Corpus
from citeweave.corpus.columns import paper_column
from citeweave.engines.core.data import NO_SERVERS, Data, WordsOf
from citeweave.engines.core.spec import Level, ModelSpec
from citeweave.errors import CorpusError
from citeweave.model.author_shares import (
    AuthorEntries,
    AuthorShares,
    author_entries,
    find_servers,
)
from citeweave.model.strata import ALONE, Stratum, lay_out_strata
from citeweave.parameters.scntm import EQUAL_SHARES, NO_LABELS, SOME_LABELS

__all__ = ["KINDS", "Group", "Groups", "Tree", "build_tree", "known_categories"]

KINDS = ("author", "category", "unknown", "latent", "value")
_AUTHOR, _CATEGORY, _UNKNOWN, _LATENT, _VALUE = range(len(KINDS))
_STRATUM = 35
"""Number of bits of a node's key below the number of its stratum of papers."""


class Group(NamedTuple):
    """One row of `Groups`."""

    kind: str
    name: str
    documents: int


@dataclass(frozen=True, eq=False, repr=False)
class Groups:
    """The nodes of one level above documents.

    Attributes
    ----------
    level : str
        Name of the level.
    kind : ndarray of int8, shape (n,)
        Index in `KINDS`: author, category, unknown, a latent category without a label, or the value
        of a level that divides papers.
    label : ndarray of int32, shape (n,)
        Id of the author or category in the corpus. For an unknown group, -1 if it is shared,
        otherwise its only document. For a latent category, its row. For a value, its number in
        `citeweave.corpus.columns.paper_column`. Below levels that divide papers, a label has one
        node in each part that contains it.
    documents : ndarray of int32, shape (n,)
        Number of documents below the node.
    of_document : ndarray of int32, shape (D,)
        The node of each document; if words choose their author, that of the first author.
    parent : ndarray of int32, shape (n,)
        The node's parent on the level above.
    corpus : Corpus, optional
        Source of the names.
    above : Groups, optional
        The level above, if it divides papers.
    column : str
        The column of the values, on a level that divides papers.
    years : int, optional
        Width of periods.

    Examples
    --------
    >>> import citeweave
    >>> groups = citeweave.example_model().groups_
    >>> len(groups)
    16
    """

    level: str
    kind: np.ndarray
    label: np.ndarray
    documents: np.ndarray
    of_document: np.ndarray
    parent: np.ndarray
    corpus: Corpus | None = field(default=None)
    above: "Groups | None" = field(default=None)
    column: str = field(default="")
    years: int | None = field(default=None)

    @cached_property
    def kinds(self) -> list[str]:
        """The kind of each node in words."""
        return [KINDS[kind] for kind in self.kind.tolist()]

    @cached_property
    def names(self) -> list[str]:
        """The name of each node, read from the corpus on first use.

        Below a level that divides papers, the name of the part follows: "Ann Lee, ICML".
        """
        if self.corpus is None:
            raise CorpusError("These groups have no corpus to take their names from.")
        has = set(self.kind.tolist())
        values: list[str] = []
        if _VALUE in has:
            values = paper_column(self.corpus, self.column, years=self.years).values
        tables = (
            self.corpus.author_names if _AUTHOR in has else [],
            self.corpus.category_names if _CATEGORY in has else [],
        )

        def name(kind: int, label: int) -> str:
            if kind == _UNKNOWN:
                return "unknown" if label < 0 else f"unknown, document {label}"
            if kind == _VALUE:
                return values[label]
            return f"category {label}" if kind == _LATENT else tables[kind][label]

        own = [name(*row) for row in zip(self.kind.tolist(), self.label.tolist(), strict=True)]
        if self.above is None:
            return own
        parts = [self.above.names[parent] for parent in self.parent.tolist()]
        return [f"{name}, {part}" for name, part in zip(own, parts, strict=True)]

    def find(self, kind: str, label: int) -> int:
        """Return the row of an author or category by its id in the corpus, or -1.

        If levels that divide papers create several, return the one with the most documents.

        Examples
        --------
        >>> import citeweave
        >>> groups = citeweave.example_model().groups_
        >>> groups[groups.find("author", 0)].name
        'R. Schmidt'
        """
        rows = np.flatnonzero((self.kind == KINDS.index(kind)) & (self.label == label))
        return int(rows[self.documents[rows].argmax()]) if len(rows) else -1

    def __len__(self) -> int:
        """Return the number of nodes."""
        return len(self.kind)

    def __getitem__(self, row: int) -> Group:
        """Return kind, name and number of documents of one node."""
        return Group(KINDS[self.kind[row]], self.names[row], int(self.documents[row]))

    def __iter__(self) -> Iterator[Group]:
        """Iterate over the rows."""
        return (self[row] for row in range(len(self)))

    def __repr__(self) -> str:
        """Return the number of nodes of each kind."""
        found = np.bincount(self.kind, minlength=len(KINDS)).tolist()
        kinds = (*KINDS[:_VALUE], self.column)
        parts = [f"{n:,} {kind}" for n, kind in zip(found, kinds, strict=True) if n]
        return f"Groups({self.level!r}: {', '.join(parts)})"


class Tree(NamedTuple):
    """The data of a chain, and the meaning of its nodes."""

    data: Data
    levels: tuple[Groups, ...]
    """The levels between the corpus and the documents, upper first."""
    shares: AuthorShares | None = None
    """The servers of papers, if all their authors count."""


class _Members(NamedTuple):
    """Which nodes the documents belong to on one level, before nodes are numbered."""

    document: np.ndarray
    """int64 [pairs], ascending."""
    key: np.ndarray
    """int64 [pairs]: sorted by stratum of papers, and within it authors, then categories, then
    unknown groups, each by label."""


def build_tree(
    corpus: Corpus,
    spec: ModelSpec,
    *,
    eta: float,
    unknown: str,
    categories: int | None = None,
    labels: str = NO_LABELS,
    period_years: int | None = None,
    contributions: str = EQUAL_SHARES,
) -> Tree:
    """Lay out the topic side of a model for a corpus.

    Parameters
    ----------
    corpus : Corpus
    spec : ModelSpec
    eta : float
        For levels of nodes ``group``. 0: the first author always. n >= 1: the first author if
        they are first author of at least n documents, else the category. Infinity: the category
        always. A document left without either is unknown.
    unknown : {"shared", "own"}
        Whether unknown documents share one group or have one each.
    categories : int, optional
        For models with latent categories: their minimum number.
    labels : {"none", "some"}
        For these models: whether papers that have a label keep it. The labels' categories come
        first.
    period_years : int, optional
        For models with a level of periods: years per period.
    contributions : {"equal", "position"}
        If all authors count: whether the prior of their shares depends on their position.

    Returns
    -------
    Tree
        Nodes without documents are left out. All other levels are nested within those that divide
        papers. A node's parent is the one to which most of its documents belong on the level above;
        unknown groups count only if there are no others, and ties go to the smaller id.
    """
    if corpus.n_documents == 0 or corpus.n_tokens == 0:
        raise CorpusError(
            f"A model needs words, and the corpus has none in its {corpus.n_documents} documents. "
            "Check how it was made."
        )
    unlabelled = np.zeros(0, np.int32)
    shares: AuthorShares | None = None
    if spec.draws_categories:
        groups, unlabelled = _latent(corpus, spec.topic_side[1].name, categories or 1, labels)
        parents = [groups.parent]
        levels: tuple[Groups, ...] = (groups,)
    else:
        own, dividing = unknown == "own", spec.paper_levels
        strata = lay_out_strata(corpus, dividing, own=own, years=period_years)
        parted = _parted(corpus, dividing, strata, period_years)
        members = [
            _within(
                strata,
                _members(corpus, level.nodes, eta=eta, own=own, every=spec.words_choose_author),
            )
            for level in spec.topic_side[1 + len(dividing) : spec.n_shared]
        ]
        if spec.tables_choose_author:
            entries = author_entries(corpus, spec.topic_side[spec.n_shared - 1].nodes, eta)
            entry_key = _entry_keys(entries)
            members[-1] = _every_author(corpus, entries, entry_key, members[-1])
        keys = _node_keys(members)
        if spec.tables_choose_author:
            node = np.where(entry_key >= 0, np.searchsorted(keys[-1], entry_key), -1)
            shares = find_servers(corpus, entries, node, contributions)
        parents = _parents(members, keys)
        levels = parted
        for level, member, key, parent in zip(
            spec.topic_side[1 + len(dividing) :],
            _reached(members, keys, parents),
            keys,
            parents,
            strict=False,
        ):
            above = parted[-1] if len(levels) == len(parted) and parted else None
            levels = (*levels, _table(corpus, level.name, member, key, parent, above))
        parents = [*(groups.parent for groups in parted), *parents]
    every = np.arange(corpus.n_documents)
    leaf, leaf_start = every, np.arange(corpus.n_documents + 1)
    if spec.n_document:
        top = levels[-1].of_document if levels else np.zeros(corpus.n_documents, np.int64)
        parents = [*parents, top, *[every] * (spec.n_document - 1)]
    else:
        last = members[-1]
        leaf = np.searchsorted(keys[-1], last.key)
        counts = np.bincount(last.document, minlength=corpus.n_documents)
        leaf_start = np.concatenate([[0], np.cumsum(counts)])
    words = corpus.stored_words()
    # copies, because kernels would be compiled again for read-only arrays
    data = Data(
        tokens=np.asarray(corpus.tokens) if words is None else WordsOf(words),
        offsets=np.array(corpus.offsets),
        n_words=corpus.vocabulary_size,
        parents=tuple(parent.astype(np.int32) for parent in parents),
        leaf=leaf.astype(np.int32),
        leaf_start=leaf_start.astype(np.int64),
        citing=np.array(corpus.citations[:, 0], order="C"),
        cited=np.array(corpus.citations[:, 1], order="C"),
        unlabelled=unlabelled,
        servers=NO_SERVERS if shares is None else shares.servers,
    )
    return Tree(data, levels, shares)


def known_categories(corpus: Corpus, labels: str) -> np.ndarray:
    """Return the categories of papers that keep their labels, numbered by label; -1 for the others.

    Returns
    -------
    ndarray of int, shape (D,)
    """
    label = np.asarray(corpus.categories, np.int64)
    if labels != SOME_LABELS:
        return np.full(len(label), -1)
    names = np.unique(label[label >= 0])
    return np.where(label >= 0, np.searchsorted(names, label), -1)


def _latent(corpus: Corpus, name: str, categories: int, labels: str) -> tuple[Groups, np.ndarray]:
    """Lay out latent categories; also returns the papers whose category is sampled.

    Until chains assign others, papers without a label have categories in turn.
    """
    known = known_categories(corpus, labels)
    names = np.unique(corpus.categories[known >= 0])
    if labels == SOME_LABELS and len(names) == 0:
        raise CorpusError(
            "No document of the corpus has a label to keep. Omit labels, and set the number of "
            "categories instead."
        )
    count = max(categories, len(names))
    kind = np.full(count, _LATENT, np.int8)
    kind[: len(names)] = _CATEGORY
    number = np.arange(count, dtype=np.int32)
    number[: len(names)] = names
    of_document = np.where(known >= 0, known, np.arange(corpus.n_documents) % count)
    groups = Groups(
        level=name,
        kind=kind,
        label=number,
        documents=np.bincount(of_document, minlength=count).astype(np.int32),
        of_document=of_document.astype(np.int32),
        parent=np.zeros(count, np.int32),
        corpus=corpus,
    )
    return groups, np.flatnonzero(known < 0).astype(np.int32)


def _parted(
    corpus: Corpus, levels: tuple[Level, ...], strata: list[Stratum], years: int | None
) -> tuple[Groups, ...]:
    """Describe the nodes of levels that divide papers."""
    tables: tuple[Groups, ...] = ()
    for level, (value, parent, of_document) in zip(levels, strata, strict=True):
        label = np.where(value <= ALONE, ALONE - value, value)
        table = Groups(
            level=level.name,
            kind=np.where(value < 0, _UNKNOWN, _VALUE).astype(np.int8),
            label=label.astype(np.int32),
            documents=np.bincount(of_document, minlength=len(value)).astype(np.int32),
            of_document=of_document.astype(np.int32),
            parent=parent.astype(np.int32),
            corpus=corpus,
            above=tables[-1] if tables else None,
            column=level.column,
            years=years,
        )
        tables = (*tables, table)
    return tables


def _within(strata: list[Stratum], members: _Members) -> _Members:
    """Distinguish the nodes of a level by the part of the papers that they are in."""
    if not strata:
        return members
    stratum = strata[-1].of_document[members.document]
    return members._replace(key=(stratum << _STRATUM) + members.key)


def _key(kind: int, label: np.ndarray) -> np.ndarray:
    return kind * (1 << 32) + label.astype(np.int64)


def _kind_of(key: np.ndarray) -> np.ndarray:
    return np.asarray(key >> 32 & (1 << _STRATUM - 32) - 1)


def _members(corpus: Corpus, nodes: str, *, eta: float, own: bool, every: bool) -> _Members:
    """Assign a node on a level to each document, or, if ``every``, to each of its authors."""
    documents = np.arange(corpus.n_documents)
    # the shared unknown group sorts as label 0, and its label becomes -1 in the table
    key = _key(_UNKNOWN, documents + 1 if own else np.zeros_like(documents))
    first = corpus.first_authors.astype(np.int64)
    category = np.asarray(corpus.categories, np.int64)
    if nodes == "author" and every:
        lengths = np.diff(corpus.author_offsets)
        document = np.repeat(documents, lengths)
        pair_key = _key(_AUTHOR, np.asarray(corpus.author_ids))
        alone = lengths == 0
        document = np.concatenate([document, documents[alone]])
        pair_key = np.concatenate([pair_key, key[alone]])
        order = np.argsort(document, kind="stable")
        document, pair_key = document[order], pair_key[order]
        pairs = np.stack([document, pair_key], axis=1)
        _, index = np.unique(pairs, axis=0, return_index=True)
        index.sort()  # authors stay in their order
        return _Members(document[index], pair_key[index])
    if nodes == "author":
        by_author = first >= 0
    elif nodes == "category":
        by_author = np.zeros(corpus.n_documents, bool)
    else:
        papers = np.bincount(first[first >= 0], minlength=max(corpus.n_authors, 1))
        by_author = (first >= 0) & (papers[first] >= eta)
    by_category = ~by_author & (category >= 0)
    if nodes == "author" or (nodes == "group" and eta == 0):
        by_category[:] = False
    key[by_author] = _key(_AUTHOR, first[by_author])
    key[by_category] = _key(_CATEGORY, category[by_category])
    return _Members(documents, key)


def _entry_keys(entries: AuthorEntries) -> np.ndarray:
    """Return the key of the node that represents each author of each paper, -1 if there is none."""
    kind = np.where(entries.is_author, _AUTHOR, _CATEGORY)
    key = kind * (1 << 32) + entries.label
    return np.where(entries.label >= 0, key, -1)


def _every_author(
    corpus: Corpus, entries: AuthorEntries, key: np.ndarray, alone: _Members
) -> _Members:
    """Assign the nodes of all its authors to each document; ``alone`` if there are none."""
    kept = key >= 0
    left = np.ones(corpus.n_documents, bool)
    left[entries.document[kept]] = False
    document = np.concatenate([entries.document[kept], alone.document[left]])
    keys = np.concatenate([key[kept], alone.key[left]])
    order = np.argsort(document, kind="stable")
    document, keys = document[order], keys[order]
    _, first = np.unique(np.stack([document, keys], axis=1), axis=0, return_index=True)
    first.sort()  # authors stay in their order
    return _Members(document[first], keys[first])


def _node_keys(members: list[_Members]) -> list[np.ndarray]:
    """Find the nodes of each level: those that a document reaches through the tree."""
    keys: list[np.ndarray] = []
    for lower in range(len(members) - 1, -1, -1):
        if not keys:
            keys.append(np.unique(members[lower].key))
        else:
            keys.append(np.unique(_parent_keys(members[lower], members[lower + 1], keys[-1])))
    return keys[::-1]


def _parents(members: list[_Members], keys: list[np.ndarray]) -> list[np.ndarray]:
    """Find the parent of each node among the nodes of the level above."""
    parents = []
    for level, own in enumerate(keys):
        if level == 0:
            parents.append(own >> _STRATUM)  # the stratum, or 0 for the root
        else:
            above = _parent_keys(members[level - 1], members[level], own)
            parents.append(np.searchsorted(keys[level - 1], above))
    return parents


def _parent_keys(above: _Members, below: _Members, nodes: np.ndarray) -> np.ndarray:
    """Find, for each node, the node above to which most of its documents belong."""
    kept = np.isin(below.key, nodes)  # a node without children is dropped
    below = _Members(below.document[kept], below.key[kept])
    # join the two lists of (document, node) on the document
    starts = np.searchsorted(above.document, below.document)
    counts = np.searchsorted(above.document, below.document, side="right") - starts
    row = np.repeat(np.arange(len(below.document)), counts)
    place = (
        np.repeat(starts, counts)
        + np.arange(len(row))
        - np.repeat(counts.cumsum() - counts, counts)
    )
    child = np.searchsorted(nodes, below.key[row])
    candidate = above.key[place]
    pairs, votes = np.unique(np.stack([child, candidate], axis=1), axis=0, return_counts=True)
    known = _kind_of(pairs[:, 1]) < _UNKNOWN
    best = np.lexsort((pairs[:, 1], -votes, ~known, pairs[:, 0]))
    _, first = np.unique(pairs[best, 0], return_index=True)
    return np.asarray(pairs[best[first], 1])


def _reached(
    members: list[_Members], keys: list[np.ndarray], parents: list[np.ndarray]
) -> list[_Members]:
    """Follow the tree upwards: the nodes that documents reach on each level."""
    reached: list[_Members] = []
    for level in range(len(members) - 1, -1, -1):
        if not reached:
            place = np.searchsorted(keys[level], members[level].key)
            reached.append(_Members(members[level].document, place))
        else:
            below = reached[-1]
            reached.append(_Members(below.document, parents[level + 1][below.key]))
    return reached[::-1]


def _table(
    corpus: Corpus,
    name: str,
    reached: _Members,
    key: np.ndarray,
    parent: np.ndarray,
    above: Groups | None,
) -> Groups:
    pairs = np.unique(reached.document * len(key) + reached.key)
    _, first = np.unique(reached.document, return_index=True)
    kind = _kind_of(key)
    label = key & ((1 << 32) - 1)
    return Groups(
        level=name,
        kind=kind.astype(np.int8),
        label=np.where(kind == _UNKNOWN, label - 1, label).astype(np.int32),
        documents=np.bincount(pairs % len(key), minlength=len(key)).astype(np.int32),
        of_document=reached.key[first].astype(np.int32),
        parent=parent.astype(np.int32),
        corpus=corpus,
        above=above,
    )
