"""Match references to works in the corpus: by id, DOI, title, similar title or string.

Every step is a sort and a search, or a look-up in a bounded block; no step compares all pairs. A
reference that matches several works equally well is ambiguous and not matched.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from citeweave.preparing.keys import hash64, numerals
from citeweave.preparing.references import NO_YEAR, ReferenceColumns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["FATES", "MatchOptions", "Matches", "Work", "match"]

#: Possible outcomes for a reference, in the order of the codes in `Matches.fate`.
FATES = ("outside", "id", "doi", "title", "fuzzy", "string", "ambiguous", "self", "duplicate")
_OUTSIDE, _ID, _DOI, _TITLE, _FUZZY, _STRING, _AMBIGUOUS, _SELF, _DUPLICATE = range(9)

_MIN_FUZZY_WORDS = 4
_MIN_FUZZY_LETTERS = 20
_MAX_FUZZY_LETTERS = 500  # similarity takes quadratic time, and titles are not longer
_BLOCK = 200  # words that occur in more titles than this are not used for look-up


class Work(NamedTuple):
    """Identifying data of a work; merged works have several ids, DOIs and titles."""

    ids: tuple[str, ...]
    dois: tuple[str, ...]
    titles: tuple[str, ...]
    year: int | None
    family: str
    initial: str
    venue: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchOptions:
    """Which steps follow ids and DOIs, and how strict they are; see `Settings`."""

    titles: bool = True
    fuzzy: bool = True
    strings: bool = True
    similarity: float = 0.92
    year_tolerance: int = 1


class Matches(NamedTuple):
    """The result of matching.

    Attributes
    ----------
    citations : ndarray of int64, shape (n, 2)
        Unique rows (citing, cited), without self-citations.
    fate : ndarray of uint8
        Outcome of each reference, as an index into `FATES`.
    citing : ndarray of int64
        The citing work of each reference, -1 if it is not in the corpus.
    """

    citations: np.ndarray
    fate: np.ndarray
    citing: np.ndarray

    def by_file(self, file: np.ndarray, names: list[str]) -> dict[str, dict[str, int]]:
        """Count outcomes per source file."""
        table = np.zeros((len(names), len(FATES)), dtype=np.int64)
        inside = self.citing >= 0
        np.add.at(table, (file[inside], self.fate[inside]), 1)
        return {
            name: {"references": int(row.sum()), **dict(zip(FATES, row.tolist(), strict=True))}
            for name, row in zip(names, table, strict=True)
            if row.sum()
        }


def match(
    works: list[Work], references: ReferenceColumns, citing: np.ndarray, options: MatchOptions
) -> Matches:
    """Match references to works.

    Parameters
    ----------
    works
        The documents of the corpus.
    references
        The references of all documents.
    citing
        The citing work of each reference, -1 if it is not in the corpus.
    options
        Which steps to take.
    """
    found = np.full(len(references), -1, dtype=np.int64)
    fate = np.full(len(references), _OUTSIDE, dtype=np.uint8)
    open_ = citing >= 0

    def by_hash(column: str, keys: list[tuple[str, ...]], code: int) -> None:
        hashes, work = _index(keys)
        wanted = references.column(column)
        at = np.flatnonzero(open_ & (wanted != 0))
        target = _search(hashes, work, wanted[at])
        several, hit = at[target == -2], at[target >= 0]
        fate[several], open_[several] = _AMBIGUOUS, False
        found[hit], fate[hit], open_[hit] = target[target >= 0], code, False

    by_hash("id", [work.ids for work in works], _ID)
    by_hash("doi", [work.dois for work in works], _DOI)
    steps: list[tuple[int, str, Callable[[], _Index]]] = []
    if options.titles:
        steps.append((_TITLE, "title", lambda: _TitleIndex(works, options)))
        if options.fuzzy:
            steps.append((_FUZZY, "title", lambda: _FuzzyIndex(works, options)))
    if options.strings:
        steps.append((_STRING, "venue", lambda: _StringIndex(works, references.venues)))
    for code, column, build in steps:
        absent = -1 if column == "venue" else 0
        at = np.flatnonzero(open_ & (references.column(column) != absent))
        if len(at) == 0:
            continue
        index = build()
        for members in _alike(references, at, column):
            target = index.find(references, int(members[0]))
            if target == -2:
                fate[members], open_[members] = _AMBIGUOUS, False
            elif target >= 0:
                found[members], fate[members], open_[members] = target, code, False
    return _settle(citing, found, fate)


def _settle(citing: np.ndarray, found: np.ndarray, fate: np.ndarray) -> Matches:
    """Remove self-citations and repeated citations."""
    hit = np.flatnonzero(found >= 0)
    own = hit[citing[hit] == found[hit]]
    fate[own] = _SELF
    hit = hit[citing[hit] != found[hit]]
    pairs = np.stack([citing[hit], found[hit]], axis=1)
    if len(pairs) == 0:
        return Matches(np.zeros((0, 2), dtype=np.int64), fate, citing)
    width = int(pairs.max()) + 1
    _, first = np.unique(pairs[:, 0] * width + pairs[:, 1], return_index=True)
    again = np.ones(len(hit), dtype=bool)
    again[first] = False
    fate[hit[again]] = _DUPLICATE
    return Matches(pairs[np.sort(first)], fate, citing)


def _index(keys: list[tuple[str, ...]]) -> tuple[np.ndarray, np.ndarray]:
    """Return sorted hashes and their works; -2 if two works share a key."""
    pairs: dict[int, int] = {}
    for work, group in enumerate(keys):
        for key in group:
            if key:
                code = hash64(key)
                pairs[code] = work if pairs.get(code, work) == work else -2
    hashes = np.fromiter(pairs.keys(), dtype=np.uint64, count=len(pairs))
    works = np.fromiter(pairs.values(), dtype=np.int64, count=len(pairs))
    order = np.argsort(hashes)
    return hashes[order], works[order]


def _search(hashes: np.ndarray, works: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    if len(hashes) == 0:
        return np.full(len(wanted), -1, dtype=np.int64)
    place = np.minimum(np.searchsorted(hashes, wanted), len(hashes) - 1)
    return np.where(hashes[place] == wanted, works[place], -1)


def _alike(references: ReferenceColumns, at: np.ndarray, column: str) -> Iterator[np.ndarray]:
    """Group identical references, so that each is looked up only once."""
    if len(at) == 0:
        return
    mixed = references.column(column)[at].astype(np.uint64)
    for other in ("family", "year", "initial"):
        value = references.column(other)[at].astype(np.int64).view(np.uint64)
        mixed = mixed * np.uint64(0x9E3779B97F4A7C15) + value
    order = np.argsort(mixed, kind="stable")
    ordered, at = mixed[order], at[order]
    starts = [0, *(np.flatnonzero(ordered[1:] != ordered[:-1]) + 1).tolist(), len(at)]
    for start, stop in pairwise(starts):
        yield at[start:stop]


class _Index(Protocol):
    """One way to look up a reference."""

    def find(self, references: ReferenceColumns, reference: int) -> int:
        """Return the work that a reference refers to; -1 for none, -2 for several."""


class _Facts:
    """Compares the year and first author of works and references; missing values match anything."""

    def __init__(self, works: list[Work], options: MatchOptions) -> None:
        self.years = [NO_YEAR if work.year is None else work.year for work in works]
        self.families = [hash64(work.family) if work.family else 0 for work in works]
        self.tolerance = options.year_tolerance

    def fit(self, work: int, year: int, family: int) -> bool:
        own = self.years[work]
        if NO_YEAR not in {year, own} and abs(own - year) > self.tolerance:
            return False
        return not family or not self.families[work] or family == self.families[work]

    def only(self, works: list[int], year: int, family: int) -> int:
        """Return the only matching work; -1 for none, -2 for several."""
        fitting = [work for work in works if self.fit(work, year, family)]
        if len(fitting) > 1:
            exact = [
                work
                for work in fitting
                if self.years[work] == year and self.families[work] == family
            ]
            fitting = exact if len(exact) == 1 else fitting
        return -1 if not fitting else fitting[0] if len(fitting) == 1 else -2


class _TitleIndex:
    """Equal titles, with compatible year and first author."""

    def __init__(self, works: list[Work], options: MatchOptions) -> None:
        self._facts = _Facts(works, options)
        self._works: dict[int, list[int]] = defaultdict(list)
        for number, work in enumerate(works):
            for title in dict.fromkeys(work.titles):
                if title:
                    self._works[hash64(title)].append(number)

    def find(self, references: ReferenceColumns, reference: int) -> int:
        works = self._works.get(references.title[reference])
        if works is None:
            return -1
        return self._facts.only(works, references.year[reference], references.family[reference])


class _FuzzyIndex:
    """Long, nearly equal titles, found through their rarest words."""

    def __init__(self, works: list[Work], options: MatchOptions) -> None:
        self._facts = _Facts(works, options)
        self._similarity = options.similarity
        self._titles = [
            (number, title) for number, work in enumerate(works) for title in work.titles[:2]
        ]
        words = [set(title.split()) for _, title in self._titles]
        self._count = Counter(word for group in words for word in group)
        self._block: dict[str, list[int]] = defaultdict(list)
        self._by_author: dict[tuple[str, int], list[int]] = defaultdict(list)
        self._families = set(self._facts.families)
        for place, group in enumerate(words):
            work, title = self._titles[place]
            if _long(title):
                for word in self._rarest(group, 4):
                    self._block[word].append(place)
                    self._by_author[word, self._facts.families[work]].append(place)

    def _rarest(self, words: set[str], number: int) -> list[str]:
        count = self._count
        known = [word for word in words if 0 < count[word] <= _BLOCK]
        return sorted(known, key=lambda word: (count[word], word))[:number]

    def _candidates(self, title: str, family: int) -> set[int]:
        """Return the titles that share a rare word and, if known, the first author."""
        words = self._rarest(set(title.split()), 6)
        if not family:
            return {place for word in words for place in self._block.get(word, ())}
        return {
            place
            for word in words
            for author in (family, 0)
            for place in self._by_author.get((word, author), ())
        }

    def find(self, references: ReferenceColumns, reference: int) -> int:
        year, family = references.year[reference], references.family[reference]
        if family and family not in self._families and 0 not in self._families:
            return -1
        title = references.title_text(reference)
        if not _long(title):
            return -1
        least = self._similarity
        if year == NO_YEAR or not family:
            least = max(least, 0.95)  # the title alone must be sufficient
        candidates = self._candidates(title, family)
        if not candidates:
            return -1
        numbers = numerals(title)
        scores: dict[int, float] = {}
        matcher = SequenceMatcher(autojunk=False)
        matcher.set_seq2(title)
        for place in candidates:
            work, other = self._titles[place]
            if not self._facts.fit(work, year, family) or numerals(other) != numbers:
                continue
            matcher.set_seq1(other)
            if matcher.real_quick_ratio() < least or matcher.quick_ratio() < least:
                continue
            score = matcher.ratio()
            if score >= least:
                scores[work] = max(score, scores.get(work, 0.0))
        if not scores:
            return -1
        best = max(scores.values())
        top = [work for work, score in scores.items() if score > best - 0.01]
        return top[0] if len(top) == 1 else -2


class _StringIndex:
    """First author, year and abbreviated journal, for references without a title."""

    def __init__(self, works: list[Work], venues: list[str]) -> None:
        self._venues = venues
        self._works = works
        self._block: dict[tuple[int, int], list[int]] = defaultdict(list)
        for number, work in enumerate(works):
            if work.family and work.year is not None and work.venue:
                self._block[hash64(work.family), work.year].append(number)

    def find(self, references: ReferenceColumns, reference: int) -> int:
        year, family = references.year[reference], references.family[reference]
        if year == NO_YEAR or not family:
            return -1
        short, initial = self._venues[references.venue[reference]], references.initial[reference]
        fitting = [
            work
            for work in self._block.get((family, year), ())
            if _initial_fits(self._works[work].initial, initial)
            and abbreviates(short, self._works[work].venue)
        ]
        return -1 if not fitting else fitting[0] if len(fitting) == 1 else -2


def abbreviates(short: str, venue: str) -> bool:
    """Return whether one journal key abbreviates the other, word by word and in order.

    Examples
    --------
    >>> abbreviates("am j phys", "american journal physics"), abbreviates("phys lett", "physica")
    (True, False)
    """
    words = venue.split()
    if short.replace(" ", "") == venue.replace(" ", ""):
        return True
    place = 0
    for position, part in enumerate(short.split()):
        while place < len(words) and not _shortens(part, words[place]):
            place += 1
            if position == 0:
                return False
        if place == len(words):
            return False
        place += 1
    return True


def _shortens(part: str, word: str) -> bool:
    if not word.startswith(part[0]):
        return False
    letters = iter(word)
    return all(letter in letters for letter in part)


def _initial_fits(own: str, code: int) -> bool:
    return not own or not code or ord(own) == code


def _long(title: str) -> bool:
    fits = _MIN_FUZZY_LETTERS <= len(title) <= _MAX_FUZZY_LETTERS
    return fits and title.count(" ") + 1 >= _MIN_FUZZY_WORDS
