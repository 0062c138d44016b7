"""Examples in docstrings of importing, data sets and their commands are run."""

import doctest
from importlib import import_module

import pytest

MODULES = [
    "citeweave.preparing.records",
    "citeweave.preparing.report",
    "citeweave.preparing.page",
    "citeweave.datasets",
    "citeweave.datasets.registry",
    "citeweave.datasets.table",
    "citeweave.cli.import_options",
    "citeweave.cli.import_run",
    "citeweave.cli.import_progress",
    "citeweave.cli.datasets",
    "citeweave.cli.sources",
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    outcome = doctest.testmod(import_module(name))
    assert outcome.attempted > 0
    assert outcome.failed == 0
