"""``device``: the GPU behind `fit` and `resume`, on the kernels' host twin."""

import json
import threading

import numpy as np
import pytest
from host_device import HostDevice
from typer.testing import CliRunner

import citeweave
from citeweave import SCNTM, simulate
from citeweave.cli.main import app
from citeweave.engines.cuda import chain as cuda_chain
from citeweave.errors import MissingDependencyError, ParameterError, RunError
from citeweave.model.chains import find_engine
from citeweave.model.parameters import make_plan
from citeweave.model.runner import RunInterrupted

QUICK = {"topics": 5, "iterations": 12, "network_from": 4, "burn_in": 6, "thin": 1, "seed": 3}
ON_GPU = QUICK | {"device": "cuda", "rounds": 2}
LARGE = {"tokens": 3_000_000, "documents": 1000, "words": 500}


@pytest.fixture(scope="module")
def corpus():
    return simulate(documents=60, vocabulary=50, topics=3, authors=9, citations=120, seed=2).corpus


@pytest.fixture
def no_gpu(monkeypatch):
    def missing():
        raise MissingDependencyError("Sampling on a GPU needs CuPy: pip install 'citeweave[cuda]'")

    monkeypatch.setattr(cuda_chain, "CudaDevice", missing)


@pytest.fixture
def tiny_gpu(monkeypatch):
    class Tiny(HostDevice):
        room = 1000

    monkeypatch.setattr(cuda_chain, "CudaDevice", Tiny)


def plan(**changes):
    return make_plan(SCNTM(**changes).get_params())


def manifest(folder):
    return json.loads((folder / "manifest.json").read_text(encoding="utf-8"))


def stopped(corpus, folder, iteration, **parameters):
    event = threading.Event()

    def look(progress):
        if progress.iteration >= iteration:
            event.set()

    with pytest.raises(RunInterrupted):
        SCNTM(**{"chains": 1} | parameters).fit(corpus, out=folder, progress=look, stop=event)


@pytest.mark.usefixtures("twin")
def test_the_gpu_is_what_the_twin_shows(corpus, tmp_path):
    on_gpu = SCNTM(**ON_GPU, chains=1).fit(corpus, out=tmp_path / "gpu")
    threads = SCNTM(**QUICK, sweep="snapshot", rounds=2, device="cpu", chains=1).fit(corpus)
    assert manifest(tmp_path / "gpu")["plan"]["device"] == "cuda"
    assert on_gpu._result.samples == threads._result.samples == 6
    # means over samples of both, which differ in the draws of concentrations
    assert np.allclose(on_gpu.doc_topic_.sum(axis=1), 1)
    assert np.allclose(on_gpu.topic_word_.sum(axis=1), 1)
    assert np.isfinite(on_gpu.traces_["log_likelihood"]).all()
    assert citeweave.load(tmp_path / "gpu").doc_topic_ == pytest.approx(on_gpu.doc_topic_)


@pytest.mark.usefixtures("twin")
def test_several_chains_take_turns(corpus):
    chosen = plan(**ON_GPU, chains=3, threads=8)
    assert chosen.chains_at_a_time == 1
    model = SCNTM(**ON_GPU, chains=2).fit(corpus)
    again = SCNTM(**ON_GPU, chains=2).fit(corpus)
    assert (model.doc_topic_ == again.doc_topic_).all()
    traces = model.traces_["log_likelihood"]
    assert (traces[0] != traces[1]).any()


@pytest.mark.usefixtures("twin")
@pytest.mark.parametrize(
    ("first", "second", "topics"),
    [("cuda", "cpu", 5), ("cpu", "cuda", 5), ("cuda", "cpu", 300), ("cpu", "cuda", 300)],
)
def test_begun_on_one_and_resumed_on_the_other(corpus, tmp_path, first, second, topics):
    """With many topics tables of proposals go along."""
    options = QUICK | {"sweep": "snapshot", "rounds": 2, "topics": topics}
    stopped(corpus, tmp_path / "run", 7, **options, device=first)
    model = citeweave.resume(tmp_path / "run", device=second)
    assert model.n_iter_ == 12
    assert model._result.samples == 6
    assert np.isfinite(model.traces_["log_likelihood"]).all()
    assert manifest(tmp_path / "run")["notes"] == [f"Started on {first}, continued on {second}."]


def test_begun_on_a_gpu_that_is_gone(corpus, tmp_path, monkeypatch):
    with monkeypatch.context() as there:
        there.setattr(cuda_chain, "CudaDevice", HostDevice)
        stopped(corpus, tmp_path / "run", 8, **ON_GPU)

    def gone():
        raise RunError("CuPy finds no GPU.")

    monkeypatch.setattr(cuda_chain, "CudaDevice", gone)
    with pytest.raises(RunError, match="finds no GPU"):
        citeweave.resume(tmp_path / "run", device="cuda")
    assert citeweave.load(tmp_path / "run").n_iter_ == 8
    assert citeweave.resume(tmp_path / "run").n_iter_ == 12
    assert manifest(tmp_path / "run")["notes"] == ["Started on cuda, continued on cpu."]


@pytest.mark.usefixtures("no_gpu")
def test_without_a_gpu_auto_takes_threads(corpus, tmp_path):
    model = SCNTM(**QUICK, sweep="snapshot", chains=1).fit(corpus, out=tmp_path / "run")
    assert manifest(tmp_path / "run")["plan"]["device"] == "cpu"
    assert not manifest(tmp_path / "run").get("notes")
    assert model._result.plan.threads_per_chain >= 1
    with pytest.raises(MissingDependencyError, match=r"pip install 'citeweave\[cuda\]'"):
        SCNTM(**ON_GPU, chains=1).fit(corpus, out=tmp_path / "no")
    assert not (tmp_path / "no").exists()


@pytest.mark.usefixtures("tiny_gpu")
def test_without_room_auto_takes_threads_and_says_so(corpus, tmp_path):
    with pytest.warns(RuntimeWarning, match="In threads, not on the GPU: .* would fit"):
        SCNTM(**QUICK, sweep="snapshot", chains=1).fit(corpus, out=tmp_path / "run")
    assert "needs" in manifest(tmp_path / "run")["notes"][0]
    with pytest.raises(RunError, match="topics would fit"):
        SCNTM(**ON_GPU, chains=1).fit(corpus)


@pytest.mark.usefixtures("twin")
def test_what_is_chosen():
    def device(**changes):
        return find_engine(plan(**changes).for_corpus(**LARGE)).device

    assert device() == "cuda"
    assert device(device="cpu") == "cpu"
    assert device(sweep="sequential") == "cpu"
    assert device(model="np-atm") == "cpu"
    with pytest.raises(ParameterError, match="words choose their author"):
        device(model="np-atm", device="cuda")
    small = plan().for_corpus(tokens=1000, documents=10, words=50)
    assert (small.sweep, find_engine(small).device) == ("sequential", "cpu")
    asked = plan(device="cuda").for_corpus(tokens=1000, documents=10, words=50)
    assert (asked.sweep, asked.device) == ("snapshot", "cuda")
    with pytest.raises(ParameterError, match="makes snapshot sweeps"):
        plan(device="cuda", sweep="sequential")


def test_checkpoints_are_the_same_files():
    one, other = (plan(**QUICK, sweep="snapshot", device=d) for d in ("cpu", "cuda"))
    assert one.digest() == other.digest()


@pytest.mark.usefixtures("twin")
def test_on_the_command_line(corpus, tmp_path):
    corpus.save(tmp_path / "corpus")
    words = ["fit", str(tmp_path / "corpus"), "--out", str(tmp_path / "run"), "--topics", "5"]
    words += ["--iterations", "8", "--seed", "1", "--device", "cuda"]
    said = CliRunner(env={"COLUMNS": "200"}).invoke(app, words)
    assert said.exit_code == 0, said.output
    assert "on the GPU" in said.output
    assert "kernels' twin" in said.output
    shown = CliRunner(env={"COLUMNS": "200"}).invoke(app, ["info", str(tmp_path / "run")])
    assert "snapshot sweeps on the GPU" in " ".join(shown.output.split())
    resumed = CliRunner().invoke(app, ["resume", str(tmp_path / "run"), "--device", "tpu"])
    assert "already finished" in " ".join(resumed.output.split())
