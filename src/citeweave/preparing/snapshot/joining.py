"""Joining pieces: documents, words and citations are numbered across the whole corpus.

Ids are integers and are sorted once; citations are found by searching them, piece by piece. A table
of all works with their names is never made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from citeweave.files import write_atomically
from citeweave.preparing.matching import FATES
from citeweave.preparing.text_columns import Joined

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from citeweave.preparing.snapshot.pieces import Piece, Ragged

__all__ = ["NumberedWorks", "RewrittenTexts", "StoredTexts", "join_words"]

_OUTSIDE, _ID, _SELF, _DUPLICATE = (FATES.index(n) for n in ("outside", "id", "self", "duplicate"))


@dataclass(frozen=True, slots=True)
class NumberedWorks:
    """The works that become documents, and their numbers.

    Attributes
    ----------
    kept : list of ndarray of bool
        For each piece, whether each of its works is a document.
    first : ndarray of int64
        For each piece, the number of its first document; the last entry is the total.
    merged : int
        Number of works left out because they occur twice in the snapshot.
    """

    kept: list[np.ndarray]
    first: np.ndarray
    merged: int
    _ids: np.ndarray
    _numbers: np.ndarray

    @classmethod
    def of(cls, pieces: Sequence[Piece]) -> NumberedWorks:
        """Assign numbers to works; of several with the same id, the one updated last is used."""
        parts = [piece.array("works") for piece in pieces]
        ids = np.concatenate([np.zeros(0, dtype=np.int64), *parts])
        order = np.argsort(ids, kind="stable")
        ordered = ids[order]
        again = np.flatnonzero(ordered[1:] == ordered[:-1])
        stays = np.ones(len(ids), dtype=bool)
        if len(again):
            updated = np.concatenate([piece.array("updated") for piece in pieces])
            order = np.lexsort((np.arange(len(ids)), -updated.astype(np.int64), ids))
            ordered = ids[order]
            stays[order[1:][ordered[1:] == ordered[:-1]]] = False
            order = order[stays[order]]
            ordered = ids[order]
        number = np.cumsum(stays) - 1
        ends = np.cumsum([len(part) for part in parts])
        kept = np.split(stays, ends[:-1]) if parts else []
        first = np.concatenate(([0], np.cumsum([int(mask.sum()) for mask in kept])))
        return cls(kept, first, int(len(ids) - stays.sum()), ordered, number[order])

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self._ids)

    def citations(self, piece: int, references: Ragged) -> tuple[np.ndarray, np.ndarray]:
        """Match the references of the documents of one piece.

        Returns
        -------
        citations : ndarray of int64, shape (n, 2)
            Sorted unique rows (citing, cited), without self-citations.
        fates : ndarray of int64
            Number of references with each outcome in `FATES`.
        """
        first = int(self.first[piece])
        rows = references.take(self.kept[piece])
        citing = first + np.repeat(np.arange(len(rows.offsets) - 1), np.diff(rows.offsets))
        fates = np.zeros(len(FATES), dtype=np.int64)
        if not len(rows.values) or not len(self._ids):
            return np.zeros((0, 2), dtype=np.int64), fates
        # in ascending order, so that consecutive searches touch nearby memory
        wanted, back = np.unique(rows.values, return_inverse=True)
        place = np.minimum(np.searchsorted(self._ids, wanted), len(self._ids) - 1)
        number = np.where(self._ids[place] == wanted, self._numbers[place], -1)[back]
        inside = number >= 0
        own = inside & (number == citing)
        hit = inside & ~own
        keys = np.sort(citing[hit] * np.int64(len(self._ids)) + number[hit])
        new = np.ones(len(keys), dtype=bool)
        new[1:] = keys[1:] != keys[:-1]
        fates[_OUTSIDE] = len(number) - int(inside.sum())
        fates[_SELF] = int(own.sum())
        fates[_ID] = int(new.sum())
        fates[_DUPLICATE] = len(keys) - int(new.sum())
        keys = keys[new]
        return np.stack([keys // len(self._ids), keys % len(self._ids)], axis=1), fates


def join_words(pieces: Sequence[Piece]) -> list[str]:
    """Assign numbers to words by first use; each piece gets a file with those of its own words."""
    number: dict[str, int] = {}
    for piece in pieces:
        numbers = [number.setdefault(word, len(number)) for word in piece.words()]
        # the last entry stands for breaks
        np.save(piece.folder / "word_numbers.npy", np.array([*numbers, -1], dtype=np.int32))
    return list(number)


class StoredTexts:
    """The texts of all pieces, read one piece at a time.

    Parameters
    ----------
    pieces
        Pieces whose words are numbered (`join_words`).
    documents
        The works that are documents.
    scratch
        Folder for rewritten texts.
    """

    def __init__(self, pieces: Sequence[Piece], documents: NumberedWorks, scratch: Path) -> None:
        self._pieces = pieces
        self._documents = documents
        self._scratch = scratch

    def blocks(self) -> Iterator[Joined]:
        """Yield the texts of each piece."""
        return map(self.block, range(len(self._pieces)))

    def block(self, number: int) -> Joined:
        """Return the texts of one piece."""
        piece = self._pieces[number]
        texts = piece.texts()
        flat = piece.array("word_numbers")[texts.flat]
        return _chosen(Joined(flat, texts.offsets, texts.titles), self._documents.kept[number])

    def rewritten(self, step: Callable[[Joined], Joined]) -> RewrittenTexts:
        """Write the texts that a step produces from each piece; existing ones are kept."""
        self._scratch.mkdir(parents=True, exist_ok=True)
        files = [self._scratch / f"{number:05d}.npz" for number in range(len(self._pieces))]
        for number, file in enumerate(files):
            if not file.is_file():
                made = step(self.block(number))
                with write_atomically(file) as stream:
                    np.savez(stream, flat=made.flat, offsets=made.offsets, titles=made.titles)
        return RewrittenTexts(files)


class RewrittenTexts:
    """Texts in files, one file per block."""

    def __init__(self, files: list[Path]) -> None:
        self.files = files

    def blocks(self) -> Iterator[Joined]:
        """Yield the blocks in order."""
        return map(self.block, range(len(self.files)))

    def block(self, number: int) -> Joined:
        """Return one block."""
        with np.load(self.files[number], allow_pickle=False) as arrays:
            return Joined(arrays["flat"], arrays["offsets"], arrays["titles"])


def _chosen(texts: Joined, kept: np.ndarray) -> Joined:
    """Leave out works that are not documents."""
    if kept.all():
        return texts
    lengths = np.diff(texts.offsets)
    offsets = np.concatenate(([0], np.cumsum(lengths[kept])))
    titles = (texts.titles - texts.offsets[:-1])[kept] + offsets[:-1]
    return Joined(texts.flat[np.repeat(kept, lengths)], offsets, titles)
