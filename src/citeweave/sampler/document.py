"""The document at hand: its topic-side weights, kept up to date token by token.

The shared levels above it are one vector over all topics (``shared_weight``); its own levels are
kept for the topics it uses, which are listed in ``active``.
"""

from typing import NamedTuple

import numpy as np

from citeweave.sampler._compile import inlined
from citeweave.sampler.arrays import level_table
from citeweave.sampler.hierarchy import new_topic_weight, opening_scale, root_weight
from citeweave.sampler.random import uniform
from citeweave.sampler.stirling import weight_pair
from citeweave.sampler.word_side import refresh_burst

__all__ = [
    "BLOCK",
    "WordWork",
    "draw_topic_addition",
    "new_word_work",
    "open_document",
    "refresh_scales",
    "topic_moved",
    "topic_weight",
]

BLOCK = 64
"""Topics in a block of the dense sum."""


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
def topic_moved(shape, layout, tables, counts, parameters, work, d, leaf, k, depth, n_active):
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
def topic_weight(shape, work, p, k, levels):
    """Topic-side weight, nested over the first ``levels`` document levels."""
    weight = work.shared_weight[p, len(shape.shared) - 1, k]
    for i in range(levels):
        weight = work.stay[i, k] + work.open[i, k] * work.scale[i] * weight
    return weight


@inlined
def draw_topic_addition(rng, shape, work, p, k):
    """Draw how far a token climbs on the topic side under topic k."""
    n_document = len(shape.document)
    low = len(shape.shared) - 1
    depth = 1
    for place in range(n_document - 1, -1, -1):
        stay = work.stay[place, k]
        if stay > 0.0 and uniform(rng) * topic_weight(shape, work, p, k, place + 1) < stay:
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
def open_document(shape, layout, tables, state, work, d, starting):
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
            refresh_burst(state.parameters, work, k)
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
def refresh_scales(shape, layout, counts, parameters, work, d):
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
