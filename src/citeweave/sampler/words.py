"""The word sweep: every token leaves, draws a topic and its table indicators, and comes back.

The weight of topic k is (topic side) x (word side), both nested over their levels
(eq:conditional_posterior; DESIGN 2). Topics that a document does not use yet differ only by
their shared levels, so their mass is one dense, vectorised dot product of single-precision
rows; the few topics in use are weighed one by one. Nothing is approximated: the two parts
add up to the full conditional, at a cost that grows far slower than the number of topics.
"""

from typing import NamedTuple

import numpy as np

from citeweave.sampler._compile import hot_kernel, inlined
from citeweave.sampler.arrays import level_table
from citeweave.sampler.exponent import commit_change, discard_change, exponent_change
from citeweave.sampler.hierarchy import (
    draw_removal,
    move_customer,
    new_topic_weight,
    opening_scale,
    root_weight,
)
from citeweave.sampler.random import uniform
from citeweave.sampler.stirling import weight_pair

__all__ = [
    "RANDOM_START",
    "SEQUENTIAL_START",
    "SWEEP",
    "WordCache",
    "WordWork",
    "new_word_cache",
    "new_word_work",
    "refresh_word_cache",
    "word_sweep",
]

BLOCK = 64
"""Topics in a block of the dense sum."""

SWEEP = 0
RANDOM_START = 1
"""Give every token a uniformly random topic; table indicators from their conditional."""
SEQUENTIAL_START = 2
"""Add tokens one by one, each from its conditional given those before it."""


class WordCache(NamedTuple):
    """Word-side weights, each a pure function of the counts and concentrations."""

    stay: np.ndarray
    """float32 [words, topics]: A0 of phi_k at word v."""
    open: np.ndarray
    """float32 [words, topics]: B1."""
    inverse: np.ndarray
    """float32 [topics]: 1 / (beta + C) of phi_k."""
    opening: np.ndarray
    """float32 [topics]: (beta + alpha T) / (beta + C) of phi_k."""
    background_stay: np.ndarray
    """float64 [words]: A0 of gamma at word v."""
    background_open: np.ndarray
    """float64 [words]: B1."""


class WordWork(NamedTuple):
    """Scratch of one document: rows are overwritten at each visit."""

    shared_stay: np.ndarray
    """float64 [paths, shared levels, topics]."""
    shared_open: np.ndarray
    shared_weight: np.ndarray
    prior: np.ndarray
    """float32 [paths, topics]: shared weight of topics that the document does not use, else 0."""
    path_scale: np.ndarray
    """float64 [paths]: factor of a path's weights."""
    blocks: np.ndarray
    """float32 [paths, blocks]: running sum of the dense part by blocks of topics."""
    path_mass: np.ndarray
    """float64 [paths]: running sum of weights up to and with a path."""
    stay: np.ndarray
    """float64 [document levels, topics]."""
    open: np.ndarray
    scale: np.ndarray
    """float64 [document levels]: (beta + alpha T) / (beta_parent + C_parent)."""
    active: np.ndarray
    """int32 [topics]: topics in use here, in order of arrival."""
    place: np.ndarray
    """int32 [topics]: their place in ``active``, or -1."""
    mass: np.ndarray
    """float64 [topics]: running sum of the weights of the active topics."""
    tokens: np.ndarray
    """int32 [topics]: tokens of the document by topic (customers of phi'_dk)."""
    tables: np.ndarray
    """int32 [topics]: tables of phi'_dk."""
    burst_inverse: np.ndarray
    """float64 [topics]: 1 / (beta + C) of phi'_dk."""
    burst_opening: np.ndarray
    """float64 [topics]: (beta + alpha T) / (beta + C) of phi'_dk."""
    run_customers: np.ndarray
    """int32 [topics]: customers of phi'_dk at the word at hand."""
    run_tables: np.ndarray


def new_word_cache(n_words: int, n_topics: int) -> WordCache:
    """Make room for the cached weights."""
    return WordCache(
        stay=np.zeros((n_words, n_topics), np.float32),
        open=np.ones((n_words, n_topics), np.float32),
        inverse=np.zeros(n_topics, np.float32),
        opening=np.zeros(n_topics, np.float32),
        background_stay=np.zeros(n_words),
        background_open=np.ones(n_words),
    )


def new_word_work(n_topics: int, n_paths: int, n_shared: int, n_document: int) -> WordWork:
    """Make scratch room for one worker."""
    document = max(n_document, 1)
    return WordWork(
        shared_stay=np.zeros((n_paths, n_shared, n_topics)),
        shared_open=np.ones((n_paths, n_shared, n_topics)),
        shared_weight=np.zeros((n_paths, n_shared, n_topics)),
        prior=np.zeros((n_paths, n_topics), np.float32),
        path_scale=np.ones(n_paths),
        blocks=np.zeros((n_paths, (n_topics + BLOCK - 1) // BLOCK), np.float32),
        path_mass=np.zeros(n_paths),
        stay=np.zeros((document, n_topics)),
        open=np.ones((document, n_topics)),
        scale=np.ones(document),
        active=np.zeros(n_topics, np.int32),
        place=np.full(n_topics, -1, np.int32),
        mass=np.zeros(n_topics),
        tokens=np.zeros(n_topics, np.int32),
        tables=np.zeros(n_topics, np.int32),
        burst_inverse=np.zeros(n_topics),
        burst_opening=np.ones(n_topics),
        run_customers=np.zeros(n_topics, np.int32),
        run_tables=np.zeros(n_topics, np.int32),
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
def _top_node(shape, layout, leaf):
    """Lowest shared node above a leaf (the leaf itself where no level is a document's)."""
    n = leaf
    for _ in range(len(shape.document)):
        n = layout.parent[n]
    return n


@inlined
def _shared_chain(shape, layout, counts, parameters, work, p, node):
    """Recompute a path's shared weights from the cached A0 and B1 of its nodes."""
    n_topics = work.active.shape[0]
    low = len(shape.shared) - 1
    new = new_topic_weight(counts, parameters)
    for k in range(n_topics):
        work.shared_weight[p, 0, k] = root_weight(counts, parameters, new, k)
    for level in range(1, len(shape.shared)):
        n = node
        for _ in range(low - level):
            n = layout.parent[n]
        scale = opening_scale(counts, parameters, level, n, layout.parent[n])
        for k in range(n_topics):
            above = scale * work.shared_weight[p, level - 1, k]
            above = work.shared_stay[p, level, k] + work.shared_open[p, level, k] * above
            work.shared_weight[p, level, k] = above
    for k in range(n_topics):
        work.prior[p, k] = work.shared_weight[p, low, k] if work.place[k] < 0 else 0.0


@inlined
def _refresh_shared(shape, layout, tables, counts, work, p, node, k):
    """Renew A0 and B1 of one topic on every shared level of a path."""
    n = node
    for level in range(len(shape.shared) - 1, 0, -1):
        stay, opened = weight_pair(
            level_table(tables.topic, level), counts.customers[n, k], counts.tables[n, k]
        )
        work.shared_stay[p, level, k] = stay
        work.shared_open[p, level, k] = opened
        n = layout.parent[n]


@inlined
def _refresh_active(shape, work, k, in_use, n_active):
    """Enter a topic into the list of those in use, or strike it; return the list's length."""
    place = work.place[k]
    if in_use and place < 0:
        work.active[n_active] = k
        work.place[k] = n_active
        for p in range(work.prior.shape[0]):
            work.prior[p, k] = 0.0
        return n_active + 1
    if not in_use and place >= 0:
        last = work.active[n_active - 1]
        work.active[place] = last
        work.place[last] = place
        work.place[k] = -1
        for p in range(work.prior.shape[0]):
            work.prior[p, k] = work.shared_weight[p, len(shape.shared) - 1, k]
        return n_active - 1
    return n_active


@inlined
def _refresh_document(shape, layout, tables, counts, work, leaf, k, depth):
    """Renew A0 and B1 of one topic on the document levels that a move of ``depth`` reached.

    Returns whether the document still uses the topic: its top level decides.
    """
    n_document = len(shape.document)
    n = leaf
    in_use = work.place[k] >= 0
    for j in range(n_document):
        place = n_document - 1 - j
        if j < depth:
            c = counts.customers[n, k]
            stay, opened = weight_pair(
                level_table(tables.topic, len(shape.shared) + place), c, counts.tables[n, k]
            )
            work.stay[place, k] = stay
            work.open[place, k] = opened
            if place == 0:
                in_use = c > 0
        n = layout.parent[n]
    return in_use


@inlined
def _topic_moved(shape, layout, tables, counts, parameters, work, d, leaf, k, depth, n_active):
    """Bring the document's cached weights up to date after ``move_customer``; return n_active."""
    n_document = len(shape.document)
    low = len(shape.shared) - 1
    if depth > n_document:
        first = layout.leaf_start[d]
        n_paths = layout.leaf_start[d + 1] - first
        moved = _top_node(shape, layout, leaf)
        alone = depth == n_document + 1 and low > 0  # nothing above the lowest level moved
        for p in range(n_paths):
            node = _top_node(shape, layout, layout.leaf[first + p])
            if alone and node != moved:
                continue
            _refresh_shared(shape, layout, tables, counts, work, p, node, k)
            if alone:
                weight = work.shared_weight[p, low - 1, k]
                weight *= opening_scale(counts, parameters, low, node, layout.parent[node])
                weight *= work.shared_open[p, low, k]
                weight += work.shared_stay[p, low, k]
                work.shared_weight[p, low, k] = weight
                if work.place[k] < 0:
                    work.prior[p, k] = weight
            else:
                _shared_chain(shape, layout, counts, parameters, work, p, node)
    if n_document > 0:
        in_use = _refresh_document(shape, layout, tables, counts, work, leaf, k, depth)
        n_active = _refresh_active(shape, work, k, in_use, n_active)
    return n_active


@inlined
def _word_moved(shape, tables, words, parameters, cache, work, w, k, depth, sign):
    """Add or remove a token's customers on the word side, ``depth`` levels up, and refresh."""
    n_burst = len(shape.burst)
    if n_burst > 0:
        work.tokens[k] += sign
        work.run_customers[k] += sign
        if depth > 1:
            work.run_tables[k] += sign
            work.tables[k] += sign
        _refresh_burst(parameters, work, k)
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
def _refresh_burst(parameters, work, k):
    """Renew the normalisers of phi'_dk."""
    beta = parameters.word_concentration[1]
    inverse = 1.0 / (beta + work.tokens[k])
    work.burst_inverse[k] = inverse
    work.burst_opening[k] = (beta + parameters.word_discount[2] * work.tables[k]) * inverse


@inlined
def _leaves_table(rng, customers, tables):
    """Draw u ~ Bernoulli(t / c): 1 if the customer takes a table along, -1 where it cannot."""
    if tables == customers:
        return 1
    if uniform(rng) * customers >= tables:
        return 0
    return 1 if tables > 1 else -1


@inlined
def _draw_word_removal(rng, shape, words, work, w, k):
    """Draw how far a token's word had climbed, 0 where the removal is blocked."""
    depth = 1
    if len(shape.burst) > 0:
        taken = _leaves_table(rng, work.run_customers[k], work.run_tables[k])
        if taken < 1:
            return depth if taken == 0 else 0
        depth += 1
    taken = _leaves_table(rng, words.customers[w, k], words.tables[w, k])
    if taken < 1:
        return depth if taken == 0 else 0
    depth += 1
    if len(shape.background) > 0:
        taken = _leaves_table(rng, words.background_customers[w], words.background_tables[w])
        if taken < 1:
            return depth if taken == 0 else 0
        depth += 1
    return depth


@inlined
def _background_weight(shape, words, parameters, cache, w):
    """Probability of word w under gamma: where a new dish of phi comes from."""
    if len(shape.background) == 0:
        return 1.0 / words.customers.shape[0]
    beta = parameters.word_concentration[0]
    opening = beta + parameters.word_discount[0] * words.background_totals[1]
    weight = cache.background_stay[w]
    weight += cache.background_open[w] * opening / words.customers.shape[0]
    return weight / (beta + words.background_totals[0])


@inlined
def _word_weight(shape, tables, cache, work, w, k, background):
    """Word-side weight of an active topic; ``background`` is gamma's probability of w."""
    weight = cache.stay[w, k] * cache.inverse[k] + cache.open[w, k] * cache.opening[k] * background
    if len(shape.burst) > 0:
        weight *= work.burst_opening[k]
        c = work.run_customers[k]
        if c > 0:
            stay, opened = weight_pair(tables.burst, c, work.run_tables[k])
            weight = weight * opened + stay * work.burst_inverse[k]
    return weight


@inlined
def _draw_word_addition(rng, shape, tables, words, parameters, cache, work, w, k, background):
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


@inlined
def _topic_weight(shape, work, p, k, levels):
    """Topic-side weight, nested over the first ``levels`` document levels."""
    weight = work.shared_weight[p, len(shape.shared) - 1, k]
    for i in range(levels):
        weight = work.stay[i, k] + work.open[i, k] * work.scale[i] * weight
    return weight


@inlined
def _draw_topic_addition(rng, shape, work, p, k):
    """Draw how far a token climbs on the topic side under topic k."""
    n_document = len(shape.document)
    low = len(shape.shared) - 1
    depth = 1
    for place in range(n_document - 1, -1, -1):
        stay = work.stay[place, k]
        if stay > 0.0 and uniform(rng) * _topic_weight(shape, work, p, k, place + 1) < stay:
            return depth
        depth += 1
    for level in range(low, 0, -1):
        stay = work.shared_stay[p, level, k]
        if stay > 0.0 and uniform(rng) * work.shared_weight[p, level, k] < stay:
            return depth
        depth += 1
    return depth


@inlined
def _read_node(table, counts, n, stay, opened):
    """Fill A0 and B1 of a node; most topics have no customers there."""
    n_topics = stay.shape[0]
    for k in range(n_topics):
        stay[k] = 0.0
        opened[k] = 1.0
    for k in range(n_topics):
        c = counts.customers[n, k]
        if c > 0:
            stay[k], opened[k] = weight_pair(table, c, counts.tables[n, k])


@inlined
def _open_document(shape, layout, tables, state, work, d, starting):
    """Fill the scratch rows for a document; return the number of topics it uses."""
    counts = state.topics
    n_topics = work.active.shape[0]
    first = layout.leaf_start[d]
    n_paths = layout.leaf_start[d + 1] - first
    for k in range(n_topics):
        work.place[k] = -1
        work.tokens[k] = 0
        work.tables[k] = 0
    if len(shape.burst) > 0:
        if not starting:
            for i in range(layout.document_start[d], layout.document_start[d + 1]):
                k = state.assignments.topic[i]
                work.tokens[k] += 1
                work.tables[k] += state.assignments.burst_table[i]
        for k in range(n_topics):
            _refresh_burst(state.parameters, work, k)
    for p in range(n_paths):
        n = _top_node(shape, layout, layout.leaf[first + p])
        for level in range(len(shape.shared) - 1, 0, -1):
            _read_node(
                level_table(tables.topic, level),
                counts,
                n,
                work.shared_stay[p, level],
                work.shared_open[p, level],
            )
            n = layout.parent[n]
        top = _top_node(shape, layout, layout.leaf[first + p])
        _shared_chain(shape, layout, counts, state.parameters, work, p, top)
    n_active = 0
    n = layout.leaf[first]
    for place in range(len(shape.document) - 1, -1, -1):
        level = len(shape.shared) + place
        _read_node(level_table(tables.topic, level), counts, n, work.stay[place], work.open[place])
        if place == 0:
            for k in range(n_topics):
                if counts.customers[n, k] > 0:
                    n_active = _refresh_active(shape, work, k, True, n_active)
        n = layout.parent[n]
    return n_active


@inlined
def _refresh_scales(shape, layout, counts, parameters, work, d):
    """Renew the factors that all topics of a path share; n_paths of them where authors vie."""
    first = layout.leaf_start[d]
    n_document = len(shape.document)
    if n_document == 0:
        for p in range(layout.leaf_start[d + 1] - first):
            n = layout.leaf[first + p]
            total = parameters.topic_concentration[n] + counts.total_customers[n]
            work.path_scale[p] = 1.0 / total
    else:
        n = layout.leaf[first]
        product = 1.0
        for place in range(n_document - 1, -1, -1):
            level = len(shape.shared) + place
            scale = opening_scale(counts, parameters, level, n, layout.parent[n])
            work.scale[place] = scale
            product *= scale
            n = layout.parent[n]
        work.path_scale[0] = product


@inlined
def _draw_topic(rng, shape, tables, cache, work, w, background, n_paths, n_active):
    """Draw a path and a topic from eq:conditional_posterior."""
    total = 0.0
    for a in range(n_active):
        k = work.active[a]
        weight = _word_weight(shape, tables, cache, work, w, k, background)
        total += weight * _topic_weight(shape, work, 0, k, len(shape.document))
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
        n_active = _open_document(shape, layout, tables, state, work, d, starting)
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
                    word_out = _draw_word_removal(rng, shape, words, work, w, old)
                    if topic_out == 0 or word_out == 0:
                        n_blocked += 1
                        continue
                # the token leaves in the first round and comes back in the second
                k, p, topic_depth, word_depth, sign = old, old_path, topic_out, word_out, -1
                for coming in range(1 if starting else 0, 2):
                    if coming == 1:
                        _refresh_scales(shape, layout, counts, parameters, work, d)
                        background = _background_weight(shape, words, parameters, cache, w)
                        if mode == RANDOM_START:
                            k = int(uniform(rng) * n_topics)
                            p = int(uniform(rng) * n_paths)
                        else:
                            p, k = _draw_topic(
                                rng, shape, tables, cache, work, w, background, n_paths, n_active
                            )
                        topic_depth = _draw_topic_addition(rng, shape, work, p, k)
                        word_depth = _draw_word_addition(
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
                    n_active = _topic_moved(
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
                    _word_moved(
                        shape, tables, words, parameters, cache, work, w, k, word_depth, sign
                    )
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
