"""The word sweep over slots: a token's topic is proposed, not drawn from all.

With the token removed, let W(k) be the weight that topic k would be drawn with and *inside* the
topics that the document, or its listed author, still has. The proposal is

    q(k) = [k inside] W(k) + s R_w(k)

with the word's guesses R_w (`citeweave.sparse.guesses`). W and q are what they are without the
token, and guesses stand still between refreshments, so that accepting with probability
W(k') q(k) / (W(k) q(k')) leaves the posterior as it is. Tables are drawn, and the citations'
exponential decides, as in the sweep over all topics (`citeweave.sampler.words`).
"""

from typing import NamedTuple

import numpy as np

from citeweave.parallel.streams import WORDS, open_stream
from citeweave.parallel.world import Changes
from citeweave.sampler._compile import hot_kernel, index, inlined
from citeweave.sampler.random import uniform
from citeweave.sampler.stirling import weight_pair
from citeweave.sampler.word_side import BLOCK
from citeweave.sparse.exponent import (
    commit_move,
    join_rates,
    leave_rates,
    move_change,
    open_rates,
)
from citeweave.sparse.guesses import draw_guess, guess_at
from citeweave.sparse.presence import lowest_bit, note_presence
from citeweave.sparse.slots import (
    add_slot,
    draw_topic_addition,
    draw_topic_removal,
    draw_word_addition,
    draw_word_removal,
    fill_word,
    refresh_burst,
    refresh_scales,
    refresh_topic,
    shift_topic,
    shift_word,
)

__all__ = ["Sharing", "word_sweep"]

_FAST = {"reassoc", "contract", "nsz"}


class Sharing(NamedTuple):
    """Where a document's changes of shared counts go: into the counts, or among a worker's."""

    snapshot: tuple[int, ...]
    """One entry where counts above documents are a snapshot; only the length is read."""
    changes: Changes
    """What the worker's documents did since the snapshot."""
    node_marks: np.ndarray
    """uint64 [shared nodes, words of 64 topics]: where it did."""
    word_marks: np.ndarray
    """uint64 [words, words of 64 topics]."""


@hot_kernel(fastmath=_FAST, forceinline=True)
def _slot_value(shape, slots, b, j, background):
    """Weight of the slot at place j of block b, without its own bursts."""
    weight = slots.root_blocks[b, j]
    for level in range(1, len(shape.shared) + len(shape.document)):
        above = slots.scale[level] * weight
        weight = slots.stay_blocks[level, b, j] + slots.open_blocks[level, b, j] * above
    word = slots.word_stay_blocks[b, j] * slots.inverse_blocks[b, j]
    word += slots.word_open_blocks[b, j] * slots.opening_blocks[b, j] * background
    if len(shape.burst) > 0:
        word *= slots.burst_blocks[b, j]
    return weight * word


@hot_kernel(fastmath=_FAST, forceinline=True)
def _weigh_blocks(shape, slots, background, n_blocks):
    """Sum the weights of the slots inside, block by block; returns the sum of all."""
    total = np.float32(0.0)
    for b in range(n_blocks):
        mass = np.float32(0.0)
        for j in range(index(BLOCK)):
            mass += slots.inside_blocks[b, j] * _slot_value(shape, slots, b, j, background)
        slots.block_mass[b] = mass
        total += mass
    return total


@inlined
def _topic_side(shape, slots, s, root):
    """Topic-side weight of a slot whose topic weighs ``root`` at mu."""
    weight = root
    for level in range(1, len(shape.shared) + len(shape.document)):
        i = index(level)
        weight = slots.stay[i, s] + slots.open[i, s] * (slots.scale[i] * weight)
    return weight


@inlined
def _root_weight(parameters, slots, s):
    """Weight at mu of a slot's topic; free ones share what a new topic weighs."""
    if slots.customers[0, s] > 0:
        return np.float32(slots.root[s])
    used = slots.total_tables[0]
    new = slots.beta[0] + parameters.topic_discount[0] * used
    return np.float32(new / max(slots.place.shape[0] - used, 1))


@inlined
def _full_weight(shape, tables, parameters, slots, s, background):
    """Weight of a slot, inside or not, its own bursts included: W of eq:conditional_posterior."""
    topic = _topic_side(shape, slots, s, _root_weight(parameters, slots, s))
    word = slots.word_stay[s] * slots.inverse[s]
    word += slots.word_open[s] * slots.opening[s] * background
    if len(shape.burst) > 0:
        word *= slots.burst_opening[s]
        c = slots.run_customers[s]
        if c > 0:
            stay, opened = weight_pair(tables.burst, c, slots.run_tables[s])
            word *= opened
            word += stay / (parameters.word_concentration[1] + slots.tokens[s])
    return topic * word


@inlined
def _correct_bursts(shape, tables, parameters, slots, z, background, run_begin, run_end):
    """Let topics that have the word at hand already weigh their own tables; return the change."""
    change = np.float32(0.0)
    slots.draws[0] += 1
    for i in range(run_begin, run_end):
        s = index(slots.place[index(z[i])])
        c = slots.run_customers[s]
        if c > 0 and slots.corrected[s] != slots.draws[0]:
            slots.corrected[s] = slots.draws[0]
            b = s // index(BLOCK)
            before = _slot_value(shape, slots, b, s - b * index(BLOCK), background)
            full = _full_weight(shape, tables, parameters, slots, s, background)
            more = np.float32(full - before)
            slots.correction[s] = more
            slots.block_mass[b] += more
            change += more
    return change


@inlined
def _pick_slot(shape, slots, background, n_blocks, target, bursting):
    """Give the slot inside where the running sum passes ``target``; -1 if none does."""
    for b in range(n_blocks):
        if target >= slots.block_mass[b]:
            target -= slots.block_mass[b]
            continue
        last = -1
        for j in range(index(BLOCK)):
            if slots.inside_blocks[b, j] > 0.0:
                s = b * index(BLOCK) + j
                value = _slot_value(shape, slots, b, j, background)
                if bursting and slots.corrected[s] == slots.draws[0]:
                    value += slots.correction[s]
                last = np.int64(s)
                if target < value:
                    return last
                target -= value
        if last >= 0:  # rounding: the last of the block
            return last
    return -1


@inlined
def _gamma_weight(shape, n_words, parameters, slots):
    """Probability of the word at hand under gamma, as this document sees it."""
    if len(shape.background) == 0:
        return 1.0 / n_words
    beta = parameters.word_concentration[0]
    opening = beta + parameters.word_discount[0] * slots.gamma[3]
    weight = slots.gamma_pair[0] + slots.gamma_pair[1] * opening / n_words
    return weight / (beta + slots.gamma[2])


@inlined
def _outside_scale(shape, parameters, slots, listed):
    """Give s, which turns guesses into weights of topics that the document does not have.

    Topics of a listed author count as inside; other authors' are taken to be spread as the
    corpus's are.
    """
    above = len(shape.shared) - 1 if len(shape.shared) > 1 else 1
    if listed or len(shape.shared) == 1:
        scale = slots.beta[above] + parameters.topic_discount[above] * slots.total_tables[above]
    else:
        scale = slots.beta[above] + slots.total_customers[above]
    for level in range(above + 1, len(shape.shared) + len(shape.document)):
        scale *= slots.scale[level]
    return scale


@inlined
def _open_document(
    shape, layout, tables, state, cache, slots, pending, presence, guesses, rates, exponent, d, on
):
    """Fill the slots of a document; returns whether its author is listed."""
    counts = state.topics
    n_levels = len(shape.shared) + len(shape.document)
    low = len(shape.shared)
    n = index(layout.leaf[layout.leaf_start[d]])
    for step in range(n_levels):
        level = index(n_levels - 1 - step)
        slots.node[level] = n
        slots.total_customers[level] = counts.total_customers[n]
        slots.total_tables[level] = counts.total_tables[n]
        slots.beta[level] = state.parameters.topic_concentration[n]
        n = index(layout.parent[n])
    document, author = index(slots.node[low]), index(slots.node[low - 1])
    listed = low > 1 and guesses.listed[author - index(layout.level_start[low - 1])] > 0
    for i in range(presence.shape[1]):
        bits = presence[document, index(i)]
        if listed:
            bits |= presence[author, index(i)]
        while bits != np.uint64(0):
            k = 64 * i + lowest_bit(bits)
            bits &= bits - np.uint64(1)
            add_slot(shape, layout, tables, state, cache, slots, k, listed)
    if len(shape.burst) > 0:
        for i in range(layout.document_start[d], layout.document_start[d + 1]):
            s = index(slots.place[index(state.assignments.topic[i])])
            slots.tokens[s] += 1
            slots.burst_tables[s] += state.assignments.burst_table[i]
        for s in range(index(slots.used[0])):
            refresh_burst(state.parameters, slots, s)
    slots.gamma[2] = state.words.background_totals[0]
    slots.gamma[3] = state.words.background_totals[1]
    if on:
        open_rates(
            shape,
            layout,
            counts,
            state.parameters,
            exponent,
            rates,
            presence,
            slots,
            pending,
            listed,
        )
    return listed


@inlined
def _mark(marks, row, k):
    marks[row, k // index(64)] |= np.uint64(1) << np.uint64(k % index(64))


@inlined
def _leave_document(
    shape, state, cache, slots, pending, presence, rates, exponent, sharing, listed, on
):
    """Give back what a document did: to its own counts, and to those above it."""
    counts, words = state.topics, state.words
    n_levels = len(shape.shared) + len(shape.document)
    direct = len(sharing.snapshot) == 0
    if on and direct:
        leave_rates(
            shape,
            counts,
            state.parameters,
            exponent,
            rates,
            presence,
            slots,
            pending,
            listed,
        )
    for s in range(index(slots.used[0])):
        k = index(slots.topic[s])
        for level in range(n_levels):
            i = index(level)
            n = index(slots.node[i])
            customers = slots.customers[i, s] - counts.customers[n, k]
            seated = slots.tables[i, s] - counts.tables[n, k]
            if customers == 0 and seated == 0:
                continue
            if direct or level >= len(shape.shared):
                counts.customers[n, k] += customers
                counts.tables[n, k] += seated
                note_presence(presence, n, k, slots.customers[i, s])
            else:
                sharing.changes.node_customers[n, k] += customers
                sharing.changes.node_tables[n, k] += seated
                _mark(sharing.node_marks, n, k)
        if direct:
            words.total_customers[k] = slots.phi_customers[s]
            words.total_tables[k] = slots.phi_tables[s]
            cache.inverse[k] = slots.inverse[s]
            cache.opening[k] = slots.opening[s]
        slots.inside[s] = 0.0
        slots.place[k] = -1
    slots.used[0] = 0
    for level in range(0 if direct else len(shape.shared), n_levels):
        i = index(level)
        n = index(slots.node[i])
        counts.total_customers[n] = slots.total_customers[i]
        counts.total_tables[n] = slots.total_tables[i]
    if direct:
        words.background_totals[0] = slots.gamma[2]
        words.background_totals[1] = slots.gamma[3]


@inlined
def _open_run(shape, state, cache, word_presence, slots, w, run_begin, run_end):
    """Read what the word at hand weighs under every slot."""
    for s in range(index(slots.used[0])):
        fill_word(cache, word_presence, slots, s, w)
    if len(shape.burst) > 0:
        for i in range(run_begin, run_end):
            s = index(slots.place[index(state.assignments.topic[i])])
            slots.run_customers[s] += 1
            slots.run_tables[s] += state.assignments.burst_table[i]
    slots.gamma[0] = state.words.background_customers[w]
    slots.gamma[1] = state.words.background_tables[w]
    slots.gamma_pair[0] = cache.background_stay[w]
    slots.gamma_pair[1] = cache.background_open[w]


@inlined
def _settle_word(state, cache, word_presence, slots, sharing, w, s):
    """Give back what a run did to phi_k at its word, for one slot."""
    customers, seated = slots.word_customers[s], slots.word_tables[s]
    if customers == 0 and seated == 0:
        return
    k = index(slots.topic[s])
    if len(sharing.snapshot) == 0:
        state.words.customers[w, k] += customers
        state.words.tables[w, k] += seated
        cache.stay[w, k] = slots.word_stay[s]
        cache.open[w, k] = slots.word_open[s]
        note_presence(word_presence, w, k, state.words.customers[w, k])
    else:
        sharing.changes.words[w, k, 0] += customers
        sharing.changes.words[w, k, 1] += seated
        _mark(sharing.word_marks, w, k)
    slots.word_customers[s] = 0
    slots.word_tables[s] = 0


@inlined
def _close_run(
    shape, state, cache, word_presence, slots, sharing, w, run_begin, run_end, before
):
    """End a run: its word comes again in no later one of the document.

    ``before`` are the topics that its tokens had.
    """
    for i in range(run_begin, run_end):
        k = index(state.assignments.topic[i])
        s = index(slots.place[k])
        _settle_word(state, cache, word_presence, slots, sharing, w, s)
        left = index(slots.place[index(before[i - run_begin])])
        _settle_word(state, cache, word_presence, slots, sharing, w, left)
        if len(shape.burst) > 0:
            # who holds a table is forgotten: the first tokens of each topic get the bits
            held = 1 if slots.run_tables[s] > 0 else 0
            state.assignments.burst_table[i] = held
            slots.run_tables[s] -= held
            slots.run_customers[s] = 0
    if len(sharing.snapshot) == 0:
        state.words.background_customers[w] = slots.gamma[0]
        state.words.background_tables[w] = slots.gamma[1]
        cache.background_stay[w] = slots.gamma_pair[0]
        cache.background_open[w] = slots.gamma_pair[1]
    else:
        seated = slots.gamma[1] - state.words.background_tables[w]
        if seated != 0:
            sharing.changes.background_tables[w] += seated


@inlined
def _propose(
    rng,
    shape,
    layout,
    tables,
    state,
    cache,
    word_presence,
    slots,
    guesses,
    w,
    old,
    background,
    listed,
    run,
    draw,
):
    """Propose a topic and decide on it; returns its slot, and whether it was given one for this.

    ``run`` is the begin and end of the run, ``draw`` counts proposals from guesses and refusals.
    """
    parameters = state.parameters
    n_blocks = index((slots.used[0] + BLOCK - 1) // BLOCK)
    single = np.float32(background)
    mass = _weigh_blocks(shape, slots, single, n_blocks)
    bursting = len(shape.burst) > 0 and run[1] - run[0] > 1
    if bursting:
        z = state.assignments.topic
        mass += _correct_bursts(shape, tables, parameters, slots, z, single, run[0], run[1])
    unit = _outside_scale(shape, parameters, slots, listed) * guesses.word_mass[w]
    target = uniform(rng) * (mass + unit)
    picked = -1
    if target < mass:
        picked = _pick_slot(shape, slots, single, n_blocks, np.float32(target), bursting)
    table = guesses.word[w]
    joined = False
    if picked < 0:
        draw[0] += 1
        k = index(draw_guess(rng, table))
        picked = np.int64(slots.place[k])
        if picked < 0:
            picked = np.int64(add_slot(shape, layout, tables, state, cache, slots, k, listed))
            fill_word(cache, word_presence, slots, index(picked), w)
            joined = True
    new = index(picked)
    if new != old:
        unit /= np.float64(table[index(table.shape[0] - 1)])
        before = _full_weight(shape, tables, parameters, slots, old, single)
        after = _full_weight(shape, tables, parameters, slots, new, single)
        leaving = before * slots.inside[old] + unit * guess_at(table, slots.topic[old])
        coming = after * slots.inside[new] + unit * guess_at(table, slots.topic[new])
        if uniform(rng) * (before * coming) >= after * leaving:
            draw[1] += 1
            if joined:
                slots.used[0] -= 1
                slots.place[index(slots.topic[new])] = -1
            return old, False, False
    return new, joined, True


@hot_kernel
def word_sweep(
    shape,
    layout,
    tables,
    state,
    cache,
    slots,
    pending,
    presence,
    word_presence,
    guesses,
    rates,
    exponent,
    sharing,
    before,
    key,
    docs,
    tally,
):
    """Visit the tokens of some documents once.

    ``before`` (int16) has room for the topics of the longest run of a word; ``docs`` (int64 [3]) is
    first document, end and step. In snapshots each document has its own random stream of ``key``.
    ``tally`` (int64 [7]) counts tokens visited, blocked, moves that the exponential had a say in,
    and of these the rejected; then (after an entry without meaning) proposals from guesses and
    proposals refused.
    """
    parameters, words = state.parameters, state.words
    z = state.assignments.topic
    n_levels = len(shape.shared) + len(shape.document)
    n_words = words.customers.shape[0]
    below = shape.below_citations
    on = len(shape.network) > 0 and state.clock[1] > 0
    direct = len(sharing.snapshot) == 0
    rng = state.random if direct else slots.random
    draw = tally[5:7]
    for d in range(docs[0], docs[1], docs[2]):
        begin = layout.document_start[d]
        end = layout.document_start[d + 1]
        if begin == end:
            continue
        if not direct:
            open_stream(key, WORDS, d, rng)
        listed = _open_document(
            shape,
            layout,
            tables,
            state,
            cache,
            slots,
            pending,
            presence,
            guesses,
            rates,
            exponent,
            d,
            on,
        )
        tally[0] += end - begin
        run_begin = begin
        while run_begin < end:
            w = index(layout.word[run_begin])
            run_end = run_begin + 1
            while run_end < end and layout.word[run_end] == layout.word[run_begin]:
                run_end += 1
            _open_run(shape, state, cache, word_presence, slots, w, run_begin, run_end)
            for i in range(run_begin, run_end):
                before[i - run_begin] = z[i]
                old = index(slots.place[index(z[i])])
                topic_out = draw_topic_removal(rng, shape, slots, old)
                word_out = draw_word_removal(rng, shape, words, slots, w, old)
                if topic_out == 0 or word_out == 0:
                    tally[1] += 1
                    continue
                # the token leaves
                shift_topic(shape, parameters, slots, old, topic_out, -1)
                refresh_topic(shape, tables, parameters, slots, old, topic_out, listed)
                shift_word(shape, tables, words, parameters, slots, w, old, word_out, -1)
                refresh_scales(shape, parameters, slots)
                background = _gamma_weight(shape, n_words, parameters, slots)
                new, joined, stands = _propose(
                    rng,
                    shape,
                    layout,
                    tables,
                    state,
                    cache,
                    word_presence,
                    slots,
                    guesses,
                    w,
                    old,
                    background,
                    listed,
                    (run_begin, run_end),
                    draw,
                )
                topic_in, word_in = topic_out, word_out
                if stands:
                    root = _root_weight(parameters, slots, new)
                    topic_in = draw_topic_addition(rng, shape, slots, new, root)
                    word_in = draw_word_addition(
                        rng, shape, tables, parameters, slots, new, background
                    )
                if joined and on:
                    join_rates(
                        shape, state.topics, parameters, exponent, rates, slots, pending, new
                    )
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
            _close_run(shape, state, cache, word_presence, slots, sharing, w, run_begin, run_end, before)
            run_begin = run_end
        _leave_document(
            shape, state, cache, slots, pending, presence, rates, exponent, sharing, listed, on
        )
    tally[4] += n_levels
