"""Parse Scopus references: one long cell, in three layouts.

Until 2022 a reference was "Kalé, L., Title (1993) Journal, 28", then "Kalé L., Title, Journal, 28,
(1993)", now "Kalé L.; Bohm E., Title, Journal, 28, (1993)" with semicolons between authors as well
as between references; some exports have full first names.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from citeweave.reading.identifiers import clean, find_doi
from citeweave.reading.record import Reference
from citeweave.reading.references import LONGEST_REFERENCE, YEAR_IN_BRACKETS

__all__ = ["scopus_references"]

_NAME = r"[^\W\d_][^\d,;:()]{0,40}?"
_INITIALS = r"(?:[^\W\d_]{1,2}\.[-\s]?){1,5}(?:\s?(?:Jr|Sr|II|III|IV)\.?)?"
_AUTHOR_COMMA = re.compile(rf"{_NAME},\s{_INITIALS}(?:,\s*|\s*$)")
_AUTHOR_SPACE = re.compile(rf"{_NAME}\s{_INITIALS}(?:,\s*|\s*$)")
_AND_OTHERS = re.compile(r"(?:et al\.?,?\s*|\(?[Ee]ds?\.?\)?,?\s*)+")
_NOT_TITLE = re.compile(
    r"(?:pp?\.\s|vol\.|no\.\s|\d+\s*(?:\(|,|$)|https?:|www\.|doi)", re.IGNORECASE
)
_YEAR_LAST = re.compile(
    r"\(\s*(?:(?:1[5-9]|20)\d\d[a-z]?|n\.\s?d\.?|in press|forthcoming)\s*\)[\s.,]*$", re.IGNORECASE
)
_WHOLE = re.compile(r"\bpp?\. ?\d|https?:|, \d+(?:,|$)")
_PERSON_WORD = re.compile(r"[^\W\d_a-zß-ÿ][^\W\d_]*(?:[-'’.][^\W\d_]*)*|[^\W\d_]{1,3}")
_LONGEST_NAME = 60
_ORGANISATION = re.compile(
    r"\b(?:Agency|Association|Authority|Bank|Board|Bureau|Cent(?:er|re)|Commission|Committee|Council"
    r"|Department|Federation|Foundation|Group|Institute|Ministry|Nations|Office|Organi[sz]ation"
    r"|Secretariat|Society|Team|Union|University)\b"
)
_SMALL_WORD = re.compile(r"and|for|of|on|the|to|in|de|des|du|der|&")


class _Layout(NamedTuple):
    """The layout of references: whether years come last, and whether names have commas."""

    year_last: bool
    comma_in_names: bool


def scopus_references(text: str) -> tuple[Reference, ...]:
    """Return the references in a Scopus cell, in which they are separated by semicolons.

    Semicolons also occur within references: between authors, in titles, before publishers.

    Examples
    --------
    >>> cell = "Blei D.M.; Ng A.Y., Topics, JMLR, 3, (2003); Teh Y.W., Processes, JASA, 101, (2006)"
    >>> [(r.first_author, r.title, r.year) for r in scopus_references(cell)]
    [('Blei D.M.', 'Topics', 2003), ('Teh Y.W.', 'Processes', 2006)]
    """
    pieces = [piece for piece in map(str.strip, text.split(";")) if piece]
    layout = _layout(pieces)
    groups = _until_the_year(pieces) if layout.year_last else _by_their_beginnings(pieces)
    return tuple(_reference(group, layout) for group in groups)


def _layout(pieces: list[str]) -> _Layout:
    dated = [piece for piece in pieces if YEAR_IN_BRACKETS.search(piece)]
    last = sum(_YEAR_LAST.search(piece) is not None for piece in dated)
    names = [piece for piece in pieces if _is_name(piece)]
    with_comma = sum("," in name for name in names)
    return _Layout(2 * last > len(dated), 2 * with_comma > len(names))


def _until_the_year(pieces: list[str]) -> list[list[str]]:
    """Group pieces into references that end with their year; one without a year ends early."""
    groups: list[list[str]] = []
    open_ = False
    for piece in pieces:
        if open_ and _ends_undated(groups[-1][-1], piece):
            open_ = False
        if open_:
            groups[-1].append(piece)
        else:
            groups.append([piece])
        open_ = _YEAR_LAST.search(piece) is None
    return groups


def _ends_undated(before: str, piece: str) -> bool:
    """Return whether a reference without a year ends before a piece that starts with an author."""
    begins = _is_name(piece) or len(_after_authors(piece)[1]) < len(piece)
    return begins and _WHOLE.search(before) is not None


def _by_their_beginnings(pieces: list[str]) -> list[list[str]]:
    """Group pieces into references that start with an author; others join the previous one."""
    groups: list[list[str]] = []
    dated = False
    for piece in pieces:
        has_year = YEAR_IN_BRACKETS.search(piece) is not None
        if groups and _continues(piece, dated=dated, has_year=has_year):
            groups[-1].append(piece)
            dated = dated or has_year
        else:
            groups.append([piece])
            dated = has_year
    return groups


def _continues(piece: str, *, dated: bool, has_year: bool) -> bool:
    """Return whether a piece belongs to the previous reference, which may be `dated`."""
    rest = _after_authors(piece)[1]
    starts_with_author = len(rest) < len(piece)
    if has_year:
        return not starts_with_author and not dated
    return not starts_with_author or len(rest) < 10


def _is_name(piece: str, fewest: int = 2) -> bool:
    """Return whether a piece is only an author: "Blei D.M.", "Blei, David M."."""
    if len(piece) > _LONGEST_NAME or piece.count(",") > 1:
        return False
    words = piece.replace(",", " ").split()
    return fewest <= len(words) <= 6 and all(map(_PERSON_WORD.fullmatch, words))


def _after_authors(text: str) -> tuple[str | None, str]:
    """Return the first author and the text after all authors, if they have initials."""
    text = text[:LONGEST_REFERENCE]
    for pattern in (_AUTHOR_COMMA, _AUTHOR_SPACE):
        at = 0
        first = None
        while found := pattern.match(text, at):
            first = first or found[0].rstrip(", ")
            at = found.end()
        if first is not None:
            others = _AND_OTHERS.match(text, at)
            return first, text[others.end() if others else at :]
    return None, text


def _authors_and_rest(pieces: list[str], layout: _Layout) -> tuple[str | None, str]:
    """Return the first author and the text after the last author."""
    # a single word ("Suharto") is a name only among other names
    fewest = 1 if layout.year_last else 2
    names = 0
    for piece in pieces[:-1]:
        # if names have no commas, "Blei D.M., Topics" is the last name followed by a title
        if not _is_name(piece, fewest) or ("," in piece and not layout.comma_in_names):
            break
        names += 1
    rest = "; ".join(pieces[names:])
    author, after = _after_authors(rest)
    if author is None and (names or layout.comma_in_names):
        number = 2 if layout.comma_in_names else 1
        author, after = _first_parts(rest, number, fewest if names else 2)
    if author is None and not names and layout.year_last:
        author, after = _after_organisation(rest)
    first = (clean(pieces[0]) or "").rstrip(", ") if names else author
    return first, after


def _after_organisation(text: str) -> tuple[str | None, str]:
    """Distinguish "World Health Organization, Global report, (2020)" from "Title, Venue, (2020)".

    An organisation is recognised by an abbreviation, or by a typical word among capitalised words.
    """
    name, _, rest = text.partition(", ")
    if " " not in rest.partition(",")[0] or _NOT_TITLE.match(rest) or len(name) > _LONGEST_NAME:
        return None, text
    words = name.split()
    capitals = all(word[0].isupper() or _SMALL_WORD.fullmatch(word) for word in words)
    short = len(words) == 1 and name.isupper() and name.isalpha() and len(name) > 1
    if short or (capitals and len(words) > 1 and _ORGANISATION.search(name)):
        return name, rest
    return None, text


def _first_parts(text: str, number: int, fewest: int) -> tuple[str | None, str]:
    """Return the first comma-separated parts as a name, if they look like one."""
    parts = text.split(", ", number)
    name = ", ".join(parts[:number])
    if len(parts) > number and _is_name(name, fewest):
        return name, parts[number]
    return None, text


def _reference(pieces: list[str], layout: _Layout) -> Reference:
    raw = clean("; ".join(pieces)[:LONGEST_REFERENCE]) or ""
    author, rest = _authors_and_rest([piece[:LONGEST_REFERENCE] for piece in pieces], layout)
    rest = clean(rest) or ""
    found = YEAR_IN_BRACKETS.search(rest)
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
    """Return the title from "Title, , Publisher", the form of books after the year."""
    title, comma, _ = text.partition(", ,")
    title = title.strip(" ,")
    return title if comma and title and not re.search(r"\bpp?\.\s|\d$", title) else None


def _title_before_venue(text: str) -> str | None:
    """Return the title from "Title, Venue, 12, 3, pp. 1-9, ", if the year comes last."""
    parts = [part.strip() for part in text.split(", ") if part.strip(" ,")]
    for place, part in enumerate(parts):
        if place and _NOT_TITLE.match(part):
            # The venue precedes the volume, and the title precedes the venue.
            return ", ".join(parts[: max(place - 1, 1)])
    return ", ".join(parts[:-1] or parts) or None
