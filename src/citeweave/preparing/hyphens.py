"""One spelling for words written with and without a hyphen: the one the corpus prefers.

Where "yang-mills" is more usual than "yang mills", the two words become the one; where
"data set" is more usual than "data-set", the one becomes the two, which the search for
phrases then sees like any other two words.
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
    """What to do with hyphens.

    Attributes
    ----------
    split : frozenset of str
        Words with hyphens that are read as several words.
    join : dict
        Words with hyphens that take the place of their parts, with how often they occur,
        which decides where two overlap.
    """

    split: frozenset[str] = frozenset()
    join: dict[str, int] = {}  # noqa: RUF012 (a NamedTuple's default, never changed)

    def split_words(self, words: Iterable[str]) -> list[str]:
        """Split what is to be split in a list of words."""
        return [p for word in words for p in (word.split("-") if word in self.split else (word,))]


def find_hyphens(
    blocks: Callable[[], Iterable[np.ndarray]], counts: np.ndarray, words: list[str]
) -> HyphenRules:
    """Count both spellings of every word of two or three parts and keep the more usual.

    Parameters
    ----------
    blocks
        Gives texts as word ids, -1 at breaks.
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
    """Make what applies the rules to texts of a corpus.

    Parameters
    ----------
    words
        The words by id.
    rules
        Found in all texts of the corpus.

    Returns
    -------
    callable
        Takes texts as word ids and arrays of positions in them (document offsets and the like),
        which are moved along; gives both anew.
    """
    number = {word: i for i, word in enumerate(words)}
    steps = [_splitter(number, rules)] if rules.split else []
    steps += [_joiner(number, rules)] if rules.join else []

    def apply(texts: np.ndarray, places: list[np.ndarray]) -> tuple[np.ndarray, list[np.ndarray]]:
        for step in steps:
            texts, places = _in_chunks(texts, places, step)
        return texts, places

    return apply


# Gives a new text, and for each old position, and the end, where it went.
_Step = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


def _in_chunks(
    texts: np.ndarray, places: list[np.ndarray], step: _Step
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Apply a step piece by piece, and move the places, which are in ascending order."""
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
