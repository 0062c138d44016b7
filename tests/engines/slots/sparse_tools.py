"""Tiny chains over slots, and their sweeps run many times in compiled code."""

from functools import partial
from types import SimpleNamespace

import numpy as np

import citeweave.engines.core.word_side as word_side_module
from citeweave.engines.core.arrays import Model
from citeweave.engines.core.exponent import rebuild_exponent
from citeweave.engines.core.random import uniform
from citeweave.engines.core.word_side import refresh_word_cache
from citeweave.engines.slots import SparseChain, SparseSnapshotChain
from citeweave.engines.slots.citations import citation_sweep
from citeweave.engines.slots.hubs import list_hubs, new_hub_rows
from citeweave.engines.slots.merge import add_noted_moves, merge_node_range, merge_word_range
from citeweave.engines.slots.presence import Support
from citeweave.engines.slots.rates import CitationSums, gather_rates
from citeweave.engines.slots.snapshot_citations import (
    Snapshot,
    note_moved_documents,
    sweep_citing,
)
from citeweave.engines.slots.words import word_sweep
from citeweave.engines.threads.citations import Citing
from reference.loops import documents_of, loop
from reference.posterior import TinyPosterior
from reference.run import (
    _note,
    frequencies,
    marginal,
    topic_record_width,
    total_variation,
    word_record_width,
)
from reference.tiny import tiny_chain


def slot_chain(spec, *, rounds=None, most_listed=64, **corpus):
    """As ``tiny_chain``, over slots; with ``rounds`` in snapshots.

    Tables of proposals are made of the first state and then stand still.
    """
    kind = SparseChain if rounds is None else partial(SparseSnapshotChain, rounds=rounds)
    modules = {"chain": SimpleNamespace(DenseChain=kind), "word_side": word_side_module}
    chain = tiny_chain(spec, modules=modules, **corpus)
    chain.proposals.refresh(most_listed)
    if chain.spec.citations is not None:
        chain.proposals.before_citations()
    return chain


@loop
def _note_tables(record, sweep, begin, tables):
    """Note the tables of all nodes below mu, which may be lists."""
    at = begin
    for n in range(1, tables.shape[0]):
        for k in range(tables.shape[1]):
            record[sweep, at] = tables[n, k]
            at += 1


@loop
def _note_all(shape, state, sweep, records):
    topic_rows, word_rows = records
    at = _note(topic_rows, sweep, 0, state.assignments.topic)
    if shape.network > 0:
        at = _note(topic_rows, sweep, at, state.assignments.citing_topic)
    _note_tables(topic_rows, sweep, at, state.topics.tables)
    at = _note(word_rows, sweep, 0, state.assignments.topic)
    at = _note(word_rows, sweep, at, state.assignments.burst_table)
    at = _note(word_rows, sweep, at, state.words.tables.ravel())
    if shape.background > 0:
        _note(word_rows, sweep, at, state.words.background_tables)


@loop
def note_topics(shape, state, sweep, records):
    """Note assignments alone, which is all that is worth its room where topics are many."""
    at = _note(records, sweep, 0, state.assignments.topic)
    if shape.network > 0:
        _note(records, sweep, at, state.assignments.citing_topic)


def make_runner(sweep_words, note=_note_all):
    """Build the loop around a word sweep that moves documents one after the other."""

    @loop
    def run(sweeps, level, model, state, cache, exponent, known, room, records):
        shape, layout, tables = model
        nodes, words, proposal, rates = known
        buffers, citation_work = room
        tally, citation_tally = np.zeros(7, np.int64), np.zeros(6, np.int64)
        docs = documents_of(0, layout.document_start.shape[0] - 1, 1)
        for sweep in range(sweeps):
            if shape.network > 0:
                rebuild_exponent(layout, state.topics, state.parameters, level, exponent)
                gather_rates(state.topics, state.parameters, exponent, rates)
            sweep_words(
                Model(shape, layout, tables),
                state,
                cache,
                buffers,
                Support(nodes, words),
                proposal,
                CitationSums(rates, exponent),
                np.uint64(0),
                docs,
                tally,
            )
            if shape.network > 0:  # with the sums that the word sweep has left
                citation_sweep(
                    level,
                    layout,
                    tables,
                    state,
                    citation_work,
                    nodes,
                    proposal,
                    rates,
                    exponent,
                    citation_tally,
                )
            note(shape, state, sweep, records)

    return run


RUN = make_runner(word_sweep)


@loop
def _merge_levels(layout, counts, nodes, n_levels, changes, marks):
    for level in range(n_levels - 1, -1, -1):
        first, last = layout.level_start[level], layout.level_start[level + 1]
        merge_node_range(layout.parent, counts, nodes, changes, marks, first, last, 0)


@loop
def _run_snapshots(sweeps, sizes, model, state, cache, exponent, known, room, network, records):
    shape, layout, tables = model
    nodes, words, proposal, rates = known
    buffers, changes, marks, added, listed = room
    level, n_shared_levels, n_shared, rounds = sizes
    here, moves, lists, hubs = network
    tally = np.zeros(7, np.int64)
    n = layout.document_start.shape[0] - 1
    n_words = words.shape[0]
    for sweep in range(sweeps):
        for round_ in range(rounds):
            rebuild_exponent(layout, state.topics, state.parameters, level, exponent)
            gather_rates(state.topics, state.parameters, exponent, rates)
            word_sweep(
                Model(shape, layout, tables),
                state,
                cache,
                buffers,
                Support(nodes, words),
                proposal,
                CitationSums(rates, exponent),
                np.uint64(uniform(state.random) * 2.0**53),
                documents_of(round_, n, rounds),
                tally,
            )
            added[:] = 0
            merge_word_range(
                shape,
                tables,
                state.words,
                cache,
                words,
                (changes, marks),
                (added, listed),
                (0, n_words),
                0,
            )
            state.words.total_customers[:] += added[0, 0, :-1]
            state.words.total_tables[:] += added[0, 1, :-1]
            state.words.background_totals[0] += added[0, 0, -1]
            state.words.background_totals[1] += added[0, 1, -1]
            refresh_word_cache(tables, state.words, state.parameters, cache)
            _merge_levels(layout, state.topics, nodes, n_shared_levels, changes, marks)
        for round_ in range(rounds):
            rebuild_exponent(layout, state.topics, state.parameters, level, exponent)
            gather_rates(state.topics, state.parameters, exponent, rates)
            key = np.uint64(uniform(state.random) * 2.0**53)
            docs = documents_of(round_, n, rounds)
            levels = (layout.level_start, layout.level_start[1:], n_shared_levels)
            list_hubs(state.topics, state.parameters, nodes, exponent, levels, 192, hubs)
            snapshot = Snapshot(nodes, proposal, rates, exponent, hubs)
            citing = Citing(level, n_shared, lists[0])
            sweep_citing(citing, layout, tables, state, snapshot, here, moves, key, docs)
            turn = (round_, rounds, np.arange(n))
            add_noted_moves(layout, state.topics, lists, moves, here.noted, turn, 0, n)
            note_moved_documents(layout, state.topics, nodes, lists, moves, turn, 0, n)
            _merge_levels(layout, state.topics, nodes, n_shared_levels, changes, marks)
        _note_all(shape, state, sweep, records)


def run_snapshots(sweeps, level, model, state, cache, exponent, known, chain, records):
    """Take the place of a runner, for a chain of snapshot sweeps."""
    worker, topics = chain._buffers.workers[0], chain.settings.topics
    room = (
        worker.words,
        chain._buffers.changes,
        chain._buffers.marks,
        np.zeros((1, 2, topics + 1), np.int64),
        np.zeros((1, 3, topics), np.int32),
    )
    sizes = (level, chain.spec.n_shared, chain._n_shared, chain.rounds)
    network = (worker.citations, chain._moves, chain._lists, new_hub_rows(topics))
    _run_snapshots(sweeps, sizes, model, state, cache, exponent, known, room, network, records)


def take_sweeps(chain, sweeps, runner, records):
    """Take sweeps with the tables of proposals as they are, by a runner that fills records."""
    proposals = chain.proposals
    room = chain
    if isinstance(chain, SparseChain):
        room = (chain._word_buffers, chain._ends_work)
    runner(
        sweeps,
        chain.citation_level,
        (chain.shape, chain.layout, chain.tables),
        chain.state,
        chain.cache,
        chain.exponent,
        (proposals.nodes, proposals.words, proposals.tables, proposals.rates),
        room,
        records,
    )


def distances(chain, sweeps, runner=RUN):
    """Total variation of assignments alone, and of assignments with each side's tables."""
    topic_exact, word_exact = TinyPosterior(chain).distribution()
    topic_rows = np.zeros((sweeps, topic_record_width(chain)), np.int8)
    word_rows = np.zeros((sweeps, word_record_width(chain)), np.int8)
    take_sweeps(chain, sweeps, runner, (topic_rows, word_rows))
    topic_seen, word_seen = frequencies(topic_rows), frequencies(word_rows)
    width = len(chain.layout.word) + (len(chain.layout.citing) if chain.spec.citations else 0)
    return (
        total_variation(marginal(topic_exact, width), marginal(topic_seen, width)),
        total_variation(topic_exact, topic_seen),
        total_variation(word_exact, word_seen),
    )
