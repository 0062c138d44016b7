"""The Lens: CSV export of scholarly works."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citeweave.readers.formats import Format, Sample, convert
from citeweave.readers.table import Row, table_rows
from citeweave.records import Record, Reference, clean, normalise_doi, parse_names, parse_year

if TYPE_CHECKING:
    from collections.abc import Iterator

    from citeweave.readers.problems import Context
    from citeweave.readers.streams import ByteStream

__all__ = ["FORMAT"]


def _list(row: Row, *columns: str) -> list[str]:
    for column in columns:
        items = [item for item in map(clean, row.get(column, "").split(";")) if item]
        if items:
            return items
    return []


def _record(row: Row, line: int, context: Context) -> Record | None:
    doi = normalise_doi(row.get("doi"))
    fields = _list(row, "fields of study")
    return Record(
        id=clean(row.get("lens id")) or context.fallback_id(doi, line),
        source=context.source(line),
        doi=doi,
        title=clean(row.get("title")),
        abstract=clean(row.get("abstract")),
        keywords=tuple(_list(row, "keywords", "mesh terms")),
        authors=parse_names(_list(row, "author/s", "authors")),
        year=parse_year(row.get("publication year")) or parse_year(row.get("date published")),
        venue=clean(row.get("source title")),
        category=fields[0] if fields else None,
        references=tuple(Reference(id=item) for item in _list(row, "references")),
        language=clean(row.get("language")),
    )


def _read(stream: ByteStream, context: Context) -> Iterator[Record]:
    return convert(table_rows(stream, context), _record, context)


def _sniff(sample: Sample) -> int:
    return 95 if {"lens id", "title"} <= sample.header else 0


FORMAT = Format(
    name="lens",
    label="The Lens CSV",
    sniff=_sniff,
    read=_read,
    suffixes=(".csv",),
    gives="id doi title abstract keywords authors year venue category references",
)
