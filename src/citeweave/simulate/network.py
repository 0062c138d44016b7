"""Citations drawn topic by topic (subsec:network), at a cost that grows with their number.

The rate of eq:lambda_ij is a sum over topics, so x_ij is a sum of independent Poisson counts, one
per topic. For topic k the number of citations is Poisson(lambdaT_k P_k M_k), with P_k = sum_i
lambda+_i theta'_ik and M_k = sum_j lambda-_j theta'_jk; the citing document is then i with
probability lambda+_i theta'_ik / P_k and the cited one j with lambda-_j theta'_jk / M_k.
"""

from typing import NamedTuple

import numpy as np

__all__ = ["DrawnNetwork", "draw_network"]

_ROUNDS = 12


class DrawnNetwork(NamedTuple):
    """Citations, their topics y, and the lambdaT under which they were drawn."""

    citations: np.ndarray
    topics: np.ndarray
    topic_scale: np.ndarray


def draw_network(
    doc_topic: np.ndarray,
    cite: np.ndarray,
    cited: np.ndarray,
    topic_scale: np.ndarray,
    *,
    target: int,
    years: np.ndarray | None,
    rng: np.random.Generator,
) -> DrawnNetwork:
    """Draw about `target` citations between different documents.

    Rates are the given ones times a factor. Self-citations, duplicates and (with `years`) citations
    of documents that are not older are dropped, so further rounds of citations are added until the
    target is nearly reached; the counts are Poisson with the sum of the rates. The returned
    `topic_scale` includes the total factor of all rounds.

    Parameters
    ----------
    doc_topic
        theta', shape (D, K).
    cite, cited
        lambda+ and lambda-, shape (D,).
    topic_scale
        lambdaT up to a common factor, shape (K,).
    target
        Desired number of citations.
    years
        If given, shape (D,): a document cites only documents of earlier years.
    rng
        Random generator.
    """
    documents = len(doc_topic)
    sums = (cite @ doc_topic.astype(np.float64)) * (cited @ doc_topic.astype(np.float64))
    rates = topic_scale * sums
    total = rates.sum()
    keys = np.empty(0, dtype=np.int64)
    topics = np.empty(0, dtype=np.int32)
    factor = 0.0
    kept = 1.0  # share of the last round that was new
    for _ in range(_ROUNDS):
        missing = target - len(keys)
        if missing <= 0.01 * target or total <= 0.0:
            break
        step = min(missing / max(kept, 0.05), 2.0 * target) / total
        new_keys, new_topics = _draw_round(
            doc_topic, cite, cited, step * rates, years=years, rng=rng
        )
        factor += step
        before, drawn = len(keys), len(new_keys)
        # np.unique keeps the first of equal keys: old before new, and new ones in random order
        keys, first = np.unique(np.concatenate((keys, new_keys)), return_index=True)
        topics = np.concatenate((topics, new_topics))[first]
        kept = (len(keys) - before) / max(step * total, drawn, 1.0)
    pairs = np.stack([keys // documents, keys % documents], axis=1).astype(np.int32)
    return DrawnNetwork(pairs, topics, topic_scale * factor)


def _draw_round(
    doc_topic: np.ndarray,
    cite: np.ndarray,
    cited: np.ndarray,
    rates: np.ndarray,
    *,
    years: np.ndarray | None,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """Draw Poisson(rates) pairs as keys citing * D + cited, in random order, with their topics."""
    documents = len(doc_topic)
    ends: list[np.ndarray] = []
    counts = rng.poisson(rates)
    for k, count in enumerate(counts.tolist()):
        if count:
            citing = _choose(cite * doc_topic[:, k], count, rng)
            ends.append(citing * documents + _choose(cited * doc_topic[:, k], count, rng))
    if not ends:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32)
    keys = np.concatenate(ends)
    topics = np.repeat(np.arange(len(rates), dtype=np.int32), counts)
    citing, other = keys // documents, keys % documents
    valid = citing != other if years is None else years[citing] > years[other]
    order = rng.permutation(int(np.count_nonzero(valid)))
    return keys[valid][order], topics[valid][order]


def _choose(weights: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Draw `count` indices with probability proportional to weights."""
    running = np.cumsum(weights, dtype=np.float64)
    places = np.searchsorted(running, rng.random(count) * running[-1], side="right")
    return np.asarray(np.minimum(places, len(weights) - 1))
