"""A run with something held out is a run like any other, for every command."""

import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from citeweave.cli.main import app
from citeweave.model import load

SHORT = ["--topics", "4", "--iterations", "6", "--network-from", "2", "--seed", "1", "--quiet"]
SHORT += ["--chains", "1"]


@pytest.mark.parametrize(
    "options",
    [
        ["--hold-out-citations", "0.2"],
        ["--hold-out-words", "0.2"],
        ["--hold-out-citations", "0.2", "--hold-out-words", "0.2"],
        ["--hold-out-documents", "0.2"],
        ["--keep-labels", "2", "--labels", "some"],
    ],
    ids=lambda options: "-".join(options[::2]),
)
def test_every_command_takes_the_run(
    runner: CliRunner, corpus_folder: Path, tmp_path: Path, options: list[str]
) -> None:
    run = str(tmp_path / "run")

    def call(*words: str) -> None:
        done = runner.invoke(app, list(words))
        assert done.exit_code == 0, f"{words}: {done.output} {done.exception}"

    call("fit", str(corpus_folder), *SHORT, *options, "--out", run)
    estimates = load(run).doc_topic_.copy()
    for command in ("info", "evaluate", "topics", "papers", "authors", "citations", "verify"):
        call(command, run)
    call("report", run, "--out", str(tmp_path / "report.html"))
    shutil.rmtree(tmp_path / "run" / "estimates")  # as after a kill while they were written
    call("resume", run, "--quiet")
    assert (load(run).doc_topic_ == estimates).all()
