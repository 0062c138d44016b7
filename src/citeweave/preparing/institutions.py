"""Determine the institution and the country named in an affiliation."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from citeweave.countries import country_code, country_in_address
from citeweave.reading.folding import fold

if TYPE_CHECKING:
    from citeweave.reading import Affiliation

__all__ = ["Place", "institution_in_address", "institution_key", "place_of"]


class Place(NamedTuple):
    """The institution and country named in an affiliation, if any."""

    name: str | None
    country: str | None


# Patterns that distinguish an institution from its parts and its street, most reliable first.
_UNIVERSITY = re.compile(
    r"\b(?:univ(?:ersi\w*)?|uniwersy\w*|unibersi\w*|institutes? of technology|inst technol"
    r"|polite[ck]\w*|polytechni\w*|hochschule|ecole|eth|epfl|caltech|virginia tech|kaist"
    r"|instituto superior)\b"
)
_ORGANISATION = re.compile(
    r"\b(?:acad(?:em\w*)?|national lab\w*|natl labs?|hosp(?:ital\w*)?|clini[ck]\w*|klinikum"
    r"|medical cent\w*|med ctr|medical school|ministry|agency|observator\w*|museum|council"
    r"|foundation|corp(?:oration)?|inc|gmbh|ltd|llc|sa|cnrs|inria|cnr|csic|csiro|nasa|cern|ibm"
    r"|microsoft|google|max planck|fraunhofer|helmholtz)\b"
)
_INSTITUTE = re.compile(
    r"\b(?:inst(?:itut\w*)?|cent(?:er|re|ro|rum)|ctr|college|coll|school|sch|lab(?:orator\w*)?"
    r"|bureau|society|survey|research|service)\b"
)
_TIERS = (_UNIVERSITY, _ORGANISATION, _INSTITUTE)
_PART_OF = re.compile(
    r"^(?:the )?(?:dep(?:t|ar\w*|)|fac(?:ulty|ulte|ultad|uldade|ultat|)|div(?:ision)?|section|unit"
    r"|programme?|group|chair|graduate school|lehrstuhl|dipartimento|departamento|school of"
    r"|sch|college of|coll|key lab\w*|lab\w* of|lab)\b"
)
# Universities with several campuses: the place is part of the name.
_CAMPUS = re.compile(
    r"(?:the )?(?:university of (?:california|texas|illinois|north carolina|wisconsin|maryland"
    r"|colorado|massachusetts)|univ (?:calif|texas|illinois|n carolina|wisconsin|maryland|colorado"
    r"|massachusetts)|california state university|indian institute of technology)"
)
_COMPANY = frozenset({"inc", "llc", "ltd", "gmbh", "corp", "sa", "co ltd"})
_SCHOOL = re.compile(
    r"(\S+ University|University of \S.*?|\S.* University) "
    r"(?:(?:School|College|Faculty|Institute) of .*|Medical School|Medical College)"
)
_SCHOOL_OF = re.compile(
    r".*(?:School|College|Faculty) of .* (?:at|of) (?:the )?(\S+ University|University of .*)"
)
_LEAD = re.compile(r"^(?:(?:from|at|and) )?(?:the )?", re.IGNORECASE)
_REMARK = re.compile(r"\s*[(\[][^)\]]*[)\]]|^[\s\d*†‡§¶.:#-]+")
_ABBREVIATED = {
    "univ": "university",
    "inst": "institute",
    "institut": "institute",
    "instituto": "institute",
    "istituto": "institute",
    "natl": "national",
    "int": "international",
    "technol": "technology",
    "tech": "technology",
    "sci": "science",
    "sciences": "science",
    "acad": "academy",
    "ctr": "center",
    "centre": "center",
    "hosp": "hospital",
    "lab": "laboratory",
    "labs": "laboratory",
    "laboratories": "laboratory",
    "coll": "college",
    "sch": "school",
    "med": "medical",
    "engn": "engineering",
    "eng": "engineering",
    "res": "research",
    "calif": "california",
    "penn": "pennsylvania",
    "n": "north",
    "s": "south",
    "w": "west",
    "polytech": "polytechnic",
    "agr": "agricultural",
    "corp": "corporation",
    **dict.fromkeys(
        (
            *("universite", "universita", "universitat", "universitaet", "universidad"),
            *("universidade", "universiteit", "universitet", "universitetet", "uniwersytet"),
        ),
        "university",
    ),
}
_SMALL = frozenset(
    {"of", "the", "and", "at", "in", "for", "on", "&", "de", "da", "do", "del", "di", "degli"}
    | {"studi", "du", "des", "la", "le", "der", "zu", "van", "y", "e"}
)
_LONGEST = 300


def place_of(affiliation: Affiliation) -> Place:
    """Return the institution and the country named in an affiliation.

    Examples
    --------
    >>> from citeweave.reading import Affiliation
    >>> place_of(Affiliation(raw="Dept. of Physics, Univ. of Oslo, N-0316 Oslo, Norway"))
    Place(name='Univ. of Oslo', country='NO')
    """
    raw = affiliation.raw or ""
    country = country_code(affiliation.country) if affiliation.country else None
    if country is None and raw:
        country = country_in_address(raw)
    name = affiliation.institution[:_LONGEST] if affiliation.institution else None
    if name and (affiliation.ror or affiliation.id):
        return Place(name, country)  # names from a registry are used as they are
    if name is None and raw:
        name = institution_in_address(raw)
    elif name and raw:
        name = _with_campus(raw[:_LONGEST].split(","), 0)
    return Place(_tidy(name) if name else None, country)


@lru_cache(maxsize=100_000)
def institution_in_address(address: str) -> str | None:
    """Return the institution in an address, not the department or the city.

    Examples
    --------
    >>> institution_in_address("Dept of CS, Beckman Institute, University of Illinois, Urbana, IL")
    'University of Illinois, Urbana'
    >>> institution_in_address("Department of Neurosurgery, Mayo Clinic, Rochester, USA")
    'Mayo Clinic'
    """
    parts = [part for part in map(_tidy, address[:_LONGEST].split(",")) if part]
    folded = [fold(part).replace(".", "").replace("-", " ") for part in parts]
    # a school or a laboratory only if there is nothing above it
    for parts_too in (False, True):
        for number, tier in enumerate(_TIERS):
            for place, text in enumerate(folded):
                if tier.search(text) and (parts_too or not number or not _PART_OF.match(text)):
                    owner = max(place - 1, 0) if text in _COMPANY else place
                    return _with_campus(parts, owner)
    # no indication: the first part that is not a department
    for part, text in zip(parts, folded, strict=True):
        if not _PART_OF.match(text) and country_code(part) is None:
            return part
    return None


def _with_campus(parts: list[str], place: int) -> str:
    name = parts[place].strip()
    after = parts[place + 1].strip() if place + 1 < len(parts) else ""
    whole = _CAMPUS.fullmatch(" ".join(fold(name).replace(".", "").split()))
    fits = after and after.replace(" ", "").isalpha() and country_code(after) is None
    return f"{name}, {after}" if whole and fits else name


def _tidy(name: str) -> str:
    """Return a name without brackets, footnote marks and leading articles."""
    bare = _REMARK.sub("", name).strip(" .,;:/-")
    bare = _LEAD.sub("", bare or name).strip()
    school = _SCHOOL.fullmatch(bare) or _SCHOOL_OF.fullmatch(bare)
    return school[1] if school else bare


@lru_cache(maxsize=100_000)
def institution_key(name: str) -> str:
    """Return the key by which spellings of an institution are compared.

    Examples
    --------
    >>> institution_key("Univ. of Oslo") == institution_key("University of Oslo")
    True
    >>> institution_key("University of York") == institution_key("York University")
    False
    """
    words = re.sub(r"[^\w&]+", " ", fold(name).replace(".", " ").replace("'", "")).split()
    return " ".join(_ABBREVIATED.get(word, word) for word in words if word not in _SMALL)
