"""Helpers for readers of tables: find the cell of a row under one of several headings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citeweave.reading.formats import convert
from citeweave.reading.identifiers import clean
from citeweave.reading.table import table_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from citeweave.reading.problems import FileContext
    from citeweave.reading.record import Record
    from citeweave.reading.streams import ByteStream
    from citeweave.reading.table import Align, Row

__all__ = ["cell", "listed", "table_reader"]


def cell(row: Row, *columns: str) -> str | None:
    """Return the first non-empty cell among these columns.

    Examples
    --------
    >>> cell({"title": " ", "document title": "Topic models"}, "title", "document title")
    'Topic models'
    """
    return next((text for column in columns if (text := clean(row.get(column)))), None)


def listed(row: Row, *columns: str, mark: str = ";") -> list[str]:
    """Return the items of the first non-empty column among these.

    Examples
    --------
    >>> listed({"keywords": "topics; ; citations"}, "author keywords", "keywords")
    ['topics', 'citations']
    """
    for column in columns:
        items = [item for item in map(clean, row.get(column, "").split(mark)) if item]
        if items:
            return items
    return []


def table_reader(
    make: Callable[[Row, int, FileContext], Record | None],
    *,
    align: Align | None = None,
) -> Callable[[ByteStream, FileContext], Iterator[Record]]:
    """Create the reader of a table from a function that turns a row into a record."""

    def read(stream: ByteStream, context: FileContext) -> Iterator[Record]:
        return convert(table_rows(stream, context, align=align), make, context)

    return read
