"""Words of documents, smoothed over citations: as factors, and along a few leading directions.

The rows of X are the documents' words by tf-idf, of length 1. Citations smooth them: with L the
normalised Laplacian of their graph (ignoring directions), T = I - L / 2 halves the differences
between neighbours, and a mean P of powers of T carries words several steps. Rows of P X are divided
by their lengths, Z = W P X.

That matrix is nearly dense and never formed: Z c and Z' m are products of sparse matrices with a
few columns. If many products are needed, Z is replaced by Z Q, with Q an orthonormal basis of its
leading directions. Sums are taken in the same order on every machine, whatever the number of
threads.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from citeweave.corpus import Corpus
from citeweave.model.smoothing import low_pass, normalised_graph, smooth_scales, tfidf
from citeweave.model.word_emphasis import emphasise

__all__ = ["SCALES", "EmbeddedWords", "SmoothedWords", "embed_words", "smooth_words"]

SCALES = (1, 2, 4, 8, 16, 32, 64)
"""Steps along citations that words are carried, near and far alike: no single number suits all
corpora, and the best one for a corpus cannot be found without labels."""
SKETCHED = 128
"""Columns of the random projection used to measure lengths."""
DIMENSIONS = 48
"""Columns of Q, unless more clusters are sought."""
_PASSES = 3
_ROUNDING = 1e-9
"""A remainder of a unit vector that is shorter than this counts as 0."""


class SmoothedWords(NamedTuple):
    """Z = W P X, as its factors."""

    words: Any
    """csr_array [D, V]: X."""
    graph: Any
    """csr_array [D, D]: T."""
    scales: tuple[int, ...]
    """The powers of T that P is the mean of; none without citations."""
    weight: np.ndarray
    """float64 [D]: 1 over the length of each row of P X, as measured by a random projection, or
    0."""

    def scores(self, centres: np.ndarray) -> np.ndarray:
        """Return Z c for some columns [V, n]."""
        return np.asarray(
            smooth_scales(self.graph, self.words @ centres, self.scales) * self.weight[:, None]
        )

    def sums(self, member: np.ndarray) -> np.ndarray:
        """Return Z' m for some columns [D, n]; P is symmetric."""
        carried = smooth_scales(self.graph, self.weight[:, None] * member, self.scales)
        return np.asarray(self.words.T @ carried)


class EmbeddedWords(NamedTuple):
    """Z Q, its rows of length 1, or 0 for documents without words."""

    rows: np.ndarray
    """float64 [D, dimensions]."""
    columns: np.ndarray
    """float64 [dimensions, D]: the same, transposed, since sums over the first axis are faster."""
    basis: np.ndarray
    """float64 [V, dimensions]: Q."""
    weight: np.ndarray
    """float64 [D]: 1 over the length of each row of Z Q, or 0."""

    def scores(self, centres: np.ndarray) -> np.ndarray:
        """Return the scores of documents by some columns [dimensions, n]."""
        return np.asarray(np.einsum("kr,rd->kd", np.ascontiguousarray(centres.T), self.columns).T)

    def sums(self, member: np.ndarray) -> np.ndarray:
        """Return sums of rows, weighted by some columns [D, n]."""
        return np.asarray(np.einsum("kd,dr->kr", np.ascontiguousarray(member.T), self.rows).T)


def smooth_words(
    corpus: Corpus,
    rng: np.random.Generator,
    scales: Sequence[int] = SCALES,
    *,
    emphasis: float = 0.0,
) -> tuple[SmoothedWords, np.ndarray]:
    """Prepare Z, and sketches of its rows [D, columns] of length 1.

    Words are multiplied by their autocorrelation along citations to the power ``emphasis``.
    """
    words = emphasise(tfidf(corpus), corpus, emphasis)
    graph = low_pass(normalised_graph(corpus, loops=False))
    steps = tuple(scales) if len(corpus.citations) else ()
    drawn = words @ rng.standard_normal((words.shape[1], SKETCHED))
    sketch = smooth_scales(graph, drawn, steps)
    length = np.sqrt(np.einsum("dr,dr->d", sketch, sketch) / SKETCHED)
    weight = np.divide(1.0, length, out=np.zeros_like(length), where=length > 0)
    sketch *= weight[:, None] / np.sqrt(SKETCHED)
    return SmoothedWords(words, graph, steps, weight), sketch


def embed_words(
    smoothed: SmoothedWords, rng: np.random.Generator, dimensions: int = DIMENSIONS
) -> EmbeddedWords:
    """Project documents onto the leading directions of Z, found by a few power iterations.

    Examples
    --------
    >>> corpus = Corpus.from_lists(tokens=[["sun", "moon"], ["sun", "star"], ["oak", "elm"]] * 4)
    >>> rng = np.random.default_rng(1)
    >>> found = embed_words(smooth_words(corpus, rng)[0], rng, 3)
    >>> found.rows.shape, abs(float((found.rows[0] @ found.rows[2]).round(6)))
    ((12, 3), 0.0)
    """
    documents, words = smoothed.words.shape
    basis = rng.standard_normal((words, min(dimensions, documents, words)))
    for _ in range(_PASSES):
        basis = _orthonormal(smoothed.sums(smoothed.scores(basis)))
    rows = smoothed.scores(basis)
    length = np.sqrt(np.einsum("dr,dr->d", rows, rows))
    # dividing, rather than multiplying by the inverse, keeps the draws of earlier runs
    long_enough = length > _ROUNDING
    unit = np.divide(rows, length[:, None], out=np.zeros_like(rows), where=long_enough[:, None])
    weight = np.divide(1.0, length, out=np.zeros_like(length), where=long_enough)
    return EmbeddedWords(unit, np.ascontiguousarray(unit.T), basis, weight)


def _orthonormal(columns: np.ndarray) -> np.ndarray:
    """Orthonormalise columns one by one, each twice because of rounding."""
    out = np.zeros_like(columns)
    for place, column in enumerate(columns.T):
        rest = column / max(_length(column), 1e-300)
        for _ in range(2):
            rest = rest - np.einsum("vr,r->v", out, np.einsum("vr,v->r", out, rest))
        left = _length(rest)
        out[:, place] = rest / left if left > _ROUNDING else 0.0
    return out


def _length(column: np.ndarray) -> float:
    return float(np.sqrt(np.einsum("v,v->", column, column)))
