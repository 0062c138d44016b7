"""Counts stored as lists of the topics of each node, used like an array [nodes, topics].

With many topics nearly all entries of a dense row are zero. A `CompactRows` keeps the topics of a
node in ascending order, each with its customers and tables. The capacity of a row never changes
(`count_rooms` gives its upper bound), so nothing is allocated while a chain runs. A row whose list
would not be smaller than a dense one is dense.

Kernels read and write single entries, ``counts.customers[n, k]``, whichever way counts are stored.
Those that visit a whole row iterate over its places (`citeweave.engines.core.row_places`).

Customers and tables of a node share one list. A topic is in it while either count is not zero, so
equal counts have equal bytes, regardless of the order in which they were written. Different rows
may be written concurrently; a single row may not.
"""

import operator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numba import types
from numba.extending import overload

from citeweave.compiled import hot_kernel, index, inlined
from citeweave.engines.core.pieces import list_ranges

__all__ = [
    "LIST_BYTES",
    "PASTED",
    "ROOM",
    "ROW_BYTES",
    "START",
    "TOPICS",
    "USED",
    "CompactRows",
    "CountRows",
    "find_place",
    "is_compact",
    "new_compact_rows",
    "write_pair",
]

Array = np.ndarray

ROW_BYTES = 8
"""Bytes per topic of a dense row: customers and tables."""
LIST_BYTES = 10
"""Bytes per place of a list: in addition, its topic."""

START, TOPICS, ROOM, USED = range(4)
"""Columns of `CompactRows.row`."""


class CompactRows(NamedTuple):
    """Customers, or tables, of all nodes."""

    row: Array
    """int64 [nodes, 4]: by node, its first place in ``counts``; its first place in ``topic``, or -1
    if the row is dense; its number of places; the number of places in use."""
    topic: Array
    """int16 [places of lists]: topics in ascending order, -1 in unused places."""
    counts: Array
    """int32 [places, 2]: customers and tables, zero in unused places."""
    lost: Array
    """int64 [1]: number of times a row had no place left. Capacities are such that it stays 0."""
    column: int
    """0 for customers, 1 for tables."""
    shape: tuple[int, int]
    """Nodes and topics."""
    size: int
    """Nodes times topics."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the counts."""
        return self.counts.dtype

    def copy(self) -> "CompactRows":
        """Copy all arrays, including those shared with the other column."""
        row, topic, counts, lost = (
            array.copy() for array in (self.row, self.topic, self.counts, self.lost)
        )
        return self._replace(row=row, topic=topic, counts=counts, lost=lost)

    def __array__(self, dtype: Any = None, *, copy: Any = None) -> Array:
        """Return all rows as one dense array; for few nodes or few topics."""
        return self.rows(np.arange(self.shape[0])).astype(dtype or np.int32, copy=False)

    def __getitem__(self, place: Any) -> Any:
        """Return one count, one row or several, indexed as in NumPy, always as a copy."""
        if isinstance(place, tuple):
            return get_count(self, *place)
        if isinstance(place, (int, np.integer)):
            return self.rows(np.array([place]))[0]
        return self.rows(np.arange(self.shape[0])[place])

    def __setitem__(self, place: tuple[int, int], value: int) -> None:
        """Write one count."""
        set_count(self, *place, value)

    def rows(self, nodes: Array) -> Array:
        """Return the counts of some nodes: int32 [nodes, topics]."""
        out = np.zeros((len(nodes), self.shape[1]), np.int32)
        start, first, _, used = self.row[nodes].T
        listed = np.flatnonzero(first >= 0)
        lengths = used[listed]
        topics = self.topic[list_ranges(first[listed], lengths)]
        found = self.counts[list_ranges(start[listed], lengths), self.column]
        out[np.repeat(listed, lengths), topics] = found
        for i in np.flatnonzero(first < 0):
            out[i] = self.counts[start[i] : start[i] + self.shape[1], self.column]
        return out


CountRows: TypeAlias = Any
"""Counts by node and topic: an `Array` or `CompactRows`, which are used in the same way."""


def new_compact_rows(rooms: Array, topics: int) -> tuple[CompactRows, CompactRows]:
    """Make empty counts of customers and of tables.

    Parameters
    ----------
    rooms : ndarray of int [nodes]
        Maximum number of topics that each node can have at a time.
    topics : int

    Examples
    --------
    >>> customers, tables = new_compact_rows(np.array([50, 2]), 50)
    >>> customers[1, 7] = 3
    >>> customers[1, 7], tables[1, 7], customers.topic.tolist()
    (3, 0, [7, -1])
    """
    rooms = np.minimum(rooms, topics).astype(np.int64)
    dense = LIST_BYTES * rooms >= ROW_BYTES * topics
    rooms = np.where(dense, topics, rooms)
    row = np.zeros((len(rooms), 4), np.int64)
    listed = np.where(dense, 0, rooms)
    row[:, START] = np.cumsum(rooms) - rooms
    row[:, TOPICS] = np.where(dense, -1, np.cumsum(listed) - listed)
    row[:, ROOM] = rooms
    row[:, USED] = np.where(dense, topics, 0)
    topic = np.full(int(listed.sum()), -1, np.int16)
    counts = np.zeros((int(rooms.sum()), 2), np.int32)
    shared = (row, topic, counts, np.zeros(1, np.int64))
    shape = (len(rooms), topics)
    customers, tables = (CompactRows(*shared, i, shape, len(rooms) * topics) for i in range(2))
    return customers, tables


@inlined
def _find(rows, n, k):
    """Find the first place of a list whose topic is not less than ``k``."""
    first = rows.row[n, index(TOPICS)]
    left = rows.row[n, index(USED)]
    low = np.int64(0)
    while left > 0:
        half = left >> 1
        below = rows.topic[index(first + low + half)] < k
        low = low + half + 1 if below else low
        left = left - half - 1 if below else half
    return low


@inlined
def find_place(rows, n, topic):
    """Find the place of a topic in a row; -1 if it is not in the list."""
    k, first = np.int64(topic), rows.row[n, index(TOPICS)]
    if first < 0:
        return k
    low = _find(rows, n, k)
    if low < rows.row[n, index(USED)] and rows.topic[index(first + low)] == k:
        return low
    return np.int64(-1)


@inlined
def _read(rows, node, topic):
    """Return the count of a node and topic."""
    n = index(node)
    place = find_place(rows, n, topic)
    if place < 0:
        return np.int32(0)
    return rows.counts[index(rows.row[n, index(START)] + place), index(rows.column)]


@inlined
def _take_out(rows, n, place):
    """Remove a place from a list and close the gap."""
    start, first = rows.row[n, index(START)], rows.row[n, index(TOPICS)]
    last = rows.row[n, index(USED)] - 1
    for j in range(place, last):
        rows.topic[index(first + j)] = rows.topic[index(first + j + 1)]
        for column in range(index(2)):
            rows.counts[index(start + j), column] = rows.counts[index(start + j + 1), column]
    rows.topic[index(first + last)] = -1
    rows.counts[index(start + last), index(0)] = 0
    rows.counts[index(start + last), index(1)] = 0
    rows.row[n, index(USED)] = last


@inlined
def _put_in(rows, n, place, k):
    """Insert a topic with zero counts into a list; return whether there was room."""
    start, first = rows.row[n, index(START)], rows.row[n, index(TOPICS)]
    used = rows.row[n, index(USED)]
    if used >= rows.row[n, index(ROOM)]:
        rows.lost[index(0)] += 1
        return False
    for j in range(used, place, -1):
        rows.topic[index(first + j)] = rows.topic[index(first + j - 1)]
        for column in range(index(2)):
            rows.counts[index(start + j), column] = rows.counts[index(start + j - 1), column]
    rows.topic[index(first + place)] = k
    rows.counts[index(start + place), index(0)] = 0
    rows.counts[index(start + place), index(1)] = 0
    rows.row[n, index(USED)] = used + 1
    return True


@inlined
def write_pair(rows, node, topic, customers, tables):
    """Set both counts of a node and topic."""
    n, k = index(node), np.int64(topic)
    start, first = rows.row[n, index(START)], rows.row[n, index(TOPICS)]
    place = k
    if first >= 0:
        place = _find(rows, n, k)
        has = place < rows.row[n, index(USED)] and rows.topic[index(first + place)] == k
        if customers == 0 and tables == 0:
            if has:
                _take_out(rows, n, place)
            return
        if not has and not _put_in(rows, n, place, k):
            return
    rows.counts[index(start + place), index(0)] = customers
    rows.counts[index(start + place), index(1)] = tables


@inlined
def _write(rows, node, topic, value):
    """Set the count of a node and topic."""
    n = index(node)
    place = find_place(rows, n, topic)
    if place >= 0:
        at = index(rows.row[n, index(START)] + place)
        rows.counts[at, index(rows.column)] = value
        empty = rows.counts[at, index(0)] == 0 and rows.counts[at, index(1)] == 0
        if empty and rows.row[n, index(TOPICS)] >= 0:
            _take_out(rows, n, place)
    elif value != 0:
        customers, tables = (value, 0) if rows.column == 0 else (0, value)
        write_pair(rows, node, topic, customers, tables)


@hot_kernel
def get_count(rows, node, topic):
    """Return one count to Python."""
    return np.int64(_read(rows, node, topic))


@hot_kernel
def set_count(rows, node, topic, value):
    """Set one count from Python."""
    _write(rows, node, topic, value)


PASTED: Any = {"_nrt": False, "forceinline": True, "error_model": "numpy"}
"""Options of functions that are compiled into their callers, like those that are ``inlined``."""


def is_compact(kind):
    """Return whether a Numba type is that of `CompactRows`."""
    return isinstance(kind, types.BaseNamedTuple) and kind.instance_class is CompactRows


@overload(operator.getitem, jit_options=PASTED)
def _compiled_getitem(rows, place):
    if not is_compact(rows) or not isinstance(place, types.BaseTuple):
        return None
    return lambda rows, place: _read(rows, place[0], place[1])


@overload(operator.setitem, jit_options=PASTED)
def _compiled_setitem(rows, place, value):  # noqa: ARG001 (Numba compares names)
    if not is_compact(rows) or not isinstance(place, types.BaseTuple):
        return None
    return lambda rows, place, value: _write(rows, place[0], place[1], value)
