"""Rows of a chain's arrays on the device, for parts of a chain that tell each other of some."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from citeweave.engines.slots.row_lists import RowLists

if TYPE_CHECKING:
    from citeweave.engines.cuda.chain import CudaChain

__all__ = ["DeviceRows"]


class DeviceRows:
    """Takes rows from the device's arrays, and puts rows there."""

    def __init__(self, chain: "CudaChain") -> None:
        self._chain = chain

    def take(self, name: str, rows: np.ndarray, width: int = 1, *, clear: bool = False) -> Any:
        """Copy rows of ``width`` numbers to the host; ``clear`` to leave zeros in their place.

        Returns
        -------
        ndarray [rows, width], or [rows] where ``width`` is 1
        """
        chain, array = self._chain, self._chain.arrays[name]
        words = width * array.dtype.itemsize // 4
        taken = self._launch("take_rows", array, rows, None, words, int(clear))
        found = chain.device.download(taken).view(array.dtype)
        return found if width == 1 else found.reshape(len(rows), width)

    def put(self, name: str, rows: np.ndarray, values: np.ndarray, *, add: bool = False) -> None:
        """Write rows of the host into an array; ``add`` to add integers of 32 bits instead."""
        array = self._chain.arrays[name]
        given = np.ascontiguousarray(values, array.dtype).reshape(-1).view(np.int32)
        self._launch("put_rows", array, rows, given, given.size // max(len(rows), 1), int(add))

    def take_lists(
        self, names: tuple[str, str], rows: np.ndarray, *, clear: bool = False
    ) -> RowLists:
        """List the topics in rows of two arrays, customers and tables; ``clear`` to empty them."""
        arrays = [self._chain.arrays[name] for name in names]
        return self._take_lists(("count_entries", "take_entries"), arrays, rows, (int(clear),))

    def take_counts(self, rows: np.ndarray) -> RowLists:
        """List the topics of nodes with their counts, however these are stored."""
        return self._take_lists(("count_places", "take_places"), [], rows, ())

    def _take_lists(
        self,
        kernels: tuple[str, str],
        arrays: Sequence[Any],
        rows: np.ndarray,
        options: Sequence[int],
    ) -> RowLists:
        """Find out with the first kernel how long lists are, and take them with the second."""
        chain, n_rows = self._chain, len(rows)
        count, take = kernels
        length = np.zeros(n_rows, np.int32)
        taken = np.zeros(0, np.int32)
        if n_rows:
            places, found = self._list(rows), chain.device.zeros(n_rows, np.int32)
            chain.run(count, *arrays, places, found, n_rows)
            length = chain.device.download(found)
        entries = int(length.sum())
        if entries:
            room = chain.device.zeros(3 * entries, np.int32)
            chain.run(take, *arrays, places, self._starts(length), room, n_rows, *options)
            taken = chain.device.download(room)
        return RowLists(length, *taken.reshape(3, entries))

    def add_lists(self, names: tuple[str, str], rows: np.ndarray, lists: RowLists) -> None:
        """Add lists to rows of two arrays; a row may come more than once."""
        if lists.topic.size:
            arrays = (self._chain.arrays[name] for name in names)
            self._chain.run("add_entries", *arrays, *self._given(rows, lists), len(rows))

    def put_counts(self, rows: np.ndarray, lists: RowLists) -> None:
        """Replace the counts of nodes by those listed, and their totals."""
        if len(rows):
            self._chain.run("put_entries", *self._given(rows, lists), len(rows))

    def _given(self, rows: np.ndarray, lists: RowLists) -> tuple[Any, Any, Any]:
        """Copy rows, where their lists start, and the lists to the device."""
        put = self._chain.device.put
        entries = np.concatenate([*lists[1:], np.zeros(1, np.int32)])  # an array is never empty
        return self._list(rows), self._starts(lists.length), put(entries)

    def _starts(self, length: np.ndarray) -> Any:
        return self._chain.device.put(np.concatenate([[0], np.cumsum(length, dtype=np.int64)]))

    def take_moves(self, citations: np.ndarray) -> np.ndarray:
        """Copy what citations did to the host: int32 [citations, 2], as rows.cu packs it."""
        chain = self._chain
        taken = chain.device.zeros(max(2 * len(citations), 1), np.int32)
        if len(citations):
            chain.run("take_moves", self._list(citations), taken, len(citations))
        return chain.device.download(taken)[: 2 * len(citations)].reshape(-1, 2)

    def put_moves(self, citations: np.ndarray, moves: np.ndarray) -> None:
        """Write what citations did to the device."""
        chain = self._chain
        if len(citations):
            given = chain.device.put(np.ascontiguousarray(moves, np.int32))
            chain.run("put_moves", self._list(citations), given, len(citations))

    def _list(self, rows: np.ndarray) -> Any:
        return self._chain.device.put(np.ascontiguousarray(rows, np.int32))

    def _launch(
        self,
        kernel: str,
        array: Any,
        rows: np.ndarray,
        given: np.ndarray | None,
        words: int,
        option: int,
    ) -> Any:
        """Start a kernel on some rows; gives the array that it writes to, or reads from."""
        chain, size = self._chain, len(rows) * words
        other = chain.device.zeros(size, np.int32) if given is None else None
        if size == 0:
            return other
        if given is not None:
            other = chain.device.put(given)
        chain.run(kernel, array, self._list(rows), other, len(rows), words, option)
        return other
