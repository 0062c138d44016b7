"""The examples in docstrings are true, and the page names every experiment."""

import doctest
import importlib
import re
from pathlib import Path

import pytest

from reproduction import NAMES, find_experiment

PAGE = Path(__file__).parents[2] / "docs" / "results" / "reproduce.md"
MODULES = (
    *("base", "settings", "registry", "writers", "engine", "labels", "comparing", "earlier"),
    "measuring",
)


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    module = importlib.import_module(f"reproduction.{name}")
    found = doctest.testmod(module)
    assert found.attempted
    assert not found.failed


def test_the_page_names_every_experiment_with_its_label():
    rows = dict(re.findall(r"^\| `(\w+)` \| (\S+) \|", PAGE.read_text(), re.MULTILINE))
    assert set(rows) == set(NAMES)
    for name, label in rows.items():
        assert label == find_experiment(name).label
