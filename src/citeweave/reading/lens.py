"""The Lens: CSV export of scholarly works."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citeweave.reading.affiliations import funder_names
from citeweave.reading.cells import listed, table_reader
from citeweave.reading.formats import Format, Sample
from citeweave.reading.identifiers import clean, normalise_doi, parse_count, parse_year
from citeweave.reading.names import parse_names
from citeweave.reading.record import Record, Reference

if TYPE_CHECKING:
    from citeweave.reading.problems import FileContext
    from citeweave.reading.table import Row

__all__ = ["FORMAT"]


def _record(row: Row, line: int, context: FileContext) -> Record | None:
    doi = normalise_doi(row.get("doi"))
    fields = listed(row, "fields of study")
    return Record(
        id=clean(row.get("lens id")) or context.fallback_id(doi, line),
        source=context.source(line),
        doi=doi,
        title=clean(row.get("title")),
        abstract=clean(row.get("abstract")),
        keywords=tuple(listed(row, "keywords", "mesh terms")),
        authors=parse_names(listed(row, "author/s", "authors")),
        year=parse_year(row.get("publication year")) or parse_year(row.get("date published")),
        venue=clean(row.get("source title")),
        category=fields[0] if fields else None,
        references=tuple(Reference(id=item) for item in listed(row, "references")),
        language=clean(row.get("language")),
        document_type=clean(row.get("publication type")),
        cited_by=parse_count(row.get("citing works count")),
        funders=funder_names(listed(row, "funding")),
    )


def _sniff(sample: Sample) -> int:
    return 95 if {"lens id", "title"} <= sample.header else 0


FORMAT = Format(
    name="lens",
    label="The Lens CSV",
    sniff=_sniff,
    read=table_reader(_record),
    suffixes=(".csv",),
    gives="id doi title abstract keywords authors year venue category references "
    "document_type cited_by funders",
)
