"""The page on maps names all there is."""

import re
from pathlib import Path

from typer.testing import CliRunner

from citeweave.cli.graph import MapOptions
from citeweave.cli.main import app
from citeweave.explore.graphs import MAPS
from citeweave.networks import COUNTINGS, QUADRANTS, WEIGHTS

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "maps.md"


def test_the_page_names_kinds_options_and_words() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for kind in MAPS:
        assert f"--kind {kind} " in text
    for option in MapOptions.__dataclass_fields__:
        assert f"--{option.replace('_', '-')}" in text
    for word in (*COUNTINGS, *WEIGHTS, *QUADRANTS):
        assert word in text
    for image in re.findall(r"\]\((\.\./images/[\w-]+\.png)\)", text):
        assert (PAGE.parent / image).stat().st_size < 300_000


def test_options_on_the_page_are_those_of_the_command() -> None:
    described = CliRunner().invoke(app, ["graph", "--help"], env={"COLUMNS": "200"}).output
    there = set(re.findall(r"--[a-z-]+", described))
    assert set(re.findall(r"`?(--[a-z][a-z-]+)", PAGE.read_text(encoding="utf-8"))) <= there
