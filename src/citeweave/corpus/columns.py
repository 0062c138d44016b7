"""One value a paper: its venue, its period, its country, or what any column of the corpus says."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from citeweave.errors import CorpusError

if TYPE_CHECKING:
    from citeweave.corpus.corpus import Corpus

__all__ = [
    "PERIOD",
    "PaperColumn",
    "number_names",
    "paper_column",
    "shared_column",
    "years_of",
]

PERIOD = "period"
"""Name of the values that are made of years."""

_METADATA = {
    PERIOD: "year",
    "country": "countries",
    "institution": "institutions",
    "type": "document_type",
}
"""Metadata columns of values that are named otherwise."""
_WIDTHS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
_MOST_PERIODS = 10


@dataclass(frozen=True)
class PaperColumn:
    """The one value that each paper has of something.

    Attributes
    ----------
    name : str
        ``venue``, ``period``, ``country``, ``institution``, or a metadata column.
    values : list of str
        Numbered by first use, periods by time. Spellings that differ by case or spaces alone are
        one value, written as most papers have it.
    of_paper : ndarray of int32, shape (D,)
        Number of each paper's value; -1 where it has none.
    years : int
        Width of periods; 0 for other values.

    Examples
    --------
    >>> from citeweave import Corpus
    >>> corpus = Corpus.from_lists(
    ...     tokens=[["a"], ["b"], ["c"], ["d"]],
    ...     metadata={"venue": ["JMLR", "ICML", "jmlr", None], "year": [2003, 1999, 2004, 2001]},
    ... )
    >>> paper_column(corpus, "venue")
    PaperColumn(venue: 2 values, 3 of 4 papers)
    >>> paper_column(corpus, "period", years=5).values
    ['1995–1999', '2000–2004']
    """

    name: str
    values: list[str]
    of_paper: np.ndarray
    years: int = 0

    @property
    def known(self) -> int:
        """Number of papers that have a value."""
        return int(np.count_nonzero(self.of_paper >= 0))

    def matched(self, other: "PaperColumn") -> np.ndarray:
        """Find the values of another corpus among those of this one.

        Returns
        -------
        ndarray of int64, shape (D of the other,)
            -1 for a paper without a value, -2 for a value that is not among these.
        """
        place = {_folded(value): number for number, value in enumerate(self.values)}
        found = [place.get(_folded(value), -2) for value in other.values]
        return np.asarray(np.array([*found, -1], np.int64)[other.of_paper])

    def __repr__(self) -> str:
        """Say how many values there are."""
        return (
            f"PaperColumn({self.name}: {len(self.values):,} values, {self.known:,} of "
            f"{len(self.of_paper):,} papers)"
        )


def paper_column(corpus: "Corpus", name: str, *, years: int | None = None) -> PaperColumn:
    """Read the one value that each paper of a corpus has of something.

    Parameters
    ----------
    corpus : Corpus
    name : str
        ``venue``; ``period``, of years; ``country`` and ``institution``, the first that a paper
        names; ``type``, of document; or a metadata column, of lists the first entry. A corpus
        without such a column has no values.
    years : int, optional
        Width of periods, which begin at its multiples. If not given, the smallest of 1, 2, 5, 10,
        ... that makes at most ten.
    """
    if name == PERIOD:
        return _periods(years_of(corpus), years)
    column = corpus.metadata.get(_METADATA.get(name, name))
    rows: Iterable[list[str]] = ([] for _ in range(corpus.n_documents))
    if column is not None:
        rows = (_first(value) for value in column)
    values, pairs = number_names(rows)
    of_paper = np.full(corpus.n_documents, -1, np.int32)
    of_paper[pairs[:, 1]] = pairs[:, 0]
    return PaperColumn(name, values, of_paper)


def shared_column(corpus: "Corpus", name: str, *, years: int | None = None) -> PaperColumn:
    """Read a column by which papers can be grouped.

    Raises
    ------
    CorpusError
        The corpus lacks it, or no two papers share a value; the text says what to do.
    """
    found = paper_column(corpus, name, years=years)
    if not found.known:
        source = _METADATA.get(name, name)
        lacks = "is empty" if source in corpus.metadata else "is missing"
        columns = ", ".join(corpus.metadata) or "none"
        raise CorpusError(
            f"The papers of this corpus have no {name}: its metadata column {source!r} {lacks} "
            f"(columns: {columns}). Import from an export that has it, or leave the level out."
        )
    if corpus.n_documents > 1 and len(found.values) == found.known > 1:
        raise CorpusError(
            f"No two papers share a {name}: {found.known:,} papers have as many values. A level "
            "groups papers; leave it out, or take another column."
        )
    return found


def years_of(corpus: "Corpus") -> np.ndarray:
    """Year of each paper [D] as int64, 0 where unknown."""
    column = corpus.metadata.get("year")
    if column is None:
        return np.zeros(corpus.n_documents, np.int64)
    return np.array([_year(value) for value in column], np.int64)


def number_names(rows: Iterable[Sequence[str]]) -> tuple[list[str], np.ndarray]:
    """Give names numbers by first use; those that differ by case or spaces alone are one.

    Parameters
    ----------
    rows
        For each paper its names.

    Returns
    -------
    names : list of str
        Each as most papers spell it.
    pairs : ndarray of int64, shape (n, 2)
        Rows (name, paper), each once, sorted.

    Examples
    --------
    >>> names, pairs = number_names([["The Lancet"], ["the lancet", "BMJ"], ["The  Lancet"], []])
    >>> names, pairs.tolist()
    (['The Lancet', 'BMJ'], [[0, 0], [0, 1], [0, 2], [1, 1]])
    """
    number: dict[str, int] = {}
    spellings: list[Counter[str]] = []
    pairs = []
    for paper, names in enumerate(rows):
        for name in names:
            key = _folded(name)
            if not key:
                continue
            one = number.setdefault(key, len(number))
            if one == len(spellings):
                spellings.append(Counter())
            spellings[one][name] += 1
            pairs.append((one, paper))
    chosen = [max(forms, key=forms.__getitem__) for forms in spellings]
    return chosen, np.unique(np.array(pairs, np.int64).reshape(-1, 2), axis=0)


def _folded(name: str) -> str:
    return " ".join(name.casefold().split())


def _first(value: Any) -> list[str]:
    """Give the first text of what a column may hold; nothing where there is none."""
    several = value if isinstance(value, list) else [value]
    for one in several:
        missing = one is None or (isinstance(one, float) and math.isnan(one))
        if not missing and str(one).strip():
            return [str(one)]
    return []


def _year(value: object) -> int:
    """Read a year from what a column may hold (2014, 2014.0, "2014-05-01"); 0 where it is none."""
    text = str(value).strip()[:4]
    return int(text) if text.isascii() and text.isdigit() and 1000 <= int(text) <= 2999 else 0


def _periods(year: np.ndarray, width: int | None) -> PaperColumn:
    known = year[year > 0]
    of_paper = np.full(len(year), -1, np.int32)
    if not len(known):
        return PaperColumn(PERIOD, [], of_paper, width or 1)
    first, last = int(known.min()), int(known.max())
    if width is None:
        width = next(one for one in _WIDTHS if last // one - first // one < _MOST_PERIODS)
    begins, place = np.unique(known // width * width, return_inverse=True)
    of_paper[year > 0] = place
    values = [f"{begin}–{begin + width - 1}" if width > 1 else f"{begin}" for begin in begins]
    return PaperColumn(PERIOD, values, of_paper, width)
