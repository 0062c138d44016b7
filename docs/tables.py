"""Renew the tables of parameters and options on these pages: ``python docs/tables.py``.

A table stands between two comments, the first of which names it::

    <!-- table SCNTM -->
    <!-- end of table -->
"""

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import typer

from citeweave.baselines import BASELINES
from citeweave.cli.main import app
from citeweave.parameters import table_of
from citeweave.parameters.describing import markdown_table
from citeweave.parameters.preparation import SETTINGS
from citeweave.parameters.scntm import PARAMETERS

PAGES = Path(__file__).parent

_TABLE = re.compile(r"<!-- table (?P<name>[^\n]+) -->\n.*?<!-- end of table -->", re.DOTALL)


def make_tables() -> dict[str, str]:
    """Write all tables, by name."""
    tables = {"SCNTM": markdown_table(PARAMETERS.values())}
    for entry in BASELINES.values():
        tables[entry.model.__name__] = markdown_table(table_of(entry.model).values())
    tables["settings"] = markdown_table(SETTINGS.values(), "setting")
    command: Any = typer.main.get_command(app)
    tables["citeweave fit"] = option_table(command.commands["fit"])
    return tables


def option_table(command: Any) -> str:
    """Write the options of a command as a table: flags, default, help."""
    lines = ["| option | default | what |", "|---|---|---|"]
    for option in command.params:
        flags = [*option.opts, *option.secondary_opts]
        if flags[0].startswith("--") and option.help:
            names = ", ".join(f"`{flag}`" for flag in flags)
            shown = "" if option.default in {None, False} else f"`{option.default}`"
            lines.append(f"| {names} | {shown} | {option.help} |")
    return "\n".join(lines)


def renewed(text: str, tables: Mapping[str, str]) -> str:
    """Put the tables of a page in their places."""

    def place(match: re.Match[str]) -> str:
        name = match["name"]
        return f"<!-- table {name} -->\n{tables[name]}\n<!-- end of table -->"

    return _TABLE.sub(place, text)


def behind(tables: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    """Give each page whose tables are not as they should be, and its text as it should be."""
    for page in sorted(PAGES.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        new = renewed(text, tables)
        if new != text:
            yield page, new


def main() -> None:
    """Renew all pages."""
    for page, text in behind(make_tables()):
        page.write_text(text, encoding="utf-8")
        sys.stdout.write(f"{page.name} renewed\n")


if __name__ == "__main__":
    main()
