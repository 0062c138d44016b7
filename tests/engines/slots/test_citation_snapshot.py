"""Snapshot sweeps of citations by bits: where they are exact, and what they leave."""

import numpy as np
import pytest
from citation_tools import MODELS, citation_lists, cited_chain, distances, gather_all, sparse_room

import citeweave.engines.slots.snapshot_citations as snapshot_module
from citeweave.engines.core.exponent import rebuild_exponent
from citeweave.engines.core.invariants import check_state
from citeweave.engines.core.random import uniform
from citeweave.engines.dense.words import word_sweep
from citeweave.engines.slots.change_lists import new_change_list
from citeweave.engines.slots.citations import citation_sweep
from citeweave.engines.slots.hubs import list_hubs, new_hub_rows
from citeweave.engines.slots.merge import new_marks, worker_notes
from citeweave.engines.slots.snapshot_citations import (
    Snapshot,
    new_neighbourhood,
    note_moved_documents,
    sweep_citing,
)
from citeweave.engines.threads.citations import Citing, new_moves
from citeweave.engines.threads.merge import add_moves, merge_nodes
from citeweave.engines.threads.streams import CITATIONS, open_stream
from citeweave.engines.threads.world import new_changes
from reference.loops import documents_of, loop
from reference.run import make_runner
from reference.tiny import tiny_chain


def snapshot_room(chain, rounds):
    """Make what a round needs, of one worker."""
    _, presence, proposal, rates, _ = sparse_room(chain)
    topics, levels = chain.settings.topics, chain.spec.n_shared
    n_shared = int(chain.layout.level_start[levels])
    changes = new_changes(1, n_shared, len(chain.state.words.customers), topics)
    lists = citation_lists(chain)
    marks = new_marks(1, n_shared, 1, topics)
    noted = worker_notes(changes, marks, 0, new_change_list(0))
    here = new_neighbourhood(chain, int(np.diff(lists[0]).max()), noted)
    moves = new_moves(len(chain.layout.citing))
    room = (here, presence, proposal, rates, new_hub_rows(topics), moves, lists, changes)
    return *room, (levels, n_shared, rounds)


@loop
def _list(layout, state, exponent, presence, n_levels, many, hubs):
    """List the hubs of a round."""
    levels = (layout.level_start, layout.level_start[1:], n_levels)
    list_hubs(state.topics, state.parameters, presence, exponent, levels, many, hubs)


@loop
def _sweep(level, layout, tables, state, room, exponent, tally):  # noqa: ARG001 (as runners call)
    """Take the rounds of one sweep, sums made anew before each."""
    here, presence, proposal, rates, hubs, moves, lists, changes, sizes = room
    levels, n_shared, rounds = sizes
    n = layout.document_start.shape[0] - 1
    for round_ in range(rounds):
        gather_all(level, layout, state, exponent, presence, rates)
        _list(layout, state, exponent, presence, levels, 192, hubs)
        sweep_citing(
            Citing(level, n_shared, lists[0]),
            layout,
            tables,
            state,
            Snapshot(presence, proposal, rates, exponent, hubs),
            here,
            moves,
            np.uint64(uniform(state.random) * 2.0**53),
            documents_of(round_, n, rounds),
        )
        turn = (round_, rounds, np.arange(n))
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


def _expect_posterior(case, sweeps, assignments, topic_side):
    corpus = dict(EXACT[case])
    rounds = corpus.pop("rounds")
    chain = tiny_chain("scntm", **corpus)
    chain._citation_work = snapshot_room(chain, rounds)
    found = distances(chain, RUN, sweeps)
    assert found[0] < assignments
    assert found[1] < topic_side


@pytest.mark.long
@pytest.mark.parametrize("case", EXACT)
def test_a_snapshot_a_paper_is_exact(case):
    _expect_posterior(case, 1_200_000, 0.006, 0.02)


@loop
def _open(key, document, rng):
    open_stream(key, CITATIONS, document, rng)


@pytest.mark.parametrize("model", MODELS)
def test_a_snapshot_a_paper_is_the_sequential_sweep(model):
    """Paper after paper, with the same random stream, both leave the same counts."""
    chain, twin = (cited_chain(model, 70, documents=30) for _ in range(2))
    level, n = chain.citation_level, chain.n_documents
    *room, (levels, n_shared, _) = snapshot_room(chain, n)
    here, presence, proposal, rates, hubs, moves, lists, changes = room
    work, bits, _, sums, tally = sparse_room(twin)
    many = work.hubs.size[1] = 25  # some nodes above papers have as many topics
    most_hubs = 0
    for d in range(n):
        gather_all(level, chain.layout, chain.state, chain.exponent, presence, rates)
        key = np.uint64(100 + d)
        _list(chain.layout, chain.state, chain.exponent, presence, levels, many, hubs)
        most_hubs = max(most_hubs, int(hubs.size[0]))
        sweep_citing(
            Citing(level, n_shared, lists[0]),
            chain.layout,
            chain.tables,
            chain.state,
            Snapshot(presence, proposal, rates, chain.exponent, hubs),
            here,
            moves,
            key,
            documents_of(d, n, n),
        )
        turn = (d, n, chain.part.document)
        counts = chain.state.topics
        assert add_moves(chain.layout, counts, lists, moves, changes, turn, 0, n, 0) == 0
        for lower in range(levels - 1, -1, -1):
            first, last = chain.layout.level_start[lower : lower + 2]
            merge_nodes(chain.layout.parent, chain.state.topics, changes, first, last, 0)
        gather_all(level, twin.layout, twin.state, twin.exponent, bits, sums)
        _open(key, d, twin.state.random)
        made = slice(lists[0][d], lists[0][d + 1])
        own = twin.state.assignments.citing_topic[made]
        citation_sweep(
            level,
            twin.layout._replace(citing=twin.layout.citing[made], cited=twin.layout.cited[made]),
            twin.tables,
            twin.state._replace(assignments=twin.state.assignments._replace(citing_topic=own)),
            work,
            bits,
            proposal,
            sums,
            twin.exponent,
            tally,
        )
        for mine, others in zip(chain.state.topics, twin.state.topics, strict=True):
            np.testing.assert_array_equal(mine, others)
    topics = chain.state.assignments.citing_topic
    np.testing.assert_array_equal(topics, twin.state.assignments.citing_topic)
    np.testing.assert_array_equal(here.tally, tally)
    assert tally[2] > 40
    assert most_hubs > 1 or model == "no authors"


@pytest.mark.parametrize(
    ("model", "topics", "most_bytes"),
    [("authors", 200, 1 << 31), ("authors", 200, 1), ("fields above authors", 200, 8000)],
)
def test_a_round_leaves_nothing_behind(model, topics, most_bytes, monkeypatch):
    """Rows are empty, marks cover changes, and bits of papers are those of their counts.

    Rows of all shared nodes stay for the round, or that of mu alone, or those of some.
    """
    monkeypatch.setattr(snapshot_module, "_MOST_BYTES", most_bytes)
    chain = cited_chain(model, topics, documents=100, citations=600)
    spec = chain.spec
    room = snapshot_room(chain, 1)
    here, presence, proposal, rates, hubs, moves, lists, changes, (levels, n_shared, _) = room
    level, n = chain.citation_level, chain.n_documents
    before = chain.state.topics.customers[:n_shared].copy()
    key, docs = np.uint64(7), documents_of(0, n, 1)
    _list(chain.layout, chain.state, chain.exponent, presence, levels, 60, hubs)
    sweep_citing(
        Citing(level, n_shared, lists[0]),
        chain.layout,
        chain.tables,
        chain.state,
        Snapshot(presence, proposal, rates, chain.exponent, hubs),
        here,
        moves,
        key,
        docs,
    )
    assert not here.topics.customers.any()
    assert not here.topics.tables.any()
    assert (here.place == -1).all()
    np.testing.assert_array_equal(chain.state.topics.customers[:n_shared], before)
    bits = np.unpackbits(here.noted.marks.view(np.uint8), axis=1, bitorder="little")[:, :topics]
    moved = (changes.node_customers[0] != 0) | (changes.node_tables[0] != 0)
    assert moved.any()
    assert not (moved & (bits == 0)).any()
    assert moved.sum() > 0.5 * bits.sum()
    turn = (0, 1, chain.part.document)
    add_moves(chain.layout, chain.state.topics, lists, moves, changes, turn, 0, n, 0)
    note_moved_documents(chain.layout, chain.state.topics, presence, lists, moves, turn, 0, n)
    for lower in range(spec.n_shared - 1, -1, -1):
        first, last = chain.layout.level_start[lower : lower + 2]
        merge_nodes(chain.layout.parent, chain.state.topics, changes, first, last, 0)
    check_state(spec, chain.layout, chain.state)
    made = presence.copy()
    gather_all(level, chain.layout, chain.state, chain.exponent, made, rates)
    first, last = chain.layout.level_start[spec.n_shared : spec.n_shared + 2]
    np.testing.assert_array_equal(presence[first:last], made[first:last])
