"""Benchmarks, experiments, containers and extras on the pages exist, with their options.

These lines take minutes to days or need other software, so they are parsed and not run.
"""

import argparse
import importlib
import re
import shlex
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer
from test_page_commands import parse as parse_citeweave

import reproduction
import reproduction.clustering
import reproduction.command
import reproduction.labels
from citeweave.datasets import DATASETS
from citeweave.errors import CiteweaveError
from reproduction.context import chosen_models

ROOT = Path(__file__).parents[2]
PROGRAM = re.compile(
    r"(?:\S*/)?python3? "
    r"(?:-m ((?:benchmarks|docs|reproduction)[\w.]*)|((?:benchmarks|docs)/\w+)\.py)"
    r"(?: (.*))?"
)
CONTAINER = re.compile(r"docker run (.*)")
EXTRAS = re.compile(r"(?:\bciteweave|\.)\[([\w,]+)\]")
MODELS = {"clustering": reproduction.clustering._KINDS, "labels": reproduction.labels.METHODS}
"""Values of ``--models`` by experiment."""


class ParsedError(Exception):
    """Ends a program once its arguments are parsed."""

    def __init__(self, options: dict[str, Any]) -> None:
        super().__init__()
        self.options = options


class WrongLineError(Exception):
    """A line that its program would refuse."""


def lines_of(text: str) -> list[tuple[str, bool]]:
    """Lines of code blocks (True), and code in sentences (False), which may be just a name."""
    prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    blocks = [(line, True) for line in re.findall(r"^(?: {4}|# )(\S.*)$", prose, re.MULTILINE)]
    spans = [(" ".join(span.split()), False) for span in re.findall(r"`([^`]+)`", prose)]
    return [(part.strip(), whole) for line, whole in blocks + spans for part in line.split("&&")]


def parse_program(name: str, words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Raise `WrongLineError` unless a program takes these arguments; ``...`` stands for others."""
    known = argparse.ArgumentParser.parse_args
    shown = [word for word in words if word != "..."]

    def parse_and_stop(parser, *given, **more):
        raise ParsedError(vars(known(parser, *given, **more)))

    def refuse(_, message):
        if shown != words and "arguments are required" in message:
            raise ParsedError({})
        raise WrongLineError(message)

    program = importlib.import_module(name)
    if "parse_args(" not in Path(program.__file__).read_text(encoding="utf-8"):
        assert words == [], f"{name} takes no arguments"
        return
    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", parse_and_stop)
    monkeypatch.setattr(argparse.ArgumentParser, "error", refuse)
    monkeypatch.setattr(sys, "argv", [name, *shown])
    with pytest.raises(ParsedError) as parsed:
        program.main()
    for option in ("dataset", "datasets"):
        given = parsed.value.options.get(option, [])
        for data_set in given.split(",") if isinstance(given, str) else given:
            if data_set not in DATASETS:
                raise WrongLineError(f"no data set {data_set}")


def parse_experiments(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Raise an error unless `python -m reproduction` takes these arguments."""
    settings = []

    def keep(names, context, *, fresh):  # noqa: ARG001 (in the place of `_run`)
        settings.append((names, context))
        return [], []

    monkeypatch.setattr(reproduction.command, "_run", keep)
    monkeypatch.setattr(reproduction, "join_pages", lambda out, **_: out)
    command = typer.main.get_command(reproduction.command.app)
    with command.make_context("reproduction", words) as context:
        reproduction.command.reproduce.__wrapped__(**{**context.params, "quiet": True})
    ((names, chosen),) = settings
    for name in names:
        if chosen.models:
            chosen_models(chosen, MODELS[name])


def parse_container(words: list[str]) -> None:
    """Raise an error unless citeweave takes the arguments, at the image's port and folder."""
    image = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    (port,) = re.findall(r"^EXPOSE (\d+)$", image, re.MULTILINE)
    (folder,) = re.findall(r"^VOLUME (\S+)$", image, re.MULTILINE)
    at = words.index("citeweave")
    for option, value in zip(words[:at:2], words[1:at:2], strict=True):
        inside = value.rpartition(":")[2]
        if inside != {"-p": port, "-v": folder, "--user": inside}.get(option):
            raise WrongLineError(f"{option} {value}")
    command, *rest = words[at + 1 :]
    if command == "serve" and not rest:
        rest = ["RUN"]  # which the entry point of the image adds
    parse_citeweave([command, *rest])


def check(line: str, *, whole: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Raise an error unless the program or container of a line takes its arguments."""
    if found := PROGRAM.match(line):
        name = (found[1] or found[2].replace("/", ".")).rstrip(".")
        words = shlex.split(found[3] or "", comments=True)
        if found[2]:  # a script finds those next to it
            monkeypatch.syspath_prepend(ROOT / Path(found[2]).parent)
        if not words and not whole:
            importlib.import_module(name)
        elif name == "reproduction":
            parse_experiments(words, monkeypatch)
        else:
            parse_program(name, words, monkeypatch)
    elif found := CONTAINER.match(line):
        command, *_ = found[1].split("   ")  # a remark follows in the Dockerfile
        parse_container(shlex.split(command))


def pages() -> dict[str, list[tuple[str, bool]]]:
    """Lines of the pages that name a program or a container."""
    named = (ROOT / name for name in ("README.md", "CONTRIBUTING.md", "Dockerfile"))
    every = {
        path.relative_to(ROOT).as_posix(): lines_of(path.read_text(encoding="utf-8"))
        for path in (*named, *sorted((ROOT / "docs").rglob("*.md")))
    }
    checked = {
        page: [
            (line, whole) for line, whole in lines if PROGRAM.match(line) or CONTAINER.match(line)
        ]
        for page, lines in every.items()
    }
    return {page: lines for page, lines in checked.items() if lines}


PAGES = pages()


@pytest.mark.parametrize("page", PAGES)
def test_programs_of_a_page_take_their_arguments(
    page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for line, whole in PAGES[page]:
        with monkeypatch.context() as patch:
            try:
                check(line, whole=whole, monkeypatch=patch)
            except Exception as error:
                raise AssertionError(f"{page}: {line}") from error


def test_many_lines_are_checked() -> None:
    lines = [line for lines in PAGES.values() for line, _ in lines]
    assert sum(bool(PROGRAM.match(line)) for line in lines) > 70
    assert sum(bool(CONTAINER.match(line)) for line in lines) == 6  # a page and the Dockerfile


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("python -m benchmarks.no_such_thing --out FILE", ModuleNotFoundError),
        ("python -m benchmarks.threads velocity", WrongLineError),
        ("python -m benchmarks.threads speed --thread 2 --rouns 3", WrongLineError),
        ("python -m benchmarks.levels --datasets corra --out FILE", WrongLineError),
        ("python -m reproduction clusterings", CiteweaveError),
        ("python -m reproduction clustering --datasets corra", CiteweaveError),
        ("python -m reproduction clustering --models agcc", CiteweaveError),
        ("python -m reproduction clustering --device gpu", CiteweaveError),
        ("python -m reproduction clustering --run 5", typer.BadParameter.__mro__[1]),
        ("docker run -p 80:80 citeweave serve", WrongLineError),
        ("docker run citeweave server", typer.BadParameter.__mro__[1]),
    ],
)
def test_a_wrong_line_is_found(
    line: str, error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(error):
        check(line, whole=True, monkeypatch=monkeypatch)


def test_extras_that_pages_install_exist() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        extras = tomllib.load(file)["project"]["optional-dependencies"]
    pages = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md"))
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    named = {name for some in EXTRAS.findall(text) for name in some.split(",")}
    assert {"plot", "cluster", "docs"} <= named <= set(extras)
