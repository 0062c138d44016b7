"""Web of Science: plain text (``FN``/``VR``, also ``.ciw``) and tab-delimited."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citeweave.reading.affiliations import (
    affiliations_in_brackets,
    funder_names,
    split_outside_brackets,
)
from citeweave.reading.formats import Format, Sample, convert
from citeweave.reading.identifiers import (
    clean,
    normalise_doi,
    normalise_orcid,
    normalise_researcher_id,
    parse_count,
    parse_year,
)
from citeweave.reading.names import identifiers_by_name, parse_name
from citeweave.reading.record import Author, Record, Reference
from citeweave.reading.references import wos_reference
from citeweave.reading.table import Row, table_rows
from citeweave.reading.tagged import Block

if TYPE_CHECKING:
    from collections.abc import Iterator

    from citeweave.reading.problems import FileContext
    from citeweave.reading.streams import ByteStream

__all__ = ["PLAIN", "TABBED"]

# Tag to its values: one per line in plain text, one cell in a table.
Fields = dict[str, list[str]]

_TAG = re.compile(r"([A-Z][A-Z0-9])(?: (\S.*)|\s*)")
_ONE_A_LINE = frozenset({"AU", "AF", "BA", "BF", "CR", "C1", "CA", "GP"})
_GIVES = (
    "id doi title abstract keywords authors author_ids affiliations year venue category references "
    "language document_type cited_by funders"
)
_REPRINT = re.compile(r"(.+?) ?\((?:reprint|corresponding) author\), *(.+)", re.IGNORECASE)

# Exports for spreadsheets have full column names.
_LONG_NAMES = {
    "authors": "au",
    "author full names": "af",
    "article title": "ti",
    "source title": "so",
    "language": "la",
    "author keywords": "de",
    "keywords plus": "id",
    "abstract": "ab",
    "orcids": "oi",
    "researcher ids": "ri",
    "addresses": "c1",
    "affiliations": "c3",
    "reprint addresses": "rp",
    "document type": "dt",
    "funding orgs": "fu",
    "times cited, wos core": "tc",
    "times cited, all databases": "z9",
    "cited references": "cr",
    "publication year": "py",
    "early access date": "ea",
    "doi": "di",
    "wos categories": "wc",
    "research areas": "sc",
    "pubmed id": "pm",
    "ut (unique wos id)": "ut",
    "ut (unique id)": "ut",
}


def _text(fields: Fields, *tags: str) -> str | None:
    for tag in tags:
        text = clean(" ".join(fields.get(tag, ())))
        if text:
            return text
    return None


def _list(fields: Fields, *tags: str) -> list[str]:
    text = _text(fields, *tags)
    return [item.strip() for item in text.split(";") if item.strip()] if text else []


def _authors(fields: Fields) -> tuple[Author, ...]:
    short = fields.get("AU") or fields.get("BA") or []
    full = fields.get("AF") or fields.get("BF") or []
    names = full if len(full) >= len(short) else short
    orcids = identifiers_by_name(names, _list(fields, "OI"), normalise_orcid)
    ids = identifiers_by_name(names, _list(fields, "RI"), normalise_researcher_id)
    authors = []
    for name, orcid, ident in zip(names, orcids, ids, strict=True):
        author = parse_name(name, family_first=True, orcid=orcid, id=ident)
        if author is not None:
            authors.append(author)
    return tuple(authors)


def _addresses(fields: Fields) -> list[str]:
    """Return the addresses, with authors in brackets if given.

    If there are none, return that of the corresponding author, or only the names of institutions.
    """
    if fields.get("C1"):
        return fields["C1"]
    reprint = _REPRINT.fullmatch(_text(fields, "RP") or "")
    if reprint:
        return [f"[{reprint[1]}] {reprint[2]}"]
    return _list(fields, "C3")


def _references(fields: Fields) -> tuple[Reference, ...]:
    references = (wos_reference(line) for line in fields.get("CR", ()))
    return tuple(reference for reference in references if reference is not None)


def _record(fields: Fields, line: int, context: FileContext) -> Record | None:
    doi = normalise_doi(_text(fields, "DI"))
    year = None
    for tag in ("PY", "EY", "EA", "PD", "CY"):
        year = year or parse_year(_text(fields, tag))
    categories = _list(fields, "WC") or _list(fields, "SC")
    identifier = _text(fields, "UT")
    authors, rest = affiliations_in_brackets(_authors(fields), _addresses(fields))
    return Record(
        id=identifier or context.fallback_id(doi, line),
        source=context.source(line),
        doi=doi,
        title=_text(fields, "TI"),
        abstract=_text(fields, "AB"),
        keywords=tuple(_list(fields, "DE", "ID")),
        authors=authors,
        year=year,
        venue=_text(fields, "SO", "BS", "SE"),
        category=categories[0] if categories else None,
        references=_references(fields),
        language=_text(fields, "LA"),
        affiliations=rest,
        document_type=_text(fields, "DT"),
        cited_by=parse_count(_text(fields, "TC", "Z9")),
        funders=funder_names(_list(fields, "FU")),
    )


def _blocks(stream: ByteStream, context: FileContext) -> Iterator[tuple[int, Fields]]:
    """Yield (line, fields) of each record between ``PT`` and ``ER``."""
    block = Block(0)
    seen = False
    for number, line in stream.lines():
        if not line.strip():
            continue
        found = _TAG.fullmatch(line.rstrip()) if not line.startswith("   ") else None
        if found is None:
            # Usually indented; some tools unwrap or unindent continuation lines.
            block.extend(line.strip(), context)
            continue
        tag = found[1]
        if tag in ("FN", "VR", "EF"):
            continue
        if tag == "ER":
            if block:
                yield block.start, _fields(block)
            block = Block(0)
            continue
        if tag == "PT" and block:
            context.note(block.start, "the record has no end (ER)", field="ER")
            yield block.start, _fields(block)
            block = Block(number)
        if not block:
            block, seen = Block(number), True
        block.add(tag, found[2] or "", context)
    if block:
        context.note(block.start, "the file ends inside this record", field="ER")
        yield block.start, _fields(block)
    if not seen:
        context.refuse("no Web of Science record (PT … ER) found")


def _fields(block: Block) -> Fields:
    """Join wrapped lines; lists with one item per line stay unchanged."""
    fields: Fields = {}
    for tag, lines in block.items():
        values = lines if tag in _ONE_A_LINE else [" ".join(lines)]
        fields.setdefault(tag, []).extend(values)
    return fields


def _read_plain(stream: ByteStream, context: FileContext) -> Iterator[Record]:
    return convert(_blocks(stream, context), _record, context)


def _table_record(row: Row, line: int, context: FileContext) -> Record | None:
    fields: Fields = {}
    for name, cell in row.items():
        tag = _LONG_NAMES.get(name, name).upper()
        if len(tag) == 2 and cell and tag not in fields:
            # Old exports quote cells that contain quotation marks.
            text = cell[1:-1].replace('""', '"') if cell[:1] == cell[-1:] == '"' else cell
            if tag == "C1":
                fields[tag] = split_outside_brackets(text)
            else:
                fields[tag] = text.split(";") if tag in _ONE_A_LINE else [text]
    return _record(fields, line, context)


def _read_table(stream: ByteStream, context: FileContext) -> Iterator[Record]:
    sample = Sample("", stream.head, stream.head_text)
    rows = table_rows(stream, context, delimiter=sample.delimiter, quoted=sample.delimiter != "\t")
    return convert(rows, _table_record, context)


def _sniff_plain(sample: Sample) -> int:
    lines = sample.lines
    if lines and re.match(r"\ufeff?FN (?:Clarivate|Thomson|ISI|Web)", lines[0]):
        return 95
    if any(line.startswith("PT ") and len(line) < 6 for line in lines[:5]):
        tags = {line[:2] for line in lines if re.match(r"[A-Z][A-Z0-9] \S", line)}
        return 80 if len(tags & {"AU", "TI", "SO", "PY", "UT", "CR", "AF", "VR"}) >= 2 else 0
    return 0


def _sniff_table(sample: Sample) -> int:
    header = sample.header
    if {"pt", "au"} <= header and header & {"ti", "so", "ut", "py"}:
        return 90
    return 90 if header & {"ut (unique wos id)", "ut (unique id)"} else 0


PLAIN = Format(
    name="wos",
    label="Web of Science plain text (.txt, .ciw)",
    sniff=_sniff_plain,
    read=_read_plain,
    suffixes=(".txt", ".ciw", ".isi"),
    gives=_GIVES,
)
TABBED = Format(
    name="wos-tab",
    label="Web of Science tab-delimited",
    sniff=_sniff_table,
    read=_read_table,
    suffixes=(".txt", ".tsv", ".csv"),
    gives=_GIVES,
)
