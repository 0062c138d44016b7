"""Runs that are done go on: to the bytes of one long run, and never less than they were."""

import shutil
import threading

import numpy as np
import pytest

import citeweave
from citeweave import SCNTM
from citeweave.errors import ParameterError, RunError
from citeweave.model.going_on import more_iterations
from citeweave.model.runner import RunInterrupted
from citeweave.model.settling import Check, Settlement
from citeweave.runs.folder import RunFolder

SHORT = {"topics": 5, "iterations": 40, "network_from": 10, "seed": 3, "exactly": True}


def assert_same_bytes(one, other):
    assert set(one._fitted.estimates) == set(other._fitted.estimates)
    for name in one._fitted.estimates:
        mine, theirs = one._fitted.estimates[name], other._fitted.estimates[name]
        assert np.asarray(mine).tobytes() == np.asarray(theirs).tobytes(), name
    for name in set(one.traces_) - {"seconds"}:
        np.testing.assert_array_equal(one.traces_[name], other.traces_[name])
    assert one.settlement_ == other.settlement_


def as_long_from_the_start(model, corpus):
    return SCNTM(**model.get_params() | {"seed": model.seed_}).fit(corpus)


@pytest.fixture(scope="module")
def done(small, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "short"
    SCNTM(**SHORT, chains=2).fit(small, out=folder)
    return folder


@pytest.mark.parametrize(
    ("wanted", "changes"),
    [
        ("+40", {}),  # its burn-in ends after the shorter run does
        (44, {}),  # and here before: what was sampled is sampled again
        ("+10", {"burn_in": 20}),
        ("+30", {"topics": 300}),  # proposals were frozen
    ],
)
def test_a_run_goes_on_to_the_bytes_of_a_long_one(small, tmp_path, wanted, changes):
    SCNTM(**SHORT | changes, chains=1).fit(small, out=tmp_path / "run")
    longer = citeweave.resume(tmp_path / "run", iterations=wanted)
    more = more_iterations(wanted, 40)
    assert longer.n_iter_ == longer.iterations == 40 + more
    assert longer.network_from == 10
    assert_same_bytes(longer, as_long_from_the_start(longer, small))
    assert_same_bytes(longer, citeweave.load(tmp_path / "run"))


def test_by_default_citations_join_when_they_did(small, tmp_path):
    SCNTM(topics=4, iterations=20, seed=1, chains=1, exactly=True).fit(small, out=tmp_path / "run")
    first = citeweave.load(tmp_path / "run")
    joined = np.isfinite(first.traces_["acceptance"][0])
    longer = citeweave.resume(tmp_path / "run", iterations="+20")
    assert longer.network_from == first._fitted.plan.settings.network_from
    assert np.array_equal(joined, np.isfinite(longer.traces_["acceptance"][0])[:20])


def test_a_run_may_go_on_again(small, tmp_path, done):
    shutil.copytree(done, tmp_path / "run")
    citeweave.resume(tmp_path / "run", iterations="+10")
    longer = citeweave.resume(tmp_path / "run", iterations="+10")
    assert_same_bytes(longer, as_long_from_the_start(longer, small))
    assert sorted(path.name for path in (tmp_path / "run").glob("chains*")) == ["chains-3"]


def test_stopped_on_its_way_the_run_is_what_it_was(small, tmp_path, done):
    """And goes on where it was stopped, however often."""
    folder = tmp_path / "run"
    shutil.copytree(done, folder)
    before = citeweave.load(folder)
    for last in (50, 60):
        stop = threading.Event()

        def look(progress, last=last, stop=stop):
            if progress.iteration >= last:
                stop.set()

        wanted = {"iterations": "+40"} if last == 50 else {}
        with pytest.raises(RunInterrupted, match="All is saved"):
            citeweave.resume(folder, progress=look, stop=stop, **wanted)
        assert_same_bytes(before, citeweave.load(folder))
        with pytest.raises(RunError, match="under way"):
            citeweave.resume(folder, iterations="+5")
    longer = citeweave.resume(folder)
    assert longer.n_iter_ == 80
    assert_same_bytes(longer, as_long_from_the_start(longer, small))


def test_killed_before_its_last_word_the_run_is_what_it_was(tmp_path, done, monkeypatch):
    """All is written but the manifest that says so."""
    folder = tmp_path / "run"
    shutil.copytree(done, folder)
    before = citeweave.load(folder)

    written = RunFolder.write_manifest

    def die_at_the_end(run):
        if "folders" in run.manifest:
            raise KeyboardInterrupt
        written(run)

    monkeypatch.setattr(RunFolder, "write_manifest", die_at_the_end)
    with pytest.raises(KeyboardInterrupt):
        citeweave.resume(folder, iterations="+5")
    monkeypatch.undo()
    assert_same_bytes(before, citeweave.load(folder))
    assert citeweave.resume(folder).n_iter_ == 45


def test_runs_of_a_release_that_stored_no_start_of_sampling_go_on(small, tmp_path, done):
    folder = tmp_path / "run"
    shutil.copytree(done, folder)
    for path in folder.glob("chains/*/sampling-*.npz"):
        path.unlink()
    longer = citeweave.resume(folder, iterations="+2")
    assert (longer.n_iter_, longer.burn_in_) == (42, 40)
    assert_same_bytes(longer, as_long_from_the_start(longer, small))


@pytest.mark.parametrize("wanted", ["+0", "40", 12, "many", True, "-5"])
def test_what_makes_no_run_longer_is_refused(done, wanted):
    with pytest.raises(ParameterError, match=r"must be '\+n' for n more, or a total greater than"):
        citeweave.resume(done, iterations=wanted)


def test_minutes_are_for_runs_that_compare_their_chains(done):
    with pytest.raises(
        ParameterError, match="a fixed number of iterations; extend it by iterations"
    ):
        citeweave.resume(done, minutes=1)


def test_an_unfinished_run_is_ended_first(small, tmp_path):
    stop = threading.Event()
    stop.set()
    with pytest.raises(RunInterrupted):
        SCNTM(**SHORT, chains=1).fit(small, out=tmp_path / "run", stop=stop)
    with pytest.raises(RunError, match="unfinished; finish it first"):
        citeweave.resume(tmp_path / "run", iterations="+5")


def test_settlements_are_kept_as_json():
    found = Settlement(False, "iterations", 5, 2, (Check("a", float("inf"), 1.05, False, 3.0),))
    assert Settlement.from_json(found.as_json()) == found
