"""Every example in a docstring is run, and every public name has one."""

import doctest
import importlib
import importlib.util
import inspect
import os
import re
from pathlib import Path
from types import ModuleType

import pytest

import citeweave
from citeweave.datasets import find, find_dataset

PACKAGE = Path(citeweave.__file__).parent
API = Path(__file__).parents[2] / "docs" / "reference" / "api"
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
EXTRAS = {
    "matplotlib": ("explore.plots", "explore.graphs.image"),
    "openpyxl": ("explore.workbook",),
    "sklearn": ("baselines.text",),
    "tomotopy": ("baselines.text",),
}
"""Modules whose examples need an optional dependency."""

DATA = ("datasets.fetch", "datasets.loading", "datasets.table")
"""Modules whose examples open a data set, which is fetched where ``CITEWEAVE_DATA`` lacks it."""


def with_examples() -> list[str]:
    """Modules that show an example in a docstring, by their names below the package."""
    return [
        ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        .removesuffix("__init__")
        .strip(".")
        for path in sorted(PACKAGE.rglob("*.py"))
        if ">>> " in path.read_text(encoding="utf-8")
    ]


@pytest.mark.parametrize("name", with_examples())
def test_examples_of_a_module(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for extra, modules in EXTRAS.items():
        if name.startswith(modules) and importlib.util.find_spec(extra) is None:
            pytest.skip(f"needs {extra}, which is not installed")
    if name in DATA and find(find_dataset("cora")) is None:
        pytest.skip("needs the data set cora below CITEWEAVE_DATA")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CITEWEAVE_CACHE", str(tmp_path / "cache"))
    # an example sets it, which is undone with this
    monkeypatch.setenv("CITEWEAVE_DATA", os.environ.get("CITEWEAVE_DATA", str(tmp_path)))
    module = importlib.import_module(f"citeweave.{name}".rstrip("."))
    outcome = doctest.testmod(module, optionflags=OPTIONS)
    assert outcome.attempted > 0
    assert outcome.failed == 0


def listed() -> list[tuple[ModuleType, set[str]]]:
    """Modules of the API reference, each with the names that are described elsewhere."""
    pattern = re.compile(r"automodule:: (\S+)\n(?: +:members:\n)?(?: +:exclude-members: (.*)\n)?")
    return [
        (importlib.import_module(module), set(re.findall(r"\w+", excluded)))
        for page in sorted(API.glob("*.md"))
        for module, excluded in pattern.findall(page.read_text(encoding="utf-8"))
    ]


def test_every_public_name_has_an_example() -> None:
    missing = [
        f"{module.__name__}.{name}"
        for module, elsewhere in listed()
        for name in module.__all__
        if name not in elsewhere
        and inspect.isroutine(value := getattr(module, name)) | inspect.isclass(value)
        and ">>> " not in (inspect.getdoc(value) or "")
    ]
    assert missing == []


def own_methods(value: type) -> list[str]:
    """Public methods that a class defines itself, without properties."""
    return [
        name
        for name, method in vars(value).items()
        if not name.startswith("_")
        and inspect.isfunction(getattr(method, "__func__", method))
        and method.__module__.startswith("citeweave")
    ]


def test_every_public_method_has_an_example() -> None:
    classes = {
        value
        for module, _ in listed()
        for name in module.__all__
        if inspect.isclass(value := getattr(module, name)) and not issubclass(value, Exception)
    }
    with_methods = {value: own_methods(value) for value in classes}
    assert sum(map(len, with_methods.values())) > 120
    missing = [
        f"{value.__qualname__}.{name}"
        for value, names in with_methods.items()
        for name in names
        if ">>> " not in (inspect.getdoc(getattr(value, name)) or "")
    ]
    assert missing == []
