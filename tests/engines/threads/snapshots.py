"""Snapshot sweeps run many times in compiled code, every state noted."""

import numpy as np

from citeweave.engines.core.exponent import rebuild_exponent
from citeweave.engines.core.random import uniform
from citeweave.engines.core.word_side import refresh_word_cache
from citeweave.engines.threads import SnapshotChain
from citeweave.engines.threads.citations import Citing, sweep_citing
from citeweave.engines.threads.merge import add_moves, merge_nodes, merge_words
from citeweave.engines.threads.words import sweep_documents
from reference.loops import documents_of, loop
from reference.run import _note, topic_record_width, word_record_width


@loop
def _key(rng):
    return np.uint64(uniform(rng) * 2.0**53)


@loop
def _merge_levels(layout, counts, n_levels, changes):
    for level in range(n_levels - 1, -1, -1):
        first, last = layout.level_start[level], layout.level_start[level + 1]
        merge_nodes(layout.parent, counts, changes, first, last, 0)


@loop
def _run(sweeps, rounds, sizes, model, state, cache, exponent, room, network, records):
    world, changes, totals = room
    topic_rows, word_rows = records
    shape, paths, layout, tables = model
    level, n_shared_levels, n_shared = sizes
    here, moves, lists = network
    start = lists[0]
    n = layout.document_start.shape[0] - 1
    for sweep in range(sweeps):
        for round_ in range(rounds):
            if shape.network > 0:
                rebuild_exponent(layout, state.topics, state.parameters, level, exponent)
            docs = documents_of(round_, n, rounds)
            sweep_documents(
                shape,
                paths,
                layout,
                tables,
                state,
                cache,
                exponent,
                world,
                _key(state.random),
                docs,
            )
            _merge_levels(layout, state.topics, n_shared_levels, changes)
            n_words = state.words.customers.shape[0]
            merge_words(shape, tables, state.words, cache, changes, totals, 0, n_words, 0)
            state.words.total_customers[:] = totals[0, 0, :-1]
            state.words.total_tables[:] = totals[0, 1, :-1]
            state.words.background_totals[0] = totals[0, 0, -1]
            state.words.background_totals[1] = totals[0, 1, -1]
            refresh_word_cache(tables, state.words, state.parameters, cache)
        if shape.network > 0:
            for round_ in range(rounds):
                rebuild_exponent(layout, state.topics, state.parameters, level, exponent)
                docs = documents_of(round_, n, rounds)
                key = _key(state.random)
                citing = Citing(level, n_shared, start)
                sweep_citing(citing, layout, tables, state, exponent, here, moves, key, docs)
                turn = (round_, rounds, np.arange(n))
                add_moves(layout, state.topics, lists, moves, changes, turn, 0, n, 0)
                _merge_levels(layout, state.topics, n_shared_levels, changes)
        at = _note(topic_rows, sweep, 0, state.assignments.topic)
        at = _note(topic_rows, sweep, at, state.assignments.path)
        if shape.network > 0:
            at = _note(topic_rows, sweep, at, state.assignments.citing_topic)
        _note(topic_rows, sweep, at, state.topics.tables[1:].ravel())
        at = _note(word_rows, sweep, 0, state.assignments.topic)
        at = _note(word_rows, sweep, at, state.assignments.burst_table)
        at = _note(word_rows, sweep, at, state.words.tables.ravel())
        if shape.background > 0:
            _note(word_rows, sweep, at, state.words.background_tables)


def run_snapshots(chain: SnapshotChain, sweeps: int):
    """Run and return the visited topic-side and word-side states, one a row."""
    world = chain._workers()[0]
    networked = chain.spec.citations is not None
    level = chain.citation_level
    sizes = (level, chain.spec.n_shared, chain._n_shared)
    topic_rows = np.zeros((sweeps, topic_record_width(chain)), np.int8)
    word_rows = np.zeros((sweeps, word_record_width(chain)), np.int8)
    if networked:
        network = (chain._neighbourhoods[0], chain._moves, chain._lists)
    else:  # never read, but the compiler wants their types
        twin = networked_twin()
        network = (twin._neighbourhoods[0], twin._moves, twin._lists)
    _run(
        sweeps,
        chain.rounds,
        sizes,
        (chain.shape, chain._paths, chain.layout, chain.tables),
        chain.state,
        chain.cache,
        chain.exponent,
        (world, chain._changes, np.zeros((1, 2, chain.settings.topics + 1), np.int64)),
        network,
        (topic_rows, word_rows),
    )
    return topic_rows, word_rows


def networked_twin():
    from parallel_tools import snapshot_chain

    twin = snapshot_chain("scntm")
    twin._workers()
    return twin
