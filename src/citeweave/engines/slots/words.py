"""The word sweep over slots: a token's topic is proposed, not drawn from all topics.

With the token removed, let W(k) be the weight with which topic k would be drawn, and *inside* the
topics that the document, or its listed author, still has. The proposal is

    q(k) = [k inside] W(k) + s R_w(k)

with the word's proposal table R_w (`engines.slots.proposal_tables`). W and q are computed without
the token, and the tables are fixed between rebuilds, so accepting with probability
W(k') q(k) / (W(k) q(k')) leaves the posterior invariant. Table indicators are then drawn, and the
citations' exponential decides whether the move is accepted, as in the sweep over all topics
(`engines.dense.words`).
"""

import numpy as np

from citeweave.compiled import hot_kernel, index
from citeweave.engines.core.random import uniform
from citeweave.engines.core.word_climb import next_run
from citeweave.engines.slots.exponent import commit_move, join_rates, move_change
from citeweave.engines.slots.proposing import Token, gamma_weight, propose, slot_root_weight
from citeweave.engines.slots.slots import (
    draw_joining_word,
    draw_leaving_word,
    draw_topic_addition,
    draw_topic_removal,
    refresh_scales,
    refresh_topic,
    shift_topic,
    shift_word,
)
from citeweave.engines.slots.visits import (
    close_run,
    leave_document,
    open_document,
    open_run,
    read_ahead,
)
from citeweave.engines.threads.streams import WORDS, open_stream

__all__ = ["word_sweep"]


@hot_kernel
def word_sweep(model, state, cache, buffers, support, proposal, network, key, docs, tally):
    """Visit the tokens of some documents once.

    ``docs`` (int64 [n, 2]) holds documents and their numbers in the whole corpus. In snapshots each
    document has its own random stream of ``key``. ``tally`` (int64 [7]) counts tokens visited,
    tokens blocked, moves that the exponential affected, and those of them that were rejected; the
    next entry is left unchanged; then topics proposed from tables and proposals rejected.
    """
    shape, layout, tables = model
    slots, pending = buffers.slots, buffers.pending
    parameters, words = state.parameters, state.words
    z = state.assignments.topic
    n_words = words.customers.shape[0]
    below = shape.below_citations
    on = shape.network > 0 and state.clock[1] > 0
    direct = len(buffers.sharing.snapshot) == 0
    rng = state.random if direct else slots.random
    draw = tally[5:7]
    for place in range(docs.shape[0]):
        d = docs[place, 0]
        begin = layout.document_start[d]
        end = layout.document_start[d + 1]
        if begin == end:
            continue
        if not direct:
            open_stream(key, WORDS, docs[place, 1], rng)
        listed = open_document(model, state, cache, buffers, support, proposal, network, d, on)
        tally[0] += end - begin
        run_begin = begin
        while run_begin < end:
            run = next_run(layout.word, run_begin, end)
            w = run.word
            open_run(shape, state, cache, support.words, slots, run)
            read_ahead(layout, state, cache, support.words, slots, proposal, run.end, end)
            for i in range(run.begin, run.end):
                buffers.before[i - run.begin] = z[i]
                old = index(slots.place[index(z[i])])
                topic_out = draw_topic_removal(rng, shape, slots, old)
                word_out = draw_leaving_word(rng, shape, words, slots, w, old)
                if topic_out == 0 or word_out == 0:
                    tally[1] += 1
                    continue
                # the token leaves
                shift_topic(shape, parameters, slots, old, topic_out, -1)
                refresh_topic(shape, tables, parameters, slots, old, topic_out, listed)
                shift_word(shape, tables, words, parameters, slots, w, old, word_out, -1)
                refresh_scales(shape, parameters, slots)
                background = gamma_weight(shape, n_words, parameters, slots)
                token = Token(old, background, listed)
                new, joined, stands = propose(
                    rng, model, state, cache, slots, support, proposal, run, token, draw
                )
                topic_in, word_in = topic_out, word_out
                if stands:
                    root = slot_root_weight(parameters, slots, new)
                    topic_in = draw_topic_addition(rng, shape, slots, new, root)
                    word_in = draw_joining_word(
                        rng, shape, tables, parameters, slots, new, background
                    )
                if joined and on:
                    join_rates(shape, state.topics, parameters, network, slots, pending, new)
                # it comes back
                shift_topic(shape, parameters, slots, new, topic_in, 1)
                out, into = max(topic_out - below, 0), max(topic_in - below, 0)
                if on and (out > 0 or into > 0) and (new != old or out != into):
                    tally[2] += 1
                    change = move_change(shape, parameters, slots, pending, old, new, out, into)
                    if change <= 0.0 or uniform(rng) < np.exp(-change):
                        commit_move(shape, slots, pending, old, new)
                    else:
                        tally[3] += 1
                        shift_topic(shape, parameters, slots, new, topic_in, -1)
                        new, topic_in, word_in = old, topic_out, word_out
                        shift_topic(shape, parameters, slots, new, topic_in, 1)
                refresh_topic(shape, tables, parameters, slots, new, topic_in, listed)
                shift_word(shape, tables, words, parameters, slots, w, new, word_in, 1)
                z[i] = slots.topic[new]
            close_run(shape, state, cache, support.words, buffers, run)
            run_begin = run.end
        leave_document(shape, state, cache, buffers, support, network, listed, on)
