"""The word sweep: every token leaves, draws a topic and its table indicators, and comes back.

The weight of topic k is (topic side) x (word side), both nested over their levels
(eq:conditional_posterior; DESIGN 2). Topics that a document does not use yet differ only by
their shared levels, so their mass is one dense, vectorised dot product of single-precision
rows; the few topics in use are weighed one by one. Nothing is approximated: the two parts
add up to the full conditional, at a cost that grows far slower than the number of topics.
"""

from typing import NamedTuple

import numpy as np

from citeweave.sampler._compile import kernel
from citeweave.sampler.exponent import commit_change, exponent_change
from citeweave.sampler.hierarchy import draw_removal, move_customer, opening_scale, root_weight
from citeweave.sampler.random import uniform
from citeweave.sampler.stirling import open_weight, stay_weight

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
    """float64 [paths * topics]: weights of the active topics."""
    tokens: np.ndarray
    """int32 [topics]: tokens of the document by topic (customers of phi'_dk)."""
    tables: np.ndarray
    """int32 [topics]: tables of phi'_dk."""
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
        stay=np.zeros((document, n_topics)),
        open=np.ones((document, n_topics)),
        scale=np.ones(document),
        active=np.zeros(n_topics, np.int32),
        place=np.full(n_topics, -1, np.int32),
        mass=np.zeros(n_paths * n_topics),
        tokens=np.zeros(n_topics, np.int32),
        tables=np.zeros(n_topics, np.int32),
        run_customers=np.zeros(n_topics, np.int32),
        run_tables=np.zeros(n_topics, np.int32),
    )


@kernel(forceinline=True)
def _refresh_topic(words, parameters, cache, k):
    """Renew the normalisers of phi_k after its totals or its concentration changed."""
    beta = parameters.topic_word_concentration[k]
    inverse = 1.0 / (beta + words.total_customers[k])
    cache.inverse[k] = inverse
    cache.opening[k] = (beta + parameters.word_discount[1] * words.total_tables[k]) * inverse


@kernel(forceinline=True)
def _refresh_word(tables, words, cache, w, k):
    c = words.customers[w, k]
    if c > 0:
        t = words.tables[w, k]
        cache.stay[w, k] = stay_weight(tables.topic_word, c, t)
        cache.open[w, k] = open_weight(tables.topic_word, c, t)
    else:
        cache.stay[w, k] = 0.0
        cache.open[w, k] = 1.0


@kernel(forceinline=True)
def _refresh_background(tables, words, cache, w):
    c = words.background_customers[w]
    if c > 0:
        t = words.background_tables[w]
        cache.background_stay[w] = stay_weight(tables.background, c, t)
        cache.background_open[w] = open_weight(tables.background, c, t)
    else:
        cache.background_stay[w] = 0.0
        cache.background_open[w] = 1.0


@kernel
def refresh_word_cache(tables, words, parameters, cache):
    """Rebuild all cached weights from the counts."""
    n_words, n_topics = words.customers.shape
    for k in range(n_topics):
        _refresh_topic(words, parameters, cache, k)
    for w in range(n_words):
        _refresh_background(tables, words, cache, w)
        for k in range(n_topics):
            _refresh_word(tables, words, cache, w, k)


@kernel(fastmath={"reassoc", "contract", "nsz"})
def _dense_mass(prior, stay, opened, inverse, opening, background):
    """Equals ``prior @ (stay * inverse + opened * opening * background)``."""
    total = np.float32(0.0)
    for k in range(prior.shape[0]):
        total += prior[k] * (stay[k] * inverse[k] + opened[k] * opening[k] * background)
    return total


@kernel
def _dense_pick(prior, stay, opened, inverse, opening, background, target):
    """Give the topic where the running sum of ``_dense_mass`` passes ``target``."""
    running = np.float32(0.0)
    last = -1
    for k in range(prior.shape[0]):
        if prior[k] > 0.0:
            running += prior[k] * (stay[k] * inverse[k] + opened[k] * opening[k] * background)
            last = k
            if running > target:
                return k
    return last


@kernel(forceinline=True)
def _shared_chain(shape, layout, counts, parameters, work, p, node):
    """Recompute a path's shared weights from the cached A0 and B1 of its nodes."""
    n_topics = work.active.shape[0]
    low = len(shape.shared) - 1
    root = work.shared_weight[p, 0]
    for k in range(n_topics):
        root[k] = root_weight(counts, parameters, k)
    n = node
    scales = np.empty(len(shape.shared))
    for level in range(low, 0, -1):
        scales[level] = opening_scale(counts, parameters, level, n, layout.parent[n])
        n = layout.parent[n]
    for level in range(1, len(shape.shared)):
        above = work.shared_weight[p, level - 1]
        here = work.shared_weight[p, level]
        stay = work.shared_stay[p, level]
        opened = work.shared_open[p, level]
        scale = scales[level]
        for k in range(n_topics):
            here[k] = stay[k] + opened[k] * scale * above[k]
    for k in range(n_topics):
        work.prior[p, k] = work.shared_weight[p, low, k] if work.place[k] < 0 else 0.0


@kernel(forceinline=True)
def _refresh_shared(shape, layout, tables, counts, work, p, node, k):
    """Renew A0 and B1 of one topic on every shared level of a path."""
    n = node
    for level in range(len(shape.shared) - 1, 0, -1):
        c = counts.customers[n, k]
        if c > 0:
            t = counts.tables[n, k]
            work.shared_stay[p, level, k] = stay_weight(tables.topic[level], c, t)
            work.shared_open[p, level, k] = open_weight(tables.topic[level], c, t)
        else:
            work.shared_stay[p, level, k] = 0.0
            work.shared_open[p, level, k] = 1.0
        n = layout.parent[n]


@kernel(forceinline=True)
def _activate(work, k, n_active):
    work.active[n_active] = k
    work.place[k] = n_active
    for p in range(work.prior.shape[0]):
        work.prior[p, k] = 0.0
    return n_active + 1


@kernel(forceinline=True)
def _deactivate(shape, work, k, n_active):
    at = work.place[k]
    last = work.active[n_active - 1]
    work.active[at] = last
    work.place[last] = at
    work.place[k] = -1
    low = len(shape.shared) - 1
    for p in range(work.prior.shape[0]):
        work.prior[p, k] = work.shared_weight[p, low, k]
    return n_active - 1


@kernel(forceinline=True)
def _top_node(shape, layout, leaf):
    """Lowest shared node above a leaf (the leaf itself where no level is a document's)."""
    n = leaf
    for _ in range(len(shape.document)):
        n = layout.parent[n]
    return n


@kernel(forceinline=True)
def _document_scales(shape, layout, counts, parameters, work, leaf):
    """Renew the opening scales of the document levels and return the product of all."""
    n = leaf
    product = 1.0
    for j in range(len(shape.document)):
        level = len(shape.shared) + len(shape.document) - 1 - j
        scale = opening_scale(counts, parameters, level, n, layout.parent[n])
        work.scale[len(shape.document) - 1 - j] = scale
        product *= scale
        n = layout.parent[n]
    return product


@kernel(forceinline=True)
def _topic_moved(shape, layout, tables, counts, parameters, work, d, leaf, k, depth, n_active):
    """Bring the document's cached weights up to date after ``move_customer``; return n_active."""
    n_document = len(shape.document)
    n = leaf
    for j in range(n_document):
        if j < depth:
            c = counts.customers[n, k]
            place = n_document - 1 - j
            if c > 0:
                t = counts.tables[n, k]
                level = len(shape.shared) + place
                work.stay[place, k] = stay_weight(tables.topic[level], c, t)
                work.open[place, k] = open_weight(tables.topic[level], c, t)
            else:
                work.stay[place, k] = 0.0
                work.open[place, k] = 1.0
            if place == 0:  # the top document level decides whether a topic is in use
                if c > 0 and work.place[k] < 0:
                    n_active = _activate(work, k, n_active)
                elif c == 0 and work.place[k] >= 0:
                    n_active = _deactivate(shape, work, k, n_active)
        n = layout.parent[n]
    if depth > n_document:
        low = len(shape.shared) - 1
        first = layout.leaf_start[d]
        n_paths = layout.leaf_start[d + 1] - first
        if depth == n_document + 1 and low > 0:
            for p in range(n_paths):
                node = _top_node(shape, layout, layout.leaf[first + p])
                if node == n:
                    c = counts.customers[n, k]
                    above = work.shared_weight[p, low - 1, k]
                    scale = opening_scale(counts, parameters, low, n, layout.parent[n])
                    weight = scale * above
                    if c > 0:
                        t = counts.tables[n, k]
                        stay = stay_weight(tables.topic[low], c, t)
                        opened = open_weight(tables.topic[low], c, t)
                        work.shared_stay[p, low, k] = stay
                        work.shared_open[p, low, k] = opened
                        weight = stay + opened * weight
                    else:
                        work.shared_stay[p, low, k] = 0.0
                        work.shared_open[p, low, k] = 1.0
                    work.shared_weight[p, low, k] = weight
                    if work.place[k] < 0:
                        work.prior[p, k] = weight
        else:
            for p in range(n_paths):
                node = _top_node(shape, layout, layout.leaf[first + p])
                _refresh_shared(shape, layout, tables, counts, work, p, node, k)
                _shared_chain(shape, layout, counts, parameters, work, p, node)
    return n_active


@kernel(forceinline=True)
def _word_moved(shape, tables, words, parameters, cache, work, w, k, depth, sign):
    """Add or remove a token's customers on the word side, ``depth`` levels up, and refresh."""
    n_burst = len(shape.burst)
    work.tokens[k] += sign
    if n_burst > 0:
        work.run_customers[k] += sign
        if depth > 1:
            work.run_tables[k] += sign
            work.tables[k] += sign
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
                _refresh_background(tables, words, cache, w)
        _refresh_word(tables, words, cache, w, k)
        _refresh_topic(words, parameters, cache, k)


@kernel(forceinline=True)
def _draw_word_removal(rng, shape, words, work, w, k):
    """Draw how far a token's word had climbed, 0 where the removal is blocked."""
    depth = 1
    if len(shape.burst) > 0:
        c = work.run_customers[k]
        t = work.run_tables[k]
        if t < c:
            if uniform(rng) * c >= t:
                return depth
            if t == 1:
                return 0
        depth += 1
    c = words.customers[w, k]
    t = words.tables[w, k]
    if t < c:
        if uniform(rng) * c >= t:
            return depth
        if t == 1:
            return 0
    depth += 1
    if len(shape.background) > 0:
        c = words.background_customers[w]
        t = words.background_tables[w]
        if t < c:
            if uniform(rng) * c >= t:
                return depth
            if t == 1:
                return 0
        depth += 1
    return depth


@kernel(forceinline=True)
def _background_weight(shape, words, parameters, cache, w):
    """Probability of word w under gamma: where a new dish of phi comes from."""
    if len(shape.background) == 0:
        return 1.0 / words.customers.shape[0]
    beta = parameters.word_concentration[0]
    opening = beta + parameters.word_discount[0] * words.background_totals[1]
    weight = cache.background_stay[w]
    weight += cache.background_open[w] * opening / words.customers.shape[0]
    return weight / (beta + words.background_totals[0])


@kernel(forceinline=True)
def _draw_word_addition(rng, shape, tables, words, parameters, cache, work, w, k, background):
    """Draw how far a token's word climbs under topic k."""
    depth = 1
    topic_weight = cache.stay[w, k] * cache.inverse[k]
    opened = cache.open[w, k] * cache.opening[k] * background
    if len(shape.burst) > 0:
        c = work.run_customers[k]
        if c > 0:
            t = work.run_tables[k]
            stay = stay_weight(tables.burst, c, t)
            climb = parameters.word_concentration[1]
            climb += parameters.word_discount[2] * work.tables[k]
            climb *= open_weight(tables.burst, c, t) * (topic_weight + opened)
            if uniform(rng) * (stay + climb) < stay:
                return depth
        depth += 1
    if topic_weight > 0.0 and uniform(rng) * (topic_weight + opened) < topic_weight:
        return depth
    depth += 1
    if len(shape.background) > 0:
        stay = cache.background_stay[w]
        if stay > 0.0:
            beta = parameters.word_concentration[0]
            total = background * (beta + words.background_totals[0])
            if uniform(rng) * total < stay:
                return depth
        depth += 1
    return depth


@kernel(forceinline=True)
def _draw_topic_addition(rng, shape, layout, counts, parameters, work, p, leaf, k):
    """Draw how far a token climbs on the topic side under topic k."""
    n_document = len(shape.document)
    low = len(shape.shared) - 1
    depth = 1
    for j in range(n_document):
        place = n_document - 1 - j
        stay = work.stay[place, k]
        if stay > 0.0:
            weight = work.shared_weight[p, low, k]
            for i in range(place + 1):
                weight = work.stay[i, k] + work.open[i, k] * work.scale[i] * weight
            if uniform(rng) * weight < stay:
                return depth
        depth += 1
    for j in range(low):
        level = low - j
        stay = work.shared_stay[p, level, k]
        if stay > 0.0 and uniform(rng) * work.shared_weight[p, level, k] < stay:
            return depth
        depth += 1
    return depth


@kernel(forceinline=True)
def _topic_weight(shape, work, p, k):
    """Topic-side weight of an active topic, nested over the document levels."""
    weight = work.shared_weight[p, len(shape.shared) - 1, k]
    for i in range(len(shape.document)):
        weight = work.stay[i, k] + work.open[i, k] * work.scale[i] * weight
    return weight


@kernel
def _open_document(shape, layout, tables, state, work, d, starting):
    """Fill the scratch rows for a document; return the number of topics it uses."""
    counts = state.topics
    n_topics = work.active.shape[0]
    first = layout.leaf_start[d]
    n_paths = layout.leaf_start[d + 1] - first
    n_document = len(shape.document)
    n_active = 0
    for k in range(n_topics):
        work.place[k] = -1
        work.tokens[k] = 0
        work.tables[k] = 0
    if not starting:
        for i in range(layout.document_start[d], layout.document_start[d + 1]):
            k = state.assignments.topic[i]
            work.tokens[k] += 1
            if len(shape.burst) > 0:
                work.tables[k] += state.assignments.burst_table[i]
    for p in range(n_paths):
        node = _top_node(shape, layout, layout.leaf[first + p])
        for k in range(n_topics):
            _refresh_shared(shape, layout, tables, counts, work, p, node, k)
        _shared_chain(shape, layout, counts, state.parameters, work, p, node)
    n = layout.leaf[first]
    for j in range(n_document):
        place = n_document - 1 - j
        level = len(shape.shared) + place
        for k in range(n_topics):
            c = counts.customers[n, k]
            if c > 0:
                t = counts.tables[n, k]
                work.stay[place, k] = stay_weight(tables.topic[level], c, t)
                work.open[place, k] = open_weight(tables.topic[level], c, t)
                if place == 0:
                    n_active = _activate(work, k, n_active)
            else:
                work.stay[place, k] = 0.0
                work.open[place, k] = 1.0
        n = layout.parent[n]
    return n_active


@kernel
def word_sweep(shape, layout, tables, state, cache, work, exponent, first, last, mode, tally):
    """Visit the tokens of documents ``first`` to ``last`` - 1 once, in order.

    ``tally`` (int64 [4]) counts tokens visited, blocked, proposals that the exponential of the
    citation likelihood had a say in, and of these the rejected.
    """
    counts = state.topics
    words = state.words
    parameters = state.parameters
    rng = state.random
    z = state.assignments.topic
    n_document = len(shape.document)
    n_levels = len(shape.shared) + n_document
    n_topics = work.active.shape[0]
    starting = mode != SWEEP
    citation_level = n_levels - 1 - shape.below_citations
    network_on = len(shape.network) > 0 and state.clock[1] > 0 and not starting
    burst_beta = parameters.word_concentration[1]
    burst_discount = parameters.word_discount[2]
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
            stay_row = cache.stay[w]
            open_row = cache.open[w]
            if len(shape.burst) > 0 and not starting:
                for i in range(run_begin, run_end):
                    work.run_customers[z[i]] += 1
                    work.run_tables[z[i]] += state.assignments.burst_table[i]
            for i in range(run_begin, run_end):
                tally[0] += 1
                p = 0
                old = 0
                topic_out = 0
                word_out = 0
                old_path = 0
                if not starting:
                    old = z[i]
                    if n_document == 0:
                        old_path = state.assignments.path[i]
                    leaf = layout.leaf[leaf_first + old_path]
                    topic_out = draw_removal(rng, layout, counts, n_levels - 1, leaf, old)
                    word_out = _draw_word_removal(rng, shape, words, work, w, old)
                    if topic_out == 0 or word_out == 0:
                        tally[1] += 1
                        continue
                    move_customer(layout, counts, n_levels - 1, leaf, old, topic_out, -1)
                    n_active = _topic_moved(
                        shape, layout, tables, counts, parameters, work, d, leaf, old, topic_out,
                        n_active,
                    )  # fmt: skip
                    _word_moved(
                        shape, tables, words, parameters, cache, work, w, old, word_out, -1
                    )
                background = _background_weight(shape, words, parameters, cache, w)
                product = _document_scales(
                    shape, layout, counts, parameters, work, layout.leaf[leaf_first]
                )
                if mode == RANDOM_START:
                    new = int(uniform(rng) * n_topics)
                    if n_document == 0:
                        p = int(uniform(rng) * n_paths)
                else:
                    narrow = np.float32(background)
                    total = 0.0
                    for q in range(n_paths):
                        if n_document == 0:
                            n = layout.leaf[leaf_first + q]
                            work.path_scale[q] = 1.0 / (
                                parameters.topic_concentration[n] + counts.total_customers[n]
                            )
                        for a in range(n_active):
                            k = work.active[a]
                            weight = cache.stay[w, k] * cache.inverse[k]
                            weight += cache.open[w, k] * cache.opening[k] * background
                            if len(shape.burst) > 0:
                                weight *= burst_beta + burst_discount * work.tables[k]
                                c = work.run_customers[k]
                                if c > 0:
                                    t = work.run_tables[k]
                                    weight *= open_weight(tables.burst, c, t)
                                    weight += stay_weight(tables.burst, c, t)
                                weight /= burst_beta + work.tokens[k]
                            weight *= _topic_weight(shape, work, q, k)
                            total += weight
                            work.mass[a] = total
                    active_total = total
                    dense_total = 0.0
                    for q in range(n_paths):
                        scale = product if n_document > 0 else work.path_scale[q]
                        dense_total += scale * _dense_mass(
                            work.prior[q], stay_row, open_row, cache.inverse, cache.opening, narrow
                        )
                    target = uniform(rng) * (active_total + dense_total)
                    new = -1
                    if target < active_total:
                        for a in range(n_active):
                            if target < work.mass[a]:
                                new = work.active[a]
                                break
                    else:
                        target -= active_total
                        for q in range(n_paths):
                            scale = product if n_document > 0 else work.path_scale[q]
                            if q + 1 < n_paths:
                                here = scale * _dense_mass(
                                    work.prior[q], stay_row, open_row, cache.inverse,
                                    cache.opening, narrow,
                                )  # fmt: skip
                                if target >= here:
                                    target -= here
                                    continue
                            p = q
                            new = _dense_pick(
                                work.prior[q], stay_row, open_row, cache.inverse, cache.opening,
                                narrow, np.float32(target / scale),
                            )  # fmt: skip
                            break
                        if new < 0:  # every topic is active and rounding passed the last one
                            new = work.active[n_active - 1]
                leaf = layout.leaf[leaf_first + p]
                topic_in = _draw_topic_addition(
                    rng, shape, layout, counts, parameters, work, p, leaf, new
                )
                word_in = _draw_word_addition(
                    rng, shape, tables, words, parameters, cache, work, w, new, background
                )
                move_customer(layout, counts, n_levels - 1, leaf, new, topic_in, 1)
                if network_on:
                    removed = topic_out - shape.below_citations
                    added = topic_in - shape.below_citations
                    if (removed > 0 or added > 0) and not (new == old and removed == added):
                        tally[2] += 1
                        change = exponent_change(
                            layout, counts, parameters, exponent, citation_level,
                            layout.citation_node + d, -1, old, new, (removed, 0), (added, 0),
                        )  # fmt: skip
                        if change > 0.0 and uniform(rng) >= np.exp(-change):
                            tally[3] += 1
                            move_customer(layout, counts, n_levels - 1, leaf, new, topic_in, -1)
                            new, topic_in, word_in = old, topic_out, word_out
                            move_customer(layout, counts, n_levels - 1, leaf, old, topic_in, 1)
                        else:
                            commit_change(exponent)
                n_active = _topic_moved(
                    shape, layout, tables, counts, parameters, work, d, leaf, new, topic_in,
                    n_active,
                )  # fmt: skip
                _word_moved(shape, tables, words, parameters, cache, work, w, new, word_in, 1)
                z[i] = new
                if n_document == 0:
                    state.assignments.path[i] = p
            if len(shape.burst) > 0:
                # who holds a table is forgotten: the first tokens of each topic get the bits
                for i in range(run_begin, run_end):
                    k = z[i]
                    held = 1 if work.run_tables[k] > 0 else 0
                    state.assignments.burst_table[i] = held
                    work.run_tables[k] -= held
                for i in range(run_begin, run_end):
                    work.run_customers[z[i]] = 0
                    work.run_tables[z[i]] = 0
            run_begin = run_end
