"""Corpora and runs of earlier releases load, show themselves and resume to the same results.

``tests/data/release-0.1.tar.gz`` holds what ``tests/data/make_release.py`` wrote with that release:
a corpus; runs with sequential sweeps, with snapshots and over slots, each done without a stop and
stopped in the middle; and a run of a baseline with citations held out.
"""

import shutil
import tarfile
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import citeweave
from citeweave import Corpus
from citeweave.cli.main import app
from citeweave.evaluate import evaluate
from citeweave.explore import Exploration
from fingerprints import run_arrays

ARCHIVES = sorted(Path(__file__).with_name("data").glob("release-*.tar.gz"))
RUNS = ("sequential", "snapshot", "slots")
STOPPED_AFTER, ITERATIONS = 5, 8


@pytest.fixture(scope="module", params=ARCHIVES, ids=lambda path: path.name.removesuffix(".tar.gz"))
def release(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release")
    with tarfile.open(request.param) as archive:
        archive.extractall(folder, filter="data")
    return folder


def test_there_is_one() -> None:
    assert ARCHIVES


def test_a_corpus_loads(release: Path) -> None:
    corpus = Corpus.load(release / "corpus")
    assert corpus.fingerprint == citeweave.load(release / "sequential").corpus_.fingerprint
    assert (corpus.n_documents, corpus.n_citations) == (12, 18)
    assert corpus.ids[3] == "paper-3"
    assert len(corpus.titles[3].split()) == 3


@pytest.mark.parametrize("run", RUNS)
def test_a_finished_run_loads(release: Path, run: str) -> None:
    model = citeweave.load(release / run)
    stored = np.load(release / run / "estimates" / "doc_topic.npy")
    np.testing.assert_array_equal(model.doc_topic_, stored)
    assert model.n_iter_ == ITERATIONS
    assert model.notes_ == ()
    assert np.isfinite(model.traces_["log_likelihood"]).all()
    assert len(Exploration(model).topics(words=1)) > 0


@pytest.mark.parametrize("run", RUNS)
def test_a_stopped_run_loads(release: Path, run: str) -> None:
    assert citeweave.load(release / f"{run}-stopped").n_iter_ == STOPPED_AFTER


def test_a_stopped_run_over_slots_resumes_with_its_tables(release: Path, tmp_path: Path) -> None:
    """That release made them anew while samples were kept, before iteration 6; now they stay."""
    shutil.copytree(release / "slots-stopped", tmp_path / "run")
    citeweave.resume(tmp_path / "run")
    found, wanted = dict(run_arrays(tmp_path / "run")), dict(run_arrays(release / "slots"))
    assert set(found) - set(wanted) == {"chain-0.proposal.frozen"}
    for name, array in wanted.items():
        if name.startswith("traces."):
            np.testing.assert_allclose(found[name][:, :6], array[:, :6], rtol=1e-5, err_msg=name)
    assert found["traces.topics"].shape[1] == ITERATIONS
    stopped = dict(run_arrays(release / "slots-stopped"))
    for name in ("guess", "listed"):
        place = f"chain-0.proposal.{name}"
        np.testing.assert_array_equal(found[place], stopped[place])


@pytest.mark.parametrize("run", ["sequential", "snapshot"])
def test_a_stopped_run_resumes_to_what_it_would_have_been(
    release: Path, run: str, tmp_path: Path
) -> None:
    shutil.copytree(release / f"{run}-stopped", tmp_path / "run")
    citeweave.resume(tmp_path / "run")
    found, wanted = dict(run_arrays(tmp_path / "run")), dict(run_arrays(release / run))
    assert set(found) == set(wanted)
    for name, array in wanted.items():
        assert found[name].dtype == array.dtype, name
        if array.dtype.kind == "f":  # another processor may round the last bit otherwise
            np.testing.assert_allclose(found[name], array, rtol=1e-5, err_msg=name)
        else:
            np.testing.assert_array_equal(found[name], array, err_msg=name)


def test_a_run_of_a_baseline_loads(release: Path) -> None:
    model = citeweave.load(release / "baseline")
    assert type(model).__name__ == "PMTLM"
    found = evaluate(model)
    assert 0 <= found["AUC"] <= 1


@pytest.mark.parametrize(
    "place", ["corpus", *RUNS, *(f"{run}-stopped" for run in RUNS), "baseline"]
)
def test_info_describes_it(release: Path, place: str) -> None:
    result = CliRunner(env={"COLUMNS": "100"}).invoke(app, ["info", str(release / place)])
    assert result.exit_code == 0, result.output
    assert "12" in result.stdout
