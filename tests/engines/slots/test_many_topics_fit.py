"""Many topics behind `fit` and `resume`."""

import threading

import numpy as np
import pytest

import citeweave
from citeweave import SCNTM, simulate
from citeweave.engines.core.refreshing import is_refreshed
from citeweave.model.runner import RunInterrupted

OPTIONS = {"topics": 300, "iterations": 10, "network_from": 3, "burn_in": 6, "thin": 1, "seed": 3}


@pytest.fixture(scope="module")
def corpus():
    return simulate(documents=60, vocabulary=50, topics=3, authors=9, citations=120, seed=2).corpus


@pytest.mark.parametrize("sweep", [{"sweep": "sequential"}, {"sweep": "snapshot", "rounds": 2}])
def test_resumed_with_the_same_bytes(corpus, tmp_path, sweep):
    """Tables of proposals of an earlier iteration are stored, too."""
    options = OPTIONS | sweep | {"device": "cpu"}
    whole = SCNTM(**options).fit(corpus)
    event = threading.Event()
    assert not is_refreshed(7)

    def look(progress):
        if progress.iteration >= 7:
            event.set()

    with pytest.raises(RunInterrupted):
        SCNTM(**options).fit(corpus, out=tmp_path / "run", progress=look, stop=event)
    resumed = citeweave.resume(tmp_path / "run")
    assert (resumed.doc_topic_ == whole.doc_topic_).all()
    assert (resumed.citing_topic_ == whole.citing_topic_).all()
    assert np.isfinite(resumed.traces_["log_likelihood"]).all()
    assert resumed.traces_["topics"].max() <= 300
