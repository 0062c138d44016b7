"""Snapshot sweeps of citations over the topics of papers: where they are exact, and what they leave."""

from functools import partial
from types import SimpleNamespace

import numba
import numpy as np
import pytest
from citation_tools import SPECS, cited_data, gather_all, sparse_room

import citeweave.sampler.word_side as word_side_module
from citeweave.parallel import SnapshotChain
from citeweave.parallel.citations import new_moves
from citeweave.parallel.merge import add_moves, merge_nodes
from citeweave.parallel.world import Changes, new_changes
from citeweave.sampler.chain import Settings
from citeweave.sampler.exponent import rebuild_exponent
from citeweave.sampler.invariants import check_state
from citeweave.sampler.random import uniform
from citeweave.sampler.words import word_sweep
from citeweave.sparse.presence import new_presence
from citeweave.sparse.snapshot_citations import (
    new_neighbourhood,
    note_moved_documents,
    sweep_citing,
)
from reference.posterior import TinyPosterior
from reference.run import frequencies, make_runner, marginal, run_chain, total_variation
from reference.tiny import tiny_chain


def snapshot_room(chain):
    """Make what a round needs, of one worker."""
    _, presence, guesses, rates, _ = sparse_room(chain)
    topics, n_shared = chain.settings.topics, chain._n_shared
    changes = new_changes(1, n_shared, len(chain.state.words.customers), topics)
    marks = new_presence(n_shared, topics)
    own = Changes(*(array[0] for array in changes))
    here = new_neighbourhood(chain, chain._most_cited, own, marks)
    moves = new_moves(len(chain.layout.citing))
    sizes = (chain.spec.n_shared, n_shared, chain.rounds)
    return here, presence, guesses, rates, moves, chain._lists, changes, sizes


@numba.njit(nogil=True)
def _sweep(level, layout, tables, state, room, exponent, tally):  # noqa: ARG001 (as runners call)
    """Take the rounds of one sweep, sums made anew before each."""
    here, presence, guesses, rates, moves, lists, changes, sizes = room
    levels, n_shared, rounds = sizes
    n = layout.document_start.shape[0] - 1
    for round_ in range(rounds):
        gather_all(level, layout, state, exponent, presence, rates)
        sweep_citing(
            level,
            n_shared,
            lists[0],
            layout,
            tables,
            state,
            exponent,
            presence,
            guesses,
            rates,
            here,
            moves,
            np.uint64(uniform(state.random) * 2.0**53),
            np.array([round_, n, rounds]),
        )
        turn = (round_, rounds)
        add_moves(layout, state.topics, lists, moves, changes, turn, 0, n, 0)
        note_moved_documents(layout, state.topics, presence, lists, moves, turn, 0, n)
        for lower in range(levels - 1, -1, -1):
            first, last = layout.level_start[lower], layout.level_start[lower + 1]
            merge_nodes(layout.parent, state.topics, changes, first, last, 0)


RUN = make_runner(word_sweep, _sweep, rebuild_exponent)
EXACT = {
    "two papers of one author": {"rounds": 2},
    "citations both ways": {
        "documents": ((0, 0), (1,), ()),
        "groups": (0, 0, 1),
        "citations": ((0, 1), (2, 0)),
        "rounds": 3,
    },
}


@pytest.mark.parametrize("case", EXACT)
def test_a_snapshot_a_paper_is_exact(case):
    corpus = dict(EXACT[case])
    kind = partial(SnapshotChain, rounds=corpus.pop("rounds"))
    modules = {"chain": SimpleNamespace(Chain=kind), "word_side": word_side_module}
    chain = tiny_chain("scntm", modules=modules, **corpus)
    chain._citation_work = snapshot_room(chain)
    exact, _ = TinyPosterior(chain).distribution()
    seen = frequencies(run_chain(chain, RUN, 300_000)[0])
    width = len(chain.layout.word) + len(chain.layout.citing)
    print(
        total_variation(marginal(exact, width), marginal(seen, width)), total_variation(exact, seen)
    )
    assert total_variation(marginal(exact, width), marginal(seen, width)) < 0.012
    assert total_variation(exact, seen) < 0.035


@pytest.mark.parametrize(("model", "topics"), [("authors", 200), ("fields above authors", 8)])
def test_a_round_leaves_nothing_behind(model, topics):
    """Rows are empty, marks cover changes, and bits of documents are those of their counts."""
    spec = SPECS[model]
    data = cited_data(spec, documents=400, citations=1500)
    chain = SnapshotChain(spec, data, Settings(topics=topics), seed=2)
    chain.start()
    for _ in range(2):
        chain.step()
    room = snapshot_room(chain)
    here, presence, guesses, rates, moves, lists, changes, (_, n_shared, _) = room
    level, n = chain._citation_level, chain.n_documents
    before = chain.state.topics.customers[:n_shared].copy()
    key, docs = np.uint64(7), np.array([0, n, 1])
    sweep_citing(
        level,
        n_shared,
        lists[0],
        chain.layout,
        chain.tables,
        chain.state,
        chain._exponent,
        presence,
        guesses,
        rates,
        here,
        moves,
        key,
        docs,
    )
    assert not here.topics.customers.any()
    assert not here.topics.tables.any()
    assert (here.place == -1).all()
    np.testing.assert_array_equal(chain.state.topics.customers[:n_shared], before)
    bits = np.unpackbits(here.marks.view(np.uint8), axis=1, bitorder="little")[:, :topics]
    moved = (changes.node_customers[0] != 0) | (changes.node_tables[0] != 0)
    assert moved.any()
    assert not (moved & (bits == 0)).any()
    assert bits.sum() < bits.size / 2 or topics < 64
    add_moves(chain.layout, chain.state.topics, lists, moves, changes, (0, 1), 0, n, 0)
    note_moved_documents(chain.layout, chain.state.topics, presence, lists, moves, (0, 1), 0, n)
    for lower in range(spec.n_shared - 1, -1, -1):
        first, last = chain.layout.level_start[lower : lower + 2]
        merge_nodes(chain.layout.parent, chain.state.topics, changes, first, last, 0)
    check_state(spec, chain.layout, chain.state)
    made = presence.copy()
    gather_all(level, chain.layout, chain.state, chain._exponent, made, rates)
    first, last = chain.layout.level_start[spec.n_shared : spec.n_shared + 2]
    np.testing.assert_array_equal(presence[first:last], made[first:last])
