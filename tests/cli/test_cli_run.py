"""The commands `run` and `scan`, and ``--topics auto``: one step, taken up again, refused."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from citeweave.cli import run as run_command
from citeweave.cli.main import app
from citeweave.experiments import Scan, ScanRow

SHORT = ["--iterations", "30", "--chains", "1"]
EXPORT = """\
title,authors,abstract,year
Topic models of text,"Blei, David",topics of documents and words are sampled,2003
Sampling topic models,"Griffiths, Tom",documents are sampled by collapsed sampling,2004
Citation networks of papers,"Lim, Kar",citations between papers form networks,2014
Communities in networks,"Newman, Mark",networks of papers have communities and citations,2006
"""


@pytest.fixture
def export(tmp_path: Path) -> Path:
    file = tmp_path / "papers.csv"
    rows = EXPORT.splitlines()
    again = [row.replace(",", f" {n},", 1) for n in range(8) for row in rows[1:]]
    file.write_text("\n".join([rows[0], *again]), encoding="utf-8")
    return file


def test_from_files_to_a_report_and_again(runner: CliRunner, export: Path, tmp_path: Path) -> None:
    out = tmp_path / "all"
    command = ["run", str(export), "--topics", "3", *SHORT, "--out", str(out)]
    first = runner.invoke(app, command)
    assert first.exit_code == 0, first.output
    for name in ("corpus", "run", "evaluation.json", "report.html", "import.html", "job.json"):
        assert (out / name).exists(), name
    assert f"citeweave serve {out / 'run'}" in first.stdout
    assert "4 of 4: report" in first.stdout
    written = (out / "report.html").stat().st_mtime_ns, (out / "run" / "manifest.json").read_bytes()
    again = runner.invoke(app, command)
    assert again.exit_code == 0, again.output
    assert "is already finished" in " ".join(again.stdout.split())
    assert written == (
        (out / "report.html").stat().st_mtime_ns,
        (out / "run" / "manifest.json").read_bytes(),
    )


@pytest.mark.parametrize("step", ["_import", "_fit", "_evaluate", "_write_report"])
def test_stopped_at_any_step_the_same_command_goes_on(
    runner: CliRunner,
    export: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    step: str,
) -> None:
    out = tmp_path / "all"
    command = ["run", str(export), "--topics", "3", *SHORT, "--out", str(out)]
    real = getattr(run_command, step)

    def stopped(*given: object) -> None:
        real(*given)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(run_command, step, stopped)
        assert runner.invoke(app, command).exit_code == 130
    result = runner.invoke(app, command)
    assert result.exit_code == 0, result.output
    assert json.loads((out / "evaluation.json").read_text())
    assert (out / "report.html").is_file()


def test_other_files_or_parameters_are_refused(
    runner: CliRunner, export: Path, tmp_path: Path
) -> None:
    out = tmp_path / "all"
    command = ["run", str(export), "--topics", "3", *SHORT, "--out", str(out)]
    assert runner.invoke(app, command).exit_code == 0
    other = runner.invoke(app, [*command, "--topics", "4"])
    assert other.exit_code == 2
    assert "was started with --topics 3" in other.stderr
    assert runner.invoke(app, [*command, "--threads", "1"]).exit_code == 0
    export.write_text(export.read_text() + "\nMore,Somebody,of the same,2020\n")
    changed = runner.invoke(app, command)
    assert changed.exit_code == 2
    assert "made from other files, or the files have changed" in changed.stderr


def test_the_name_of_what_is_read_is_no_folder_for_results(
    runner: CliRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refused = runner.invoke(app, ["run", "demo", *SHORT, "--out", "demo"])
    assert refused.exit_code == 2
    assert "Choose another folder with --out" in " ".join(refused.output.split())
    assert not (tmp_path / "demo").exists()


def test_a_folder_of_something_else_is_left_alone(
    runner: CliRunner, export: Path, tmp_path: Path
) -> None:
    out = tmp_path / "mine"
    out.mkdir()
    (out / "letter.txt").write_text("Dear Sir")
    result = runner.invoke(app, ["run", str(export), "--out", str(out)])
    assert result.exit_code == 2
    assert "was not created by this command" in result.stderr
    assert [path.name for path in out.iterdir()] == ["letter.txt"]


@pytest.mark.parametrize("wrong", [["--topics", "many"], ["--minutes", "0"], ["--chains", "0"]])
def test_wrong_parameters_are_told_before_anything_is_made(
    runner: CliRunner, export: Path, tmp_path: Path, wrong: list[str]
) -> None:
    out = tmp_path / "all"
    result = runner.invoke(app, ["run", str(export), "--out", str(out), *wrong])
    assert result.exit_code == 2
    assert wrong[0].removeprefix("--") in result.stderr
    assert not out.exists()


def test_scan_prints_a_table_and_a_recommendation(
    runner: CliRunner, corpus_folder: Path, tmp_path: Path
) -> None:
    out, plot = tmp_path / "scan", tmp_path / "scan.svg"
    command = ["scan", str(corpus_folder), "--topics", "2,4", *SHORT, "--out", str(out)]
    result = runner.invoke(app, [*command, "--plot", str(plot)])
    assert result.exit_code == 0, result.output
    found = json.loads((out / "scan.json").read_text())
    assert f"{found['recommended']} topics: {found['reason']}" in " ".join(result.stdout.split())
    assert plot.read_text().startswith("<?xml")
    as_json = runner.invoke(app, [*command, "--json"])
    assert json.loads(as_json.stdout) == found


@pytest.mark.parametrize("topics", ["ten", "10,,20", "0,10", "7"])
def test_numbers_that_are_none_are_refused(
    runner: CliRunner, corpus_folder: Path, tmp_path: Path, topics: str
) -> None:
    command = ["scan", str(corpus_folder), "--topics", topics, "--out", str(tmp_path / "scan")]
    result = runner.invoke(app, command)
    assert result.exit_code == 2
    assert "--topics" in result.stderr


def test_auto_fits_with_the_number_recommended(
    runner: CliRunner, corpus_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = ScanRow(5, 5, 100.0, 0.0, 0.0, 0.9, 0.1, 0.95, True, 400, 9.0)
    asked = []

    def scanned(*args: Any, **given: object) -> Scan:
        asked.append((args[2].name, given["seed"]))
        return Scan((row,), 5, "as it is")

    monkeypatch.setattr("citeweave.cli.scan.scan_topics", scanned)
    out = tmp_path / "run"
    command = ["fit", str(corpus_folder), "--topics", "auto", *SHORT, "--seed", "3"]
    result = runner.invoke(app, [*command, "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert asked == [("run-scan", 3)]
    assert json.loads((out / "manifest.json").read_text())["parameters"]["topics"] == 5
