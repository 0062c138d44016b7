"""Words of texts as numbers, encoded as texts arrive; and texts of documents in blocks."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Protocol

import numpy as np

from citeweave.preparing import text as text_steps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from citeweave.preparing.pipeline import WordRules

__all__ = ["Joined", "MemoryTexts", "Span", "TextBlocks", "TextColumns", "Texts"]

Span = tuple[int, int]


class TextColumns:
    """The words of all texts, 4 bytes per word; raw text is not kept.

    Stop words, numbers and punctuation between words are stored as a single -1, so that phrases do
    not extend across them.
    """

    def __init__(self, rules: WordRules) -> None:
        self.rules = rules
        self.words: list[str] = []
        self._ids: dict[str, int] = {}
        self._of_part = _PartIds(self._ids_of)
        self._stream = array("i")

    def add(self, text: str) -> Span:
        """Encode a text and return its position."""
        return self.add_all([self.parts(text)])[0]

    def parts(self, text: str) -> list[str]:
        """Clean a text and split it at spaces."""
        return self.rules.clean(text).lower().split()

    def add_all(self, texts: Sequence[Sequence[str]]) -> list[Span]:
        """Encode texts that are cleaned and split at spaces; return the position of each."""
        look_up = self._of_part.__getitem__
        found = [list(chain.from_iterable(map(look_up, parts))) for parts in texts]
        lengths = np.fromiter(map(len, found), dtype=np.int64, count=len(found))
        ids = np.fromiter(chain.from_iterable(found), dtype=np.int32, count=int(lengths.sum()))
        words = ids >= 0
        # a single break is kept after a word of the same text
        keep = words.copy()
        keep[1:] |= words[:-1]
        ends = np.cumsum(lengths)
        starts = (ends - lengths)[lengths > 0]
        keep[starts] = words[starts]
        kept = np.concatenate(([0], np.cumsum(keep)))[ends] + len(self._stream)
        begins = np.concatenate(([len(self._stream)], kept[:-1]))
        self._stream.frombytes(ids[keep].tobytes())
        return list(zip(begins.tolist(), kept.tolist(), strict=True))

    def joined(self, documents: Iterable[tuple[list[Span], list[Span]]]) -> Joined:
        """Concatenate the texts of documents, with a break after each text.

        The collected words are discarded, so that later steps can use the memory.

        Parameters
        ----------
        documents
            For each document, the positions of its title and of its other texts.
        """
        stream = np.frombuffer(self._stream, dtype=np.int32)
        parts, ends, titles, length = [], [], [], 0
        gap = np.array([-1], dtype=np.int32)
        for first, other in documents:
            for start, stop in first:
                parts += [stream[start:stop], gap]
                length += stop - start + 1
            titles.append(length)
            for start, stop in other:
                parts += [stream[start:stop], gap]
                length += stop - start + 1
            ends.append(length)
        flat = np.concatenate(parts) if parts else np.zeros(0, dtype=np.int32)
        del parts, stream
        self._stream, self._of_part = array("i"), _PartIds(self._ids_of)
        offsets = np.concatenate(([0], np.array(ends, dtype=np.int64)))
        return Joined(flat, offsets, np.array(titles, dtype=np.int64))

    def _ids_of(self, part: str) -> tuple[int, ...]:
        return tuple([self._id(piece) for piece in text_steps.pieces(part)])

    def _id(self, piece: str) -> int:
        word = self.rules.word(piece)
        if not word:
            return -1
        number = self._ids.setdefault(word, len(self.words))
        if number == len(self.words):
            self.words.append(word)
        return number


class _PartIds(dict[str, tuple[int, ...]]):
    """Word ids of each part of a text, computed when the part first occurs.

    No word contains a space, so a text can first be split at spaces. Its parts, including
    punctuation, are nearly always known, which saves searching them for words.
    """

    def __init__(self, make: Callable[[str], tuple[int, ...]]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, part: str) -> tuple[int, ...]:
        ids = self[part] = self._make(part)
        return ids


@dataclass(frozen=True, slots=True)
class Joined:
    """Texts of documents, concatenated.

    Attributes
    ----------
    flat : ndarray of int32
        Word ids, -1 at breaks.
    offsets : ndarray of int64
        Where each document begins, and where the last ends.
    titles : ndarray of int64
        Where the title of each document ends.
    """

    flat: np.ndarray
    offsets: np.ndarray
    titles: np.ndarray


class TextBlocks(Protocol):
    """The texts of a corpus in blocks of documents, in memory or in files."""

    def blocks(self) -> Iterator[Joined]:
        """Yield the blocks in order."""


class Texts(TextBlocks, Protocol):
    """Texts that can be rewritten once."""

    def rewritten(self, step: Callable[[Joined], Joined]) -> TextBlocks:
        """Return the texts that a step produces from each block."""


class MemoryTexts:
    """Texts in memory.

    Parameters
    ----------
    blocks
        Discarded when the texts are rewritten.
    """

    def __init__(self, blocks: list[Joined]) -> None:
        self._blocks = blocks

    def blocks(self) -> Iterator[Joined]:
        """Yield the blocks in order."""
        return iter(self._blocks)

    def rewritten(self, step: Callable[[Joined], Joined]) -> MemoryTexts:
        """Return the texts that a step produces from each block."""
        made = []
        while self._blocks:
            made.append(step(self._blocks.pop(0)))
        return MemoryTexts(made)
