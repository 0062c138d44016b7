"""Rows of node counts as lists of topics, to be sent to another part and stored there."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from citeweave.compiled import hot_kernel, index
from citeweave.engines.core.arrays import TopicCounts
from citeweave.engines.core.row_places import empty_row, pair_at, set_pair
from citeweave.engines.slots.presence import lowest_bit

__all__ = ["RowLists", "join_lists", "put_rows", "split_lists", "take_rows"]


class RowLists(NamedTuple):
    """The topics of some nodes, one node after the other."""

    length: np.ndarray
    """int32 [nodes]: number of topics of each node."""
    topic: np.ndarray
    """int32 [entries]."""
    customers: np.ndarray
    """int32 [entries]."""
    tables: np.ndarray
    """int32 [entries]."""


def split_lists(lists: RowLists, rows: Sequence[int]) -> list[RowLists]:
    """Cut lists into those of the first ``rows[0]`` nodes, of the next ``rows[1]``, and so on.

    Examples
    --------
    >>> lists = RowLists(np.array([2, 0, 1]), *np.arange(9).reshape(3, 3))
    >>> [one.topic.tolist() for one in split_lists(lists, [1, 2])]
    [[0, 1], [2]]
    """
    ends = np.cumsum(rows)[:-1]
    by_node = np.split(lists.length, ends)
    entries = np.cumsum([int(length.sum()) for length in by_node])[:-1]
    columns = (np.split(column, entries) for column in lists[1:])
    return [RowLists(*cut) for cut in zip(by_node, *columns, strict=True)]


def join_lists(parts: Sequence[RowLists]) -> RowLists:
    """Put lists one behind the other, as int32."""
    columns = (np.concatenate(column) for column in zip(*parts, strict=True))
    return RowLists(*(column.astype(np.int32, copy=False) for column in columns))


def take_rows(counts: TopicCounts, presence: np.ndarray, rows: np.ndarray) -> RowLists:
    """List the topics of nodes ``rows`` (int64 [nodes]) with their counts."""
    length = np.zeros(len(rows), np.int32)
    _count_topics(presence, rows, length)
    lists = RowLists(length, *np.zeros((3, int(length.sum())), np.int32))
    _take_rows(counts, presence, rows, lists)
    return lists


@hot_kernel
def _count_topics(presence, rows, length):
    for r in range(rows.shape[0]):
        n = index(rows[r])
        for i in range(presence.shape[1]):
            bits = presence[n, index(i)]
            while bits != np.uint64(0):
                bits &= bits - np.uint64(1)
                length[r] += 1


@hot_kernel
def _take_rows(counts, presence, rows, lists):
    at = 0
    for r in range(rows.shape[0]):
        n = index(rows[r])
        for i in range(presence.shape[1]):
            bits = presence[n, index(i)]
            while bits != np.uint64(0):
                topic = 64 * i + lowest_bit(bits)
                bits &= bits - np.uint64(1)
                lists.topic[at] = topic
                customers, tables = pair_at(counts.customers, counts.tables, n, index(topic))
                lists.customers[at] = customers
                lists.tables[at] = tables
                at += 1


@hot_kernel
def put_rows(counts: TopicCounts, presence: np.ndarray, rows: np.ndarray, lists: RowLists) -> None:
    """Replace the counts of nodes ``rows`` by those listed; update their totals and bits."""
    at = 0
    for r in range(rows.shape[0]):
        n = index(rows[r])
        empty_row(counts.customers, counts.tables, n)
        for i in range(presence.shape[1]):
            presence[n, index(i)] = np.uint64(0)
        customers, tables = 0, 0
        for _ in range(lists.length[r]):
            topic = np.int64(lists.topic[at])
            k = index(topic)
            set_pair(counts.customers, counts.tables, n, k, lists.customers[at], lists.tables[at])
            presence[n, k // index(64)] |= np.uint64(1) << np.uint64(topic % 64)
            customers += lists.customers[at]
            tables += lists.tables[at]
            at += 1
        counts.total_customers[n] = customers
        counts.total_tables[n] = tables
