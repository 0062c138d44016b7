"""`citeweave fit --level`, `levels`, and `venues` of a model with a level of venues."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from citeweave.cli.main import app
from reference.parted import QUICK
from web.report.literature import literature

OPTIONS = [
    f"--{name.replace('_', '-')}={value}" for name, value in QUICK.items() if name != "exactly"
]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("levels")
    corpus = literature().save(folder / "corpus")
    command = ["fit", str(corpus), *OPTIONS, "--exactly", "--level", "venue"]
    found = CliRunner().invoke(app, [*command, "--out", str(folder / "run")])
    assert found.exit_code == 0, found.output
    assert "Level 'venue': 3 values, one for each paper." in " ".join(found.output.split())
    return folder / "run"


def test_levels_are_listed(runner: CliRunner, run: Path) -> None:
    found = runner.invoke(app, ["levels", str(run)])
    assert found.exit_code == 0, found.output
    assert "Topics by venue (3; 90 % intervals)" in found.output
    assert "Journal of <b>soil</b>" in found.output
    rows = json.loads(runner.invoke(app, ["levels", str(run), "--json"]).output)["rows"]
    assert [row["papers"] for row in rows] == [20, 20, 20]
    assert rows[0]["lows"][0] < rows[0]["highs"][0]


def test_venues_are_by_the_model(runner: CliRunner, run: Path) -> None:
    found = runner.invoke(app, ["venues", str(run), "--show", "soil"])
    assert found.exit_code == 0, found.output
    assert "(estimated by the model)" in " ".join(found.output.split())
    info = runner.invoke(app, ["info", str(run)])
    assert "Level 'venue': 3 values, one for each paper." in " ".join(info.output.split())


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["levels", "RUN", "--level", "period"], "has no level 'period'"),
        (["fit", "CORPUS", "--level", "language"], "have no language: its metadata column"),
        (["fit", "CORPUS", "--period-years", "5"], "--period-years must be left out for a model"),
    ],
)
def test_what_is_not_there_is_said(
    runner: CliRunner, run: Path, command: list[str], message: str
) -> None:
    places = {"RUN": str(run), "CORPUS": str(run.parent / "corpus")}
    words = [places.get(word, word) for word in command]
    if words[0] == "fit":
        words += [*OPTIONS, "--out", str(run.parent / "other")]
    found = runner.invoke(app, words)
    assert found.exit_code == 2
    assert message in " ".join(found.output.split())
