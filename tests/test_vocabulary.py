"""One word, one meaning: a class name stands for one class in the whole package."""

import ast
from collections import defaultdict
from pathlib import Path

import citeweave

PACKAGE = Path(citeweave.__file__).parent


def homes_of_classes() -> dict[str, list[str]]:
    homes: dict[str, list[str]] = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(str(path.relative_to(PACKAGE)))
    return homes


def test_class_names_are_unique() -> None:
    twice = {name: homes for name, homes in homes_of_classes().items() if len(homes) > 1}
    assert twice == {}, "give one of each its own name, and list it in docs/reference/notation.md"
