"""The page on exploration says what is true: its code runs, its columns exist."""

import re
import shutil
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "exploration.md"


@pytest.fixture(scope="module")
def text():
    return PAGE.read_text(encoding="utf-8")


def test_its_code_runs(text, run, tmp_path, monkeypatch):
    shutil.copytree(run, tmp_path / "citeweave-demo")
    monkeypatch.chdir(tmp_path)
    # words of the demo corpus mean nothing to the corpus of these tests
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    names = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)  # noqa: S102
    assert names["view"].topic_name(names["view"].order[0]) == "Public policy"
    assert names["found"].references_found[0].paper == 12


@pytest.mark.parametrize(("part", "table"), [("Topics", "topics"), ("Authors", "authors")])
def test_its_columns_exist(text, view, part, table):
    section = text.split(f"**{part}**", 1)[1].split("\n\n", 2)[1]
    named = {
        name
        for line in section.splitlines()
        if line.startswith("| `")
        for name in re.findall(r"`(\w+)`", line.split("|")[1])
    }
    columns = set(getattr(view, table)().columns)
    assert named <= columns
    assert columns - named <= {"author", "name", "topic_name"}
