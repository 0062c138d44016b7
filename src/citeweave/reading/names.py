"""Parse author names as sources write them into given and family names."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from citeweave.reading.identifiers import clean
from citeweave.reading.name_parts import SUFFIXES, is_glued, is_initials, parse
from citeweave.reading.record import Affiliation, Author

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = ["identifiers_by_name", "is_nameless", "parse_name", "parse_names", "split_names"]

_LETTER = re.compile(r"[^\W\d_]")
_AND = re.compile(r" (?:and|&) |; ?|\|", re.IGNORECASE)
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
    affiliations: tuple[Affiliation, ...] = (),
) -> Author | None:
    """Return one author from a name in any of the usual spellings.

    The forms "Family, Given", "Family, Jr, Given", "Given von Family" and "Family I.I." are
    recognised; placeholders ("et al.", "[No author name available]") give None.

    Parameters
    ----------
    text : str
        One name.
    family_first : bool
        Whether the source writes "Lim KW", with initials in upper case at the end.
    id, orcid, affiliations
        Passed on to the author.

    Examples
    --------
    >>> author = parse_name("van de Schoot, Rens")
    >>> author.name, author.given, author.family
    ('Rens van de Schoot', 'Rens', 'van de Schoot')
    """
    name = clean(text)
    if (
        name is None
        or not _LETTER.search(name)
        or name.lower() in _NOBODY
        or name.lower().rstrip(".") in SUFFIXES
    ):
        return None
    parts = parse(name, family_first=family_first)
    family = " ".join(part for part in (parts.family, parts.suffix) if part) or None
    if parts.given and family is not None and ("," in name or name.startswith(parts.family)):
        name = parts.display
    return Author(name, parts.given or None, family, id, orcid, affiliations)


def is_nameless(text: Any) -> bool:
    """Return whether an entry of an author list contains no name, not even a placeholder.

    Examples
    --------
    >>> is_nameless(None), is_nameless(" ?"), is_nameless("et al.")
    (True, True, False)
    """
    name = clean(text)
    return name is None or not _LETTER.search(name)


def identifiers_by_name(
    names: Sequence[str], items: Iterable[str], read: Callable[[str], str | None]
) -> list[str | None]:
    """Assign Web of Science identifiers such as "Kaiser, Robin/J-3641-2014" to authors.

    They are matched by the full name, or else by family name and first initial if these are unique.

    Parameters
    ----------
    names : sequence of str
        Names as in the record, "Family, Given".
    items : iterable of str
        Names and identifiers.
    read : callable
        Normalises an identifier; returns None if it is invalid.

    Examples
    --------
    >>> names = ["Kaiser, R", "Li, Wei", "Li, Wen"]
    >>> identifiers_by_name(names, ["Kaiser, Robin/1", "Li, W/2"], str)
    ['1', None, None]
    """
    whole: dict[str, str] = {}
    for item in items:
        name, _, text = item.rpartition("/")
        found = read(text)
        if found and name.strip():
            whole.setdefault(" ".join(name.lower().split()), found)
    written = [" ".join(name.lower().split()) for name in names]
    short = Counter(map(_family_and_initial, written))
    by_initial: dict[str, set[str]] = {}
    for name, found in whole.items():
        by_initial.setdefault(_family_and_initial(name), set()).add(found)
    given: list[str | None] = []
    for name in written:
        key = _family_and_initial(name)
        other = by_initial.get(key, set())
        alone = short[key] == 1 and len(other) == 1
        given.append(whole.get(name) or (next(iter(other)) if alone else None))
    return given


def _family_and_initial(name: str) -> str:
    family, _, given = name.partition(",")
    return f"{family.strip()},{given.strip()[:1]}"


def split_names(text: str) -> list[str]:
    """Split a cell with several names, whatever separates them.

    Semicolons, bars and "and" always separate names. Commas do, unless the text is a single
    "Family, Given" or a sequence "Family, I., Family, I.".

    Examples
    --------
    >>> split_names("Pan, Y., Yu, C.")
    ['Pan, Y.', 'Yu, C.']
    >>> split_names("K. W. Lim, W. Buntine and C. Chen")
    ['K. W. Lim', 'W. Buntine', 'C. Chen']
    >>> split_names("Lim, Kar Wai; Buntine, Wray")
    ['Lim, Kar Wai', 'Buntine, Wray']
    """
    pieces = [piece.strip(" ,") for piece in _AND.split(" ".join(text.split()))]
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
    if any(is_initials(part, bare=True) for part in parts[1:]):
        return _pair_initials(parts)
    if len(parts) == 2 and " " not in parts[0] and not is_glued(parts[0]):
        return [", ".join(parts)]
    return parts


def _pair_initials(parts: list[str]) -> list[str]:
    """Join initials to the preceding family name: "Pan", "Y." is one name."""
    names: list[str] = []
    open_name = False
    for part in parts:
        if open_name and (is_initials(part, bare=True) or part.lower().rstrip(".") in SUFFIXES):
            names[-1] += f", {part}"
            open_name = part.lower().rstrip(".") in SUFFIXES
        else:
            names.append(part)
            open_name = True
    return names


def parse_names(names: Iterable[Any], *, family_first: bool = False) -> tuple[Author, ...]:
    """Return the authors of a list of names, without placeholders.

    Examples
    --------
    >>> from citeweave.reading import parse_names
    >>> [author.family for author in parse_names(["Lim, Kar Wai", "Wray Buntine", "et al."])]
    ['Lim', 'Buntine']
    """
    authors = (parse_name(name, family_first=family_first) for name in names)
    return tuple(author for author in authors if author is not None)
