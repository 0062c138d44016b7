"""Citations as models to compare with read them: without direction, or as means over neighbours."""

from typing import Any

import numpy as np
from scipy import sparse

from citeweave.corpus import Corpus

__all__ = ["mean_of_linked", "undirected"]


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
