"""`citeweave institutions`, `countries`, `venues`, `funders`, and `authors` of a corpus alone."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner, Result

from citeweave import SCNTM, Corpus
from citeweave.cli.main import app
from reference.drawn import tiny_literature

if TYPE_CHECKING:
    from pathlib import Path

KINDS = ("institutions", "countries", "venues", "funders")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small literature, every third paper of two institutions in two countries."""
    drawn = tiny_literature()
    papers = range(drawn.n_documents)
    places = [["ANU", "University of Singapore"][: 1 + (d % 3 == 0)] for d in papers]
    made = Corpus.from_lists(
        tokens=[drawn.words(d) for d in papers],
        authors=[drawn.authors(d) for d in papers],
        citations=drawn.citations.tolist(),
        metadata={
            "year": [2000 + d % 9 for d in papers],
            "institutions": places,
            "institution_countries": [["AU", "SG"][: len(row)] for row in places],
            "countries": [["AU", "SG"][: len(row)] for row in places],
            "venue": [f"Journal {d % 2}" for d in papers],
            "funders": [["=Fund"] if d % 4 == 0 else None for d in papers],
            "cited_by": [d % 7 for d in papers],
        },
    )
    return made.save(tmp_path_factory.mktemp("contributors") / "corpus")


@pytest.fixture(scope="module")
def run(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("contributors") / "run"
    SCNTM(topics=4, iterations=20, seed=1, chains=1).fit(corpus, out=folder)
    return folder


def call(*words: object, columns: int = 80) -> Result:
    runner = CliRunner(env={"COLUMNS": str(columns), "NO_COLOR": "1", "TERM": "dumb"})
    return runner.invoke(app, [str(word) for word in words])


def shown(result: Result) -> str:
    assert result.exit_code == 0, result.output
    return result.stdout


def refused(result: Result) -> str:
    assert result.exit_code == 2, result.output
    (line,) = result.stderr.splitlines()
    assert line.startswith("citeweave: error: ")
    return line


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("kind", KINDS)
def test_tables_fit_the_terminal(run: Path, corpus: Path, kind: str, columns: int) -> None:
    for source in (run, corpus):
        text = shown(call(kind, source, columns=columns))
        assert max(map(len, text.splitlines())) <= columns
        assert ("influence" in text) == (source is run)
    one = shown(call(kind, run, "--show", "0", columns=columns))
    assert max(map(len, one.splitlines())) <= columns


def test_figures_are_those_of_the_corpus(corpus: Path) -> None:
    rows = json.loads(shown(call("countries", corpus, "--json")))["rows"]
    papers = Corpus.load(corpus).n_documents
    assert [(row["code"], row["papers"]) for row in rows] == [
        ("AU", papers),
        ("SG", -(-papers // 3)),
    ]
    assert rows[1]["joint"] == 1


def test_pairs_that_share_papers(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "pairs.csv"
    call("institutions", corpus, "--network", "--csv", out)
    (row,) = csv.DictReader(io.StringIO(out.read_text(encoding="utf-8")))
    assert (row["source_name"], row["target_name"]) == ("ANU", "University of Singapore")
    assert float(row["weight"]) == -(-Corpus.load(corpus).n_documents // 3)
    assert "ANU" in shown(call("institutions", corpus, "--network"))


def test_csv_is_safe_in_spreadsheets(corpus: Path) -> None:
    (row,) = csv.DictReader(io.StringIO(shown(call("funders", corpus, "--csv", "-"))))
    assert row["name"] == "'=Fund"


def test_one_is_found_by_its_code_or_name(run: Path) -> None:
    assert "Singapore" in shown(call("countries", run, "--show", "SG"))
    assert json.loads(shown(call("institutions", run, "--show", "singap", "--json")))["number"] == 1
    assert "There is no country 'Oz'" in refused(call("countries", run, "--show", "Oz"))


def test_authors_of_a_corpus_alone(corpus: Path) -> None:
    rows = json.loads(shown(call("authors", corpus, "--top", "3", "--json")))["rows"]
    assert len(rows) == 3
    assert "h_index" in rows[0]
    assert "need a run" in refused(call("authors", corpus, "--author", "0"))


def test_bad_input_gets_one_line(
    corpus: Path, run: Path, corpus_folder: Path, tmp_path: Path
) -> None:
    assert "names no institutions" in refused(call("institutions", corpus_folder))
    assert "--show needs the folder of a run" in refused(call("countries", corpus, "--show", "0"))
    assert "--sort must be one of" in refused(call("countries", corpus, "--sort", "size"))
    assert "needs a fitted run" in refused(call("countries", corpus, "--sort", "influence"))
    assert "--top must be at least 1" in refused(call("venues", run, "--top", "0"))
    options = ("--network", "--counting", "half")
    assert "--counting must be one of" in refused(call("countries", corpus, *options))
    refused(call("countries", tmp_path / "nothing"))
