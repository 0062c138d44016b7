"""The climb of a token's word, for all engines: to phi', from there to phi and to gamma.

As on the topic side (`engines.core.climb`), a customer of one level that opens a table becomes a
customer of the next, and its *depth* says how far it climbs. Engines describe the location of their
counts by `WordSeats`, by topic or by slot.
"""

from typing import NamedTuple

import numpy as np

from citeweave.compiled import index, inlined
from citeweave.engines.core.random import uniform

__all__ = [
    "LONG_RUN",
    "Run",
    "WordSeats",
    "background_weight",
    "draw_table_removal",
    "draw_word_addition",
    "draw_word_removal",
    "hand_out_table",
    "is_long",
    "leaves_table",
    "move_word",
    "next_run",
    "normalise_topic",
    "word_seats",
]


LONG_RUN = 64
"""Number of tokens by which a run must exceed the number of topics for a search over all topics to
be used."""


class Run(NamedTuple):
    """The tokens of one word in a document, which are adjacent."""

    word: int
    begin: int
    """First token."""
    end: int
    """The token after the last."""


class WordSeats(NamedTuple):
    """Location of the counts of a token's word; a column is a topic, or the slot of one."""

    tokens: np.ndarray
    """int [columns]: customers of phi'_dk."""
    burst_tables: np.ndarray
    """int [columns]: tables of phi'_dk."""
    run_customers: np.ndarray
    """int [columns]: customers of phi'_dk at the word."""
    run_tables: np.ndarray
    """int [columns]."""
    customers: np.ndarray
    """int [columns]: customers of phi_k at the word, or their changes."""
    tables: np.ndarray
    """int [columns]."""
    total_customers: np.ndarray
    """int64 [columns]: C of phi_k."""
    total_tables: np.ndarray
    """int64 [columns]."""
    background_customers: np.ndarray
    """int: customers of gamma, at ``place`` those of the word."""
    background_tables: np.ndarray
    background_totals: np.ndarray
    """int64 [2]: C and T of gamma."""
    place: int


@inlined
def word_seats(words, document, w):
    """Return the location of a word's counts, by topic, given those of phi' in the document.

    Only for hot kernels: it returns arrays without reference counting.
    """
    return WordSeats(
        document.tokens,
        document.tables,
        document.run_customers,
        document.run_tables,
        words.customers[w],
        words.tables[w],
        words.total_customers,
        words.total_tables,
        words.background_customers,
        words.background_tables,
        words.background_totals,
        w,
    )


@inlined
def next_run(word, begin, end):
    """Return the run that begins at a token of a document, which ends at ``end``."""
    run_end = begin + 1
    while run_end < end and word[run_end] == word[begin]:
        run_end += 1
    return Run(index(word[begin]), begin, run_end)


@inlined
def is_long(run, columns):
    """Return whether a run's topics are found faster among all columns than among its tokens.

    Every token of a run searches for them once, so searching its tokens takes quadratic time in its
    length.
    """
    return run.end - run.begin > columns + LONG_RUN


@inlined
def hand_out_table(bits, i, work, column):
    """Set the table indicator at phi' of a token of a run, and reset its topic's counts.

    Which token holds a table is not remembered: the first tokens of each topic get the bits.
    """
    held = 1 if work.run_tables[column] > 0 else 0
    bits[i] = held
    work.run_tables[column] -= held
    work.run_customers[column] = 0


@inlined
def leaves_table(rng, customers, tables):
    """Draw u ~ Bernoulli(t / c): 1 if the customer takes a table along, -1 if it is blocked."""
    if tables == customers:
        return 1
    if uniform(rng) * customers >= tables:
        return 0
    return 1 if tables > 1 else -1


@inlined
def draw_word_removal(rng, shape, burst, topic, background):
    """Draw how far a token's word had climbed; 0 if the removal is blocked.

    ``burst``, ``topic`` and ``background`` are customers and tables of phi', phi and gamma there.
    """
    if shape.burst > 0:
        taken = leaves_table(rng, burst[0], burst[1])
        if taken < 1:
            return 1 if taken == 0 else 0
    return draw_table_removal(rng, shape, topic, background)


@inlined
def draw_table_removal(rng, shape, topic, background):
    """Draw how far a token's word had climbed, if it has a table at phi' or there is no phi'."""
    depth = 1 + shape.burst
    taken = leaves_table(rng, topic[0], topic[1])
    if taken < 1:
        return depth if taken == 0 else 0
    depth += 1
    if shape.background > 0:
        taken = leaves_table(rng, background[0], background[1])
        if taken < 1:
            return depth if taken == 0 else 0
        depth += 1
    return depth


@inlined
def draw_word_addition(rng, shape, burst, topic, background):
    """Draw how far a token's word climbs.

    ``burst`` is the weight of staying at phi' (0 if the document does not have the word yet) and
    that of climbing on; ``topic`` the weight of staying at phi and that of both together;
    ``background`` that of staying at gamma, the word's probability there, and gamma's beta + C.
    """
    depth = 1
    if shape.burst > 0:
        stay, climb = burst
        if stay > 0.0 and uniform(rng) * (stay + climb) < stay:
            return depth
        depth += 1
    stay, weight = topic
    if stay > 0.0 and uniform(rng) * weight < stay:
        return depth
    depth += 1
    if shape.background > 0:
        own, probability, total = background
        if own > 0.0 and uniform(rng) * probability * total < own:
            return depth
        depth += 1
    return depth


@inlined
def move_word(shape, seats, column, depth, sign):
    """Add or remove a token's customers on the word side, ``depth`` levels up; only counts."""
    n_burst = shape.burst
    if n_burst > 0:
        seats.tokens[column] += sign
        seats.run_customers[column] += sign
        if depth > 1:
            seats.run_tables[column] += sign
            seats.burst_tables[column] += sign
    if depth > n_burst:
        seats.customers[column] += sign
        seats.total_customers[column] += sign
        if depth > n_burst + 1:
            seats.tables[column] += sign
            seats.total_tables[column] += sign
            if shape.background > 0:
                seats.background_customers[seats.place] += sign
                seats.background_totals[0] += sign
                if depth > n_burst + 2:
                    seats.background_tables[seats.place] += sign
                    seats.background_totals[1] += sign


@inlined
def background_weight(shape, n_words, parameters, totals, stay, opened):
    """Return the probability of a word under gamma, from which new dishes of phi are drawn.

    ``totals`` are C and T of gamma, ``stay`` and ``opened`` A0 and B1 at the word.
    """
    if shape.background == 0:
        return 1.0 / n_words
    beta = parameters.word_concentration[0]
    opening = beta + parameters.word_discount[0] * totals[1]
    weight = stay + opened * opening / n_words
    return weight / (beta + totals[0])


@inlined
def normalise_topic(beta, discount, customers, tables):
    """Return the normalisers of a phi_k: 1 / (beta + C) and (beta + alpha T) / (beta + C)."""
    inverse = 1.0 / (beta + customers)
    return inverse, (beta + discount * tables) * inverse
