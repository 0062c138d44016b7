"""Workers on Ray: the same bytes as in threads, and after workers were lost."""

import os
import random
import shutil
import signal
import threading
import time

import pytest
from part_tools import differences, draw_corpus, request_for, run

import citeweave
from citeweave import SCNTM
from citeweave.engines.cluster import ray_team
from citeweave.engines.cluster.chain import RayChain
from citeweave.engines.core.data import ClusterWorkers
from citeweave.engines.registry import ENGINES
from citeweave.engines.slots.snapshot import SparseSnapshotChain
from citeweave.engines.threads.chain import SnapshotChain
from citeweave.errors import MissingDependencyError, ParameterError, RunError
from citeweave.runs.checkpoint import Checkpoint, Identity, write_checkpoint
from reference.patience import PATIENCE

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")


@pytest.fixture(scope="module")
def wanted():
    return request_for(draw_corpus())


@pytest.fixture(scope="module")
def expected(wanted):
    return run(SnapshotChain.open(wanted))


@pytest.fixture(scope="module")
def wanted_many():
    return request_for(draw_corpus(), topics=300)


@pytest.fixture(scope="module")
def expected_many(wanted_many):
    return run(SparseSnapshotChain.open(wanted_many), frozen=3)


def on_ray(wanted, workers, threads=1):
    return RayChain.open(
        wanted._replace(threads=threads * workers, workers=ClusterWorkers(workers))
    )


@pytest.mark.usefixtures("ray_started")
@pytest.mark.parametrize("workers", [1, 2, 3])
def test_workers_give_the_bytes_of_threads(wanted, expected, workers):
    assert differences(run(on_ray(wanted, workers)), expected) == []


@pytest.mark.usefixtures("ray_started")
def test_workers_sweep_over_slots_as_threads_do(wanted_many, expected_many):
    assert differences(run(on_ray(wanted_many, 2), frozen=3), expected_many) == []


def test_workers_have_the_priority_of_the_driver(ray_started):
    worker = ray_started.remote(lambda: os.nice(0))
    assert ray_started.get(worker.remote()) == os.nice(0)


class Killer(threading.Thread):
    """Ends workers of a chain at random moments, as the system would."""

    def __init__(self, chain, kills, seed=1, pause=1.0):
        super().__init__(daemon=True)
        self.chain, self.left, self.pause = chain, kills, pause
        self.killed = 0
        self.random = random.Random(seed)  # noqa: S311 (moments, not secrets)
        self.over = threading.Event()

    def run(self):
        ray = ray_team.import_ray()
        while self.killed < self.left and not self.over.wait(self.random.random() * self.pause):
            team = self.chain._team
            if team is None:
                continue
            actor = self.random.choice(team.actors)
            try:
                pid, _ = ray.get(actor.identify.remote(), timeout=5)
                os.kill(pid, signal.SIGKILL)
            except (ray.exceptions.RayError, ProcessLookupError):
                continue
            self.killed += 1
            time.sleep(0.1)


def run_with_kills(chain, kills, seed=1, steps=6, folder=None, frozen=None):
    """Make steps while workers are killed; with a folder, every seventh leaves a checkpoint."""
    killer = Killer(chain, kills, seed)
    # once all is compiled and under way
    first = chain.step

    def step():
        info = first()
        if info.iteration == 1 and not killer.is_alive():
            killer.start()
        if folder is not None and info.iteration % 7 == 0:
            stored = Checkpoint(info.iteration, {}, None, {}, chain.extra_state())
            path = write_checkpoint(folder, Identity("x", "x", 0), stored, chain.write_parts)
            chain.go_back_to(path)
        if info.iteration == steps and killer.is_alive():
            killer.join(timeout=PATIENCE)
        return info

    chain.step = step
    found = run(chain, steps, frozen=frozen)
    killer.over.set()
    return found, killer.killed


@pytest.mark.usefixtures("ray_started")
def test_a_worker_that_is_killed_is_started_again(wanted, expected):
    chain = on_ray(wanted, 2)
    found, killed = run_with_kills(chain, 2)
    assert killed == 2
    assert differences(found, expected) == []


@pytest.mark.usefixtures("ray_started")
def test_a_worker_of_many_topics_that_is_killed_is_started_again(wanted_many, expected_many):
    """Tables of proposals, and that they are frozen, come back with the worker."""
    found, killed = run_with_kills(on_ray(wanted_many, 2), 2, frozen=3)
    assert killed == 2
    assert differences(found, expected_many) == []


@pytest.mark.usefixtures("ray_started")
@pytest.mark.long
@pytest.mark.parametrize("stored", [False, True], ids=["from the start", "from checkpoints"])
def test_thirty_kills_leave_no_trace(tmp_path, stored):
    wanted = request_for(draw_corpus(documents=200, citations=600, authors=40))
    steps = 60
    expected = run(SnapshotChain.open(wanted), steps)
    chain = on_ray(wanted, 3)
    (tmp_path / "chains").mkdir()
    folder = tmp_path / "chains" / "chain-0" if stored else None
    found, killed = run_with_kills(chain, 30, steps=steps, folder=folder)
    assert killed == 30
    assert chain.recovered > 0
    assert differences(found, expected) == []


@pytest.mark.usefixtures("ray_started")
@pytest.mark.parametrize("topics", [4, 260])
def test_a_fit_is_that_of_threads_and_goes_on_with_others(tmp_path, topics, monkeypatch):
    """Stopped while tables of proposals adapt, it goes on with more workers, and in threads."""
    started = []
    team = RayChain._new_team
    monkeypatch.setitem(ENGINES, "ray", RayChain)
    monkeypatch.setattr(
        RayChain, "_new_team", lambda self, *args: started.append(self) or team(self, *args)
    )
    corpus = draw_corpus()
    options = {"topics": topics, "iterations": 8, "burn_in": 5, "network_from": 2, "burst_from": 3}
    options |= {"seed": 1, "chains": 1, "exactly": True, "rounds": 2, "thin": 1}
    expected = SCNTM(**options, sweep="snapshot", device="cpu").fit(corpus)
    model = SCNTM(**options, engine="ray", workers=2, threads=2)
    event = threading.Event()

    def look(progress):
        if progress.iteration >= 4:
            event.set()

    with pytest.raises(KeyboardInterrupt):
        model.fit(corpus, out=tmp_path / "run", progress=look, stop=event)
    shutil.copytree(tmp_path / "run", tmp_path / "copy")
    for name, other in (("run", {"workers": 3}), ("copy", {"engine": "auto", "device": "cpu"})):
        found = citeweave.resume(tmp_path / name, **other)
        assert found.doc_topic_.tobytes() == expected.doc_topic_.tobytes()
        assert found.topic_word_.tobytes() == expected.topic_word_.tobytes()
        assert found.citing_topic_.tobytes() == expected.citing_topic_.tobytes()
    assert len(started) == 2  # the fit, and its continuation


@pytest.mark.usefixtures("ray_started")
def test_other_versions_are_refused_in_one_line(wanted, monkeypatch):
    versions = ray_team.describe_versions() | {"numpy": "0.1"}
    monkeypatch.setattr(ray_team, "describe_versions", lambda _: versions)
    chain = on_ray(wanted, 1)
    chain.start()
    with pytest.raises(
        RunError, match=r"has numpy .* where the driver has 0\.1\. Install the same"
    ):
        chain.step()
    chain.close()


@pytest.mark.usefixtures("ray_started")
def test_too_few_cores_are_told(wanted):
    with pytest.raises(RunError, match="cores where the workers need 9999"):
        RayChain.open(wanted._replace(threads=1, workers=ClusterWorkers(9999, "auto")))


@pytest.mark.usefixtures("ray_started")
def test_a_cluster_without_gpus_says_what_to_do(wanted):
    with pytest.raises(RunError, match=r"no GPU, and device 'cuda' .*--num-gpus.* device 'cpu'"):
        RayChain.open(wanted._replace(workers=ClusterWorkers(2, device="cuda")))
    assert RayChain.open(wanted._replace(workers=ClusterWorkers(2, device="auto"))).device == "cpu"


def test_an_address_without_ray_is_told_at_once(wanted):
    pytest.importorskip("ray", reason="Ray is not installed (pip install 'citeweave[cluster]')")
    ray = ray_team.import_ray()
    if ray.is_initialized():
        ray.shutdown()
    with pytest.raises(
        RunError, match=r"cannot be reached at address '127\.0\.0\.1:9' .*ray start"
    ):
        RayChain.open(wanted._replace(workers=ClusterWorkers(1, "127.0.0.1:9")))


def test_without_ray_the_line_to_install_it_is_given(monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(ray_team.importlib, "import_module", missing)
    with pytest.raises(MissingDependencyError, match=r"pip install 'citeweave\[cluster\]'"):
        ray_team.import_ray()


def test_models_that_cannot_be_divided_are_refused():
    corpus = draw_corpus()
    with pytest.raises(ParameterError, match="words choose their author"):
        SCNTM(model="np-atm", engine="ray", iterations=5).fit(corpus)
    with pytest.raises(ParameterError, match="All authors of a paper count"):
        SCNTM(authors="all", engine="ray", iterations=5).fit(corpus)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"workers": 2}, "unless .*engine.* is 'ray'"),
        ({"engine": "ray", "sweep": "sequential"}, "'auto' or 'snapshot'"),
    ],
)
def test_options_that_do_not_fit_are_told(options, told):
    with pytest.raises(ParameterError, match=told):
        SCNTM(**options).fit(draw_corpus())
