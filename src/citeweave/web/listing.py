"""Lists of papers and authors, filtered, sorted and paginated with arrays."""

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from citeweave.explore import Exploration

__all__ = ["PAGE_SIZE", "AuthorList", "Cut", "PaperList"]

PAGE_SIZE = 25
_MOST_VENUES = 60
"""With more venues than this, the page offers a text field instead of a list."""


@dataclass(frozen=True)
class Cut:
    """One page of a list: its number from 1, the number of pages, and the entries it shows."""

    number: int
    size: int
    total: int

    @property
    def pages(self) -> int:
        """Number of pages, at least 1."""
        return max(1, -(-self.total // self.size))

    @property
    def first(self) -> int:
        """Number of the first entry shown, from 1."""
        return (self.number - 1) * self.size + 1

    @property
    def last(self) -> int:
        """Number of the last entry shown."""
        return min(self.number * self.size, self.total)

    def of(self, entries: np.ndarray) -> list[int]:
        """Return the entries of this page."""
        taken: list[int] = entries[self.first - 1 : self.last].tolist()
        return taken

    @classmethod
    def make(cls, number: int, total: int, size: int = PAGE_SIZE) -> "Cut":
        """Create a page; numbers beyond the last page give the last page.

        Examples
        --------
        >>> Cut.make(9, 60, 25)
        Cut(number=3, size=25, total=60)
        """
        return cls(min(max(number, 1), max(1, -(-total // size))), size, total)


class PaperList:
    """All papers, which can be filtered by title, topic, years, category and venue."""

    def __init__(self, view: Exploration) -> None:
        self._view = view
        self._lock = threading.Lock()
        self._kept: dict[tuple[str, ...], np.ndarray] = {}

    @property
    def sorts(self) -> list[tuple[str, str]]:
        """Sort orders available for this run; the first is the default."""
        view = self._view
        found = [("influence", "influence")] if view.cited_propensity is not None else []
        if view.corpus.n_citations:
            found.append(("cited", "times cited"))
        if view.has_years:
            found += [("newest", "newest first"), ("oldest", "oldest first")]
        return [*found, ("title", "title")]

    @cached_property
    def _titles(self) -> list[str]:
        return [self._view.title(d).casefold() for d in range(self._view.corpus.n_documents)]

    @cached_property
    def _venues(self) -> list[str]:
        column: Sequence[Any] = self._view.corpus.metadata.get("venue") or ()
        return [str(value) if value else "" for value in column]

    @property
    def has_venues(self) -> bool:
        """Whether the corpus names venues."""
        return "venue" in self._view.corpus.metadata

    @cached_property
    def venues(self) -> list[str]:
        """All venues, most frequent first; empty if there are too many for a list."""
        counts = Counter(name for name in self._venues if name)
        return [name for name, _ in counts.most_common()] if len(counts) <= _MOST_VENUES else []

    @property
    def categories(self) -> list[str]:
        """All categories, sorted by name."""
        return sorted(self._view.corpus.category_names) if self._view.corpus.n_categories else []

    def forget(self) -> None:
        """Discard cached lists."""
        with self._lock:
            self._kept.clear()

    def select(self, wanted: Mapping[str, str]) -> np.ndarray:
        """Return the papers that match, in order.

        Parameters
        ----------
        wanted : mapping
            Some of ``q``, ``topic``, ``from``, ``to``, ``category``, ``venue``, ``sort``; empty
            values are ignored. ``topic`` is the main topic of a paper.
        """
        key = tuple(
            wanted.get(name, "").strip()
            for name in ("q", "topic", "from", "to", "category", "venue", "sort")
        )
        with self._lock:
            if key in self._kept:
                return self._kept[key]
        found = self._ordered(np.flatnonzero(self._mask(*key[:-1])), key[-1])
        with self._lock:
            if len(self._kept) > 50:
                self._kept.clear()
            self._kept[key] = found
        return found

    def _mask(
        self, text: str, topic: str, begin: str, end: str, category: str, venue: str
    ) -> np.ndarray:
        view = self._view
        mask = np.ones(view.corpus.n_documents, bool)
        if topic.isdecimal():
            mask &= view.dominant == int(topic)
        if begin.isdecimal():
            mask &= view.years >= int(begin)
        if end.isdecimal():
            mask &= (view.years <= int(end)) & (view.years > 0)
        if category:
            names = view.corpus.category_names
            mask &= view.corpus.categories == (names.index(category) if category in names else -2)
        if venue:
            mask &= self._at_venue(venue)
        for word in text.casefold().split():
            mask &= np.fromiter((word in title for title in self._titles), bool, len(mask))
        return mask

    def _at_venue(self, venue: str) -> np.ndarray:
        if not self._venues:
            return np.zeros(self._view.corpus.n_documents, bool)
        if self.venues:
            return np.fromiter((name == venue for name in self._venues), bool, len(self._venues))
        part = venue.casefold()
        return np.fromiter(
            (part in name.casefold() for name in self._venues), bool, len(self._venues)
        )

    def _ordered(self, chosen: np.ndarray, sort: str) -> np.ndarray:
        view = self._view
        known = [name for name, _ in self.sorts]
        sort = sort if sort in known else known[0]
        if sort == "title":
            return np.array(sorted(chosen.tolist(), key=self._titles.__getitem__), np.int64)
        keys: dict[str, np.ndarray | None] = {
            "influence": view.cited_propensity,
            "cited": view.incoming.counts,
            "newest": view.years,
            # papers without a year come last in either order
            "oldest": -np.where(view.years > 0, view.years, 9999),
        }
        key = keys[sort]
        assert key is not None  # noqa: S101 (offered only if it exists)
        return chosen[np.lexsort((chosen, -key[chosen]))]


class AuthorList:
    """All authors, which can be filtered by name and main topic."""

    def __init__(self, view: Exploration) -> None:
        self._view = view

    @property
    def sorts(self) -> list[tuple[str, str]]:
        """Sort orders available for this run; the first is the default."""
        found = [("influence", "influence")] if self._view.author_influence is not None else []
        return [*found, ("papers", "number of papers"), ("name", "name")]

    @cached_property
    def _names(self) -> list[str]:
        return [name.casefold() for name in self._view.corpus.author_names]

    def select(self, wanted: Mapping[str, str]) -> np.ndarray:
        """Return the authors that match ``q`` and ``topic``, ordered by ``sort``."""
        view = self._view
        papers = view.papers_of_author.counts
        mask = papers > 0
        topic = wanted.get("topic", "").strip()
        if topic.isdecimal():
            mask &= view.author_topics[0].argmax(axis=1) == int(topic)
        for word in wanted.get("q", "").casefold().split():
            mask &= np.fromiter((word in name for name in self._names), bool, len(mask))
        chosen = np.flatnonzero(mask)
        known = [name for name, _ in self.sorts]
        sort = wanted.get("sort", "")
        sort = sort if sort in known else known[0]
        if sort == "name":
            return np.array(sorted(chosen.tolist(), key=self._names.__getitem__), np.int64)
        influence = view.author_influence
        key = papers if sort == "papers" or influence is None else influence
        return chosen[np.lexsort((chosen, -papers[chosen], -key[chosen]))]
