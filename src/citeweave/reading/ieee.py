"""IEEE Xplore: CSV export of search results."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citeweave.reading.affiliations import (
    addresses,
    funder_names,
    share_out,
    with_affiliations,
)
from citeweave.reading.cells import listed, table_reader
from citeweave.reading.formats import Format, Sample
from citeweave.reading.identifiers import clean, normalise_doi, parse_count, parse_year
from citeweave.reading.names import parse_names
from citeweave.reading.record import Record

if TYPE_CHECKING:
    from citeweave.reading.problems import FileContext
    from citeweave.reading.table import Row

__all__ = ["FORMAT"]

_NUMBER = re.compile(r"(?:arnumber=|/document/)(\d+)")


def _record(row: Row, line: int, context: FileContext) -> Record | None:
    doi = normalise_doi(row.get("doi"))
    authors = parse_names(listed(row, "authors"))
    places = listed(row, "author affiliations")
    rest = addresses(places)
    if len(places) == len(authors):
        authors, rest = with_affiliations(authors, [addresses([one]) for one in places]), ()
    else:
        authors, rest = share_out(authors, rest)
    number = _NUMBER.search(row.get("pdf link", ""))
    return Record(
        id=number[1] if number else context.fallback_id(doi, line),
        source=context.source(line),
        doi=doi,
        title=clean(row.get("document title")),
        abstract=clean(row.get("abstract")),
        keywords=tuple(listed(row, "author keywords", "ieee terms", "index terms")),
        authors=authors,
        year=parse_year(row.get("publication year")) or parse_year(row.get("online date")),
        venue=clean(row.get("publication title")),
        affiliations=rest,
        document_type=clean(row.get("document identifier")),
        cited_by=parse_count(row.get("article citation count")),
        funders=funder_names(listed(row, "funding information")),
    )


def _sniff(sample: Sample) -> int:
    if not {"document title", "authors"} <= sample.header:
        return 0
    marks = {"publication title", "pdf link", "ieee terms", "date added to xplore"}
    return 90 if marks & sample.header else 0


FORMAT = Format(
    name="ieee",
    label="IEEE Xplore CSV",
    sniff=_sniff,
    read=table_reader(_record),
    suffixes=(".csv",),
    gives="id doi title abstract keywords authors affiliations year venue document_type cited_by "
    "funders",
)
