"""Corpora and runs of earlier releases load, show themselves and resume.

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


def expect_traces(found: dict, wanted: dict, iterations: int) -> None:
    """Compare what the first chain traced up to an iteration; the run must be done."""
    for name, array in wanted.items():
        if name.startswith("traces."):
            first, same = found[name][0, :iterations], array[0, :iterations]
            np.testing.assert_allclose(first, same, rtol=1e-5, err_msg=name)
    assert found["traces.topics"].shape[1] == ITERATIONS


def test_a_stopped_run_over_slots_resumes_with_its_tables(release: Path, tmp_path: Path) -> None:
    """That release made them anew while samples were kept, before iteration 6; now they stay."""
    shutil.copytree(release / "slots-stopped", tmp_path / "run")
    citeweave.resume(tmp_path / "run")
    found, wanted = dict(run_arrays(tmp_path / "run")), dict(run_arrays(release / "slots"))
    assert set(found) - set(wanted) == {"chain-0.proposal.frozen"}
    expect_traces(found, wanted, 6)
    stopped = dict(run_arrays(release / "slots-stopped"))
    for name in ("guess", "listed"):
        place = f"chain-0.proposal.{name}"
        np.testing.assert_array_equal(found[place], stopped[place])


def test_a_stopped_sequential_run_goes_on_by_moves_of_today(release: Path, tmp_path: Path) -> None:
    """That release moved tokens of one word one by one: what it had done stays as it was.

    Its second chain had not begun.
    """
    wanted = dict(run_arrays(release / "sequential"))
    for place in ("once", "again"):
        shutil.copytree(release / "sequential-stopped", tmp_path / place)
        citeweave.resume(tmp_path / place)
    found, again = (dict(run_arrays(tmp_path / place)) for place in ("once", "again"))
    assert set(found) == set(wanted)
    expect_traces(found, wanted, STOPPED_AFTER)
    for name, array in found.items():
        np.testing.assert_array_equal(array, again[name], err_msg=name)


def test_a_stopped_run_of_snapshots_resumes_to_what_it_would_have_been(
    release: Path, tmp_path: Path
) -> None:
    shutil.copytree(release / "snapshot-stopped", tmp_path / "run")
    citeweave.resume(tmp_path / "run")
    found, wanted = dict(run_arrays(tmp_path / "run")), dict(run_arrays(release / "snapshot"))
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
