"""Search over papers, authors, topics and institutions: an inverted index of word beginnings.

The words of all entries are sorted, so that words with the same beginning, and the entries that
contain them, are adjacent: a query reads one slice per word.
"""

import re
import unicodedata
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count, pairwise
from typing import TYPE_CHECKING

import numpy as np

from citeweave.errors import ParameterError
from citeweave.explore.contributors import KINDS as CONTRIBUTORS
from citeweave.explore.contributors import singular_of
from citeweave.explore.pages import Page
from citeweave.wording import count as counted

if TYPE_CHECKING:
    from citeweave.explore.exploration import Exploration

__all__ = ["KINDS", "PLURALS", "Hit", "SearchIndex", "build_index", "plain_words"]

PLURALS = {
    "paper": "papers",
    "author": "authors",
    "topic": "topics",
    **{singular_of(kind): kind for kind in CONTRIBUTORS if kind != "authors"},
}
"""Kinds of entries, with their plurals."""
KINDS = tuple(PLURALS)
_PARTS = {"author": 4, "topic": 4}
_SMALL_PART = 10
_WORD = re.compile(r"[^\W_]+")
_LAST = "\U0010ffff"
_EXACT = 2.0
_FURTHER = 0.6
_LONGEST_QUERY = 500


@dataclass(frozen=True, slots=True)
class Hit(Page):
    """One result of a search.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.explore import Exploration
    >>> hits = Exploration(citeweave.example_model()).search("rice", kinds=["paper"])
    >>> hits[0].kind, "ice" in hits[0].label
    ('paper', True)
    """

    kind: str
    """One of `KINDS`."""
    id: int
    """Its number."""
    label: str
    detail: str
    """Further information: year and authors of a paper, papers of an author."""
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
    """An index of entries by the beginnings of their words.

    Parameters
    ----------
    fields : for each field, for each entry its words
        Words of the first field have the largest weight.
    weights : ndarray, shape (entries,)
        Weight of an entry apart from its words, from 0 to 1.
    """

    def __init__(self, fields: Sequence[Iterable[Sequence[str]]], weights: np.ndarray) -> None:
        number: defaultdict[str, int] = defaultdict(count().__next__)
        found, entries, worth = [], [], []
        for rank, field in enumerate(fields):
            words: list[int] = []
            lengths: list[int] = []
            for pieces in field:
                words.extend(map(number.__getitem__, pieces))
                lengths.append(len(pieces))
            found.append(np.array(words, np.int64))
            entries.append(np.repeat(np.arange(len(lengths)), lengths))
            worth.append(np.full(len(words), 1.0 if rank == 0 else _FURTHER, np.float32))
        self._words = sorted(number)
        rank_of = np.empty(len(number), np.int64)
        rank_of[[number[piece] for piece in self._words]] = np.arange(len(number))
        ranks = rank_of[np.concatenate(found)]
        order = np.argsort(ranks, kind="stable")
        self._entry = np.concatenate(entries)[order]
        self._worth = np.concatenate(worth)[order]
        counts = np.bincount(ranks, minlength=len(number))
        self._start = np.concatenate([[0], np.cumsum(counts)])
        self._size = len(weights)
        self._weights = np.asarray(weights, np.float32)

    def __len__(self) -> int:
        """Return the number of entries."""
        return self._size

    def find(self, text: str, limit: int) -> list[tuple[int, float]]:
        """Return entries with words that begin with each word of a query, best first."""
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
        """Weight of a word for each entry: that of the best word that begins with it."""
        first = bisect_left(self._words, piece)
        last = bisect_left(self._words, piece + _LAST)
        match = np.zeros(self._size, np.float32)
        if first == last:
            return match
        begin, end = self._start[first], self._start[last]
        np.maximum.at(match, self._entry[begin:end], self._worth[begin:end])
        if self._words[first] == piece:
            whole = slice(begin, self._start[first + 1])
            np.maximum.at(match, self._entry[whole], _EXACT * self._worth[whole])
        return match


def build_index(view: "Exploration", kind: str) -> SearchIndex:
    """Build the index of one kind of entry; titles and names have the largest weight."""
    corpus = view.corpus
    if kind == "author":
        names = [plain_words(name) for name in corpus.author_names]
        return SearchIndex([names], _scaled(view.papers_of_author.counts))
    if kind == "topic":
        words = view.top_words(20)
        return SearchIndex(
            [
                [plain_words(view.topic_name(k)) for k in view.order],
                [plain_words(" ".join([view.labels[k], *words[k]])) for k in view.order],
            ],
            view.share[view.order],
        )
    if kind != "paper":
        found = view.literature.contributors(PLURALS[kind])
        own = [
            [plain_words(name) for name in found.names],
            [plain_words(code) for code in found.codes],
        ]
        return SearchIndex(own, _scaled(found.papers.counts))
    titles, ids, years = corpus.titles, corpus.ids, view.years.tolist()
    names = [plain_words(name) for name in corpus.author_names]
    ends, authors = corpus.author_offsets.tolist(), corpus.author_ids.tolist()
    fields = [
        [plain_words(title or name) for title, name in zip(titles, ids, strict=True)],
        [
            [word for author in authors[begin:end] for word in names[author]]
            for begin, end in pairwise(ends)
        ],
        [plain_words(f"{name} {year or ''}") for name, year in zip(ids, years, strict=True)],
    ]
    return SearchIndex(fields, _scaled(view.incoming.counts))


def _scaled(counts: np.ndarray) -> np.ndarray:
    logs = np.log1p(counts)
    return np.asarray(logs / max(float(logs.max(initial=0.0)), 1e-9))


def search(view: "Exploration", text: str, kinds: Sequence[str], limit: int) -> list[Hit]:
    """Find papers, authors, topics and so on; see `Exploration.search`."""
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown or isinstance(kinds, str):
        raise ParameterError(f"'kinds' must be some of {', '.join(KINDS)}. Got {kinds!r} instead.")
    if limit < 1:
        raise ParameterError(f"'limit' must be at least 1. Got {limit!r} instead.")
    found = {
        kind: [
            _hit(view, kind, place, score)
            for place, score in view.search_index(kind).find(text, limit)
        ]
        for kind in KINDS
        if kind in kinds and PLURALS[kind] not in view.literature.missing
    }
    # papers first; authors and topics keep a quarter of the places each, if they need them, and
    # the others a tenth
    taken = {
        kind: min(len(hits), limit // _PARTS.get(kind, _SMALL_PART))
        for kind, hits in found.items()
        if kind != "paper"
    }
    if "paper" in found:
        rest = max(limit - sum(taken.values()), 1)
        taken = {"paper": min(len(found["paper"]), rest), **taken}
    for kind, hits in found.items():
        taken[kind] += max(min(limit - sum(taken.values()), len(hits) - taken[kind]), 0)
    return [hit for kind, number in taken.items() for hit in found[kind][:number]][:limit]


def _hit(view: "Exploration", kind: str, place: int, score: float) -> Hit:
    if kind == "topic":
        k = view.order[place]
        detail = f"{100 * view.share[k]:.1f} % of the papers"
        return Hit(kind, k, view.topic_name(k), detail, score)
    if kind == "author":
        detail = counted(int(view.papers_of_author.counts[place]), "paper")
        return Hit(kind, place, view.corpus.author_names[place], detail, score)
    if kind != "paper":
        others = view.literature.contributors(PLURALS[kind])
        detail = counted(int(others.papers.counts[place]), "paper")
        return Hit(kind, place, others.names[place], detail, score)
    authors = view.author_names(place)
    who = f"{authors[0]} et al." if len(authors) > 2 else " and ".join(authors)
    year = int(view.years[place])
    detail = ", ".join(part for part in (who, str(year) if year else "") if part)
    return Hit(kind, place, view.title(place), detail, score)
