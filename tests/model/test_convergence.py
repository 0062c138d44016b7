"""R-hat and effective sample size: identities, and chains whose answers are known."""

import numpy as np
import pytest
from arviz_stats.base import array_stats

from citeweave.errors import ParameterError
from citeweave.evaluate import (
    convergence,
    effective_sample_size,
    split_rhat,
    tail_sample_size,
)
from citeweave.model.convergence import _autocovariance


def autoregression(chains, draws, weight, seed=0):
    """AR(1) chains from their stationary law: n (1 - weight) / (1 + weight) draws are worth one."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(chains, draws))
    out = np.empty_like(noise)
    out[:, 0] = noise[:, 0] / np.sqrt(1 - weight**2)
    for t in range(1, draws):
        out[:, t] = weight * out[:, t - 1] + noise[:, t]
    return out


def geyer_size(values, *, as_arviz):
    """Effective sample size of chains, term by term, by the paper or as ArviZ takes it.

    The paper's autocovariances are s^2 rho_t; ArviZ, as Stan, divides them by all draws, and counts
    the even term of the pair at which the sum stops if that is positive. Where no pair stops it,
    ArviZ drops some of the last lags: None then.
    """
    chains, draws = values.shape
    within = values.var(axis=1, ddof=1).mean()
    pooled = within * (draws - 1) / draws + values.mean(axis=1).var(ddof=1)
    scale = 1.0 if as_arviz else draws / (draws - 1)
    covariance = array_stats.autocov(values, axis=1).mean(axis=0) * scale
    correlation = [1.0, *(1.0 - (within - covariance[1:]) / pooled)]
    time, smallest = -1.0, np.inf
    for even, odd in zip(correlation[::2], correlation[1::2], strict=False):
        if even + odd <= 0:
            time += max(even, 0.0) if as_arviz else 0.0
            break
        smallest = min(smallest, even + odd)
        time += 2 * smallest
    else:
        if as_arviz:
            return None
    return chains * draws / max(time, 1 / np.log10(chains * draws))


@pytest.fixture(scope="module")
def independent():
    return np.random.default_rng(2).normal(size=(4, 1000))


def test_independent_draws(independent):
    assert split_rhat(independent) == pytest.approx(1.0, abs=0.005)
    assert effective_sample_size(independent) == pytest.approx(4000, rel=0.15)
    assert tail_sample_size(independent) == pytest.approx(4000, rel=0.2)


CASES = [(2, 40, 0.5), (2, 201, 0.7), (3, 101, 0.0), (4, 1000, 0.9), (4, 400, -0.5), (4, 40, -0.9)]


@pytest.mark.parametrize(("chains", "draws", "weight"), CASES)
def test_rhat_is_that_of_arviz(chains, draws, weight):
    for seed in range(5):
        trace = autoregression(chains, draws, weight, seed)
        wanted = array_stats.rhat(trace, chain_axis=0, draw_axis=1, method="rank")
        assert split_rhat(trace) == pytest.approx(float(wanted), rel=1e-6)


@pytest.mark.parametrize(("chains", "draws", "weight"), CASES)
def test_sample_sizes_are_the_papers_which_arviz_takes_a_little_otherwise(chains, draws, weight):
    compared = 0
    for seed in range(10):
        trace = autoregression(chains, draws, weight, seed)
        half = draws // 2
        halves = np.concatenate((trace[:, :half], trace[:, -half:]))
        scores = array_stats._z_scale(halves)
        theirs = array_stats.ess(trace, chain_axis=0, draw_axis=1, method="bulk")
        wanted = geyer_size(scores, as_arviz=True)
        if wanted is not None:
            assert float(theirs) == pytest.approx(wanted, rel=1e-6)
            compared += 1
        mine = geyer_size(scores, as_arviz=False)
        assert effective_sample_size(trace) == pytest.approx(mine, rel=1e-6)
        tails = [halves <= quantile for quantile in np.quantile(halves, [0.05, 0.95])]
        mine = min(geyer_size(tail.astype(float), as_arviz=False) for tail in tails)
        assert tail_sample_size(trace) == pytest.approx(mine, rel=1e-6)
    assert compared > 1


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
