"""Every command on the pages is one that citeweave takes, and is run where that is cheap.

Of commands with the same options, only the first is run.
"""

import importlib.util
import re
import shlex
import shutil
import webbrowser
from pathlib import Path

import pytest
import typer
from page_folder import fill
from typer.testing import CliRunner

from citeweave.cli.main import app

ROOT = Path(__file__).parents[2]
COMMAND = re.compile(r"^(?:    |\$ )(citeweave [^\n]*)$", re.MULTILINE)
SHORT = {
    "fit": ["--iterations", "4", "--chains", "1"],
    "run": ["--iterations", "8"],
    "scan": ["--iterations", "8", "--topics", "2,3"],
    "resume": ["--iterations", "+4"],
    "crossvalidate": ["--iterations", "4", "--folds", "2"],
}
"""Options that make long commands short; of two values of an option, the last counts."""

REPLACING = {"fit", "import", "query", "shard"}
"""Commands that are told to overwrite, since pages use the same names again and again."""

PARSED_ONLY = ("serve", "app", "demo", "run", "datasets get")
PARSED_ONLY += ("--engine ray", "--device cuda", "--topics auto")
"""Commands with tests of their own: they do not end, are long, or need other computers."""

IN_ORDER = {"README.md", "docs/start/index.md"}
"""Pages run from top to bottom by tests/cli/test_cli_readme.py."""


def commands_of(path: Path) -> list[str]:
    return COMMAND.findall(path.read_text(encoding="utf-8"))


PAGES = {
    path.relative_to(ROOT).as_posix(): commands_of(path)
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if path.relative_to(ROOT).as_posix() not in IN_ORDER and commands_of(path)
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    fill(folder)
    return folder


def parse(words: list[str]) -> None:
    """Raise an error unless a command takes these arguments."""
    group = typer.main.get_command(app)
    with group.make_context("citeweave", list(words), resilient_parsing=False) as context:
        name, command, rest = group.resolve_command(context, words)
        command.make_context(name, list(rest), parent=context)


def first_uses() -> set[tuple[str, int]]:
    """Pages and numbers of commands that no earlier one equals in its name and options."""
    found: dict[tuple[str, frozenset[str]], tuple[str, int]] = {}
    for page, lines in PAGES.items():
        for number, line in enumerate(lines):
            words = shlex.split(line, comments=True)[1:]
            options = frozenset(word for word in words if word.startswith("--"))
            found.setdefault((words[0], options), (page, number))
    return set(found.values())


FIRST_USES = first_uses()


def is_run(words: list[str]) -> bool:
    text = f"{' '.join(words)} "
    if any(text.startswith(f"{name} ") or f" {name} " in text for name in PARSED_ONLY):
        return False
    return "tomotopy" not in text or importlib.util.find_spec("tomotopy") is not None


def short(words: list[str]) -> list[str]:
    """Return a command made short, which replaces what is in its way."""
    options = ["--overwrite"] if words[0] in REPLACING else []
    if words[0] == "fit" and "--model" in words:
        return [*words, *options]  # a baseline, which takes other options
    return [*words, *options, *SHORT.get(words[0], [])]


@pytest.mark.parametrize("page", PAGES)
def test_commands_of_a_page_work(
    page: str, files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(files, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(webbrowser, "open", lambda _: True)
    runner = CliRunner(env={"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"})
    lacking: set[str] = set()
    for number, line in enumerate(PAGES[page]):
        words = shlex.split(line, comments=True)[1:]
        again = (page, number) not in FIRST_USES
        if again or not is_run(words) or lacking.intersection(words):
            parse(words)
            lacking |= {words[i + 1] for i, word in enumerate(words) if word == "--out"}
            continue
        result = runner.invoke(app, short(words))
        assert result.exit_code == 0, (line, result.output, result.exception)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("fit CORPUS --topicks 3", "No such option: --topicks"),
        ("serf RUN", "No such command 'serf'"),
        ("fit", "Missing parameter: corpus"),
    ],
)
def test_a_wrong_command_is_found(line: str, message: str) -> None:
    with pytest.raises(Exception, match=message):
        parse(line.split())
