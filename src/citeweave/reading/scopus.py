"""Scopus CSV, old (names separated by commas) and new (by semicolons, with full names)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citeweave.reading.affiliations import (
    addresses,
    funder_names,
    share_out,
    with_affiliations,
)
from citeweave.reading.cells import cell, listed, table_reader
from citeweave.reading.formats import Format, Sample
from citeweave.reading.identifiers import normalise_doi, parse_count, parse_year
from citeweave.reading.names import parse_name, split_names
from citeweave.reading.record import Affiliation, Author, Record
from citeweave.reading.scopus_references import scopus_references

if TYPE_CHECKING:
    from citeweave.reading.problems import FileContext
    from citeweave.reading.table import Row

__all__ = ["FORMAT"]

_NOTHING = re.compile(r"\[No [A-Za-z ]+ available\]", re.IGNORECASE)
# possible numbers of comma-separated parts in an address
_SIZES = frozenset(range(1, 40))
_FULL_NAME_ID = re.compile(r"\s*\((\d+)\)\s*$")


def _authors(row: Row) -> tuple[Author, ...]:
    """Return the authors, with the full names of new exports, and ids if their number matches."""
    names = split_names(cell(row, "authors", "author names") or "")
    ids = listed(row, "author(s) id", "author ids")
    full = listed(row, "author full names")
    if len(full) >= len(names) > 0 or (full and not names):
        own = [_FULL_NAME_ID.search(name) for name in full]
        ids = [found[1] if found else "" for found in own]
        names = [_FULL_NAME_ID.sub("", name) for name in full]
    elif len(ids) != len(names):
        ids = []
    authors = []
    for place, name in enumerate(names):
        identifier = ids[place] if ids else None
        author = parse_name(name, family_first=True, id=identifier or None)
        if author is not None:
            authors.append(author)
    return tuple(authors)


def _placed(
    row: Row, authors: tuple[Author, ...]
) -> tuple[tuple[Author, ...], tuple[Affiliation, ...]]:
    """Assign affiliations to authors, and the remaining ones to the record.

    "Lim, K.W., ANU, Canberra, Australia, NICTA, Sydney, Australia" has two addresses, which are
    separated with the help of the column "Affiliations".
    """
    known = listed(row, "affiliations")
    entries = listed(row, "authors with affiliations")
    if len(entries) != len(authors):
        return share_out(authors, addresses(known))
    whole = frozenset(known)
    sizes = sorted({text.count(", ") + 1 for text in whole} & _SIZES, reverse=True)
    own = [
        addresses(_addresses_of(entry, author, whole, sizes))
        for entry, author in zip(entries, authors, strict=True)
    ]
    return share_out(with_affiliations(authors, own), () if any(own) else addresses(known))


def _addresses_of(entry: str, author: Author, known: frozenset[str], sizes: list[int]) -> list[str]:
    """Return the addresses of one author, separated with the help of all addresses of the paper.

    `sizes` are the numbers of parts of the known addresses, largest first.
    """
    parts = entry.split(", ")
    family = (author.family or author.name).split()[0].lower()
    # new exports write "Lim K.W., ANU", old ones "Lim, K.W., ANU"
    start = 1 if " " in parts[0] and parts[0].endswith(".") else 2
    if not parts[0].lower().startswith(family) and len(parts) > 1:
        start = 1
    found: list[str] = []
    at = start
    while at < len(parts):
        ends = (at + size for size in sizes)
        end = next((end for end in ends if ", ".join(parts[at:end]) in known), None)
        if end is None:
            return [*found, ", ".join(parts[at:])]
        found.append(", ".join(parts[at:end]))
        at = end
    return found


def _record(row: Row, line: int, context: FileContext) -> Record | None:
    row = {name: "" if _NOTHING.fullmatch(text) else text for name, text in row.items()}
    doi = normalise_doi(row.get("doi"))
    authors, rest = _placed(row, _authors(row))
    return Record(
        id=cell(row, "eid") or context.fallback_id(doi, line),
        source=context.source(line),
        doi=doi,
        title=cell(row, "title", "document title"),
        abstract=cell(row, "abstract"),
        keywords=tuple(listed(row, "author keywords", "index keywords")),
        authors=authors,
        year=parse_year(row.get("year")),
        venue=cell(row, "source title", "abbreviated source title", "conference name"),
        references=scopus_references(cell(row, "references") or ""),
        language=cell(row, "language of original document"),
        affiliations=rest,
        document_type=cell(row, "document type"),
        cited_by=parse_count(row.get("cited by")),
        funders=funder_names(listed(row, "funding details")),
    )


def _align(header: list[str], cells: list[str]) -> list[str] | None:
    """Align a row with too many cells.

    Scopus writes as many "Funding Text" columns as the records of an export need, so that in files
    concatenated from several exports the following columns are shifted. The EID in the last column
    reveals this.
    """
    extra = len(cells) - len(header)
    if extra <= 0 or header[-1] != "eid" or not cells[-1].startswith("2-s2.0-"):
        return None
    for name in ("funding text 1", "funding details"):
        if name in header:
            after = header.index(name) + 1
            return cells[:after] + cells[after + extra :]
    return None


def _sniff(sample: Sample) -> int:
    header = sample.header
    if not {"title", "year"} <= header or not header & {"source title", "authors"}:
        return 0
    marks = {"eid", "author(s) id", "abbreviated source title", "source title", "index keywords"}
    marks |= {"author full names", "art. no.", "cited by", "publication stage"}
    return 90 if len(marks & header) >= 2 else 0


FORMAT = Format(
    name="scopus",
    label="Scopus CSV",
    sniff=_sniff,
    read=table_reader(_record, align=_align),
    suffixes=(".csv",),
    gives="id doi title abstract keywords authors author_ids affiliations year venue references "
    "language document_type cited_by funders",
)
