"""Bags of words: counts as given, or recovered from TF-IDF values."""

from __future__ import annotations

import math
import re
from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from citeweave.errors import CorpusError
from citeweave.preparing.keys import scrub
from citeweave.preparing.tfidf import Recovered, counts_from_tfidf

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citeweave.preparing.settings import Settings
    from citeweave.reading import Record

__all__ = ["BagColumns", "Bags"]

Span = tuple[int, int]
_DIGITS = re.compile(r"(\d+)")


@dataclass(frozen=True, slots=True)
class Bags:
    """The bags of all documents as tokens.

    Attributes
    ----------
    tokens, offsets : ndarray
        Each word is repeated as often as it occurs; documents without a bag have no tokens.
    vocabulary : list of str
        The words in natural order ("w2" before "w10").
    words_before : int
        Size of the vocabulary before filtering.
    recovered : Recovered or None
        How counts were recovered, if the bags contained TF-IDF values.
    """

    tokens: np.ndarray
    offsets: np.ndarray
    vocabulary: list[str]
    words_before: int
    recovered: Recovered | None


class BagColumns:
    """Bags of words collected while records are read, with 12 bytes per entry."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self._ids: dict[str, int] = {}
        self._word = array("i")
        self._value = array("d")
        self._tfidf: set[Span] = set()

    def add(self, record: Record) -> Span:
        """Store the bag of a record and return its position.

        A word with value 0 is added to the vocabulary, but not to the document.
        """
        start = len(self._word)
        counts = record.words_kind != "tfidf"
        for word, value in record.words or ():
            number = self._ids.setdefault(word, len(self.words))
            if number == len(self.words):
                self.words.append(word)
            if not 0 <= value < math.inf or (counts and value != int(value)):
                kind = "an integer" if counts else "a number"
                raise CorpusError(
                    f"{record.source.file}, record at {record.source.position}: the value of word "
                    f"{word!r} must be {kind} of at least 0; got {value!r}. "
                    'Mark TF-IDF values as such (words_kind="tfidf").'
                )
            if value > 0:
                self._word.append(number)
                self._value.append(value)
        span = (start, len(self._word))
        if not counts:
            self._tfidf.add(span)
        return span

    def build(self, spans: Sequence[Span | None], settings: Settings) -> Bags:
        """Turn the bags of the documents into tokens, in document order."""
        order = sorted(range(len(self.words)), key=lambda i: _natural(self.words[i]))
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        words, values = (
            np.frombuffer(c, dtype=t) if len(c) else np.zeros(0, dtype=t)
            for c, t in ((self._word, np.int32), (self._value, np.float64))
        )
        at = _gather([span or (0, 0) for span in spans])
        lengths = np.array([span[1] - span[0] if span else 0 for span in spans], dtype=np.int64)
        words, values = place[words[at]], values[at]
        counts = np.round(values).astype(np.int64)
        recovered = None
        weighted = np.array([span in self._tfidf for span in spans], dtype=bool)
        if weighted.any():
            mask = np.repeat(weighted, lengths)
            starts = np.concatenate(([0], np.cumsum(lengths[weighted])))
            recovered = counts_from_tfidf(values[mask], words[mask], starts, len(order))
            counts[mask] = recovered.counts
        vocabulary = [scrub(self.words[i]) for i in order]
        owner = np.repeat(np.arange(len(spans)), lengths)
        if settings.filter_bags:
            keep = _filter(words, counts, owner, len(vocabulary), settings)
            wanted = {word.lower() for word in settings.keep_words}
            keep |= np.array([word.lower() in wanted for word in vocabulary], dtype=bool)
            renumber = np.cumsum(keep) - 1
            stays = keep[words]
            words, counts, owner = renumber[words[stays]], counts[stays], owner[stays]
            vocabulary = [word for word, kept in zip(vocabulary, keep, strict=True) if kept]
        total = np.bincount(owner, weights=counts, minlength=len(spans)).astype(np.int64)
        return Bags(
            np.repeat(words, counts).astype(np.int32),
            np.concatenate(([0], np.cumsum(total))),
            vocabulary,
            len(order),
            recovered,
        )


def _gather(spans: list[Span]) -> np.ndarray:
    parts = [np.arange(start, stop) for start, stop in spans]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def _filter(
    words: np.ndarray, counts: np.ndarray, owner: np.ndarray, size: int, settings: Settings
) -> np.ndarray:
    occurrences = np.bincount(words, weights=counts, minlength=size)
    documents = np.bincount(words, minlength=size)
    limit = max(settings.max_document_share * len(np.unique(owner)), settings.max_document_floor)
    common = (documents > limit) & (settings.max_document_share < 1)
    return (occurrences >= (settings.min_word_count or 1)) & ~common


def _natural(word: str) -> list[tuple[int, int | str]]:
    """Return a sort key that orders "w2" before "w10"."""
    parts = _DIGITS.split(word)
    return [(0, int(p)) if p.isascii() and p.isdigit() else (1, p) for p in parts if p]
