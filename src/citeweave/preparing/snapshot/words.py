"""Words of millions of texts as numbers: `TextColumns` with compiled loops over batches."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from citeweave.preparing.snapshot.kernels import (
    PieceArrays,
    enter_again,
    find_pieces,
    write_words,
)
from citeweave.preparing.text_columns import Joined, TextColumns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citeweave.preparing.pipeline import WordRules

__all__ = ["CompiledColumns"]


class CompiledColumns(TextColumns):
    """The words of texts, which are added in the order of documents.

    Pieces of text are looked up in a hash table of bytes; only new ones become Python objects.

    Parameters
    ----------
    rules : WordRules
    """

    def __init__(self, rules: WordRules) -> None:
        super().__init__(rules)
        self._table = _table(1 << 16, 1 << 19)
        self._known = 0
        self._first = np.zeros(1, dtype=np.int64)
        self._numbers = np.zeros(0, dtype=np.int32)
        self._streams: list[np.ndarray] = []
        self._stops: list[np.ndarray] = []
        self._length = 0

    def add_texts(self, texts: Sequence[str]) -> None:
        """Encode cleaned texts without line breaks."""
        if not texts:
            return
        lines = "\n".join([*texts, ""]).lower().encode("utf-8", "surrogatepass")
        source = np.frombuffer(lines, dtype=np.uint8)
        found = np.empty(len(source), dtype=np.int32)
        at, filled = 0, 0
        while True:
            at, self._known, filled = find_pieces(
                source, at, self._table, self._known, found, filled
            )
            if at == len(source):
                break
            self._table = _larger(self._table, self._known)
        self._resolve()
        found = found[:filled]
        # a piece that is not ASCII may contain several words
        words = np.diff(self._first)
        size = int(words[found[found >= 0]].sum())
        stream = np.empty(size, dtype=np.int32)
        stops = np.empty(len(texts), dtype=np.int64)
        used = write_words(found, self._first, self._numbers, stream, stops)
        self._streams.append(stream[:used].copy())
        self._stops.append(stops + self._length)
        self._length += used

    def _resolve(self) -> None:
        """Assign numbers to the words of new pieces."""
        before = len(self._first) - 1
        if self._known == before:
            return
        starts = self._table.starts[before : self._known + 1].tolist()
        store = self._table.store[starts[0] : starts[-1]].tobytes()
        base = starts[0]
        made = [
            self._ids_of(store[a - base : b - base].decode("utf-8", "surrogatepass"))
            for a, b in pairwise(starts)
        ]
        lengths = np.fromiter(map(len, made), dtype=np.int64, count=len(made))
        flat = [number for ids in made for number in ids]
        self._first = np.concatenate((self._first, self._first[-1] + np.cumsum(lengths)))
        self._numbers = np.concatenate((self._numbers, np.array(flat, dtype=np.int32)))

    def joined_in_order(self, texts: Sequence[tuple[int, int]]) -> Joined:
        """Join the texts as `joined` does.

        Parameters
        ----------
        texts
            For each document, the number of its titles and of all of its texts.
        """
        stream = np.concatenate([np.zeros(0, dtype=np.int32), *self._streams])
        stops = np.concatenate([np.zeros(0, dtype=np.int64), *self._stops])
        counts = np.array(texts, dtype=np.int64).reshape(-1, 2)
        lengths: np.ndarray = np.diff(stops, prepend=0)
        # shifted by one for each break before it
        flat = np.full(len(stream) + len(stops), -1, dtype=np.int32)
        flat[np.arange(len(stream)) + np.repeat(np.arange(len(stops)), lengths)] = stream
        ends = np.concatenate(([0], np.cumsum(lengths + 1)))
        first = np.concatenate(([0], np.cumsum(counts[:, 1])))
        return Joined(flat, ends[first], ends[first[:-1] + counts[:, 0]])


def _table(pieces: int, size: int) -> PieceArrays:
    return PieceArrays(
        np.full(2 * pieces, -1, dtype=np.int32),
        np.zeros(pieces + 1, dtype=np.int64),
        np.empty(size, dtype=np.uint8),
    )


def _larger(table: PieceArrays, known: int) -> PieceArrays:
    """Return a table of twice the size with the same pieces and numbers."""
    made = _table(len(table.slots), 2 * len(table.store))
    used = int(table.starts[known])
    made.starts[: known + 1] = table.starts[: known + 1]
    made.store[:used] = table.store[:used]
    enter_again(made, known)
    return made
