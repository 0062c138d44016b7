"""The command `report`: where the page is, how large, and what could not be shown."""

import json
import webbrowser

import pytest
from typer.testing import CliRunner

from citeweave.cli.main import app


def call(*words: object):
    return CliRunner().invoke(app, ["report", *map(str, words)])


def test_it_says_where_the_page_is_and_how_large(run, tmp_path) -> None:
    page = tmp_path / "page.html"
    done = call(run, "--out", page, "--title", "Soils & <skies>")
    assert done.exit_code == 0
    text = page.read_text(encoding="utf-8")
    assert "<title>Soils &amp; &lt;skies&gt;</title>" in text
    assert str(page) in done.output
    assert f"{len(text.encode()) / 1000:.0f} kB" in done.output


def test_json_tells_machines_the_same(run, tmp_path) -> None:
    page = tmp_path / "page.html"
    done = call(run, "--out", page, "--json", "--no-tables")
    facts = json.loads(done.output)
    assert facts["bytes"] == page.stat().st_size
    assert facts["missing"] == {}
    assert facts["level"] in {"good", "fair", "poor"}


def test_open_shows_it_in_the_browser(run, tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = []
    monkeypatch.setattr(webbrowser, "open", shown.append)
    call(run, "--out", tmp_path / "page.html", "--open")
    assert shown == [(tmp_path / "page.html").resolve().as_uri()]


def test_what_is_no_run_is_refused(tmp_path) -> None:
    done = call(tmp_path, "--out", tmp_path / "page.html")
    assert done.exit_code == 2
    assert not (tmp_path / "page.html").exists()


def test_a_wrong_number_of_papers_is_refused(run, tmp_path) -> None:
    done = call(run, "--out", tmp_path / "page.html", "--max-papers", "-3")
    assert done.exit_code == 2
