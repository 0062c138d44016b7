"""The snapshot sweep of words: each worker sweeps documents one by one in a private copy.

The sweep of one document uses the sequential sampler's kernel and sees the snapshot and its own
changes. With one document, or with a snapshot after every document, nothing is ever out of date,
and it *is* the sequential sampler.

There are two equivalent kernels. With few topics, rows are short and are copied and compared whole.
With many topics, only the entries whose topic a token left or joined are recorded and restored.
"""

from citeweave.compiled import hot_kernel, index, inlined
from citeweave.engines.dense.words import ONE_BY_ONE, word_sweep
from citeweave.engines.threads.rows import copy_row
from citeweave.engines.threads.streams import WORDS, open_stream

__all__ = ["enter_document", "leave_document", "sweep_documents", "sweep_documents_entries"]

# The sweep is inlined: passing some eighty arrays would take a tenth of the time of a document of
# sixty tokens.
_word_sweep = inlined(getattr(word_sweep, "py_func", word_sweep))


@inlined
def enter_document(paths, layout, state, exponent, world, networked, present, d):
    """Copy the nodes that the document sees into the worker's world.

    The rows of the first ``present`` nodes are already there: that of the root, or none.
    """
    counts = state.topics
    own = world.state.topics
    n_topics = own.customers.shape[1]
    begin = paths.start[d]
    for j in range(paths.start[d + 1] - begin):
        n = paths.node[begin + j]
        world.layout.parent[j] = paths.parent[begin + j]
        if j >= present:
            copy_row(own.customers, j, counts.customers, n, n_topics)
            copy_row(own.tables, j, counts.tables, n, n_topics)
        if own.held.shape[0] > 0:
            copy_row(own.held, j, counts.held, n, n_topics)
            world.state.parameters.share[j] = state.parameters.share[n]
        own.total_customers[j] = counts.total_customers[n]
        own.total_tables[j] = counts.total_tables[n]
        world.state.parameters.topic_concentration[j] = state.parameters.topic_concentration[n]
        if networked:
            world.exponent.cite_weight[j] = exponent.cite_weight[n]
            world.exponent.cited_weight[j] = exponent.cited_weight[n]
    if networked:
        for k in range(index(n_topics)):
            world.exponent.cite_sum[k] = exponent.cite_sum[k]
            world.exponent.cited_sum[k] = exponent.cited_sum[k]
    first = layout.leaf_start[d]
    n_paths = layout.leaf_start[d + 1] - first
    world.layout.leaf_start[1] = n_paths
    for p in range(n_paths):
        world.layout.leaf[p] = paths.leaf[first + p]
    world.layout.document_start[0] = layout.document_start[d]
    world.layout.document_start[1] = layout.document_start[d + 1]


@inlined
def _enter_words(layout, state, cache, world, d):
    """Copy the rows of the document's words, in document order, and save its topics."""
    words = state.words
    mine = world.state.words
    n_topics = words.customers.shape[1]
    begin = layout.document_start[d]
    last = -1
    whole = world.whole[0]
    for i in range(begin, layout.document_start[d + 1]):
        world.before[i - begin] = state.assignments.topic[i]
        r = world.layout.word[i]
        if r != last and not whole:
            last = r
            w = layout.word[i]
            copy_row(mine.customers, r, words.customers, w, n_topics)
            copy_row(mine.tables, r, words.tables, w, n_topics)
            copy_row(world.cache.stay, r, cache.stay, w, n_topics)
            copy_row(world.cache.open, r, cache.open, w, n_topics)
            mine.background_customers[r] = words.background_customers[w]
            mine.background_tables[r] = words.background_tables[w]
            world.cache.background_stay[r] = cache.background_stay[w]
            world.cache.background_open[r] = cache.background_open[w]


@inlined
def _enter_totals(state, cache, world):
    """Copy the word side's totals and normalisers by topic."""
    words = state.words
    mine = world.state.words
    for k in range(index(words.customers.shape[1])):
        mine.total_customers[k] = words.total_customers[k]
        mine.total_tables[k] = words.total_tables[k]
        world.cache.inverse[k] = cache.inverse[k]
        world.cache.opening[k] = cache.opening[k]
    mine.background_totals[0] = words.background_totals[0]
    mine.background_totals[1] = words.background_totals[1]


@inlined
def leave_document(paths, state, world, d):
    """Write the document's counts back, and record its changes to shared nodes."""
    counts = state.topics
    own = world.state.topics
    changes = world.changes
    n_shared, n_topics = changes.node_customers.shape
    begin = paths.start[d]
    for j in range(paths.start[d + 1] - begin):
        n = index(paths.node[begin + j])
        i = index(j)
        if n < n_shared:
            for k in range(index(n_topics)):
                changes.node_customers[n, k] += own.customers[i, k] - counts.customers[n, k]
            for k in range(index(n_topics)):
                changes.node_tables[n, k] += own.tables[i, k] - counts.tables[n, k]
        else:
            copy_row(counts.customers, n, own.customers, i, n_topics)
            copy_row(counts.tables, n, own.tables, i, n_topics)
            counts.total_customers[n] = own.total_customers[i]
            counts.total_tables[n] = own.total_tables[i]


@inlined
def _note_entry(words, cache, world, r, w, k):
    """Record the change of phi_k at a word, and reset the copy to the snapshot."""
    mine = world.state.words
    customers = mine.customers[r, k] - words.customers[w, k]
    tables = mine.tables[r, k] - words.tables[w, k]
    if customers != 0 or tables != 0:
        world.changes.words[w, k, 0] += customers
        world.changes.words[w, k, 1] += tables
        mine.customers[r, k] -= customers
        mine.tables[r, k] -= tables
        world.cache.stay[r, k] = cache.stay[w, k]
        world.cache.open[r, k] = cache.open[w, k]


@inlined
def _save_entries(layout, state, world, d):
    """Save the entries at each token's word and topic before the sweep.

    They are read from the copy, where the sweep will need them, so that restoring them later does
    not have to read the snapshot.
    """
    mine = world.state.words
    begin = layout.document_start[d]
    for i in range(begin, layout.document_start[d + 1]):
        r = index(world.layout.word[i])
        k = index(state.assignments.topic[i])
        world.saved_counts[i - begin, 0] = mine.customers[r, k]
        world.saved_counts[i - begin, 1] = mine.tables[r, k]
        world.saved_weights[i - begin, 0] = world.cache.stay[r, k]
        world.saved_weights[i - begin, 1] = world.cache.open[r, k]


@inlined
def _restore_entry(world, i, r, w, k):
    """Like `_note_entry` for a token's topic before the sweep."""
    mine = world.state.words
    customers = mine.customers[r, k] - world.saved_counts[i, 0]
    tables = mine.tables[r, k] - world.saved_counts[i, 1]
    if customers != 0 or tables != 0:
        world.changes.words[w, k, 0] += customers
        world.changes.words[w, k, 1] += tables
        mine.customers[r, k] -= customers
        mine.tables[r, k] -= tables
        world.cache.stay[r, k] = world.saved_weights[i, 0]
        world.cache.open[r, k] = world.saved_weights[i, 1]


@inlined
def _leave_words(layout, state, cache, world, saved, d):
    """Record the document's changes to the word side, and restore the copy."""
    words = state.words
    mine = world.state.words
    begin = layout.document_start[d]
    last = -1
    for i in range(begin, layout.document_start[d + 1]):
        w = index(layout.word[i])
        r = index(world.layout.word[i])
        before = index(world.before[i - begin])
        after = index(state.assignments.topic[i])
        if saved:
            _restore_entry(world, i - begin, r, w, before)
        else:
            _note_entry(words, cache, world, r, w, before)
        if after != before:
            _note_entry(words, cache, world, r, w, after)
        if r != last:
            last = r
            tables = mine.background_tables[r] - words.background_tables[w]
            if tables != 0:
                world.changes.background_tables[w] += tables
            mine.background_customers[r] = words.background_customers[w]
            mine.background_tables[r] = words.background_tables[w]
            world.cache.background_stay[r] = cache.background_stay[w]
            world.cache.background_open[r] = cache.background_open[w]


@inlined
def _leave_entries(paths, layout, state, cache, world, d):
    """Like `leave_document`, for topics that tokens left or joined; restore shared entries."""
    counts = state.topics
    own = world.state.topics
    changes = world.changes
    words = state.words
    mine = world.state.words
    n_shared = changes.node_customers.shape[0]
    first = paths.start[d]
    begin = layout.document_start[d]
    for i in range(begin, layout.document_start[d + 1]):
        for side in range(2):
            k = index(world.before[i - begin] if side == 0 else state.assignments.topic[i])
            mine.total_customers[k] = words.total_customers[k]
            mine.total_tables[k] = words.total_tables[k]
            world.cache.inverse[k] = cache.inverse[k]
            world.cache.opening[k] = cache.opening[k]
            for j in range(paths.start[d + 1] - first):
                n = index(paths.node[first + j])
                if n < n_shared:
                    changes.node_customers[n, k] += own.customers[j, k] - counts.customers[n, k]
                    changes.node_tables[n, k] += own.tables[j, k] - counts.tables[n, k]
                    own.customers[j, k] = counts.customers[n, k]
                    own.tables[j, k] = counts.tables[n, k]
                else:
                    counts.customers[n, k] = own.customers[j, k]
                    counts.tables[n, k] = own.tables[j, k]
    for j in range(paths.start[d + 1] - first):
        n = paths.node[first + j]
        if n >= n_shared:
            counts.total_customers[n] = own.total_customers[j]
            counts.total_tables[n] = own.total_tables[j]


@inlined
def _own_sweep(shape, tables, world):
    """Return the arguments for the sweep of the single document in a worker's world."""
    return (
        shape,
        world.layout,
        tables,
        world.state,
        world.cache,
        world.work,
        world.exponent,
        (0, 1),
        ONE_BY_ONE,
        world.tally,
    )


@hot_kernel
def sweep_documents(shape, paths, layout, tables, state, cache, exponent, world, key, docs):
    """Visit the tokens of some documents once, with one random stream per document.

    ``state``, ``cache`` and ``exponent`` are the snapshot; only the entries of ``state`` that
    belong to these documents are written. ``docs`` (int64 [n, 2]) holds documents and their numbers
    in the whole corpus.
    """
    networked = shape.network > 0
    for i in range(docs.shape[0]):
        d = docs[i, 0]
        if layout.document_start[d] == layout.document_start[d + 1]:
            continue
        enter_document(paths, layout, state, exponent, world, networked, 0, d)
        _enter_words(layout, state, cache, world, d)
        _enter_totals(state, cache, world)
        open_stream(key, WORDS, docs[i, 1], world.state.random)
        _word_sweep(*_own_sweep(shape, tables, world))
        leave_document(paths, state, world, d)
        _leave_words(layout, state, cache, world, False, d)


@hot_kernel
def sweep_documents_entries(shape, paths, layout, tables, state, cache, exponent, world, key, docs):
    """Like `sweep_documents`, for many topics."""
    networked = shape.network > 0
    _enter_totals(state, cache, world)
    n_topics = state.topics.customers.shape[1]
    copy_row(world.state.topics.customers, 0, state.topics.customers, 0, n_topics)
    copy_row(world.state.topics.tables, 0, state.topics.tables, 0, n_topics)
    for i in range(docs.shape[0]):
        d = docs[i, 0]
        if layout.document_start[d] == layout.document_start[d + 1]:
            continue
        enter_document(paths, layout, state, exponent, world, networked, 1, d)
        _enter_words(layout, state, cache, world, d)
        _save_entries(layout, state, world, d)
        open_stream(key, WORDS, docs[i, 1], world.state.random)
        # called, not inlined: with long rows, the compiler optimises its loops better this way
        word_sweep(*_own_sweep(shape, tables, world))
        _leave_words(layout, state, cache, world, True, d)
        _leave_entries(paths, layout, state, cache, world, d)
        world.state.words.background_totals[0] = state.words.background_totals[0]
        world.state.words.background_totals[1] = state.words.background_totals[1]
