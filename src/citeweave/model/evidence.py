"""Evidence of words, citations and authors for papers' categories, computed without some labels.

The given labels are divided into parts. Evidence is computed once for each part, from the labels of
the other parts only; its predictions for the part's own papers show how reliable it is.
`citeweave.model.read_out` weighs it.

    regression   r_dc = (P X W)_dc / |.| + b_c  words carried near and far along citations
    discriminant s_dc = (P X Q U)_dc / |.| + o_c  the same words, and where unlabelled papers are
    likeness     l_dc = (T^4 X M)_dc / |.|      cosine with the centre of the cluster around c
    authors      a_dc = log of the mean probability of c in other papers of the same authors

X are words by tf-idf, T smooths them one step over citations and P is the mean of its powers 1, 2,
4, ... 64 (`citeweave.model.embedding`), with leading directions Q. W and b are those of a
multinomial logistic regression, which knows labelled papers alone; U and o those of a linear
discriminant that the others take part in (`citeweave.model.discriminant`); M the centres of k-means
around the labels. All are centred over the categories.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from citeweave.corpus import Corpus
from citeweave.model.clusters import SMOOTHING, grow_clusters
from citeweave.model.discriminant import learn_discriminant
from citeweave.model.embedding import DIMENSIONS, SmoothedWords, embed_words, smooth_words
from citeweave.model.logistic import (
    Regression,
    choose_penalty,
    draw_folds,
    fit_regression,
    to_row_space,
)

__all__ = [
    "KINDS",
    "Evidence",
    "LeftOutPart",
    "author_evidence",
    "can_tell",
    "centred",
    "make_evidence",
    "shared_authors",
]

PARTS = 5
KINDS = ("regression", "likeness", "discriminant")
"""Evidence of words and citations."""
FEWEST = 2
"""Number of labels that every category needs: one to leave out, and one to keep."""
MOST_TEACHERS = 1000
"""Maximum number of labelled papers for the regression, whose rows of smoothed words are dense."""


class LeftOutPart(NamedTuple):
    """Evidence computed without the labels of one part."""

    scores: np.ndarray
    """float64 [D, C, 3]: `KINDS`."""
    fitted: Regression
    centres: np.ndarray
    """float64 [V, C]: M."""
    discriminant: Regression
    """Q U and o."""


class Evidence(NamedTuple):
    """Evidence of words and citations for categories, by part."""

    known: np.ndarray
    """int64 [D]: the given labels, -1 for papers without one."""
    part: np.ndarray
    """int64 [D]: the part of a label, -1 for papers without one."""
    parts: list[LeftOutPart]
    lengths: np.ndarray
    """float64 [D]: 1 / |.|, the factor of a paper's likeness; 0 without words."""
    carried: np.ndarray
    """float64 [D]: the same for its regression."""
    placed: np.ndarray
    """float64 [D]: the same for its discriminant."""

    @property
    def n_categories(self) -> int:
        """Number of categories."""
        return int(self.parts[0].scores.shape[1])

    def seen(self, number: int) -> np.ndarray:
        """Return the labels that are known when one part is left out [D]."""
        return np.where(self.part == number, -1, self.known)


def can_tell(known: np.ndarray, categories: int) -> bool:
    """Whether there are enough labels: at least two categories with two each.

    Examples
    --------
    >>> can_tell(np.array([0, 0, 1, 1, -1]), 2), can_tell(np.array([0, 0, 1, -1]), 2)
    (True, False)
    """
    counts = np.bincount(known[known >= 0], minlength=categories)
    return categories > 1 and bool((counts >= FEWEST).all())


def make_evidence(corpus: Corpus, known: np.ndarray, rng: np.random.Generator) -> Evidence:
    """Divide the labels into parts and compute the evidence without each part.

    Parameters
    ----------
    corpus : Corpus
        Its own categories are not used.
    known : ndarray of int, shape (D,)
        Categories of papers that have a label, numbered from 0, at least two papers each
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
    places = embed_words(carried, rng, max(DIMENSIONS, categories))
    placed = carried.weight * places.weight
    dealt = Evidence(known, part, [], smoothed.weight, carried.weight, placed)
    parts = []
    for number in range(int(part.max()) + 1):
        kept = part[teachers] != number
        label = known[teachers[kept]]
        fitted = fit_regression(features[kept], label, categories, penalty=penalty)
        if basis is not None:
            fitted = fitted._replace(weights=basis.T @ fitted.weights)
        regression = carried.scores(fitted.weights) + fitted.intercepts
        clusters = grow_clusters(smoothed, dealt.seen(number))
        learned = learn_discriminant(places.rows, dealt.seen(number))
        found = (regression, clusters.scores, learned.scores(places.rows))
        scores = np.stack([centred(one) for one in found], axis=2)
        of_words = Regression(np.einsum("vr,rc->vc", places.basis, learned.slopes), learned.offsets)
        parts.append(LeftOutPart(scores, fitted, clusters.centres, of_words))
    return dealt._replace(parts=parts)


def centred(scores: np.ndarray) -> np.ndarray:
    """Subtract from scores their mean over categories, the last axis."""
    return np.asarray(scores - scores.mean(axis=-1, keepdims=True))


def _rows(carried: SmoothedWords, papers: np.ndarray) -> np.ndarray:
    """Return the smoothed words of some papers [n, V]: those of all would be nearly dense."""
    chosen = np.zeros((carried.words.shape[0], len(papers)))
    chosen[papers, np.arange(len(papers))] = 1.0
    return carried.sums(chosen).T


def _teachers(known: np.ndarray, part: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Choose labelled papers for the regression: all, or a random sample.

    Every part keeps some papers of each category that it has.
    """
    papers = np.flatnonzero(known >= 0)
    if len(papers) <= MOST_TEACHERS:
        return papers
    first = np.unique(known[papers] * PARTS + part[papers], return_index=True)[1]
    drawn = rng.choice(len(papers), MOST_TEACHERS, replace=False)
    return np.asarray(papers[np.union1d(first, drawn)])


def shared_authors(corpus: Corpus) -> Any:
    """Return which authors wrote which papers, a csr_array [D, authors]; None if nobody has two."""
    if corpus.n_authors == 0 or np.bincount(corpus.author_ids).max(initial=0) < FEWEST:
        return None
    ones = np.ones(len(corpus.author_ids))
    shape = (corpus.n_documents, corpus.n_authors)
    return sparse.csr_array((ones, corpus.author_ids, corpus.author_offsets), shape=shape)


def author_evidence(incidence: Any, probability: np.ndarray) -> np.ndarray:
    """Return log((sum of p_c in other papers of its authors + 1 / C) / (their number + 1)).

    The result is centred over categories. A paper counts once for each author that it shares;
    without any, the evidence is 0.

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
