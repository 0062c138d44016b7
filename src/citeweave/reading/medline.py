"""MEDLINE as PubMed exports it (``.nbib``, "PubMed" format ``.txt``)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citeweave.reading.affiliations import addresses, funder_names, share_out
from citeweave.reading.formats import Format, Sample, convert
from citeweave.reading.identifiers import (
    clean,
    mesh_heading,
    normalise_doi,
    normalise_orcid,
    parse_year,
)
from citeweave.reading.names import parse_name
from citeweave.reading.record import Affiliation, Author, Record
from citeweave.reading.tagged import Block

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from citeweave.reading.problems import FileContext
    from citeweave.reading.streams import ByteStream

__all__ = ["FORMAT", "addresses_in", "telling_type"]

# In file order: ORCIDs and affiliations follow the names they belong to.
Fields = list[tuple[str, str]]

# Remarks inside an affiliation: initials and addresses of its authors.
_REMARK = re.compile(r" ?\((?:(?:and )?[A-Z][a-z]?[.-]{1,3}[,;]? ?)+\)| ?Electronic address:?")
_TAG = re.compile(r"\ufeff?([A-Z]{2,4}) {0,2}- ?(.*)")


def _all(fields: Fields, *tags: str) -> list[str]:
    for tag in tags:
        values = [text for name, value in fields if name == tag and (text := clean(value))]
        if values:
            return values
    return []


def _first(fields: Fields, *tags: str) -> str | None:
    values = _all(fields, *tags)
    return values[0] if values else None


def _doi(fields: Fields) -> str | None:
    for tag in ("LID", "AID", "SO"):
        for value in _all(fields, tag):
            if "[doi]" in value or "doi:" in value:
                doi = normalise_doi(value.replace("[doi]", " "))
                if doi:
                    return doi
    return None


def _authors(fields: Fields) -> tuple[tuple[Author, ...], tuple[Affiliation, ...]]:
    """Return the authors; FAU is the full name and AU after it the short one.

    Affiliations follow their author; old records have a single one, before or after all authors.
    """
    people: list[tuple[str, str | None]] = []
    places: list[list[str]] = []
    loose: list[str] = []
    full = any(tag == "FAU" for tag, _ in fields)
    corporate = []
    for tag, value in fields:
        if tag == ("FAU" if full else "AU"):
            people.append((value, None))
            places.append([])
        elif tag == "AUID" and people and (orcid := normalise_orcid(value)):
            people[-1] = (people[-1][0], orcid)
        elif tag == "AD":
            (places[-1] if places else loose).extend(addresses_in(value))
        elif tag == "CN" and (name := clean(value)):
            corporate.append(Author(name))
    authors = [
        author
        for (name, orcid), own in zip(people, places, strict=True)
        if (author := parse_name(name, family_first=True, orcid=orcid, affiliations=addresses(own)))
        is not None
    ]
    return share_out(authors + corporate, addresses(loose))


def addresses_in(value: str) -> list[str]:
    """Return the addresses in one affiliation, without initials and e-mail addresses."""
    words = [word for word in value.split() if "@" not in word]
    text = _REMARK.sub("", " ".join(words))
    return [part.strip(" .,") for part in text.split(";")]


def telling_type(kinds: Iterable[str]) -> str | None:
    """Return the most specific publication type, since nearly all are also journal articles.

    Examples
    --------
    >>> telling_type(["Journal Article", "Research Support, N.I.H., Extramural", "Review"])
    'Review'
    """
    types = [kind for kind in kinds if not kind.startswith("Research Support")]
    return next((kind for kind in types if kind != "Journal Article"), types[0] if types else None)


def _funders(fields: Fields) -> tuple[str, ...]:
    """Return the agencies of grants such as "R01NS064592/NS/NINDS NIH HHS/United States"."""
    parts = [grant.split("/") for grant in _all(fields, "GR")]
    return funder_names(part[-2] if len(part) > 1 else part[0] for part in parts)


def _record(fields: Fields, line: int, context: FileContext) -> Record | None:
    doi = _doi(fields)
    year = None
    for tag in ("DP", "DEP", "EDAT", "CRDT"):
        year = year or parse_year(_first(fields, tag))
    authors, rest = _authors(fields)
    headings = [mesh_heading(heading) for heading in _all(fields, "MH")]
    return Record(
        id=_first(fields, "PMID", "PMC") or context.fallback_id(doi, line),
        source=context.source(line),
        doi=doi,
        title=_first(fields, "TI", "BTI", "CTI", "TT"),
        abstract=_first(fields, "AB", "OAB"),
        keywords=tuple(_all(fields, "OT") or dict.fromkeys(headings)),
        authors=authors,
        year=year,
        venue=_first(fields, "JT", "TA"),
        language=_first(fields, "LA"),
        affiliations=rest,
        document_type=telling_type(_all(fields, "PT")),
        funders=_funders(fields),
    )


def _blocks(stream: ByteStream, context: FileContext) -> Iterator[tuple[int, Fields]]:
    """Yield (line, fields) of each record; a record starts with ``PMID`` or after an empty line."""
    block = Block(0)
    gap = True
    seen = False
    for number, line in stream.lines():
        if not line.strip():
            gap = True
            continue
        found = _TAG.fullmatch(line) if not line.startswith("      ") else None
        if found is None:
            block.extend(line.strip(), context)
            continue
        begins = found[1] == "PMID" or (gap and found[1] in ("STAT", "OWN", "PMC"))
        if begins and (found[1] in block or "TI" in block):
            yield block.start, _fields(block)
            block = Block(number)
        if not block:
            block = Block(number)
        seen = seen or found[1] == "PMID"
        gap = False
        block.add(found[1], found[2], context)
    if block and seen:
        yield block.start, _fields(block)
    if not seen:
        context.refuse("no MEDLINE record found: no line starts with 'PMID- '")


def _fields(block: Block) -> Fields:
    return [(tag, " ".join(lines)) for tag, lines in block.items()]


def _read(stream: ByteStream, context: FileContext) -> Iterator[Record]:
    return convert(_blocks(stream, context), _record, context)


def _sniff(sample: Sample) -> int:
    if not any(re.match(r"\ufeff?PMID ?- ?\d", line) for line in sample.lines):
        return 0
    tagged = sum(re.match(r"[A-Z]{2,4} {0,2}- ", line) is not None for line in sample.lines)
    return 90 if tagged >= 3 else 60


FORMAT = Format(
    name="medline",
    label="MEDLINE / PubMed (.nbib)",
    sniff=_sniff,
    read=_read,
    suffixes=(".nbib", ".medline", ".txt"),
    gives="id doi title abstract keywords authors author_ids affiliations year venue language "
    "document_type funders",
)
