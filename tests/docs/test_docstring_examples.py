"""Every example in a docstring is run, and every public name has one."""

import doctest
import importlib
from pathlib import Path

import pytest

import citeweave

PACKAGE = Path(citeweave.__file__).parent
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def with_examples() -> list[str]:
    """Modules that show an example in a docstring, by their dotted names."""
    return [
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
        for path in sorted(PACKAGE.rglob("*.py"))
        if ">>> " in path.read_text(encoding="utf-8")
    ]


@pytest.mark.parametrize("name", with_examples())
def test_examples_of_a_module(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = doctest.testmod(importlib.import_module(name), optionflags=OPTIONS)
    assert outcome.attempted > 0
    assert outcome.failed == 0
