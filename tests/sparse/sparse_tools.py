"""Chains over slots in the tests: tiny ones, and sweeps run many times in compiled code."""

import numba
import numpy as np

import citeweave.sampler.word_side as word_side_module
import citeweave.sparse.chain as chain_module
from citeweave.sampler.citations import citation_sweep, new_citation_work
from citeweave.sampler.exponent import rebuild_exponent
from citeweave.sparse.presence import mark_topics
from citeweave.sparse.rates import gather_rates
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


def slot_chain(spec, *, kind=chain_module.SparseChain, most_listed=64, **corpus):
    """As ``tiny_chain``, over slots; tables are made of the first state and stand still."""

    class Chains:
        Chain = kind

    chain = tiny_chain(spec, modules={"chain": Chains, "word_side": word_side_module}, **corpus)
    chain.known.refresh(most_listed)
    return chain


def make_runner(word_sweep):
    """Build the loop around a word sweep over slots; citations move over all topics."""

    @numba.njit(nogil=True)
    def run(sweeps, level, model, state, cache, room, exponent, citation_work, records):
        shape, layout, tables = model
        slots, pending, presence, word_presence, guesses, rates, sharing, before = room
        topic_rows, word_rows = records
        tally = np.zeros(7, np.int64)
        citation_tally = np.zeros(4, np.int64)
        docs = np.array([0, layout.document_start.shape[0] - 1, 1])
        for sweep in range(sweeps):
            if len(shape.network) > 0:
                rebuild_exponent(layout, state.topics, state.parameters, level, exponent)
                gather_rates(state.topics, state.parameters, exponent, rates)
            mark_topics(state.topics, presence, 0, presence.shape[0])
            mark_topics(state.words, word_presence, 0, word_presence.shape[0])
            word_sweep(
                shape,
                layout,
                tables,
                state,
                cache,
                slots,
                pending,
                presence,
                word_presence,
                guesses,
                rates,
                exponent,
                sharing,
                before,
                np.uint64(0),
                docs,
                tally,
            )
            if len(shape.network) > 0:
                rebuild_exponent(layout, state.topics, state.parameters, level, exponent)
                citation_sweep(
                    level, layout, tables, state, citation_work, exponent, citation_tally
                )
            at = _note(topic_rows, sweep, 0, state.assignments.topic)
            if len(shape.network) > 0:
                at = _note(topic_rows, sweep, at, state.assignments.citing_topic)
            _note(topic_rows, sweep, at, state.topics.tables[1:].ravel())
            at = _note(word_rows, sweep, 0, state.assignments.topic)
            at = _note(word_rows, sweep, at, state.assignments.burst_table)
            at = _note(word_rows, sweep, at, state.words.tables.ravel())
            if len(shape.background) > 0:
                _note(word_rows, sweep, at, state.words.background_tables)

    return run


def distances(chain, runner, sweeps):
    """Total variation of assignments alone, and of assignments with each side's tables."""
    topic_exact, word_exact = TinyPosterior(chain).distribution()
    topic_rows = np.zeros((sweeps, topic_record_width(chain)), np.int8)
    word_rows = np.zeros((sweeps, word_record_width(chain)), np.int8)
    room = (
        chain._slots,
        chain._pending,
        chain.known.nodes,
        chain.known.words,
        chain.known.guesses,
        chain.known.rates,
        chain._sharing,
        chain._before,
    )
    runner(
        sweeps,
        chain._citation_level,
        (chain.shape, chain.layout, chain.tables),
        chain.state,
        chain._cache,
        room,
        chain._exponent,
        new_citation_work(chain.settings.topics, len(chain.spec.topic_side)),
        (topic_rows, word_rows),
    )
    topic_seen, word_seen = frequencies(topic_rows), frequencies(word_rows)
    width = len(chain.layout.word) + (len(chain.layout.citing) if chain.spec.citations else 0)
    return (
        total_variation(marginal(topic_exact, width), marginal(topic_seen, width)),
        total_variation(topic_exact, topic_seen),
        total_variation(word_exact, word_seen),
    )
