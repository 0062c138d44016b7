"""Placing new documents in the tree of a fitted model, below one group or several candidates."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from citeweave.corpus import Corpus
from citeweave.engines.core.spec import LATENT_CATEGORY
from citeweave.foldin import Sets
from citeweave.model.groups import KINDS, Groups
from citeweave.model.results import Result
from citeweave.model.strata import ALONE, reach_strata
from citeweave.model.unseen import Translation

__all__ = ["NodePlacement", "category_columns", "category_priors", "columns_of", "place_documents"]

_AUTHOR, _CATEGORY, _UNKNOWN, _LATENT = range(4)


class NodePlacement(NamedTuple):
    """Placement of new documents: each below one group of a set."""

    sets: Sets
    """Nodes by column: those of the last level first, then of the levels above, then the root."""
    of_document: np.ndarray
    """int64 [documents]: set of each document."""
    inferred: np.ndarray
    """bool [documents]: whether the set is all categories, because the document's own is hidden."""
    first_mixed: int | None = None
    """Index from which sets are mixtures, rather than candidates one of which applies; None if
    there are none."""
    mass: np.ndarray | None = None
    """float64 [members]: parameter of the Dirichlet prior of shares in a mixture."""


def columns_of(levels: Sequence[Groups]) -> list[int]:
    """Return the first column of each level (upper first) in the columns of a `NodePlacement`."""
    starts = [0] * len(levels)
    total = 0
    for number in range(len(levels) - 1, -1, -1):
        starts[number] = total
        total += len(levels[number])
    return [*starts, total]


def place_documents(result: Result, new: Corpus, ids: Translation, *, labels: str) -> NodePlacement:
    """Find the group of each new document, or its candidate groups.

    A document first descends the levels that divide papers, as far as there are nodes. Within the
    part, the search goes from the last level upwards: the author's node if there is one; otherwise
    the category's (``labels="seen"``) or all categories, weighted by their number of documents
    (``"hidden"``); the shared group of unknown documents as in training; finally the node of the
    part, or the root.
    """
    levels = list(result.levels.values())
    author = np.append(ids.author, -1)[new.first_authors]
    category = np.append(ids.category, -1)[new.categories]
    unlabelled = new.categories < 0
    if labels == "hidden":  # not read from here on
        category = np.full(new.n_documents, -1, np.int64)
        unlabelled = np.ones(new.n_documents, dtype=bool)
    part, last = _parts(result, new)
    node = np.where(part < 0, last, -1)
    hidden = np.full(new.n_documents, -1, np.int64)
    for number in range(len(levels) - 1, len(result.spec.paper_levels) - 1, -1):
        rows = _Rows(result, number)
        groups, kind = levels[number], result.spec.topic_side[number + 1].nodes
        if kind in {"author", "group"}:
            left = (node < 0) & (hidden < 0)
            node[left] = rows.find(_AUTHOR, author[left], part[left])
        left = (node < 0) & (hidden < 0)
        has_categories = np.isin(part, rows.part[_are_categories(groups)])
        if labels == "hidden":
            hidden[left & has_categories] = number
        else:
            node[left] = rows.find(_CATEGORY, category[left], part[left])
            if kind == LATENT_CATEGORY:
                hidden[left & (node < 0)] = number
        by_author = kind == "author" or (kind == "group" and result.plan.eta == 0)
        nobody = new.first_authors < 0 if by_author else unlabelled
        nobody = nobody & (node < 0) & (hidden < 0)
        node[nobody] = rows.find(_UNKNOWN, np.full(nobody.sum(), -1), part[nobody])
    left = (node < 0) & (hidden < 0)
    node[left] = last[left]
    return _make_sets(result, new, ids, node, hidden, part)


def _parts(result: Result, new: Corpus) -> tuple[np.ndarray, np.ndarray]:
    """Follow new documents down the levels that divide papers.

    Returns the index of each on the last of them, -1 if it has no node there (0 for all without
    such levels), and the column of the last node reached.
    """
    groups = list(result.levels.values())
    starts, dividing = columns_of(groups), result.spec.paper_levels
    nodes = [
        (np.where((g.kind == _UNKNOWN) & (g.label >= 0), ALONE - g.label, g.label), g.parent)
        for g in groups[: len(dividing)]
    ]
    years = result.plan.period_years
    column = np.full(new.n_documents, starts[-1], np.int64)
    part = np.zeros(new.n_documents, np.int64)
    for number, part in enumerate(reach_strata(result.corpus, new, dividing, nodes, years=years)):
        column[part >= 0] = starts[number] + part[part >= 0]
    return part, column


class _Rows:
    """Finds the nodes of one level, below those that divide papers, by part, kind and label."""

    def __init__(self, result: Result, number: int) -> None:
        levels, upper = list(result.levels.values()), len(result.spec.paper_levels)
        self.groups = levels[number]
        self.start = columns_of(levels)[number]
        part = self.groups.parent
        for above in range(number - 1, upper - 1, -1):
            part = levels[above].parent[part]
        self.part: np.ndarray = part.astype(np.int64) if upper else np.zeros(len(part), np.int64)
        self._order = np.lexsort((self.groups.label, self.groups.kind, self.part))
        self._keys = self._key(self.groups.kind, self.groups.label, self.part)[self._order]

    @staticmethod
    def _key(kind: Any, label: np.ndarray, part: np.ndarray) -> np.ndarray:
        found: np.ndarray = (part * len(KINDS) + kind) * (1 << 32) + label + 1
        return found

    def find(self, kind: int, label: np.ndarray, part: np.ndarray) -> np.ndarray:
        """Return columns of nodes, -1 if there is none; an author or category of -1 has none."""
        wanted = self._key(kind, label, part)
        place = np.searchsorted(self._keys, wanted).clip(max=len(self._keys) - 1)
        there = (self._keys[place] == wanted) & ((label >= 0) | (kind == _UNKNOWN))
        return np.where(there, self.start + self._order[place], -1)


def _are_categories(groups: Groups) -> np.ndarray:
    """Return which nodes are categories, with a label or latent."""
    return np.isin(groups.kind, (_CATEGORY, _LATENT))


def category_columns(levels: Sequence[Groups]) -> tuple[np.ndarray, np.ndarray]:
    """Return columns and labels of the categories on the lowest level that has any.

    If a category has nodes in several parts of the papers, the one with the most documents counts.
    """
    starts = columns_of(levels)
    for number in range(len(levels) - 1, -1, -1):
        groups = levels[number]
        rows = np.flatnonzero(groups.kind == _CATEGORY)
        if len(rows):
            rows = rows[np.lexsort((-groups.documents[rows], groups.label[rows]))]
            labels, first = np.unique(groups.label[rows], return_index=True)
            return starts[number] + rows[first], labels.astype(np.int64)
    return np.zeros(0, np.int64), np.zeros(0, np.int64)


def category_priors(train: Corpus, author: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Compute the prior of documents' categories from their first authors (-1: none known).

    The categories of the author's training documents, plus one document's worth of those of all
    training documents.

    Returns
    -------
    ndarray, shape (documents, labels)
    """
    place = np.full(train.n_categories + 1, -1, np.int64)
    place[labels] = np.arange(len(labels))
    category = place[train.categories]
    overall = np.bincount(category[category >= 0], minlength=len(labels)).astype(np.float64)
    priors = np.tile(overall / overall.sum(), (len(author), 1))
    known = (category >= 0) & np.isin(train.first_authors, author[author >= 0])
    first = train.first_authors[known].astype(np.int64)
    people, row = np.unique(first, return_inverse=True)
    counts = np.zeros((len(people) + 1, len(labels)))
    np.add.at(counts, (row, category[known]), 1.0)
    where = np.searchsorted(people, author)
    where[~np.isin(author, people)] = len(people)
    priors += counts[where]
    out: np.ndarray = priors / priors.sum(axis=1, keepdims=True)
    return out


def _make_sets(
    result: Result,
    new: Corpus,
    ids: Translation,
    node: np.ndarray,
    hidden: np.ndarray,
    part: np.ndarray,
) -> NodePlacement:
    levels = list(result.levels.values())
    starts = columns_of(levels)
    single, place = np.unique(node[node >= 0], return_inverse=True)
    members = [single]
    priors = [np.ones(len(single))]
    sizes = [np.ones(len(single), np.int64)]
    of_document = np.full(new.n_documents, -1, np.int64)
    of_document[node >= 0] = place
    n_sets = len(single)
    pairs = np.stack([hidden, part], axis=1)
    for number, within in np.unique(pairs[hidden >= 0], axis=0).tolist():
        groups = levels[number]
        rows = np.flatnonzero(_are_categories(groups) & (_Rows(result, number).part == within))
        documents = np.maximum(groups.documents[rows], 1).astype(np.float64)
        members.append(starts[number] + rows)
        priors.append(documents / documents.sum())
        sizes.append(np.array([len(rows)]))
        of_document[(hidden == number) & (part == within)] = n_sets
        n_sets += 1
    if result.spec.words_choose_author:
        last = _Rows(result, len(levels) - 1)
        for d in range(new.n_documents):
            begin, end = new.author_offsets[d], new.author_offsets[d + 1]
            authors = ids.author[new.author_ids[begin:end]]
            rows = np.unique(last.find(_AUTHOR, authors, np.full(len(authors), part[d])))
            rows = rows[rows >= 0]
            if len(rows):
                members.append(rows)
                priors.append(np.full(len(rows), 1.0 / len(rows)))
                sizes.append(np.array([len(rows)]))
                of_document[d] = n_sets
                n_sets += 1
    sets = Sets(
        start=np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int64),
        node=np.concatenate(members).astype(np.int64),
        prior=np.concatenate(priors),
    )
    return NodePlacement(sets, of_document, hidden >= 0)
