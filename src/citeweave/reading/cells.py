"""What the readers of tables share: cells of a row under any of several headings."""

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
    """Return the first of these columns that holds something.

    Examples
    --------
    >>> cell({"title": " ", "document title": "Topic models"}, "title", "document title")
    'Topic models'
    """
    return next((text for column in columns if (text := clean(row.get(column)))), None)


def listed(row: Row, *columns: str, mark: str = ";") -> list[str]:
    """Return the items of the first of these columns that has any.

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
    """Make the reader of a table from what makes a record of a row."""

    def read(stream: ByteStream, context: FileContext) -> Iterator[Record]:
        return convert(table_rows(stream, context, align=align), make, context)

    return read
