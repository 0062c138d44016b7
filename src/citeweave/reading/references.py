"""Parse references given as objects, identifiers or strings, for matching."""

from __future__ import annotations

import re
from typing import Any

from citeweave.reading.identifiers import clean, find_doi, normalise_doi, parse_year
from citeweave.reading.record import Reference

__all__ = [
    "LONGEST_REFERENCE",
    "YEAR_IN_BRACKETS",
    "free_reference",
    "reference_of",
    "wos_reference",
]

LONGEST_REFERENCE = 4000
YEAR_IN_BRACKETS = re.compile(r"\(\s*((?:1[5-9]|20)\d\d)[a-z]?\s*\)")
_WOS_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_WOS_DOI = re.compile(r"\bDOI\s+\[?\s*(?:DOI\s+)?(10\.[^\s,\]]+/[^\s,\]]+)", re.IGNORECASE)


def reference_of(item: Any) -> Reference | None:
    """Return a reference from an id, a DOI, a free-form string or an object with such fields."""
    if isinstance(item, dict):
        return _from_object(item)
    text = clean(item)
    if text is None:
        return None
    doi = normalise_doi(text) if "10." in text else None
    if " " not in text:
        return Reference(id=text, doi=doi)
    return free_reference(text)


def _from_object(item: dict[str, Any]) -> Reference | None:
    doi = None
    for key in ("doi", "DOI"):
        doi = doi or normalise_doi(item.get(key))
    identifier = None
    for key in ("id", "paperId", "paper_id", "lens_id", "link"):
        identifier = identifier or clean(item.get(key))
    author = None
    authors = item.get("authors")
    if isinstance(authors, list) and authors:
        first = authors[0]
        if isinstance(first, dict):
            parts = (clean(first.get("first")), clean(first.get("last")))
            author = clean(first.get("name")) or clean(" ".join(filter(None, parts)))
        else:
            author = clean(first)
    author = author or clean(item.get("author"))
    reference = Reference(
        id=identifier,
        doi=doi,
        title=clean(item.get("title") or item.get("article-title") or item.get("volume-title")),
        year=parse_year(item.get("year")),
        first_author=author,
        raw=clean(item.get("raw") or item.get("raw_text") or item.get("unstructured")),
    )
    return None if reference == Reference() else reference


def free_reference(text: str) -> Reference:
    """Return the year and DOI of a reference in no particular style."""
    text = text[:LONGEST_REFERENCE]
    found = YEAR_IN_BRACKETS.search(text)
    year = int(found[1]) if found else parse_year(text)
    return Reference(doi=find_doi(text), year=year, raw=text)


def wos_reference(text: str) -> Reference | None:
    """Parse one line of Web of Science's ``CR``: "Lim KW, 2015, MACH LEARN, V10, P1, DOI …".

    These strings have no title, only an abbreviated venue.

    Examples
    --------
    >>> wos_reference("Lim KW, 2016, MACH LEARN, V103, P185, DOI 10.1007/s10994-016-5562-3").year
    2016
    """
    raw = clean(text[:LONGEST_REFERENCE])
    if raw is None:
        return None
    parts = [part.strip() for part in raw.split(",")]
    author: str | None = parts[0]
    year = None
    # The year is second, or third if the name of the first author contains a comma.
    for place, part in enumerate(parts[:4]):
        if _WOS_YEAR.fullmatch(part):
            year = int(part)
            author = ", ".join(parts[:place]) or None
            break
    found = _WOS_DOI.search(raw)
    doi = normalise_doi(found[1]) if found else None
    # Organisations are marked by an asterisk.
    author = author.strip("[]* ") if author else ""
    if author.lower() in ("anonymous", ""):
        author = None
    return Reference(doi=doi, year=year, first_author=author, raw=raw)
