"""What the README and the page on the command line say is true."""

import inspect
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from citeweave.cli import fit
from citeweave.cli.main import app
from citeweave.model import load

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGE = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")


def code_blocks(text: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


def command_lines(text: str) -> list[str]:
    lines = re.findall(r"^    (citeweave [^\n]*)$", text, re.MULTILINE)
    return [line.split("#")[0].strip() for line in lines]


def test_the_readme_runs_from_top_to_bottom(
    runner: CliRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    make_corpus, use_model = code_blocks(README)
    exec(compile(make_corpus, "README.md", "exec"), {})  # noqa: S102 (the README's own lines)
    commands = command_lines(README)
    assert [line.split()[1] for line in commands] == ["fit", "info", "resume"]
    for line in commands:
        result = runner.invoke(app, shlex.split(line)[1:])
        assert result.exit_code == 0, (line, result.stderr)
    assert load("my-run").n_iter_ == 2000
    (tmp_path / "my-run").rename(tmp_path / "first-run")
    exec(compile(use_model, "README.md", "exec"), {})  # noqa: S102
    assert (load("my-run").doc_topic_ == load("first-run").doc_topic_).all()
    assert len(use_model.strip().splitlines()) <= 6, "five lines, and an empty one"


def test_the_readme_gives_the_lines_that_checks_run() -> None:
    found = re.findall(r"^    (python3 -m venv .*)$", README, re.MULTILINE)
    assert [line.split()[-1] for line in found] == ["demo", "pytest"]
    script = ROOT / ".ci" / "run"
    if not script.exists():
        pytest.skip("a source archive holds no .ci")
    assert "-m pytest$" in script.read_text(encoding="utf-8")


def test_every_option_of_fit_is_described_and_no_other() -> None:
    parameters = set(inspect.signature(fit.fit).parameters) - {"corpus"}
    section = PAGE[PAGE.index("## fit") : PAGE.index("## Stopping")]
    rows = [line for line in section.splitlines() if line.startswith("| `--")]
    named = {name for row in rows for name in re.findall(r"`--([a-z-]+)`", row.split("|")[1])}
    described = {name.removeprefix("no-").replace("-", "_") for name in named}
    described |= set(re.findall(r"\(`--(threads)`", section))
    assert described == parameters


@pytest.mark.parametrize("link", re.findall(r"\]\((?!http)([^)#]+)\)", README))
def test_links_of_the_readme_lead_somewhere(link: str) -> None:
    assert (ROOT / link).exists()
