"""The page on exploration says what is true: its columns exist."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "exploration.md"


@pytest.fixture(scope="module")
def text():
    return PAGE.read_text(encoding="utf-8")


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
