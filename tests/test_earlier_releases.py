"""Corpora and runs of earlier releases load, show themselves, are evaluated and resume.

Each ``tests/data/release-*.tar.gz`` holds what ``tests/data/make_release.py`` wrote with that
release, and is never made again. All have a corpus; runs with sequential sweeps, with snapshots
and over slots, each done without a stop and stopped in the middle; and a run of a baseline with
citations held out. From 0.2 on there are also a corpus of shards, an imported one with its report,
and runs with all authors, categories and levels.

``tests/data/since-*.tar.gz`` holds the versions of formats that are newer than the latest release,
as ``tests/data/make_formats.py`` wrote them when they were introduced; it is never made again
either.
"""

import json
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import citeweave
from citeweave import Corpus
from citeweave.cli.main import app
from citeweave.corpus.storage import SHARDED_VERSION
from citeweave.corpus.storage import VERSION as CORPUS_VERSION
from citeweave.evaluate import evaluate
from citeweave.explore import Exploration
from citeweave.preparing.report import VERSION as IMPORT_VERSION
from citeweave.runs.checkpoint import LISTED_VERSION
from citeweave.runs.folder import RANGES_VERSION
from citeweave.runs.folder import VERSION as RUN_VERSION
from fingerprints import run_arrays

DATA = Path(__file__).with_name("data")
ARCHIVES = sorted(DATA.glob("release-*.tar.gz"))
UNRELEASED = sorted(DATA.glob("since-*.tar.gz"))
NEWEST = {
    "citeweave-corpus": SHARDED_VERSION,
    "citeweave-run": RANGES_VERSION,
    "citeweave-checkpoint": LISTED_VERSION,
    "citeweave-import": IMPORT_VERSION,
}
"""Of each format, the newest version that this release writes."""
RUNS = ("sequential", "snapshot", "slots")
FURTHER = ("authors", "categories", "levels")
PLACES = ("corpus", *RUNS, *(f"{run}-stopped" for run in RUNS), "baseline")
STOPPED_AFTER, ITERATIONS = 5, 8
NEW_RUNS = ("lists", "parts", "lists-in-parts")
FIRST = "release-0.1"
"""Which moved tokens of one word one by one, and renewed tables while samples were kept."""


@pytest.fixture(scope="module", params=ARCHIVES, ids=lambda path: path.name.removesuffix(".tar.gz"))
def release(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("any") / request.param.name.removesuffix(".tar.gz")
    with tarfile.open(request.param) as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.fixture(scope="module", params=UNRELEASED, ids=lambda path: path.name.partition(".")[0])
def unreleased(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unreleased")
    with tarfile.open(request.param) as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.fixture
def first(release: Path) -> Path:
    if release.name != FIRST:
        pytest.skip("later releases resume to what would have been")
    return release


@pytest.fixture
def later(release: Path) -> Path:
    if release.name == FIRST:
        pytest.skip("the first release had none of this")
    return release


def test_this_release_is_stored() -> None:
    """And with it all versions of formats that it writes."""
    minor = citeweave.__version__.rpartition(".")[0]
    stored = {path.name.removesuffix(".tar.gz").removeprefix("release-") for path in ARCHIVES}
    assert {"0.1", minor} <= stored


def test_formats_have_the_versions_of_today(later: Path) -> None:
    """A format that changes gets another version, and an archive of the release that changes it."""
    places = {"corpus": CORPUS_VERSION, "shards": SHARDED_VERSION, "sequential": RUN_VERSION}
    manifests = {name: (later / name / "manifest.json").read_text("utf-8") for name in places}
    found = {name: json.loads(text)["version"] for name, text in manifests.items()}
    assert found == places


def formats_in(archive: tarfile.TarFile) -> Iterator[tuple[str, int]]:
    """Format and version of each manifest, report and checkpoint in an archive."""
    for member in archive:
        name = member.name.rpartition("/")[2]
        stored = archive.extractfile(member)
        assert stored is not None
        if name in {"manifest.json", "import.json"}:
            found = json.load(stored)
        elif name.startswith("checkpoint-") and name.endswith(".npz"):
            with np.load(stored) as arrays:
                found = json.loads(bytes(arrays["header"]))
        else:
            continue
        yield found["format"], found["version"]


def test_every_version_of_every_format_is_stored() -> None:
    """One that is new needs a run in ``tests/data/make_formats.py`` and an archive of it."""
    stored = set()
    for path in (*ARCHIVES, *UNRELEASED):
        with tarfile.open(path) as archive:
            stored |= set(formats_in(archive))
    assert stored == {(name, v) for name, newest in NEWEST.items() for v in range(1, newest + 1)}


def test_a_corpus_loads(release: Path) -> None:
    corpus = Corpus.load(release / "corpus")
    assert corpus.fingerprint == citeweave.load(release / "sequential").corpus_.fingerprint
    assert (corpus.n_documents, corpus.n_citations) == (12, 18)
    assert corpus.ids[3] == "paper-3"
    assert len(corpus.titles[3].split()) == 3


def test_a_corpus_of_shards_is_the_same_corpus(later: Path) -> None:
    assert Corpus.load(later / "shards").fingerprint == Corpus.load(later / "corpus").fingerprint


def test_an_imported_corpus_has_its_report(later: Path) -> None:
    corpus = Corpus.load(later / "imported")
    assert corpus.author_names == ["Ada Byron", "Ben Okri", "M. Curie"]
    assert corpus.n_citations == 3
    assert corpus.import_report is not None
    assert list(corpus.metadata["venue"]) == ["Fields", "Fields", "Skies"]


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


def test_what_people_named_and_joined_is_kept(later: Path) -> None:
    view = Exploration(later / "authors")
    assert "The first one" in view.topics(words=1)["name"].to_list()
    assert len(view.authors()) == len(Corpus.load(later / "corpus").author_names) - 1


def test_all_authors_have_their_shares(later: Path) -> None:
    model = citeweave.load(later / "authors")
    starts = model.corpus_.author_offsets[:-1]
    np.testing.assert_allclose(np.add.reduceat(model.contribution_, starts), 1)


def test_categories_have_their_probabilities(later: Path) -> None:
    model = citeweave.load(later / "categories")
    np.testing.assert_allclose(model.category_probability_.sum(axis=1), 1, rtol=1e-5)


def test_levels_are_shown(later: Path) -> None:
    assert len(Exploration(later / "levels").levels()) > 0


def expect_traces(found: dict, wanted: dict, iterations: int) -> None:
    """Compare what the first chain traced up to an iteration; the run must be done."""
    for name, array in wanted.items():
        if name.startswith("traces."):
            first, same = found[name][0, :iterations], array[0, :iterations]
            np.testing.assert_allclose(first, same, rtol=1e-5, err_msg=name)
    assert found["traces.topics"].shape[1] == ITERATIONS


def test_a_stopped_run_over_slots_resumes_with_its_tables(first: Path, tmp_path: Path) -> None:
    """That release made them anew while samples were kept, before iteration 6; now they stay."""
    shutil.copytree(first / "slots-stopped", tmp_path / "run")
    citeweave.resume(tmp_path / "run")
    found, wanted = dict(run_arrays(tmp_path / "run")), dict(run_arrays(first / "slots"))
    assert set(found) - set(wanted) == {"chain-0.proposal.frozen"}
    expect_traces(found, wanted, 6)
    stopped = dict(run_arrays(first / "slots-stopped"))
    for name in ("guess", "listed"):
        place = f"chain-0.proposal.{name}"
        np.testing.assert_array_equal(found[place], stopped[place])


def test_a_stopped_sequential_run_goes_on_by_moves_of_today(first: Path, tmp_path: Path) -> None:
    """That release moved tokens of one word one by one: what it had done stays as it was.

    Its second chain had not begun.
    """
    wanted = dict(run_arrays(first / "sequential"))
    for place in ("once", "again"):
        shutil.copytree(first / "sequential-stopped", tmp_path / place)
        citeweave.resume(tmp_path / place)
    found, again = (dict(run_arrays(tmp_path / place)) for place in ("once", "again"))
    assert set(found) == set(wanted)
    expect_traces(found, wanted, STOPPED_AFTER)
    for name, array in found.items():
        np.testing.assert_array_equal(array, again[name], err_msg=name)


@pytest.mark.parametrize("run", RUNS)
def test_a_stopped_run_resumes_to_what_it_would_have_been(
    release: Path, run: str, tmp_path: Path
) -> None:
    if release.name == FIRST and run != "snapshot":
        pytest.skip("goes on by other moves, see above")
    shutil.copytree(release / f"{run}-stopped", tmp_path / "run")
    citeweave.resume(tmp_path / "run")
    found, wanted = dict(run_arrays(tmp_path / "run")), dict(run_arrays(release / run))
    assert set(found) == set(wanted)
    for name, array in wanted.items():
        assert found[name].dtype == array.dtype, name
        if array.dtype.kind == "f":  # another processor may round the last bit otherwise
            np.testing.assert_allclose(found[name], array, rtol=1e-4, atol=1e-7, err_msg=name)
        else:
            np.testing.assert_array_equal(found[name], array, err_msg=name)


@pytest.mark.parametrize("run", NEW_RUNS)
def test_a_run_in_an_unreleased_format_loads(unreleased: Path, run: str) -> None:
    model = citeweave.load(unreleased / run)
    assert model.n_iter_ == ITERATIONS
    np.testing.assert_allclose(model.doc_topic_.sum(axis=1), 1, rtol=1e-5)
    assert len(Exploration(model).topics(words=1)) > 0
    for place in (run, f"{run}-stopped"):
        assert "12" in invoke("info", str(unreleased / place))
        invoke("verify", str(unreleased / place))


@pytest.mark.parametrize("run", NEW_RUNS)
def test_a_stopped_run_in_an_unreleased_format_resumes(
    unreleased: Path, run: str, tmp_path: Path
) -> None:
    """What it had done stays as it was; the draws of what follows may still change."""
    shutil.copytree(unreleased / f"{run}-stopped", tmp_path / "run")
    model = citeweave.resume(tmp_path / "run", engine="auto")
    assert model.n_iter_ == ITERATIONS
    wanted = citeweave.load(unreleased / run).traces_["log_likelihood"][0, :STOPPED_AFTER]
    found = model.traces_["log_likelihood"][0]
    np.testing.assert_allclose(found[:STOPPED_AFTER], wanted, rtol=1e-5)
    assert np.isfinite(found).all()


def test_a_run_of_a_baseline_loads(release: Path) -> None:
    model = citeweave.load(release / "baseline")
    assert type(model).__name__ == "PMTLM"
    found = evaluate(model)
    assert 0 <= found["AUC"] <= 1


def invoke(*arguments: str) -> str:
    result = CliRunner(env={"COLUMNS": "100"}).invoke(app, arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.parametrize("place", PLACES)
def test_info_describes_it(release: Path, place: str) -> None:
    assert "12" in invoke("info", str(release / place))


@pytest.mark.parametrize("place", ["shards", *FURTHER])
def test_info_describes_what_came_later(later: Path, place: str) -> None:
    assert "12" in invoke("info", str(later / place))


def test_nothing_in_it_is_damaged(later: Path) -> None:
    for place in (*PLACES, *FURTHER, "shards", "imported"):
        invoke("verify", str(later / place))


def test_a_report_is_written(release: Path, tmp_path: Path) -> None:
    invoke("report", str(release / "sequential"), "--out", str(tmp_path / "report.html"))
    title = Corpus.load(release / "corpus").titles[3]
    assert title in (tmp_path / "report.html").read_text(encoding="utf-8")
