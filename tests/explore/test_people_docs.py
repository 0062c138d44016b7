"""docs/how-to/people.md says what is true: its columns exist."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from citeweave import Corpus
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
