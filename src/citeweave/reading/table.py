"""Read rows of CSV and TSV files as dictionaries, tolerating broken quotation marks.

One stray quotation mark makes a strict CSV parser swallow every row after it. Here a row may span
many lines; but if it does not end, or has the wrong number of cells, only its first line is skipped
and reading continues with the second.
"""

from __future__ import annotations

import csv
from collections import deque
from typing import TYPE_CHECKING, Literal, TypeAlias

from citeweave.reading.entities import decode_entities
from citeweave.reading.formats import Sample
from citeweave.reading.limits import MOST_COLUMNS, has_too_many_columns
from citeweave.reading.streams import SheetStream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from citeweave.reading.problems import FileContext
    from citeweave.reading.streams import ByteStream

__all__ = ["Align", "Row", "table_rows"]

Row = dict[str, str]
Align: TypeAlias = "Callable[[list[str], list[str]], list[str] | None]"

_MOST_LINES = 1000
_MOST_CHARACTERS = 1 << 20


def table_rows(
    stream: ByteStream,
    context: FileContext,
    *,
    delimiter: str | None = None,
    quoted: bool = True,
    align: Align | None = None,
) -> Iterator[tuple[int, Row]]:
    """Yield (line, row) of each non-empty row; keys are the header in lower case.

    Parameters
    ----------
    stream : ByteStream
        The file.
    context : FileContext
        Where problems go.
    delimiter : str or None
        Separator between cells (default: detected from the first line).
    quoted : bool
        Whether quotation marks enclose cells; in Web of Science tables they do not.
    align : callable or None
        Maps the header and the cells of a mismatched row to cells that match, if the format knows
        how to repair such rows; otherwise to None.
    """
    if isinstance(stream, SheetStream):
        yield from _sheet_rows(stream, context)
        return
    lines = _CountedLines(stream.lines(), context)
    sample = Sample("", stream.head, stream.head_text)
    if delimiter is None:
        delimiter = sample.delimiter
    if has_too_many_columns(sample.table_head, delimiter):
        context.refuse(f"the table has more than {MOST_COLUMNS} columns")
        return
    header = _header(lines, sample.table_head, delimiter, quoted=quoted)
    if not header:
        context.refuse("the table is empty")
        return
    # The last column of an export is often followed by an empty one.
    widths = {len(header)}
    while header and not header[-1]:
        header.pop()
    width = len(header)
    widths.add(width)
    bad_from: int | None = None
    bad_to = 0
    aligned_before = False

    def fits(cells: list[str]) -> bool:
        return len(cells) in widths or (align is not None and align(header, cells) is not None)

    while True:
        taken = lines.take_row(delimiter, fits, quoted=quoted)
        if taken is None:
            break
        number, cells, whole = taken
        if align is not None and whole and len(cells) != width:
            aligned = align(header, cells)
            if aligned is not None:
                if not aligned_before:
                    context.note(
                        number,
                        f"{len(cells)} cells for {width} columns; this and further such rows were "
                        "realigned",
                    )
                aligned_before = True
                cells = aligned
        after_bad = bad_from is not None and number == bad_to + 1
        if len(cells) not in widths and (after_bad or not whole):
            # Lines after a broken row usually belong to it: report them together.
            if bad_from is not None and number != bad_to + 1:
                _report(context, bad_from, bad_to)
                bad_from = None
            bad_from = number if bad_from is None else bad_from
            bad_to = number
            continue
        if bad_from is not None:
            _report(context, bad_from, bad_to)
            bad_from = None
        if not any(cell and not cell.isspace() for cell in cells):
            continue
        widths.add(len(cells))
        if not whole:
            context.note(number, "unbalanced quotation marks; the line was read on its own")
        elif len(cells) > width and any(cell.strip() for cell in cells[width:]):
            context.note(number, f"{len(cells)} cells for {width} columns; the last are ignored")
        elif len(cells) < width:
            context.note(number, f"only {len(cells)} cells for {width} columns")
        yield number, dict(zip(header, map(decode_entities, cells), strict=False))
    if bad_from is not None:
        _report(context, bad_from, bad_to)


def _sheet_rows(stream: SheetStream, context: FileContext) -> Iterator[tuple[int, Row]]:
    """Yield the rows of a spreadsheet, whose cells need no parsing."""
    header: list[str] = []
    for number, cells in stream.rows:
        if not header:
            header = _column_names(cells)
            continue
        if len(cells) > len(header):
            context.note(number, f"{len(cells)} cells for {len(header)} columns")
        row = dict(zip(header, map(decode_entities, cells), strict=False))
        yield number, {**dict.fromkeys(header, ""), **row}


def _report(context: FileContext, first: int, last: int) -> None:
    lines = f"lines {first} to {last}" if last > first else "the line"
    context.skip(
        first,
        f"{lines} skipped: the quotation marks or the number of cells do not match the header",
    )


def _header(lines: _CountedLines, head: str, delimiter: str, *, quoted: bool) -> list[str]:
    """Return the column names from the line that starts with `head`."""
    lines.drop_before(head)
    taken = lines.take_row(delimiter, lambda _: True, quoted=quoted)
    if taken is None:
        return []
    return _column_names(taken[1])


def _column_names(row: list[str]) -> list[str]:
    """Return the column names in lower case, with numbers added to repeated ones."""
    cells = [" ".join(cell.split()).lower() for cell in row]
    seen: dict[str, int] = {}
    for place, cell in enumerate(cells):
        seen[cell] = seen.get(cell, 0) + 1
        if seen[cell] > 1 and cell:
            cells[place] = f"{cell}.{seen[cell]}"
    return cells


class _CountedLines:
    """A line iterator with push-back."""

    def __init__(self, lines: Iterator[tuple[int, str]], context: FileContext) -> None:
        self._source = lines
        self._context = context
        self._back: deque[tuple[int, str]] = deque()

    def _next(self) -> tuple[int, str] | None:
        if self._back:
            return self._back.popleft()
        return next(self._source, None)

    def drop_before(self, head: str) -> None:
        """Skip the lines before the one that starts with `head`."""
        while (line := self._next()) is not None:
            if line[1].startswith(head):
                self._back.appendleft(line)
                return

    def take_row(
        self, delimiter: str, fits: Callable[[list[str]], bool], *, quoted: bool
    ) -> tuple[int, list[str], bool] | None:
        """Return the line number and cells of the next row, and whether it is complete.

        A row over several lines must match the header; otherwise its quotation mark is assumed to
        be unclosed.
        """
        taken: list[tuple[int, str]] = []
        ran_out = False

        def feed() -> Iterator[str]:
            nonlocal ran_out
            size = 0
            while True:
                line = None
                if len(taken) < _MOST_LINES and size <= _MOST_CHARACTERS:
                    line = self._next()
                if line is None:
                    ran_out = True
                    return
                taken.append(line)
                size += len(line[1])
                yield line[1] + "\n"

        while (line := self._next()) is not None and has_too_many_columns(line[1], delimiter):
            self._context.skip(line[0], f"line with more than {MOST_COLUMNS} cells skipped")
        if line is not None:
            self._back.appendleft(line)
        cells = _parse(feed(), delimiter, quoted=quoted)
        if not taken:
            return None
        number = taken[0][0]
        if not ran_out and (len(taken) == 1 or _one_row(taken, cells, delimiter, fits)):
            return number, cells, True
        if len(taken) > 1:
            self._back.extendleft(reversed(taken[1:]))
            cells = _parse(iter([taken[0][1]]), delimiter, quoted=quoted)
        return number, cells, False


def _one_row(
    taken: list[tuple[int, str]],
    cells: list[str],
    delimiter: str,
    fits: Callable[[list[str]], bool],
) -> bool:
    """Return whether several lines are one row, and not two whose quotation marks pair up.

    A mark left open in one row may be closed by the opening mark in the same column of a later
    row, with the right number of cells. But then text follows a closing mark, and that row, the
    last line, is complete by itself; or the second line is.
    """
    if not fits(cells):
        return False
    text = [line + "\n" for _, line in taken]
    try:
        _parse(iter(text), delimiter, quoted=True, strict=True)
    except csv.Error:
        lines = (text[1], text[-1])
        return not any(fits(_parse(iter([line]), delimiter, quoted=True)) for line in lines)
    return True


def _parse(
    lines: Iterator[str], delimiter: str, *, quoted: bool, strict: bool = False
) -> list[str]:
    """Read one row, taking as many lines as its quotation marks require."""
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
    # The csv module's limit of 128 kB per cell is too small for long reference lists; rows are
    # limited above anyway. The limit is global to the process and therefore restored.
    limit = csv.field_size_limit(1 << 28)
    try:
        cells = next(csv.reader(lines, delimiter=delimiter, quoting=quoting, strict=strict), [])
    finally:
        csv.field_size_limit(limit)
    if cells and cells[-1].endswith("\n"):
        cells[-1] = cells[-1].rstrip("\n")
    return cells
