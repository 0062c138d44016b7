"""The citation sweep over the topics of two papers: its sums, its posterior, its counts."""

import importlib
from pathlib import Path

import numpy as np
import pytest
from citation_tools import MODELS, cited_chain, distances, gather_all, sparse_room

import citeweave.engines.slots.citations as citations_module
from citeweave.engines.core.climb import (
    Ends,
    TopicPath,
    draw_addition,
    find_ends,
    move_customer,
    take_out_ends,
)
from citeweave.engines.core.exponent import rebuild_exponent, total_rate
from citeweave.engines.core.hierarchy import path_weight
from citeweave.engines.core.invariants import check_state
from citeweave.engines.core.turnover import Move
from citeweave.engines.dense.words import word_sweep
from citeweave.engines.slots.citations import citation_sweep
from citeweave.engines.slots.ends import commit_ends, ends_change
from citeweave.engines.slots.hubs import close_hubs, open_hubs
from citeweave.engines.slots.presence import new_presence
from citeweave.engines.slots.rates import new_rates
from citeweave.engines.slots.sparse_change import list_ends
from reference.loops import loop
from reference.run import make_runner
from reference.tiny import tiny_chain


@loop
def _move(level, layout, tables, state, room, exponent, e, new):
    """Move one citation to a topic whatever it weighs; returns the change of E, or nan."""
    work, presence, _, rates, _ = room
    counts, parameters, rng = state.topics, state.parameters, state.random
    first, second = layout.citation_node + layout.citing[e], layout.citation_node + layout.cited[e]
    row = work.sparse.row
    ends = Ends(row, level, find_ends(layout, row, level, first, second))
    old = int(state.assignments.citing_topic[e])
    open_hubs(layout, counts, parameters, presence, exponent, rates, work.hubs)
    removed, added = np.zeros(2, np.int64), np.zeros(2, np.int64)
    removed[0], removed[1] = take_out_ends(rng, counts, ends, old)
    if removed[0] == 0:
        close_hubs(parameters, rates, work.hubs)
        return np.nan
    move_customer(counts, TopicPath(row[0], old), level, removed[0], -1)
    for side in (0, 1):
        path = TopicPath(row[side], new)
        path_weight(tables, counts, parameters, path, level, work.climb)
        added[side] = draw_addition(rng, work.climb, level)
        move_customer(counts, path, level, added[side], 1)
    state.assignments.citing_topic[e] = new
    listed = list_ends(presence, work.sparse, level, old)
    if not (work.sparse.topic[:listed] == new).any():
        work.sparse.topic[listed] = new
        listed += 1
    move = Move(old, new, (removed[0], removed[1]), (added[0], added[1]))
    change = ends_change(counts, parameters, presence, exponent, rates, work, ends, listed, move)
    commit_ends(parameters, exponent, rates, work, level, move)
    close_hubs(parameters, rates, work.hubs)
    return change


def _rebuilt(chain):
    """Give the sums and the rate of all citations, over all topics, from the counts."""
    room = new_presence(len(chain.layout.parent), chain.settings.topics)
    rates = new_rates(chain.settings.topics)
    exponent = chain.exponent._replace(
        **{name: getattr(chain.exponent, name).copy() for name in chain.exponent._fields}
    )
    gather_all(chain.citation_level, chain.layout, chain.state, exponent, room, rates)
    return room, rates, exponent, total_rate(exponent, chain.state.parameters)


def _expect_sums(chain, room):
    """Compare bits, sums and weights that were kept with those made anew."""
    presence, rates, exponent, _ = _rebuilt(chain)
    for kept, made in zip(room[3], rates, strict=True):
        np.testing.assert_allclose(kept, made, rtol=1e-9, atol=1e-9)
    for name in ("cite_weight", "cited_weight"):
        kept, made = getattr(chain.exponent, name), getattr(exponent, name)
        np.testing.assert_allclose(kept, made, rtol=1e-9)
    return presence


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("topics", "many"), [(3, 100), (8, 1), (8, 6)])
def test_a_change_of_the_rate_is_the_difference_of_two_sums(model, topics, many):
    """Whether no node but mu is hubs, or all above papers are, or some."""
    chain = cited_chain(model, topics, authors=3)
    room = sparse_room(chain)
    room[0].hubs.size[1] = many
    before = _rebuilt(chain)[3]
    seen = []
    rng = np.random.default_rng(1)
    for e in range(120):
        change = _move(
            chain.citation_level,
            chain.layout,
            chain.tables,
            chain.state,
            room,
            chain.exponent,
            e,
            int(rng.integers(topics)),
        )
        if np.isnan(change):
            continue
        presence, _, _, after = _rebuilt(chain)
        assert change == pytest.approx(after - before, rel=1e-9, abs=1e-9)
        _expect_sums(chain, room)
        room[1][:] = presence
        before = after
        seen.append(abs(change))
    assert len(seen) > 40
    assert max(seen) > 0.05
    check_state(chain.spec, chain.layout, chain.state)


def _sweep(chain, room):
    work, presence, proposal, rates, tally = room
    citation_sweep(
        chain.citation_level,
        chain.layout,
        chain.tables,
        chain.state,
        work,
        presence,
        proposal,
        rates,
        chain.exponent,
        tally,
    )


@pytest.mark.parametrize(
    ("model", "topics"),
    [
        ("authors", 2),
        ("authors", 70),
        ("authors", 4096),
        ("no authors", 70),
        ("fields above authors", 70),
    ],
)
def test_counts_bits_and_sums_stay_right(model, topics):
    chain = cited_chain(model, topics)
    room = sparse_room(chain)
    before = chain.state.assignments.citing_topic.copy()
    for _ in range(5):
        _sweep(chain, room)
    check_state(chain.spec, chain.layout, chain.state)
    np.testing.assert_array_equal(room[1], _expect_sums(chain, room))
    visited, blocked, accepted, _, outside, refused = room[4]
    assert visited == 5 * len(chain.layout.citing)
    assert 0.3 * (visited - blocked) < accepted <= visited - blocked - refused
    assert outside > 0 or topics == 2
    assert (chain.state.assignments.citing_topic != before).any()


def tiny_room(chain):
    """Have the sweep's own room where runners hand the sweep its work."""
    chain._citation_work = sparse_room(chain)
    return chain


def make_run(sweep):
    """Build the runner of a sweep by bits and of the words' sweep over all topics."""

    @loop
    def gather_and_sweep(level, layout, tables, state, room, exponent, tally):  # noqa: ARG001
        work, presence, proposal, rates, own = room
        gather_all(level, layout, state, exponent, presence, rates)
        sweep(level, layout, tables, state, work, presence, proposal, rates, exponent, own)

    return make_runner(word_sweep, gather_and_sweep, rebuild_exponent)


RUN = make_run(citation_sweep)
SHORT = {"documents": ((0, 1), (0,))}
CASES = {
    "two papers of one author": {},
    "two authors": {"groups": (0, 1)},
    "five topics, one author": {"topics": 5} | SHORT,
    "five topics, two authors": {"topics": 5, "groups": (0, 1)} | SHORT,
}


@pytest.mark.parametrize("case", ["two papers of one author", "five topics, two authors"])
def test_frequencies_match_the_posterior(case):
    """ProposalTables are those of the start, and most topics proposed from them are refused."""
    chain = tiny_room(tiny_chain("scntm", **CASES[case]))
    assignments, topic_side, word_side = distances(chain, RUN, 200_000)
    assert assignments < 0.04
    assert topic_side < 0.06
    assert word_side < 0.04
    assert chain._citation_work[4][4] > 20_000


@pytest.mark.long
@pytest.mark.parametrize("case", CASES)
def test_frequencies_match_the_posterior_closely(case):
    """As close as those of the sweep over all topics, which needs as many sweeps."""
    chain = tiny_room(tiny_chain("scntm", **CASES[case]))
    assignments, topic_side, word_side = distances(chain, RUN, 2_400_000)
    assert assignments < 0.012
    assert topic_side < 0.02
    assert word_side < 0.012


@pytest.mark.long
def test_accepting_every_proposal_is_seen(tmp_path, monkeypatch):
    source = Path(citations_module.__file__).read_text()
    exact = "if uniform(rng) * before * there >= after * back:"
    assert source.count(exact) == 1
    broken = source.replace(exact, "if uniform(rng) > 2.0:")
    (tmp_path / "careless_citations.py").write_text(broken)
    monkeypatch.syspath_prepend(tmp_path)
    careless = importlib.import_module("careless_citations")
    for case in ("two papers of one author", "five topics, two authors"):
        chain = tiny_room(tiny_chain("scntm", **CASES[case]))
        found = distances(chain, make_run(careless.citation_sweep), 200_000)
        assert found[0] > 0.08
