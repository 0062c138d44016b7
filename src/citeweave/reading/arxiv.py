"""arXiv metadata: the JSON Lines snapshot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from citeweave.reading.affiliations import addresses
from citeweave.reading.formats import Format, Sample, as_list, convert
from citeweave.reading.identifiers import clean, normalise_doi, parse_year
from citeweave.reading.jsonstream import json_objects
from citeweave.reading.latex import plain_text
from citeweave.reading.names import parse_names, split_names
from citeweave.reading.record import Author, Record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from citeweave.reading.problems import FileContext
    from citeweave.reading.streams import ByteStream

__all__ = ["FORMAT"]


def _authors(paper: dict[str, Any]) -> tuple[Author, ...]:
    authors = []
    for item in as_list(paper.get("authors_parsed")):
        # [family, given, suffix, affiliation …]
        parts = [clean(plain_text(part)) if isinstance(part, str) else None for part in item[:3]]
        parts += [None] * (3 - len(parts))
        family = " ".join(filter(None, (parts[0], parts[2]))) or None
        name = " ".join(filter(None, (parts[1], family)))
        if name:
            places = addresses(plain_text(one) for one in item[3:] if isinstance(one, str))
            authors.append(Author(name, parts[1], family, affiliations=places))
    if authors:
        return tuple(authors)
    text = paper.get("authors")
    if isinstance(text, list):
        return parse_names(text)
    return parse_names(split_names(plain_text(text))) if isinstance(text, str) else ()


def _year(paper: dict[str, Any]) -> int | None:
    """Return the year of the first version, which does not change with updates."""
    for version in as_list(paper.get("versions"))[:1]:
        if isinstance(version, dict) and (year := parse_year(version.get("created"))):
            return year
    return parse_year(paper.get("update_date")) or parse_year(paper.get("published"))


def _text(value: Any) -> str | None:
    """Return text without LaTeX, if it has any."""
    text = clean(value)
    return clean(plain_text(text)) if text and "\\" in text else text


def _record(paper: dict[str, Any], line: int, context: FileContext) -> Record | None:
    # Several DOIs may be given, separated by spaces: the first is the paper's.
    doi = normalise_doi(paper.get("doi"))
    categories = paper.get("categories")
    if isinstance(categories, list):
        categories = " ".join(item for item in categories if isinstance(item, str))
    first = categories.split()[:1] if isinstance(categories, str) else []
    return Record(
        id=clean(paper.get("id")) or context.fallback_id(doi, line),
        source=context.source(line),
        doi=doi,
        title=_text(paper.get("title")),
        abstract=_text(paper.get("abstract")),
        authors=_authors(paper),
        year=_year(paper),
        venue=_text(paper.get("journal-ref")),
        category=first[0] if first else None,
    )


def _read(stream: ByteStream, context: FileContext) -> Iterator[Record]:
    return convert(json_objects(stream, context), _record, context)


def _sniff(sample: Sample) -> int:
    keys = sample.json_keys
    if not {"id", "title"} <= keys:
        return 0
    if "authors_parsed" in keys:
        return 85
    return 70 if {"categories", "update_date", "abstract"} <= keys else 0


FORMAT = Format(
    name="arxiv",
    label="arXiv metadata JSON Lines",
    sniff=_sniff,
    read=_read,
    suffixes=(".jsonl", ".json"),
    gives="id doi title abstract authors affiliations year venue category",
)
