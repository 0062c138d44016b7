"""Verdicts: traces whose truth is known get the words they deserve."""

import numpy as np
import pytest

from citeweave.evaluate.diagnostics import judge_traces

RNG = np.random.default_rng(5)
STEADY = RNG.normal(size=(2, 600))
DRIFT = np.linspace(0.0, 30.0, 600) + RNG.normal(size=(2, 600))


def verdict(trace, **options):
    return judge_traces({"log_likelihood": trace}, burn_in=100, **options).verdict


def test_steady_chains_of_the_same_topics_agree() -> None:
    found = verdict(STEADY, agreements=[1.0, 0.97])
    assert found.level == "good"
    assert found.headline == "The chains agree"
    assert "0.97" in found.advice


def test_chains_that_found_different_topics_do_not_agree_however_steady() -> None:
    found = verdict(STEADY, agreements=[1.0, 0.6])
    assert found.level == "poor"
    assert found.headline == "The chains found different topics"
    assert "the most likely chain" in found.advice
    united = verdict(STEADY, agreements=[1.0, 0.6], how="consensus")
    assert united.headline == found.headline
    assert "on which the chains agree" in united.advice
    assert "most likely" not in united.advice


def test_drifting_chains_must_run_longer() -> None:
    assert verdict(DRIFT, agreements=[1.0, 0.6]).headline == "Run longer"
    assert verdict(DRIFT[:1], agreements=[1.0]).headline == "Run longer"


def test_same_topics_at_different_heights_is_fair() -> None:
    apart = STEADY + np.array([[0.0], [4.0]])
    found = verdict(apart, agreements=[1.0, 0.95])
    assert found.level == "fair"
    assert "agree on the topics" in found.headline


def test_one_chain_cannot_agree_with_anything() -> None:
    found = verdict(STEADY[:1], agreements=[1.0])
    assert found.level == "unknown"
    assert found.headline == "One chain only: agreement cannot be judged"


def test_few_iterations_are_not_judged() -> None:
    found = judge_traces({"log_likelihood": STEADY[:, :110]}, burn_in=100, agreements=[1.0, 1.0])
    assert found.verdict.headline == "Run longer"
    assert found.draws == 10
    assert found.checks == ()


def test_a_model_without_chains_says_so() -> None:
    found = judge_traces({}, burn_in=0)
    assert (found.chains, found.verdict.level) == (0, "unknown")


def test_an_unfinished_run_is_never_called_good() -> None:
    found = verdict(STEADY, agreements=[1.0, 1.0], unfinished="500 of 600 iterations")
    assert found.headline == "This run is not finished: 500 of 600 iterations"
    assert found.level == "poor"


def test_iterations_that_one_chain_lacks_are_left_out() -> None:
    trace = STEADY.copy()
    trace[1, 500:] = np.nan
    assert judge_traces({"log_likelihood": trace}, burn_in=100).draws == 400


def test_concentrations_are_checked_by_level() -> None:
    traces = {"log_likelihood": STEADY, "concentrations": RNG.gamma(2.0, size=(2, 600, 3))}
    found = judge_traces(traces, burn_in=100, level_names=["mu", "nu", "theta"])
    assert [check.name for check in found.checks] == [
        "log likelihood",
        "concentration of mu",
        "concentration of nu",
        "concentration of theta",
    ]
    assert all(check.rhat == pytest.approx(1.0, abs=0.05) for check in found.checks)
