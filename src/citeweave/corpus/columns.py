"""One value per paper: its venue, period or country, or the value of any column of the corpus."""

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
"""Name of the column derived from years."""

_METADATA = {
    PERIOD: "year",
    "country": "countries",
    "institution": "institutions",
    "type": "document_type",
}
"""Metadata columns behind names that differ from them."""
_WIDTHS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
_MOST_PERIODS = 10


@dataclass(frozen=True)
class PaperColumn:
    """One value per paper.

    Attributes
    ----------
    name : str
        ``venue``, ``period``, ``country``, ``institution``, or a metadata column.
    values : list of str
        Distinct values in order of first use; periods in chronological order. Spellings that differ
        only in case or spaces are one value, written as in most papers.
    of_paper : ndarray of int32, shape (D,)
        Number of the value of each paper; -1 if it has none.
    years : int
        Length of periods; 0 for other columns.

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
        """Number of papers with a value."""
        return int(np.count_nonzero(self.of_paper >= 0))

    def matched(self, other: "PaperColumn") -> np.ndarray:
        """Find the values of another corpus among these values.

        Returns
        -------
        ndarray of int64, shape (D of the other,)
            Numbers of the values; -1 for a paper without a value, -2 for a value not found.
        """
        place = {_folded(value): number for number, value in enumerate(self.values)}
        found = [place.get(_folded(value), -2) for value in other.values]
        return np.asarray(np.array([*found, -1], np.int64)[other.of_paper])

    def __repr__(self) -> str:
        """Show the number of values."""
        return (
            f"PaperColumn({self.name}: {len(self.values):,} values, {self.known:,} of "
            f"{len(self.of_paper):,} papers)"
        )


def paper_column(corpus: "Corpus", name: str, *, years: int | None = None) -> PaperColumn:
    """Read one value per paper from a corpus.

    Parameters
    ----------
    corpus : Corpus
    name : str
        ``venue``; ``period``, a range of years; ``country`` or ``institution``, the first one named
        in a paper; ``type``, the document type; or a metadata column, the first entry if it holds
        lists. A corpus without the column has no values.
    years : int, optional
        Length of periods, which start at its multiples (default: the smallest of 1, 2, 5, 10, ...
        that gives at most ten periods).
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
    """Read a column and check that it groups papers.

    Raises
    ------
    CorpusError
        The corpus lacks the column, or no two papers share a value; the message says what to do.
    """
    found = paper_column(corpus, name, years=years)
    if not found.known:
        source = _METADATA.get(name, name)
        lacks = "is empty" if source in corpus.metadata else "is missing"
        columns = ", ".join(corpus.metadata) or "none"
        raise CorpusError(
            f"The papers of this corpus have no {name}: its metadata column {source!r} {lacks} "
            f"(columns: {columns}). Import from an export that has it, or omit the level."
        )
    if corpus.n_documents > 1 and len(found.values) == found.known > 1:
        raise CorpusError(
            f"No two papers share a {name}: {found.known:,} papers have as many values. A level "
            "must group papers: omit it, or choose another column."
        )
    return found


def years_of(corpus: "Corpus") -> np.ndarray:
    """Return the year of each paper [D] as int64, 0 if unknown."""
    column = corpus.metadata.get("year")
    if column is None:
        return np.zeros(corpus.n_documents, np.int64)
    return np.array([_year(value) for value in column], np.int64)


def number_names(rows: Iterable[Sequence[str]]) -> tuple[list[str], np.ndarray]:
    """Assign numbers to names by first use, merging names that differ only in case or spaces.

    Parameters
    ----------
    rows
        The names of each paper.

    Returns
    -------
    names : list of str
        Each in its most frequent spelling.
    pairs : ndarray of int64, shape (n, 2)
        Sorted unique rows (name, paper).

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
    """Return the first text in a metadata value; empty if there is none."""
    several = value if isinstance(value, list) else [value]
    for one in several:
        missing = one is None or (isinstance(one, float) and math.isnan(one))
        if not missing and str(one).strip():
            return [str(one)]
    return []


def _year(value: object) -> int:
    """Read a year from a metadata value (2014, 2014.0, "2014-05-01"); 0 if there is none."""
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
