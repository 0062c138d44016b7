"""Compact columns for millions of references collected while records are read."""

from __future__ import annotations

import re
from array import array
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from citeweave.preparing.keys import doi_key, hash64, title_key
from citeweave.reading.folding import fold
from citeweave.reading.name_parts import parse
from citeweave.wording import printable

if TYPE_CHECKING:
    from citeweave.reading import Reference

__all__ = ["NO_YEAR", "ReferenceColumns", "family_key", "person_key", "venue_key", "written_work"]

NO_YEAR = -1
_YEAR = re.compile(r"^\(?(1[5-9]\d\d|20\d\d)[a-z]?\)?$")
_VOLUME_OR_PAGE = re.compile(r"\b[VP]\d{1,6}\b")
_MET_BITS = 1 << 24
_SPREAD, _ALL_BITS = 0x9E3779B97F4A7C15, (1 << 64) - 1
_LONGEST_LABEL = 200
_NOT_LETTER = re.compile(r"[\W\d_]+")
_SMALL = frozenset(
    "of the and for in on a an de la le les et und der die das fur sur del di".split()  # noqa: SIM905 (more readable than a list)
)


def family_key(family: str) -> str:
    """Return the key of a family name for comparing references: letters only, folded."""
    return _NOT_LETTER.sub("", fold(family))


@lru_cache(maxsize=200_000)
def person_key(written: str) -> tuple[str, str]:
    """Return the family key and initial of a first author as written in a reference.

    Examples
    --------
    >>> person_key("van der Berg L."), person_key("Lim, K. W.")
    (('vanderberg', 'l'), ('lim', 'k'))
    """
    name = parse(written)
    return family_key(name.family), name.initial


def venue_key(venue: str | None) -> str:
    """Return the folded words of a journal name, without small words."""
    words = _NOT_LETTER.sub(" ", fold(venue or "")).split()
    return " ".join(word for word in words if word not in _SMALL)


class ReferenceColumns:
    """A growing table of references, with about 50 bytes per reference plus its title, if any.

    Attributes
    ----------
    document, file : array of int
        The citing document, and the number of its source file.
    id, doi, title, family : array of 64-bit hash
        Comparison keys, 0 if missing.
    year : array of int
        -1 if unknown.
    initial : array of int
        Code of the first author's initial, 0 if unknown.
    venue : array of int
        Number of the abbreviated journal name, -1 if unknown; see `venues`.
    work : array of 64-bit hash
        Key of the cited work, by DOI, title, or author, year and journal; 0 if there is none.
    labels : dict of int to str
        Labels of works that are cited more than once (and of a few others), by hash.
    text : bytearray
        Concatenated title keys; reference r has ``text[ends[r - 1]:ends[r]]``.
    """

    def __init__(self) -> None:
        self.document = array("i")
        self.file = array("i")
        self.id = array("Q")
        self.doi = array("Q")
        self.title = array("Q")
        self.family = array("Q")
        self.year = array("i")
        self.initial = array("i")
        self.venue = array("i")
        self.venues: list[str] = []
        self.work = array("Q")
        self.labels: dict[int, str] = {}
        self._met = bytearray(_MET_BITS // 8)
        self.text = bytearray()
        self.ends = array("q")
        self._venue_number: dict[str, int] = {}

    def __len__(self) -> int:
        """Return the number of references."""
        return len(self.document)

    def add(self, document: int, reference: Reference, file: int) -> None:
        """Append one reference."""
        ident = (reference.id or "").strip()
        doi = doi_key(reference.doi) or doi_key(ident)
        title = title_key(reference.title)
        family, initial = person_key(reference.first_author) if reference.first_author else ("", "")
        self.document.append(document)
        self.file.append(file)
        self.id.append(hash64(ident) if ident else 0)
        self.doi.append(hash64(doi) if doi else 0)
        self.title.append(hash64(title) if title else 0)
        self.family.append(hash64(family) if family else 0)
        self.year.append(NO_YEAR if reference.year is None else _clip(reference.year))
        self.initial.append(ord(initial) if initial else 0)
        self.venue.append(NO_YEAR if title else self._venue(reference.raw))
        self.work.append(self._name_work(reference, family, initial))
        self.text += title.encode("utf-8", "surrogatepass")
        self.ends.append(len(self.text))

    def _name_work(self, reference: Reference, family: str, initial: str) -> int:
        """Return the hash of the cited work, and store its label when it occurs a second time.

        Most works are cited once, and their labels would take more memory than everything else.
        Whether a work has occurred is stored in a few bits, so that occasionally a superfluous
        label is stored, but none is ever missing.
        """
        year = reference.year or 0
        if self.doi[-1]:
            work = self.doi[-1]
        elif self.title[-1]:
            work = (self.title[-1] + _SPREAD * (year + 1)) & _ALL_BITS
        elif family and year and self.venue[-1] >= 0:
            volume = _volume(reference.raw)
            work = hash64(f"{family} {initial} {year} {self.venue[-1]} {volume}")
        else:
            return 0  # an id alone is meaningless to readers
        place = work % _MET_BITS
        byte, bit = place >> 3, 1 << (place & 7)
        if self._met[byte] & bit:
            known = self.labels.get(work)
            # a title or a written reference is more informative than a DOI
            bare = known is not None and known.startswith("10.")
            if known is None or (bare and (reference.title or reference.raw)):
                self.labels[work] = written_work(reference)
        self._met[byte] |= bit
        return work

    def title_text(self, reference: int) -> str:
        """Return the title key of a reference."""
        start = self.ends[reference - 1] if reference else 0
        return self.text[start : self.ends[reference]].decode("utf-8", "surrogatepass")

    def column(self, name: str) -> np.ndarray:
        """Return a column as an array that shares its memory."""
        values: array[int] = getattr(self, name)
        kind = {"i": np.int32, "Q": np.uint64, "q": np.int64}[values.typecode]
        return np.frombuffer(values, dtype=kind) if len(values) else np.zeros(0, dtype=kind)

    def _venue(self, raw: str | None) -> int:
        """Return the number of the journal in "ABRAHAM M, 1909, RC CIRC MAT, V28, P1"."""
        parts = [part.strip() for part in (raw or "").split(",")]
        place = next((i for i, part in enumerate(parts) if _YEAR.match(part)), None)
        if place is None or place + 1 >= len(parts):
            return -1
        key = venue_key(parts[place + 1])
        if not key or re.match(r"^(v|p)?\d", parts[place + 1].lower()):
            return -1
        number = self._venue_number.setdefault(key, len(self.venues))
        if number == len(self.venues):
            self.venues.append(key)
        return number


def written_work(reference: Reference) -> str:
    """Format a cited work for readers: author, year and title, as far as known.

    Examples
    --------
    >>> from citeweave.reading import Reference
    >>> written_work(Reference(title="Latent things", year=2003, first_author="Blei, D."))
    'Blei, D. (2003) Latent things'
    >>> written_work(Reference(doi="10.1234/abc"))
    '10.1234/abc'
    """
    who = " ".join((reference.first_author or "").split())
    when = f"({reference.year})" if reference.year else ""
    if reference.title:
        text = " ".join(part for part in (who, when, reference.title) if part)
    else:
        text = reference.raw or " ".join(part for part in (who, when, reference.doi or "") if part)
    text = printable(" ".join((text or reference.doi or "").split()))
    return text if len(text) <= _LONGEST_LABEL else f"{text[: _LONGEST_LABEL - 1].rstrip()}…"


def _volume(raw: str | None) -> str:
    """Return the volume and page, which identify a paper, in "BLEI DM, 2003, JMLR, V3, P993"."""
    return " ".join(_VOLUME_OR_PAGE.findall((raw or "").upper())[:2])


def _clip(year: int) -> int:
    return year if 0 <= year <= 9999 else NO_YEAR
