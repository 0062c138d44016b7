"""The current document and its topic-side weights, updated token by token.

Every level on the path from mu to the document is a row over all topics, so computing the weights
of all topics takes a few vector instructions per level.
"""

from typing import NamedTuple

import numpy as np

from citeweave.compiled import index, inlined
from citeweave.engines.core.arrays import level_table
from citeweave.engines.core.climb import draw_nested_addition, find_path, nested_weight
from citeweave.engines.core.hierarchy import new_topic_weight, opening_scale, root_weight
from citeweave.engines.core.random import uniform
from citeweave.engines.core.row_places import count_at, n_places, topic_at
from citeweave.engines.core.stirling import weight_pair
from citeweave.engines.core.word_side import BLOCK, in_blocks, padded, refresh_burst

__all__ = [
    "MOST_JOINT",
    "WordWork",
    "draw_topic_addition",
    "new_word_work",
    "open_document",
    "refresh_scales",
    "topic_moved",
    "topic_weight",
]


MOST_JOINT = 16
"""Maximum number of tokens of one word that move together; with more, one is almost always
blocked."""


class WordWork(NamedTuple):
    """Scratch arrays of one document, overwritten at each visit.

    Weights are in single precision: their relative error of 1e-7 is far below what any number of
    draws could show, and twice as many topics fit into one vector instruction. Rows are padded
    with topics of weight zero (``width``), so that no loop has a remainder of single steps.
    """

    row: np.ndarray
    """int64 [paths, levels]: nodes from the root to each leaf of the document."""
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
    """float32 [paths]: factor of each path's weights."""
    shared_blocks: np.ndarray
    """``shared_weight``, ``stay``, ``open`` and ``burst_opening`` viewed in blocks of topics."""
    stay_blocks: np.ndarray
    open_blocks: np.ndarray
    burst_blocks: np.ndarray
    block_mass: np.ndarray
    """float32 [paths, blocks]: sums of the weights of the current token."""
    path_mass: np.ndarray
    """float64 [paths]: running sum of weights up to and including each path."""
    tokens: np.ndarray
    """int32 [topics]: tokens of the document by topic (customers of phi'_dk)."""
    tables: np.ndarray
    """int32 [topics]: tables of phi'_dk."""
    burst_inverse: np.ndarray
    """float32 [topics]: 1 / (beta + C) of phi'_dk."""
    burst_opening: np.ndarray
    """float32 [width]: (beta + alpha T) / (beta + C) of phi'_dk."""
    run_customers: np.ndarray
    """int32 [topics]: customers of phi'_dk at the current word."""
    run_tables: np.ndarray
    """int32 [topics]."""
    draws: np.ndarray
    """int64 [1]: number of draws so far in which the word needed burst corrections."""
    corrected: np.ndarray
    """int64 [width]: the last such draw that corrected a topic."""
    correction: np.ndarray
    """float32 [width]: weight added by that correction."""
    run_depths: np.ndarray
    """int64 [4, tokens]: depths to which tokens that move together had climbed, on the topic side
    and on the word side, then the depths under their new topic."""
    run_proposal: np.ndarray
    """float64 [topics]: weights from which that topic was proposed."""
    run_each: np.ndarray
    """float64 [topics]: factor that each token after the first contributes to these weights."""
    run_turnover: np.ndarray
    """int64 [levels, 4]: customers and tables removed and added, by level."""


def new_word_work(n_topics: int, n_paths: int, n_shared: int, n_document: int) -> WordWork:
    """Allocate scratch arrays for one worker."""
    document = max(n_document, 1)
    width = padded(n_topics)
    shared_weight = np.zeros((n_paths, n_shared, width), np.float32)
    stay = np.zeros((document, width), np.float32)
    opened = np.ones((document, width), np.float32)
    burst_opening = np.ones(width, np.float32)
    return WordWork(
        row=np.zeros((n_paths, n_shared + n_document), np.int64),
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
        run_depths=np.zeros((4, MOST_JOINT), np.int64),
        run_proposal=np.zeros(n_topics),
        run_each=np.zeros(n_topics),
        run_turnover=np.zeros((n_shared + n_document, 4), np.int64),
    )


@inlined
def _shared_chain(shape, counts, parameters, work, p):
    """Recompute a path's shared weights from the A0 and B1 of its nodes."""
    n_topics = work.tokens.shape[0]
    new = new_topic_weight(counts, parameters)
    for k in range(n_topics):
        work.shared_weight[p, 0, k] = root_weight(counts, parameters, new, k)
    for level in range(1, len(shape.shared)):
        n, parent = work.row[p, level], work.row[p, level - 1]
        scale = np.float32(opening_scale(counts, parameters, level, n, parent))
        for k in range(n_topics):
            above = scale * work.shared_weight[p, level - 1, k]
            above = work.shared_stay[p, level, k] + work.shared_open[p, level, k] * above
            work.shared_weight[p, level, k] = above


@inlined
def _refresh_shared(shape, tables, counts, work, p, k):
    """Update A0 and B1 of one topic on every shared level of a path."""
    for level in range(len(shape.shared) - 1, 0, -1):
        n = index(work.row[p, level])
        stay, opened = weight_pair(
            level_table(tables.topic, level), counts.customers[n, k], counts.tables[n, k]
        )
        work.shared_stay[p, level, k] = stay
        work.shared_open[p, level, k] = opened


@inlined
def topic_moved(shape, tables, counts, parameters, work, n_paths, path, depth):
    """Update the document's weights after ``move_customer`` with ``depth``."""
    n_document = len(shape.document)
    low = len(shape.shared) - 1
    k = path.column
    for j in range(n_document):
        if j < depth:
            place = n_document - 1 - j
            level = len(shape.shared) + place
            n = index(path.row[level])
            stay, opened = weight_pair(
                level_table(tables.topic, level), counts.customers[n, k], counts.tables[n, k]
            )
            work.stay[place, k] = stay
            work.open[place, k] = opened
    if depth > n_document:
        moved = path.row[low]
        alone = depth == n_document + 1 and low > 0  # nothing above the lowest level moved
        for p in range(n_paths):
            node = work.row[p, low]
            if alone and node != moved:
                continue
            _refresh_shared(shape, tables, counts, work, p, k)
            if alone:
                weight = work.shared_weight[p, low - 1, k]
                weight *= opening_scale(counts, parameters, low, node, work.row[p, low - 1])
                weight *= work.shared_open[p, low, k]
                work.shared_weight[p, low, k] = weight + work.shared_stay[p, low, k]
            else:
                _shared_chain(shape, counts, parameters, work, p)


@inlined
def topic_weight(shape, work, p, k):
    """Return the topic-side weight, nested over all levels."""
    shared = work.shared_weight[p, len(shape.shared) - 1, k]
    return nested_weight(work, shared, len(shape.document), k)


@inlined
def draw_topic_addition(rng, shape, work, p, k):
    """Draw how far a token climbs on the topic side under topic k."""
    n_document = len(shape.document)
    low = len(shape.shared) - 1
    depth = draw_nested_addition(rng, work, work.shared_weight[p, low, k], n_document, k)
    if depth > n_document:
        for level in range(low, 0, -1):
            stay = work.shared_stay[p, level, k]
            if stay > 0.0 and uniform(rng) * work.shared_weight[p, level, k] < stay:
                return depth
            depth += 1
    return depth


@inlined
def _read_node(table, counts, n, stay, opened):
    """Fill in A0 and B1 of a node; most topics have no customers there."""
    for k in range(stay.shape[0]):
        stay[k] = 0.0
        opened[k] = 1.0
    for j in range(n_places(counts.customers, n)):
        c = count_at(counts.customers, n, j)
        if c > 0:
            k = topic_at(counts.customers, n, j)
            stay[k], opened[k] = weight_pair(table, c, count_at(counts.tables, n, j))


@inlined
def open_document(shape, layout, tables, state, cache, work, d, starting):
    """Fill in the scratch rows for a document."""
    counts = state.topics
    n_topics = work.tokens.shape[0]
    first = layout.leaf_start[d]
    n_paths = layout.leaf_start[d + 1] - first
    if shape.burst > 0:
        for k in range(n_topics):
            work.tokens[k] = 0
            work.tables[k] = 0
        if not starting:
            for i in range(layout.document_start[d], layout.document_start[d + 1]):
                k = state.assignments.topic[i]
                work.tokens[k] += 1
                work.tables[k] += state.assignments.burst_table[i]
        for k in range(n_topics):
            refresh_burst(state.parameters, work, k, cache.power)
    n_levels = len(shape.shared) + len(shape.document)
    for p in range(n_paths):
        find_path(layout, work.row[p], n_levels - 1, layout.leaf[first + p])
        for level in range(len(shape.shared) - 1, 0, -1):
            _read_node(
                level_table(tables.topic, level),
                counts,
                work.row[p, level],
                work.shared_stay[p, level],
                work.shared_open[p, level],
            )
        _shared_chain(shape, counts, state.parameters, work, p)
    for place in range(len(shape.document) - 1, -1, -1):
        level = len(shape.shared) + place
        table = level_table(tables.topic, level)
        _read_node(table, counts, work.row[0, level], work.stay[place], work.open[place])


@inlined
def refresh_scales(shape, counts, parameters, work, n_paths):
    """Update the factors that all topics of a path share."""
    n_document = len(shape.document)
    if n_document == 0:
        for p in range(n_paths):
            n = work.row[p, len(shape.shared) - 1]
            total = parameters.topic_concentration[n] + counts.total_customers[n]
            work.path_scale[p] = 1.0 / total
    else:
        for place in range(n_document - 1, -1, -1):
            level = len(shape.shared) + place
            n, parent = work.row[0, level], work.row[0, level - 1]
            work.scale[place] = opening_scale(counts, parameters, level, n, parent)
