"""Examples in the docstrings of the app do what they show."""

import doctest
import importlib

import pytest

MODULES = ("app", "desk", "forms", "live", "shelf", "tasks", "uploads")


@pytest.mark.parametrize(
    "name", [*(f"citeweave.web.projects.{name}" for name in MODULES), "citeweave.cli.work_display"]
)
def test_examples_in_docstrings(name: str) -> None:
    failed, tried = doctest.testmod(importlib.import_module(name))
    assert tried > 0
    assert failed == 0
