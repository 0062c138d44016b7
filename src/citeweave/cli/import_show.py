"""Print the report of an import on the terminal."""

from collections.abc import Iterator
from typing import NamedTuple, Self

from rich.console import Console, RenderableType
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from citeweave.cli.show import new_table
from citeweave.preparing import Report
from citeweave.preparing.page import cell_text
from citeweave.preparing.sections import Section, sections
from citeweave.wording import count

__all__ = ["print_report", "print_short_report"]

_GAP = 6


def print_report(console: Console, report: Report) -> None:
    """Print all sections, with warnings last, and small tables side by side."""
    made = sections(report)
    tables = [_Shown.of(section, console.width) for section in made if section.key != "warnings"]
    for renderable in _side_by_side(console, tables):
        console.print(renderable)
    for section in made:
        if section.key == "warnings":
            console.print(Text(section.title, style="bold yellow"))
            for row in section.rows:
                console.print(Padding(Text(f"- {row[0]}"), (0, 0, 0, 1)))


def print_short_report(console: Console, report: Report) -> None:
    """Print a short summary, for commands that import as a first step."""
    values = report.as_dict()
    parts = [f"{count(values['records_read'], 'record')} read"]
    parts += [f"{number:,} {reason}" for reason, number in values["skipped_by_reason"].items()]
    console.print(", ".join(parts))
    if values["references"]:
        console.print(
            f"{count(values['references'], 'reference')}, "
            f"{values['citations_matched']:,} of them to papers in the corpus"
        )
    for warning in values["warnings"]:
        console.print(f"- {warning}")
    if values["problems_total"]:
        console.print(f"- {count(values['problems_total'], 'problem')} while reading.")


class _Shown(NamedTuple):
    """A table and the note below it, which may be wider."""

    table: Table
    note: str

    @classmethod
    def of(cls, section: Section, width: int) -> Self:
        left = max(section.total_rows, len(section.rows)) - min(len(section.rows), section.brief)
        notes = [section.note] if section.note else []
        if left > 0:
            notes.append(f"And {left:,} more.")
        return cls(_table(section, width), " ".join(notes))


def _table(section: Section, width: int) -> Table:
    table = new_table(section.title, expand=False)
    rows = section.rows[: section.brief]
    doubled = section.key == "phrases" and len(rows) > 6 and width >= 80
    numeric = section.numeric
    for _ in range(2 if doubled else 1):
        for name, right in zip(section.columns, numeric, strict=True):
            table.add_column(
                name,
                justify="right" if right else "left",
                no_wrap=right,
                overflow="fold",
            )
    # rows that name themselves need no headings such as "number" and "share"
    table.show_header = section.columns[0] != "" or len(section.columns) > 3
    # some terminal encodings lack the minus sign
    lines = [[cell_text(cell).replace("−", "-") for cell in row] for row in rows]
    if doubled:
        half = (len(lines) + 1) // 2
        blank = [""] * len(section.columns)
        second = [*lines[half:], blank][:half]
        lines = [one + other for one, other in zip(lines[:half], second, strict=True)]
    for number, line in enumerate(lines):
        table.add_row(*line, style="bold" if number in section.emphasis else None)
    return table


def _side_by_side(console: Console, shown: list[_Shown]) -> Iterator[RenderableType]:
    """Put neighbouring tables side by side if both fit."""
    waiting: Table | None = None
    for table, note in shown:
        if waiting is not None:
            together = _width(console, waiting) + _GAP + _width(console, table)
            if not note and together <= console.width:
                row = Table.grid(padding=(0, _GAP, 0, 0))
                row.add_row(waiting, table)
                yield row
                waiting = None
                continue
            yield waiting
            waiting = None
        if note:
            yield table
            yield Padding(Text(note, style="dim"), (0, 0, 1, 1))
        else:
            waiting = table
    if waiting is not None:
        yield waiting


def _width(console: Console, table: Table) -> int:
    free = console.options.update(width=10_000)
    return Measurement.get(console, free, table).maximum
