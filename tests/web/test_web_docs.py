"""The page on the explorer names what there is."""

import re
from pathlib import Path

from typer.testing import CliRunner

from citeweave.cli.main import app
from citeweave.web.app import entries
from citeweave.web.openapi import open_path

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "explorer.md"


def test_the_page_names_all_pages_and_options() -> None:
    text = PAGE.read_text(encoding="utf-8")
    shown = {re.sub(r"\d+", "{}", path) for path in re.findall(r"`(/[\w/]*)`", text)}
    there = {
        re.sub(r"{\w+}", "{}", open_path(e.path)) for e in entries() if e.page and e.method == "GET"
    }
    assert there - {"/search"} <= shown
    described = CliRunner().invoke(app, ["serve", "--help"], env={"COLUMNS": "200"}).output
    options = set(re.findall(r"`(--[a-z-]+)", text))
    assert options == set(re.findall(r"--[a-z-]+", described)) - {"--help"}


def test_pictures_of_the_page_are_there() -> None:
    names = re.findall(r"\]\((\.\./images/[\w-]+\.png)\)", PAGE.read_text(encoding="utf-8"))
    assert names
    for name in names:
        assert (PAGE.parent / name).stat().st_size < 300_000
