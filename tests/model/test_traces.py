"""The trace by which a run is shown: the joint log posterior, or what an earlier release traced."""

import numpy as np

from citeweave import SCNTM
from citeweave.model.traces import shown_trace

WORDS = np.zeros((2, 80))


def test_the_log_posterior_is_shown() -> None:
    shown = shown_trace({"log_likelihood": WORDS, "log_posterior": WORDS - 1})
    assert shown is not None
    assert shown[:2] == ("log_posterior", "log posterior")
    assert (shown.values == -1).all()


def test_runs_that_an_earlier_release_began_show_the_log_likelihood() -> None:
    later = np.full((2, 80), np.nan)
    later[:, 60:] = 1.0
    for traces in ({"log_likelihood": WORDS}, {"log_likelihood": WORDS, "log_posterior": later}):
        shown = shown_trace(traces)
        assert shown is not None
        assert shown.words == "log likelihood"
    assert shown_trace({}) is None


def test_the_log_posterior_rises_while_topics_form(small) -> None:
    model = SCNTM(topics=5, iterations=30, network_from=29, seed=1, chains=1).fit(small)
    trace = model.traces_["log_posterior"][0]
    assert np.isfinite(trace).all()
    assert trace[24:29].mean() > trace[:5].mean()
