"""Imports go one way: what reads files and shows results stands on what samples, never below it."""

import ast
import sys
from pathlib import Path

import pytest

import citeweave

PACKAGE = Path(citeweave.__file__).parent

# What each part of the package may import of the others; all may import `SHARED`.
ALLOWED: dict[str, set[str]] = {
    "errors": set(),
    "checksums": set(),
    "files": set(),
    "installing": set(),
    "naming": set(),
    "wording": set(),
    "countries": set(),
    "compiled": set(),
    "html": set(),
    "_moved": set(),
    "engines": set(),
    "parameters": {"engines.core.spec"},
    "corpus": set(),
    "simulate": {"corpus"},
    "reading": set(),
    "preparing": {"parameters", "reading", "corpus"},
    "datasets": {"reading", "preparing", "corpus"},
    "networks": {"corpus", "reading"},
    "foldin": {"engines"},
    "runs": {"corpus", "engines.core"},
    "model": {"corpus", "engines", "foldin", "parameters", "runs"},
    "baselines": {"corpus", "model", "parameters", "runs"},
    "loading": {"model", "baselines", "runs"},
    "examples": {"corpus", "model", "simulate"},
    "evaluate": {"corpus", "model"},
    "experiments": {"corpus", "parameters", "engines", "model", "baselines", "evaluate", "runs"},
    "explore": {"corpus", "model", "evaluate", "loading", "networks", "runs"},
    "web": {
        "corpus",
        "model",
        "evaluate",
        "explore",
        "networks",
        "parameters",
        "preparing",
        "runs",
    },
    # the package itself re-exports what users call; it must not pull in the command line
    "": {"corpus", "engines", "simulate", "preparing", "datasets", "model", "loading"}
    | {"examples"},
    "cli": {"parameters", "corpus", "engines", "simulate", "preparing", "datasets", "model"}
    | {"runs", "baselines", "loading", "evaluate", "experiments", "explore", "web"},
    "__main__": {"cli"},
}

SHARED = {"errors", "checksums", "files", "installing", "naming", "wording", "compiled", "html"}
SHARED |= {"_moved", "__version__", "countries"}
BESIDE = {"benchmarks", "docs", "notebooks", "reproduction"}
"""What lies beside the package in its repository and has tests, too."""
ENGINES_MAY_USE = {"numpy", "scipy.sparse", "scipy.special", "numba", "llvmlite"}
ENGINES_MAY_USE |= {"cupy", "cupyx", "ray"}


def source_files() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def module_name(path: Path) -> str:
    """Name a file by its place below the package: `engines.dense.words`, or "" for the package."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def part_of(module: str) -> str:
    return module.split(".", maxsplit=1)[0]


def imports_of(source: str, module: str, *, is_package: bool) -> set[str]:
    """Full names of all that a file imports, at any depth of functions and conditions."""
    found: set[str] = set()
    package = f"citeweave.{module}".rstrip(".").split(".")
    if not is_package:
        package = package[:-1]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                base = ".".join([*package[: len(package) - node.level + 1], *filter(None, [base])])
            # "from citeweave import corpus" names a part only in its list of names
            found.update(f"{base}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "import_module":
            names = [arg.value for arg in node.args[:1] if isinstance(arg, ast.Constant)]
            found.update(str(name) for name in names)
    return found


def imports_of_file(path: Path) -> set[str]:
    return imports_of(
        path.read_text(encoding="utf-8"), module_name(path), is_package=path.stem == "__init__"
    )


def own_imports(path: Path) -> set[str]:
    """What a file imports of this package, named as `module_name` does."""
    names = imports_of_file(path)
    return {name.removeprefix("citeweave.") for name in names if name.startswith("citeweave.")}


def is_allowed(part: str, imported: str) -> bool:
    if part_of(imported) in SHARED | {part}:
        return True
    return any(imported == name or imported.startswith(f"{name}.") for name in ALLOWED[part])


def test_tests_lie_where_what_they_test_lies() -> None:
    tests = Path(__file__).parent
    beside = {folder for folder in BESIDE if (tests.parent / folder).is_dir()}
    for folder in {path.parent.relative_to(tests) for path in tests.rglob("test_*.py")}:
        there = (PACKAGE / folder).is_dir() or folder.as_posix() in beside
        assert there, f"tests/{folder} tests nothing of that name"


def test_every_part_has_its_rule() -> None:
    parts = {part_of(module_name(path)) for path in source_files()}
    assert parts <= set(ALLOWED), f"say in ALLOWED what {parts - set(ALLOWED)} may import"


@pytest.mark.parametrize("path", source_files(), ids=lambda path: module_name(path) or "citeweave")
def test_imports_go_one_way(path: Path) -> None:
    part = part_of(module_name(path))
    wrong = {name for name in own_imports(path) if not is_allowed(part, name)}
    assert not wrong, f"{path.name} of {part!r} must not import {sorted(wrong)}"


def test_nothing_below_imports_the_command_line() -> None:
    for path in source_files():
        if part_of(module_name(path)) not in {"cli", "__main__"}:
            named = {part_of(name) for name in own_imports(path)}
            assert "cli" not in named, f"{path} imports the command line"


@pytest.mark.parametrize("part", sorted(ALLOWED), ids=lambda part: part or "citeweave")
def test_no_more_is_allowed_than_is_used(part: str) -> None:
    used = {
        f"{name}."
        for path in source_files()
        if part_of(module_name(path)) == part
        for name in own_imports(path)
    }
    idle = {
        allowed
        for allowed in ALLOWED[part]
        if not any(name.startswith(f"{allowed}.") for name in used)
    }
    assert not idle, f"{part!r} imports nothing of {sorted(idle)}"


def test_the_allowed_imports_have_no_cycle() -> None:
    left = {part: {part_of(name) for name in names} - {""} for part, names in ALLOWED.items()}
    while left:
        free = [part for part, names in left.items() if not names & set(left)]
        assert free, f"a cycle among {sorted(left)}"
        for part in free:
            del left[part]


def test_engines_use_arrays_and_the_compiler_alone() -> None:
    for path in source_files():
        if part_of(module_name(path)) != "engines":
            continue
        for name in imports_of_file(path):
            top = part_of(name)
            foreign = top not in sys.stdlib_module_names and top != "citeweave"
            fits = any(name == good or name.startswith(f"{good}.") for good in ENGINES_MAY_USE)
            assert fits or not foreign, f"{path.name} imports {name}"


@pytest.mark.parametrize(
    ("source", "module", "found"),
    [
        ("import citeweave.cli.main", "model.x", {"citeweave.cli.main"}),
        ("from citeweave import cli", "model.x", {"citeweave.cli"}),
        ("from ..cli import main", "model.x", {"citeweave.cli.main"}),
        ("from . import y", "model.x", {"citeweave.model.y"}),
        ("def f():\n    from citeweave.cli import main", "model.x", {"citeweave.cli.main"}),
        ("import_module\nimportlib.import_module('citeweave.cli')", "model.x", {"citeweave.cli"}),
    ],
)
def test_the_search_sees_every_form_of_import(source: str, module: str, found: set[str]) -> None:
    assert imports_of(source, module, is_package=False) == found


def test_the_rules_refuse_what_they_should() -> None:
    assert not is_allowed("engines", "corpus.corpus.Corpus")
    assert not is_allowed("simulate", "engines.dense.words.word_sweep")
    assert is_allowed("simulate", "compiled.kernel")
    assert not is_allowed("model", "explore.tables")
    assert not is_allowed("", "cli.main")
