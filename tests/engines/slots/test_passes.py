"""The rest of a step over the topics that nodes have is the rest of a step over all topics."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import citeweave.engines.slots.sums as sums_module
from citeweave.engines.core.data import ChainSettings, Data
from citeweave.engines.core.exponent import new_exponent, rebuild_exponent, total_rate
from citeweave.engines.core.spec import Level, preset
from citeweave.engines.dense.chain import DenseChain
from citeweave.engines.slots.parameters import SparseDraws
from citeweave.engines.slots.presence import mark_topics, new_presence
from citeweave.engines.threads import SnapshotChain
from citeweave.engines.threads.parameters import Draws
from citeweave.engines.threads.propensities import draw_documents
from citeweave.engines.threads.slices import find_terms, weigh

DOCUMENTS, GROUPS, WORDS, LENGTH = 300, 40, 50, 12

SCNTM = preset("scntm")
FIELDS = Level("field", "category", 0.2)
SPECS = {
    1: SCNTM.without("nu"),
    2: SCNTM,
    3: replace(SCNTM, topic_side=(SCNTM.topic_side[0], FIELDS, *SCNTM.topic_side[1:])),
}
"""By number of levels above documents."""


def draw_corpus(n_shared, rng):
    places = np.arange(DOCUMENTS)
    sizes = (1, *(4, GROUPS)[3 - n_shared :], DOCUMENTS)
    parents = [rng.integers(above, size=n) for above, n in pairwise(sizes)]
    ends = np.unique(rng.integers(DOCUMENTS, size=(900, 2)), axis=0)
    return Data(
        tokens=rng.integers(WORDS, size=DOCUMENTS * LENGTH).astype(np.int32),
        offsets=np.arange(DOCUMENTS + 1) * LENGTH,
        n_words=WORDS,
        parents=(*parents, places),
        leaf=places,
        leaf_start=np.arange(DOCUMENTS + 1),
        citing=ends[:, 0].astype(np.int32),
        cited=ends[:, 1].astype(np.int32),
    )


def fill_counts(customers, tables, rng, share):
    """Draw counts in range, most of them none."""
    drawn = (1 + rng.poisson(2.0, customers.shape)) * (rng.random(customers.shape) < share)
    customers[...] = drawn
    tables[...] = (drawn > 0) + rng.binomial(np.maximum(drawn - 1, 0), 0.4)


def random_chain(n_shared, topics, *, threads=1, seed=1):
    """Make a chain of which no sweep has been taken: counts are valid one by one, no more."""
    rng = np.random.default_rng(seed)
    settings = ChainSettings(topics=topics)
    spec, data = SPECS[n_shared], draw_corpus(n_shared, rng)
    chain = SnapshotChain(spec, data, settings, seed=seed, threads=threads)
    state = chain.state
    counts, words, parameters = state.topics, state.words, state.parameters
    fill_counts(counts.customers, counts.tables, rng, 0.2)
    counts.customers[5:9] = counts.tables[5:9] = 0  # nodes that have nothing
    counts.tables[0] = counts.customers[0] > 0
    counts.total_customers[:] = counts.customers.sum(axis=1)
    counts.total_tables[:] = counts.tables.sum(axis=1)
    fill_counts(words.customers, words.tables, rng, 0.5)
    words.total_customers[:] = words.customers.sum(axis=0)
    words.total_tables[:] = words.tables.sum(axis=0)
    words.background_customers[:] = words.tables.sum(axis=1)
    words.background_tables[:] = words.background_customers > 0
    words.background_totals[:] = (
        words.background_customers.sum(),
        words.background_tables.sum(),
    )
    state.assignments.topic[:] = rng.integers(topics, size=len(state.assignments.topic))
    state.assignments.burst_table[:] = 1
    state.assignments.citing_topic[:] = rng.integers(topics, size=len(chain.layout.citing))
    for values in (parameters.cite, parameters.cited, parameters.topic_scale):
        values[:] = rng.gamma(2.0, 0.2, len(values))
    for first, last in pairwise(chain.layout.level_start):
        parameters.topic_concentration[first:last] = rng.gamma(5.0)
    state.clock[1] = 1
    return chain


def sparse_draws(chain):
    presence = new_presence(len(chain.layout.parent), chain.settings.topics)
    mark_topics(chain.state.topics, presence, 0, len(presence))
    return SparseDraws(chain, presence)


def sums_over_all(chain):
    """P, M and weights by the sequential kernel."""
    exponent = new_exponent(len(chain.layout.parent), chain.settings.topics, 5)
    state = chain.state
    rebuild_exponent(chain.layout, state.topics, state.parameters, chain.citation_level, exponent)
    return exponent


def assert_sums(chain):
    expected = sums_over_all(chain)
    for name in ("cite_sum", "cited_sum", "cite_weight", "cited_weight"):
        np.testing.assert_allclose(
            getattr(chain.exponent, name), getattr(expected, name), rtol=1e-12, atol=1e-14
        )


@pytest.fixture(params=[(1, 5), (2, 70), (3, 130)], ids=str)
def chain(request, monkeypatch):
    monkeypatch.setattr(sums_module, "_FEW", 0)  # threads at work on short levels too
    made = random_chain(*request.param, threads=2)
    yield made
    made.close()


def test_sums_are_those_over_all_topics(chain):
    draws = sparse_draws(chain)
    draws.rebuild()
    assert max(len(pieces.place) for pieces in draws.sums._pieces) > 3
    assert_sums(chain)


def test_sums_follow_counts_that_moved(chain):
    draws = sparse_draws(chain)
    draws.rebuild()
    counts = chain.state.topics
    fill_counts(counts.customers[1:], counts.tables[1:], np.random.default_rng(9), 0.5)
    counts.total_customers[:] = counts.customers.sum(axis=1)
    counts.total_tables[:] = counts.tables.sum(axis=1)
    mark_topics(counts, draws.sums.presence, 0, len(draws.sums.presence))
    draws.counts_moved()
    draws.rebuild()
    assert_sums(chain)


def test_rates_are_those_over_all_topics(chain):
    """Expected citations of a document, through the propensities drawn from them."""
    dense, sparse = Draws(chain), sparse_draws(chain)
    sparse.rebuild()
    rng = np.random.default_rng(4)
    slope, degree = rng.gamma(1.0, size=chain.settings.topics), chain.degrees[0]
    prior, key = np.array([1.0, 0.5]), np.uint64(77)
    found = np.zeros((2, DOCUMENTS))
    sparse._draw_documents(slope, prior, degree, found[0], key)
    draw_documents(
        chain.workers,
        dense.nodes,
        dense._network,
        dense._discounts,
        slope,
        prior,
        degree,
        found[1],
        chain.part.document,
        key,
    )
    np.testing.assert_allclose(sparse._network.rate, dense._network.rate, rtol=1e-12)
    np.testing.assert_allclose(*found, rtol=1e-12)
    assert found.min() > 0


def test_slices_weigh_as_sums_built_anew(chain):
    """Against the sequential sums at each point, and against the terms of the dense slice."""
    dense, sparse = Draws(chain), sparse_draws(chain)
    parameters = chain.state.parameters
    concentration = parameters.topic_concentration
    for level in range(chain.citation_level + 1):
        begin, end = sparse._levels[level]
        present = concentration[begin]
        sparse.rebuild()
        terms = None
        if level > 0:
            terms = find_terms(
                chain.workers,
                dense.nodes,
                chain.exponent,
                dense._discounts,
                level,
                (begin, end),
                sparse._network.unit,
                chain.exchange,
            )
        for beta in (present, 0.01, 0.5, 3.0, 40.0):
            found = sparse.log_density(level, beta, 2.5, 0.3)
            assert np.all(concentration[begin:end] == beta)
            rate = total_rate(sums_over_all(chain), parameters)
            assert found == pytest.approx(1.5 * np.log(beta) - 0.3 * beta - rate, rel=1e-12)
            assert_sums(chain)
            if terms is not None:
                expected = weigh(terms, parameters.topic_scale, beta, 2.5, 0.3)
                assert found == pytest.approx(expected, rel=1e-10)
        concentration[begin:end] = present


def everything(chain, draws):
    """All that the draws write, after all of them, and the likelihood of words."""
    for _ in range(3):
        draws.draw_concentrations()
        draws.draw_propensities()
    draws.rebuild()
    parts = (*chain.state.parameters, *chain.exponent[:4])
    return [part.copy() for part in parts], chain.state.random.copy(), draws.log_likelihood()


def test_draws_are_those_over_all_topics():
    """From the same random numbers, up to rounding."""
    dense, sparse = (random_chain(2, 70) for _ in range(2))
    expected = everything(dense, Draws(dense))
    found = everything(sparse, sparse_draws(sparse))
    assert np.array_equal(found[1], expected[1])
    for mine, theirs in zip(found[0], expected[0], strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-8)
    assert found[2] == pytest.approx(expected[2], rel=1e-8)


def test_draws_do_not_depend_on_threads(monkeypatch):
    monkeypatch.setattr(sums_module, "_FEW", 0)
    results = []
    for threads in (1, 2, 3):
        chain = random_chain(3, 70, threads=threads)
        results.append(everything(chain, sparse_draws(chain)))
        chain.close()
    for parts, random, likelihood in results[1:]:
        assert np.array_equal(random, results[0][1])
        assert likelihood == results[0][2]
        assert all(np.array_equal(*pair) for pair in zip(parts, results[0][0], strict=True))


def test_likelihood_is_that_of_the_sequential_chain():
    chain = random_chain(2, 70)
    data = draw_corpus(2, np.random.default_rng(1))
    sequential = DenseChain(chain.spec, data, chain.settings, seed=1)
    sequential.state = chain.state
    found = sparse_draws(chain).log_likelihood()
    assert found == pytest.approx(sequential.log_likelihood(), rel=1e-12)
