"""The word side of a token: weights of gamma, phi and phi', and moves on them.

As on the topic side, a token's word climbs: to phi' (the word inside this document and topic),
from there to phi, from there to gamma, and its *depth* says how far.
"""

from typing import NamedTuple

import numpy as np

from citeweave.compiled import hot_kernel, inlined
from citeweave.engines.core.random import uniform
from citeweave.engines.core.stirling import weight_pair

__all__ = [
    "BLOCK",
    "WordCache",
    "background_weight",
    "draw_word_addition",
    "draw_word_removal",
    "in_blocks",
    "leaves_table",
    "move_word",
    "new_word_cache",
    "padded",
    "refresh_burst",
    "refresh_word_cache",
]


BLOCK = 16
"""Topics in a block: what one or two vector instructions take, with no remainder."""


class WordCache(NamedTuple):
    """Word-side weights, each a pure function of the counts and concentrations."""

    stay: np.ndarray
    """float32 [words, width]: A0 of phi_k at word v; ``width`` is ``padded(topics)``."""
    open: np.ndarray
    """float32 [words, width]: B1."""
    inverse: np.ndarray
    """float32 [width]: 1 / (beta + C) of phi_k."""
    opening: np.ndarray
    """float32 [width]: (beta + alpha T) / (beta + C) of phi_k."""
    stay_blocks: np.ndarray
    """The four above, viewed in blocks of topics."""
    open_blocks: np.ndarray
    inverse_blocks: np.ndarray
    opening_blocks: np.ndarray
    background_stay: np.ndarray
    """float64 [words]: A0 of gamma at word v."""
    background_open: np.ndarray
    """float64 [words]: B1."""


def padded(n_topics: int) -> int:
    """Round up to whole blocks: the length (width) of rows of single-precision weights."""
    return -(-n_topics // BLOCK) * BLOCK


def in_blocks(rows: np.ndarray) -> np.ndarray:
    """View rows of weights as rows of blocks; the memory is the same."""
    return rows.reshape(*rows.shape[:-1], -1, BLOCK)


def new_word_cache(n_words: int, n_topics: int) -> WordCache:
    """Make room for the cached weights."""
    width = padded(n_topics)
    stay = np.zeros((n_words, width), np.float32)
    opened = np.ones((n_words, width), np.float32)
    inverse = np.zeros(width, np.float32)
    opening = np.zeros(width, np.float32)
    return WordCache(
        stay=stay,
        open=opened,
        inverse=inverse,
        opening=opening,
        stay_blocks=in_blocks(stay),
        open_blocks=in_blocks(opened),
        inverse_blocks=in_blocks(inverse),
        opening_blocks=in_blocks(opening),
        background_stay=np.zeros(n_words),
        background_open=np.ones(n_words),
    )


@inlined
def _refresh_topic(words, parameters, cache, k):
    """Renew the normalisers of phi_k after its totals or its concentration changed."""
    beta = parameters.topic_word_concentration[k]
    inverse = 1.0 / (beta + words.total_customers[k])
    cache.inverse[k] = inverse
    cache.opening[k] = (beta + parameters.word_discount[1] * words.total_tables[k]) * inverse


@hot_kernel
def refresh_word_cache(tables, words, parameters, cache):
    """Rebuild all cached weights from the counts."""
    n_words, n_topics = words.customers.shape
    for k in range(n_topics):
        _refresh_topic(words, parameters, cache, k)
    for w in range(n_words):
        stay, opened = weight_pair(
            tables.background, words.background_customers[w], words.background_tables[w]
        )
        cache.background_stay[w] = stay
        cache.background_open[w] = opened
        for k in range(n_topics):
            stay, opened = weight_pair(tables.topic_word, words.customers[w, k], words.tables[w, k])
            cache.stay[w, k] = stay
            cache.open[w, k] = opened


@inlined
def refresh_burst(parameters, work, k):
    """Renew the normalisers of phi'_dk."""
    beta = parameters.word_concentration[1]
    inverse = 1.0 / (beta + work.tokens[k])
    work.burst_inverse[k] = inverse
    work.burst_opening[k] = (beta + parameters.word_discount[2] * work.tables[k]) * inverse


@inlined
def move_word(shape, tables, words, parameters, cache, work, w, k, depth, sign):
    """Add or remove a token's customers on the word side, ``depth`` levels up, and refresh."""
    n_burst = len(shape.burst)
    if n_burst > 0:
        work.tokens[k] += sign
        work.run_customers[k] += sign
        if depth > 1:
            work.run_tables[k] += sign
            work.tables[k] += sign
        refresh_burst(parameters, work, k)
    if depth > n_burst:
        words.customers[w, k] += sign
        words.total_customers[k] += sign
        if depth > n_burst + 1:
            words.tables[w, k] += sign
            words.total_tables[k] += sign
            if len(shape.background) > 0:
                words.background_customers[w] += sign
                words.background_totals[0] += sign
                if depth > n_burst + 2:
                    words.background_tables[w] += sign
                    words.background_totals[1] += sign
                stay, opened = weight_pair(
                    tables.background, words.background_customers[w], words.background_tables[w]
                )
                cache.background_stay[w] = stay
                cache.background_open[w] = opened
        stay, opened = weight_pair(tables.topic_word, words.customers[w, k], words.tables[w, k])
        cache.stay[w, k] = stay
        cache.open[w, k] = opened
        _refresh_topic(words, parameters, cache, k)


@inlined
def leaves_table(rng, customers, tables):
    """Draw u ~ Bernoulli(t / c): 1 if the customer takes a table along, -1 where it cannot."""
    if tables == customers:
        return 1
    if uniform(rng) * customers >= tables:
        return 0
    return 1 if tables > 1 else -1


@inlined
def draw_word_removal(rng, shape, words, work, w, k):
    """Draw how far a token's word had climbed, 0 where the removal is blocked."""
    depth = 1
    if len(shape.burst) > 0:
        taken = leaves_table(rng, work.run_customers[k], work.run_tables[k])
        if taken < 1:
            return depth if taken == 0 else 0
        depth += 1
    taken = leaves_table(rng, words.customers[w, k], words.tables[w, k])
    if taken < 1:
        return depth if taken == 0 else 0
    depth += 1
    if len(shape.background) > 0:
        taken = leaves_table(rng, words.background_customers[w], words.background_tables[w])
        if taken < 1:
            return depth if taken == 0 else 0
        depth += 1
    return depth


@inlined
def background_weight(shape, words, parameters, cache, w):
    """Probability of word w under gamma: where a new dish of phi comes from."""
    if len(shape.background) == 0:
        return 1.0 / words.customers.shape[0]
    beta = parameters.word_concentration[0]
    opening = beta + parameters.word_discount[0] * words.background_totals[1]
    weight = cache.background_stay[w]
    weight += cache.background_open[w] * opening / words.customers.shape[0]
    return weight / (beta + words.background_totals[0])


@inlined
def draw_word_addition(rng, shape, tables, words, parameters, cache, work, w, k, background):
    """Draw how far a token's word climbs under topic k."""
    depth = 1
    topic_stay = cache.stay[w, k] * cache.inverse[k]
    topic_weight = topic_stay + cache.open[w, k] * cache.opening[k] * background
    if len(shape.burst) > 0:
        c = work.run_customers[k]
        if c > 0:
            stay, opened = weight_pair(tables.burst, c, work.run_tables[k])
            stay *= work.burst_inverse[k]
            climb = opened * work.burst_opening[k] * topic_weight
            if uniform(rng) * (stay + climb) < stay:
                return depth
        depth += 1
    if topic_stay > 0.0 and uniform(rng) * topic_weight < topic_stay:
        return depth
    depth += 1
    if len(shape.background) > 0:
        stay = cache.background_stay[w]
        if stay > 0.0:
            total = parameters.word_concentration[0] + words.background_totals[0]
            if uniform(rng) * background * total < stay:
                return depth
        depth += 1
    return depth
