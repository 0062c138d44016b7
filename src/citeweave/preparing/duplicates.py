"""Find duplicate records of a work while they are read: by id, DOI, or title, year and author."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import NamedTuple

from citeweave.preparing.keys import doi_key, title_key

__all__ = ["DuplicateIndex", "WorkKeys"]

# "Editorial" by the same author in the same year may be several works; longer titles are not.
_TELLING_WORDS = 4
# arXiv, bioRxiv, SSRN, Preprints.org, PsyArXiv, ChemRxiv, Research Square, TechRxiv, OSF
_PREPRINTS = (
    *("10.48550/", "10.1101/", "10.2139/", "10.20944/", "10.31234/", "10.26434/"),
    *("10.21203/", "10.36227/", "10.31219/"),
)
_MOST_ALIKE = 20  # maximum number of works with the same title to compare with


class WorkKeys(NamedTuple):
    """The identifying keys of a work; unknown keys are empty, and an unknown year is None."""

    id: str
    doi: str
    title: str
    year: int | None
    family: str

    @classmethod
    def of(
        cls, *, ident: str, doi: str | None, title: str | None, year: int | None, family: str
    ) -> WorkKeys:
        """Create the keys from the fields of a record; an id that is a DOI is used as such."""
        return cls(ident.strip(), doi_key(doi) or doi_key(ident), title_key(title), year, family)


def _nearly(one: WorkKeys, other: WorkKeys) -> bool:
    """Return whether two works with the same long title are one: years and names nearly equal.

    Annual reports have the same title but different DOIs; preprints also have their own DOI.
    """
    if not _same_family(one.family, other.family):
        return False
    if one.year is None or other.year is None or one.year == other.year:
        return True
    dois = {one.doi, other.doi} - {""}
    preprint = any(doi.startswith(_PREPRINTS) for doi in dois)
    return abs(one.year - other.year) == 1 and (len(dois) < 2 or preprint)


def _same_family(one: str, other: str) -> bool:
    """Return whether two family names match: equal, half of a double name, or misspelt.

    Examples
    --------
    >>> _same_family("garciamarquez", "marquez"), _same_family("mller", "muller")
    (True, True)
    >>> _same_family("lee", "li"), _same_family("garcia", "marquez")
    (False, False)
    """
    short, long = sorted((one, other), key=len)
    if short == long:
        return True
    if len(short) >= 4 and (long.startswith(short) or long.endswith(short)):
        return True
    return len(short) >= 5 and SequenceMatcher(None, short, long).ratio() >= 0.85


class DuplicateIndex:
    """Index of works by their keys, with constant-time look-up.

    Two records are the same work if they have the same DOI, or the same normalised title, the same
    family name of the first author and the same year (which may be missing in one). Without a first
    author, a title is not sufficient, and short titles ("Editorial") do not join records with
    different DOIs. A title of four or more words also joins records whose years differ by one, like
    a preprint and its article, and whose first authors are the same name in two spellings: half of
    a double name, or with one or two letters missing. The same id joins records unless their titles
    differ, in which case two sources used the same id for different works.
    """

    def __init__(self) -> None:
        self._by_id: dict[str, int] = {}
        self._by_doi: dict[str, int] = {}
        self._by_title: dict[tuple[str, str, int | None], int] = {}
        self._by_title_only: dict[tuple[str, str], int] = {}
        self._by_long_title: dict[str, list[int]] = {}
        self._keys: list[WorkKeys] = []

    def add(self, keys: WorkKeys, *, merge: bool = True) -> tuple[list[tuple[int, str]], bool]:
        """Register the next work; works are numbered from 0 in order of calls.

        Parameters
        ----------
        keys
            Its identifying keys.
        merge
            Whether to look for duplicates; otherwise only check whether the id is taken.

        Returns
        -------
        duplicates : list of (int, str)
            Earlier records of the same work, with the reason ("id", "doi" or "title").
        id_taken : bool
            Whether the id belongs to an earlier, different work.
        """
        number = len(self._keys)
        self._keys.append(keys)
        found: list[tuple[int, str]] = []
        same_id = self._by_id.setdefault(keys.id, number)
        id_taken = same_id != number
        if merge:
            if same_id != number and self._may_be_one(keys, self._keys[same_id]):
                found.append((same_id, "id"))
                id_taken = False
            if keys.doi:
                same_doi = self._by_doi.setdefault(keys.doi, number)
                if same_doi != number:
                    found.append((same_doi, "doi"))
            if keys.title and keys.family:
                found += [(work, "title") for work in self._same_title(keys, number)]
        return found, id_taken

    def _may_be_one(self, keys: WorkKeys, other: WorkKeys) -> bool:
        if keys.doi and keys.doi == other.doi:
            return True
        return not keys.title or not other.title or keys.title == other.title

    def _same_title(self, keys: WorkKeys, number: int) -> list[int]:
        pair = (keys.title, keys.family)
        if keys.year is None:
            candidates = [self._by_title_only.setdefault(pair, number)]
        else:
            candidates = [
                self._by_title.setdefault((*pair, keys.year), number),
                self._by_title.get((*pair, None), number),
            ]
            self._by_title_only.setdefault(pair, number)
        if keys.year is None:
            self._by_title.setdefault((*pair, None), number)
        telling = len(keys.title.split()) >= _TELLING_WORDS
        if telling:
            alike = self._by_long_title.setdefault(keys.title, [])
            candidates += [work for work in alike if _nearly(keys, self._keys[work])]
            if len(alike) < _MOST_ALIKE:
                alike.append(number)
        return [
            work
            for work in dict.fromkeys(candidates)
            if work != number and (telling or not self._differ(keys.doi, self._keys[work].doi))
        ]

    @staticmethod
    def _differ(doi: str, other: str) -> bool:
        return bool(doi and other and doi != other)
