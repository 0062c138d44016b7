"""The word sweep: every token leaves, draws a topic and its table indicators, and comes back.

The weight of topic k is (topic side) x (word side), both nested over their levels
(eq:conditional_posterior). Topics that a document does not use yet differ only by
their shared levels, so their mass is one dense, vectorised dot product of single-precision
rows; the few topics in use are weighed one by one. Nothing is approximated: the two parts
add up to the full conditional, at a cost that grows far slower than the number of topics.
"""

import numpy as np

from citeweave.sampler._compile import hot_kernel, inlined
from citeweave.sampler.document import (
    BLOCK,
    draw_topic_addition,
    open_document,
    refresh_scales,
    topic_moved,
    topic_weight,
)
from citeweave.sampler.exponent import commit_change, discard_change, exponent_change
from citeweave.sampler.hierarchy import draw_removal, move_customer
from citeweave.sampler.random import uniform
from citeweave.sampler.word_side import (
    background_weight,
    draw_word_addition,
    draw_word_removal,
    move_word,
    word_weight,
)

__all__ = ["RANDOM_START", "SEQUENTIAL_START", "SWEEP", "word_sweep"]

SWEEP = 0
RANDOM_START = 1
"""Give every token a uniformly random topic; table indicators from their conditional."""
SEQUENTIAL_START = 2
"""Add tokens one by one, each from its conditional given those before it."""


@hot_kernel(fastmath={"reassoc", "contract", "nsz"})
def _dense_mass(prior, stay, opened, inverse, opening, background, blocks):
    """Equals ``prior @ (stay * inverse + opened * opening * background)``.

    ``blocks`` receives the running sum after each ``BLOCK`` topics, so that a draw need not
    walk through all of them.
    """
    n_topics = prior.shape[0]
    total = np.float32(0.0)
    for begin in range(0, n_topics, BLOCK):
        part = np.float32(0.0)
        # unsigned: an index that might be negative makes the compiler gather, not load
        for k in range(np.uintp(begin), np.uintp(min(begin + BLOCK, n_topics))):
            part += prior[k] * (stay[k] * inverse[k] + opened[k] * opening[k] * background)
        total += part
        blocks[begin // BLOCK] = total
    return total


@hot_kernel
def _dense_pick(prior, stay, opened, inverse, opening, background, blocks, target):
    """Give the topic where the running sum of ``_dense_mass`` passes ``target``, -1 if none."""
    block = 0
    last_block = (prior.shape[0] - 1) // BLOCK
    while block < last_block and blocks[block] <= target:
        block += 1
    running = blocks[block - 1] if block > 0 else np.float32(0.0)
    last = -1
    for k in range(block * BLOCK, min((block + 1) * BLOCK, prior.shape[0])):
        weight = prior[k] * (stay[k] * inverse[k] + opened[k] * opening[k] * background)
        if weight > 0.0:
            running += weight
            last = k
            if running > target:
                return k
    return last


@inlined
def _draw_topic(rng, shape, tables, cache, work, w, background, n_paths, n_active):
    """Draw a path and a topic from eq:conditional_posterior."""
    total = 0.0
    for a in range(n_active):
        k = work.active[a]
        weight = word_weight(shape, tables, cache, work, w, k, background)
        total += weight * topic_weight(shape, work, 0, k, len(shape.document))
        work.mass[a] = total
    narrow = np.float32(background)
    stay = cache.stay[w]
    opened = cache.open[w]
    everything = total
    for p in range(n_paths):
        mass = _dense_mass(
            work.prior[p], stay, opened, cache.inverse, cache.opening, narrow, work.blocks[p]
        )
        everything += work.path_scale[p] * mass
        work.path_mass[p] = everything
    target = uniform(rng) * everything
    if target < total:
        for a in range(n_active):
            if target < work.mass[a]:
                return 0, work.active[a]
    p = 0
    while p + 1 < n_paths and target >= work.path_mass[p]:
        p += 1
    before = work.path_mass[p - 1] if p > 0 else total
    inside = np.float32((target - before) / work.path_scale[p])
    k = _dense_pick(
        work.prior[p], stay, opened, cache.inverse, cache.opening, narrow, work.blocks[p], inside
    )
    if k < 0:  # every topic is in use, and rounding passed the last of them
        k = work.active[n_active - 1]
    return p, k


@hot_kernel
def word_sweep(shape, layout, tables, state, cache, work, exponent, first, last, mode, tally):
    """Visit the tokens of documents ``first`` to ``last`` - 1 once, in order.

    ``tally`` (int64 [4]) counts tokens visited, blocked, moves that the exponential of the
    citation likelihood had a say in, and of these the rejected.
    """
    counts = state.topics
    words = state.words
    parameters = state.parameters
    rng = state.random
    z = state.assignments.topic
    n_document = len(shape.document)
    leaf_level = len(shape.shared) + n_document - 1
    n_topics = work.active.shape[0]
    starting = mode != SWEEP
    below = shape.below_citations
    network_on = len(shape.network) > 0 and state.clock[1] > 0 and not starting
    n_blocked = 0
    n_corrected = 0
    n_rejected = 0
    for d in range(first, last):
        begin = layout.document_start[d]
        end = layout.document_start[d + 1]
        if begin == end:
            continue
        n_active = open_document(shape, layout, tables, state, work, d, starting)
        leaf_first = layout.leaf_start[d]
        n_paths = layout.leaf_start[d + 1] - leaf_first
        run_begin = begin
        while run_begin < end:
            w = layout.word[run_begin]
            run_end = run_begin + 1
            while run_end < end and layout.word[run_end] == w:
                run_end += 1
            if len(shape.burst) > 0 and not starting:
                for i in range(run_begin, run_end):
                    work.run_customers[z[i]] += 1
                    work.run_tables[z[i]] += state.assignments.burst_table[i]
            for i in range(run_begin, run_end):
                old = 0
                old_path = 0
                topic_out = 0
                word_out = 0
                if not starting:
                    old = z[i]
                    if n_document == 0:
                        old_path = state.assignments.path[i]
                    leaf = layout.leaf[leaf_first + old_path]
                    topic_out = draw_removal(rng, layout, counts, leaf_level, leaf, old)
                    word_out = draw_word_removal(rng, shape, words, work, w, old)
                    if topic_out == 0 or word_out == 0:
                        n_blocked += 1
                        continue
                # the token leaves in the first round and comes back in the second
                k, p, topic_depth, word_depth, sign = old, old_path, topic_out, word_out, -1
                for coming in range(1 if starting else 0, 2):
                    if coming == 1:
                        refresh_scales(shape, layout, counts, parameters, work, d)
                        background = background_weight(shape, words, parameters, cache, w)
                        if mode == RANDOM_START:
                            k = int(uniform(rng) * n_topics)
                            p = int(uniform(rng) * n_paths)
                        else:
                            p, k = _draw_topic(
                                rng, shape, tables, cache, work, w, background, n_paths, n_active
                            )
                        topic_depth = draw_topic_addition(rng, shape, work, p, k)
                        word_depth = draw_word_addition(
                            rng, shape, tables, words, parameters, cache, work, w, k, background
                        )
                        sign = 1
                    leaf = layout.leaf[leaf_first + p]
                    move_customer(layout, counts, leaf_level, leaf, k, topic_depth, sign)
                    if network_on and coming == 1:
                        out = topic_out - below
                        into = topic_depth - below
                        if (out > 0 or into > 0) and (k != old or out != into):
                            n_corrected += 1
                            change = exponent_change(
                                layout,
                                counts,
                                parameters,
                                exponent,
                                leaf_level - below,
                                layout.citation_node + d,
                                -1,
                                old,
                                k,
                                (out, 0),
                                (into, 0),
                            )
                            if change <= 0.0 or uniform(rng) < np.exp(-change):
                                commit_change(exponent)
                            else:
                                n_rejected += 1
                                discard_change(exponent)
                                move_customer(layout, counts, leaf_level, leaf, k, topic_depth, -1)
                                k, topic_depth, word_depth = old, topic_out, word_out
                                move_customer(layout, counts, leaf_level, leaf, k, topic_depth, 1)
                    n_active = topic_moved(
                        shape,
                        layout,
                        tables,
                        counts,
                        parameters,
                        work,
                        d,
                        leaf,
                        k,
                        topic_depth,
                        n_active,
                    )
                    move_word(shape, tables, words, parameters, cache, work, w, k, word_depth, sign)
                z[i] = k
                if n_document == 0:
                    state.assignments.path[i] = p
            if len(shape.burst) > 0:
                # who holds a table is forgotten: the first tokens of each topic get the bits
                for i in range(run_begin, run_end):
                    k = z[i]
                    held = 1 if work.run_tables[k] > 0 else 0
                    state.assignments.burst_table[i] = held
                    work.run_tables[k] -= held
                    work.run_customers[k] = 0
            run_begin = run_end
    tally[0] += layout.document_start[last] - layout.document_start[first]
    tally[1] += n_blocked
    tally[2] += n_corrected
    tally[3] += n_rejected
