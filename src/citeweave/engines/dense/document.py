"""The document at hand: its topic-side weights, kept up to date token by token.

Every level on the way from mu to the document is a row over all topics, so that the weights of
all topics are a few vector instructions a level.
"""

from typing import NamedTuple

import numpy as np

from citeweave.compiled import index, inlined
from citeweave.engines.core.arrays import level_table
from citeweave.engines.core.hierarchy import new_topic_weight, opening_scale, root_weight
from citeweave.engines.core.random import uniform
from citeweave.engines.core.stirling import weight_pair
from citeweave.engines.core.word_side import BLOCK, in_blocks, padded, refresh_burst

__all__ = [
    "WordWork",
    "draw_topic_addition",
    "new_word_work",
    "open_document",
    "refresh_scales",
    "topic_moved",
    "topic_weight",
]


class WordWork(NamedTuple):
    """Scratch of one document: rows are overwritten at each visit.

    Weights are in single precision: their relative error of 1e-7 is far below what any number of
    draws could show, and twice as many topics fit into one vector instruction. Rows are padded
    with topics of weight zero (``width``), so that no loop has a remainder of single steps.
    """

    shared_stay: np.ndarray
    """float32 [paths, shared levels, width]: A0 of the nodes above the document."""
    shared_open: np.ndarray
    """float32 [paths, shared levels, width]: B1."""
    shared_weight: np.ndarray
    """float32 [paths, shared levels, width]: nested weights from the root down."""
    stay: np.ndarray
    """float32 [document levels, width]."""
    open: np.ndarray
    """float32 [document levels, width]."""
    scale: np.ndarray
    """float32 [document levels]: (beta + alpha T) / (beta_parent + C_parent)."""
    path_scale: np.ndarray
    """float32 [paths]: factor of a path's weights."""
    shared_blocks: np.ndarray
    """``shared_weight``, ``stay``, ``open`` and ``burst_opening`` viewed in blocks of topics."""
    stay_blocks: np.ndarray
    open_blocks: np.ndarray
    burst_blocks: np.ndarray
    block_mass: np.ndarray
    """float32 [paths, blocks]: sums of the weights of the token at hand."""
    path_mass: np.ndarray
    """float64 [paths]: running sum of weights up to and with a path."""
    tokens: np.ndarray
    """int32 [topics]: tokens of the document by topic (customers of phi'_dk)."""
    tables: np.ndarray
    """int32 [topics]: tables of phi'_dk."""
    burst_inverse: np.ndarray
    """float32 [topics]: 1 / (beta + C) of phi'_dk."""
    burst_opening: np.ndarray
    """float32 [width]: (beta + alpha T) / (beta + C) of phi'_dk."""
    run_customers: np.ndarray
    """int32 [topics]: customers of phi'_dk at the word at hand."""
    run_tables: np.ndarray
    """int32 [topics]."""
    draws: np.ndarray
    """int64 [1]: draws so far in which the word had bursts to correct for."""
    corrected: np.ndarray
    """int64 [width]: the last such draw that corrected a topic."""
    correction: np.ndarray
    """float32 [width]: what that correction added."""


def new_word_work(n_topics: int, n_paths: int, n_shared: int, n_document: int) -> WordWork:
    """Make scratch room for one worker."""
    document = max(n_document, 1)
    width = padded(n_topics)
    shared_weight = np.zeros((n_paths, n_shared, width), np.float32)
    stay = np.zeros((document, width), np.float32)
    opened = np.ones((document, width), np.float32)
    burst_opening = np.ones(width, np.float32)
    return WordWork(
        shared_stay=np.zeros((n_paths, n_shared, width), np.float32),
        shared_open=np.ones((n_paths, n_shared, width), np.float32),
        shared_weight=shared_weight,
        stay=stay,
        open=opened,
        scale=np.ones(document, np.float32),
        path_scale=np.ones(n_paths, np.float32),
        shared_blocks=in_blocks(shared_weight),
        stay_blocks=in_blocks(stay),
        open_blocks=in_blocks(opened),
        burst_blocks=in_blocks(burst_opening),
        block_mass=np.zeros((n_paths, width // BLOCK), np.float32),
        path_mass=np.zeros(n_paths),
        tokens=np.zeros(n_topics, np.int32),
        tables=np.zeros(n_topics, np.int32),
        burst_inverse=np.zeros(n_topics, np.float32),
        burst_opening=burst_opening,
        run_customers=np.zeros(n_topics, np.int32),
        run_tables=np.zeros(n_topics, np.int32),
        draws=np.zeros(1, np.int64),
        corrected=np.full(width, -1, np.int64),
        correction=np.zeros(width, np.float32),
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
    """Recompute a path's shared weights from the A0 and B1 of its nodes."""
    n_topics = work.tokens.shape[0]
    low = len(shape.shared) - 1
    new = new_topic_weight(counts, parameters)
    for k in range(n_topics):
        work.shared_weight[p, 0, k] = root_weight(counts, parameters, new, k)
    for level in range(1, len(shape.shared)):
        n = node
        for _ in range(low - level):
            n = layout.parent[n]
        scale = np.float32(opening_scale(counts, parameters, level, n, layout.parent[n]))
        for k in range(n_topics):
            above = scale * work.shared_weight[p, level - 1, k]
            above = work.shared_stay[p, level, k] + work.shared_open[p, level, k] * above
            work.shared_weight[p, level, k] = above


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
def topic_moved(shape, layout, tables, counts, parameters, work, d, leaf, k, depth):
    """Bring the document's weights up to date after ``move_customer`` of ``depth``."""
    n_document = len(shape.document)
    low = len(shape.shared) - 1
    n = index(leaf)
    for j in range(n_document):
        if j < depth:
            place = n_document - 1 - j
            stay, opened = weight_pair(
                level_table(tables.topic, len(shape.shared) + place),
                counts.customers[n, k],
                counts.tables[n, k],
            )
            work.stay[place, k] = stay
            work.open[place, k] = opened
        n = index(layout.parent[n])
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
                work.shared_weight[p, low, k] = weight + work.shared_stay[p, low, k]
            else:
                _shared_chain(shape, layout, counts, parameters, work, p, node)


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
    for k in range(stay.shape[0]):
        stay[k] = 0.0
        opened[k] = 1.0
    for k in range(counts.customers.shape[1]):
        c = counts.customers[n, k]
        if c > 0:
            stay[k], opened[k] = weight_pair(table, c, counts.tables[n, k])


@inlined
def open_document(shape, layout, tables, state, work, d, starting):
    """Fill the scratch rows for a document."""
    counts = state.topics
    n_topics = work.tokens.shape[0]
    first = layout.leaf_start[d]
    n_paths = layout.leaf_start[d + 1] - first
    if len(shape.burst) > 0:
        for k in range(n_topics):
            work.tokens[k] = 0
            work.tables[k] = 0
        if not starting:
            for i in range(layout.document_start[d], layout.document_start[d + 1]):
                k = state.assignments.topic[i]
                work.tokens[k] += 1
                work.tables[k] += state.assignments.burst_table[i]
        for k in range(n_topics):
            refresh_burst(state.parameters, work, k)
    for p in range(n_paths):
        top = _top_node(shape, layout, layout.leaf[first + p])
        n = top
        for level in range(len(shape.shared) - 1, 0, -1):
            _read_node(
                level_table(tables.topic, level),
                counts,
                n,
                work.shared_stay[p, level],
                work.shared_open[p, level],
            )
            n = layout.parent[n]
        _shared_chain(shape, layout, counts, state.parameters, work, p, top)
    n = layout.leaf[first]
    for place in range(len(shape.document) - 1, -1, -1):
        table = level_table(tables.topic, len(shape.shared) + place)
        _read_node(table, counts, n, work.stay[place], work.open[place])
        n = layout.parent[n]


@inlined
def refresh_scales(shape, layout, counts, parameters, work, d):
    """Renew the factors that all topics of a path share."""
    first = layout.leaf_start[d]
    n_document = len(shape.document)
    if n_document == 0:
        for p in range(layout.leaf_start[d + 1] - first):
            n = layout.leaf[first + p]
            total = parameters.topic_concentration[n] + counts.total_customers[n]
            work.path_scale[p] = 1.0 / total
    else:
        n = layout.leaf[first]
        for place in range(n_document - 1, -1, -1):
            level = len(shape.shared) + place
            work.scale[place] = opening_scale(counts, parameters, level, n, layout.parent[n])
            n = layout.parent[n]
