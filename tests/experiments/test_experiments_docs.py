"""Examples in docstrings and on the page run as they stand."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "cross-validation.md"
MODULES = (
    *("experiments.folds", "experiments.models", "experiments.tables"),
    *("experiments.crossvalidation", "cli.crossvalidate"),
)


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    result = doctest.testmod(import_module(f"citeweave.{name}"))
    assert result.attempted > 0
    assert result.failed == 0


def test_the_page():
    result = doctest.testfile(str(PAGE), module_relative=False)
    assert result.attempted > 0
    assert result.failed == 0
