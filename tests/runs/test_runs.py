"""Runs: the same bytes however they came about, interrupted, killed or not."""

import os
import random
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from model_tools import QUICK, assert_same_bytes, edit_manifest, files_under, run_contents

import citeweave
from citeweave import SCNTM, Corpus
from citeweave.errors import CorpusError, RunError
from citeweave.model import RunInterrupted
from citeweave.runs.folder import RunFolder
from reference.patience import PATIENCE


@pytest.fixture(scope="module")
def reference(small, tmp_path_factory):
    """Two chains that nothing disturbed."""
    folder = tmp_path_factory.mktemp("reference") / "run"
    SCNTM(**QUICK, chains=2).fit(small, out=folder)
    return folder


class StopAt:
    """A progress callback that stops a run at an iteration of chain 0."""

    def __init__(self, iteration):
        self.iteration = iteration
        self.event = threading.Event()
        self.seen = []

    def __call__(self, progress):
        self.seen.append(progress)
        if progress.chain == 0 and progress.iteration >= self.iteration:
            self.event.set()


def interrupted_run(corpus, folder, iteration, **parameters):
    stopper = StopAt(iteration)
    with pytest.raises(RunInterrupted) as caught:
        SCNTM(**QUICK | {"chains": 1} | parameters).fit(
            corpus, out=folder, progress=stopper, stop=stopper.event
        )
    return str(caught.value)


def test_same_seed_same_bytes(small, reference, tmp_path):
    SCNTM(**QUICK, chains=2, threads=1).fit(small, out=tmp_path / "run", checkpoint_iterations=4)
    assert_same_bytes(run_contents(reference), run_contents(tmp_path / "run"))


def test_another_seed_other_bytes(small, reference):
    other = SCNTM(**QUICK | {"seed": 6}, chains=2).fit(small)
    assert (other.doc_topic_ != citeweave.load(reference).doc_topic_).any()


def test_memory_and_folder_agree(small, reference):
    model = SCNTM(**QUICK, chains=2).fit(small)
    stored = citeweave.load(reference)
    for name, array in model._result.estimates.items():
        np.testing.assert_array_equal(array, stored._result.estimates[name])


def test_chains_do_not_depend_on_each_other(small, reference, tmp_path):
    SCNTM(**QUICK, chains=1).fit(small, out=tmp_path / "one")
    one, two = run_contents(tmp_path / "one"), run_contents(reference)
    names = [name for name in one if name.startswith("chain0.")]
    assert_same_bytes({n: one[n] for n in names}, {n: two[n] for n in names})


@pytest.mark.parametrize("iteration", [1, 8, 14, 20, 29])
def test_stopped_and_resumed_is_uninterrupted(small, reference, tmp_path, iteration):
    folder = tmp_path / "run"
    text = interrupted_run(small, folder, iteration, chains=2, threads=2)
    assert f"continue with: citeweave resume {folder}" in text
    model = citeweave.resume(folder)
    assert_same_bytes(run_contents(reference), run_contents(folder))
    assert model.n_iter_ == 30
    assert RunFolder.open(folder).manifest["status"] == "done"


def test_stopped_many_times(small, reference, tmp_path):
    folder = tmp_path / "run"
    interrupted_run(small, folder, 3, chains=2, threads=1)
    for iteration in (7, 12, 19, 26):
        stopper = StopAt(iteration)
        with pytest.raises(RunInterrupted):
            citeweave.resume(folder, small, progress=stopper, stop=stopper.event, threads=1)
        assert stopper.seen[0].iteration <= iteration
    citeweave.resume(folder, threads=2)
    assert_same_bytes(run_contents(reference), run_contents(folder))


def test_what_progress_is_told(small):
    seen = []
    SCNTM(**QUICK, chains=2).fit(small, progress=seen.append)
    for chain in (0, 1):
        mine = [p for p in seen if p.chain == chain]
        assert [p.iteration for p in mine] == list(range(1, 31))
        assert mine[-1].seconds_left == 0.0
        assert all(p.iterations == 30 and p.tokens_per_second > 0 for p in mine)
        assert mine[3].info.iteration == 4


def test_a_failing_callback_ends_the_run(small, tmp_path):
    def fail(progress):
        raise ValueError(f"at {progress.iteration}")

    with pytest.raises(ValueError, match="at 1"):
        SCNTM(**QUICK, chains=1).fit(small, out=tmp_path / "run", progress=fail)
    assert citeweave.resume(tmp_path / "run").n_iter_ == 30


def test_interrupted_without_a_folder(small):
    stopper = StopAt(2)
    with pytest.raises(RunInterrupted, match="no folder, so nothing is kept"):
        SCNTM(**QUICK, chains=1).fit(small, progress=stopper, stop=stopper.event)


LINGER = """
import signal, sys, time, citeweave
def linger(progress):  # so that a signal always comes before the end
    time.sleep(0.01 if progress.iteration < 300 else 1)
"""
FIT = f"""{LINGER}
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
corpus, folder = sys.argv[1:3]
model = citeweave.SCNTM(topics=4, iterations=600, seed=5, network_from=100, chains=2, thin=1)
model.fit(corpus, out=folder, checkpoint_iterations=int(sys.argv[3]), progress=linger)
"""
RESUME = f"""{LINGER}
citeweave.resume(sys.argv[2], checkpoint_iterations=int(sys.argv[3]), progress=linger)
"""


def start(code, corpus, folder, every):
    return subprocess.Popen(
        [sys.executable, "-c", code, str(corpus), str(folder), str(every)],
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for_checkpoint(process, folder, newer_than=-1):
    """Wait until chain 0 has a checkpoint beyond an iteration; return that iteration."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        names = sorted(p.name for p in (folder / "chains" / "chain-0").glob("*.npz"))
        if names and int(names[-1][11:19]) > newer_than:
            return int(names[-1][11:19])
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.005)
    raise AssertionError("no checkpoint came")


@pytest.mark.long  # test_kills ends processes at given steps, and sooner
def test_killed_at_random_moments(small, tmp_path):
    small.save(tmp_path / "corpus")
    folder = tmp_path / "run"
    rng = random.Random(7)  # noqa: S311
    process = start(FIT, tmp_path / "corpus", folder, 3)
    reached = -1
    for _ in range(3):
        reached = wait_for_checkpoint(process, folder, reached)
        time.sleep(rng.uniform(0.0, 0.3))
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stderr.close()
        process = start(RESUME, tmp_path / "corpus", folder, 3)
    process.kill()
    process.wait()
    process.stderr.close()
    citeweave.resume(folder)
    model = SCNTM(
        topics=4, iterations=600, seed=5, network_from=100, chains=2, thin=1, exactly=True
    )
    model.fit(small, out=tmp_path / "whole")
    assert_same_bytes(run_contents(tmp_path / "whole"), run_contents(folder))
    assert not list(folder.rglob("*.part"))


def test_ctrl_c_saves(small, tmp_path):
    small.save(tmp_path / "corpus")
    folder = tmp_path / "run"
    process = start(FIT, tmp_path / "corpus", folder, 3)
    wait_for_checkpoint(process, folder)
    process.send_signal(signal.SIGINT)
    error = process.stderr.read()
    process.wait()
    process.stderr.close()
    assert "RunInterrupted: Stopped after iteration" in error
    assert f"continue with: citeweave resume {folder}" in error
    assert RunFolder.open(folder).manifest["status"] == "running"
    stopper = StopAt(1)
    with pytest.raises(RunInterrupted):
        citeweave.resume(folder, progress=stopper, stop=stopper.event)
    saved = max(int(p.name[11:19]) for p in (folder / "chains/chain-0").glob("*.npz"))
    assert saved == stopper.seen[-1].iteration or saved > 1


def test_a_folder_in_use(small, tmp_path):
    folder = tmp_path / "run"
    interrupted_run(small, folder, 5)
    with RunFolder.open(folder).lock(), pytest.raises(RunError, match="Another process"):
        citeweave.resume(folder)


def test_unfinished_runs(small, tmp_path):
    early, late = tmp_path / "early", tmp_path / "late"
    interrupted_run(small, early, 10)
    with pytest.raises(RunError, match=f"unfinished .*: run `citeweave resume {early}`"):
        citeweave.load(early)
    interrupted_run(small, late, 25)
    model = citeweave.load(late)
    assert 25 <= model.n_iter_ < 30
    assert 3 <= model.n_samples_ < 5
    np.testing.assert_allclose(model.doc_topic_.sum(axis=1), 1.0, atol=1e-5)
    assert np.isnan(model.traces_["log_likelihood"][0, model.n_iter_ :]).all()
    assert model.notes_[0].startswith("unfinished: iteration")
    with pytest.raises(RunError, match="is unfinished"):
        model.save(tmp_path / "copy")


def test_resuming_what_is_done(reference, small, people):
    before = files_under(reference)
    assert citeweave.resume(reference).n_iter_ == 30
    assert citeweave.resume(reference, small).n_iter_ == 30
    with pytest.raises(RunError, match="made with another corpus"):
        citeweave.resume(reference, people)
    assert files_under(reference) == before


def test_lost_estimates_are_made_anew(small, tmp_path):
    folder = tmp_path / "run"
    SCNTM(**QUICK, chains=1).fit(small, out=folder)
    before = run_contents(folder)
    (folder / "estimates" / "doc_topic.npy").unlink()
    with pytest.raises(RunError, match="missing or damaged"):
        citeweave.load(folder)
    citeweave.resume(folder)
    assert_same_bytes(before, run_contents(folder))


def test_estimates_cannot_be_made_from_a_state_alone(small, tmp_path):
    folder = SCNTM(**QUICK, chains=1).fit(small).save(tmp_path / "run")
    (folder / "estimates" / "doc_topic.npy").unlink()
    with pytest.raises(RunError, match="no sums of samples"):
        citeweave.resume(folder)


def test_existing_folders_are_refused_before_any_work(small, reference, tmp_path):
    seen = []
    before = files_under(reference)
    with pytest.raises(RunError, match="already contains a run"):
        SCNTM(**QUICK, chains=1).fit(small, out=reference, progress=seen.append)
    (tmp_path / "notes.txt").write_text("mine")
    for overwrite in (False, True):
        with pytest.raises(RunError, match="is not a run, so it will not be overwritten"):
            SCNTM(**QUICK, chains=1).fit(
                small, out=tmp_path, overwrite=overwrite, progress=seen.append
            )
    with pytest.raises(RunError, match="is not a run"):
        SCNTM(**QUICK, chains=1).fit(small, out=tmp_path / "notes.txt", progress=seen.append)
    assert seen == []
    assert files_under(reference) == before
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_overwriting_and_empty_folders(small, tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    place = folder.stat().st_ino
    SCNTM(**QUICK, chains=1).fit(small, out=folder)
    assert folder.stat().st_ino == place  # filled, not replaced: it may be a mounted volume
    assert not [path for path in folder.iterdir() if path.name.startswith(".run")]
    SCNTM(**QUICK | {"topics": 3}, chains=1).fit(small, out=folder, overwrite=True)
    assert citeweave.load(folder).doc_topic_.shape[1] == 3
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_place_that_cannot_be_written(small, tmp_path):
    seen = []
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match=r"cannot be (used|written): (Not a directory|File exists)"):
        SCNTM(**QUICK, chains=1).fit(small, out=tmp_path / "file" / "run", progress=seen.append)
    assert seen == []


@pytest.mark.skipif(
    os.name != "posix" or os.geteuid() == 0, reason="the superuser may write anywhere"
)
def test_no_permission(small, tmp_path):
    (tmp_path / "closed").mkdir(mode=0o500)
    with pytest.raises(RunError, match="cannot be written: Permission denied"):
        SCNTM(**QUICK, chains=1).fit(small, out=tmp_path / "closed" / "run")


def test_folders_that_are_no_runs(small, tmp_path, reference):
    with pytest.raises(RunError, match="There is no run folder"):
        citeweave.load(tmp_path / "nowhere")
    with pytest.raises(RunError, match="no manifest"):
        citeweave.load(tmp_path)
    small.save(tmp_path / "corpus")
    with pytest.raises(RunError, match="has the format 'citeweave-corpus'"):
        citeweave.load(tmp_path / "corpus")
    with pytest.raises(CorpusError, match="has the format 'citeweave-run'"):
        Corpus.load(reference)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"version": 99}, "format version 99, but this release reads version 1"),
        ({"parameters": {}}, "cannot be read"),
        ({"parameters": {"topics": -1}}, "The 'topics' parameter of SCNTM must be"),
        ({"result": {}}, "manifest of .* is damaged"),
        ({"arrays": None}, "'arrays' must be an object. Got None"),
        ({"arrays": {}}, "missing or damaged"),
    ],
)
def test_damaged_manifests(small, tmp_path, changes, text):
    folder = tmp_path / "run"
    SCNTM(**QUICK, chains=1).fit(small, out=folder)
    edit_manifest(folder, **changes)
    with pytest.raises(RunError, match=text):
        citeweave.load(folder)


def test_the_manifest(reference, small):
    manifest = RunFolder.open(reference).manifest
    assert manifest["format"] == "citeweave-run"
    assert manifest["seed"] == 5
    assert manifest["corpus"]["fingerprint"] == small.fingerprint
    assert manifest["corpus"]["counts"]["documents"] == 70
    assert set(manifest["versions"]) == {"citeweave", "python", "numpy", "numba"}
    assert manifest["result"]["iterations"] == 30


def test_a_fresh_seed_is_kept(small, tmp_path):
    parameters = QUICK | {"seed": None}
    model = SCNTM(**parameters, chains=1).fit(small, out=tmp_path / "run")
    assert model.seed is None
    assert citeweave.load(tmp_path / "run").seed_ == model.seed_
    again = SCNTM(**QUICK | {"seed": model.seed_}, chains=1).fit(small)
    np.testing.assert_array_equal(again.doc_topic_, model.doc_topic_)


WITHOUT_POLARS = """
import sys
sys.modules["polars"] = None
import citeweave
model = citeweave.SCNTM(topics=4, iterations=6, seed=5).fit(sys.argv[1], out=sys.argv[2])
back = citeweave.load(sys.argv[2])
assert (back.doc_topic_ == model.doc_topic_).all()
back.save(sys.argv[2] + "-copy")
assert citeweave.resume(sys.argv[2]).n_iter_ == 6
memory = citeweave.Corpus.from_lists(tokens=[["a", "b"], ["b"]], citations=[(0, 1)])
citeweave.SCNTM(topics=2, iterations=4, seed=1).fit(memory, out=sys.argv[2] + "-memory")
citeweave.load(sys.argv[2] + "-memory").corpus_.tokens
"""


def test_arrays_alone_are_enough(small, tmp_path):
    small.save(tmp_path / "corpus")
    folder = tmp_path / "run"
    command = [sys.executable, "-c", WITHOUT_POLARS, str(tmp_path / "corpus"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    # the names went with the run, though nobody could read them there
    assert citeweave.load(folder).groups_.names[0] == small.author_names[0]
    with pytest.raises(CorpusError):
        _ = citeweave.load(f"{folder}-memory").corpus_.vocabulary
