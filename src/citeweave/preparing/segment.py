"""Find phrases in the words of one text, as strings instead of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from citeweave.preparing.phrases import PhraseTable

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Segmenter"]


class Segmenter:
    """Replaces phrases in lists of words, exactly like `PhraseTable` in a corpus.

    Parameters
    ----------
    phrases
        Maps phrases, with words separated by spaces, to their scores.
    hyphens
        Whether to write phrases with hyphens instead of spaces.

    Examples
    --------
    >>> Segmenter({"decision tree": 9.0})(["a", "decision", "tree", "", "tree"])
    ['a', 'decision tree', '', 'tree']
    """

    def __init__(self, phrases: Mapping[str, float], *, hyphens: bool = False) -> None:
        parts = [tuple(phrase.split(" ")) for phrase in phrases]
        self._ids: dict[str, int] = {}
        for words in parts:
            for word in words:
                self._ids.setdefault(word, len(self._ids))
        self._unknown = len(self._ids)
        self._names = [phrase.replace(" ", "-") if hyphens else phrase for phrase in phrases]
        self._table = PhraseTable(
            [tuple(self._ids[word] for word in words) for words in parts],
            list(phrases.values()),
            self._unknown + 1,
        )

    def __call__(self, words: list[str]) -> list[str]:
        """Return the words with phrases joined; empty words are breaks and are kept."""
        ids = np.fromiter(
            (self._ids.get(word, self._unknown) if word else -1 for word in words),
            dtype=np.int32,
            count=len(words),
        )
        first = self._unknown + 1
        return [
            self._names[unit - first] if unit >= first else word
            for word, unit in zip(words, self._table.segment(ids).tolist(), strict=True)
            if unit != -2
        ]
