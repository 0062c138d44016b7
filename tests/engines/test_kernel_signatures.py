"""Kernels take a few named tuples: none has more arguments than a reader can hold."""

import ast
from pathlib import Path

import citeweave

PACKAGE = Path(citeweave.__file__).parent
DECORATORS = {"kernel", "hot_kernel", "inlined"}
MOST_ARGUMENTS = 10


def _name(decorator: ast.expr) -> str:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")


def kernels():
    """Find every compiled function of the package: its file, name and number of arguments."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                given = node.args
                if DECORATORS & {_name(decorator) for decorator in node.decorator_list}:
                    every = (*given.posonlyargs, *given.args, *given.kwonlyargs)
                    yield str(path.relative_to(PACKAGE)), node.name, len(every)


def test_every_engine_has_kernels_that_are_found():
    folders = {Path(file).parts[:2] for file, _, _ in kernels()}
    assert {("engines", part) for part in ("core", "dense", "slots", "threads")} <= folders


def test_no_kernel_takes_more_than_ten_arguments():
    too_many = [found for found in kernels() if found[2] > MOST_ARGUMENTS]
    assert too_many == []
