"""The current document as rows over its slots: the topics that it or its listed author has.

A slot is a column: counts and weights of one topic at every level of the document's path, of its
phi and of the current word. Everything is read from the counts when a document is opened and
written back when it is left, so the same sweep serves both sequential chains and workers that see
a snapshot.
"""

from typing import NamedTuple

import numpy as np

from citeweave.compiled import index, inlined
from citeweave.engines.core.arrays import level_table
from citeweave.engines.core.climb import TopicPath, draw_removal, move_customer
from citeweave.engines.core.random import uniform
from citeweave.engines.core.row_places import pair_at
from citeweave.engines.core.stirling import weight_pair
from citeweave.engines.core.word_climb import (
    WordSeats,
    draw_word_addition,
    draw_word_removal,
    move_word,
    normalise_topic,
)
from citeweave.engines.core.word_side import BLOCK, in_blocks, padded
from citeweave.engines.slots.presence import is_present

__all__ = [
    "Slots",
    "add_slot",
    "draw_joining_word",
    "draw_leaving_word",
    "draw_topic_addition",
    "draw_topic_removal",
    "fill_word",
    "new_slots",
    "refresh_burst",
    "refresh_scales",
    "refresh_topic",
    "shift_topic",
    "shift_word",
    "slot_weight",
]


class Slots(NamedTuple):
    """Scratch memory of one worker; columns beyond the last slot have weight 0."""

    topic: np.ndarray
    """int32 [room]: topic of each slot."""
    place: np.ndarray
    """int32 [topics]: slot of each topic, -1 for none."""
    used: np.ndarray
    """int64 [1]: number of slots."""
    customers: np.ndarray
    """int32 [levels, room]."""
    tables: np.ndarray
    """int32 [levels, room]."""
    held: np.ndarray
    """int32 [levels or none, room]: as in `TopicCounts`."""
    own: np.ndarray
    """float64 [levels, room]: c - alpha t."""
    stay: np.ndarray
    """float32 [levels, room]: A0."""
    open: np.ndarray
    """float32 [levels, room]: B1."""
    root: np.ndarray
    """float32 [room]: weight at mu."""
    phi_customers: np.ndarray
    """int64 [room]: C of phi_k."""
    phi_tables: np.ndarray
    """int64 [room]."""
    inverse: np.ndarray
    """float32 [room]: 1 / (beta + C) of phi_k."""
    opening: np.ndarray
    """float32 [room]: (beta + alpha T) / (beta + C) of phi_k."""
    word_stay: np.ndarray
    """float32 [room]: A0 of phi_k at the current word."""
    word_open: np.ndarray
    """float32 [room]: B1."""
    word_customers: np.ndarray
    """int32 [room]: change of phi_k's customers at the word of the current run, so far."""
    word_tables: np.ndarray
    """int32 [room]."""
    tokens: np.ndarray
    """int32 [room]: customers of phi'_dk."""
    burst_tables: np.ndarray
    """int32 [room]."""
    burst_opening: np.ndarray
    """float32 [room]: (beta + alpha T) / (beta + C) of phi'_dk."""
    run_customers: np.ndarray
    """int32 [room]: customers of phi'_dk at the current word."""
    run_tables: np.ndarray
    """int32 [room]."""
    inside: np.ndarray
    """float32 [room]: 1 if the document or its listed author has the topic, else 0."""
    scaled: np.ndarray
    """float64 [room]: lambdaT."""
    cite: np.ndarray
    """float64 [room]: P."""
    cited: np.ndarray
    """float64 [room]: M."""
    row: np.ndarray
    """int64 [levels]: row of each level in these arrays: the level itself, see `TopicPath`."""
    node: np.ndarray
    """int64 [levels]: the document's path, root first."""
    total_customers: np.ndarray
    """int64 [levels]: current totals, including the document's moves so far."""
    total_tables: np.ndarray
    """int64 [levels]."""
    beta: np.ndarray
    """float64 [levels]."""
    share: np.ndarray
    """float64 [levels]: contribution of the author who serves the document, 1 at other levels."""
    scale: np.ndarray
    """float32 [levels]: (beta + alpha T) / (beta_parent + C_parent), times that share."""
    background_customers: np.ndarray
    """int64 [1]: customers of gamma at the current word."""
    background_tables: np.ndarray
    """int64 [1]."""
    background_totals: np.ndarray
    """int64 [2]: C and T of gamma."""
    background_stay: np.ndarray
    """float64 [1]: A0 of gamma at the current word."""
    background_open: np.ndarray
    """float64 [1]: B1."""
    stay_blocks: np.ndarray
    """Rows from which weights are computed, viewed in blocks."""
    open_blocks: np.ndarray
    root_blocks: np.ndarray
    burst_blocks: np.ndarray
    word_stay_blocks: np.ndarray
    word_open_blocks: np.ndarray
    inverse_blocks: np.ndarray
    opening_blocks: np.ndarray
    inside_blocks: np.ndarray
    block_mass: np.ndarray
    """float32 [blocks]: sums of the weights of the current token."""
    draws: np.ndarray
    """int64 [1]: number of draws so far that had to be corrected for bursts of the word."""
    corrected: np.ndarray
    """int64 [room]: last such draw that corrected each slot."""
    correction: np.ndarray
    """float32 [room]: amount that the correction added."""
    random: np.ndarray
    """uint64 [4]: the document's own random stream, if it has one."""


def new_slots(n_topics: int, n_levels: int, *, held: bool = False) -> Slots:
    """Allocate memory for one worker; ``held`` if authors share papers."""
    room = padded(n_topics)

    def numbers(kind: type, *shape: int) -> np.ndarray:
        return np.zeros(shape, kind)

    real, whole = np.float32, np.int32
    stay, opened = numbers(real, n_levels, room), numbers(real, n_levels, room)
    root, burst_opening = numbers(real, room), numbers(real, room)
    word_stay, word_open = numbers(real, room), numbers(real, room)
    inverse, opening, inside = (numbers(real, room) for _ in range(3))
    return Slots(
        topic=numbers(whole, room),
        place=np.full(n_topics, -1, whole),
        used=numbers(np.int64, 1),
        customers=numbers(whole, n_levels, room),
        tables=numbers(whole, n_levels, room),
        held=numbers(whole, n_levels if held else 0, room),
        own=numbers(np.float64, n_levels, room),
        stay=stay,
        open=opened,
        root=root,
        phi_customers=numbers(np.int64, room),
        phi_tables=numbers(np.int64, room),
        inverse=inverse,
        opening=opening,
        word_stay=word_stay,
        word_open=word_open,
        word_customers=numbers(whole, room),
        word_tables=numbers(whole, room),
        tokens=numbers(whole, room),
        burst_tables=numbers(whole, room),
        burst_opening=burst_opening,
        run_customers=numbers(whole, room),
        run_tables=numbers(whole, room),
        inside=inside,
        scaled=numbers(np.float64, room),
        cite=numbers(np.float64, room),
        cited=numbers(np.float64, room),
        row=np.arange(n_levels),
        node=numbers(np.int64, n_levels),
        total_customers=numbers(np.int64, n_levels),
        total_tables=numbers(np.int64, n_levels),
        beta=numbers(np.float64, n_levels),
        share=np.ones(n_levels),
        scale=numbers(real, n_levels),
        background_customers=numbers(np.int64, 1),
        background_tables=numbers(np.int64, 1),
        background_totals=numbers(np.int64, 2),
        background_stay=numbers(np.float64, 1),
        background_open=numbers(np.float64, 1),
        stay_blocks=in_blocks(stay),
        open_blocks=in_blocks(opened),
        root_blocks=in_blocks(root),
        burst_blocks=in_blocks(burst_opening),
        word_stay_blocks=in_blocks(word_stay),
        word_open_blocks=in_blocks(word_open),
        inverse_blocks=in_blocks(inverse),
        opening_blocks=in_blocks(opening),
        inside_blocks=in_blocks(inside),
        block_mass=numbers(real, room // BLOCK),
        draws=numbers(np.int64, 1),
        corrected=np.full(room, -1, np.int64),
        correction=numbers(real, room),
        random=numbers(np.uint64, 4),
    )


@inlined
def _pair(table, customers, tables):
    """Return A0 and B1; most topics have no customers at most levels."""
    if customers == 0:
        return 0.0, 1.0
    return weight_pair(table, customers, tables)


@inlined
def refresh_burst(parameters, slots, s):
    """Update the normaliser of phi'_dk."""
    beta = parameters.word_concentration[1]
    opening = beta + parameters.word_discount[2] * slots.burst_tables[s]
    slots.burst_opening[s] = opening / (beta + slots.tokens[s])


@inlined
def _refresh_phi(parameters, slots, s):
    """Update the normalisers of phi_k."""
    slots.inverse[s], slots.opening[s] = normalise_topic(
        parameters.topic_word_concentration[index(slots.topic[s])],
        parameters.word_discount[1],
        slots.phi_customers[s],
        slots.phi_tables[s],
    )


@inlined
def _refresh_inside(shape, slots, s, listed):
    """Update whether the document, or its listed author, has the topic."""
    low = len(shape.shared)
    has = slots.customers[index(low), s] > 0
    if listed:
        has = has or slots.customers[index(low - 1), s] > 0
    slots.inside[s] = 1.0 if has else 0.0


@inlined
def refresh_topic(shape, tables, parameters, slots, s, depth, listed):
    """Update the topic-side weights of a slot after a customer moved ``depth`` levels."""
    n_levels = len(shape.shared) + len(shape.document)
    for step in range(min(depth, n_levels - 1)):
        level = index(n_levels - 1 - step)
        slots.stay[level, s], slots.open[level, s] = _pair(
            level_table(tables.topic, level), slots.customers[level, s], slots.tables[level, s]
        )
    if depth == n_levels:
        slots.root[s] = slots.customers[0, s] - parameters.topic_discount[0]
    if depth > len(shape.document) - 1:
        _refresh_inside(shape, slots, s, listed)


@inlined
def add_slot(shape, tables, state, cache, presence, slots, k, listed):
    """Assign a slot to a topic and fill it, except for words and citations."""
    counts = state.topics
    n_levels = len(shape.shared) + len(shape.document)
    s = index(slots.used[0])
    k = index(k)
    slots.used[0] += 1
    slots.topic[s] = k
    slots.place[k] = s
    for level in range(n_levels):
        i = index(level)
        n = index(slots.node[i])
        c, t = np.int32(0), np.int32(0)
        if is_present(presence, n, k):  # most topics are present at only one or two levels
            c, t = pair_at(counts.customers, counts.tables, n, k)
        slots.customers[i, s] = c
        slots.tables[i, s] = t
        if slots.held.shape[0] > 0:
            slots.held[i, s] = counts.held[n, k]
        slots.own[i, s] = c - state.parameters.topic_discount[i] * t
        if level > 0:
            slots.stay[i, s], slots.open[i, s] = _pair(level_table(tables.topic, level), c, t)
    slots.root[s] = slots.customers[0, s] - state.parameters.topic_discount[0]
    _refresh_inside(shape, slots, s, listed)
    slots.phi_customers[s] = state.words.total_customers[k]
    slots.phi_tables[s] = state.words.total_tables[k]
    slots.inverse[s] = cache.inverse[k]
    slots.opening[s] = cache.opening[k]
    slots.tokens[s] = 0
    slots.burst_tables[s] = 0
    slots.burst_opening[s] = 1.0
    return s


@inlined
def fill_word(cache, word_presence, slots, s, w):
    """Read the weights of the current word under a slot's topic.

    The bits, in a few cache lines, are read first: if phi_k does not have the word, its weights,
    which may be anywhere in memory, need not be read.
    """
    k = index(slots.topic[s])
    if is_present(word_presence, w, k):
        slots.word_stay[s] = cache.stay[w, k]
        slots.word_open[s] = cache.open[w, k]
    else:
        slots.word_stay[s] = 0.0
        slots.word_open[s] = 1.0


@inlined
def refresh_scales(shape, parameters, slots):
    """Update the factors that all slots share."""
    for level in range(1, len(shape.shared) + len(shape.document)):
        above = level - 1
        opening = slots.beta[level] + parameters.topic_discount[level] * slots.total_tables[level]
        opening *= slots.share[level]
        slots.scale[level] = opening / (slots.beta[above] + slots.total_customers[above])


@inlined
def draw_topic_removal(rng, shape, slots, s):
    """Draw how far the removed customer had climbed, 0 if its removal is blocked."""
    leaf_level = len(shape.shared) + len(shape.document) - 1
    return draw_removal(rng, slots, TopicPath(slots.row, s), leaf_level)


@inlined
def draw_leaving_word(rng, shape, words, slots, w, s):
    """Draw how far a token's word had climbed, 0 if its removal is blocked."""
    k = index(slots.topic[s])
    customers = words.customers[w, k] + slots.word_customers[s]
    return draw_word_removal(
        rng,
        shape,
        (slots.run_customers[s], slots.run_tables[s]),
        (customers, words.tables[w, k] + slots.word_tables[s]),
        (slots.background_customers[0], slots.background_tables[0]),
    )


@inlined
def shift_topic(shape, parameters, slots, s, depth, sign):
    """Add or remove a customer that climbs ``depth`` levels, only in the counts."""
    leaf_level = len(shape.shared) + len(shape.document) - 1
    move_customer(slots, TopicPath(slots.row, s), leaf_level, depth, sign)
    for step in range(depth):
        level = index(leaf_level - step)
        discount = parameters.topic_discount[level]
        slots.own[level, s] = slots.customers[level, s] - discount * slots.tables[level, s]


@inlined
def shift_word(shape, tables, words, parameters, slots, w, s, depth, sign):
    """Add or remove a token's customers on the word side, and update the weights of its slot."""
    seats = WordSeats(
        slots.tokens,
        slots.burst_tables,
        slots.run_customers,
        slots.run_tables,
        slots.word_customers,
        slots.word_tables,
        slots.phi_customers,
        slots.phi_tables,
        slots.background_customers,
        slots.background_tables,
        slots.background_totals,
        0,
    )
    move_word(shape, seats, s, depth, sign)
    n_burst = shape.burst
    if n_burst > 0:
        refresh_burst(parameters, slots, s)
    if depth > n_burst:
        k = index(slots.topic[s])
        if shape.background > 0 and depth > n_burst + 1:
            slots.background_stay[0], slots.background_open[0] = _pair(
                tables.background, slots.background_customers[0], slots.background_tables[0]
            )
        customers = words.customers[w, k] + slots.word_customers[s]
        slots.word_stay[s], slots.word_open[s] = _pair(
            tables.topic_word, customers, words.tables[w, k] + slots.word_tables[s]
        )
        _refresh_phi(parameters, slots, s)


@inlined
def slot_weight(slots, root, level, s):
    """Return the topic-side weight of a slot at a level; ``root`` is its topic's weight at mu.

    Like ``nested_weight`` of the core, but factors are multiplied from mu down, in the same order
    as when blocks of slots are weighed: the other order would round differently.
    """
    weight = root
    for lower in range(1, level + 1):
        i = index(lower)
        weight = slots.stay[i, s] + slots.open[i, s] * (slots.scale[i] * weight)
    return weight


@inlined
def draw_topic_addition(rng, shape, slots, s, root):
    """Draw how far a token climbs on the topic side; ``root`` is its topic's weight at mu."""
    n_levels = len(shape.shared) + len(shape.document)
    depth = 1
    for step in range(n_levels - 1):
        level = n_levels - 1 - step
        stay = slots.stay[level, s]
        if stay > 0.0 and uniform(rng) * slot_weight(slots, root, level, s) < stay:
            return depth
        depth += 1
    return depth


@inlined
def draw_joining_word(rng, shape, tables, parameters, slots, s, background):
    """Draw how far a token's word climbs."""
    topic_stay = slots.word_stay[s] * slots.inverse[s]
    weight = topic_stay + slots.word_open[s] * slots.opening[s] * background
    stay, climb = 0.0, 0.0
    if shape.burst > 0:
        c = slots.run_customers[s]
        if c > 0:
            stay, opened = weight_pair(tables.burst, c, slots.run_tables[s])
            stay /= parameters.word_concentration[1] + slots.tokens[s]
            climb = opened * slots.burst_opening[s] * weight
    total = parameters.word_concentration[0] + slots.background_totals[0]
    own = (slots.background_stay[0], background, total)
    return draw_word_addition(rng, shape, (stay, climb), (topic_stay, weight), own)
