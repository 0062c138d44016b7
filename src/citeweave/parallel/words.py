"""The snapshot sweep of words: documents one by one in a worker's own world.

The sweep of one document is the sequential sampler's, kernel and all; it sees the snapshot and its
own changes. With one document there is nothing else to see, and with a snapshot taken after every
document nothing is ever out of date: then it *is* the sequential sampler.
"""

from citeweave.parallel.streams import WORDS, open_stream
from citeweave.sampler._compile import hot_kernel, inlined
from citeweave.sampler.words import SWEEP, word_sweep

__all__ = ["sweep_documents"]


@inlined
def _enter(paths, layout, state, exponent, world, networked, d):
    """Copy what the document sees into the worker's world."""
    counts = state.topics
    own = world.state.topics
    n_topics = own.customers.shape[1]
    begin = paths.start[d]
    for j in range(paths.start[d + 1] - begin):
        n = paths.node[begin + j]
        world.layout.parent[j] = paths.parent[begin + j]
        for k in range(n_topics):
            own.customers[j, k] = counts.customers[n, k]
            own.tables[j, k] = counts.tables[n, k]
        own.total_customers[j] = counts.total_customers[n]
        own.total_tables[j] = counts.total_tables[n]
        world.state.parameters.topic_concentration[j] = state.parameters.topic_concentration[n]
        if networked:
            world.exponent.cite_weight[j] = exponent.cite_weight[n]
            world.exponent.cited_weight[j] = exponent.cited_weight[n]
    if networked:
        for k in range(n_topics):
            world.exponent.cite_sum[k] = exponent.cite_sum[k]
            world.exponent.cited_sum[k] = exponent.cited_sum[k]
    first = layout.leaf_start[d]
    n_paths = layout.leaf_start[d + 1] - first
    world.layout.leaf_start[1] = n_paths
    for p in range(n_paths):
        world.layout.leaf[p] = paths.leaf[first + p]
    world.layout.document_start[0] = layout.document_start[d]
    world.layout.document_start[1] = layout.document_start[d + 1]
    for i in range(layout.document_start[d], layout.document_start[d + 1]):
        world.before[i - layout.document_start[d]] = state.assignments.topic[i]


@inlined
def _leave(paths, state, world, d):
    """Give the document its counts back, and note what it did to shared nodes."""
    counts = state.topics
    own = world.state.topics
    changes = world.changes
    n_shared, n_topics = changes.node_customers.shape
    begin = paths.start[d]
    for j in range(paths.start[d + 1] - begin):
        n = paths.node[begin + j]
        if n < n_shared:
            for k in range(n_topics):
                changes.node_customers[n, k] += own.customers[j, k] - counts.customers[n, k]
                changes.node_tables[n, k] += own.tables[j, k] - counts.tables[n, k]
        else:
            for k in range(n_topics):
                counts.customers[n, k] = own.customers[j, k]
                counts.tables[n, k] = own.tables[j, k]
            counts.total_customers[n] = own.total_customers[j]
            counts.total_tables[n] = own.total_tables[j]


@inlined
def _undo_entry(words, cache, world, w, k):
    """Note the change of phi_k at a word, and take it back."""
    mine = world.state.words
    customers = mine.customers[w, k] - words.customers[w, k]
    tables = mine.tables[w, k] - words.tables[w, k]
    if customers != 0 or tables != 0:
        world.changes.word_customers[w, k] += customers
        world.changes.word_tables[w, k] += tables
        mine.customers[w, k] = words.customers[w, k]
        mine.tables[w, k] = words.tables[w, k]
    world.cache.stay[w, k] = cache.stay[w, k]
    world.cache.open[w, k] = cache.open[w, k]


@inlined
def _undo_words(layout, state, cache, world, d):
    """Note what the document did on the word side, and take it back."""
    words = state.words
    mine = world.state.words
    begin = layout.document_start[d]
    for i in range(begin, layout.document_start[d + 1]):
        w = layout.word[i]
        _undo_entry(words, cache, world, w, world.before[i - begin])
        _undo_entry(words, cache, world, w, state.assignments.topic[i])
        tables = mine.background_tables[w] - words.background_tables[w]
        if tables != 0:
            world.changes.background_tables[w] += tables
            mine.background_tables[w] = words.background_tables[w]
        mine.background_customers[w] = words.background_customers[w]
        world.cache.background_stay[w] = cache.background_stay[w]
        world.cache.background_open[w] = cache.background_open[w]
    for k in range(mine.total_customers.shape[0]):
        mine.total_customers[k] = words.total_customers[k]
        mine.total_tables[k] = words.total_tables[k]
        world.cache.inverse[k] = cache.inverse[k]
        world.cache.opening[k] = cache.opening[k]
    mine.background_totals[0] = words.background_totals[0]
    mine.background_totals[1] = words.background_totals[1]


@hot_kernel
def sweep_documents(shape, paths, layout, tables, state, cache, exponent, world, key, docs):
    """Visit the tokens of some documents once, each with a random stream of its own.

    ``state``, ``cache`` and ``exponent`` are the snapshot: of ``state`` only what belongs to
    these documents is written. ``docs`` (int64 [3]) is first document, end and step.
    """
    networked = len(shape.network) > 0
    for d in range(docs[0], docs[1], docs[2]):
        if layout.document_start[d] == layout.document_start[d + 1]:
            continue
        _enter(paths, layout, state, exponent, world, networked, d)
        open_stream(key, WORDS, d, world.state.random)
        word_sweep(
            shape,
            world.layout,
            tables,
            world.state,
            world.cache,
            world.work,
            world.exponent,
            0,
            1,
            SWEEP,
            world.tally,
        )
        _leave(paths, state, world, d)
        _undo_words(layout, state, cache, world, d)
