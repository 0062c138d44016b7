"""R-hat and effective sample size: identities, and chains whose answers are known."""

import numpy as np
import pytest

from citeweave.errors import ParameterError
from citeweave.evaluate import (
    convergence,
    effective_sample_size,
    split_rhat,
    tail_sample_size,
)
from citeweave.evaluate.convergence import _autocovariance


def autoregression(chains, draws, weight, seed=0):
    """AR(1) chains from their stationary law: n (1 - weight) / (1 + weight) draws are worth one."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(chains, draws))
    out = np.empty_like(noise)
    out[:, 0] = noise[:, 0] / np.sqrt(1 - weight**2)
    for t in range(1, draws):
        out[:, t] = weight * out[:, t - 1] + noise[:, t]
    return out


@pytest.fixture(scope="module")
def independent():
    return np.random.default_rng(2).normal(size=(4, 1000))


def test_independent_draws(independent):
    assert split_rhat(independent) == pytest.approx(1.0, abs=0.005)
    assert effective_sample_size(independent) == pytest.approx(4000, rel=0.15)
    assert tail_sample_size(independent) == pytest.approx(4000, rel=0.2)


@pytest.mark.parametrize("weight", [0.3, 0.6, 0.9])
def test_autoregression_is_worth_what_theory_says(weight):
    trace = autoregression(8, 4000, weight)
    wanted = trace.size * (1 - weight) / (1 + weight)
    assert effective_sample_size(trace) == pytest.approx(wanted, rel=0.15)


def test_alternating_chains_are_worth_more_than_independent_ones():
    trace = autoregression(4, 2000, -0.5)
    assert trace.size < effective_sample_size(trace) <= trace.size * np.log10(trace.size)


def test_ranks_alone_count(independent):
    assert effective_sample_size(np.exp(independent)) == effective_sample_size(independent)
    assert split_rhat(independent * 7.0 - 3.0) == pytest.approx(split_rhat(independent), rel=1e-12)


def test_chains_apart_in_place_or_in_spread(independent):
    place = independent + np.array([0.0, 0.0, 0.0, 2.0])[:, None]
    spread = independent * np.array([1.0, 1.0, 1.0, 4.0])[:, None]
    assert split_rhat(place) > 1.2
    assert split_rhat(spread) > 1.1
    assert effective_sample_size(place) < 50


def test_one_chain_that_drifts_is_seen():
    trace = np.random.default_rng(0).normal(size=(1, 1000)) + np.linspace(0.0, 4.0, 1000)
    assert split_rhat(trace) > 1.5


def test_heavy_tails_do_not_mislead():
    trace = np.random.default_rng(0).standard_cauchy(size=(4, 1000))
    assert split_rhat(trace) == pytest.approx(1.0, abs=0.01)


def test_chains_that_stand_still():
    assert np.isnan(split_rhat(np.ones((2, 10))))
    assert np.isnan(effective_sample_size(np.ones((2, 10))))
    assert np.isnan(tail_sample_size(np.ones((2, 10))))
    assert split_rhat(np.repeat([[0.0], [1.0]], 10, axis=1)) == np.inf


def test_a_trace_of_two_values():
    coins = np.random.default_rng(0).integers(0, 2, size=(4, 500))
    assert split_rhat(coins) == pytest.approx(1.0, abs=0.02)


def test_autocovariance_is_its_definition():
    values = np.random.default_rng(4).normal(size=(2, 9))
    centred = values - values.mean(axis=1, keepdims=True)
    wanted = [[x[: 9 - t] @ x[t:] / 9 for t in range(9)] for x in centred]
    assert _autocovariance(values) == pytest.approx(np.array(wanted))


def test_all_at_once(independent):
    found = convergence(independent)
    assert found.mean == independent.mean()
    assert found.rhat == split_rhat(independent)
    assert found.bulk == effective_sample_size(independent)
    assert found.tail == tail_sample_size(independent)


@pytest.mark.parametrize(
    ("trace", "text"),
    [
        (np.ones(10), r"shape \(10,\)"),
        (np.ones((2, 3)), "at least 4 draws"),
        ([[1.0, 2.0, np.nan, 4.0]], "nan in chain 0, draw 2"),
    ],
)
def test_bad_traces(trace, text):
    with pytest.raises(ParameterError, match=text):
        split_rhat(trace)
