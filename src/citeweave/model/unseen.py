"""New documents in the terms of a fitted model: their words, authors, labels and links."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from citeweave.corpus import Corpus
from citeweave.corpus.split import Links, Split
from citeweave.errors import ParameterError

__all__ = [
    "Translation",
    "as_links",
    "common_unseen_words",
    "count_words",
    "find_links",
    "translate",
]

_SHOWN_WORDS = 20


class Translation(NamedTuple):
    """Ids of a new corpus translated to those of the training corpus, -1 if there is none."""

    word: np.ndarray
    """int64 [words of the new vocabulary]."""
    author: np.ndarray
    """int64 [authors of the new table]; -1 also for one without a training document."""
    category: np.ndarray
    """int64 [categories of the new table]."""


def translate(new: Corpus, train: Corpus) -> Translation:
    """Match words, authors and categories by name, or by id if the tables are shared."""
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
    """Store of the strings: parts of one corpus share it, and hence their ids."""
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
        Also count citations from training to new documents, if ``links`` distinguishes them.

    Returns
    -------
    pairs : ndarray of int64, shape (n, 2)
    ignored : int
        Citations of ``new`` that do not lead to a training document.
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
                "differently when the model was fitted?"
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
    """Resolve citations to training documents by id."""
    none = np.zeros((0, 2), np.int64)
    if new.n_citations == 0:
        return none, 0
    ids = new.ids
    if all(name == str(i) for i, name in enumerate(ids)):  # made up, so they identify nothing
        return none, new.n_citations
    place = {name: i for i, name in enumerate(train.ids)}
    known = np.array([place.get(name, -1) for name in ids], np.int64)
    target = known[new.citations[:, 1]]
    found = target >= 0
    pairs = np.stack([new.citations[found, 0].astype(np.int64), target[found]], axis=1)
    return np.unique(pairs, axis=0), new.n_citations - int(np.count_nonzero(found))


def as_links(links: Any, new: Corpus, train: Corpus) -> np.ndarray:
    """Check citations (new document, training document); None means there are none."""
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
