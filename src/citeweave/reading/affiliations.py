"""Parse affiliations and funders as sources write them, and assign affiliations to authors."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from citeweave.reading.folding import fold
from citeweave.reading.identifiers import clean, normalise_ror
from citeweave.reading.record import Affiliation, Author

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = [
    "addresses",
    "affiliation_of",
    "affiliations_in_brackets",
    "affiliations_of",
    "funder_names",
    "share_out",
    "split_outside_brackets",
    "with_affiliations",
]

_NONE = frozenset({"na", "n/a", "none", "null", "nan", "-", "unknown"})
# a bracket that does not close before the next one opens is an ordinary character
_OUTSIDE_BRACKETS = re.compile(r"(?:\[[^\[\]]*\]|[^;\[]|\[)+")
_BRACKETED = re.compile(r"\[([^\]]*)\]\s*(.+)", re.DOTALL)
# "NSF [DMS-1]", "NSF: DMS-1", "Research(grant numbers:1)"; but not "Tata Trust (TT)"
_GRANT = re.compile(r"\s*\[|(?<!\s)\(|:")
_ACRONYM = re.compile(r"(?=(?:[^A-Z]*[A-Z]){2})[A-Z][\w&./-]{1,11}")
_DIGIT = re.compile(r"\d")
_WORD = re.compile(r"[^\W\d_]{3,}")
_LETTERS = re.compile(r"[^\W\d_]{2}")


def addresses(texts: Iterable[Any]) -> tuple[Affiliation, ...]:
    """Return an affiliation per address; empty addresses are omitted.

    Examples
    --------
    >>> addresses(["ANU, Canberra, Australia", "NA"])[0].raw
    'ANU, Canberra, Australia'
    """
    found = dict.fromkeys(text for text in map(clean, texts) if text and not _empty(text))
    return tuple(Affiliation(raw=text) for text in found)


def _empty(text: str) -> bool:
    return text.lower() in _NONE or not _LETTERS.search(text)


def affiliation_of(item: Any) -> Affiliation | None:
    """Return the affiliation described by a text or an object (Crossref, S2ORC, OpenAlex, …)."""
    if not isinstance(item, dict):
        found = addresses([item])
        return found[0] if found else None
    place = item.get("location") or item.get("address")
    country = item.get("country_code") or item.get("country")
    if country is None and isinstance(place, dict):
        country = place.get("country_code") or place.get("country")
    name = _first(item, "institution", "display_name", "name", "organization", "org", "laboratory")
    ids = item.get("id") if isinstance(item.get("id"), list) else [item.get("id")]
    texts = [one.get("id") if isinstance(one, dict) else one for one in ids or []]
    rors = (normalise_ror(text) for text in (item.get("ror"), *texts))
    own = next((text for text in texts if isinstance(text, str) and "openalex.org/" in text), None)
    made = Affiliation(
        country=clean(country),
        ror=next(filter(None, rors), None),
        id=clean(own.rsplit("/", 1)[-1]) if own else None,
    )
    if name and "," in name and not (made.ror or made.id):
        made = made._replace(raw=name)  # Crossref puts whole addresses under "name"
    else:
        made = made._replace(institution=name)
    # Crossref's town and country, in a separate list
    listed = item.get("place")
    towns = [text for text in map(clean, listed if isinstance(listed, list) else ()) if text]
    if towns and made.raw is None and made.country is None:
        made = made._replace(raw=", ".join([*([name] if name else []), *towns]))
    return made if any(made) else None


def _first(item: dict[str, Any], *keys: str) -> str | None:
    for key in keys:
        value = item.get(key)
        value = value.get("name") if isinstance(value, dict) else value
        text = clean(value)
        if text and not _empty(text):
            return text
    return None


def affiliations_of(value: Any) -> tuple[Affiliation, ...]:
    """Return the affiliations in a text, an object, or a list of these."""
    items = value if isinstance(value, list) else [value]
    found = (affiliation_of(item) for item in items if item is not None)
    return tuple(dict.fromkeys(one for one in found if one is not None))


def split_outside_brackets(text: str) -> list[str]:
    """Split at semicolons outside square brackets, which enclose author names.

    Examples
    --------
    >>> split_outside_brackets("[Lim, K.; Chen, C.] ANU, Australia; [Du, L.] NICTA, Australia")
    ['[Lim, K.; Chen, C.] ANU, Australia', '[Du, L.] NICTA, Australia']
    """
    return [part.strip() for part in _OUTSIDE_BRACKETS.findall(text) if part.strip()]


def affiliations_in_brackets(
    authors: Sequence[Author], lines: Iterable[str]
) -> tuple[tuple[Author, ...], tuple[Affiliation, ...]]:
    """Assign Web of Science addresses, "[Lim, Kar Wai; Du, Lan] ANU, Canberra", to authors.

    The first part of such an address is the institution.

    Returns
    -------
    authors : tuple of Author
    rest : tuple of Affiliation
        Addresses that name none of these authors.
    """
    by_name: dict[str, list[int]] = {}
    for place, author in enumerate(authors):
        for key in set(_keys(author.family or author.name, author.given or "")):
            by_name.setdefault(key, []).append(place)
    own: list[list[Affiliation]] = [[] for _ in authors]
    rest: list[Affiliation] = []
    for line in lines:
        found = _BRACKETED.fullmatch(line.strip())
        address = clean((found[2] if found else line).strip(" .;"))
        if not address or _empty(address):
            continue
        affiliation = Affiliation(institution=clean(address.split(",")[0]), raw=address)
        places = [
            place
            for name in (found[1].split(";") if found else ())
            for place in _named(name, by_name)
        ]
        for place in places:
            own[place].append(affiliation)
        if not places:
            rest.append(affiliation)
    return share_out(with_affiliations(authors, own), rest)


def _keys(family: str, given: str) -> tuple[str, str]:
    """Return the keys to look up a written name: the full name, then family name and initial."""
    family, given = fold(family).strip(), fold(given).strip()
    return f"{family}, {given}", f"{family}, {given[:1]}."


def _named(name: str, by_name: dict[str, list[int]]) -> list[int]:
    family, _, given = name.partition(",")
    whole, short = _keys(family, given)
    found = by_name.get(whole) or by_name.get(short, [])
    # with two authors of the same initial, the address could belong to either
    return found if len(found) == 1 else []


def with_affiliations(
    authors: Sequence[Author], own: Sequence[Iterable[Affiliation]]
) -> tuple[Author, ...]:
    """Return the authors, each with their affiliations."""
    return tuple(
        replace(author, affiliations=found) if (found := tuple(dict.fromkeys(places))) else author
        for author, places in zip(authors, own, strict=True)
    )


def share_out(
    authors: Sequence[Author], rest: Iterable[Affiliation]
) -> tuple[tuple[Author, ...], tuple[Affiliation, ...]]:
    """Assign affiliations of the whole record to its authors, if there is no doubt.

    There is no doubt if there is one author, or if there is one affiliation and no author has
    another.
    """
    left = tuple(dict.fromkeys(rest))
    placed = any(author.affiliations for author in authors)
    if not left or placed or (len(authors) != 1 and len(left) != 1) or not authors:
        return tuple(authors), left
    return with_affiliations(authors, [left] * len(authors)), ()


def funder_names(items: Iterable[Any]) -> tuple[str, ...]:
    """Return the distinct names of funders, without grant numbers.

    Examples
    --------
    >>> funder_names(["National Science Foundation, NSF: DMC-85", "NSF [1, 2]", "81601515"])
    ('National Science Foundation', 'NSF')
    """
    names = (_funder_name(clean(item) or "") for item in items)
    return tuple(dict.fromkeys(filter(None, names)))


@lru_cache(maxsize=50_000)
def _funder_name(entry: str) -> str:
    return _funder(_GRANT.split(entry)[0].split(", "))


def _funder(parts: list[str]) -> str:
    """Return the name among the parts of an entry, without acronyms and grants."""
    half = parts[0][: len(parts[0]) // 2]
    if half and parts[0] == half * 2:
        parts = [half, *parts[1:]]  # Scopus exports write some names twice
    named = [
        part
        for part in parts
        if not _ACRONYM.fullmatch(part)
        and (" " in part or not _DIGIT.search(part))
        and not all(map(str.isupper, _WORD.findall(part)))
    ]
    if not named:
        named = [part for part in parts if _LETTERS.search(part) and not _DIGIT.search(part)][:1]
    return ", ".join(named).strip(" .;,")
