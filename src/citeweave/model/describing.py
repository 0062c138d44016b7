"""Topics in brief, the same in tables, pages and notebooks: their shares, order and words."""

from typing import Any

import numpy as np

from citeweave.errors import ParameterError

__all__ = ["RELEVANCE", "rank_words", "relevance_scores", "topic_order", "topic_shares"]

RELEVANCE = 0.6
"""Weight of a word's probability against its lift over the corpus in lists of topics."""


def topic_shares(doc_topic: Any) -> np.ndarray:
    """Compute the share of each topic [K]: the mean of theta' over papers, equally weighted.

    Every table calls this the share of a topic. The model's mu is different: it is the root of the
    hierarchy, around which papers and authors vary.

    Examples
    --------
    >>> topic_shares([[0.5, 0.5], [1.0, 0.0]]).tolist()
    [0.75, 0.25]
    """
    return np.asarray(np.asarray(doc_topic).mean(axis=0, dtype=np.float64))


def topic_order(share: np.ndarray, used: np.ndarray) -> list[int]:
    """Return the topics in use, the largest first.

    Examples
    --------
    >>> topic_order(np.array([0.2, 0.0, 0.8]), np.array([True, False, True]))
    [2, 0]
    """
    chosen = np.flatnonzero(used)
    return [int(k) for k in chosen[np.argsort(-share[chosen], kind="stable")]]


def rank_words(
    topic_word: np.ndarray, share: np.ndarray, occurs: np.ndarray, *, relevance: float, number: int
) -> np.ndarray:
    """Rank words by ``r log phi + (1 - r) log(phi / p)``, with p their probability in the corpus.

    Sievert and Shirley's relevance: 1 ranks by probability in the topic, 0 by lift over the corpus.

    Parameters
    ----------
    topic_word : ndarray, shape (K, V)
    share : ndarray, shape (K,)
        Weights of topics in p.
    occurs : ndarray of bool, shape (V,)
        Words that may be listed.
    relevance : float
        r, from 0 to 1.
    number : int
        Number of words per topic.

    Returns
    -------
    ndarray of int, shape (K, number)
        Fewer columns if fewer words occur.
    """
    if not 0.0 <= relevance <= 1.0:
        raise ParameterError(f"'relevance' must be from 0 to 1. Got {relevance!r} instead.")
    if number < 1:
        raise ParameterError(f"'words' must be at least 1. Got {number!r} instead.")
    score = relevance_scores(topic_word, share, occurs, relevance)
    width = min(number, int(occurs.sum()))
    best = np.argsort(-score, axis=1, kind="stable")[:, :width]
    return np.asarray(best)


def relevance_scores(
    topic_word: np.ndarray, share: np.ndarray, occurs: np.ndarray, relevance: float
) -> np.ndarray:
    """Score words as `rank_words` does [K, V]; minus infinity for words that may not be chosen."""
    tiny = np.finfo(float).tiny
    phi = np.maximum(np.asarray(topic_word, np.float64), tiny)
    everywhere = np.maximum(share @ phi, tiny)
    score = np.log(phi) - (1.0 - relevance) * np.log(everywhere)
    score[:, ~occurs] = -np.inf
    return np.asarray(score)
