"""What the README, the first page of the site and the page on the command line say is true."""

import re
import shlex
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from citeweave import Corpus
from citeweave.cli.main import app
from citeweave.model import load

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
START = (ROOT / "docs" / "start" / "index.md").read_text(encoding="utf-8")
PAGE = (ROOT / "docs" / "reference" / "command-line.md").read_text(encoding="utf-8")


def code_blocks(text: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


def command_lines(text: str) -> list[str]:
    lines = re.findall(r"^    (citeweave [^\n]*)$", text, re.MULTILINE)
    return [line.split("#")[0].strip() for line in lines]


WORDS = """
citation network journal impact institution collaboration community detection centrality ranking
topic inference corpus vocabulary likelihood sampler posterior mixture hierarchy concentration
library catalogue archive metadata repository indexing retrieval thesaurus keyword abstract
policy funding university laboratory discipline evaluation productivity mobility gender career
"""


def bibliography() -> str:
    """Eighty small papers, of which no word is in more than a few."""
    words = WORDS.split()
    entries = []
    for i in range(80):
        chosen = [words[(i + j) % len(words)] for j in range(5)]
        text = f"We study the {' and the '.join(chosen)} of research in this paper."
        entries.append(
            f"@article{{p{i}, title = {{On {chosen[0]} and {chosen[1]}, part {i}}}, "
            f"year = {{{1940 + i}}}, author = {{Byron, Ada and Okri, Ben}}, abstract = {{{text}}}}}"
        )
    return "\n".join(entries)


def run_line(runner: CliRunner, line: str) -> None:
    words = shlex.split(line)[1:]
    if words[0] in {"run", "scan"}:  # several fits, which need not be settled here
        words += ["--iterations", "40"]
    if words[0] in {"serve", "demo"}:  # tests/web and tests/cli run them
        words = [words[0], "--help"]
    result = runner.invoke(app, words)
    assert result.exit_code == 0, (line, result.stderr)


def run_block(block: str, page: str) -> None:
    exec(compile(block, page, "exec"), {})  # noqa: S102 (the page's own lines)


def test_the_first_page_and_the_readme_run_from_top_to_bottom(
    runner: CliRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "export.bib").write_text(bibliography(), encoding="utf-8")
    commands = command_lines(START)
    names = [line.split()[1] for line in commands]
    assert names[:6] == ["demo", "serve", "run", "serve", "import", "scan"]
    assert {"fit", "info", "resume", "evaluate", "topics", "graph", "report"} <= set(names)
    assert [line for line in command_lines(README) if line not in commands] == []
    for line in commands:
        run_line(runner, line)
    assert Path("report.html").stat().st_size > 10_000
    assert "<svg" in Path("network.svg").read_text(encoding="utf-8")
    assert 0 < load("my-run").n_iter_ <= 2000
    named = set(re.findall(r"^\| `([\w.]+)/?` \|", START, re.MULTILINE))
    assert named == {
        path.name for path in Path("export-results").iterdir() if path.name != "job.json"
    }
    use_model, make_corpus = code_blocks(START)
    run_block(use_model, "start/index.md")
    run_block(make_corpus, "start/index.md")
    assert (load("my-python-run").doc_topic_ == load("my-run").doc_topic_).all()
    assert Corpus.load("small-corpus").n_citations == 3
    (in_python,) = code_blocks(README)
    run_block(in_python.replace('"my-run"', '"readme-run"'), "README.md")
    assert load("readme-run").seed_ == 1
    assert len(in_python.strip().splitlines()) <= 6, "five lines, and an empty one"


def test_the_readme_gives_the_lines_that_checks_run() -> None:
    found = re.findall(r"^    (python3 -m venv .*)$", README, re.MULTILINE)
    demo, tests = found
    assert demo.split()[-1] == "demo"
    assert "/python -m pytest" in tests
    script = ROOT / ".ci" / "run"
    if not script.exists():
        pytest.skip("a source archive holds no .ci")
    assert "'/python -m pytest' README.md" in script.read_text(encoding="utf-8")


def test_every_option_of_fit_is_described_and_no_other() -> None:
    command = typer.main.get_command(app).commands["fit"]
    flags = [option.opts[0] for option in command.params if option.name != "corpus"]
    parameters = {flag.removeprefix("--").replace("-", "_") for flag in flags}
    section = PAGE[PAGE.index("## fit") : PAGE.index("## Stopping")]
    rows = [line for line in section.splitlines() if line.startswith("| `--")]
    named = {name for row in rows for name in re.findall(r"`--([a-z-]+)`", row.split("|")[1])}
    described = {name.removeprefix("no-").replace("-", "_") for name in named}
    described |= set(re.findall(r"\(`--(threads)`", section))
    assert described == parameters


@pytest.mark.parametrize("link", re.findall(r"\]\((?!http)([^)#]+)\)", README))
def test_links_of_the_readme_lead_somewhere(link: str) -> None:
    assert (ROOT / link).exists()
