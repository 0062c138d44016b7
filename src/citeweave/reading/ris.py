"""RIS, in the dialects of Zotero, EndNote, Mendeley, Scopus, Web of Science and publishers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citeweave.reading.affiliations import share_out
from citeweave.reading.formats import Format, Sample, convert
from citeweave.reading.identifiers import (
    clean,
    find_doi,
    normalise_doi,
    parse_count,
    parse_year,
)
from citeweave.reading.record import Record, Reference
from citeweave.reading.references import free_reference, wos_reference
from citeweave.reading.scopus_references import scopus_references
from citeweave.reading.tagged import Block, address_lines, keyword_list, written_authors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from citeweave.reading.problems import FileContext
    from citeweave.reading.streams import ByteStream

__all__ = ["FORMAT"]

Fields = dict[str, list[str]]

_TAG = re.compile(r"\ufeff?\s{0,3}([A-Z][A-Z0-9])\s{1,3}-(?:\s(.*)|$)")
_NUMBERED_TAG = re.compile(r"\ufeff?\s*\d+[.)]\s+(TY\s{1,3}-.*)")
# The abstract may be under N2 and the title under T1; AB and TI are newer.
_TITLE = ("TI", "T1", "CT", "BT")
_VENUE = ("T2", "JO", "JF", "BT", "JA", "J2", "T3")
_CITED_BY = re.compile(r"Cited By\s*:\s*(\d+)", re.IGNORECASE)
_TYPES = {
    "JOUR": "journal article",
    "EJOUR": "journal article",
    "MGZN": "magazine article",
    "NEWS": "newspaper article",
    "CONF": "conference paper",
    "CPAPER": "conference paper",
    "CHAP": "book chapter",
    "ECHAP": "book chapter",
    "BOOK": "book",
    "EBOOK": "book",
    "EDBOOK": "edited book",
    "THES": "thesis",
    "RPRT": "report",
    "UNPB": "unpublished work",
    "DATA": "data set",
    "PAT": "patent",
}
_REFERENCES = re.compile(r"References?\s*:\s*(.+)", re.DOTALL)


def _first(fields: Fields, *tags: str) -> str | None:
    for tag in tags:
        for value in fields.get(tag, ()):
            text = clean(value)
            if text:
                return text
    return None


def _references(fields: Fields) -> tuple[Reference, ...]:
    references: list[Reference] = []
    for value in fields.get("CR", ()):
        for line in filter(None, map(str.strip, value.split("\n"))):
            parsed = wos_reference(line)
            if parsed is not None:
                references.append(
                    parsed if parsed.year is not None else free_reference(parsed.raw or line)
                )
    for value in fields.get("N1", ()):
        found = _REFERENCES.match(value.strip())
        if found:
            references += scopus_references(" ".join(found[1].split()))
    return tuple(references)


def _document_type(fields: Fields) -> str | None:
    """Return Scopus's own type (M3), or else the meaning of the record's type code."""
    own = _first(fields, "M3")
    if own and own.replace(" ", "").isalpha():
        return own
    code = (_first(fields, "TY") or "").upper()
    return _TYPES.get(code)


def _cited_by(fields: Fields) -> int | None:
    found = (_CITED_BY.search(note[:2000]) for note in fields.get("N1", ()))
    return next((parse_count(one[1]) for one in found if one), None)


def _doi(fields: Fields) -> str | None:
    doi = normalise_doi(_first(fields, "DO", "DI"))
    if doi is None:
        for tag in ("M3", "L3", "UR", "N1", "ID"):
            for value in fields.get(tag, ()):
                if "doi" in value.lower() and len(value) < 2000:
                    doi = doi or find_doi(value)
    return doi


def _record(fields: Fields, line: int, context: FileContext) -> Record | None:
    doi = _doi(fields)
    title = _first(fields, *_TITLE)
    venue = _first(fields, *(tag for tag in _VENUE if fields.get(tag) != fields.get("TI")))
    year = None
    for tag in ("PY", "Y1", "DA", "Y2"):
        year = year or parse_year(_first(fields, tag))
    names = fields.get("AU") or fields.get("A1") or ()
    authors, rest = share_out(written_authors(names), address_lines(fields.get("AD", ())))
    return Record(
        id=_first(fields, "AN", "UT", "ID") or context.fallback_id(doi, line),
        source=context.source(line),
        doi=doi,
        title=title,
        abstract=_first(fields, "AB", "N2"),
        keywords=keyword_list(fields.get("KW", ())),
        authors=authors,
        year=year,
        venue=venue if venue != title else None,
        references=_references(fields),
        language=_first(fields, "LA"),
        affiliations=rest,
        document_type=_document_type(fields),
        cited_by=_cited_by(fields),
    )


def _blocks(stream: ByteStream, context: FileContext) -> Iterator[tuple[int, Fields]]:
    """Yield (line, fields) of each record, from ``TY`` to ``ER``, the next ``TY`` or the end."""
    block: Block | None = None
    seen = False
    for number, raw in stream.lines():
        found = _TAG.fullmatch(raw)
        if found is None and (numbered := _NUMBERED_TAG.fullmatch(raw)):
            found = _TAG.fullmatch(numbered[1])
        if found is None:
            # A value continues on the next line, as in abstracts and notes.
            if block is not None and raw.strip():
                block.extend(raw.strip(), context)
            continue
        tag, value = found[1], found[2] or ""
        if tag == "TY":
            if block is not None:
                context.note(block.start, "the record has no end (ER)", field="ER")
                yield block.start, block.joined("\n")
            block, seen = Block(number), True
            block.add(tag, value, context)
        elif block is not None and tag == "ER":
            yield block.start, block.joined("\n")
            block = None
        elif block is not None:
            block.add(tag, value, context)
    if block is not None:
        context.note(block.start, "the file ends inside this record", field="ER")
        yield block.start, block.joined("\n")
    if not seen:
        context.refuse("no RIS record found: no line starts with 'TY  - '")


def _read(stream: ByteStream, context: FileContext) -> Iterator[Record]:
    return convert(_blocks(stream, context), _record, context)


def _sniff(sample: Sample) -> int:
    lines = sample.lines[:60]
    if not any(re.match(r"\ufeff?\s*(?:\d+[.)]\s+)?TY\s{1,3}-", line) for line in lines):
        return 0
    tagged = sum(_TAG.fullmatch(line) is not None for line in lines)
    return 85 if tagged >= 2 else 55


FORMAT = Format(
    name="ris",
    label="RIS",
    sniff=_sniff,
    read=_read,
    suffixes=(".ris", ".txt"),
    gives="id doi title abstract keywords authors affiliations year venue references language "
    "document_type cited_by",
)
