"""Networks of documents with known topics, and EM of PMTLM in plain NumPy."""

import numpy as np
from scipy.optimize import brentq
from scipy.special import xlogy

from citeweave.corpus import Corpus


def planted_corpus(
    *, groups=3, size=50, length=20, inside=8.0, outside=1.0, focus=0.6, spread=0.0, seed=0
):
    """Documents of equal groups; words and Poisson links favour their own group.

    `focus` is the share of a document's words from its group's part of the vocabulary, `inside` and
    `outside` are the mean links of a document, `spread` the standard deviation of the logarithm of
    its popularity.
    """
    rng = np.random.default_rng(seed)
    documents, vocabulary = groups * size, groups * 15
    group = np.repeat(np.arange(groups), size)
    own = rng.random((documents, length)) < focus
    tokens = np.where(
        own,
        group[:, None] * 15 + rng.integers(0, 15, (documents, length)),
        rng.integers(0, vocabulary, (documents, length)),
    )
    popularity = np.exp(spread * rng.normal(size=documents))
    popularity /= popularity.mean()
    same = group[:, None] == group[None, :]
    rate = np.where(same, inside / size, outside / (documents - size))
    links = rng.random((documents, documents)) < popularity[:, None] * popularity * rate / 2
    citations = np.argwhere(links & ~np.eye(documents, dtype=bool))
    return Corpus.from_lists(tokens=tokens.tolist(), citations=citations, categories=group.tolist())


def dense(corpus):
    """Shares of words [D, V], and links [D, D], symmetric with counts."""
    shares = np.zeros((corpus.n_documents, corpus.vocabulary_size))
    links = np.zeros((corpus.n_documents, corpus.n_documents))
    document = np.repeat(np.arange(corpus.n_documents), corpus.lengths)
    np.add.at(shares, (document, corpus.tokens), 1.0)
    shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1.0)
    np.add.at(links, tuple(corpus.citations.T), 1.0)
    return shares, links + links.T


def log_likelihood(shares, links, theta, beta, popularity, scale, alpha):
    """The objective of docs/understand/pmtlm.md, term by term; beta is [V, K]."""
    by_words = xlogy(shares, theta @ beta.T).sum()
    rate = np.outer(popularity, popularity) * (theta @ np.diag(scale) @ theta.T)
    by_links = 0.5 * (xlogy(links, rate) - rate).sum()
    return alpha * by_words + (1 - alpha) * by_links


def em_step(shares, links, theta, beta, popularity, scale, alpha, *, corrected):
    """One step with dense arrays and a bracketing root finder, for documents with words."""
    h = theta[:, None, :] * beta[None]
    h /= h.sum(axis=2, keepdims=True)
    q = scale * theta[:, None, :] * theta[None]
    q /= q.sum(axis=2, keepdims=True)
    a, b = (shares[:, :, None] * h).sum(axis=1), (links[:, :, None] * q).sum(axis=1)
    new_beta = (shares[:, :, None] * h).sum(axis=0)
    total = b.sum(axis=0)
    r = total / (popularity @ theta)
    new_theta, new_popularity = np.empty_like(theta), np.ones(len(theta))
    for d in range(len(theta)):
        c, degree = alpha * a[d] + (1 - alpha) * b[d], b[d].sum()
        if not corrected:
            low = -(1 - alpha) * r.min()
            root = brentq(
                lambda x, c=c: np.sum(c / (x + (1 - alpha) * r)) - 1.0,
                low + 1e-9,
                low + c.sum() + (1 - alpha) * np.ptp(r) + 1.0,
                xtol=1e-14,
            )
            new_theta[d] = c / (root + (1 - alpha) * r)
        elif degree == 0:
            new_theta[d], new_popularity[d] = c / c.sum(), 0.0
        else:
            root = brentq(
                lambda x, c=c: np.sum(c / (alpha + (1 - alpha) * r * x)) - 1.0,
                0.0,
                2 * degree / r.min(),
                xtol=1e-14,
            )
            new_theta[d], new_popularity[d] = c / (alpha + (1 - alpha) * r * root), root
    new_scale = total / (new_popularity @ new_theta) ** 2
    return new_theta, new_beta / new_beta.sum(axis=0), new_popularity, new_scale
