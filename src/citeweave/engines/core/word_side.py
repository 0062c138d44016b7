"""The word side over all topics: cached weights of gamma and phi, and moves that update them."""

from typing import NamedTuple

import numpy as np

from citeweave.compiled import hot_kernel, inlined
from citeweave.engines.core.tempering import raised, word_pair
from citeweave.engines.core.word_climb import (
    background_weight,
    draw_word_addition,
    draw_word_removal,
    move_word,
    normalise_topic,
    word_seats,
)

__all__ = [
    "BLOCK",
    "WordCache",
    "draw_joining_word",
    "draw_leaving_word",
    "in_blocks",
    "joining_weights",
    "new_word_cache",
    "padded",
    "refresh_burst",
    "refresh_word_cache",
    "shift_word",
    "word_background",
]


BLOCK = 16
"""Topics per block: as many as one or two vector instructions process, with no remainder."""


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
    power: float
    """zeta, the power to which the density of the word side, and all of the above, are raised."""


def padded(n_topics: int) -> int:
    """Round up to whole blocks: the length (width) of rows of single-precision weights."""
    return -(-n_topics // BLOCK) * BLOCK


def in_blocks(rows: np.ndarray) -> np.ndarray:
    """View rows of weights as rows of blocks; the memory is the same."""
    return rows.reshape(*rows.shape[:-1], -1, BLOCK)


def new_word_cache(n_words: int, n_topics: int, power: float = 1.0) -> WordCache:
    """Allocate the cached weights of a word side whose density is raised to a power."""
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
        power=float(power),
    )


@inlined
def _refresh_topic(words, parameters, cache, k):
    """Update the normalisers of phi_k after its totals or its concentration changed."""
    inverse, opening = normalise_topic(
        parameters.topic_word_concentration[k],
        parameters.word_discount[1],
        words.total_customers[k],
        words.total_tables[k],
    )
    cache.inverse[k] = raised(inverse, cache.power)
    cache.opening[k] = raised(opening, cache.power)


@inlined
def _refresh_background(tables, words, cache, w):
    """Update A0 and B1 of gamma at a word."""
    cache.background_stay[w], cache.background_open[w] = word_pair(
        tables.background, cache.power, words.background_customers[w], words.background_tables[w]
    )


@inlined
def _refresh_entry(tables, words, cache, w, k):
    """Update A0 and B1 of phi_k at a word."""
    cache.stay[w, k], cache.open[w, k] = word_pair(
        tables.topic_word, cache.power, words.customers[w, k], words.tables[w, k]
    )


@hot_kernel
def refresh_word_cache(tables, words, parameters, cache):
    """Rebuild all cached weights from the counts."""
    n_words, n_topics = words.customers.shape
    for k in range(n_topics):
        _refresh_topic(words, parameters, cache, k)
    for w in range(n_words):
        _refresh_background(tables, words, cache, w)
        for k in range(n_topics):
            _refresh_entry(tables, words, cache, w, k)


@inlined
def refresh_burst(parameters, work, k, power):
    """Update the normalisers of phi'_dk."""
    beta = parameters.word_concentration[1]
    inverse = 1.0 / (beta + work.tokens[k])
    opening = (beta + parameters.word_discount[2] * work.tables[k]) * inverse
    work.burst_inverse[k] = raised(inverse, power)
    work.burst_opening[k] = raised(opening, power)


@inlined
def shift_word(shape, tables, words, parameters, cache, work, w, k, depth, sign):
    """Add or remove a token's customers on the word side, ``depth`` levels up, and refresh."""
    move_word(shape, word_seats(words, work, w), k, depth, sign)
    n_burst = shape.burst
    if n_burst > 0:
        refresh_burst(parameters, work, k, cache.power)
    if depth > n_burst:
        if shape.background > 0 and depth > n_burst + 1:
            _refresh_background(tables, words, cache, w)
        _refresh_entry(tables, words, cache, w, k)
        _refresh_topic(words, parameters, cache, k)


@inlined
def draw_leaving_word(rng, shape, words, work, w, k):
    """Draw how far a token's word had climbed; 0 if the removal is blocked."""
    return draw_word_removal(
        rng,
        shape,
        (work.run_customers[k], work.run_tables[k]),
        (words.customers[w, k], words.tables[w, k]),
        (words.background_customers[w], words.background_tables[w]),
    )


@inlined
def word_background(shape, words, parameters, cache, w):
    """Return the weight of word w under gamma: its probability there, if zeta is 1."""
    stay, opened = cache.background_stay[w], cache.background_open[w]
    n_words = words.customers.shape[0]
    if cache.power != 1.0:
        return _raised_background(shape, words, parameters, cache.power, stay, opened)
    return background_weight(shape, n_words, parameters, words.background_totals, stay, opened)


@inlined
def _raised_background(shape, words, parameters, power, stay, opened):
    """Return the same as `background_weight`, with each term raised."""
    base = 1.0 / words.customers.shape[0]
    if shape.background == 0:
        return base**power
    beta = parameters.word_concentration[0]
    opening = (beta + parameters.word_discount[0] * words.background_totals[1]) * base
    return (stay + opened * opening**power) / (beta + words.background_totals[0]) ** power


@inlined
def joining_weights(shape, tables, cache, work, w, k, background):
    """Compute the weights of one more token of word w under topic k.

    Returns the weights of staying at phi' and of climbing on from there, whose sum is that of the
    word (or 0 and 0 in a model without phi'), then that of staying at phi and the total weight of
    phi.
    """
    topic_stay = cache.stay[w, k] * cache.inverse[k]
    weight = topic_stay + cache.open[w, k] * cache.opening[k] * background
    stay, climb = 0.0, 0.0
    if shape.burst > 0:
        climb = work.burst_opening[k] * weight
        c = work.run_customers[k]
        if c > 0:
            stay, opened = word_pair(tables.burst, cache.power, c, work.run_tables[k])
            stay *= work.burst_inverse[k]
            climb = opened * work.burst_opening[k] * weight
    return stay, climb, topic_stay, weight


@inlined
def draw_joining_word(rng, shape, tables, words, parameters, cache, work, w, k, background):
    """Draw how far a token's word climbs under topic k."""
    stay, climb, topic_stay, weight = joining_weights(shape, tables, cache, work, w, k, background)
    total = raised(parameters.word_concentration[0] + words.background_totals[0], cache.power)
    own = (cache.background_stay[w], background, total)
    return draw_word_addition(rng, shape, (stay, climb), (topic_stay, weight), own)
