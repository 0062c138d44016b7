"""Open and leave a document, and a run of tokens of one word.

The changes of a document to its own counts are written to these counts. In a sequential chain, its
changes to the counts above it are written there too. In a snapshot chain they are added to the
changes of the worker (`change_lists`), with a bit for each changed entry of a row.
"""

from typing import NamedTuple

import numpy as np

from citeweave.compiled import index, inlined
from citeweave.engines.core.prefetch import prefetch
from citeweave.engines.core.row_places import pair_at, set_pair
from citeweave.engines.core.word_climb import hand_out_table
from citeweave.engines.slots.change_lists import Noted, note_change
from citeweave.engines.slots.exponent import Pending, leave_rates, open_rates
from citeweave.engines.slots.presence import is_present, lowest_bit, note_presence
from citeweave.engines.slots.slots import Slots, add_slot, fill_word, refresh_burst
from citeweave.engines.threads.world import Changes

__all__ = ["Sharing", "WordBuffers", "close_run", "leave_document", "open_document", "open_run"]


class Sharing(NamedTuple):
    """Where a document's changes to shared counts go: the counts, or a worker's changes."""

    snapshot: tuple[int, ...]
    """One entry if counts above documents are a snapshot; only the length is read."""
    changes: Changes
    """Changes that the worker's documents made to words since the snapshot."""
    noted: Noted
    """Changes that they made to nodes."""
    word_marks: np.ndarray
    """uint64 [words, words of 64 topics]."""


class WordBuffers(NamedTuple):
    """Buffers that one worker's word sweep writes to."""

    slots: Slots
    pending: Pending
    sharing: Sharing
    before: np.ndarray
    """int16 [longest document]: previous topics of the tokens of the current run."""


@inlined
def open_document(model, state, cache, buffers, support, proposal, network, d, on):
    """Fill the slots of a document; return whether its author is listed."""
    shape, layout, tables = model
    slots, presence = buffers.slots, support.nodes
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
        if slots.held.shape[0] > 0:
            slots.share[level] = state.parameters.share[n]
        n = index(layout.parent[n])
    document, author = index(slots.node[low]), index(slots.node[low - 1])
    listed = low > 1 and proposal.listed[author - index(layout.level_start[low - 1])] > 0
    for i in range(presence.shape[1]):
        bits = presence[document, index(i)]
        if listed:
            bits |= presence[author, index(i)]
        while bits != np.uint64(0):
            k = 64 * i + lowest_bit(bits)
            bits &= bits - np.uint64(1)
            add_slot(shape, tables, state, cache, presence, slots, k, listed)
    if shape.burst > 0:
        for i in range(layout.document_start[d], layout.document_start[d + 1]):
            s = index(slots.place[index(state.assignments.topic[i])])
            slots.tokens[s] += 1
            slots.burst_tables[s] += state.assignments.burst_table[i]
        for s in range(index(slots.used[0])):
            refresh_burst(state.parameters, slots, s)
    slots.background_totals[0] = state.words.background_totals[0]
    slots.background_totals[1] = state.words.background_totals[1]
    if on:
        pending = buffers.pending
        open_rates(shape, counts, state.parameters, network, presence, slots, pending, listed)
    return listed


@inlined
def _mark(marks, row, k):
    marks[row, k // index(64)] |= np.uint64(1) << np.uint64(k % index(64))


@inlined
def leave_document(shape, state, cache, buffers, support, network, listed, on):
    """Write back a document's changes to its own counts and to those above it."""
    slots, sharing, presence = buffers.slots, buffers.sharing, support.nodes
    counts, words = state.topics, state.words
    n_levels = len(shape.shared) + len(shape.document)
    direct = len(sharing.snapshot) == 0
    if on and direct:
        pending = buffers.pending
        leave_rates(shape, counts, state.parameters, network, presence, slots, pending, listed)
    # remove lost topics first, so that a list never needs more room than its topics take
    for level in range(0 if direct else len(shape.shared), n_levels):
        i = index(level)
        n = index(slots.node[i])
        for s in range(index(slots.used[0])):
            k = index(slots.topic[s])
            if slots.customers[i, s] == 0 and is_present(presence, n, k):
                set_pair(counts.customers, counts.tables, n, k, 0, 0)
                note_presence(presence, n, k, 0)
    for s in range(index(slots.used[0])):
        k = index(slots.topic[s])
        for level in range(n_levels):
            i = index(level)
            n = index(slots.node[i])
            if slots.customers[i, s] == 0 and not is_present(presence, n, k):
                continue
            before, seated = pair_at(counts.customers, counts.tables, n, k)
            customers = slots.customers[i, s] - before
            seated = slots.tables[i, s] - seated
            if customers == 0 and seated == 0:
                continue
            if direct or level >= len(shape.shared):
                now = (slots.customers[i, s], slots.tables[i, s])
                set_pair(counts.customers, counts.tables, n, k, now[0], now[1])
                note_presence(presence, n, k, now[0])
            else:
                note_change(sharing.noted, n, k, customers, seated)
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
        words.background_totals[0] = slots.background_totals[0]
        words.background_totals[1] = slots.background_totals[1]


@inlined
def open_run(shape, state, cache, word_presence, slots, run):
    """Read the weights of the current word under every slot."""
    w = run.word
    for s in range(index(slots.used[0])):
        fill_word(cache, word_presence, slots, s, w)
    if shape.burst > 0:
        for i in range(run.begin, run.end):
            s = index(slots.place[index(state.assignments.topic[i])])
            slots.run_customers[s] += 1
            slots.run_tables[s] += state.assignments.burst_table[i]
    slots.background_customers[0] = state.words.background_customers[w]
    slots.background_tables[0] = state.words.background_tables[w]
    slots.background_stay[0] = cache.background_stay[w]
    slots.background_open[0] = cache.background_open[w]


@inlined
def read_ahead(layout, state, cache, word_presence, slots, proposal, run_end, end):
    """Prefetch the data of the next word and the bits of the one after it."""
    if run_end >= end:
        return
    w = index(layout.word[run_end])
    for s in range(index(slots.used[0])):
        k = index(slots.topic[s])
        if is_present(word_presence, w, k):
            prefetch(cache.stay, w, k)
            prefetch(cache.open, w, k)
    k = index(state.assignments.topic[run_end])
    prefetch(state.words.customers, w, k)
    prefetch(state.words.tables, w, k)
    prefetch(proposal.word, w, k)
    if run_end + 1 < end:
        w = index(layout.word[run_end + 1])
        for i in range(0, word_presence.shape[1], 8):
            prefetch(word_presence, w, index(i))


@inlined
def _settle_word(state, cache, word_presence, slots, sharing, w, s):
    """Write back a run's changes to phi_k at its word, for one slot."""
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
def close_run(shape, state, cache, word_presence, buffers, run):
    """End a run; no later run of the document has the same word."""
    slots, sharing, w = buffers.slots, buffers.sharing, run.word
    for i in range(run.begin, run.end):
        k = index(state.assignments.topic[i])
        s = index(slots.place[k])
        _settle_word(state, cache, word_presence, slots, sharing, w, s)
        left = index(slots.place[index(buffers.before[i - run.begin])])
        _settle_word(state, cache, word_presence, slots, sharing, w, left)
        if shape.burst > 0:
            hand_out_table(state.assignments.burst_table, i, slots, s)
    if len(sharing.snapshot) == 0:
        state.words.background_customers[w] = slots.background_customers[0]
        state.words.background_tables[w] = slots.background_tables[0]
        cache.background_stay[w] = slots.background_stay[0]
        cache.background_open[w] = slots.background_open[0]
    else:
        seated = slots.background_tables[0] - state.words.background_tables[w]
        if seated != 0:
            sharing.changes.background_tables[w] += seated
