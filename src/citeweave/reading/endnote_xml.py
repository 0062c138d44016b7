"""EndNote's XML export."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citeweave.reading.affiliations import share_out
from citeweave.reading.formats import Format, Sample, convert
from citeweave.reading.identifiers import find_doi, normalise_doi, parse_year
from citeweave.reading.record import Record
from citeweave.reading.tagged import address_lines, keyword_list, written_authors
from citeweave.reading.xmlrecords import begins_as_xml, texts_of, xml_records

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

    from citeweave.reading.problems import FileContext
    from citeweave.reading.streams import ByteStream

__all__ = ["FORMAT"]


def _first(record: Element, *paths: str) -> str | None:
    """Return the first text, which may be inside ``style`` elements."""
    return next((text for path in paths for text in texts_of(record, path)), None)


def _lines(record: Element, path: str) -> list[str]:
    """Return the texts under a path with their line ends, which separate list items."""
    return ["".join(one.itertext()) for one in record.iterfind(path)]


def _doi(record: Element) -> str | None:
    doi = normalise_doi(_first(record, "electronic-resource-num"))
    for url in texts_of(record, "urls//url"):
        doi = doi or (find_doi(url) if "doi" in url.lower() else None)
    return doi


def _type(record: Element) -> str | None:
    """Return the reference type in lower case, as in other formats."""
    kind = record.find("ref-type")
    name = (kind.get("name") or "").strip().lower() if kind is not None else ""
    return _first(record, "work-type") or name or None


def _record(record: Element, line: int, context: FileContext) -> Record | None:
    doi = _doi(record)
    title = _first(record, "titles/title", "titles/short-title")
    venue = _first(
        record,
        *("periodical/full-title", "titles/secondary-title", "alt-periodical/full-title"),
        *("titles/alt-title", "periodical/abbr-1", "titles/tertiary-title"),
    )
    authors, rest = share_out(
        written_authors(_lines(record, "contributors/authors/author")),
        address_lines(_lines(record, "auth-address")),
    )
    return Record(
        id=_first(record, "accession-num") or context.fallback_id(doi, line),
        source=context.source(line),
        doi=doi,
        title=title,
        abstract=_first(record, "abstract"),
        keywords=keyword_list(_lines(record, "keywords/keyword")),
        authors=authors,
        year=parse_year(_first(record, "dates/year"))
        or parse_year(_first(record, "dates/pub-dates/date")),
        venue=venue if venue != title else None,
        language=_first(record, "language"),
        affiliations=rest,
        document_type=_type(record),
    )


def _read(stream: ByteStream, context: FileContext) -> Iterator[Record]:
    return convert(xml_records(stream, context, "record"), _record, context)


def _sniff(sample: Sample) -> int:
    if not begins_as_xml(sample.text) or "<record" not in sample.text:
        return 0
    return 95 if "<ref-type" in sample.text and "<titles" in sample.text else 0


FORMAT = Format(
    name="endnote-xml",
    label="EndNote XML",
    sniff=_sniff,
    read=_read,
    suffixes=(".xml",),
    gives="id doi title abstract keywords authors affiliations year venue language document_type",
)
