"""Words of documents by tf-idf, and the normalised graph of citations that smooths them.

With A the links of documents (ignoring direction and repetition) and D their degrees, S = D^-1/2 A
D^-1/2 averages over neighbours and I - L / 2 = (I + S) / 2, with L = I - S the Laplacian, halves
the differences between them. Smoothed words themselves are rarely needed: scores of documents are S
(X c), sparse matrices times a few columns.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from citeweave.corpus import Corpus
from citeweave.model.unseen import count_words

__all__ = [
    "low_pass",
    "neighbours",
    "normalised_graph",
    "smooth",
    "smooth_new",
    "smooth_scales",
    "tfidf",
]


def tfidf(corpus: Corpus, train: Corpus | None = None) -> Any:
    """Weight words by (1 + log tf) log((1 + D) / (1 + df)); rows have length 1, or 0.

    Parameters
    ----------
    corpus : Corpus
    train : Corpus, optional
        Corpus in which D and df are counted, by default the corpus itself; words are matched by
        spelling.

    Returns
    -------
    csr_array, shape (documents, words)

    Examples
    --------
    >>> corpus = Corpus.from_lists(tokens=[["sun", "moon"], ["sun", "sun", "oak"]])
    >>> tfidf(corpus).toarray().round(3).tolist()  # both documents have the sun
    [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    counts = count_words(corpus, train)
    base = counts if train is None else count_words(train)
    documents, words = base.shape
    held = np.bincount(base.indices, minlength=words)
    counts.data = 1.0 + np.log(counts.data)
    counts.data *= np.log((1.0 + documents) / (1.0 + held))[counts.indices]
    rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    length = np.sqrt(np.bincount(rows, counts.data**2, minlength=counts.shape[0]))
    counts.data /= np.maximum(length, 1e-300)[rows]
    return counts


def neighbours(corpus: Corpus) -> np.ndarray:
    """Return the linked pairs, each once per direction, without self-links [2, links]."""
    citing, cited = corpus.citations.astype(np.int64).T
    ends = np.stack([np.concatenate([citing, cited]), np.concatenate([cited, citing])])
    return np.unique(ends[:, ends[0] != ends[1]], axis=1)


def normalised_graph(corpus: Corpus, *, loops: bool) -> Any:
    """Compute S = D^-1/2 A D^-1/2 from the citations, a csr_array [D, D].

    Parameters
    ----------
    corpus : Corpus
    loops : bool
        Whether each document is also its own neighbour, as in graph convolutions. Otherwise the row
        of a document without citations is 0.
    """
    n = corpus.n_documents
    ends = neighbours(corpus)
    degree = np.bincount(ends[0], minlength=n) + float(loops)
    if loops:
        ends = np.concatenate([ends, np.tile(np.arange(n), (2, 1))], axis=1)
    values = 1.0 / np.sqrt(degree[ends[0]] * degree[ends[1]])
    return sparse.csr_array(sparse.coo_array((values, tuple(ends)), shape=(n, n)))


def low_pass(graph: Any) -> Any:
    """Return I - L / 2 = (I + S) / 2 of a normalised graph S."""
    return (graph + sparse.eye_array(graph.shape[0], format="csr")) * 0.5


def smooth(graph: Any, columns: np.ndarray, steps: int) -> np.ndarray:
    """Apply a graph to columns [D, n] a number of times."""
    for _ in range(steps):
        columns = graph @ columns
    return columns


def smooth_scales(graph: Any, columns: Any, scales: Sequence[int]) -> Any:
    """Return the mean over ``scales`` of columns to which a graph was applied that many times.

    Parameters
    ----------
    graph : csr_array, shape (D, D)
    columns : ndarray or sparse array, shape (D, n)
    scales : sequence of int
        Increasing numbers of steps; if empty, columns are unchanged.

    Examples
    --------
    >>> graph = sparse.csr_array([[0.0, 1.0], [1.0, 0.0]])
    >>> smooth_scales(graph, np.array([[4.0], [0.0]]), (0, 2, 3)).ravel().round(2).tolist()
    [2.67, 1.33]
    """
    total, done = None, 0
    for steps in scales:
        columns = smooth(graph, columns, steps - done)
        done = steps
        total = columns if total is None else total + columns
    return columns if total is None else total / len(scales)


def smooth_new(
    train: Corpus,
    columns: np.ndarray,
    new: np.ndarray,
    links: np.ndarray,
    steps: int,
    *,
    half: bool,
) -> np.ndarray:
    """Smooth columns of new documents linked to training documents, which stay unchanged.

    Parameters
    ----------
    train : Corpus
    columns : ndarray, shape (D, n)
        Columns of the training documents, not yet smoothed.
    new : ndarray, shape (D_new, n)
        Columns of the new documents.
    links : ndarray of int, shape (m, 2)
        Rows (new document, training document).
    steps : int
    half : bool
        Whether steps are those of `low_pass` rather than of the graph itself, with loops in either
        case.

    Returns
    -------
    ndarray, shape (D_new, n)
    """
    graph = normalised_graph(train, loops=True)
    pairs = np.unique(links, axis=0)
    degree = np.bincount(neighbours(train)[0], minlength=train.n_documents) + 1.0
    own = np.bincount(pairs[:, 0], minlength=len(new)) + 1.0
    values = 1.0 / np.sqrt(own[pairs[:, 0]] * degree[pairs[:, 1]])
    shape = (len(new), train.n_documents)
    bridge = sparse.csr_array(sparse.coo_array((values, tuple(pairs.T)), shape=shape))
    for _ in range(steps):
        further = new / own[:, None] + bridge @ columns
        ahead = graph @ columns
        new, columns = ((new + further) / 2, (columns + ahead) / 2) if half else (further, ahead)
    return new
