"""Crossref works: responses of the REST API, lists, JSON Lines and the public data file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from citeweave.reading.affiliations import affiliations_of, funder_names
from citeweave.reading.formats import Format, Sample, as_dict, as_list, convert
from citeweave.reading.identifiers import (
    clean,
    normalise_doi,
    normalise_orcid,
    parse_count,
    parse_year,
)
from citeweave.reading.jsonstream import json_objects
from citeweave.reading.names import parse_name
from citeweave.reading.record import Author, Record, Reference
from citeweave.reading.references import free_reference, reference_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from citeweave.reading.problems import FileContext
    from citeweave.reading.streams import ByteStream

__all__ = ["FORMAT", "without_tags"]

_HEADING = re.compile(
    r"^\s*<(jats:)?title>\s*(?:abstract|summary|résumé|zusammenfassung|resumen)[\s.:]*</(?:jats:)?title>",
    re.IGNORECASE,
)
_FACE = re.compile(
    r"</?(?:jats:)?(?:i|b|u|em|strong|italic|bold|sub|sup|sc|scp|tt|monospace)(?:\s[^<>]{0,200})?/?>",
    re.IGNORECASE,
)
_TAG = re.compile(r"</?[A-Za-z][\w:.-]{0,60}(?:\s[^<>]{0,2000})?/?>")
_MARKS = (
    *("is-referenced-by-count", "references-count", "reference-count", "doi-asserted-by"),
    *("content-domain", "message-type", "container-title", "funder"),
)
_DATES = ("issued", "published", "published-print", "published-online", "created")


def without_tags(text: Any) -> str | None:
    """Return an abstract or a title without JATS or HTML tags.

    Examples
    --------
    >>> without_tags("<jats:title>Abstract</jats:title><jats:p>CO<jats:sub>2</jats:sub></jats:p>")
    'CO2'
    """
    if not isinstance(text, str) or "<" not in text:
        return clean(text)
    text = _FACE.sub("", _HEADING.sub(" ", text))
    return clean(_TAG.sub(" ", text))


def _first(value: Any) -> str | None:
    """Return the first text of a list, or the text itself, as in CSL-JSON."""
    return next((text for one in as_list(value) if (text := without_tags(one))), None)


def _title(work: dict[str, Any]) -> str | None:
    title, rest = _first(work.get("title")), _first(work.get("subtitle"))
    return f"{title}: {rest}" if title and rest and rest not in title else title or rest


def _author(item: Any) -> Author | None:
    if not isinstance(item, dict):
        return parse_name(item)
    places = affiliations_of(item.get("affiliation") or [])
    orcid = normalise_orcid(item.get("ORCID"))
    given, family = clean(item.get("given")), clean(item.get("family"))
    suffix = clean(item.get("suffix"))
    if family is None:
        name = clean(item.get("name")) or clean(item.get("literal")) or given
        return Author(name, orcid=orcid, affiliations=places) if name else None
    family = f"{family} {suffix}" if suffix else family
    name = f"{given} {family}" if given else family
    return Author(name, given, family, orcid=orcid, affiliations=places)


def _reference(item: Any) -> Reference | None:
    """Return one reference; its key is only meaningful within its own work."""
    if not isinstance(item, dict):
        return reference_of(item)
    made = reference_of(item)
    if made is None:
        return None
    if made.raw is not None and not (made.doi or made.title):
        told = free_reference(made.raw)
        made = made._replace(doi=told.doi, year=made.year or told.year, raw=told.raw)
    return made


def _year(work: dict[str, Any]) -> int | None:
    for key in _DATES:
        parts = as_list(as_dict(work.get(key)).get("date-parts"))
        first = as_list(parts[0]) if parts else []
        year = parse_year(first[0]) if first else None
        if year is not None:
            return year
    return None


def _record(work: dict[str, Any], line: int, context: FileContext) -> Record | None:
    doi = normalise_doi(work.get("DOI"))
    authors = [_author(item) for item in as_list(work.get("author"))]
    if None in authors:
        context.nameless_author(line)
    references = (_reference(item) for item in as_list(work.get("reference")))
    subjects = [word for word in map(clean, as_list(work.get("subject"))) if word]
    funders = (as_dict(one).get("name") for one in as_list(work.get("funder")))
    return Record(
        id=context.fallback_id(doi, line),
        source=context.source(line),
        doi=doi,
        title=_title(work),
        abstract=without_tags(work.get("abstract")),
        keywords=tuple(subjects),
        authors=tuple(author for author in authors if author is not None),
        year=_year(work),
        venue=_first(work.get("container-title")) or _first(as_dict(work.get("event")).get("name")),
        references=tuple(one for one in references if one is not None),
        language=clean(work.get("language")),
        document_type=clean(work.get("type")),
        cited_by=parse_count(work.get("is-referenced-by-count")),
        funders=funder_names(funders),
    )


def _read(stream: ByteStream, context: FileContext) -> Iterator[Record]:
    return convert(json_objects(stream, context), _record, context)


def _sniff(sample: Sample) -> int:
    if not sample.is_json or "DOI" not in sample.json_keys:
        return 0
    marks = sum(f'"{mark}"' in sample.text for mark in _MARKS)
    return 85 if marks >= 3 else 0


FORMAT = Format(
    name="crossref",
    label="Crossref works (JSON, JSON Lines)",
    sniff=_sniff,
    read=_read,
    suffixes=(".json", ".jsonl"),
    gives="id doi title abstract keywords authors author_ids affiliations year venue references "
    "language document_type cited_by funders",
)
