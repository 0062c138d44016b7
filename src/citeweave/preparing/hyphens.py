"""Unify the spelling of words written with and without a hyphen, by the more frequent form.

If "yang-mills" is more frequent than "yang mills", the two words are joined; if "data set" is more
frequent than "data-set", the word is split in two, which the search for phrases then treats like
any other two words.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from citeweave.preparing.phrases import PhraseTable, chunks

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["HyphenRules", "find_hyphens", "hyphen_step"]


class HyphenRules(NamedTuple):
    """Rules for words with hyphens.

    Attributes
    ----------
    split : frozenset of str
        Words with hyphens that are split.
    join : dict
        Words with hyphens that replace their parts, with their counts, which decide between
        overlapping ones.
    """

    split: frozenset[str] = frozenset()
    join: dict[str, int] = {}  # noqa: RUF012 (a NamedTuple's default, never changed)

    def split_words(self, words: Iterable[str]) -> list[str]:
        """Apply the splits to a list of words."""
        return [p for word in words for p in (word.split("-") if word in self.split else (word,))]


def find_hyphens(
    blocks: Callable[[], Iterable[np.ndarray]], counts: np.ndarray, words: list[str]
) -> HyphenRules:
    """Count both spellings of every word of two or three parts and keep the more frequent one.

    Parameters
    ----------
    blocks
        Returns texts as word ids, with -1 at breaks.
    counts
        Occurrences of each word.
    words
        The words by id.
    """
    number = {word: i for i, word in enumerate(words)}
    candidates, parts = [], []
    for i, word in enumerate(words):
        if "-" in word:
            pieces = word.split("-")
            if len(pieces) <= 3 and all(piece in number for piece in pieces):
                candidates.append(i)
                parts.append(tuple(number[piece] for piece in pieces))
    if not candidates:
        return HyphenRules()
    closed = counts[candidates]
    table = PhraseTable(parts, closed.astype(float).tolist(), len(words))
    opened = table.count(blocks())
    split, join = set(), {}
    for i, with_hyphen, without in zip(candidates, closed.tolist(), opened.tolist(), strict=True):
        if with_hyphen and without >= with_hyphen:
            split.add(words[i])
        elif without:
            join[words[i]] = with_hyphen
    return HyphenRules(frozenset(split), join)


def hyphen_step(
    words: list[str], rules: HyphenRules
) -> Callable[[np.ndarray, list[np.ndarray]], tuple[np.ndarray, list[np.ndarray]]]:
    """Create a function that applies the rules to texts of a corpus.

    Parameters
    ----------
    words
        The words by id.
    rules
        Rules found in the corpus.

    Returns
    -------
    callable
        Takes texts as word ids and arrays of positions in them (such as document offsets); returns
        the new texts and the shifted positions.
    """
    number = {word: i for i, word in enumerate(words)}
    steps = [_splitter(number, rules)] if rules.split else []
    steps += [_joiner(number, rules)] if rules.join else []

    def apply(texts: np.ndarray, places: list[np.ndarray]) -> tuple[np.ndarray, list[np.ndarray]]:
        for step in steps:
            texts, places = _in_chunks(texts, places, step)
        return texts, places

    return apply


# Returns a new text, and the new position of each old position and of the end.
_Step = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


def _in_chunks(
    texts: np.ndarray, places: list[np.ndarray], step: _Step
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Apply a step in chunks, and shift the positions, which are in ascending order."""
    moved = [np.zeros_like(at) for at in places]
    parts, length = [], 0
    for start, stop in chunks(texts):
        part, where = step(texts[start:stop])
        for at, new in zip(places, moved, strict=True):
            first, last = np.searchsorted(at, start), np.searchsorted(at, stop, side="right")
            new[first:last] = length + where[at[first:last] - start]
        parts.append(part)
        length += len(part)
    return (np.concatenate(parts) if parts else texts), moved


def _splitter(number: dict[str, int], rules: HyphenRules) -> _Step:
    table = np.full((len(number) + 1, 3), -1, dtype=np.int32)
    table[:-1, 0] = np.arange(len(number))
    size = np.ones(len(number) + 1, dtype=np.int64)  # the last entry is for breaks, -1
    for word in rules.split:
        parts = [number[part] for part in word.split("-")]
        table[number[word], : len(parts)] = parts
        size[number[word]] = len(parts)

    def step(texts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        repeats = size[texts]
        starts = np.concatenate(([0], np.cumsum(repeats)))
        owner = np.repeat(np.arange(len(texts)), repeats)
        inside = np.arange(len(owner)) - starts[owner]
        return table[texts[owner], inside], starts

    return step


def _joiner(number: dict[str, int], rules: HyphenRules) -> _Step:
    phrases = [tuple(number[part] for part in word.split("-")) for word in rules.join]
    table = PhraseTable(phrases, [float(n) for n in rules.join.values()], len(number))
    unit = np.array([*range(len(number)), *(number[w] for w in rules.join)], dtype=np.int32)

    def step(texts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        units = table.segment(texts)
        stays = units != -2
        units = units[stays]
        joined = np.where(units >= 0, unit[units], -1).astype(np.int32)
        return joined, np.concatenate(([0], np.cumsum(stays)))

    return step
