"""Maximum number of topics per node; copies of counts between lists, dense rows and files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from citeweave.compiled import hot_kernel, index
from citeweave.engines.core.compact_rows import CompactRows, CountRows
from citeweave.engines.core.row_places import count_at, n_places, topic_at
from citeweave.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from citeweave.engines.core.arrays import Array, Layout, TopicCounts

__all__ = [
    "LISTS",
    "TopicLists",
    "copy_counts",
    "count_rooms",
    "dense_counts",
    "lists_of",
    "pack_counts",
    "rows_of_lists",
    "unpack_counts",
]

_BLOCK_BYTES = 1 << 24
"""Size of the blocks of dense rows in which counts are copied."""


def count_rooms(
    layout: Layout, n_shared: int, topics: int, *, citation_level: int | None, most_self: int
) -> Array:
    """Return the maximum number of topics that each node can have, even during an update.

    A leaf has no more topics than its document has tokens. The customers of any other node are
    tables of its children, so it has no more topics than they have together. The papers that
    citations reach have customers for each citation made and received as well. When snapshots are
    merged, a citation adds its customers to a paper before the tables of the topic that it left are
    corrected, so each end counts twice.

    Parameters
    ----------
    layout : Layout
        Each document has one leaf.
    n_shared : int
        Number of levels above documents.
    topics : int
    citation_level : int or None
        The level that citations reach, if the model has them.
    most_self : int
        Maximum number of sampled self-citations per paper.
    """
    starts = [int(n) for n in layout.level_start]
    rooms = np.zeros(starts[-1], np.int64)
    rooms[layout.leaf[layout.leaf_start[:-1]]] = np.diff(layout.document_start)
    for level in range(len(starts) - 2, -1, -1):
        here = slice(starts[level], starts[level + 1])
        if level == citation_level:
            n_documents = starts[level + 1] - starts[level]
            for ends in (layout.citing, layout.cited):
                rooms[here] += 2 * np.bincount(ends, minlength=n_documents)
            rooms[here] += most_self
        np.minimum(rooms[here], topics, out=rooms[here])
        if level == 0:
            break
        parent, given = layout.parent[here], rooms[here]
        if level == n_shared and len(layout.server):  # any of its authors may serve a table
            servers = np.diff(layout.server_start)
            np.add.at(rooms, layout.server, np.repeat(given, servers))
            parent, given = parent[servers == 0], given[servers == 0]
        np.add.at(rooms, parent, given)
    rooms[0] = topics
    return rooms


class TopicLists(NamedTuple):
    """Counts of all nodes as stored in files: concatenated lists."""

    shape: Array
    """int64 [2]: nodes and topics."""
    length: Array
    """int32 [nodes]: topics of each node."""
    topic: Array
    """int16 [entries]: topics, ascending within each node."""
    counts: Array
    """int32 [entries, 2]: customers and tables."""


def lists_of(customers: CountRows, tables: CountRows) -> TopicLists:
    """List the topics of all nodes."""
    shape = np.array(customers.shape)
    length = np.zeros(shape[0], np.int32)
    _count_topics(customers, tables, length)
    entries = int(length.sum(dtype=np.int64))
    lists = TopicLists(shape, length, np.zeros(entries, np.int16), np.zeros((entries, 2), np.int32))
    _list_topics(customers, tables, lists.topic, lists.counts)
    return lists


def rows_of_lists(lists: TopicLists) -> tuple[CompactRows, CompactRows]:
    """Return stored lists as customers and tables, for reading only, without copying entries."""
    length = lists.length.astype(np.int64)
    if len(length) != lists.shape[0] or not length.sum() == len(lists.topic) == len(lists.counts):
        raise ValueError("lists of topics are not as long as they should be")
    start = np.cumsum(length) - length
    row = np.stack([start, start, length, length], axis=1)
    shape = (int(lists.shape[0]), int(lists.shape[1]))
    shared = (row, lists.topic, lists.counts, np.zeros(1, np.int64))
    customers, tables = (CompactRows(*shared, i, shape, shape[0] * shape[1]) for i in range(2))
    return customers, tables


LISTS = "state.topics.lists."
"""Prefix of the names of lists in files."""
_ROWS = ("state.topics.customers", "state.topics.tables")


def pack_counts(arrays: Mapping[str, Any]) -> dict[str, Array]:
    """Replace counts stored as lists by arrays for a file; ``arrays`` are keyed by name."""
    customers, tables = (arrays.get(name) for name in _ROWS)
    if not isinstance(customers, CompactRows) or not isinstance(tables, CompactRows):
        return dict(arrays)
    lists = lists_of(customers, tables)._asdict()
    others = {name: array for name, array in arrays.items() if name not in _ROWS}
    return others | {LISTS + name: array for name, array in lists.items()}


def unpack_counts(arrays: Mapping[str, Array]) -> dict[str, Any]:
    """Undo `pack_counts`; the counts are for reading only, and can be copied by `copy_counts`.

    Raises
    ------
    ValueError
        The lists do not belong together.
    """
    names = {name: LISTS + name for name in TopicLists._fields}
    if names["topic"] not in arrays:
        return dict(arrays)
    rows = rows_of_lists(TopicLists(**{field: arrays[name] for field, name in names.items()}))
    others = {name: array for name, array in arrays.items() if not name.startswith(LISTS)}
    return others | dict(zip(_ROWS, rows, strict=True))


def copy_counts(mine: TopicCounts, theirs: TopicCounts) -> None:
    """Copy all counts in blocks of nodes, so that neither side is ever dense as a whole.

    Raises
    ------
    RunError
        A node has more topics than its document, citations or papers allow.
    """
    nodes, topics = mine.customers.shape
    if not isinstance(mine.customers, CompactRows) and not isinstance(
        theirs.customers, CompactRows
    ):
        mine.customers[...], mine.tables[...] = theirs.customers, theirs.tables
    else:
        step = max(_BLOCK_BYTES // (8 * max(topics, 1)), 1)
        for begin in range(0, nodes, step):
            here = slice(begin, min(begin + step, nodes))
            block = (theirs.customers[here], theirs.tables[here])
            if isinstance(mine.customers, CompactRows):
                write_rows(mine.customers, mine.tables, *block, begin)
            else:
                mine.customers[here], mine.tables[here] = block
    if isinstance(mine.customers, CompactRows) and mine.customers.lost[0]:
        mine.customers.lost[0] = 0
        raise RunError(
            "The counts of a state do not belong to this corpus: a node has more topics than its "
            "tokens, citations and papers can give it."
        )
    for name in ("total_customers", "total_tables", "held"):
        getattr(mine, name)[...] = getattr(theirs, name)


def dense_counts(counts: TopicCounts) -> TopicCounts:
    """Return counts as dense arrays; for states that are small enough."""
    return counts._replace(customers=np.asarray(counts.customers), tables=np.asarray(counts.tables))


@hot_kernel
def write_rows(customers, tables, new_customers, new_tables, begin):
    """Set the counts of consecutive nodes, starting at ``begin``, from dense rows."""
    for i in range(new_customers.shape[0]):
        n = index(begin + i)
        # empty the list first, so that old topics take no space
        for j in range(n_places(customers, n) - 1, -1, -1):
            k = topic_at(customers, n, j)
            customers[n, k] = 0
            tables[n, k] = 0
        for k in range(new_customers.shape[1]):
            if new_customers[index(i), index(k)] != 0:
                customers[n, k] = new_customers[index(i), index(k)]
            if new_tables[index(i), index(k)] != 0:
                tables[n, k] = new_tables[index(i), index(k)]


@hot_kernel
def _count_topics(customers, tables, length):
    for n in range(length.shape[0]):
        found = 0
        for j in range(n_places(customers, n)):
            if count_at(customers, n, j) != 0 or count_at(tables, n, j) != 0:
                found += 1
        length[n] = found


@hot_kernel
def _list_topics(customers, tables, topic, count):
    entry = index(0)
    for n in range(customers.shape[0]):
        for j in range(n_places(customers, n)):
            own, held = count_at(customers, n, j), count_at(tables, n, j)
            if own != 0 or held != 0:
                topic[entry] = topic_at(customers, n, j)
                count[entry, index(0)] = own
                count[entry, index(1)] = held
                entry += index(1)
