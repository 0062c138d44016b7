"""Modules of the last release are found under their old names, with a warning."""

import importlib
import sys

import pytest

from citeweave._moved import MOVED, new_name


@pytest.mark.parametrize("old", sorted(MOVED))
def test_an_old_name_gives_the_module_of_the_new_one(old, monkeypatch):
    monkeypatch.delitem(sys.modules, old, raising=False)
    with pytest.warns(DeprecationWarning, match="is now"):
        module = importlib.import_module(old)
    assert module is importlib.import_module(MOVED[old])
    assert module.__name__ == module.__spec__.name == MOVED[old]


def test_what_lies_below_a_moved_package_moved_with_it():
    assert new_name("citeweave.sparse.chain") == "citeweave.engines.slots.chain"
    assert new_name("citeweave.corpus.corpus") is None


@pytest.mark.parametrize(
    ("module", "name", "home"),
    [
        ("citeweave.baselines", "load", "citeweave.loading"),
        ("citeweave.baselines", "TopicModel", "citeweave.model.topic_model"),
        ("citeweave.evaluate", "PMTLM", "citeweave.baselines"),
    ],
)
def test_a_name_that_has_moved_is_found_with_a_warning(module, name, home):
    old = importlib.import_module(module)
    with pytest.warns(DeprecationWarning, match=f"is now '{home}.{name}'"):
        found = getattr(old, name)
    assert found is getattr(importlib.import_module(home), name)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = old.nothing


def test_unknown_modules_are_still_unknown():
    with pytest.raises(ModuleNotFoundError, match="nowhere"):
        importlib.import_module("citeweave.nowhere")


def test_renamed_classes_are_found_by_their_old_names():
    preparing = importlib.import_module("citeweave.preparing")
    with pytest.warns(DeprecationWarning, match="'Report'"):
        assert preparing.ImportReport is preparing.Report
    with pytest.raises(AttributeError, match="nothing"):
        _ = preparing.nothing
