"""Python on the pages is sound: examples with prompts are run by a test, all others at least fit.

Pages whose code needs long fits or files of one's own are not run; their code must parse, what it
imports must exist, and what it passes to the main classes must be parameters of theirs.
"""

import ast
import inspect
import re
from pathlib import Path

import pytest

import citeweave
from citeweave.preparing import Settings

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
CLASSES = {"SCNTM": citeweave.SCNTM, "Settings": Settings}


def blocks(page: str) -> list[str]:
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def has_prompts(page: str) -> bool:
    return any(">>>" in block for block in blocks(page))


def test_every_page_with_prompts_is_run_by_a_test() -> None:
    tests = "".join(
        path.read_text(encoding="utf-8")
        for path in (ROOT / "tests").rglob("test_*.py")
        if "doctest.testfile" in path.read_text(encoding="utf-8")
    )
    shown = [page for page in PAGES if has_prompts(page) and not page.startswith("reference/api")]
    assert len(shown) > 8
    missing = [
        page for page in shown if f'"{page.rsplit("/")[-1]}"' not in tests and page not in tests
    ]
    assert missing == []


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page) and not has_prompts(page)])
def test_code_of_a_page_parses_and_names_what_exists(page: str) -> None:
    for block in blocks(page):
        tree = ast.parse(block)
        for node in ast.walk(tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                exec(ast.unparse(node), {})  # noqa: S102 (the page's own imports)
            if isinstance(node, ast.Call):
                name = ast.unparse(node.func).rsplit(".", 1)[-1]
                if name in CLASSES:
                    known = set(inspect.signature(CLASSES[name]).parameters)
                    assert {word.arg for word in node.keywords if word.arg} <= known, name
