"""All Python on the pages runs, and every example with prompts shows what it gives."""

import doctest
import importlib.util
import re
import shutil
import tempfile
from pathlib import Path

import pytest
from page_folder import fill

from citeweave.datasets import find, find_dataset

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md"))
    if re.search(r"^```python\n", path.read_text(encoding="utf-8"), re.MULTILINE)
)
IN_ORDER = {"README.md", "docs/start/index.md"}
"""Pages run from top to bottom, with their commands, by tests/cli/test_cli_readme.py."""

EXTRAS = {
    "docs/gallery/index.md": "matplotlib",
    "docs/how-to/cluster.md": "ray",
    "docs/how-to/pictures.md": "matplotlib",
    "docs/reference/api/plots.md": "matplotlib",
}
"""Pages whose examples need an optional dependency."""

DATA = {"docs/how-to/datasets.md": "cora"}
"""Pages whose examples open a data set, which is fetched where ``CITEWEAVE_DATA`` lacks it."""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    fill(folder)
    return folder


def blocks(text: str) -> list[tuple[int, str]]:
    """Blocks of Python, each with the number of the line it follows."""
    found = re.finditer(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    return [(text.count("\n", 0, match.start()) + 1, match[1]) for match in found]


def remove_what_is_made(text: str, folder: Path) -> None:
    """Remove the corpora and runs of a folder that the page itself makes."""
    made = re.findall(r'(?:out=|save\()"([\w-]+)"', text)
    for name in made:
        shutil.rmtree(folder / name, ignore_errors=True)


def run_page(text: str, name: str) -> None:
    """Run the blocks of a page one after another, as a reader would in one session."""
    names: dict[str, object] = {"__name__": "__main__"}
    runner = doctest.DocTestRunner()
    for line, block in blocks(text):
        if ">>> " in block:
            test = doctest.DocTestParser().get_doctest(block, names, name, name, line)
            failures: list[str] = []
            runner.run(test, out=failures.append, clear_globs=False)
            names = test.globs
            assert not failures, "".join(failures)
        else:
            exec(compile("\n" * line + block, name, "exec"), names)  # noqa: S102 (our own pages)


@pytest.mark.parametrize("page", [page for page in PAGES if page not in IN_ORDER])
def test_python_of_a_page_runs(
    page: str, files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if (extra := EXTRAS.get(page)) and importlib.util.find_spec(extra) is None:
        pytest.skip(f"needs {extra}, which is not installed")
    if (name := DATA.get(page)) and find(find_dataset(name)) is None:
        pytest.skip(f"needs the data set {name} below CITEWEAVE_DATA")
    shutil.copytree(files, tmp_path / "here")
    (tmp_path / "temporary").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    text = (ROOT / page).read_text(encoding="utf-8")
    remove_what_is_made(text, tmp_path / "here")
    run_page(text, page)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("```python\nx = 1\n```\nand\n```python\n>>> x\n1\n\n```\n", None),
        ("```python\n>>> 1 + 1\n3\n\n```\n", AssertionError),
        ("```python\nno_such_name\n```\n", NameError),
    ],
)
def test_what_is_wrong_on_a_page_is_found(text: str, error: type[Exception] | None) -> None:
    if error is None:
        run_page(text, "page")
        return
    with pytest.raises(error):
        run_page(text, "page")


def test_the_pages_left_out_are_run_by_another_test() -> None:
    test = (ROOT / "tests" / "cli" / "test_cli_readme.py").read_text(encoding="utf-8")
    assert "code_blocks(START)" in test
    assert "code_blocks(README)" in test
