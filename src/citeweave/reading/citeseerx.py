"""CiteSeerX subsets released by the paper's authors (ML, M10, AvS): seven tab-separated columns."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citeweave.reading.entities import decode_entities
from citeweave.reading.formats import Format, Sample, convert
from citeweave.reading.identifiers import clean
from citeweave.reading.names import parse_names
from citeweave.reading.record import Record, Reference

if TYPE_CHECKING:
    from collections.abc import Iterator

    from citeweave.reading.problems import FileContext
    from citeweave.reading.streams import ByteStream

__all__ = ["FORMAT"]

_COLUMNS = 7


def _list(text: str) -> list[str]:
    """Return the items of ``[a,b,…]``."""
    inner = text.strip().removeprefix("[").removesuffix("]")
    return [item for item in map(clean, inner.split(",")) if item]


def _record(cells: list[str], line: int, context: FileContext) -> Record | None:
    identifier, _, title, keywords, authors = cells[:5]
    # A tab inside the abstract adds columns; the last one is still the citations.
    abstract = " ".join(cells[5:-1])
    return Record(
        id=clean(identifier) or context.fallback_id(None, line),
        source=context.source(line),
        title=clean(title),
        abstract=clean(abstract),
        keywords=tuple(_list(keywords)),
        authors=parse_names(_list(authors)),
        references=tuple(Reference(id=item) for item in _list(cells[-1])),
    )


def _rows(stream: ByteStream, context: FileContext) -> Iterator[tuple[int, list[str]]]:
    for number, line in stream.lines():
        if not line.strip():
            continue
        cells = [
            decode_entities(cell) for cell in line.split("\t")
        ]  # "&#9;" does not separate cells
        if len(cells) < _COLUMNS:
            context.skip(
                number,
                f"expected {_COLUMNS} columns separated by tabs (id, CiteSeerX id, title, "
                f"[keywords], [authors], abstract, [citations]), got {len(cells)}",
            )
            continue
        yield number, cells


def _read(stream: ByteStream, context: FileContext) -> Iterator[Record]:
    return convert(_rows(stream, context), _record, context)


def _sniff(sample: Sample) -> int:
    bracketed = re.compile(r"\s*\[.*\]\s*")
    rows = [line.split("\t") for line in sample.lines[:20]]
    fitting = [
        len(row) >= _COLUMNS
        and all(bracketed.fullmatch(row[place]) for place in (3, 4))
        and bracketed.fullmatch(row[-1]) is not None
        for row in rows
    ]
    # Allow for a few bad lines and for a truncated line at the end of the sample.
    return 85 if fitting and sum(fitting) >= max(1, 0.6 * len(fitting)) else 0


FORMAT = Format(
    name="citeseerx",
    label="CiteSeerX subsets of Lim and Buntine (tab-separated)",
    sniff=_sniff,
    read=_read,
    suffixes=(".txt", ".tsv"),
    gives="id title abstract keywords authors references",
)
