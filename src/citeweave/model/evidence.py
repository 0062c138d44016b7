"""What words, citations and authors say of papers' categories, each made without some labels.

The labels that are given are dealt out to parts. Evidence is made once for each part, from the
labels of the other parts alone: what it says of the part's own papers is then honest, and shows how
far it can be trusted. `citeweave.model.read_out` weighs it.

    regression   r_dc = (P X W)_dc / |.| + b_c  words carried near and far along citations
    likeness     l_dc = (T^4 X M)_dc / |.|      cosine with the centre of the cluster around c
    authors      a_dc = log of the mean probability of c in other papers of the same authors

X are words by tf-idf, T smooths them one step over citations and P is the mean of its powers 1, 2,
4, ... 64 (`citeweave.model.embedding`). W and b are those of a multinomial logistic regression, M
the centres of k-means around the labels. All are centred over the categories.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from citeweave.corpus import Corpus
from citeweave.model.clusters import SMOOTHING, grow_clusters
from citeweave.model.embedding import SmoothedWords, smooth_words
from citeweave.model.logistic import (
    Regression,
    choose_penalty,
    draw_folds,
    fit_regression,
    to_row_space,
)

__all__ = [
    "Evidence",
    "LeftOutPart",
    "author_evidence",
    "can_tell",
    "centred",
    "make_evidence",
    "shared_authors",
]

PARTS = 5
FEWEST = 2
"""Labels that every category must have: one that is left out, and one that is not."""
MOST_TEACHERS = 1000
"""Labelled papers that the regression is fitted to: so many rows of smoothed words are dense."""


class LeftOutPart(NamedTuple):
    """Evidence that was made without the labels of one part."""

    scores: np.ndarray
    """float64 [D, C, 2]: regression and likeness."""
    fitted: Regression
    centres: np.ndarray
    """float64 [V, C]: M."""


class Evidence(NamedTuple):
    """What words and citations say of categories, by part."""

    known: np.ndarray
    """int64 [D]: the labels that are given, -1 for papers without."""
    part: np.ndarray
    """int64 [D]: the part that a label is dealt out to, -1 for papers without."""
    parts: list[LeftOutPart]
    lengths: np.ndarray
    """float64 [D]: 1 / |.|, what a paper's likeness is multiplied by; 0 without words."""
    carried: np.ndarray
    """float64 [D]: the same of its regression."""

    @property
    def n_categories(self) -> int:
        """Number of categories."""
        return int(self.parts[0].scores.shape[1])

    def seen(self, number: int) -> np.ndarray:
        """Give the labels that are known where one part is left out [D]."""
        return np.where(self.part == number, -1, self.known)


def can_tell(known: np.ndarray, categories: int) -> bool:
    """Whether there are labels enough: two of every category, of which there are two.

    Examples
    --------
    >>> can_tell(np.array([0, 0, 1, 1, -1]), 2), can_tell(np.array([0, 0, 1, -1]), 2)
    (True, False)
    """
    counts = np.bincount(known[known >= 0], minlength=categories)
    return categories > 1 and bool((counts >= FEWEST).all())


def make_evidence(corpus: Corpus, known: np.ndarray, rng: np.random.Generator) -> Evidence:
    """Deal out the labels and make evidence without each part of them.

    Parameters
    ----------
    corpus : Corpus
        Its own categories are not looked at.
    known : ndarray of int, shape (D,)
        Categories of papers that have a label, numbered from 0, two papers or more of each
        (see `can_tell`); -1 for the others.
    rng : Generator
    """
    known = known.astype(np.int64)
    labelled = np.flatnonzero(known >= 0)
    smoothed, _ = smooth_words(corpus, rng, (SMOOTHING,))
    carried, _ = smooth_words(corpus, rng)
    part = np.full(len(known), -1)
    part[labelled] = draw_folds(known[labelled], rng, PARTS)
    teachers = _teachers(known, part, rng)
    features, basis = to_row_space(_rows(carried, teachers))
    categories = int(known.max()) + 1
    penalty = choose_penalty(features, known[teachers], categories, rng, folds=PARTS)
    dealt = Evidence(known, part, [], smoothed.weight, carried.weight)
    parts = []
    for number in range(int(part.max()) + 1):
        kept = part[teachers] != number
        label = known[teachers[kept]]
        fitted = fit_regression(features[kept], label, categories, penalty=penalty)
        if basis is not None:
            fitted = fitted._replace(weights=basis.T @ fitted.weights)
        regression = carried.scores(fitted.weights) + fitted.intercepts
        clusters = grow_clusters(smoothed, dealt.seen(number))
        scores = np.stack([centred(regression), centred(clusters.scores)], axis=2)
        parts.append(LeftOutPart(scores, fitted, clusters.centres))
    return dealt._replace(parts=parts)


def centred(scores: np.ndarray) -> np.ndarray:
    """Take the mean over categories, the last axis, from scores."""
    return np.asarray(scores - scores.mean(axis=-1, keepdims=True))


def _rows(carried: SmoothedWords, papers: np.ndarray) -> np.ndarray:
    """Give the smoothed words of some papers [n, V]: those of all would be nearly dense."""
    chosen = np.zeros((carried.words.shape[0], len(papers)))
    chosen[papers, np.arange(len(papers))] = 1.0
    return carried.sums(chosen).T


def _teachers(known: np.ndarray, part: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Choose labelled papers to fit the regression to: all, or so many at random.

    Of each category some are in every part that has any: none is then left without.
    """
    papers = np.flatnonzero(known >= 0)
    if len(papers) <= MOST_TEACHERS:
        return papers
    first = np.unique(known[papers] * PARTS + part[papers], return_index=True)[1]
    drawn = rng.choice(len(papers), MOST_TEACHERS, replace=False)
    return np.asarray(papers[np.union1d(first, drawn)])


def shared_authors(corpus: Corpus) -> Any:
    """Give who wrote what, a csr_array [D, authors]; None where nobody has two papers."""
    if corpus.n_authors == 0 or np.bincount(corpus.author_ids).max(initial=0) < FEWEST:
        return None
    ones = np.ones(len(corpus.author_ids))
    shape = (corpus.n_documents, corpus.n_authors)
    return sparse.csr_array((ones, corpus.author_ids, corpus.author_offsets), shape=shape)


def author_evidence(incidence: Any, probability: np.ndarray) -> np.ndarray:
    """Give log((sum of p_c in other papers of its authors + 1 / C) / (their number + 1)), centred.

    A paper counts once for each author that it shares; without any, evidence is 0.

    Parameters
    ----------
    incidence : csr_array, shape (D, authors)
    probability : ndarray, shape (D, C)

    Examples
    --------
    >>> wrote = sparse.csr_array([[1.0], [1.0]])
    >>> author_evidence(wrote, np.array([[1.0, 0.0], [0.5, 0.5]])).round(3).tolist()
    [[0.0, 0.0], [0.549, -0.549]]
    """
    own = np.asarray(incidence.sum(axis=1)).ravel()
    number = incidence @ np.asarray(incidence.sum(axis=0)).ravel() - own
    total = incidence @ (incidence.T @ probability) - own[:, None] * probability
    share = (np.maximum(total, 0.0) + 1.0 / probability.shape[1]) / (number + 1.0)[:, None]
    return centred(np.log(share))
