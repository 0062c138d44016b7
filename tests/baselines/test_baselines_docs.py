"""The examples in docstrings and on the pages of the baselines are true."""

import doctest
import importlib
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", ["baselines.pmtlm", "model.estimator"])
def test_docstrings(name):
    outcome = doctest.testmod(importlib.import_module(f"citeweave.{name}"))
    assert outcome.attempted > 0
    assert outcome.failed == 0


@pytest.mark.parametrize("page", ["pmtlm.md"])
def test_pages(page):
    outcome = doctest.testfile(str(DOCS / page), module_relative=False)
    assert outcome.attempted > 0
    assert outcome.failed == 0
