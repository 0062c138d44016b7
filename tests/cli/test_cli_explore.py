"""The commands that show a fitted model: tables that fit, files, JSON, and how they refuse."""

import csv
import io
import json
from pathlib import Path

import openpyxl
import polars as pl
import pytest
from typer.testing import CliRunner, Result

from citeweave import SCNTM
from citeweave.cli.explore_show import sparkline
from citeweave.cli.main import app
from citeweave.corpus import Corpus
from citeweave.explore import Exploration

COMMANDS = ["topics", "authors", "papers", "citations", "categories"]


@pytest.fixture(scope="module")
def run(corpus_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("explore") / "run"
    SCNTM(topics=4, iterations=20, seed=1, chains=1).fit(corpus_folder, out=folder)
    return folder


@pytest.fixture(scope="module")
def bare_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("explore") / "bare"
    corpus = Corpus.from_lists(tokens=[["a", "b", "c"], ["d", "e"], ["a", "e"]] * 4)
    SCNTM(topics=2, iterations=8, seed=1, chains=1).fit(corpus, out=folder)
    return folder


def shown(result: Result) -> str:
    assert result.exit_code == 0, result.output
    return result.stdout


def refused(result: Result) -> str:
    assert result.exit_code == 2, result.output
    lines = result.stderr.splitlines()
    assert len(lines) == 1, lines
    assert lines[0].startswith("citeweave: error: ")
    return lines[0]


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize(
    "more",
    [
        ["topics"],
        ["topics", "--topic", "0"],
        ["authors", "--nearest", "2"],
        ["authors", "--by-topic"],
        ["authors", "--author", "0"],
        ["papers"],
        ["papers", "--topic", "0"],
        ["papers", "--paper", "5"],
        ["citations"],
        ["citations", "--flow"],
        ["citations", "--flow", "--by-citing-topic"],
        ["categories"],
        ["categories", "--crosstab"],
        ["inspect", "--document", "7"],
    ],
    ids=" ".join,
)
def test_tables_fit_the_terminal(run: Path, more: list[str], columns: int) -> None:
    runner = CliRunner(env={"COLUMNS": str(columns), "NO_COLOR": "1", "TERM": "dumb"})
    text = shown(runner.invoke(app, [more[0], str(run), *more[1:]]))
    assert text.strip()
    assert max(len(line) for line in text.splitlines()) <= columns


@pytest.mark.parametrize("command", COMMANDS)
def test_files_hold_the_whole_table(
    runner: CliRunner, run: Path, tmp_path: Path, command: str
) -> None:
    table, columns, book = (tmp_path / f"t.{form}" for form in ("csv", "parquet", "xlsx"))
    files = ["--csv", str(table), "--parquet", str(columns), "--xlsx", str(book)]
    result = runner.invoke(app, [command, str(run), *files])
    assert shown(result) == ""
    frame = getattr(Exploration(run), command)()
    assert f"{len(frame):,} rows written to" in result.stderr
    assert pl.read_parquet(columns).equals(frame)
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(frame)
    assert list(rows[0]) == frame.columns
    cells = list(openpyxl.load_workbook(book).active.iter_rows(values_only=True))
    assert list(cells[0]) == frame.columns
    assert len(cells) == len(frame) + 1


@pytest.mark.parametrize("command", COMMANDS)
def test_json_is_for_programs(runner: CliRunner, run: Path, command: str) -> None:
    found = json.loads(shown(runner.invoke(app, [command, str(run), "--json", "--top", "2"])))
    frame = getattr(Exploration(run), command)()
    assert found["rows"] == json.loads(json.dumps(frame.head(2).to_dicts()))
    assert found["missing"] == Exploration(run).missing


def test_csv_to_standard_output(runner: CliRunner, run: Path) -> None:
    text = shown(runner.invoke(app, ["papers", str(run), "--csv", "-", "--top", "3"]))
    assert len(list(csv.reader(io.StringIO(text)))) == 4


@pytest.mark.parametrize(
    ("arguments", "key"),
    [
        (["topics", "--topic", "1"], "topic"),
        (["authors", "--author", "2"], "author"),
        (["papers", "--paper", "3"], "paper"),
        (["inspect", "--document", "4"], "document"),
    ],
)
def test_pages_as_json(runner: CliRunner, run: Path, arguments: list[str], key: str) -> None:
    command = [arguments[0], str(run), *arguments[1:], "--json"]
    assert json.loads(shown(runner.invoke(app, command)))[key] == int(arguments[-1])


def test_papers_and_authors_by_name(runner: CliRunner, run: Path) -> None:
    corpus = Exploration(run).corpus
    found = shown(runner.invoke(app, ["papers", str(run), "--paper", corpus.ids[9], "--json"]))
    assert json.loads(found)["id"] == corpus.ids[9]
    name = corpus.author_names[4]
    found = shown(runner.invoke(app, ["authors", str(run), "--author", name, "--json"]))
    assert json.loads(found)["name"] == name


def test_topics_are_renamed_and_stay_so(runner: CliRunner, run: Path) -> None:
    try:
        text = shown(runner.invoke(app, ["topics", str(run), "--rename", "0=Robots, and [more]"]))
        assert "Robots, and [more]" in text
        again = shown(runner.invoke(app, ["papers", str(run), "--topic", "0"]))
        assert "Robots, and [more]" in again
        text = shown(runner.invoke(app, ["topics", str(run), "--rename", "0="]))
        assert "Robots" not in text
    finally:
        (run / "names.json").unlink(missing_ok=True)


def test_what_is_missing_is_said(runner: CliRunner, bare_run: Path) -> None:
    text = shown(runner.invoke(app, ["topics", str(bare_run)]))
    assert "The corpus has no years" in text
    assert "no titles" in shown(runner.invoke(app, ["papers", str(bare_run)]))
    for command, part in (("authors", "authors"), ("citations", "citations")):
        assert f"There are no {part}" in refused(runner.invoke(app, [command, str(bare_run)]))
    assert "no categories" in refused(runner.invoke(app, ["categories", str(bare_run)]))


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["topics", "--topic", "9"], "no topic 9"),
        (["topics", "--top", "0"], "--top must be at least 1"),
        (["topics", "--relevance", "2"], "'relevance' must be from 0 to 1"),
        (["topics", "--rename", "x"], "as 3=Robotics"),
        (["topics", "--rename", "77=x"], "no topic 77"),
        (["topics", "--topic", "0", "--csv", "x.csv"], "use --json"),
        (["papers", "--top", "-3"], "--top must be at least 1"),
        (["papers", "--paper", "900"], "no paper 900"),
        (["papers", "--paper", "qqqq"], "No paper matches 'qqqq'"),
        (["authors", "--author", "qqqq"], "No author matches 'qqqq'"),
        (["inspect", "--document", "0", "--chain", "4"], "no chain 4"),
    ],
)
def test_what_is_refused(runner: CliRunner, run: Path, arguments: list[str], told: str) -> None:
    assert told in refused(runner.invoke(app, [arguments[0], str(run), *arguments[1:]]))


def test_no_run(runner: CliRunner, tmp_path: Path) -> None:
    for command in COMMANDS:
        assert "not a run" in refused(runner.invoke(app, [command, str(tmp_path)]))


def test_a_file_that_cannot_be_written(runner: CliRunner, run: Path, tmp_path: Path) -> None:
    place = tmp_path / "nowhere" / "t.csv"
    assert str(place) in refused(runner.invoke(app, ["topics", str(run), "--csv", str(place)]))


def test_sparklines() -> None:
    assert sparkline([]) == ""
    assert sparkline([0.0, 0.0]) == "▁▁"
    assert sparkline([None, 1.0]) == " █"
    assert len(sparkline(list(range(50)), width=10)) == 10
