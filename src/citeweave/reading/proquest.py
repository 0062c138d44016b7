"""ProQuest text export: records of ``Field: value`` lines, separated by lines of underscores."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citeweave.reading.affiliations import addresses, share_out, with_affiliations
from citeweave.reading.formats import Format, Sample, convert
from citeweave.reading.identifiers import clean, find_doi, normalise_doi, parse_count, parse_year
from citeweave.reading.names import parse_name
from citeweave.reading.record import Affiliation, Author, Record
from citeweave.reading.tagged import Block

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from citeweave.reading.problems import FileContext
    from citeweave.reading.streams import ByteStream

__all__ = ["FORMAT"]

Fields = dict[str, list[str]]

# Only these end the previous field: an abstract may contain a line "Methods: ...".
_NAMES = frozenset(
    {
        *("abstract", "accession number", "advisor", "affiliation", "alternate title", "author"),
        *("author affiliation", "author e-mail address", "author(s)", "authors", "bibliography"),
        *("cited by", "cites", "classification", "company / organization", "copyright"),
        *("correspondence author", "country of publication", "credit", "database", "degree"),
        *("degree date", "dissertation/thesis number", "document feature", "document features"),
        *("document type", "document url", "doi", "edition", "editor", "e-issn", "eissn"),
        *("entry date", "file segment", "first page", "full text", "funding", "grant", "isbn"),
        *("identifier / keyword", "identifier (keyword)", "identifiers", "institution", "issn"),
        *("issue", "journal subject", "keyword", "keywords", "language", "language of publication"),
        *("last updated", "links", "location", "major classification", "mesh subject", "notes"),
        *("number of pages", "number of references", "page count", "pages", "pagination"),
        *("peer reviewed", "people", "place of publication", "proquest document id", "pubid"),
        *("publication count", "publication date", "publication info", "publication information"),
        *("publication subject", "publication title", "publication type", "publication year"),
        *("publisher", "references", "related information", "school", "section", "source"),
        *("source attribution", "source type", "status", "subfile", "subject", "summary language"),
        *("supplement", "supplemental file", "title", "university/institution"),
        *("university location", "update", "volume", "year"),
    }
)
_FIELD = re.compile(r"\ufeff?([A-Z][A-Za-z/() -]{1,38}?)\s?: ?(.*)")
_RULE = re.compile(r"\ufeff?\s*_{10,}\s*")
_NUMBERS = re.compile(r"[\s,]*(\d{1,3}(?:\s*,\s*\d{1,3})*)\s*$")
_NUMBERED = re.compile(r"(?:^|(?<=[\s;.]))(\d{1,3})\s+(?=[^\W\d_])")


def _line(fields: Fields, *names: str) -> str | None:
    """Return the first line of the first non-empty field among these."""
    lines = (value.partition("\n")[0] for name in names for value in fields.get(name, ()))
    return next((text for line in lines if (text := clean(line))), None)


def _whole(fields: Fields, *names: str) -> str | None:
    values = (value for name in names for value in fields.get(name, ()))
    return next((text for value in values if (text := clean(value))), None)


def _people(fields: Fields) -> tuple[tuple[Author, ...], tuple[Affiliation, ...]]:
    """Return the authors from "Lim, Kar Wai 1 ; Buntine, Wray 2 1 ANU, Canberra 2 Monash".

    Numbers after names refer to affiliations, which follow the last name or have their own field.
    """
    text = _whole(fields, "author", "authors", "author(s)") or ""
    names = [part for part in map(str.strip, text.split(";")) if part]
    listed = _whole(fields, "author affiliation", "affiliation") or ""
    if names and (found := re.search(r"\s(1\s+[^\W\d_].*)", names[-1])):
        names[-1] = names[-1][: found.start()]
        listed = listed or found[1]
    places = _numbered(listed)
    authors: list[Author] = []
    own: list[list[Affiliation]] = []
    for name in names:
        numbers = _NUMBERS.search(name)
        author = parse_name(name[: numbers.start()] if numbers else name)
        if author is not None:
            authors.append(author)
            told = re.findall(r"\d+", numbers[1]) if numbers else []
            own.append([place for number in told for place in places.get(number, ())])
    everything = [place for group in places.values() for place in group]
    if any(own):
        return with_affiliations(authors, own), ()
    return share_out(authors, everything)


def _numbered(text: str) -> dict[str, tuple[Affiliation, ...]]:
    """Return affiliations by the number before each, which may be empty."""
    marks = list(_NUMBERED.finditer(text))
    if not marks:
        return {"": addresses(text.split(";"))}
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    return {
        mark[1]: addresses([text[mark.end() : end].strip(" ;.,")])
        for mark, end in zip(marks, ends, strict=True)
    }


def _keywords(fields: Fields) -> tuple[str, ...]:
    """Return the authors' keywords, or the subjects of the source if there are none."""
    own = ("identifier / keyword", "identifier (keyword)", "keyword", "keywords", "identifiers")
    for names in (own, ("subject", "mesh subject")):
        words = [word for name in names for value in fields.get(name, ()) for word in _words(value)]
        if words:
            return tuple(dict.fromkeys(words))
    return ()


def _words(value: str) -> Sequence[str]:
    mark = ";" if ";" in value else ","
    return [text for part in value.replace("\n", " ").split(mark) if (text := clean(part))]


def _record(fields: Fields, line: int, context: FileContext) -> Record | None:
    doi = normalise_doi(_line(fields, "doi")) or find_doi(_line(fields, "links") or "")
    authors, rest = _people(fields)
    year = None
    for name in ("publication year", "year", "publication date", "degree date", "publication info"):
        year = year or parse_year(_line(fields, name))
    return Record(
        id=_line(fields, "proquest document id", "accession number")
        or context.fallback_id(doi, line),
        source=context.source(line),
        doi=doi,
        title=_line(fields, "title", ""),
        abstract=_whole(fields, "abstract"),
        keywords=_keywords(fields),
        authors=authors,
        year=year,
        venue=_line(fields, "publication title", "school", "university/institution"),
        category=_line(fields, "journal subject", "publication subject"),
        language=_line(fields, "language of publication", "language"),
        affiliations=rest,
        document_type=_line(fields, "document type", "source type"),
        cited_by=parse_count(_line(fields, "cited by")),
    )


def _blocks(stream: ByteStream, context: FileContext) -> Iterator[tuple[int, Fields]]:
    """Yield (line, fields) of each record, ignoring other blocks such as the table of contents.

    The title is repeated above the fields; here it has the empty name.
    """
    block = Block(1)
    seen = False
    for number, line in stream.lines():
        if _RULE.fullmatch(line):
            if _is_record(block):
                seen = True
                yield block.start, block.joined("\n")
            block = Block(number + 1)
            continue
        text = line.strip()
        found = _FIELD.fullmatch(text)
        if found is not None and found[1].lower() in _NAMES:
            block.add(found[1].lower(), found[2], context)
        elif text and not block and not text.startswith("Document "):
            block.start = number
            block.add("", text, context)
        elif text:
            block.extend(text, context)
    if _is_record(block):
        seen = True
        context.note(block.start, "the file ends inside this record", field="____")
        yield block.start, block.joined("\n")
    if not seen:
        context.refuse(
            "no ProQuest record found: no 'Title: …' or 'ProQuest document ID: …' between lines "
            "of underscores"
        )


def _is_record(block: Block) -> bool:
    return "proquest document id" in block or (
        "title" in block and ("publication title" in block or "author" in block)
    )


def _read(stream: ByteStream, context: FileContext) -> Iterator[Record]:
    return convert(_blocks(stream, context), _record, context)


def _sniff(sample: Sample) -> int:
    if not any(_RULE.fullmatch(line) for line in sample.lines):
        return 0
    found = (_FIELD.fullmatch(line.strip()) for line in sample.lines)
    names = {one[1].lower() for one in found if one}
    if "proquest document id" in names or "Report Information from ProQuest" in sample.text[:2000]:
        return 90
    return 70 if {"title", "publication title"} <= names else 0


FORMAT = Format(
    name="proquest",
    label="ProQuest text",
    sniff=_sniff,
    read=_read,
    suffixes=(".txt",),
    gives="id doi title abstract keywords authors affiliations year venue category language "
    "document_type cited_by",
)
