"""docs/how-to/people.md says what is true: its columns and commands exist, its code runs."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from typer.main import get_command

from citeweave import Corpus, explore
from citeweave.cli.main import app
from citeweave.corpus.affiliations import COLUMNS
from citeweave.explore import Exploration

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "people.md"


@pytest.fixture(scope="module")
def text() -> str:
    return PAGE.read_text(encoding="utf-8")


@pytest.fixture
def view() -> Exploration:
    corpus = Corpus.from_lists(
        tokens=[["a", "b"]] * 3,
        metadata={"institutions": [["ANU", "NUS"]] * 3, "countries": [["AU", "SG"]] * 3},
    )
    model = SimpleNamespace(
        doc_topic_=np.full((3, 2), 0.5),
        topic_word_=np.full((2, 2), 0.5),
        cited_propensity_=np.ones(3),
    )
    return Exploration(model, corpus=corpus)


def _named(table: str) -> set[str]:
    first = (line.split("|")[1] for line in table.splitlines() if line.startswith("| `"))
    return {name for cell in first for name in re.findall(r"`(\w+)`", cell)}


def test_its_columns_exist(text: str, view: Exploration) -> None:
    kept, shown = text.split("## Tables", maxsplit=1)[0], text.split("## Tables")[1]
    assert set(COLUMNS) < _named(kept)
    named = _named(shown)
    columns = set(view.contributors("institutions").columns)
    assert named <= columns
    assert columns - named <= {"institution", "name", "id", "country", "topic_names", "weights"}


def test_its_commands_exist(text: str) -> None:
    commands = get_command(app).commands  # type: ignore[attr-defined]
    lines = re.findall(r"^    citeweave (\w+) ([^#\n]*)", text, re.MULTILINE)
    assert {"institutions", "countries", "venues", "funders"} <= {name for name, _ in lines}
    for name, rest in lines:
        known = {option for param in commands[name].params for option in param.opts}
        assert set(re.findall(r"--[\w-]+", rest)) <= known


def test_its_code_runs(
    text: str, view: Exploration, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    view.corpus.save(tmp_path / "my-corpus")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(explore, "Exploration", lambda _: view)
    (block,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    exec(compile(block, str(PAGE), "exec"), {})  # noqa: S102
