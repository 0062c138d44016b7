"""`citeweave reproduce` says for one more release where it went, and goes there if it can."""

import sys

import pytest
from typer.testing import CliRunner

from citeweave.cli.main import app

RUNNER = CliRunner(env={"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"})


def test_beside_the_package_it_runs_with_a_note(tmp_path):
    result = RUNNER.invoke(
        app, ["reproduce", "datasets", "--quick", "--datasets", "demo", "--out", str(tmp_path)]
    )
    assert result.exit_code == 0, result.output
    assert "note: `citeweave reproduce` is now `python -m reproduction`" in result.stderr
    assert (tmp_path / "datasets.md").exists()


def test_its_help_and_its_errors_are_those_of_the_moved_one():
    shown = RUNNER.invoke(app, ["reproduce", "--help"])
    assert shown.exit_code == 0
    assert "Usage: python -m reproduction" in shown.stdout
    assert RUNNER.invoke(app, ["reproduce", "nothing"]).exit_code == 2


def test_without_it_a_line_says_where_it_is(monkeypatch: pytest.MonkeyPatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "reproduction"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "path", [])  # where nothing lies beside the package
    result = RUNNER.invoke(app, ["reproduce", "all", "--quick"])
    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    assert line.startswith(
        "citeweave: error: `citeweave reproduce` is now `python -m reproduction`"
    )


def test_other_commands_do_not_show_it():
    assert "reproduce" not in RUNNER.invoke(app, ["--help"]).stdout
