"""Facts about papers for author disambiguation, as sparse matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from citeweave.preparing.people.evidence import PaperFacts, rarity

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["MOST_COAUTHORS", "MOST_WORDS", "gather_facts"]

MOST_COAUTHORS = 100
"""Co-authors are ignored for papers with more authors than this."""

MOST_WORDS = 30
"""Number of words per paper to compare: those frequent in it and rare elsewhere."""


def gather_facts(
    *,
    paper: np.ndarray,
    block: np.ndarray,
    institutions: tuple[np.ndarray, np.ndarray],
    tokens: np.ndarray,
    offsets: np.ndarray,
    citations: np.ndarray,
    venues: Sequence[str | None],
    years: Sequence[int | None],
) -> PaperFacts:
    """Collect the facts about papers.

    Parameters
    ----------
    paper, block : ndarray of int [S]
        Paper and name block of each author mention.
    institutions : pair of ndarray of int
        Parallel arrays of mentions and their institutions.
    tokens, offsets : ndarray of int
        Words of the papers: paper d has ``tokens[offsets[d]:offsets[d + 1]]``.
    citations : ndarray of int [C, 2]
        Citing and cited papers.
    venues, years : sequence [D]
        None if unknown.
    """
    n_papers = len(offsets) - 1
    team = np.bincount(paper, minlength=n_papers)
    few = team[paper] <= MOST_COAUTHORS
    n_blocks = int(block.max()) + 1 if len(block) else 1
    citing, cited = citations[:, 0], citations[:, 1]
    number = {name: i for i, name in enumerate(dict.fromkeys(filter(None, venues)))}
    words = int(tokens.max()) + 1 if len(tokens) else 1
    n_places = int(institutions[1].max()) + 1 if len(institutions[1]) else 1
    return PaperFacts(
        coauthors=_ones(paper[few], block[few], (n_papers, n_blocks)),
        institutions=_ones(*institutions, (len(paper), n_places)),
        words=_unit(_most_telling(_tf_idf(tokens, offsets, words))),
        citations=_ones(
            np.concatenate([citing, cited]), np.concatenate([cited, citing]), (n_papers, n_papers)
        ),
        references=_unit(_weighted(_ones(citing, cited, (n_papers, n_papers)))),
        venue=np.array([number.get(name or "", -1) for name in venues], dtype=np.int64),
        year=np.array([-1 if year is None else year for year in years], dtype=np.int64),
    )


def _ones(row: np.ndarray, column: np.ndarray, shape: tuple[int, int]) -> sparse.csr_array:
    made = sparse.csr_array((np.ones(len(row), dtype=np.float32), (row, column)), shape=shape)
    made.sum_duplicates()
    made.data[:] = 1.0
    return made


def _tf_idf(tokens: np.ndarray, offsets: np.ndarray, words: int) -> sparse.csr_array:
    paper = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    shape = (len(offsets) - 1, words)
    counts = sparse.csr_array(
        (np.ones(len(tokens), dtype=np.float32), (paper, tokens)), shape=shape
    )
    counts.sum_duplicates()
    counts.data = 1 + np.log(counts.data)
    return _weighted(counts)


def _most_telling(matrix: sparse.csr_array) -> sparse.csr_array:
    """Keep the `MOST_WORDS` largest entries of each row."""
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    order = np.lexsort((matrix.indices, -matrix.data, row))
    rank = np.arange(len(order)) - matrix.indptr[:-1][row]
    kept = np.sort(order[rank < MOST_WORDS])
    return sparse.csr_array((matrix.data[kept], (row[kept], matrix.indices[kept])), matrix.shape)


def _weighted(matrix: sparse.csr_array) -> sparse.csr_array:
    """Multiply each column by its rarity."""
    matrix.data = (matrix.data * rarity(matrix)[matrix.indices]).astype(np.float32)
    return matrix


def _unit(matrix: sparse.csr_array) -> sparse.csr_array:
    """Scale rows to length 1."""
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    length = np.sqrt(np.bincount(row, weights=matrix.data**2, minlength=matrix.shape[0]))
    matrix.data = (matrix.data / np.maximum(length, 1e-12)[row]).astype(np.float32)
    return matrix
