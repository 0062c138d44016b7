"""New documents in the terms of a fitted model: its words, and citations to its documents."""

from typing import Any

import numpy as np
from scipy import sparse

from citeweave.corpus import Corpus
from citeweave.errors import ParameterError
from citeweave.model.unseen import translate

__all__ = ["as_links", "count_words", "mean_of_linked", "undirected"]


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


def undirected(corpus: Corpus) -> Any:
    """Give the citations as a symmetric csr_array [D, D] of counts, direction forgotten."""
    first, second = corpus.citations.astype(np.int64).T
    size = corpus.n_documents
    one_way: Any = sparse.csr_array((np.ones(len(first)), (first, second)), shape=(size, size))
    both = (one_way + one_way.T).tocsr()
    both.sum_duplicates()
    return both


def mean_of_linked(doc_topic: np.ndarray, links: np.ndarray, documents: int) -> np.ndarray:
    """Mean topics of the training documents that each new one is linked with [D_new, K].

    A document without links gets the mean over all training documents.
    """
    sums = np.zeros((documents, doc_topic.shape[1]))
    np.add.at(sums, links[:, 0], doc_topic[links[:, 1]])
    times = np.bincount(links[:, 0], minlength=documents)
    sums[times == 0] = doc_topic.mean(axis=0)
    return np.asarray(sums / np.maximum(times, 1)[:, None])
