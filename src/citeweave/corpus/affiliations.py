"""Institutions and countries of papers, as metadata columns and as arrays.

Columns, with one entry per document, None if nothing is known:

    institutions           distinct names, in the order of the authors
    institution_ids        their identifiers (ROR, or else the source's), "" if there is none
    institution_countries  their countries as ISO codes, "" if unknown
    author_institutions    for each author, in order, positions in `institutions`: "0 2", or ""
    countries              distinct ISO codes of all countries of the paper

Only `institutions` or `countries` is required; the other columns are optional.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from citeweave.errors import CorpusError

if TYPE_CHECKING:
    from citeweave.corpus.corpus import Corpus

__all__ = ["COLUMNS", "Affiliations", "affiliation_columns"]

COLUMNS = (
    "institutions",
    "institution_ids",
    "institution_countries",
    "author_institutions",
    "countries",
)


def affiliation_columns(
    authors: Sequence[Sequence[Sequence[int]]],
    others: Sequence[Sequence[int]],
    places: Sequence[Sequence[str]],
    *,
    names: Sequence[str],
    ids: Sequence[str],
    countries: Sequence[str],
) -> dict[str, list[Any]]:
    """Return the columns that `Affiliations` reads.

    Parameters
    ----------
    authors
        For each document and each of its authors, the numbers of their institutions.
    others
        For each document, institutions that are not assigned to an author.
    places
        For each document, ISO codes of countries in addition to those of its institutions.
    names, ids, countries
        Name, identifier and country of each institution, "" if there is none.

    Examples
    --------
    >>> columns = affiliation_columns(
    ...     [[[1], [1, 0]]],
    ...     [[]],
    ...     [["FR"]],
    ...     names=["ANU", "NUS"],
    ...     ids=["", "01tgyzw49"],
    ...     countries=["AU", "SG"],
    ... )
    >>> columns["institutions"], columns["author_institutions"], columns["countries"]
    ([['NUS', 'ANU']], [['0', '0 1']], [['SG', 'AU', 'FR']])
    """
    columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    for team, loose, beside in zip(authors, others, places, strict=True):
        number = {one: None for own in (*team, loose) for one in own}
        place = {one: i for i, one in enumerate(number)}
        codes = dict.fromkeys([code for one in place if (code := countries[one])])
        codes |= dict.fromkeys(beside)
        columns["institutions"].append([names[one] for one in place] or None)
        columns["institution_ids"].append([ids[one] for one in place] or None)
        columns["institution_countries"].append([countries[one] for one in place] or None)
        told = [" ".join([str(place[one]) for one in own]) for own in team]
        columns["author_institutions"].append(told if any(told) else None)
        columns["countries"].append(list(codes) or None)
    return {name: rows for name, rows in columns.items() if any(any(row or ()) for row in rows)}


@dataclass(frozen=True)
class Affiliations:
    """Institutions and countries of a corpus as arrays.

    Attributes
    ----------
    names, ids, countries : list of str
        Name, identifier and country of each institution ("" if unknown).
    codes : list of str
        ISO codes of the countries.
    institutions : ndarray of int64, shape (n, 2)
        Sorted unique rows (paper, institution).
    nations : ndarray of int64, shape (n, 2)
        Sorted unique rows (paper, country).
    members : ndarray of int64, shape (n, 2)
        Rows (position in ``corpus.author_ids``, institution): the institutions of each author of a
        paper.

    Examples
    --------
    >>> from citeweave import Corpus
    >>> corpus = Corpus.from_lists(
    ...     tokens=[["a"], ["b"]],
    ...     metadata={"institutions": [["ANU", "NUS"], None], "countries": [["AU", "SG"], ["AU"]]},
    ... )
    >>> found = Affiliations.of(corpus)
    >>> found.names, found.institutions.tolist(), found.nations.tolist()
    (['ANU', 'NUS'], [[0, 0], [0, 1]], [[0, 0], [0, 1], [1, 0]])
    """

    names: list[str]
    ids: list[str]
    countries: list[str]
    codes: list[str]
    institutions: np.ndarray
    nations: np.ndarray
    members: np.ndarray

    @classmethod
    def of(cls, corpus: "Corpus") -> Self:
        """Read the columns of a corpus; without them there are no institutions or countries."""
        number: dict[str, int] = {}
        ids: list[str] = []
        countries: list[str] = []
        pairs: list[tuple[int, int]] = []
        members: list[tuple[int, int]] = []
        starts = corpus.author_offsets.tolist()
        columns = [_column(corpus, name) for name in COLUMNS]
        for paper, (names, own_ids, own_countries, told, _) in enumerate(
            zip(*columns, strict=True)
        ):
            here = []
            for place, name in enumerate(names):
                one = number.setdefault(name, len(number))
                if one == len(ids):
                    ids.append("")
                    countries.append("")
                here.append(one)
                ids[one] = ids[one] or _entry(own_ids, place)
                countries[one] = countries[one] or _entry(own_countries, place)
            pairs += [(paper, one) for one in here]
            if told:
                first, last = starts[paper], starts[paper + 1]
                members += _members(told, here, first, last, corpus.ids[paper])
        codes: dict[str, int] = {}
        nations = [
            (paper, codes.setdefault(code, len(codes)))
            for paper, row in enumerate(columns[-1])
            for code in row
            if code
        ]
        return cls(
            list(number), ids, countries, list(codes), _rows(pairs), _rows(nations), _rows(members)
        )


def _column(corpus: "Corpus", name: str) -> list[list[str]]:
    values = corpus.metadata.get(name)
    if values is None:
        return [[]] * corpus.n_documents
    return [
        [] if row is None else [str(row)] if not isinstance(row, list) else row for row in values
    ]


def _entry(row: list[str], place: int) -> str:
    return row[place] if place < len(row) else ""


def _members(
    told: list[str], here: list[int], first: int, last: int, document: str
) -> list[tuple[int, int]]:
    """Yield (author mention, institution) for one paper."""
    try:
        found = [(first + i, here[int(p)]) for i, text in enumerate(told) for p in text.split()]
    except (ValueError, IndexError):
        found = [(last, 0)]
    if found and found[-1][0] >= last:
        raise CorpusError(
            f"metadata['author_institutions'] of document {document!r} must have, for each of its "
            f"{last - first} authors, positions in its {len(here)} institutions, such as '0 2'; "
            f"got {told[:5]!r}."
        )
    return found


def _rows(pairs: list[tuple[int, int]]) -> np.ndarray:
    rows = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return np.unique(rows, axis=0)
