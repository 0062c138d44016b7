"""What threads share of a step is what the sequential kernels do, by number or by distribution."""

import numpy as np
import pytest
from scipy.special import digamma, polygamma

from citeweave import simulate
from citeweave.engines.core.data import ChainSettings
from citeweave.engines.core.exchange import ALONE
from citeweave.engines.core.exponent import new_exponent, rebuild_exponent, total_rate
from citeweave.engines.core.pieces import cut
from citeweave.engines.core.random import new_generator
from citeweave.engines.core.spec import preset
from citeweave.engines.dense.chain import DenseChain
from citeweave.engines.threads import SnapshotChain
from citeweave.engines.threads.auxiliaries import gather_one
from citeweave.engines.threads.slices import _group, find_terms, weigh
from citeweave.engines.threads.workers import WorkerPool
from citeweave.engines.threads.world import word_places
from citeweave.model.groups import build_tree


@pytest.fixture(scope="module")
def data():
    corpus = simulate(
        documents=400, vocabulary=60, topics=3, authors=300, citations=900, seed=5
    ).corpus
    return build_tree(corpus, preset("scntm"), eta=0, unknown="shared").data


def run_chain(data, *, kind=SnapshotChain, steps=4, **options):
    chain = kind(preset("scntm"), data, ChainSettings(topics=5), seed=3, **options)
    chain.start()
    for _ in range(steps):
        chain.step()
    return chain


@pytest.fixture(scope="module")
def chain(data):
    return run_chain(data, threads=2)


@pytest.fixture(scope="module")
def sequential(data, chain):
    other = run_chain(data, kind=DenseChain, steps=0)
    other.restore(chain.state)
    return other


def test_sums_are_those_of_one_thread(chain):
    """Up to rounding, since they are taken in another order."""
    exponent = new_exponent(len(chain.layout.parent), 5, 4)
    rebuild_exponent(
        chain.layout, chain.state.topics, chain.state.parameters, chain.citation_level, exponent
    )
    chain.rebuild_exponent()
    shared = int(chain.layout.level_start[chain.citation_level + 1])
    for name in ("cite_sum", "cited_sum"):
        mine, theirs = getattr(chain.exponent, name), getattr(exponent, name)
        np.testing.assert_allclose(mine, theirs, rtol=1e-12)
    for name in ("cite_weight", "cited_weight"):
        mine, theirs = getattr(chain.exponent, name)[:shared], getattr(exponent, name)[:shared]
        # sums of integers: each term is cut by less than a unit, which the largest weight decides
        np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=400 / chain._draws.unit.min())


def test_likelihood_is_that_of_one_thread(chain, sequential):
    assert chain.log_likelihood() == pytest.approx(sequential.log_likelihood(), rel=1e-12)


@pytest.mark.parametrize("level", [1, 2])
def test_slices_weigh_as_sums_built_anew(chain, level):
    """E as a function of a level's concentration, by groups of nodes and node by node."""
    parameters = chain.state.parameters
    begin, end = (int(n) for n in chain.layout.level_start[level : level + 2])
    chain.rebuild_exponent()
    nodes, discounts = chain._draws.nodes, parameters.topic_discount
    unit = chain._draws._network.unit
    terms = find_terms(
        chain.workers, nodes, chain.exponent, discounts, level, (begin, end), unit, ALONE
    )
    assert len(terms.size) < (end - begin) / 5  # else there would be nothing to gain
    present = parameters.topic_concentration[begin]
    for beta in (present, 0.01, 0.5, 3.0, 40.0):
        expected = weigh(terms, parameters.topic_scale, beta, 1.0, 0.0)
        parameters.topic_concentration[begin:end] = beta
        exponent = new_exponent(len(chain.layout.parent), 5, 4)
        level_of = chain.citation_level
        rebuild_exponent(chain.layout, chain.state.topics, parameters, level_of, exponent)
        parameters.topic_concentration[begin:end] = present
        assert -expected == pytest.approx(total_rate(exponent, parameters), rel=1e-11)


@pytest.mark.parametrize("customers", [1, 2, 8, 9, 300])
def test_shares_have_the_moments_of_a_beta_variable(customers):
    """E log(1 - xi) = digamma(beta) - digamma(beta + C), and its variance likewise."""
    beta, rng = 0.7, new_generator(1)
    draws = np.array([gather_one(rng, customers, 1, 0.5, beta)[1] for _ in range(20_000)])
    mean = digamma(beta) - digamma(beta + customers)
    spread = np.sqrt(polygamma(1, beta) - polygamma(1, beta + customers))
    assert abs(draws.mean() - mean) < 5 * spread / np.sqrt(len(draws))
    assert draws.std() == pytest.approx(spread, rel=0.05)


def test_draws_have_the_distribution_of_the_sequential_chain(chain, sequential):
    """Repeated draws given the same counts: their means, against their own spread."""
    drawn = []
    for one in (chain, sequential):
        values = []
        for _ in range(400):
            one.draw_concentrations()
            one.draw_propensities()
            rates = one.state.parameters
            scale = rates.cite.mean() * rates.cited.mean() * rates.topic_scale
            values.append([*np.log(one.concentrations()), *np.log(scale)])
        drawn.append(np.array(values)[50:])
    # neighbours in a chain of draws are alike: batches of 35 are taken as independent
    batches = [values.reshape(10, 35, -1).mean(axis=1) for values in drawn]
    spread = np.sqrt(sum(b.var(axis=0, ddof=1) / 10 for b in batches))
    score = (batches[0].mean(axis=0) - batches[1].mean(axis=0)) / spread
    assert np.abs(score).max() < 6


def test_pieces_cover_all_and_are_few():
    for last in (0, 1, 63, 64, 65, 1000):
        bounds = cut(0, last)
        assert (bounds[0], bounds[-1]) == (0, last)
        assert np.all(np.diff(bounds) >= (last > 0))
        assert len(bounds) <= 65


@pytest.mark.parametrize("spread", [3, 10**9])
def test_nodes_are_grouped_by_size(spread):
    customers = np.random.default_rng(0).integers(0, 5, 200) * spread
    sizes, order, start = _group(customers)
    assert np.array_equal(sizes, np.unique(customers))
    for i, size in enumerate(sizes):
        assert np.array_equal(order[start[i] : start[i + 1]], np.flatnonzero(customers == size))


def test_words_are_numbered_inside_documents(chain):
    places = word_places(chain.layout)
    starts = chain.layout.document_start
    for d in range(50):
        words = chain.layout.word[starts[d] : starts[d + 1]]
        expected = np.unique(words, return_inverse=True)[1]
        assert np.array_equal(places[starts[d] : starts[d + 1]], expected)


def test_an_error_of_a_worker_comes_through():
    def fail(worker):
        if worker == 1:
            raise ValueError("worker 1")

    workers = WorkerPool(2)
    with pytest.raises(ValueError, match="worker 1"):
        workers.run(fail)
    workers.close()
