"""No damage to a run or a corpus goes unnoticed, and none ends in a traceback or a fault."""

import json
import random
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from citeweave import Corpus, load, resume
from citeweave.cli.main import app
from citeweave.errors import CiteweaveError, CorpusError, RunError
from citeweave.evaluate import hold_out
from citeweave.explore import Exploration
from citeweave.model import SCNTM
from citeweave.simulate import simulate

QUICK = {"topics": 3, "iterations": 6, "seed": 5, "network_from": 2, "burn_in": 3, "thin": 1}


@pytest.fixture(scope="module")
def corpus_folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("damage") / "corpus"
    drawn = simulate(documents=30, vocabulary=25, topics=3, authors=6, citations=40, seed=3)
    drawn.corpus.save(folder)
    return folder


@pytest.fixture(scope="module")
def run_folder(corpus_folder) -> Path:
    folder = corpus_folder.parent / "run"
    train, held = hold_out(Corpus.load(corpus_folder), citations=0.2, seed=1)
    SCNTM(**QUICK, chains=1).fit(train, out=folder, held_out=held)
    Exploration(folder).name_topic(0, "First")
    return folder


def contents(run: Path) -> dict[str, object]:
    """All that commands show of a run, read from its files."""
    model = load(run)
    result = model._fitted
    out: dict[str, object] = {}
    for kind in ("estimates", "traces", "held_out"):
        arrays = getattr(result, kind)
        out |= {f"{kind}.{name}": np.asarray(arrays[name]).tobytes() for name in arrays}
    out["samples"] = (result.samples, result.iterations, str(result.combination))
    out["parameters"] = str(result.parameters)
    out["names"] = Exploration(run).names.as_dict()
    return out | corpus_contents(result.corpus)


def corpus_contents(corpus: Corpus) -> dict[str, object]:
    names = ("tokens", "offsets", "title_lengths", "author_ids", "categories", "citations")
    out: dict[str, object] = {name: getattr(corpus, name).tobytes() for name in names}
    out["text"] = (corpus.vocabulary, corpus.author_names, corpus.category_names, corpus.ids)
    out["titles"] = (corpus.titles, dict(corpus.metadata), str(corpus.report))
    return out


def dice(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311 (no secret)


def flip(path: Path, chance: random.Random) -> None:
    damaged = bytearray(path.read_bytes())
    damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
    path.write_bytes(damaged)


def files_of(folder: Path) -> list[str]:
    found = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.stat().st_size)
    return [path.relative_to(folder).as_posix() for path in found]


def try_flips(folder: Path, read, number: int, tmp_path: Path) -> None:
    """Flip one bit at a time, over all files in turn; what is read is right, or refused."""
    expected, chance, names = read(folder), dice(number), files_of(folder)
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    for i in range(number):
        name = names[i % len(names)]
        flip(copy / name, chance)
        try:
            found = read(copy)
        except CiteweaveError as error:
            assert str(error)  # noqa: PT017 (no error is fine too)
        else:
            wrong = [key for key in expected if found[key] != expected[key]]
            assert not wrong, f"after damage to {name} these are silently wrong: {wrong}"
        shutil.copyfile(folder / name, copy / name)


def test_flipped_bits_in_a_run(run_folder, tmp_path) -> None:
    try_flips(run_folder, contents, 60, tmp_path)


def test_flipped_bits_in_a_corpus(corpus_folder, tmp_path) -> None:
    try_flips(corpus_folder, lambda place: corpus_contents(Corpus.load(place)), 40, tmp_path)


@pytest.mark.long
def test_many_flipped_bits(run_folder, corpus_folder, tmp_path) -> None:
    try_flips(run_folder, contents, 400, tmp_path / "run")
    try_flips(
        corpus_folder, lambda place: corpus_contents(Corpus.load(place)), 100, tmp_path / "corpus"
    )


@pytest.mark.parametrize("number", [12, pytest.param(100, marks=pytest.mark.long)])
def test_flipped_bits_before_a_resume(run_folder, tmp_path, number) -> None:
    expected, chance = contents(run_folder), dice(number)
    names = [name for name in files_of(run_folder) if name.startswith(("corpus/", "chains/"))]
    names.append("manifest.json")
    for i in range(number):
        copy = tmp_path / f"copy-{i}"
        shutil.copytree(run_folder, copy)
        shutil.rmtree(copy / "estimates")
        name = names[i % len(names)]
        flip(copy / name, chance)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # of a checkpoint that is refused
                resume(copy)
            found = contents(copy)
        except CiteweaveError as error:
            assert str(error)  # noqa: PT017 (no error is fine too)
        else:
            wrong = [key for key in expected if found[key] != expected[key]]
            wrong = [key for key in wrong if not key.endswith("seconds")]
            assert not wrong, f"after damage to {name} these are silently wrong: {wrong}"


def test_damaged_estimates_are_made_anew(run_folder, tmp_path) -> None:
    expected = contents(run_folder)
    copy = tmp_path / "run"
    shutil.copytree(run_folder, copy)
    flip(copy / "estimates" / "doc_topic.npy", dice(1))
    with pytest.raises(RunError, match="citeweave resume"):
        contents(copy)
    resume(copy)
    found = contents(copy)
    assert {k for k in expected if found[k] != expected[k]} <= {"traces.seconds"}


def edit(folder: Path, *, seal: bool = False, **changes) -> None:
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text()) | changes
    if not seal:
        del manifest["checksum"]
    path.write_text(json.dumps(manifest))


def test_an_edited_manifest_is_noticed(run_folder, corpus_folder, tmp_path) -> None:
    shutil.copytree(run_folder, tmp_path / "run")
    edit(tmp_path / "run", seal=True, seed=99)
    with pytest.raises(RunError, match=r'remove its "checksum" entry'):
        load(tmp_path / "run")
    shutil.copytree(corpus_folder, tmp_path / "corpus")
    edit(tmp_path / "corpus", seal=True, fingerprint="0" * 64)
    with pytest.raises(CorpusError, match=r'remove its "checksum" entry'):
        Corpus.load(tmp_path / "corpus")


ODD = [None, 3, -1, 1.5, "x", [], {}, [1], {"a": 1}, True]


@pytest.mark.parametrize(
    "name", ["status", "parameters", "seed", "corpus", "plan", "notes", "result", "arrays", "files"]
)
def test_odd_entries_of_a_manifest_give_clear_errors(run_folder, tmp_path, name) -> None:
    shutil.copytree(run_folder, tmp_path / "run")
    whole = (tmp_path / "run" / "manifest.json").read_bytes()
    for value in ODD:
        edit(tmp_path / "run", **{name: value})
        try:
            contents(tmp_path / "run")
        except CiteweaveError as error:
            assert str(error)  # noqa: PT017 (no error is fine too)
        (tmp_path / "run" / "manifest.json").write_bytes(whole)


def test_runs_without_checksums_are_read_as_before(run_folder, tmp_path) -> None:
    expected = contents(run_folder)
    shutil.copytree(run_folder, tmp_path / "run")
    for folder in (tmp_path / "run", tmp_path / "run" / "corpus"):
        manifest = json.loads((folder / "manifest.json").read_text())
        del manifest["checksum"], manifest["files"]
        (folder / "manifest.json").write_text(json.dumps(manifest))
    assert contents(tmp_path / "run") == expected
    shutil.rmtree(tmp_path / "run" / "estimates")
    tokens = tmp_path / "run" / "corpus" / "arrays" / "tokens.npy"
    array = np.load(tokens)
    array[0] = (array[0] + 1) % 25
    np.save(tokens, array)
    with pytest.raises(RunError, match="do not match those that were saved"):
        resume(tmp_path / "run")


def test_verify_names_what_is_damaged(run_folder, corpus_folder, tmp_path) -> None:
    runner = CliRunner()
    for folder in (run_folder, corpus_folder):
        done = runner.invoke(app, ["verify", str(folder)])
        assert done.exit_code == 0, done.output
        assert "all intact" in done.output
    copy = tmp_path / "run"
    shutil.copytree(run_folder, copy)
    for name in ("estimates/doc_topic.npy", "corpus/documents.parquet", "names.json"):
        flip(copy / name, dice(2))
        done = runner.invoke(app, ["verify", str(copy)])
        assert done.exit_code == 2
        assert str(copy / name) in done.stderr
        assert done.stderr.count("\n") == 1
        shutil.copyfile(run_folder / name, copy / name)
    (copy / "traces" / "rate.npy").unlink()
    assert "rate.npy': it is missing" in runner.invoke(app, ["verify", str(copy)]).stderr
    assert "not a run" in runner.invoke(app, ["verify", str(tmp_path)]).stderr
