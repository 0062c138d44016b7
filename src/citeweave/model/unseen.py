"""New documents in the terms of a fitted model: their words, authors, labels, groups and links."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from citeweave.corpus import Corpus
from citeweave.corpus.split import Links, Split
from citeweave.engines.core.spec import LATENT_CATEGORY
from citeweave.errors import ParameterError
from citeweave.foldin import Sets
from citeweave.model.groups import KINDS, Groups
from citeweave.model.results import Result

__all__ = [
    "NodePlacement",
    "Translation",
    "as_links",
    "category_columns",
    "category_priors",
    "columns_of",
    "common_unseen_words",
    "count_words",
    "find_links",
    "place_documents",
    "translate",
]

_AUTHOR, _CATEGORY, _UNKNOWN, _LATENT = range(len(KINDS))
_SHOWN_WORDS = 20


class Translation(NamedTuple):
    """Ids of a new corpus in those of the training corpus, -1 where there is none."""

    word: np.ndarray
    """int64 [words of the new vocabulary]."""
    author: np.ndarray
    """int64 [authors of the new table]; -1 also for one without a training document."""
    category: np.ndarray
    """int64 [categories of the new table]."""


class NodePlacement(NamedTuple):
    """Where new documents hang: each below one group of a set."""

    sets: Sets
    """Nodes by column: those of the last level first, then of the levels above, then the root."""
    of_document: np.ndarray
    """int64 [documents]: set of each document."""
    inferred: np.ndarray
    """bool [documents]: whether the set is all categories, the document's own being hidden."""


def translate(new: Corpus, train: Corpus) -> Translation:
    """Match words, authors and categories by their names; tables that are shared, by their ids."""
    shared = _root(new) is _root(train)
    word = _match(
        new, train, "vocabulary", (new.vocabulary_size, train.vocabulary_size), shared=shared
    )
    author = _match(new, train, "author_names", (new.n_authors, train.n_authors), shared=shared)
    wrote = np.zeros(train.n_authors + 1, dtype=bool)
    wrote[train.author_ids] = True
    author[~wrote[author]] = -1
    sizes = (new.n_categories, train.n_categories)
    return Translation(word, author, _match(new, train, "category_names", sizes, shared=shared))


def _root(corpus: Corpus) -> Any:
    """Store that the strings come from: parts of one corpus share it, and so their ids."""
    store: Any = corpus.text
    while (above := getattr(store, "_parent", None)) is not None:
        store = above
    return store


def _match(
    new: Corpus, train: Corpus, table: str, sizes: tuple[int, int], *, shared: bool
) -> np.ndarray:
    if shared or sizes[0] == 0:
        return np.arange(sizes[0], dtype=np.int64)
    names: Sequence[str] = getattr(new, table)
    known: Sequence[str] = getattr(train, table)
    if names == known:
        return np.arange(sizes[0], dtype=np.int64)
    place: dict[str, int] = {}
    for i, name in enumerate(known):
        place.setdefault(name, i)
    return np.array([place.get(name, -1) for name in names], dtype=np.int64)


def count_words(new: Corpus, train: Corpus | None = None) -> Any:
    """Count words by document, a sparse csr_array [D_new, V] over the words of `train`.

    Words are matched by spelling; those that the training corpus lacks are left out.
    """
    words = new.tokens if train is None else translate(new, train).word[new.tokens]
    kept = words >= 0
    documents = np.repeat(np.arange(new.n_documents), new.lengths)[kept]
    size = new.vocabulary_size if train is None else train.vocabulary_size
    counts: Any = sparse.csr_array(
        (np.ones(len(documents)), (documents, words[kept])), shape=(new.n_documents, size)
    )
    counts.sum_duplicates()
    return counts


def common_unseen_words(new: Corpus, unknown: np.ndarray) -> list[tuple[str, int]]:
    """Return the most frequent of the words that the model does not know, with their counts."""
    if not unknown.any():
        return []
    words, counts = np.unique(new.tokens[unknown], return_counts=True)
    names = new.vocabulary
    found = Counter({names[w]: int(n) for w, n in zip(words.tolist(), counts, strict=True)})
    return sorted(found.items(), key=lambda item: (-item[1], item[0]))[:_SHOWN_WORDS]


def find_links(links: Any, new: Corpus, train: Corpus, *, both: bool) -> tuple[np.ndarray, int]:
    """Find the citations between new and training documents.

    Parameters
    ----------
    links : Split, Links, array of int of shape (n, 2), pairs of ids, or None
        Rows (new document, training document). None: citations of ``new`` whose cited document
        has the id of a training document.
    both : bool
        Count the citations of new by training documents too, where ``links`` tells them apart.

    Returns
    -------
    pairs : ndarray of int64, shape (n, 2)
    ignored : int
        Citations of ``new`` that lead to no training document.
    """
    if isinstance(links, Split):
        links = links.links
    if isinstance(links, Links):
        parts = [links.citing, links.cited] if both else [links.citing]
        pairs = np.concatenate(parts).astype(np.int64)
        return _checked(pairs, new, train), new.n_citations
    if links is None:
        return _links_by_id(new, train)
    rows = list(links) if not isinstance(links, np.ndarray) else links
    if len(rows) and not isinstance(rows, np.ndarray) and isinstance(rows[0][0], str):
        return _named_links(rows, new, train), new.n_citations
    pairs = np.asarray(rows)
    if pairs.size == 0:
        pairs = np.zeros((0, 2), np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        raise ParameterError(
            "'links' must be a Split, its Links, or pairs (new document, training document) of "
            f"positions or of ids. Got an array of shape {pairs.shape} and type {pairs.dtype}."
        )
    return _checked(pairs.astype(np.int64), new, train), new.n_citations


def _checked(pairs: np.ndarray, new: Corpus, train: Corpus) -> np.ndarray:
    for column, (size, what) in enumerate(
        ((new.n_documents, "new"), (train.n_documents, "training"))
    ):
        wrong = (pairs[:, column] < 0) | (pairs[:, column] >= size)
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            raise ParameterError(
                f"'links' must hold positions of {what} documents from 0 to {size - 1} in column "
                f"{column}. Got {pairs[row].tolist()} in row {row}; were the documents split "
                "otherwise when the model was fitted?"
            )
    return np.unique(pairs, axis=0)


def _named_links(rows: Sequence[Any], new: Corpus, train: Corpus) -> np.ndarray:
    places = tuple({name: i for i, name in enumerate(corpus.ids)} for corpus in (new, train))
    pairs = np.zeros((len(rows), 2), np.int64)
    for row, pair in enumerate(rows):
        for column, what in enumerate(("new", "training")):
            place = places[column].get(pair[column], -1)
            if place < 0:
                raise ParameterError(
                    f"'links' must hold ids of documents. Got {tuple(pair)!r} in row {row}, and "
                    f"there is no {what} document with the id {pair[column]!r}."
                )
            pairs[row, column] = place
    return np.unique(pairs, axis=0)


def _links_by_id(new: Corpus, train: Corpus) -> tuple[np.ndarray, int]:
    """Resolve citations whose cited document is a training document too, by its id."""
    none = np.zeros((0, 2), np.int64)
    if new.n_citations == 0:
        return none, 0
    ids = new.ids
    if all(name == str(i) for i, name in enumerate(ids)):  # made up: they say nothing
        return none, new.n_citations
    place = {name: i for i, name in enumerate(train.ids)}
    known = np.array([place.get(name, -1) for name in ids], np.int64)
    target = known[new.citations[:, 1]]
    found = target >= 0
    pairs = np.stack([new.citations[found, 0].astype(np.int64), target[found]], axis=1)
    return np.unique(pairs, axis=0), new.n_citations - int(np.count_nonzero(found))


def as_links(links: Any, new: Corpus, train: Corpus) -> np.ndarray:
    """Check citations (new document, training document); None stands for none at all."""
    if links is None:
        return np.empty((0, 2), dtype=np.int64)
    array = np.asarray(links)
    if array.ndim != 2 or array.shape[1:] != (2,) or array.dtype.kind not in "iu":
        raise ParameterError(
            "'links' must be an integer array of shape (n, 2), rows (new document, training "
            f"document). Got shape {array.shape} and type {array.dtype} instead."
        )
    sizes = np.array([new.n_documents, train.n_documents])
    wrong = ((array < 0) | (array >= sizes)).any(axis=1)
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise ParameterError(
            f"'links' must hold positions below {sizes[0]} (new) and {sizes[1]} (training). "
            f"Got {array[row].tolist()} in row {row} instead."
        )
    return array.astype(np.int64)


def columns_of(levels: Sequence[Groups]) -> list[int]:
    """First column of each level (upper first) among the columns of a `NodePlacement`."""
    starts = [0] * len(levels)
    total = 0
    for number in range(len(levels) - 1, -1, -1):
        starts[number] = total
        total += len(levels[number])
    return [*starts, total]


def place_documents(result: Result, new: Corpus, ids: Translation, *, labels: str) -> NodePlacement:
    """Find the group of each new document, or the groups that it may belong to.

    From the last level upwards: the author's node where there is one; else the category's
    (``labels="seen"``) or any category's by their number of documents (``"hidden"``); the shared
    group of unknown documents as in training; at last the root.
    """
    levels = list(result.levels.values())
    starts = columns_of(levels)
    root = starts[-1]
    author = np.append(ids.author, -1)[new.first_authors]
    category = np.append(ids.category, -1)[new.categories]
    unlabelled = new.categories < 0
    if labels == "hidden":  # not read from here on
        category = np.full(new.n_documents, -1, np.int64)
        unlabelled = np.ones(new.n_documents, dtype=bool)
    node = np.full(new.n_documents, -1, np.int64)
    hidden = np.full(new.n_documents, -1, np.int64)
    for number in range(len(levels) - 1, -1, -1):
        groups, kind = levels[number], result.spec.topic_side[number + 1].nodes
        start = starts[number]
        if kind in {"author", "group"}:
            left = (node < 0) & (hidden < 0)
            node[left] = _rows(groups, _AUTHOR, start, author[left], result.corpus.n_authors)
        left = (node < 0) & (hidden < 0)
        has_categories = bool(_are_categories(groups).any())
        if has_categories and labels == "hidden":
            hidden[left] = number
        elif has_categories:
            size = result.corpus.n_categories
            node[left] = _rows(groups, _CATEGORY, start, category[left], size)
            if kind == LATENT_CATEGORY:
                hidden[left & (node < 0)] = number
        by_author = kind == "author" or (kind == "group" and result.plan.eta == 0)
        nobody = new.first_authors < 0 if by_author else unlabelled
        shared = np.flatnonzero((groups.kind == _UNKNOWN) & (groups.label < 0))
        if len(shared):
            node[(node < 0) & (hidden < 0) & nobody] = start + int(shared[0])
    node[(node < 0) & (hidden < 0)] = root
    return _make_sets(result, new, ids, node, hidden)


def _are_categories(groups: Groups) -> np.ndarray:
    """Say which nodes are categories, named by a label or latent."""
    return np.isin(groups.kind, (_CATEGORY, _LATENT))


def category_columns(levels: Sequence[Groups]) -> tuple[np.ndarray, np.ndarray]:
    """Columns and labels of the categories on the lowest level that has any."""
    starts = columns_of(levels)
    for number in range(len(levels) - 1, -1, -1):
        rows = np.flatnonzero(levels[number].kind == _CATEGORY)
        if len(rows):
            return starts[number] + rows, levels[number].label[rows].astype(np.int64)
    return np.zeros(0, np.int64), np.zeros(0, np.int64)


def category_priors(train: Corpus, author: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Prior of categories of documents by their first authors (-1: none known).

    The categories of the author's training documents, and one document's worth of all the
    training documents'.

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


def _rows(groups: Groups, kind: int, start: int, label: np.ndarray, size: int) -> np.ndarray:
    rows = np.full(size + 1, -1, np.int64)
    chosen = np.flatnonzero(groups.kind == kind)
    rows[groups.label[chosen]] = start + chosen
    found: np.ndarray = rows[label]
    return found


def _make_sets(
    result: Result, new: Corpus, ids: Translation, node: np.ndarray, hidden: np.ndarray
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
    for number in np.unique(hidden[hidden >= 0]).tolist():
        groups = levels[number]
        rows = np.flatnonzero(_are_categories(groups))
        documents = np.maximum(groups.documents[rows], 1).astype(np.float64)
        members.append(starts[number] + rows)
        priors.append(documents / documents.sum())
        sizes.append(np.array([len(rows)]))
        of_document[hidden == number] = n_sets
        n_sets += 1
    if result.spec.words_choose_author:
        table = _rows(
            levels[-1], _AUTHOR, starts[-2], np.append(ids.author, -1), result.corpus.n_authors
        )
        for d in range(new.n_documents):
            begin, end = new.author_offsets[d], new.author_offsets[d + 1]
            rows = np.unique(table[new.author_ids[begin:end]])
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
