"""Recover word counts from TF-IDF values (the paper's appendix:recovering_from_tfidf).

A value is t = f i, where f = c / n is the share of a word in its document and i the inverse
document frequency log(N / df). The paper takes N and df from the data, which is wrong if the
weights were computed on a larger corpus. Here the weights are first determined from the documents
themselves: the shares of each document sum to 1, which is a linear system in 1/i. If that fails,
scikit-learn's formulas are tried in addition to the paper's: i = log((1 + N) / (1 + df)) + 1, or
log(N / df) + 1 without smoothing, each document scaled to length 1 or not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import lsqr

from citeweave.errors import CorpusError

__all__ = ["Recovered", "counts_from_tfidf"]

Method = Literal["constraint", "formula", "smoothed formula", "formula plus one"]

_MOST_COUNT = 2.0**53
_TOLERANCE = 1e-3  # maximum distance from an integer that counts as one
_MULTIPLES = 12  # maximum count of the rarest word in a document


@dataclass(frozen=True, slots=True)
class Recovered:
    """Counts recovered from TF-IDF values.

    Attributes
    ----------
    counts : ndarray of int64
        One count per value.
    method : {"constraint", "formula", "smoothed formula", "formula plus one"}
        Whether the weights came from the constraint on the documents, from the paper's formula
        applied to these documents, or from scikit-learn's formulas with and without smoothing.
    n_documents : int
        N of the weights: the size of the corpus on which they were computed.
    largest_error : float
        Largest distance of a count from an integer before rounding.
    off : int
        Number of documents with a count further than 1e-3 from an integer.
    """

    counts: np.ndarray
    method: Method
    n_documents: int
    largest_error: float
    off: int


def counts_from_tfidf(
    values: np.ndarray, words: np.ndarray, offsets: np.ndarray, n_words: int
) -> Recovered:
    """Recover word counts.

    Parameters
    ----------
    values, words
        Positive TF-IDF values, and the word of each.
    offsets
        Document d has the values ``offsets[d]`` to ``offsets[d + 1]``.
    n_words
        Number of words.
    """
    values = np.asarray(values, dtype=np.float64)
    if len(values) and not (np.isfinite(values).all() and values.min() > 0):
        raise CorpusError(
            f"TF-IDF values must be positive and finite, but there is {float(values.min())!r} "
            "among them. Omit the words that a document lacks."
        )
    n_documents = int(np.count_nonzero(np.diff(offsets)))
    frequency = np.bincount(words, minlength=n_words).astype(np.float64)
    weights = _weights_by_constraint(values, words, offsets, frequency)
    constrained = None
    if weights is not None:
        idf, size = weights
        constrained = _round(values / idf[words], offsets, "constraint", size)
        if constrained.off == 0:
            return constrained
    best = constrained
    # scikit-learn also counts documents without words
    for size in dict.fromkeys((n_documents, len(offsets) - 1)):
        for method, idf in _formulas(frequency, size).items():
            if best is None or best.off:
                found = _round(values / idf[words], offsets, method, size)
                best = found if best is None or found.off < best.off else best
    assert best is not None  # noqa: S101 (there is always a formula)
    return best


def _formulas(frequency: np.ndarray, size: int) -> dict[Method, np.ndarray]:
    """Yield the weights of words by each formula, for the given number of documents."""
    seen = np.maximum(frequency, 1.0)
    plain = np.log(max(size, 1) / seen)
    plus_one = plain + 1.0
    # A word that occurs in every document has weight 0, so there is no value to recover.
    plain = np.where(plain > 0, plain, np.log(max(size, 2) / max(size - 0.5, 1.0)))
    return {
        "formula": plain,
        "smoothed formula": np.log((1.0 + size) / (1.0 + seen)) + 1.0,
        "formula plus one": plus_one,
    }


def _weights_by_constraint(
    values: np.ndarray, words: np.ndarray, offsets: np.ndarray, frequency: np.ndarray
) -> tuple[np.ndarray, int] | None:
    """Find idf and N such that the shares of every document sum to 1; None if impossible."""
    documents = len(offsets) - 1
    used = np.flatnonzero(frequency)
    filled = np.flatnonzero(np.diff(offsets))
    if len(filled) < len(used) or len(used) == 0:
        return None  # fewer equations than weights
    matrix = sp.csr_matrix((values, words, offsets), shape=(documents, len(frequency)))
    matrix = matrix[filled][:, used]
    if len(used) <= 4000:
        gram = (matrix.T @ matrix).toarray()
        right = np.asarray(matrix.T @ np.ones(len(filled)))
        try:
            inverse = np.linalg.solve(gram, right)
            # Repeat on the residual, because the normal equations square the condition number.
            inverse += np.linalg.solve(gram, matrix.T @ (1.0 - matrix @ inverse))
        except np.linalg.LinAlgError:
            return None
    else:
        inverse = lsqr(matrix, np.ones(len(filled)), atol=1e-14, btol=1e-14)[0]
    residual = float(np.abs(matrix @ inverse - 1.0).max())
    if inverse.min() <= 0 or residual > 1e-4:
        return None
    found = np.ones(len(frequency))
    found[used] = 1.0 / inverse
    size = _corpus_size(found[used], frequency[used], len(filled))
    if size is not None:
        # Document frequencies are integers, so the weights are exact once N is known.
        found[used] = np.log(size / np.round(size * np.exp(-found[used])))
        return found, size
    return found, len(filled)


def _corpus_size(idf: np.ndarray, frequency: np.ndarray, documents: int) -> int | None:
    """Find the N for which N exp(-idf) is an integer of at least df for every word."""
    largest = 3 * documents + 1
    if idf.max() > np.log(largest):
        return None
    shares = np.exp(-idf)
    lowest = max(documents, int(np.ceil((frequency / shares).max() - 0.5)))
    best, best_error = None, 0.05
    for start in range(lowest, largest + 1, 1024):
        sizes = np.arange(start, min(start + 1024, largest + 1))
        frequencies = sizes[:, None] * shares[None, :]
        whole = np.round(frequencies)
        error = np.abs(frequencies - whole).max(axis=1)
        # A word that occurs in no document, or in all, would have no weight.
        error[((whole < 1) | (whole >= sizes[:, None])).any(axis=1)] = np.inf
        at = int(error.argmin())
        # A multiple of N fits equally well, so a larger one must be clearly better.
        if error[at] < 0.5 * best_error:
            best, best_error = int(sizes[at]), float(error[at])
    return best


def _round(shares: np.ndarray, offsets: np.ndarray, method: Method, size: int) -> Recovered:
    """Scale the shares of each document so that the rarest word occurs once, and round.

    If that leaves fractions, the rarest word may occur twice, three times and so on; the first
    number that makes all counts integers is used, or else one, as in the paper.
    """
    lengths = np.diff(offsets)
    filled = np.flatnonzero(lengths)
    starts = offsets[filled]
    if len(filled) == 0:
        return Recovered(np.zeros(0, dtype=np.int64), method, size, 0.0, 0)
    owner = np.repeat(np.arange(len(filled)), lengths[filled])
    base = shares / np.minimum.reduceat(shares, starts)[owner]
    exact, open_ = base, np.ones(len(filled), dtype=bool)
    for multiple in range(1, _MULTIPLES + 1):
        scaled = base * multiple
        error = np.maximum.reduceat(np.abs(scaled - np.round(scaled)), starts)
        settled = open_ & (error <= _TOLERANCE)
        exact = np.where(settled[owner], scaled, exact)
        open_ &= ~settled
        if not open_.any():
            break
    # beyond the exact integers of a float, nothing was recovered; the error then shows it
    counts = np.clip(np.round(exact), 1.0, _MOST_COUNT)
    largest = float(np.abs(exact - counts).max())
    return Recovered(counts.astype(np.int64), method, size, largest, int(open_.sum()))
