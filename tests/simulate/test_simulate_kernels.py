"""The pieces of the simulation against their plain twins and known distributions."""

import math

import numpy as np
import pytest
from scipy import stats

from citeweave.simulate._random import beta, find, gamma, new_state, uniform
from citeweave.simulate.network import draw_network
from citeweave.simulate.vectors import draw_gem, draw_pyp, draw_pyp_rows
from citeweave.simulate.words import draw_words


@pytest.fixture
def state():
    return new_state(np.random.SeedSequence(5))


def test_uniform_is_uniform_and_moves_the_state(state):
    before = state.copy()
    draws = np.array([uniform(state) for _ in range(20_000)])
    assert (state != before).any()
    assert draws.min() >= 0
    assert draws.max() < 1
    assert stats.kstest(draws, "uniform").pvalue > 1e-4


@pytest.mark.parametrize("shape", [0.3, 0.99, 1.0, 4.5, 80.0])
def test_gamma_is_gamma(shape, state):
    draws = [gamma(shape, state) for _ in range(20_000)]
    assert stats.kstest(draws, "gamma", args=(shape,)).pvalue > 1e-4


@pytest.mark.parametrize(("a", "b"), [(1.0, 7.0), (0.3, 20.0), (0.99, 5.01)])
def test_beta_is_beta(a, b, state):
    draws = [beta(a, b, state) for _ in range(20_000)]
    assert stats.kstest(draws, "beta", args=(a, b)).pvalue > 1e-4


def test_find_is_searchsorted():
    running = np.cumsum([0.2, 0.0, 0.5, 0.3])
    for value in [0.0, 0.1999, 0.2, 0.45, 0.7, 0.99, 1.0, 2.0]:
        expected = min(np.searchsorted(running, value, side="right"), 3)
        assert find(running, value) == expected


def test_gem_has_the_mean_of_its_first_sticks():
    rng = np.random.default_rng(0)
    draws = np.array([draw_gem(200, 0.2, 3.0, rng)[:2] for _ in range(4000)])
    # E[V_1] = (1 - a) / (1 + b), E[(1 - V_1) V_2] = (b + a) / (1 + b) (1 - a) / (1 + b + a)
    assert draws[:, 0].mean() == pytest.approx(0.8 / 4.0, abs=0.01)
    assert draws[:, 1].mean() == pytest.approx(3.2 / 4.0 * 0.8 / 4.2, abs=0.01)


@pytest.mark.parametrize(("discount", "concentration"), [(0.0, 2.0), (0.01, 5.0), (0.4, 1.0)])
def test_pyp_rows_have_the_moments_of_the_process(discount, concentration, state):
    # mean p, variance p (1 - p) (1 - a) / (1 + b)
    base = np.array([[0.1, 0.2, 0.7], [0.5, 0.5, 0.0]])
    parents = np.repeat([0, 1], 20_000)
    rows = np.empty((40_000, 3))
    draw_pyp_rows(base, parents, discount, concentration, state, rows)
    np.testing.assert_allclose(rows.sum(axis=1), 1.0, rtol=1e-12)
    variance = base * (1 - base) * (1 - discount) / (1 + concentration)
    for parent in (0, 1):
        drawn = rows[parents == parent]
        np.testing.assert_allclose(drawn.mean(axis=0), base[parent], atol=0.015)
        np.testing.assert_allclose(drawn.var(axis=0), variance[parent], atol=0.006)


def test_pyp_vector_has_the_moments_of_the_process():
    rng = np.random.default_rng(1)
    base = np.array([0.1, 0.2, 0.7])
    rows = np.array([draw_pyp(base, 0.7, 2.0, rng, sticks=2000) for _ in range(4000)])
    np.testing.assert_allclose(rows.mean(axis=0), base, atol=0.015)
    np.testing.assert_allclose(rows.var(axis=0), base * (1 - base) * 0.3 / 3.0, atol=0.003)


def crp_pair_probability(base, discount, concentration):
    """Probability that two customers of one restaurant eat the same dish."""
    same_table = (1 - discount) / (1 + concentration)
    return same_table + (1 - same_table) * (base**2).sum()


@pytest.mark.parametrize("bursty", [True, False])
def test_words_follow_the_restaurants(bursty, state):
    documents = 60_000
    theta = np.array([0.6, 0.3, 0.1])
    phi = np.array([[0.7, 0.2, 0.1, 0.0], [0.1, 0.1, 0.1, 0.7], [0.25, 0.25, 0.25, 0.25]])
    doc_topic = np.tile(theta, (documents, 1))
    offsets = np.arange(documents + 1) * 2
    topics = np.empty(2 * documents, dtype=np.int32)
    words = np.empty(2 * documents, dtype=np.int32)
    draw_words(
        offsets,
        doc_topic,
        np.cumsum(phi, axis=1),
        (0.1, 4.0),
        (0.7, 2.0),
        bursty,
        state,
        topics,
        words,
    )
    z, w = topics.reshape(-1, 2), words.reshape(-1, 2)
    np.testing.assert_allclose(np.bincount(topics) / len(topics), theta, atol=0.01)
    same_topic = z[:, 0] == z[:, 1]
    assert same_topic.mean() == pytest.approx(crp_pair_probability(theta, 0.1, 4.0), abs=0.01)
    for k in range(3):
        np.testing.assert_allclose(
            np.bincount(words[topics == k], minlength=4) / (topics == k).sum(), phi[k], atol=0.02
        )
        pairs = w[same_topic & (z[:, 0] == k)]
        expected = crp_pair_probability(phi[k], 0.7, 2.0) if bursty else (phi[k] ** 2).sum()
        assert (pairs[:, 0] == pairs[:, 1]).mean() == pytest.approx(expected, abs=0.02)


def test_three_words_of_one_topic_follow_the_exact_partition(state):
    # One topic, so many words that equal words mean equal tables: partitions of three customers.
    documents, a, b = 40_000, 0.7, 2.0
    running = np.linspace(0, 1, 1_000_001)[None, 1:]
    words = np.empty(3 * documents, dtype=np.int32)
    topics = np.empty_like(words)
    offsets = np.arange(documents + 1) * 3
    theta = np.ones((documents, 1))
    draw_words(offsets, theta, running, (0.0, 1.0), (a, b), True, state, topics, words)
    rows = np.sort(words.reshape(-1, 3), axis=1)
    tables = 1 + (np.diff(rows, axis=1) > 0).sum(axis=1)
    norm = (b + 1) * (b + 2)
    one = (1 - a) * (2 - a) / norm
    three = (b + a) * (b + 2 * a) / norm
    expected = np.array([one, 1 - one - three, three])
    np.testing.assert_allclose(np.bincount(tables)[1:] / documents, expected, atol=0.01)


def test_network_follows_its_rates():
    # The mean number of citations i -> j over many draws is 1 - exp(-rate): x_ij cut off at 1.
    rng = np.random.default_rng(2)
    documents, draws = 6, 3000
    theta = rng.dirichlet(np.ones(2), documents)
    cite, cited = rng.gamma(2.0, 0.5, documents), rng.gamma(2.0, 0.5, documents)
    scale = np.array([1.0, 0.6])
    shape = np.outer(cite, cited) * ((theta * scale) @ theta.T)
    found, by_topic, expected = np.zeros((6, 6)), np.zeros(2), np.zeros((6, 6))
    share = np.zeros(2)
    for _ in range(draws):
        network = draw_network(theta, cite, cited, scale, target=3, years=None, rng=rng)
        found[network.citations[:, 0], network.citations[:, 1]] += 1
        by_topic += np.bincount(network.topics, minlength=2)
        rate = shape * network.topic_scale[0] / scale[0]
        expected += 1 - np.exp(-rate)
        for k in range(2):
            part = np.outer(cite * theta[:, k], cited * theta[:, k]) * network.topic_scale[k] / rate
            part *= 1 - np.exp(-rate)
            share[k] += part.sum() - np.trace(part)
    np.fill_diagonal(expected, 0.0)
    assert np.trace(found) == 0
    # rounds stop when enough is there, which ties draws together a little: hence the tolerance
    np.testing.assert_allclose(found / found.sum(), expected / expected.sum(), atol=0.012)
    np.testing.assert_allclose(by_topic / by_topic.sum(), share / share.sum(), atol=0.02)


def test_no_rates_give_no_citations():
    theta = np.ones((3, 1))
    zero = np.zeros(3)
    network = draw_network(
        theta, zero, zero, np.ones(1), target=2, years=None, rng=np.random.default_rng(0)
    )
    assert network.citations.shape == (0, 2)
    assert math.isclose(network.topic_scale[0], 0.0)
