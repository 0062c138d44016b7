"""`citeweave import` of an OpenAlex snapshot: chosen works, a report, and what is refused."""

import pytest
from benchmarks.openalex_snapshot import write_snapshot
from typer.testing import CliRunner

from citeweave.cli.main import app
from citeweave.corpus import Corpus


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory):
    return write_snapshot(tmp_path_factory.mktemp("openalex") / "snapshot", 80, part=40)


def run(*words):
    return CliRunner().invoke(app, list(map(str, words)))


def test_a_snapshot_becomes_a_corpus(snapshot, tmp_path):
    out = tmp_path / "corpus"
    done = run(
        *("import", snapshot, "--out", out, "--where", "type = article, year >= 1990"),
        *("--report", tmp_path / "import.html"),
    )
    assert done.exit_code == 0, done.output
    assert "reading: 2 of 2 parts" in done.output
    assert "outside the conditions (--where)" in done.output
    assert f"citeweave fit {out}" in "".join(done.output.split("\n"))
    assert 0 < Corpus.load(out).n_documents < 80
    assert "<html" in (tmp_path / "import.html").read_text()
    for command in ("info", "verify"):
        assert run(command, out).exit_code == 0
    again = run("import", snapshot, "--out", out)
    assert again.exit_code == 2
    assert "already exists" in again.output


def test_what_is_refused(snapshot, tmp_path):
    for words, text in (
        (["--where", "yaer > 2000"], "Did you mean 'year'?"),
        (["--columns", "title=Titel"], "--columns does not apply to OpenAlex snapshots"),
        ([tmp_path], "must be imported alone"),
    ):
        done = run("import", snapshot, "--out", tmp_path / "corpus", *words)
        assert done.exit_code == 2
        assert text in " ".join(done.output.split())
        assert "Traceback" not in done.output
    (tmp_path / "a.bib").write_text("@book{a, title={Topic models}}")
    done = run("import", tmp_path / "a.bib", "--where", "year > 2000", "--out", tmp_path / "c")
    assert done.exit_code == 2
    assert "--where selects works of an OpenAlex snapshot" in " ".join(done.output.split())
    assert not (tmp_path / "c").exists()
