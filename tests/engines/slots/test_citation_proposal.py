"""How a citation's topic is proposed: with the very probabilities that its acceptance takes."""

import numpy as np
import pytest
from citation_tools import cited_chain, sparse_room

from citeweave.engines.core.climb import (
    Ends,
    TopicPath,
    find_ends,
    move_customer,
    take_out_ends,
)
from citeweave.engines.slots.citations import _propose
from citeweave.engines.slots.sparse_change import list_ends
from reference.loops import loop

DRAWS = 20_000


@loop
def _take_out(level, layout, counts, room, rng, e, old):
    """Take a citation out of both ends; returns how many topics are listed, 0 if it is blocked."""
    work, presence = room[0], room[1]
    row = work.sparse.row
    first, second = layout.citation_node + layout.citing[e], layout.citation_node + layout.cited[e]
    ends = Ends(row, level, find_ends(layout, row, level, first, second))
    out, _ = take_out_ends(rng, counts, ends, old)
    if out == 0:
        return 0, ends.meet
    listed = list_ends(presence, work.sparse, level, old)
    move_customer(counts, TopicPath(row[0], old), level, out, -1)
    return listed, ends.meet


@loop
def _count_places(draws, level, meet, tables, state, room, listed, found):
    """Propose often from the same counts; ``found`` gets the places, refusals last."""
    work, presence, proposal, _, tally = room
    ends = Ends(work.sparse.row, level, meet)
    for _ in range(draws):
        place = _propose(
            state.random,
            tables,
            state.topics,
            state.parameters,
            presence,
            proposal,
            work,
            ends,
            listed,
            tally,
        )
        found[place] += 1


def _outside(chain, room):
    """Give the weight of all topics that are proposed from the table."""
    weight = float(room[2].citation_mass[0])
    level, counts, parameters = chain.citation_level, chain.state.topics, chain.state.parameters
    for n in room[0].sparse.row[:, level]:
        opening = parameters.topic_discount[level] * counts.total_tables[n]
        weight *= parameters.topic_concentration[n] + opening
    return weight


def _expected(chain, room, listed, *, inside):
    """Give the probability that each listed topic is proposed and taken."""
    work, _, proposal, _, _ = room
    mass, outside = work.mass[:listed].copy(), _outside(chain, room)
    share = np.diff(proposal.citation.astype(float), prepend=0.0)
    within = mass.copy()
    if not inside:
        within[0] = 0.0  # neither paper has the present topic without this citation
    proposed = outside * share[work.sparse.topic[:listed]] / share.sum() + within
    taken = np.minimum(1.0, mass * proposed[0] / (mass[0] * proposed))
    taken[0] = 1.0
    return proposed * taken / (within.sum() + outside)


@pytest.mark.parametrize("inside", [False, True])
def test_topics_are_proposed_in_proportion(inside):
    """Without the citation its topic is that of neither paper, or still of one."""
    chain = cited_chain("authors", 8, authors=3, documents=120, citations=100)
    room = sparse_room(chain)
    level, counts, rng = chain.citation_level, chain.state.topics, chain.state.random
    before = [array.copy() for array in counts]
    scale = chain.state.parameters.topic_scale.copy()
    seen = 0
    citations = list(enumerate(chain.state.assignments.citing_topic.tolist()))
    for e, old in 30 * citations:  # what leaves with a citation is drawn, and differs each time
        for array, stored in zip(counts, before, strict=True):
            array[...] = stored
        listed, meet = _take_out(level, chain.layout, counts, room, rng, e, old)
        has = (counts.customers[room[0].sparse.row[:, level], old] > 0).any()
        if listed < 3 or has != inside:
            continue
        if seen == 3:
            break
        found = np.zeros(listed + 2, np.int64)
        fixed = (level, meet, chain.tables, chain.state, room, listed, found)
        # let the present topic and the table weigh as much as all other topics: each must show
        chain.state.parameters.topic_scale[:] = scale
        _count_places(1, *fixed)
        others = room[0].mass[1:listed].sum()
        chain.state.parameters.topic_scale[old] *= others / room[0].mass[0]
        room[2].citation_mass[0] *= others / _outside(chain, room)
        found[:] = 0
        _count_places(DRAWS, *fixed)
        exact = _expected(chain, room, listed, inside=inside)
        spread = np.sqrt(exact * (1.0 - exact) / DRAWS)
        assert (np.abs(found[:listed] / DRAWS - exact) < 5.0 * spread + 1e-9).all()
        seen += 1
    assert seen > 0
