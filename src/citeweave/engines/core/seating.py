"""Seats on the word side for tokens whose topics are given, drawn one after the other.

Each token is seated by the Chinese restaurant process of each level, given the tokens seated before
it. The sweeps that follow leave the posterior invariant whatever their initial state.
"""

from typing import NamedTuple

from citeweave.compiled import hot_kernel, index, inlined
from citeweave.engines.core.arrays import Array
from citeweave.engines.core.word_climb import (
    background_weight,
    draw_word_addition,
    hand_out_table,
    move_word,
    next_run,
    normalise_topic,
    word_seats,
)

__all__ = ["DocumentSeats", "seat_words"]


class DocumentSeats(NamedTuple):
    """Counts of phi' in the current document, by topic."""

    tokens: Array
    """int32 [topics]: customers of phi'_dk."""
    tables: Array
    """int32 [topics]."""
    run_customers: Array
    """int32 [topics]: customers of phi'_dk at the current word."""
    run_tables: Array
    """int32 [topics]."""


@inlined
def old_tables(discount, customers, tables):
    """Return the weight of joining a table that already serves the dish.

    Sweeps use different weights, for a customer among many of whom only the number of tables is
    known.
    """
    return customers - discount * tables


@hot_kernel
def seat_words(shape, layout, state, document):
    """Seat every token on the word side at its topic; the counts there must be zero."""
    words = state.words
    parameters = state.parameters
    rng = state.random
    z = state.assignments.topic
    discount = parameters.word_discount
    n_words = words.customers.shape[0]
    for d in range(len(layout.document_start) - 1):
        document.tokens[:] = 0
        document.tables[:] = 0
        run_begin = layout.document_start[d]
        end = layout.document_start[d + 1]
        while run_begin < end:
            run = next_run(layout.word, run_begin, end)
            w = run.word
            seats = word_seats(words, document, w)
            for i in range(run.begin, run.end):
                k = index(z[i])
                own = old_tables(
                    discount[0], words.background_customers[w], words.background_tables[w]
                )
                background = background_weight(
                    shape, n_words, parameters, words.background_totals, own, 1.0
                )
                inverse, opening = normalise_topic(
                    parameters.topic_word_concentration[k],
                    discount[1],
                    words.total_customers[k],
                    words.total_tables[k],
                )
                stay = inverse * old_tables(discount[1], words.customers[w, k], words.tables[w, k])
                weight = stay + opening * background
                burst = old_tables(discount[2], document.run_customers[k], document.run_tables[k])
                climb = weight * (
                    parameters.word_concentration[1] + discount[2] * document.tables[k]
                )
                total = parameters.word_concentration[0] + words.background_totals[0]
                depth = draw_word_addition(
                    rng, shape, (burst, climb), (stay, weight), (own, background, total)
                )
                move_word(shape, seats, k, depth, 1)
            if shape.burst > 0:
                for i in range(run.begin, run.end):
                    hand_out_table(state.assignments.burst_table, i, document, index(z[i]))
            run_begin = run.end
