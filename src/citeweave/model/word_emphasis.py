"""Emphasis on words that go along with citations.

Papers that cite each other share the words of their subject more than those of their style. The
autocorrelation of a word along citations measures it: with x_d the weight of the word in paper d,

    rho = (mean of x_i x_j over linked pairs - m^2) / v,

m and v the mean and the variance of x, in which a paper counts once for each of its links. A word
in few linked papers says little about itself, so rho is shrunk towards the mean of all words.

Multiplying words by a power of rho brings out subjects, but how high the power should be differs
between corpora and cannot be found without labels. Initial categories therefore come from runs with
different powers (`citeweave.model.clusters`).
"""

from typing import Any

import numpy as np
from scipy import sparse

from citeweave.corpus import Corpus
from citeweave.model.smoothing import neighbours

__all__ = ["autocorrelation", "emphasise"]

PRIOR_LINKS = 20.0
"""A word whose papers have this many links is halfway between its own rho and the mean."""
_NO_VARIANCE = 1e-12


def autocorrelation(words: Any, corpus: Corpus) -> np.ndarray:
    """Return rho of each word, shrunk, and 0 where it would be negative.

    Parameters
    ----------
    words : csr_array, shape (D, V)
        Weights of words in documents.
    corpus : Corpus
        Their citations; at least one must link two documents.

    Returns
    -------
    ndarray, shape (V,)

    Examples
    --------
    Documents that cite each other share "sun" or "oak"; any may have "the":

    >>> corpus = Corpus.from_lists(
    ...     tokens=[["sun", "the"], ["sun"], ["oak", "the"], ["oak"]] * 10,
    ...     citations=[(d, d - 1) for d in range(1, 40, 2)],
    ... )
    >>> words = sparse.csr_array(np.array([[1, 1, 0], [1, 0, 0], [0, 1, 1], [0, 0, 1]] * 10) * 1.0)
    >>> autocorrelation(words, corpus).round(1).tolist()
    [0.7, 0.0, 0.7]
    """
    ends = neighbours(corpus)
    degree = np.bincount(ends[0], minlength=corpus.n_documents).astype(np.float64)
    every = degree.sum()
    graph = sparse.csr_array((np.ones(ends.shape[1]), tuple(ends)), shape=(len(degree),) * 2)
    squared = words.multiply(words)
    mean = words.T @ degree / every
    variance = np.maximum(squared.T @ degree / every - mean**2, _NO_VARIANCE)
    together = np.asarray(words.multiply(graph @ words).sum(axis=0)).ravel() / every
    own = (together - mean**2) / variance
    held = words.copy()
    held.data = np.ones_like(held.data)
    links = held.T @ degree
    common = links @ own / max(links.sum(), 1.0)
    return np.asarray(np.maximum((links * own + PRIOR_LINKS * common) / (links + PRIOR_LINKS), 0.0))


def emphasise(words: Any, corpus: Corpus, power: float) -> Any:
    """Multiply words by a power of their autocorrelation; unchanged without links.

    Parameters
    ----------
    words : csr_array, shape (D, V)
    corpus : Corpus
    power : float
        0 leaves words as they are.
    """
    if power == 0.0 or neighbours(corpus).shape[1] == 0:
        return words
    weights = autocorrelation(words, corpus) ** power
    if not weights.any():
        return words
    out = words.copy()
    out.data = out.data * weights[out.indices]
    return out
