"""Find significant phrases of two and three words in a corpus of word ids.

A text is an array of word ids with -1 at breaks (punctuation, numbers and stop words), across which
no phrase extends. Counting is a sort, so it takes O(n log n) time in the number of words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from citeweave.preparing.counting import KeyCounts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

__all__ = ["Phrase", "PhraseTable", "Statistic", "association", "chunks"]
__all__ += ["find_phrases", "find_phrases_in"]

Statistic = Literal["llr", "chi2"]

_CHUNK = 1_000_000


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase as word ids, its count and its score."""

    words: tuple[int, ...]
    count: int
    score: float


def association(
    together: np.ndarray, left: np.ndarray, right: np.ndarray, total: int, statistic: Statistic
) -> tuple[np.ndarray, np.ndarray]:
    """Measure how much more often two words are adjacent than expected by chance.

    Parameters
    ----------
    together, left, right
        Counts of the pair, its first word and its second word.
    total
        Number of words.
    statistic
        "llr", Dunning's log-likelihood ratio, or "chi2", Pearson's chi-square, of the
        two-by-two table (first word or not, second word or not).

    Returns
    -------
    score : ndarray of float64
        The statistic; zero if the words occur together less often than expected by chance.
    strength : ndarray of float64
        Normalised pointwise mutual information: 0 for chance, 1 for words that always occur
        together. It measures the size of the effect, whereas `score` measures its significance.
    """
    both = np.asarray(together, dtype=np.float64)
    first = np.maximum(np.asarray(left, dtype=np.float64), both)
    second = np.maximum(np.asarray(right, dtype=np.float64), both)
    n = float(max(total, 2))
    neither = np.maximum(n - first - second + both, 0.0)
    table = (both, first - both, second - both, neither)
    rows = (first, first, n - first, n - first)
    columns = (second, n - second, second, n - second)
    # Cells in this order: both, first only, second only, neither.
    expected = [
        rows[0] * columns[0] / n,
        rows[1] * columns[1] / n,
        rows[2] * columns[2] / n,
        rows[3] * columns[3] / n,
    ]
    score = np.zeros_like(both)
    for seen, chance in zip(table, expected, strict=True):
        safe = np.maximum(chance, 1e-12)
        if statistic == "llr":
            score += 2.0 * np.where(seen > 0, seen * np.log(np.maximum(seen, 1e-300) / safe), 0.0)
        else:
            score += (seen - chance) ** 2 / safe
    lift = np.log(np.maximum(both, 1e-300) * n / (first * second))
    surprise = -np.log(np.minimum(both / n, 1.0 - 1e-12))
    return np.where(lift > 0, score, 0.0), lift / surprise


def chunks(texts: np.ndarray, size: int = _CHUNK) -> Iterator[tuple[int, int]]:
    """Split texts at breaks into chunks of about `size` words, to limit memory."""
    start = 0
    while start < len(texts):
        stop = start + size
        if stop < len(texts):
            later = np.flatnonzero(texts[stop : stop + 100_000] < 0)
            stop = stop + int(later[0]) + 1 if len(later) else len(texts)
        stop = min(stop, len(texts))
        yield start, stop
        start = stop


def find_phrases(
    texts: np.ndarray,
    n_words: int,
    *,
    min_count: int,
    max_words: int = 3,
    statistic: Statistic = "llr",
    min_score: float = 30.0,
    min_strength: float = 0.25,
    not_last: np.ndarray | None = None,
) -> list[Phrase]:
    """Find the significant phrases of a corpus.

    A pair is a phrase if its statistic and its strength (see `association`) reach the thresholds.
    Three words are a phrase if both ways of splitting them, (ab)c and a(bc), reach them; the score
    is the lower of the two.

    Parameters
    ----------
    texts
        Word ids, with -1 at breaks.
    n_words
        Word ids are below this.
    min_count
        Less frequent phrases are ignored.
    not_last : ndarray of bool, shape (n_words,), or None
        Words with which no phrase may end.

    Returns
    -------
    list of Phrase
        Phrases, strongest first; ties are ordered by word ids.
    """
    return find_phrases_in(
        lambda: [texts],
        np.bincount(texts[texts >= 0], minlength=n_words),
        min_count=min_count,
        max_words=max_words,
        statistic=statistic,
        min_score=min_score,
        min_strength=min_strength,
        not_last=not_last,
    )


def find_phrases_in(
    blocks: Callable[[], Iterable[np.ndarray]],
    counts: np.ndarray,
    *,
    min_count: int,
    max_words: int = 3,
    statistic: Statistic = "llr",
    min_score: float = 30.0,
    min_strength: float = 0.25,
    not_last: np.ndarray | None = None,
    scratch: Path | None = None,
) -> list[Phrase]:
    """Find phrases like `find_phrases`, in texts given in blocks.

    Parameters
    ----------
    blocks
        Returns the blocks of texts each time it is called; phrases do not extend across blocks.
    counts
        Occurrences of each word.
    min_count, max_words, statistic, min_score, min_strength, not_last
        As for `find_phrases`.
    scratch
        Folder for counts of pairs and triples that do not fit into memory.
    """
    total = int(counts.sum())
    frequent = np.flatnonzero(counts >= min_count)
    if max_words < 2 or len(frequent) == 0:
        return []
    place = np.full(len(counts) + 1, -1, dtype=np.int32)
    place[frequent] = np.arange(len(frequent), dtype=np.int32)
    occurrences = counts[frequent]
    size = np.int64(len(frequent))

    tally = KeyCounts(scratch)
    for texts in blocks():
        tally.add(_pairs_of(place[texts], size)[1])  # -1 selects the last entry, which is -1
    pairs, pair_counts = tally.frequent(min_count)
    first, second = pairs // size, pairs % size
    score, strength = association(
        pair_counts, occurrences[first], occurrences[second], total, statistic
    )
    closes = np.ones(len(frequent), dtype=bool) if not_last is None else ~not_last[frequent]
    good = (score >= min_score) & (strength >= min_strength) & closes[second]
    phrases = [
        Phrase((int(frequent[a]), int(frequent[b])), int(c), float(s))
        for a, b, c, s in zip(
            first[good], second[good], pair_counts[good], score[good], strict=True
        )
    ]
    if max_words >= 3 and len(pairs):
        for texts in blocks():
            tally.add(_triples_of(place[texts], size, pairs))
        triples, triple_counts = tally.frequent(min_count)
        head, tail = triples // len(pairs), triples % len(pairs)
        a, b, c = first[head], second[head], second[tail]
        last_score, last_strength = association(
            triple_counts, pair_counts[head], occurrences[c], total, statistic
        )
        first_score, first_strength = association(
            triple_counts, occurrences[a], pair_counts[tail], total, statistic
        )
        score = np.minimum(first_score, last_score)
        strength = np.minimum(first_strength, last_strength)
        good = (score >= min_score) & (strength >= min_strength) & closes[c]
        phrases += [
            Phrase((int(frequent[i]), int(frequent[j]), int(k)), int(n), float(s))
            for i, j, k, n, s in zip(
                a[good], b[good], frequent[c[good]], triple_counts[good], score[good], strict=True
            )
        ]
    return sorted(phrases, key=lambda p: (-p.score, p.words))


def _pairs_of(compact: np.ndarray, size: np.int64) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions of adjacent words, and the number of each pair."""
    at = _positions((compact[:-1] >= 0) & (compact[1:] >= 0))
    return at, compact[at].astype(np.int64) * size + compact[at + 1]


def _triples_of(compact: np.ndarray, size: np.int64, pairs: np.ndarray) -> np.ndarray:
    """Return the number of each triple of adjacent words made of two pairs in the table."""
    at, keys = _pairs_of(compact, size)
    pair_at = np.full(len(compact), -1, dtype=np.int32)
    found, index = _look_up(pairs, keys)
    pair_at[at[found]] = index[found]
    start = np.flatnonzero((pair_at[:-1] >= 0) & (pair_at[1:] >= 0))
    return np.asarray(pair_at[start].astype(np.int64) * len(pairs) + pair_at[start + 1])


class PhraseTable:
    """Phrases by word id, for finding them in texts.

    Parameters
    ----------
    phrases
        The two or three word ids of each phrase; phrase i becomes the unit ``n_words + i``.
    scores
        The score of each phrase, which decides between overlapping phrases.
    n_words
        Word ids are below this.
    """

    def __init__(self, phrases: list[tuple[int, ...]], scores: list[float], n_words: int) -> None:
        self.phrases = phrases
        self.n_words = n_words
        self._size = np.int64(n_words + 1)
        order = [i for i, words in enumerate(phrases) if len(words) == 2]
        self._pairs = self._index([self._pair(phrases[i]) for i in order], order, scores)
        order = [i for i, words in enumerate(phrases) if len(words) == 3]
        heads = sorted({self._pair(phrases[i][:2]) for i in order})
        place = {key: i for i, key in enumerate(heads)}
        self._heads = np.array(heads, dtype=np.int64)
        keys = [place[self._pair(phrases[i][:2])] * int(self._size) + phrases[i][2] for i in order]
        self._triples = self._index(keys, order, scores)
        self._may = {length: self._words_of(length) for length in (2, 3)}

    def _words_of(self, length: int) -> list[np.ndarray]:
        """Return which units may occur at each position in phrases of a given length.

        Most words start no phrase, so these tables save most searches. The last two entries are for
        the units -1 and -2, which are breaks and words of a phrase.
        """
        chosen = [words for words in self.phrases if len(words) == length]
        tables = []
        for place in range(length):
            table = np.zeros(self.n_words + len(self.phrases) + 2, dtype=bool)
            table[[words[place] for words in chosen]] = True
            tables.append(table)
        return tables

    def _candidates(self, units: np.ndarray, length: int) -> np.ndarray:
        """Return the positions where a phrase of a given length may start."""
        last = len(units) - length + 1
        if last < 1:
            return np.zeros(0, dtype=np.int64)
        may = np.ones(last, dtype=bool)
        for place, table in enumerate(self._may[length]):
            may &= table[units[place : place + last]]
        return np.flatnonzero(may)

    def _pair(self, words: tuple[int, ...]) -> int:
        return words[0] * int(self._size) + words[1]

    def _index(
        self, keys: list[int], order: list[int], scores: list[float]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        by_key = np.argsort(np.array(keys, dtype=np.int64), kind="stable")
        return (
            np.array(keys, dtype=np.int64)[by_key],
            np.array([self.n_words + i for i in order], dtype=np.int32)[by_key],
            np.array([scores[i] for i in order], dtype=np.float64)[by_key],
        )

    def segment(self, texts: np.ndarray) -> np.ndarray:
        """Replace phrases by their units.

        Phrases of three words take precedence over two; among overlapping phrases of the same
        length, the stronger one wins, then the leftmost. The choice depends only on the words
        between two breaks, so a single text gives the same result as within a corpus.

        Returns
        -------
        ndarray of int32
            An array as long as `texts`: the unit at the first word of a phrase, -2 at its other
            words.
        """
        units = np.empty(len(texts), dtype=np.int32)
        for start, stop in chunks(texts):
            units[start:stop] = self._segment(texts[start:stop])
        return units

    def count(self, blocks: Iterable[np.ndarray]) -> np.ndarray:
        """Count how often each phrase is chosen in blocks of texts."""
        counts = np.zeros(len(self.phrases), dtype=np.int64)
        for texts in blocks:
            for start, stop in chunks(texts):
                units = self._segment(texts[start:stop])
                placed = units[units >= self.n_words] - self.n_words
                counts += np.bincount(placed, minlength=len(counts))
        return counts

    def _segment(self, texts: np.ndarray) -> np.ndarray:
        units = texts.astype(np.int32, copy=True)
        if len(self._heads):
            start = self._candidates(units, 3)
            found, index = _look_up(self._heads, self._keys(units, start))
            start, index = start[found], index[found]
            if len(start):
                self._place(units, start, index * self._size + units[start + 2], 3)
        if len(self._pairs[0]):
            start = self._candidates(units, 2)
            if len(start):
                self._place(units, start, self._keys(units, start), 2)
        return units

    def _keys(self, units: np.ndarray, start: np.ndarray) -> np.ndarray:
        return np.asarray(units[start].astype(np.int64) * self._size + units[start + 1])

    def _place(self, units: np.ndarray, start: np.ndarray, keys: np.ndarray, length: int) -> None:
        """Choose among the candidates at `start`, and write them to `units`."""
        table, unit, score = self._triples if length == 3 else self._pairs
        found, index = _look_up(table, keys)
        start, index = start[found], index[found]
        chosen = _without_overlap(start, score[index], length)
        units[start[chosen]] = unit[index[chosen]]
        for step in range(1, length):
            units[start[chosen] + step] = -2


def _positions(where: np.ndarray) -> np.ndarray:
    """Return the positions of true values, with four bytes each if sufficient."""
    at = np.flatnonzero(where)
    return at.astype(np.int32) if len(where) < 2**31 else at


def _look_up(table: np.ndarray, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which keys are in the sorted table, and their positions."""
    if len(table) == 0:
        return np.zeros(len(keys), dtype=bool), np.zeros(len(keys), dtype=np.int64)
    index = np.minimum(np.searchsorted(table, keys), len(table) - 1)
    return table[index] == keys, index


def _without_overlap(start: np.ndarray, score: np.ndarray, length: int) -> np.ndarray:
    """Choose non-overlapping intervals, higher score first, then further left."""
    chosen = np.zeros(len(start), dtype=bool)
    open_ = np.ones(len(start), dtype=bool)
    rival = np.zeros((length - 1, 2, len(start)), dtype=bool)
    for step in range(1, length):
        # Positions are sorted: overlapping intervals are at most length - 1 entries away.
        near = start[step:] - start[:-step] < length
        rival[step - 1, 0, :-step] = near
        rival[step - 1, 1, step:] = near
    while open_.any():
        wins = open_.copy()
        for step in range(1, length):
            right_open = np.zeros_like(open_)
            right_open[:-step] = open_[step:]
            left_open = np.zeros_like(open_)
            left_open[step:] = open_[:-step]
            better = np.zeros_like(open_)
            better[:-step] = score[step:] > score[:-step]
            wins &= ~(rival[step - 1, 0] & right_open & better)
            better = np.zeros_like(open_)
            better[step:] = score[:-step] >= score[step:]
            wins &= ~(rival[step - 1, 1] & left_open & better)
        chosen |= wins
        open_ &= ~wins
        for step in range(1, length):
            beaten: Any = np.zeros_like(open_)
            beaten[:-step] = wins[step:]
            open_ &= ~(rival[step - 1, 0] & beaten)
            beaten = np.zeros_like(open_)
            beaten[step:] = wins[:-step]
            open_ &= ~(rival[step - 1, 1] & beaten)
    return np.flatnonzero(chosen)
