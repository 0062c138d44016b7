"""Every example in a docstring is run."""

import doctest
import importlib
import importlib.util
from pathlib import Path

import pytest

import citeweave

PACKAGE = Path(citeweave.__file__).parent
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
EXTRAS = {
    "matplotlib": ("explore.plots", "explore.graphs.image"),
    "openpyxl": ("explore.workbook",),
    "sklearn": ("baselines.text",),
    "tomotopy": ("baselines.text",),
}
"""Modules whose examples need an optional dependency."""


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
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(f"citeweave.{name}".rstrip("."))
    outcome = doctest.testmod(module, optionflags=OPTIONS)
    assert outcome.attempted > 0
    assert outcome.failed == 0
