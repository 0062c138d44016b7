"""Author names as sources write them, taken apart into given and family name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from citeweave.reading.identifiers import clean
from citeweave.reading.record import Author

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["parse_name", "parse_names", "split_names"]

_INITIALS = re.compile(r"(?:[^\W\d_]{1,2}\.[- ]?)+[^\W\d_]?\.?")
_BARE_INITIALS = re.compile(r"[A-ZÀ-ÖØ-Þ](?:-?[A-ZÀ-ÖØ-Þ]){0,3}")
_GLUED = re.compile(r"((?:[^\W\d_]{1,2}\.-?)+)([^\W\d_][^.]*)")
_NAMESAKE = re.compile(r"\b\d{4}$")  # DBLP tells namesakes apart so: "Wei Wang 0001"
_AND = re.compile(r"\s+(?:and|&)\s+|;\s*|\|", re.IGNORECASE)
_SUFFIXES = frozenset({"jr", "jr.", "sr", "sr.", "ii", "iii", "iv", "2nd", "3rd"})
_PARTICLES = frozenset(
    {"af", "al", "ap", "bin", "da", "dal", "de", "del", "della", "den", "der", "di", "dos", "du"}
    | {"el", "la", "le", "ten", "ter", "van", "von", "zu", "zur"}
)
_NOBODY = frozenset(
    {"anonymous", "[anonymous]", "n/a", "none", "null", "nan"}
    | {"others", "and others", "et al", "et al."}
    | {"[no author name available]", "no author name available"}
)


def parse_name(
    text: Any,
    *,
    family_first: bool = False,
    id: str | None = None,  # noqa: A002  the attribute it fills has this name
    orcid: str | None = None,
) -> Author | None:
    """Return one author from a name in any of the usual spellings.

    "Family, Given", "Family, Jr, Given", "Given von Family" and "Family I.I." are told
    apart; placeholders ("et al.", "[No author name available]") give None.

    Parameters
    ----------
    text : str
        One name.
    family_first : bool
        The source writes "Lim KW": upper-case letters at the end are initials.
    id, orcid : str or None
        Passed on to the author.

    Examples
    --------
    >>> parse_name("van de Schoot, Rens")
    Author(name='Rens van de Schoot', given='Rens', family='van de Schoot', id=None, orcid=None)
    """
    name = clean(text)
    if name is None or name.lower() in _NOBODY or name.lower() in _SUFFIXES:
        return None
    given, family = _parts(name, family_first=family_first)
    if given is not None and family is not None and ("," in name or name.startswith(family)):
        number = _NAMESAKE.search(name) if "," not in name else None
        name = f"{given} {family} {number[0]}" if number else f"{given} {family}"
    return Author(name, given, family, id, orcid)


def _parts(name: str, *, family_first: bool) -> tuple[str | None, str | None]:
    if "," in name:
        parts = [part for part in map(str.strip, name.split(",")) if part]
        if not parts:
            return None, None
        if len(parts) == 1:
            return None, parts[0]
        if len(parts) > 2 and parts[1].lower() in _SUFFIXES:
            return " ".join(parts[2:]), f"{parts[0]} {parts[1]}"
        return " ".join(parts[1:]), parts[0]
    words = name.split()
    if len(words) > 2 and _NAMESAKE.fullmatch(words[-1]):
        words.pop()  # stays in the name as written, where preparation looks for it
    if len(words) == 1:
        glued = _GLUED.fullmatch(name)
        return (glued[1], glued[2]) if glued else (None, name)
    last = words[-1]
    if _is_initials(last, bare=family_first) and not _is_initials(words[0], bare=False):
        return last, " ".join(words[:-1])
    start = len(words) - 1
    if last.lower() in _SUFFIXES and len(words) > 2:
        start -= 1
    while start > 1 and words[start - 1].lower() in _PARTICLES:
        start -= 1
    return " ".join(words[:start]), " ".join(words[start:])


def _is_initials(word: str, *, bare: bool) -> bool:
    if word.lower() in _SUFFIXES:
        return False
    if "." in word:
        return _INITIALS.fullmatch(word) is not None
    return bare and _BARE_INITIALS.fullmatch(word) is not None


def split_names(text: str) -> list[str]:
    """Split one cell holding several names, whatever it separates them with.

    Semicolons, bars and "and" always separate. Commas separate unless the text is one
    "Family, Given" or a run of "Family, I., Family, I.".

    Examples
    --------
    >>> split_names("Pan, Y., Yu, C.")
    ['Pan, Y.', 'Yu, C.']
    >>> split_names("K. W. Lim, W. Buntine and C. Chen")
    ['K. W. Lim', 'W. Buntine', 'C. Chen']
    >>> split_names("Lim, Kar Wai; Buntine, Wray")
    ['Lim, Kar Wai', 'Buntine, Wray']
    """
    pieces = [piece.strip(" ,") for piece in _AND.split(text)]
    pieces = [piece for piece in pieces if piece]
    if ";" in text or "|" in text:
        return pieces
    names: list[str] = []
    for piece in pieces:
        names += _split_commas(piece)
    return names


def _split_commas(text: str) -> list[str]:
    parts = [part for part in map(str.strip, text.split(",")) if part]
    if len(parts) < 2:
        return parts
    if any(_is_initials(part, bare=True) for part in parts[1:]):
        return _pair_initials(parts)
    if len(parts) == 2 and " " not in parts[0] and not _GLUED.fullmatch(parts[0]):
        return [", ".join(parts)]
    return parts


def _pair_initials(parts: list[str]) -> list[str]:
    """Join each run of initials to the family name before it: "Pan", "Y." is one name."""
    names: list[str] = []
    open_name = False
    for part in parts:
        if open_name and (_is_initials(part, bare=True) or part.lower() in _SUFFIXES):
            names[-1] += f", {part}"
            open_name = part.lower() in _SUFFIXES
        else:
            names.append(part)
            open_name = True
    return names


def parse_names(names: Iterable[Any], *, family_first: bool = False) -> tuple[Author, ...]:
    """Return the authors of a list of names, placeholders left out."""
    authors = (parse_name(name, family_first=family_first) for name in names)
    return tuple(author for author in authors if author is not None)
