"""Maps of a corpus or a run from the command line."""

import json
from pathlib import Path

import pytest

from citeweave import SCNTM
from citeweave.cli.graph import OF_MODELS, GraphKind
from citeweave.cli.main import app
from citeweave.corpus import Corpus
from citeweave.explore.graphs import MAPS


@pytest.fixture(scope="module")
def run_folder(corpus_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("maps") / "run"
    model = SCNTM(topics=3, iterations=4, network_from=1, burn_in=2, seed=1, chains=1)
    model.fit(Corpus.load(corpus_folder), out=folder)
    return folder


def test_the_command_knows_every_map() -> None:
    assert {kind.value for kind in GraphKind} == {"authors", "flow", "map", *MAPS}
    assert set(OF_MODELS) == {kind for kind in GraphKind if kind not in MAPS} | {"thematic"}


def test_a_corpus_is_drawn_without_a_model(runner, corpus_folder, tmp_path) -> None:
    files = [tmp_path / f"map.{end}" for end in ("svg", "graphml", "net", "csv", "nodes.csv")]
    files.append(tmp_path / "map.html")
    outs = [part for path in files for part in ("--out", str(path))]
    line = ["graph", str(corpus_folder), "--kind", "co-words", "--terms", "text", "--top", "12"]
    result = runner.invoke(app, [*line, *outs, "--counting", "fractional", "--weight", "jaccard"])
    assert result.exit_code == 0, result.output
    assert all(path.stat().st_size > 100 for path in files)
    page = files[-1].read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "12 nodes" in result.output


def test_a_run_is_drawn_by_topic(runner, run_folder) -> None:
    line = ["graph", str(run_folder), "--kind", "co-citation", "--colour", "topic", "--json"]
    result = runner.invoke(app, line)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["name"] == "co-citation"
    assert all("x" in node and "citations" in node for node in found["nodes"])


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("CORPUS --kind thematic", "is a corpus, but --kind thematic needs a fitted model"),
        ("CORPUS --kind x", "'x' is not one of"),
        ("CORPUS --kind coupling --colour topic", "--colour topic needs a fitted model"),
        ("CORPUS --kind coupling --weight x", "--weight must be one of association, raw"),
        ("CORPUS --kind coupling --counting x", "--counting must be one of full, fractional"),
        ("CORPUS --kind coupling --top 0", "--top must be at least 1"),
        ("CORPUS --kind coupling --min-size 999", "with --min-size 999"),
        ("CORPUS --kind coupling --terms text", "--kind coupling does not accept --terms"),
        ("CORPUS --kind main-path --weight raw", "does not accept --weight; it accepts --top"),
        ("CORPUS --kind coupling --out x.xlsx", "ends in one of .svg"),
        ("nothing-here --kind coupling", "no file, corpus folder or data set"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(
    runner, corpus_folder, tmp_path, monkeypatch, line, reason
) -> None:
    monkeypatch.chdir(tmp_path)
    words = [str(corpus_folder) if word == "CORPUS" else word for word in line.split()]
    result = runner.invoke(app, ["graph", *words])
    assert result.exit_code == 2
    said = " ".join(result.stderr.replace("│", " ").split())
    assert reason in said
    assert not list(tmp_path.iterdir())
