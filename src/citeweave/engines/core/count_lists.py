"""Maximum number of topics per node; copies of counts between lists, dense rows and files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from citeweave.compiled import hot_kernel, index
from citeweave.engines.core.compact_rows import START, TOPICS, USED, CompactRows, CountRows
from citeweave.engines.core.pieces import list_ranges
from citeweave.engines.core.row_places import empty_row, set_pair
from citeweave.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from citeweave.engines.core.arrays import Array, Layout, TopicCounts

__all__ = [
    "COUNTS",
    "LISTS",
    "TopicLists",
    "copy_counts",
    "count_rooms",
    "dense_counts",
    "join_lists",
    "lists_of",
    "pack_counts",
    "put_lists",
    "rows_of_lists",
    "select_rows",
    "unpack_counts",
]

_BLOCK_BYTES = 1 << 24
"""Counts are listed and copied in blocks of nodes whose dense rows would take this many bytes."""


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
    """Counts of some nodes, as they are sent and stored in files: concatenated lists."""

    shape: Array
    """int64 [2]: nodes and topics."""
    length: Array
    """int32 [nodes]: topics of each node."""
    topic: Array
    """int16 [entries]: topics, ascending within each node."""
    counts: Array
    """int32 [entries, 2]: customers and tables."""


def lists_of(customers: CountRows, tables: CountRows, nodes: Array | None = None) -> TopicLists:
    """List the topics of nodes in the order given; by default of all nodes."""
    n_nodes, topics = customers.shape
    nodes = np.arange(n_nodes) if nodes is None else nodes
    nothing = (np.zeros(0, np.int32), np.zeros(0, np.int16), np.zeros((0, 2), np.int32))
    found = [nothing, *(_list_block(customers, tables, some) for some in _blocks(nodes, topics))]
    columns = (np.concatenate(column) for column in zip(*found, strict=True))
    return TopicLists(np.array([len(nodes), topics]), *columns)


def _blocks(nodes: Array, topics: int) -> Iterator[Array]:
    step = max(_BLOCK_BYTES // (8 * max(topics, 1)), 1)
    for begin in range(0, len(nodes), step):
        yield nodes[begin : begin + step]


def _list_block(
    customers: CountRows, tables: CountRows, nodes: Array
) -> tuple[Array, Array, Array]:
    """Return the lengths, the topics and the counts of the lists of some nodes."""
    if isinstance(customers, CompactRows):
        row = customers.row[nodes]
        used, listed = row[:, USED], row[:, TOPICS] >= 0
        place = np.repeat(np.arange(len(nodes)), used)
        topic = list_ranges(np.zeros(len(nodes), np.int64), used)  # those of dense rows
        taken = list_ranges(row[listed, TOPICS], used[listed])
        topic[listed[place]] = customers.topic[taken]
        counts = customers.counts[list_ranges(row[:, START], used)]
        kept = (counts[:, 0] | counts[:, 1]) != 0  # a dense row has places of topics it lacks
        place, topic, counts = place[kept], topic[kept], counts[kept]
    else:
        both = np.stack([customers[nodes], tables[nodes]], axis=2)
        place, topic = np.nonzero(both[..., 0] | both[..., 1])
        counts = both[place, topic]
    length = np.bincount(place, minlength=len(nodes))
    return length.astype(np.int32), topic.astype(np.int16), counts


def rows_of_lists(lists: TopicLists) -> tuple[CompactRows, CompactRows]:
    """Return lists as customers and tables, for reading only, without copying entries."""
    length = lists.length.astype(np.int64)
    if len(length) != lists.shape[0] or not length.sum() == len(lists.topic) == len(lists.counts):
        raise ValueError("lists of topics are not as long as they should be")
    start = np.cumsum(length) - length
    row = np.stack([start, start, length, length], axis=1)
    shape = (int(lists.shape[0]), int(lists.shape[1]))
    shared = (row, lists.topic, lists.counts, np.zeros(1, np.int64))
    customers, tables = (CompactRows(*shared, i, shape, shape[0] * shape[1]) for i in range(2))
    return customers, tables


def select_rows(
    customers: CountRows, tables: CountRows, nodes: Array | None = None
) -> tuple[CompactRows, CompactRows]:
    """Copy the counts of some nodes, by default all, into lists without unused places."""
    return rows_of_lists(lists_of(customers, tables, nodes))


def join_lists(pieces: Sequence[tuple[TopicLists, Array]], nodes: int) -> TopicLists:
    """Assemble the lists of ``nodes`` nodes.

    Each piece consists of lists and of the places of their nodes among all.
    """
    length = np.zeros(nodes, np.int32)
    for lists, place in pieces:
        length[place] = lists.length
    start = np.cumsum(length, dtype=np.int64) - length
    entries = int(length.sum(dtype=np.int64))
    topic, counts = np.zeros(entries, np.int16), np.zeros((entries, 2), np.int32)
    for lists, place in pieces:
        entry = list_ranges(start[place], lists.length)
        topic[entry], counts[entry] = lists.topic, lists.counts
    return TopicLists(np.array([nodes, pieces[0][0].shape[1]]), length, topic, counts)


LISTS = "state.topics.lists."
"""Prefix of the names of lists in files."""
COUNTS = ("state.topics.customers", "state.topics.tables")
"""Names of the counts of nodes, which files may hold as lists instead."""


def pack_counts(arrays: Mapping[str, Any]) -> dict[str, Array]:
    """Replace counts stored as lists by arrays for a file; ``arrays`` are keyed by name."""
    customers, tables = (arrays.get(name) for name in COUNTS)
    if not isinstance(customers, CompactRows) or not isinstance(tables, CompactRows):
        return dict(arrays)
    lists = lists_of(customers, tables)._asdict()
    others = {name: array for name, array in arrays.items() if name not in COUNTS}
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
    return others | dict(zip(COUNTS, rows, strict=True))


def copy_counts(mine: TopicCounts, theirs: TopicCounts, nodes: Array | None = None) -> None:
    """Copy counts in blocks of nodes, so that neither side is ever dense as a whole.

    With ``nodes``, only the rows of these are copied; totals are copied for all nodes.

    Raises
    ------
    RunError
        A node has more topics than its document, citations or papers allow.
    """
    n_nodes, topics = mine.customers.shape
    lists = any(isinstance(one.customers, CompactRows) for one in (mine, theirs))
    if lists or nodes is not None:
        for some in _blocks(np.arange(n_nodes) if nodes is None else nodes, topics):
            found = lists_of(theirs.customers, theirs.tables, some)
            put_lists(mine.customers, mine.tables, some, found)
    else:
        mine.customers[...], mine.tables[...] = theirs.customers, theirs.tables
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
def put_lists(customers: CountRows, tables: CountRows, nodes: Array, lists: TopicLists) -> None:
    """Replace the counts of ``nodes`` (int64 [n]) by lists."""
    entry = index(0)
    for i in range(nodes.shape[0]):
        n = index(nodes[i])
        empty_row(customers, tables, n)  # old topics of a list would leave no room
        for _ in range(lists.length[i]):
            k = index(lists.topic[entry])
            own, held = lists.counts[entry, index(0)], lists.counts[entry, index(1)]
            set_pair(customers, tables, n, k, own, held)
            entry += index(1)
