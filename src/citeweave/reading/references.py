"""Reference strings of Web of Science, Scopus and others, taken apart for matching."""

from __future__ import annotations

import re
from typing import Any

from citeweave.reading.identifiers import clean, find_doi, normalise_doi, parse_year
from citeweave.reading.record import Reference

__all__ = ["free_reference", "reference_of", "scopus_references", "wos_reference"]

_LONGEST = 4000
_YEAR_IN_BRACKETS = re.compile(r"\(\s*((?:1[5-9]|20)\d\d)[a-z]?\s*\)")
_WOS_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_WOS_DOI = re.compile(r"\bDOI\s+\[?\s*(?:DOI\s+)?(10\.[^\s,\]]+/[^\s,\]]+)", re.IGNORECASE)

_NAME = r"[^\W\d_][^\d,;:()]{0,40}?"
_INITIALS = r"(?:[^\W\d_]{1,2}\.[-\s]?){1,5}(?:\s?(?:Jr|Sr|II|III|IV)\.?)?"
# "Kalé, L., " as Scopus wrote it until 2022 and "Kalé L., " as it writes now.
_AUTHOR_OLD = re.compile(rf"{_NAME},\s{_INITIALS}(?:,\s*|\s*$)")
_AUTHOR_NEW = re.compile(rf"{_NAME}\s{_INITIALS}(?:,\s*|\s*$)")
_AND_OTHERS = re.compile(r"(?:et al\.?,?\s*|\(?[Ee]ds?\.?\)?,?\s*)+")
_NOT_TITLE = re.compile(
    r"(?:pp?\.\s|vol\.|no\.\s|\d+\s*(?:\(|,|$)|https?:|www\.|doi)", re.IGNORECASE
)


def reference_of(item: Any) -> Reference | None:
    """Return a reference from an id, a DOI, a free string or an object with such fields."""
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
    reference = Reference(
        id=identifier,
        doi=doi,
        title=clean(item.get("title")),
        year=parse_year(item.get("year")),
        first_author=author,
        raw=clean(item.get("raw") or item.get("raw_text")),
    )
    return None if reference == Reference() else reference


def free_reference(text: str) -> Reference:
    """Return what can be told of a reference in no particular style: year and DOI."""
    text = text[:_LONGEST]
    found = _YEAR_IN_BRACKETS.search(text)
    year = int(found[1]) if found else parse_year(text)
    return Reference(doi=find_doi(text), year=year, raw=text)


def wos_reference(text: str) -> Reference | None:
    """Return one line of Web of Science's ``CR``: "Lim KW, 2015, MACH LEARN, V10, P1, DOI …".

    These strings give no title, only an abbreviated venue.

    Examples
    --------
    >>> wos_reference("Lim KW, 2016, MACH LEARN, V103, P185, DOI 10.1007/s10994-016-5562-3").year
    2016
    """
    raw = clean(text[:_LONGEST])
    if raw is None:
        return None
    parts = [part.strip() for part in raw.split(",")]
    author: str | None = parts[0]
    year = None
    # The year stands second, third where the first author has a comma in the name.
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


def scopus_references(text: str) -> tuple[Reference, ...]:
    """Return the references of Scopus's one long cell, which separates them by semicolons.

    Semicolons also stand inside references (editors, publishers, titles): a piece with
    no year that does not begin as a reference does is joined to the one before it.
    """
    references: list[list[str]] = []
    dated = False
    for piece in map(str.strip, text.split(";")):
        if not piece:
            continue
        has_year = _YEAR_IN_BRACKETS.search(piece) is not None
        if references and _continues(piece, dated=dated, has_year=has_year):
            references[-1].append(piece)
            dated = dated or has_year
        else:
            references.append([piece])
            dated = has_year
    return tuple(_scopus_reference("; ".join(pieces)) for pieces in references)


def _continues(piece: str, *, dated: bool, has_year: bool) -> bool:
    """Tell whether a piece belongs to the reference before it, which may be `dated`."""
    rest = _after_authors(piece)[1]
    starts_with_author = len(rest) < len(piece)
    if has_year:
        return not starts_with_author and not dated
    return not starts_with_author or len(rest) < 10


def _after_authors(text: str) -> tuple[str | None, str]:
    """Return the first author and the text after all authors."""
    text = text[:_LONGEST]
    for pattern in (_AUTHOR_OLD, _AUTHOR_NEW):
        at = 0
        first = None
        while found := pattern.match(text, at):
            first = first or found[0].rstrip(", ")
            at = found.end()
        if first is not None:
            others = _AND_OTHERS.match(text, at)
            return first, text[others.end() if others else at :]
    return None, text


def _scopus_reference(piece: str) -> Reference:
    raw = clean(piece[:_LONGEST]) or ""
    author, rest = _after_authors(raw)
    found = _YEAR_IN_BRACKETS.search(rest)
    doi = find_doi(raw)
    if found is None:
        return Reference(doi=doi, first_author=author, raw=raw)
    title: str | None
    if len(rest) - found.end() < 3:
        title = _title_before_venue(rest[: found.start()])
    else:
        title = rest[: found.start()].strip(" ,") or _book_title(rest[found.end() :])
    return Reference(doi=doi, title=title, year=int(found[1]), first_author=author, raw=raw)


def _book_title(text: str) -> str | None:
    """Return the title from "Title, , Publisher", as books are given after their year."""
    title, comma, _ = text.partition(", ,")
    title = title.strip(" ,")
    return title if comma and title and not re.search(r"\bpp?\.\s|\d$", title) else None


def _title_before_venue(text: str) -> str | None:
    """Return the title from "Title, Venue, 12, 3, pp. 1-9, " where the year came last."""
    parts = [part.strip() for part in text.split(", ") if part.strip(" ,")]
    for place, part in enumerate(parts):
        if place and _NOT_TITLE.match(part):
            # Before the volume stands the venue, before that the title.
            return ", ".join(parts[: max(place - 1, 1)])
    return ", ".join(parts[:-1] or parts) or None
