"""The examples in docstrings and pages are true."""

import doctest
import importlib
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(
    "name", ["citeweave.corpus.corpus", "citeweave.simulate.draw", "citeweave.simulate.demo"]
)
def test_docstrings(name):
    # not by attribute: citeweave.simulate may be the function of that name
    module = importlib.import_module(name)
    outcome = doctest.testmod(module)
    assert outcome.attempted > 0
    assert outcome.failed == 0


@pytest.mark.parametrize("page", ["how-to/corpus.md", "how-to/simulation.md"])
def test_pages(page):
    outcome = doctest.testfile(str(DOCS / page), module_relative=False)
    assert outcome.attempted > 0
    assert outcome.failed == 0
