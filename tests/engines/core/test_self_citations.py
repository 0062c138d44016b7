"""Self-citations: three choices of what is known of them, and the draws where nothing is."""

import numba
import numpy as np
import pytest

from citeweave import simulate
from citeweave.engines.core.data import ChainSettings
from citeweave.engines.core.invariants import check_state
from citeweave.engines.core.propensities import degrees
from citeweave.engines.core.self_citations import MOST_SELF, draw_self_citations
from citeweave.engines.core.spec import SELF_CITATIONS, preset
from citeweave.engines.dense.chain import DenseChain
from citeweave.model.groups import build_tree
from reference.posterior import TinyPosterior
from reference.run import frequencies, total_variation
from reference.tiny import tiny_chain

TINY = {"documents": ((0, 1), (1,)), "groups": (0, 1), "citations": ((0, 1),)}


@pytest.fixture(scope="module")
def corpus():
    sizes = {"documents": 40, "words_per_document": 10, "vocabulary": 40, "citations": 80}
    return simulate(**sizes, topics=3, authors=8, seed=2).corpus


def chain_of(corpus, choice, **settings):
    spec = preset("scntm")
    data = build_tree(corpus, spec, eta=0, unknown="shared").data
    settings = ChainSettings(topics=5, self_citations=choice, **settings)
    chain = DenseChain(spec, data, settings, seed=1)
    chain.start()
    return chain


@pytest.mark.parametrize("choice", SELF_CITATIONS)
def test_degrees_count_what_is_known(choice):
    made, received = degrees(np.array([0, 0, 1]), np.array([1, 2, 2]), 3, self_citations=choice)
    known = 1 if choice == "paper" else 0
    np.testing.assert_array_equal(made - known, [2, 1, 0])
    np.testing.assert_array_equal(received - known, [0, 1, 2])


def test_only_what_is_unknown_is_drawn(corpus):
    for choice in ("paper", "zero"):
        chain = chain_of(corpus, choice)
        chain.step()
        assert chain.state.assignments.self_topic.shape == (0, MOST_SELF)
        assert chain.all_degrees() is chain.degrees
    chain = chain_of(corpus, "left-out", network_from=1)
    chain.step()
    assert (chain.state.assignments.self_topic == -1).all()  # citations do not count yet


def test_a_draw_leaves_counts_and_sums_as_if_built_anew(corpus):
    """The sums of the exponential are carried along exactly, through births and deaths."""
    chain = chain_of(corpus, "left-out", debug=True)
    for _ in range(3):
        chain.step()
    chain.state.parameters.topic_scale[:] *= 10.0
    chain.rebuild_exponent()
    seen = set()
    for _ in range(60):
        before = (chain.state.assignments.self_topic >= 0).sum()
        chain.draw_self_citations()
        check_state(chain.spec, chain.layout, chain.state)
        seen.add(np.sign((chain.state.assignments.self_topic >= 0).sum() - before))
    assert {-1, 1} <= seen
    carried = [array.copy() for array in chain.exponent[:4]]
    chain.rebuild_exponent()
    for mine, built in zip(carried, chain.exponent[:4], strict=True):
        np.testing.assert_allclose(mine, built, rtol=1e-9)


def test_they_add_to_degrees_and_to_topics(corpus):
    chain = chain_of(corpus, "left-out")
    chain.step()
    own = chain.state.assignments.self_topic
    own[:] = -1
    own[3, :2] = [4, 1]
    made, received = chain.all_degrees()
    for now, known in zip((made, received), chain.degrees, strict=True):
        assert np.flatnonzero(now - known).tolist() == [3]
        assert now[3] - known[3] == 2


def test_a_paper_of_the_largest_number_gets_no_more(corpus):
    chain = chain_of(corpus, "left-out")
    chain.step()
    chain.state.parameters.topic_scale[:] = 1e6
    chain.state.parameters.cite[:] = 0.01  # so that the exponential does not forbid it
    chain.state.parameters.cited[:] = 0.01
    chain.rebuild_exponent()
    for _ in range(200):
        chain.draw_self_citations()
    numbers = (chain.state.assignments.self_topic >= 0).sum(axis=1)
    assert numbers.max() == MOST_SELF
    check_state(chain.spec, chain.layout, chain.state)


def listed_numbers(chain, most):
    """Posterior of the numbers by paper and topic, given what their draw leaves as it is.

    These are the topics of words and citations, and the tables of words at theta.
    """
    listing, assigned = TinyPosterior(chain), chain.state.assignments
    leaves = chain.layout.leaf[listing.document]
    kept = {n: tuple(chain.state.topics.tables[n]) for n in set(leaves.tolist())}
    found = {}
    for own in listing._self_choices(most):
        listed = listing.topic_side(leaves, assigned.topic, assigned.citing_topic, own)
        found[own] = sum(
            np.exp(value)
            for tables, value in listed
            if all(tuple(tables[n]) == held for n, held in kept.items())
        )
    total = sum(found.values())
    return {own: weight / total for own, weight in found.items()}


@numba.njit
def draw_and_note(level, layout, tables, state, work, exponent, rows):
    own = state.assignments.self_topic
    for row in rows:
        draw_self_citations(level, layout, tables, state, work, exponent)
        for d in range(own.shape[0]):
            for k in own[d]:
                if k >= 0:
                    row[2 * d + k] += 1


@pytest.mark.parametrize("groups", [(0, 0), (0, 1)])
def test_frequencies_match_the_posterior(groups):
    """With rates that the exponential has a say in: many citations expected from 0 to 1."""
    chain = tiny_chain(
        "scntm", **TINY | {"groups": groups}, seed=4, self_citations="left-out", scale=0.12
    )
    assert set(chain.state.assignments.topic.tolist()) == {0, 1}
    parameters = chain.state.parameters
    parameters.cite[:] = [8.0, 0.1]
    parameters.cited[:] = [0.1, 8.0]
    chain.rebuild_exponent()
    exact = listed_numbers(chain, 4)
    rows = np.zeros((150_000, 4), np.int8)
    draw_and_note(
        chain.citation_level,
        chain.layout,
        chain.tables,
        chain.state,
        chain.self_work,
        chain.exponent,
        rows,
    )
    # without the exponential it is 0.087
    assert total_variation(exact, frequencies(rows)) < 0.03


def test_numbers_under_one_topic_match_the_posterior():
    """Weights given tables exceed 1 where many customers sit at few tables.

    That must not stop any from coming: the numbers are nearly Poisson.
    """
    papers = {"documents": ((0,) * 5, (0,)), "citations": ((0, 1), (1, 0))}
    chain = tiny_chain("scntm", topics=1, **papers, self_citations="left-out", scale=1.0)
    parameters = chain.state.parameters
    parameters.cite[:] = [3.0, 0.5]
    parameters.cited[:] = 0.5
    parameters.topic_scale[:] = 1.0
    chain.rebuild_exponent()
    exact = listed_numbers(chain, 3)
    rows = np.zeros((500_000, 4), np.int8)
    draw_and_note(
        chain.citation_level,
        chain.layout,
        chain.tables,
        chain.state,
        chain.self_work,
        chain.exponent,
        rows,
    )
    numbers = rows[:, ::2]  # of the one topic there is
    few = numbers[numbers.sum(axis=1) <= 3]
    # where weights are cut off at 1 it is 0.010
    assert total_variation(exact, frequencies(few)) < 0.005
