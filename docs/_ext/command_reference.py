"""The directive ``commands``: every command of the command line with its arguments and options."""

import re
from collections.abc import Iterator
from typing import Any

import typer
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from citeweave.cli.main import app

_CODE_OR_OPTION = re.compile(r"`[^`]*`|--[a-z][a-z-]*")


class Commands(SphinxDirective):
    """Write the reference of all commands, from the code of the command line."""

    def run(self) -> list[nodes.Node]:
        """Make one section for each command."""
        group: Any = typer.main.get_command(app)
        lines = [line for name, one in _commands(group) for line in _describe(name, one)]
        found = nodes.Element()
        source = StringList(lines, source="citeweave.cli")
        self.state.nested_parse(source, self.content_offset, found, match_titles=True)
        return found.children


def _commands(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """Give all commands that are not hidden, those of groups after the group."""
    for name, command in sorted(group.commands.items()):
        if not command.hidden:
            yield f"{before}{name}", command
            if hasattr(command, "commands"):
                yield from _commands(command, f"{before}{name} ")


def _describe(name: str, command: Any) -> list[str]:
    """Write a command in Markdown: usage, help, arguments and options."""
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option" and not p.hidden]
    usage = ["citeweave", name, *(["[OPTIONS]"] if options else [])]
    usage += [_placeholder(p) for p in arguments]
    lines = [f"## {name}", "", "```none", " ".join(usage), "```", ""]
    lines += [*(command.help or "").replace("\b", "").splitlines(), ""]
    if arguments:
        lines += ["| argument | what it is |", "|---|---|"]
        lines += [f"| `{_bars(_name(p))}` | {_cell(p.help)} |" for p in arguments]
        lines.append("")
    if options:
        lines += ["| option | default | what it does |", "|---|---|---|"]
        lines += [f"| {_flags(p)} | {_default(p)} | {_cell(p.help)} |" for p in options]
        lines.append("")
    return lines


def _placeholder(argument: Any) -> str:
    name = f"{_name(argument)}{'...' if argument.nargs == -1 else ''}"
    return name if argument.required else f"[{name}]"


def _name(argument: Any) -> str:
    return str(argument.metavar or argument.name.rstrip("_").upper())


def _flags(option: Any) -> str:
    return ", ".join(f"`{flag}`" for flag in (*option.opts, *option.secondary_opts))


def _default(option: Any) -> str:
    value = option.default
    if value is None or value is False or value == () or callable(value):
        return ""
    return f"`{value}`"


def _cell(text: str | None) -> str:
    """Write a text for a cell, with options as code where they are not yet part of some."""
    plain = _bars(" ".join((text or "").split()))
    return _CODE_OR_OPTION.sub(lambda found: f"`{found[0].strip('`')}`", plain)


def _bars(text: str) -> str:
    return text.replace("|", r"\|")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
