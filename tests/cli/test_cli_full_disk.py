"""A disk that is full: one clear line, and no file that is cut off."""

import resource
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from citeweave.cli.main import app

ROOM = 600  # bytes a file may have


@pytest.fixture(scope="module")
def run_folder(corpus_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("full-disk") / "RUN"
    short = ["--topics", "4", "--iterations", "6", "--network-from", "2", "--seed", "1"]
    done = CliRunner().invoke(app, ["fit", str(corpus_folder), *short, "--out", str(out)])
    assert done.exit_code == 0, done.output
    return out


@contextmanager
def full_disk() -> Iterator[None]:
    """Let no file grow beyond a few hundred bytes, which fails as a full disk does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def run_on_full_disk(runner: CliRunner, *command: object) -> Result:
    with full_disk():
        done = runner.invoke(app, [str(word) for word in command])
    assert done.exit_code == 2, (done.output, done.exception)
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith("citeweave: error: ")
    return done


def export(path: Path) -> Path:
    rows = [
        f'p{i},"On the citation network of journals, part {i}","Topics {i} of a corpus of papers"'
        for i in range(80)
    ]
    path.write_text("\n".join(["id,title,abstract", *rows]))
    return path


@pytest.mark.parametrize(
    ("command", "file"),
    [
        (("papers", "--csv"), "papers.csv"),
        (("papers", "--parquet"), "papers.parquet"),
        (("graph", "--out"), "authors.svg"),
        (("graph", "--out"), "authors.graphml"),
        (("plot", "--kind", "convergence", "--out"), "convergence.png"),
        (("report", "--out"), "report.html"),
    ],
)
def test_no_file_is_cut_off(runner, run_folder, tmp_path, command, file) -> None:
    out = tmp_path / "out" / file
    out.parent.mkdir()
    for before in (None, b"what was there"):
        if before is not None:
            out.write_bytes(before)
        done = run_on_full_disk(runner, command[0], run_folder, *command[1:], out)
        assert str(out) in done.stderr
        assert list(out.parent.iterdir()) == ([] if before is None else [out])
        assert before is None or out.read_bytes() == before


def test_an_import_leaves_nothing(runner, tmp_path) -> None:
    source = export(tmp_path / "papers.csv")
    done = run_on_full_disk(runner, "import", source, "--out", tmp_path / "corpus", "--quiet")
    assert "cannot be saved" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["papers.csv"]


def test_a_full_temporary_folder_is_no_damaged_archive(runner, tmp_path) -> None:
    source = export(tmp_path / "papers.csv")
    with zipfile.ZipFile(tmp_path / "papers.zip", "w") as archive:
        archive.write(source, "papers.csv")
    done = run_on_full_disk(
        runner, "import", tmp_path / "papers.zip", "--out", tmp_path / "corpus", "--quiet"
    )
    assert "not enough space to unpack" in done.stderr
    assert "TMPDIR" in done.stderr
    assert not (tmp_path / "corpus").exists()


def test_links_are_written_through_and_devices_refused(runner, run_folder, tmp_path) -> None:
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    done = runner.invoke(app, ["papers", str(run_folder), "--csv", str(tmp_path / "link.csv")])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text().startswith("paper")
    refused = runner.invoke(app, ["report", str(run_folder), "--out", "/dev/full"])
    assert refused.exit_code == 2
    assert "is not a regular file and will not be replaced" in refused.stderr
    assert Path("/dev/full").is_char_device()
