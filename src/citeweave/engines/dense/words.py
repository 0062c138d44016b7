"""The word sweep: remove each token, draw its topic and table indicators, and add it back.

The weight of topic k is (topic side) x (word side), both nested over their levels
(eq:conditional_posterior). All factors are rows over topics in single precision, so a topic costs
a few lanes of a few vector instructions: the cost of a token grows much more slowly than the number
of topics. Topics that already have the token's word in this document are then corrected one by one
for their own tables (burstiness). Nothing is approximated.

Tokens of a word that a document repeats are coupled by phi'. Moving them together
(`citeweave.engines.dense.run_moves`) is more effective than visiting each of them as often as other
tokens, so every second sweep visits only one of them.
"""

import numpy as np

from citeweave.compiled import hot_kernel, index, inlined
from citeweave.engines.core.climb import Ends, TopicPath, draw_removal, move_customer
from citeweave.engines.core.exponent import commit_change, discard_change, exponent_change
from citeweave.engines.core.prefetch import prefetch
from citeweave.engines.core.random import uniform
from citeweave.engines.core.tempering import word_pair
from citeweave.engines.core.turnover import Move
from citeweave.engines.core.word_climb import hand_out_table, is_long, next_run
from citeweave.engines.core.word_side import (
    BLOCK,
    draw_joining_word,
    draw_leaving_word,
    shift_word,
    word_background,
)
from citeweave.engines.dense.document import (
    draw_topic_addition,
    open_document,
    refresh_scales,
    topic_moved,
    topic_weight,
)
from citeweave.engines.dense.run_moves import move_run

__all__ = ["ONE_BY_ONE", "RANDOM_START", "TURNS", "word_sweep"]

SWEEP = 0
"""Visit every token; for each word that a document repeats, move one topic's tokens jointly."""
RANDOM_START = 1
"""Assign a uniformly random topic to every token; table indicators from their conditional."""
ONE_BY_ONE = 2
"""Visit every token, without joint moves; the draws are those of the GPU."""
ONE_OF_EACH = 3
"""Like `SWEEP`, but visit only one token, drawn at random, of a word that a document repeats."""
TURNS = (SWEEP, ONE_OF_EACH)
"""Sweeps between which sequential chains alternate."""


_FAST = {"reassoc", "contract", "nsz"}


@hot_kernel(fastmath=_FAST, forceinline=True)
def topic_value(document, rows, b, j):
    """Return the weight of the topic at place j of block b: (topic side) x (word side).

    Up to a factor, it equals ``w = shared``, then ``w = stay[i] + opened[i] * scale[i] * w`` for
    each document level i, then ``w * burst * (A * inverse + B * opening * gamma)``. ``rows`` holds
    these in order; A and B are A0 and B1 of phi at the token's word, and gamma is the background
    probability of that word.
    """
    shared, stay, opened, scale, burst, word_stay, word_open, inverse, opening, background = rows
    weight = shared[b, j]
    for i in range(len(document)):
        weight = stay[i, b, j] + opened[i, b, j] * (scale[i] * weight)
    word = word_stay[b, j] * inverse[b, j] + word_open[b, j] * opening[b, j] * background
    return weight * burst[b, j] * word


@hot_kernel(fastmath=_FAST, forceinline=True)
def weigh_blocks(document, rows, factor, block_mass):
    """Sum the weights of all topics block by block; return the total.

    Nothing is stored inside a block, so the compiler keeps everything in vector registers.
    """
    total = np.float32(0.0)
    for b in range(block_mass.shape[0]):
        mass = np.float32(0.0)
        for j in range(BLOCK):
            mass += topic_value(document, rows, b, j)
        mass *= factor
        block_mass[b] = mass
        total += mass
    return total


@hot_kernel(forceinline=True)
def pick_block(block_mass, target):
    """Return the block where the running sum passes ``target``, and the rest of ``target``."""
    b = 0
    last = block_mass.shape[0] - 1
    while b < last and target >= block_mass[b]:
        target -= block_mass[b]
        b += 1
    return b, target


@hot_kernel(fastmath=_FAST, forceinline=True)
def pick_in_block(document, rows, factor, b, target, corrected, correction, draw):
    """Return the topic of block b where the running sum passes ``target``.

    If the sum does not pass it, this is the last topic with positive weight. The ``correction`` is
    added to the weight of topics whose ``corrected`` equals ``draw``. Returns -1 if the block has
    no weight at all.
    """
    last = -1
    for j in range(BLOCK):
        value = factor * topic_value(document, rows, b, j)
        k = b * BLOCK + j
        if corrected[k] == draw:
            value += correction[k]
        if target < value:
            return k
        target -= value
        if value > 0.0:
            last = k
    return last


@inlined
def _correct_bursts(shape, tables, rows, z, work, run, power):
    """Add the weight of their own tables to topics that have the word; return the total change."""
    change = 0.0
    work.draws[0] += 1
    n_topics = work.run_customers.shape[0]
    by_topic = is_long(run, n_topics)
    for i in range(n_topics if by_topic else run.end - run.begin):
        topic = np.int64(i) if by_topic else np.int64(z[run.begin + i])
        k = index(topic)
        c = work.run_customers[k]
        if c > 0 and work.corrected[k] != work.draws[0]:
            work.corrected[k] = work.draws[0]
            stay, opened = word_pair(tables.burst, power, c, work.run_tables[k])
            b = topic // BLOCK
            before = topic_value(shape.document, rows, b, topic - b * BLOCK)
            share = topic_weight(shape, work, 0, k)
            more = np.float32(before * (opened - 1.0) + share * stay * work.burst_inverse[k])
            work.correction[k] = more
            work.block_mass[0, b] += more
            change += more
    return change


@inlined
def _path_rows(shape, cache, work, p, w, background):
    """Bundle the rows that ``topic_value`` reads for one path and word."""
    return (
        work.shared_blocks[p, len(shape.shared) - 1],
        work.stay_blocks,
        work.open_blocks,
        work.scale,
        work.burst_blocks,
        cache.stay_blocks[w],
        cache.open_blocks[w],
        cache.inverse_blocks,
        cache.opening_blocks,
        np.float32(background),
    )


@inlined
def _draw_topic(rng, shape, tables, cache, work, z, run, background, n_paths):
    """Draw a path and a topic from eq:conditional_posterior."""
    total = 0.0
    for p in range(n_paths):
        rows = _path_rows(shape, cache, work, p, run.word, background)
        factor = work.path_scale[p]
        total += weigh_blocks(shape.document, rows, factor, work.block_mass[p])
        work.path_mass[p] = total
    bursting = shape.burst > 0 and run.end - run.begin > 1
    if bursting:
        rows = _path_rows(shape, cache, work, 0, run.word, background)
        total += _correct_bursts(shape, tables, rows, z, work, run, cache.power)
        work.path_mass[0] = total
    target = uniform(rng) * total
    p = 0
    while p + 1 < n_paths and target >= work.path_mass[p]:
        p += 1
    if p > 0:
        target -= work.path_mass[p - 1]
    b, left = pick_block(work.block_mass[p], np.float32(target))
    rows = _path_rows(shape, cache, work, p, run.word, background)
    draw = work.draws[0] if bursting else -2
    pick = (work.corrected, work.correction, draw)
    k = pick_in_block(shape.document, rows, work.path_scale[p], b, left, *pick)
    b = 0
    while k < 0:  # rounding led to a block without weight: take the first block that has some
        k = pick_in_block(shape.document, rows, work.path_scale[p], b, np.float32(0.0), *pick)
        b += 1
    return p, index(k)


@inlined
def _ask_for(words, cache, w, k):
    """Prefetch the rows of the document's next word and the counts of its topic."""
    prefetch(words.customers, w, k)
    prefetch(words.tables, w, k)
    for first in range(0, cache.stay.shape[1], BLOCK):
        prefetch(cache.stay, w, index(first))
        prefetch(cache.open, w, index(first))


@hot_kernel
def word_sweep(shape, layout, tables, state, cache, work, exponent, documents, mode, tally):
    """Visit the tokens of some documents in order; ``documents`` holds the first and the end.

    The choice of the token that stands for others does not depend on the state. ``tally`` (int64
    [5]) counts tokens visited, tokens blocked, moves affected by the exponential of the citation
    likelihood, and rejections among these moves.
    """
    counts = state.topics
    words = state.words
    parameters = state.parameters
    rng = state.random
    z = state.assignments.topic
    n_document = len(shape.document)
    leaf_level = len(shape.shared) + n_document - 1
    n_topics = work.tokens.shape[0]
    starting = mode == RANDOM_START
    together = shape.burst > 0 and mode in TURNS
    sparing = together and mode == ONE_OF_EACH
    below = shape.below_citations
    network_on = shape.network > 0 and state.clock[1] > 0 and not starting
    # only the document's path, because nothing else moves
    ends = Ends(work.row, leaf_level - below, leaf_level - below)
    n_visited = 0
    n_blocked = 0
    n_corrected = 0
    n_rejected = 0
    first, last = documents
    for d in range(first, last):
        begin = layout.document_start[d]
        end = layout.document_start[d + 1]
        if begin == end:
            continue
        open_document(shape, layout, tables, state, cache, work, d, starting)
        n_paths = layout.leaf_start[d + 1] - layout.leaf_start[d]
        run_begin = begin
        while run_begin < end:
            run = next_run(layout.word, run_begin, end)
            w = run.word
            if not starting:
                if run.end < end:
                    _ask_for(words, cache, index(layout.word[run.end]), index(z[run.end]))
                if shape.burst > 0:
                    for i in range(run.begin, run.end):
                        k = index(z[i])
                        work.run_customers[k] += 1
                        work.run_tables[k] += state.assignments.burst_table[i]
            visit_begin, visit_end = run.begin, run.end
            repeated = run.end - run.begin > 1
            if sparing and repeated:
                visit_begin += np.int64(uniform(rng) * (run.end - run.begin))
                visit_end = visit_begin + 1
            n_visited += visit_end - visit_begin
            for i in range(visit_begin, visit_end):
                old = index(0)
                old_path = 0
                topic_out = 0
                word_out = 0
                if not starting:
                    old = index(z[i])
                    if n_document == 0:
                        old_path = state.assignments.path[i]
                    path = TopicPath(work.row[old_path], old)
                    topic_out = draw_removal(rng, counts, path, leaf_level)
                    word_out = draw_leaving_word(rng, shape, words, work, w, old)
                    if topic_out == 0 or word_out == 0:
                        n_blocked += 1
                        continue
                # the token is removed in the first round and added back in the second
                k, p, topic_depth, word_depth, sign = old, old_path, topic_out, word_out, -1
                for coming in range(1 if starting else 0, 2):
                    if coming == 1:
                        refresh_scales(shape, counts, parameters, work, n_paths)
                        background = word_background(shape, words, parameters, cache, w)
                        if starting:
                            k = index(uniform(rng) * n_topics)
                            p = int(uniform(rng) * n_paths)
                        else:
                            p, k = _draw_topic(
                                rng, shape, tables, cache, work, z, run, background, n_paths
                            )
                        topic_depth = draw_topic_addition(rng, shape, work, p, k)
                        word_depth = draw_joining_word(
                            rng, shape, tables, words, parameters, cache, work, w, k, background
                        )
                        sign = 1
                    path = TopicPath(work.row[p], k)
                    move_customer(counts, path, leaf_level, topic_depth, sign)
                    if network_on and coming == 1:
                        out = topic_out - below
                        into = topic_depth - below
                        if (out > 0 or into > 0) and (k != old or out != into):
                            n_corrected += 1
                            move = Move(old, k, (out, 0), (into, 0))
                            change = exponent_change(counts, parameters, exponent, ends, move)
                            if change <= 0.0 or uniform(rng) < np.exp(-change):
                                commit_change(exponent)
                            else:
                                n_rejected += 1
                                discard_change(exponent)
                                move_customer(counts, path, leaf_level, topic_depth, -1)
                                k, topic_depth, word_depth = old, topic_out, word_out
                                path = TopicPath(work.row[p], k)
                                move_customer(counts, path, leaf_level, topic_depth, 1)
                    topic_moved(shape, tables, counts, parameters, work, n_paths, path, topic_depth)
                    shift_word(
                        shape, tables, words, parameters, cache, work, w, k, word_depth, sign
                    )
                z[i] = k
                if n_document == 0:
                    state.assignments.path[i] = p
            if shape.burst > 0:
                if together and repeated:
                    move_run(shape, tables, state, cache, work, exponent, ends, run, network_on)
                for i in range(run.begin, run.end):
                    hand_out_table(state.assignments.burst_table, i, work, index(z[i]))
            run_begin = run.end
    tally[0] += n_visited
    tally[1] += n_blocked
    tally[2] += n_corrected
    tally[3] += n_rejected
