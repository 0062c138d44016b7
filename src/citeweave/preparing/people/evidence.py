"""Evidence from papers with the same author name: co-authors, institutions, words, citations."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from scipy import sparse

__all__ = ["EvidenceWeights", "PaperFacts", "candidate_pairs", "pair_evidence"]

_CHUNK = 100_000


class EvidenceWeights(NamedTuple):
    """Weights of the kinds of evidence, in log-odds.

    Shared features count by their rarity, ``log(N / n)`` if n of N papers have them; the weights
    are factors of that, or fixed amounts.

    Attributes
    ----------
    coauthor : float
        Factor per shared co-author (family name and initial).
    most_coauthors : float
        Maximum total for co-authors.
    institution : float
        Factor per shared institution.
    citation : float
        Amount if one paper cites the other.
    reference : float
        Factor for the cosine similarity of their references within the corpus.
    words : float
        Factor for the cosine similarity of their words (TF-IDF), minus `usual_words`.
    usual_words : float
        Typical cosine similarity of two papers in the same field by different people.
    venue : float
        Factor for the same venue.
    year : float
        Amount per year between them beyond ten.
    """

    coauthor: float = 0.4
    most_coauthors: float = 6.0
    institution: float = 0.5
    citation: float = 4.0
    reference: float = 10.0
    words: float = 8.0
    usual_words: float = 0.06
    venue: float = 0.15
    year: float = -0.1


class PaperFacts(NamedTuple):
    """Facts about the papers, in sparse matrices with one row per paper (or mention).

    Attributes
    ----------
    coauthors : csr_array [D, blocks]
        1 if someone in the block is an author; rows are empty if there are too many authors.
    institutions : csr_array [S, institutions]
        One row per mention: the institutions of the author, or of the paper if nothing else is
        known.
    words : csr_array [D, V]
        Rows of length 1, or empty.
    citations : csr_array [D, D]
        1 if either cites the other.
    references : csr_array [D, D]
        Rows of length 1, or empty.
    venue, year : ndarray of int [D]
        -1 if unknown.
    """

    coauthors: sparse.csr_array
    institutions: sparse.csr_array
    words: sparse.csr_array
    citations: sparse.csr_array
    references: sparse.csr_array
    venue: np.ndarray
    year: np.ndarray


def rarity(matrix: sparse.csr_array) -> np.ndarray:
    """Return ``log(N / n)`` for each column that n of N rows have."""
    count = np.bincount(matrix.indices, minlength=matrix.shape[1])
    return np.log(max(matrix.shape[0], 1) / np.maximum(count, 1))


def candidate_pairs(
    block: np.ndarray,
    paper: np.ndarray,
    facts: PaperFacts,
    *,
    all_below: int = 40,
    window: int = 12,
) -> np.ndarray:
    """Choose the pairs of mentions in a block to compare.

    In small blocks all pairs are compared; otherwise neighbours among the mentions that share a
    co-author, an institution or a citation, and neighbours in the block. The number of pairs is
    proportional to the number of mentions and their features.

    Parameters
    ----------
    block, paper : ndarray of int [S]
        Block and paper of each mention.
    facts : PaperFacts
    all_below : int
        Blocks with at most this many mentions are compared completely.
    window : int
        Number of neighbours to compare per shared feature.

    Returns
    -------
    ndarray of int64 [P, 2]
        Unique pairs of mentions, the lower number first.
    """
    order = np.argsort(block, kind="stable")
    size = np.bincount(block)[block[order]]
    found = [_neighbours(block[order], order, all_below, chosen=size <= all_below)]
    large = order[size > all_below]
    if len(large):
        found.append(_neighbours(block[large], large, 1))
        for matrix, place in (
            (facts.coauthors, paper[large]),
            (facts.institutions, large),
            (facts.references, paper[large]),
        ):
            rows = matrix[place]
            mention = np.repeat(large, np.diff(rows.indptr))
            owner = np.repeat(block[large], np.diff(rows.indptr)).astype(np.int64)
            key = owner * matrix.shape[1] + rows.indices
            by_key = np.argsort(key, kind="stable")
            found.append(_neighbours(key[by_key], mention[by_key], window))
        found.append(_citing(block, paper, large, facts.citations))
    pairs = np.sort(np.concatenate(found), axis=1)
    pairs = pairs[pairs[:, 0] < pairs[:, 1]]
    return np.unique(pairs, axis=0)


def _neighbours(
    key: np.ndarray, item: np.ndarray, window: int, chosen: np.ndarray | None = None
) -> np.ndarray:
    """Pair each item with the next `window` items of the same key; keys are sorted."""
    found = []
    for step in range(1, window + 1):
        same = key[step:] == key[:-step]
        if chosen is not None:
            same &= chosen[step:]
        if not same.any():
            break
        at = np.flatnonzero(same)
        found.append(np.stack([item[at], item[at + step]], axis=1))
    return np.concatenate(found) if found else np.zeros((0, 2), dtype=np.int64)


def _citing(
    block: np.ndarray, paper: np.ndarray, large: np.ndarray, citations: sparse.csr_array
) -> np.ndarray:
    """Pair mentions in a block whose papers cite each other."""
    rows = citations[paper[large]]
    mention = np.repeat(large, np.diff(rows.indptr))
    n_papers = np.int64(citations.shape[0])
    key = block.astype(np.int64) * n_papers + paper
    order = np.argsort(key, kind="stable")
    wanted = block[mention].astype(np.int64) * n_papers + rows.indices
    place = np.minimum(np.searchsorted(key[order], wanted), len(order) - 1)
    hit = key[order][place] == wanted
    return np.stack([mention[hit], order[place[hit]]], axis=1)


def pair_evidence(
    pairs: np.ndarray,
    block: np.ndarray,
    paper: np.ndarray,
    facts: PaperFacts,
    weights: EvidenceWeights = EvidenceWeights(),  # noqa: B008 (immutable)
) -> np.ndarray:
    """Return the evidence for each pair of mentions, in log-odds.

    Parameters
    ----------
    pairs : ndarray of int [P, 2]
    block, paper : ndarray of int [S]
        Block and paper of each mention; the block itself does not count as a co-author.
    facts : PaperFacts
    weights : EvidenceWeights

    Returns
    -------
    ndarray of float64 [P]
    """
    evidence = np.zeros(len(pairs))
    rare_person, rare_place = rarity(facts.coauthors), rarity(facts.institutions)
    venues = np.bincount(facts.venue[facts.venue >= 0], minlength=1)
    rare_venue = np.log(max(len(facts.venue), 1) / np.maximum(venues, 1))
    for start in range(0, len(pairs), _CHUNK):
        part = pairs[start : start + _CHUNK]
        one, other = paper[part[:, 0]], paper[part[:, 1]]
        people = _shared(facts.coauthors, one, other, rare_person)
        own = (_entry(facts.coauthors, one, block[part[:, 0]])
               * _entry(facts.coauthors, other, block[part[:, 0]]))  # fmt: skip
        people -= own * rare_person[block[part[:, 0]]]
        total = np.minimum(weights.coauthor * people, weights.most_coauthors)
        total += weights.institution * _shared(
            facts.institutions, part[:, 0], part[:, 1], rare_place
        )
        total += weights.citation * _entry(facts.citations, one, other)
        total += weights.reference * _shared(facts.references, one, other)
        known = (np.diff(facts.words.indptr)[one] > 0) & (np.diff(facts.words.indptr)[other] > 0)
        likeness = _shared(facts.words, one, other) - weights.usual_words
        total += weights.words * np.where(known, likeness, 0.0)
        venue, year = facts.venue[one], facts.year[one]
        same = (venue >= 0) & (venue == facts.venue[other])
        total += weights.venue * np.where(same, rare_venue[np.maximum(venue, 0)], 0.0)
        between = np.abs(year - facts.year[other])
        dated = (year >= 0) & (facts.year[other] >= 0)
        total += weights.year * np.where(dated, np.maximum(between - 10, 0), 0)
        evidence[start : start + len(part)] = total
    return evidence


def _shared(
    matrix: sparse.csr_array, one: np.ndarray, other: np.ndarray, scale: np.ndarray | None = None
) -> np.ndarray:
    """Return the dot products of pairs of rows with scaled columns."""
    product = matrix[one].multiply(matrix[other]).tocsr()
    if scale is None:
        return np.asarray(product.sum(axis=1)).ravel()
    return np.asarray(product @ scale).ravel()


def _entry(matrix: sparse.csr_array, row: np.ndarray, column: np.ndarray) -> np.ndarray:
    return np.asarray(matrix[row, column]).ravel().astype(float)
