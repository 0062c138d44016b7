"""Search over papers, authors and topics: an inverted index of word beginnings.

Words of all entries are sorted, so those with a given beginning stand in one row, and so do the
entries that hold them: a query reads a slice for each of its words.
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from citeweave.errors import ParameterError
from citeweave.explore.pages import Page

if TYPE_CHECKING:
    from citeweave.explore.exploration import Exploration

__all__ = ["KINDS", "Hit", "SearchIndex", "build_index", "plain_words"]

KINDS = ("paper", "author", "topic")
_WORD = re.compile(r"[^\W_]+")
_LAST = "\U0010ffff"
_EXACT = 2.0
_LONGEST_QUERY = 500


@dataclass(frozen=True, slots=True)
class Hit(Page):
    """Something found."""

    kind: str
    """``paper``, ``author`` or ``topic``."""
    id: int
    """Number of the paper, author or topic."""
    label: str
    detail: str
    """A few words more: year and authors of a paper, papers of an author."""
    score: float


def plain_words(text: str) -> list[str]:
    """Split a text into words without accents and capitals.

    Examples
    --------
    >>> plain_words("Über N-body codes, by Á. Ősz")
    ['uber', 'n', 'body', 'codes', 'by', 'a', 'osz']
    """
    if not text.isascii():
        parts = unicodedata.normalize("NFKD", text.replace("ß", "ss"))
        text = "".join(c for c in parts if not unicodedata.combining(c))
    return _WORD.findall(text.lower())


class SearchIndex:
    """Entries found by the beginnings of their words.

    Parameters
    ----------
    texts : for each entry the texts to be found by, the first weighing most
    weights : ndarray, shape (entries,)
        What an entry is worth beside its words, from 0 to 1.
    """

    def __init__(self, texts: Iterable[Sequence[str]], weights: np.ndarray) -> None:
        number: dict[str, int] = {}
        word: list[int] = []
        entry: list[int] = []
        worth: list[float] = []
        place = -1
        for place, fields in enumerate(texts):
            seen: set[str] = set()
            for rank, text in enumerate(fields):
                for piece in plain_words(text):
                    if piece in seen:
                        continue
                    seen.add(piece)
                    word.append(number.setdefault(piece, len(number)))
                    entry.append(place)
                    worth.append(1.0 if rank == 0 else 0.6)
        self._words = sorted(number)
        rank_of = np.empty(len(number), np.int64)
        for new, piece in enumerate(self._words):
            rank_of[number[piece]] = new
        ranks = rank_of[np.array(word, np.int64)] if word else np.zeros(0, np.int64)
        order = np.argsort(ranks, kind="stable")
        self._entry = np.array(entry, np.int64)[order]
        self._worth = np.array(worth, np.float32)[order]
        counts = np.bincount(ranks, minlength=len(number))
        self._start = np.concatenate([[0], np.cumsum(counts)])
        self._size = place + 1
        self._weights = np.asarray(weights, np.float32)

    def __len__(self) -> int:
        """Return the number of entries."""
        return self._size

    def find(self, text: str, limit: int) -> list[tuple[int, float]]:
        """Return entries that hold all words of a query, or begin with them, best first."""
        words = plain_words(text[:_LONGEST_QUERY])
        if not words or not self._size:
            return []
        total = np.ones(self._size, np.float32)
        for piece in dict.fromkeys(words):
            total *= self._match(piece)
        found = np.flatnonzero(total)
        score = total[found] * (1 + self._weights[found])
        keep = found[np.lexsort((found, -score))[:limit]]
        return [(int(i), float(total[i] * (1 + self._weights[i]))) for i in keep]

    def _match(self, piece: str) -> np.ndarray:
        """Worth of a word to each entry: that of the best word that begins with it."""
        first = bisect_left(self._words, piece)
        last = bisect_left(self._words, piece + _LAST)
        match = np.zeros(self._size, np.float32)
        if first == last:
            return match
        begin, end = self._start[first], self._start[last]
        np.maximum.at(match, self._entry[begin:end], self._worth[begin:end])
        if self._words[first] == piece:
            whole = slice(begin, self._start[first + 1])
            match[self._entry[whole]] = _EXACT * self._worth[whole]
        return match


def build_index(view: "Exploration", kind: str) -> SearchIndex:
    """Index one kind of things; titles and names weigh more than what else they are found by."""
    corpus = view.corpus
    if kind == "paper":
        years = view.years.tolist()
        texts: Iterable[Sequence[str]] = (
            (
                view.title(d),
                " ".join(view.author_names(d)),
                f"{corpus.ids[d]} {years[d] or ''}",
            )
            for d in range(corpus.n_documents)
        )
        return SearchIndex(texts, _scaled(view.incoming.counts))
    if kind == "author":
        names = corpus.author_names
        return SearchIndex(((name,) for name in names), _scaled(view.papers_of_author.counts))
    words = view.top_words(20)
    return SearchIndex(
        ((view.topic_name(k), view.labels[k], " ".join(words[k])) for k in view.order),
        view.share[view.order],
    )


def _scaled(counts: np.ndarray) -> np.ndarray:
    logs = np.log1p(counts)
    return np.asarray(logs / max(float(logs.max(initial=0.0)), 1e-9))


def search(view: "Exploration", text: str, kinds: Sequence[str], limit: int) -> list[Hit]:
    """Find papers, authors and topics; see `Exploration.search`."""
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown or isinstance(kinds, str):
        raise ParameterError(f"'kinds' must be some of {', '.join(KINDS)}. Got {kinds!r} instead.")
    if limit < 1:
        raise ParameterError(f"'limit' must be at least 1. Got {limit!r} instead.")
    hits: list[Hit] = []
    for kind in kinds:
        index = view.search_index(kind)
        for place, score in index.find(text, limit):
            hits.append(_hit(view, kind, place, score))
    rank = {"topic": 0, "author": 1, "paper": 2}
    hits.sort(key=lambda hit: (-hit.score, rank[hit.kind], hit.id))
    return hits[:limit]


def _hit(view: "Exploration", kind: str, place: int, score: float) -> Hit:
    if kind == "topic":
        k = view.order[place]
        detail = f"{100 * view.share[k]:.1f} % of the papers"
        return Hit(kind, k, view.topic_name(k), detail, score)
    if kind == "author":
        papers = int(view.papers_of_author.counts[place])
        detail = f"{papers} paper{'s' if papers != 1 else ''}"
        return Hit(kind, place, view.corpus.author_names[place], detail, score)
    authors = view.author_names(place)
    who = f"{authors[0]} et al." if len(authors) > 2 else " and ".join(authors)
    year = int(view.years[place])
    detail = ", ".join(part for part in (who, str(year) if year else "") if part)
    return Hit(kind, place, view.title(place), detail, score)
