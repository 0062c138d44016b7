"""Rows of an earlier run put into tables that lack them, each marked as such."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

from reproduction.base import Cell, Spread

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from reproduction.base import Outcome, Table

__all__ = ["EarlierTable", "read_sections", "read_tables", "with_earlier_rows"]

MARK = " (earlier)"
SAID = "Earlier: "
"""Begins what an earlier page said below a table whose rows are taken."""

_SPREAD = re.compile(r"([+−-]?[\d,.]+) ± ([\d,.]+)")
_NUMBER = re.compile(r"[+−-]?[\d,]+(\.\d+)?")
_ESCAPED = re.compile(r"\\([\\|<*_`])")
_COLOPHON = re.compile(r"<sub>(.*?)</sub>", re.DOTALL)


class EarlierTable(NamedTuple):
    """A table as a page shows it."""

    columns: list[str]
    rows: list[list[Cell]]
    notes: list[str]


def read_sections(page: Path) -> dict[str, str]:
    """Read the sections of a joined page by their titles; none where it is not there."""
    if not page.is_file():
        return {}
    parts = page.read_text(encoding="utf-8").split("\n## ")[1:]
    return {part.partition("\n")[0]: f"## {part.rstrip()}\n" for part in parts}


def read_tables(section: str) -> dict[str, EarlierTable]:
    r"""Read the tables of a section by their titles.

    Examples
    --------
    >>> text = "### Sizes\n\n| model | NMI |\n|---|--:|\n| A\\_b | 0.5 ± 0.1 |\n| C | – |\n"
    >>> read_tables(text)["Sizes"].rows
    [['A_b', Spread(mean=0.5, sd=0.1, n=1)], ['C', None]]
    """
    found = {}
    for part in re.split(r"^### ", section, flags=re.MULTILINE)[1:]:
        title, _, rest = part.partition("\n")
        lines = [line for line in rest.splitlines() if line.startswith("| ")]
        # a sign of a cell itself is escaped, and no " | "
        cells = [[_plain(cell) for cell in line[2:-2].split(" | ")] for line in lines]
        if cells:
            rows = [[_cell(text) for text in row] for row in cells[1:]]
            below = rest.partition("\n\n- ")[2].partition("\n\n")[0]
            notes = [_plain(note.strip()) for note in below.split("\n- ") if note.strip()]
            found[_plain(title)] = EarlierTable(cells[0], rows, notes)
    return found


def _plain(text: str) -> str:
    return _ESCAPED.sub(r"\1", text)


def with_earlier_rows(outcome: Outcome, page: Path) -> Outcome:
    """Add rows of a page's section of the same title to tables that lack them.

    Tables are matched by title and columns, rows by their words before the first figure. A row
    that is added is marked, what was said below its table comes with it, and a note says how the
    earlier ones came about.
    """
    section = read_sections(page).get(outcome.title, "")
    earlier = read_tables(section)
    tables = [_merged(table, earlier.get(table.title)) for table in outcome.tables]
    if all(new is old for new, old in zip(tables, outcome.tables, strict=True)):
        return outcome
    made = " ".join(" ".join(text.split()) for text in _COLOPHON.findall(section))
    note = f"Rows marked{MARK} are of earlier runs, with the settings of these: {made}"
    return replace(outcome, tables=tables, notes=[*outcome.notes, note])


def _merged(table: Table, earlier: EarlierTable | None) -> Table:
    if earlier is None or earlier.columns != list(table.columns):
        return table
    known = {_head(row) for row in table.rows}
    lacking = [
        [f"{_head(row)[0]}{MARK}", *row[1:]] for row in earlier.rows if _head(row) not in known
    ]
    if not lacking:
        return table
    # what was said of the rows below their table holds of them here
    said = [note.removeprefix(SAID) for note in earlier.notes]
    notes = [f"{SAID}{note}" for note in said if note not in table.notes]
    return replace(table, rows=[*table.rows, *lacking], notes=[*table.notes, *notes])


def _head(row: Sequence[Cell]) -> tuple[str, ...]:
    """Give what a row is about: its words before the first figure, without the mark."""
    words = takewhile(lambda cell: isinstance(cell, str), row)
    return tuple(str(cell).removesuffix(MARK) for cell in words)


def _cell(text: str) -> Cell:
    """Read a cell as `reproduction.writers.cell_text` writes it."""
    if text == "–":
        return None
    found = _SPREAD.fullmatch(text)
    if found:
        mean, sd = (_number(part) for part in found.groups())
        return Spread(float(mean), float(sd))
    return _number(text) if _NUMBER.fullmatch(text) else text


def _number(text: str) -> int | float:
    plain = text.replace(",", "").replace("−", "-")
    return float(plain) if "." in plain else int(plain)
