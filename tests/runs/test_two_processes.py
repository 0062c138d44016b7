"""Two processes at one run: what is held is refused, what both write is merged."""

import shutil
import threading
from multiprocessing import get_context
from pathlib import Path

import pytest

from citeweave import Corpus
from citeweave.errors import RunError
from citeweave.evaluate import hold_out
from citeweave.explore.labels import TopicNames
from citeweave.model import SCNTM, load, resume
from citeweave.simulate import simulate

QUICK = {"topics": 3, "iterations": 6, "seed": 5, "network_from": 2, "burn_in": 3, "thin": 1}


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    drawn = simulate(documents=30, vocabulary=25, topics=3, authors=6, citations=40, seed=3)
    return drawn.corpus


def rename(folder: Path, first: int, number: int) -> None:
    names = TopicNames(folder)
    for topic in range(first, first + number):
        names.set(topic, f"Topic {topic}")


def rename_side_by_side(folder: Path, number: int) -> None:
    context = get_context("spawn")
    half = number // 2
    workers = [
        context.Process(target=rename, args=(folder, 0, half)),
        context.Process(target=rename, args=(folder, half, number - half)),
    ]
    watching = TopicNames(folder)
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    expected = {topic: f"Topic {topic}" for topic in range(number)}
    assert watching.as_dict() == expected, "names were lost, or the file's are not shown"
    assert TopicNames(folder).as_dict() == expected


def test_two_processes_lose_no_names(tmp_path) -> None:
    rename_side_by_side(tmp_path, 100)


@pytest.mark.long
def test_two_processes_lose_none_of_500_names(tmp_path) -> None:
    rename_side_by_side(tmp_path, 500)


class During:
    """Call something once, after the second iteration of a fit."""

    def __init__(self, action) -> None:
        self.action = action
        self.outcome: object = None

    def __call__(self, progress) -> None:
        if progress.iteration == 2:
            try:
                self.outcome = self.action()
            except Exception as error:  # noqa: BLE001 (looked at by the test)
                self.outcome = error


def test_a_live_run_is_not_overwritten(corpus, tmp_path) -> None:
    during = During(
        lambda: SCNTM(**QUICK, chains=1).fit(corpus, out=tmp_path / "run", overwrite=True)
    )
    SCNTM(**QUICK, chains=1).fit(corpus, out=tmp_path / "run", progress=during)
    assert isinstance(during.outcome, RunError)
    assert "Another process is working on" in str(during.outcome)
    assert load(tmp_path / "run").doc_topic_.shape[0] == 30
    SCNTM(**QUICK, chains=1).fit(corpus, out=tmp_path / "run", overwrite=True)  # now it may be


def test_two_fits_into_one_new_folder(corpus, tmp_path, monkeypatch) -> None:
    """The second to come is refused, although the place was free when it began."""
    from citeweave.runs.folder import RunFolder

    store, met = RunFolder.store_corpus, threading.Event()

    def slow(self, stored):
        store(self, stored)
        if not met.is_set():
            met.set()
            SCNTM(**QUICK, chains=1).fit(corpus, out=tmp_path / "run")

    monkeypatch.setattr(RunFolder, "store_corpus", slow)
    with pytest.raises(RunError, match="already contains a run"):
        SCNTM(**QUICK, chains=1).fit(corpus, out=tmp_path / "run")
    assert load(tmp_path / "run").doc_topic_.shape[0] == 30
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run"]


@pytest.mark.parametrize("checkpoint_iterations", [1, None])
@pytest.mark.parametrize("what", ["moved", "removed", "replaced"])
def test_a_folder_that_goes_away_ends_the_fit(
    corpus, tmp_path, what, checkpoint_iterations
) -> None:
    run, other = tmp_path / "run", tmp_path / "other"

    def act() -> None:
        if what == "removed":
            shutil.rmtree(run)
            return
        run.rename(other)
        if what == "replaced":
            shutil.copytree(other, run)

    with pytest.raises(RunError, match="moved"):
        SCNTM(**QUICK, chains=1).fit(
            corpus, out=run, progress=During(act), checkpoint_iterations=checkpoint_iterations
        )
    if what != "removed":
        assert resume(other).doc_topic_.shape[0] == 30
    if what == "moved":
        assert not run.exists()


@pytest.mark.parametrize("stop_at", [None, 1, 3, 5])
@pytest.mark.parametrize("share", [{"citations": 0.2}, {"words": 0.2}, {"documents": 0.2}])
def test_runs_with_something_held_out(corpus, tmp_path, share, stop_at) -> None:
    """The corpus is stored, so that the folder behind it is the whole one."""
    corpus.save(tmp_path / "corpus")
    train, held = hold_out(Corpus.load(tmp_path / "corpus"), **share, seed=1)
    stop = threading.Event()

    def watch(progress) -> None:
        if progress.iteration == stop_at:
            stop.set()

    model = SCNTM(**QUICK, chains=2)
    if stop_at is None:
        model.fit(train, out=tmp_path / "run", held_out=held)
    else:
        with pytest.raises(KeyboardInterrupt):
            model.fit(train, out=tmp_path / "run", held_out=held, progress=watch, stop=stop)
        model = resume(tmp_path / "run")
    loaded = load(tmp_path / "run")
    assert loaded.corpus_.fingerprint == train.fingerprint
    assert set(loaded.held_out_) == set(held)
    for name in held:
        assert (loaded.held_out_[name] == held[name]).all()
    assert (loaded.doc_topic_ == model.doc_topic_).all()
