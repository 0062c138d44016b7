"""The citation sweep over the topics of two papers: its sums, its posterior, its counts."""

import numba
import numpy as np
import pytest
from citation_tools import SPECS, cited_chain, gather_all, sparse_room

from citeweave.sampler.exponent import rebuild_exponent, total_rate
from citeweave.sampler.hierarchy import draw_addition, draw_removal, move_customer, path_weight
from citeweave.sampler.invariants import check_state
from citeweave.sampler.words import word_sweep
from citeweave.sparse.citations import citation_sweep
from citeweave.sparse.ends import commit_ends, ends_change, list_ends
from citeweave.sparse.presence import new_presence
from citeweave.sparse.rates import new_rates
from reference.posterior import TinyPosterior
from reference.run import frequencies, make_runner, marginal, run_chain, total_variation
from reference.tiny import tiny_chain


@numba.njit(nogil=True)
def _move(level, layout, tables, state, room, exponent, path, climb, e, new):
    """Move one citation to a topic whatever it weighs; returns the change of E, or nan."""
    work, presence, _, rates, _ = room
    counts, parameters, rng = state.topics, state.parameters, state.random
    ends = (layout.citation_node + layout.citing[e], layout.citation_node + layout.cited[e])
    old = int(state.assignments.citing_topic[e])
    removed, added = np.zeros(2, np.int64), np.zeros(2, np.int64)
    for side in (1, 0):
        removed[side] = draw_removal(rng, layout, counts, level, ends[side], old)
        if removed[side] == 0:
            if side == 0:
                move_customer(layout, counts, level, ends[1], old, removed[1], 1)
            return np.nan
        move_customer(layout, counts, level, ends[side], old, removed[side], -1)
    for side in (0, 1):
        path_weight(tables, layout, counts, parameters, level, ends[side], new, path, climb)
        added[side] = draw_addition(rng, tables, counts, level, new, path, climb)
        move_customer(layout, counts, level, ends[side], new, added[side], 1)
    state.assignments.citing_topic[e] = new
    meet, listed = list_ends(layout, presence, work.touched, level, ends[0], ends[1], old)
    if not (work.touched.topic[:listed] == new).any():
        work.touched.topic[listed] = new
        listed += 1
    change = ends_change(
        counts,
        parameters,
        presence,
        exponent,
        rates,
        work.touched,
        level,
        meet,
        listed,
        old,
        new,
        (removed[0], removed[1]),
        (added[0], added[1]),
    )
    commit_ends(exponent, rates, work.touched, level)
    return change


def _rebuilt(chain):
    """Give the sums and the rate of all citations, over all topics, from the counts."""
    room = new_presence(len(chain.layout.parent), chain.settings.topics)
    rates = new_rates(chain.settings.topics)
    exponent = chain._exponent._replace(
        **{name: getattr(chain._exponent, name).copy() for name in chain._exponent._fields}
    )
    gather_all(chain._citation_level, chain.layout, chain.state, exponent, room, rates)
    return room, rates, exponent, total_rate(exponent, chain.state.parameters)


def _expect_sums(chain, room):
    """Compare bits, sums and weights that were kept with those made anew."""
    presence, rates, exponent, _ = _rebuilt(chain)
    for kept, made in zip(room[3], rates, strict=True):
        np.testing.assert_allclose(kept, made, rtol=1e-9, atol=1e-9)
    for name in ("cite_weight", "cited_weight"):
        kept, made = getattr(chain._exponent, name), getattr(exponent, name)
        np.testing.assert_allclose(kept, made, rtol=1e-9)
    return presence


@pytest.mark.parametrize("model", SPECS)
@pytest.mark.parametrize("topics", [3, 8])
def test_a_change_of_the_rate_is_the_difference_of_two_sums(model, topics):
    chain = cited_chain(model, topics, authors=3)
    room = sparse_room(chain)
    levels = len(chain.spec.topic_side)
    before = _rebuilt(chain)[3]
    seen = []
    rng = np.random.default_rng(1)
    for e in range(120):
        change = _move(
            chain._citation_level,
            chain.layout,
            chain.tables,
            chain.state,
            room,
            chain._exponent,
            np.zeros(levels, np.int64),
            np.zeros(levels),
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
    work, presence, guesses, rates, tally = room
    citation_sweep(
        chain._citation_level,
        chain.layout,
        chain.tables,
        chain.state,
        work,
        presence,
        guesses,
        rates,
        chain._exponent,
        tally,
    )


@pytest.mark.parametrize(
    ("model", "topics"),
    [("authors", 2), ("authors", 70), ("authors", 4096), ("no authors", 70)]
    + [("fields above authors", 70)],
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
    assert accepted + refused <= visited - blocked
    assert accepted > 0
    print(room[4])
    assert (chain.state.assignments.citing_topic != before).any()


def tiny_room(chain):
    """Have the sweep's own room where runners hand the sweep its work."""
    chain._citation_work = sparse_room(chain)
    return chain


def make_sweep(sweep):
    """Turn a sweep by bits into one that runners of the dense sweeps can call."""

    @numba.njit(nogil=True)
    def gather_and_sweep(level, layout, tables, state, room, exponent, tally):  # noqa: ARG001
        work, presence, guesses, rates, own = room
        gather_all(level, layout, state, exponent, presence, rates)
        sweep(level, layout, tables, state, work, presence, guesses, rates, exponent, own)

    return gather_and_sweep


RUN = make_runner(word_sweep, make_sweep(citation_sweep), rebuild_exponent)
SHORT = {"documents": ((0, 1), (0,))}
CASES = {
    "two papers of one author": ({}, 600_000),
    "two authors": ({"groups": (0, 1)}, 600_000),
    "five topics, one author": ({"topics": 5} | SHORT, 600_000),
    "five topics, two authors": ({"topics": 5, "groups": (0, 1)} | SHORT, 600_000),
}


def distances(chain, runner, sweeps):
    """Total variation of assignments alone, and of assignments with each side's tables."""
    topic_exact, word_exact = TinyPosterior(chain).distribution()
    topic_rows, word_rows = run_chain(chain, runner, sweeps)
    topic_seen, word_seen = frequencies(topic_rows), frequencies(word_rows)
    width = len(chain.layout.word) + len(chain.layout.citing)
    return (
        total_variation(marginal(topic_exact, width), marginal(topic_seen, width)),
        total_variation(topic_exact, topic_seen),
        total_variation(word_exact, word_seen),
    )


@pytest.mark.parametrize("case", CASES)
def test_frequencies_match_the_posterior(case):
    corpus, sweeps = CASES[case]
    chain = tiny_room(tiny_chain("scntm", **corpus))
    found = distances(chain, RUN, sweeps)
    print(case, found, chain._citation_work[4])
