"""Add rows of an earlier page to tables that lack them.

Rows that another release made are marked as earlier. Those of this release would be the same if
they were computed again, so they are not.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

from citeweave import __version__
from reproduction.base import Cell, Spread, Table
from reproduction.writers import cell_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from reproduction.base import Outcome

__all__ = ["EarlierTable", "read_sections", "read_tables", "with_earlier_rows", "without_mark"]

MARK = " (earlier)"
SAID = "Earlier: "
"""Start of the notes of an earlier page on a table whose rows are used."""

MADE = f"Rows marked{MARK} come from earlier runs with these settings: "
"""Start of the note on their origin."""

KEPT = "Rows that were not finished here come from an earlier run of the same release: "
"""Start of the note on the origin of rows without a mark."""

FILLED = "From earlier runs: "
"""Start of the list of single figures that were filled in."""

_SPREAD = re.compile(r"([+−-]?[\d,.]+) ± ([\d,.]+)")
_NUMBER = re.compile(r"[+−-]?[\d,]+(\.\d+)?")
_ESCAPED = re.compile(r"\\([\\|<*_`])")
_MADE = re.compile(rf"^- {re.escape(MADE)}(.*)$", re.MULTILINE)
_KEPT = re.compile(rf"^- {re.escape(KEPT)}(.*)$", re.MULTILINE)
_COLOPHON = re.compile(r"<sub>(.*?)</sub>", re.DOTALL)


class EarlierTable(NamedTuple):
    """A table as a page shows it."""

    columns: list[str]
    rows: list[list[Cell]]
    notes: list[str]
    decimals: dict[str, int]
    """Decimal places by column."""
    signed: list[str]
    """Columns whose figures have a sign."""


def read_sections(page: Path) -> dict[str, str]:
    """Read the sections of a joined page by their titles; empty if there is no page."""
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
        # a bar inside a cell is escaped, so it is not " | "
        cells = [[_plain(cell) for cell in line[2:-2].split(" | ")] for line in lines]
        if cells:
            rows = [[_cell(text) for text in row] for row in cells[1:]]
            texts = dict(zip(cells[0], zip(*cells[1:], strict=True), strict=True))
            below = rest.partition("\n\n- ")[2].partition("\n\n")[0]
            notes = [_plain(note.strip()) for note in below.split("\n- ") if note.strip()]
            decimals = {name: max(map(_places, column)) for name, column in texts.items()}
            signed = [name for name, column in texts.items() if any(c[0] in "+−" for c in column)]
            found[_plain(title)] = EarlierTable(cells[0], rows, notes, decimals, signed)
    return found


def _plain(text: str) -> str:
    return _ESCAPED.sub(r"\1", text)


def with_earlier_rows(outcome: Outcome, page: Path) -> Outcome:
    """Add tables, rows and figures of a page's section of the same title where they are lacking.

    Tables are matched by title, columns by name (a table may have more of them than it had), rows
    by their words before the first figure. Rows that are added, or that have only earlier figures,
    are marked if another release made them. If a row has figures of its own and lacks others, these
    are filled in and listed below the table. The notes of the earlier table are copied, and notes
    give the origin of all of this.
    """
    section = read_sections(page).get(outcome.title, "")
    earlier = read_tables(_without_page_notes(section) if outcome.notes else section)
    made = " ".join(" ".join(text.split()) for text in _COLOPHON.findall(section))
    same = f"Versions: citeweave {__version__}," in made
    tables = [_merged(table, earlier.get(table.title), same=same) for table in outcome.tables]
    _put_missing(tables, earlier, same=same)
    if len(tables) == len(outcome.tables) and all(
        new is old for new, old in zip(tables, outcome.tables, strict=True)
    ):
        return outcome
    still, kept = _MADE.search(section), _KEPT.search(section)
    notes = []
    if same:
        notes = [f"{KEPT}{made}{f' Kept there already: {kept.group(1)}' if kept else ''}"]
        marked_left = any(_is_marked(row) for table in tables for row in table.rows)
        notes += [f"{MADE}{still.group(1)}"] if still is not None and marked_left else []
    else:
        marked = f" Marked there already: {still.group(1)}" if still is not None else ""
        notes = [f"{MADE}{made}{marked}"]
    return replace(outcome, tables=tables, notes=[*outcome.notes, *notes])


def _put_missing(tables: list[Table], earlier: dict[str, EarlierTable], *, same: bool) -> None:
    """Insert tables that only the earlier section has, each behind the one that it followed."""
    before = None
    for title, table in earlier.items():
        titles = [one.title for one in tables]
        if title not in titles:
            place = titles.index(before) + 1 if before is not None else 0
            rows = [_taken(row, same=same) for row in table.rows]
            notes = [note if same else f"{SAID}{note.removeprefix(SAID)}" for note in table.notes]
            found = Table(
                title=title,
                columns=table.columns,
                rows=rows,
                decimals=table.decimals,
                notes=notes,
                signed=table.signed,
            )
            tables.insert(place, found)
        before = title


def _without_page_notes(section: str) -> str:
    """Remove the notes of the whole page, which would look like those of its last table.

    They are the last list before the small print. An experiment that has notes now had some then.
    """
    body = section.partition("<sub>")[0].rstrip()
    before, _, last = body.rpartition("\n\n")
    return f"{before}\n" if last.startswith("- ") else section


def without_mark(name: str) -> str:
    """Return the first word of a row as it was before it was marked.

    Examples
    --------
    >>> without_mark("cora (earlier)"), without_mark("cora")
    ('cora', 'cora')
    """
    return name.removesuffix(MARK)


def _merged(table: Table, earlier: EarlierTable | None, *, same: bool) -> Table:
    if earlier is None or not set(earlier.columns) <= set(table.columns):
        return table
    before = {_head(row): _placed(row, earlier.columns, table.columns) for row in earlier.rows}
    rows: list[Sequence[Cell]] = []
    filled: list[str] = []
    for row in table.rows:
        old = before.pop(_head(row), None)
        lacking = [] if old is None else _lacking(row, old)
        if old is None or not lacking:
            rows.append(row)
        elif _adds_nothing(table, row, old):
            rows.append(_taken(old, same=same))
        else:
            rows.append([was if cell is None else cell for cell, was in zip(row, old, strict=True)])
            names = ", ".join(table.columns[place] for place in lacking)
            filled.append(f"{' '.join(_head(row))} ({names})")
    rows = _in_order(rows, [_taken(row, same=same) for row in before.values()], earlier.rows)
    if len(rows) == len(table.rows) and all(a is b for a, b in zip(rows, table.rows, strict=True)):
        return table
    # the notes on these rows apply here, too
    said = [note for note in earlier.notes if note.removeprefix(SAID) not in table.notes]
    if not any(map(_is_marked, rows)):  # what such notes are about is gone
        said = [note for note in said if not note.startswith(SAID)]
    notes = said if same else [f"{SAID}{note.removeprefix(SAID)}" for note in said]
    if filled:
        notes.append(f"{FILLED}{'; '.join(filled)}.")
    return replace(table, rows=rows, notes=[*table.notes, *notes])


def _placed(row: Sequence[Cell], columns: Sequence[str], wanted: Sequence[str]) -> list[Cell]:
    """Arrange the cells of a row by the columns of another table."""
    cells = dict(zip(columns, row, strict=True))
    return [cells.get(name) for name in wanted]


def _lacking(row: Sequence[Cell], old: Sequence[Cell]) -> list[int]:
    """Find the positions of cells that only the earlier row has."""
    both = enumerate(zip(row, old, strict=True))
    return [place for place, (a, b) in both if a is None and b is not None]


def _adds_nothing(table: Table, row: Sequence[Cell], old: Sequence[Cell]) -> bool:
    """Whether all figures of a row are also in the earlier one, as those of the paper are."""
    digits = [table.decimals.get(name, 3) for name in table.columns]
    return all(
        cell is None
        or isinstance(cell, str)
        or (was is not None and cell_text(cell, places) == cell_text(was, places))
        for cell, was, places in zip(row, old, digits, strict=True)
    )


def _in_order(
    rows: Sequence[Sequence[Cell]],
    taken: Sequence[Sequence[Cell]],
    earlier: Sequence[Sequence[Cell]],
) -> list[Sequence[Cell]]:
    """Put rows that were taken where they stood between those that both pages have."""
    found, waiting = list(rows), {_head(row): row for row in taken}
    before: tuple[str, ...] = ()
    for row in earlier:
        head = _head(row)
        if head in waiting:
            heads = [_head(one) for one in found]
            found.insert(heads.index(before) + 1 if before in heads else 0, waiting[head])
        before = head
    return found


def _taken(row: Sequence[Cell], *, same: bool) -> list[Cell]:
    """Return an earlier row, marked unless this release made it."""
    return list(row) if same else [f"{_head(row)[0]}{MARK}", *row[1:]]


def _is_marked(row: Sequence[Cell]) -> bool:
    return str(row[0]).endswith(MARK)


def _head(row: Sequence[Cell]) -> tuple[str, ...]:
    """Return the key of a row: its words before the first figure, without the mark."""
    words = takewhile(lambda cell: isinstance(cell, str), row)
    return tuple(without_mark(str(cell)) for cell in words)


def _cell(text: str) -> Cell:
    """Read a cell as `reproduction.writers.cell_text` writes it."""
    if text == "–":
        return None
    found = _SPREAD.fullmatch(text)
    if found:
        mean, sd = (_number(part) for part in found.groups())
        return Spread(float(mean), float(sd))
    return _number(text) if _NUMBER.fullmatch(text) else text


def _places(text: str) -> int:
    """Return the number of decimal places of a cell."""
    found = re.match(r"[+−-]?[\d,]+\.(\d+)", text)
    return len(found.group(1)) if found else 0


def _number(text: str) -> int | float:
    plain = text.replace(",", "").replace("−", "-")
    return float(plain) if "." in plain else int(plain)
