"""Normalise values that sources write in many ways: text, DOI, ORCID, year."""

from __future__ import annotations

import math
import re
from typing import Any
from urllib.parse import unquote

__all__ = [
    "clean",
    "find_doi",
    "mesh_heading",
    "normalise_doi",
    "normalise_orcid",
    "normalise_researcher_id",
    "normalise_ror",
    "parse_count",
    "parse_year",
]

_DOI = re.compile(r"10\.\d{4,9}/[^\s\"<>]+", re.ASCII)
_WHOLE_DOI = re.compile(r"10\.\d{4,9}/[^\s\"]+$", re.ASCII)
_ORCID = re.compile(r"\b(\d{4})-?(\d{4})-?(\d{4})-?(\d{3}[\dXx])\b", re.ASCII)
_RESEARCHER_ID = re.compile(r"[A-Z]{1,3}-\d{4}-\d{4}", re.ASCII)
_ROR = re.compile(r"(?:^|ror\.org/)(0[a-hj-km-np-tv-z0-9]{6}\d{2})/?$", re.ASCII)
_NUMBER = re.compile(r"\d{1,12}(?:\.0*)?", re.ASCII)
_YEAR = re.compile(r"(?<!\d)(1[5-9]\d\d|20\d\d)(?!\d)", re.ASCII)
_COMPACT_DATE = re.compile(r"(1[5-9]\d\d|20\d\d)(?:0\d|1[0-2])[0-3]\d", re.ASCII)
_UNPRINTABLE = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_LONGEST_DOI = 512


def clean(value: Any) -> str | None:
    r"""Return text with collapsed white space and without unprintable characters.

    Control characters and lone surrogates (which JSON can contain) would later break storage as
    UTF-8, so they are removed. Numbers become text; anything else becomes None.

    Examples
    --------
    >>> clean("  topic \n models ")
    'topic models'
    >>> clean(" ") is None
    True
    """
    if not isinstance(value, str):
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        if isinstance(value, float):
            if not math.isfinite(value):
                return None
            if value.is_integer() and abs(value) < 1e15:
                value = int(value)
        # Python refuses to format integers with many thousand digits.
        elif abs(value) >= 10**30:
            return None
        return str(value)
    if value.isprintable():
        if "  " in value:
            value = " ".join(value.split())
        return value.strip() or None
    return " ".join(_UNPRINTABLE.sub(" ", value).split()) or None


def normalise_doi(value: Any) -> str | None:
    """Return a DOI in lower case without prefix or URL, or None if there is none.

    Examples
    --------
    >>> normalise_doi("https://doi.org/10.1007/S10994-016-5562-3")
    '10.1007/s10994-016-5562-3'
    """
    text = clean(value)
    if text is None or "10." not in text:
        return None
    if "%" in text:
        text = unquote(text)
    text = text.lower()
    # By itself, a DOI may contain characters that would end it in running text: "<1::aid>2".
    found = _WHOLE_DOI.match(text, text.index("10.")) or _DOI.search(text)
    if found is None or len(found[0]) > _LONGEST_DOI:
        return None
    return _without_tail(found[0])


def find_doi(text: str) -> str | None:
    """Return the first DOI in a longer text, normalised.

    Examples
    --------
    >>> from citeweave.reading import find_doi
    >>> find_doi("Lim KW, 2016, MACH LEARN, DOI 10.1007/S10994-016-5562-3")
    '10.1007/s10994-016-5562-3'
    """
    return normalise_doi(text) if "10." in text else None


def _without_tail(doi: str) -> str:
    """Strip punctuation that belongs to the sentence around a DOI."""
    doi = doi.rstrip(".,;:'")
    for opening, closing in ("()", "[]", "{}"):
        while doi.endswith(closing) and doi.count(opening) < doi.count(closing):
            doi = doi[:-1].rstrip(".,;:'")
    return doi


def mesh_heading(text: str) -> str:
    """Return a MeSH heading without qualifiers and without the asterisk of a major topic.

    Examples
    --------
    >>> mesh_heading("Stroke/*drug therapy/diagnosis")
    'Stroke'
    """
    return text.partition("/")[0].strip(" *")


def normalise_orcid(value: Any) -> str | None:
    """Return an ORCID as ``0000-0000-0000-0000`` without URL, or None.

    Examples
    --------
    >>> from citeweave.reading import normalise_orcid
    >>> normalise_orcid("https://orcid.org/0000-0002-1825-0097")
    '0000-0002-1825-0097'
    """
    if not isinstance(value, str):
        return None
    found = _ORCID.search(value)
    return "-".join(found.groups()).upper() if found else None


def normalise_researcher_id(value: Any) -> str | None:
    """Return a Web of Science ResearcherID such as ``J-3641-2014``, or None if there is none.

    Examples
    --------
    >>> normalise_researcher_id(" j-3641-2014")
    'J-3641-2014'
    """
    text = (clean(value) or "").upper()
    return text if _RESEARCHER_ID.fullmatch(text) else None


def normalise_ror(value: Any) -> str | None:
    """Return a Research Organization Registry identifier without URL, or None.

    Examples
    --------
    >>> normalise_ror("https://ror.org/05ppvf150")
    '05ppvf150'
    """
    found = _ROR.search(value.strip().lower()) if isinstance(value, str) else None
    return found[1] if found else None


def parse_count(value: Any) -> int | None:
    """Return a count from a number or its text, or None.

    Examples
    --------
    >>> parse_count("13,169"), parse_count(51.0), parse_count("NA"), parse_count(-1)
    (13169, 51, None, None)
    """
    text = clean(value)
    found = _NUMBER.fullmatch(text.replace(",", "")) if text else None
    return int(float(found[0])) if found else None


def parse_year(value: Any) -> int | None:
    """Return the year in a number or a date, or None if there is no plausible one.

    Examples
    --------
    >>> parse_year("Jan.-Feb. 2019"), parse_year(2016.0), parse_year("n.d.")
    (2019, 2016, None)
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return int(value) if 1500 <= value < 2100 and value == int(value) else None
    if not isinstance(value, str):
        # datetime.date and datetime.datetime from Parquet
        year = getattr(value, "year", None)
        return parse_year(year) if isinstance(year, int) else None
    found = _YEAR.search(value) or _COMPACT_DATE.search(value)
    return int(found[1]) if found else None
