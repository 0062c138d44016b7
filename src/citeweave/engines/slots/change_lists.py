"""Changes that threads make to nodes above documents, as lists of (node, topic, customers, tables).

A row of changes for every node and thread takes 8 bytes per topic, and a sweep touches few of them.
If lists are smaller, only mu has such a row. The changes of all other nodes are appended to a
list, grouped by node when all threads have finished, and added to the counts level by level. They
are integers, so the result does not depend on their order, or on which thread made them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from citeweave.compiled import hot_kernel, index, inlined
from citeweave.engines.core.exchange import the_whole
from citeweave.engines.core.row_places import pair_at, set_pair
from citeweave.engines.slots.presence import note_presence
from citeweave.engines.threads.merge import valid_tables

if TYPE_CHECKING:
    from citeweave.engines.core.arrays import Layout
    from citeweave.engines.core.exchange import ChainPart

__all__ = [
    "ChangeList",
    "Noted",
    "entries_needed",
    "group_entries",
    "merge_listed_range",
    "new_change_list",
    "note_change",
    "rows_kept",
    "sum_entries",
]

_ENTRY_BYTES = 16
_ROW_BYTES = 8
"""Bytes per node and topic in a row."""
_MANY = 1024
"""With this many papers, repairs are certainly divided among workers."""


class ChangeList(NamedTuple):
    """The list of one worker."""

    entry: np.ndarray
    """int32 [room, 4]: node, topic, change of customers, change of tables."""
    used: np.ndarray
    """int64 [1]: number of entries."""


class Noted(NamedTuple):
    """Where one worker notes its changes to nodes above documents."""

    customers: np.ndarray
    """int32 [nodes with a row, topics]: from the worker's `Changes`."""
    tables: np.ndarray
    marks: np.ndarray
    """uint64 [nodes with a row, words of 64 topics]."""
    listed: ChangeList
    """Changes of all other nodes."""


def new_change_list(room: int) -> ChangeList:
    """Reserve room for a number of entries; memory is used only as they are written."""
    return ChangeList(np.empty((room, 4), np.int32), np.zeros(1, np.int64))


def entries_needed(
    layout: Layout,
    n_shared_levels: int,
    topics: int,
    threads: int,
    rounds: int,
    part: ChainPart | None = None,
) -> int:
    """Return the maximum number of entries that a worker may write before they are merged.

    A document changes its ancestors at topics that its tokens leave or join. A citation changes the
    ancestors of two papers at two topics, and a repair of each paper may change them once more. A
    self-citation changes the ancestors of its paper at one topic.
    """
    levels = n_shared_levels - 1
    part = the_whole(layout) if part is None else part
    n_documents, number = part.n_documents, part.document
    turn = _turns(number[:n_documents], threads, rounds)
    tokens = np.minimum(2 * np.diff(layout.document_start)[:n_documents], topics)
    made = np.bincount(layout.citing, minlength=n_documents)[:n_documents]
    by_words = levels * np.bincount(turn, np.maximum(tokens, 1)).max(initial=0)
    by_citations = 4 * levels * np.bincount(turn, made).max(initial=0)
    # each worker repairs a range of papers, or one worker all of them if there are few
    pieces = threads if n_documents >= _MANY else 1
    bounds = n_documents * np.arange(1, pieces) // pieces
    ends = np.zeros(pieces * rounds, np.int64)
    for end in (layout.citing, layout.cited):
        own = end < n_documents
        piece = np.searchsorted(bounds, end[own], side="right")
        ends += np.bincount(
            piece * rounds + number[layout.citing[own]] % rounds, minlength=pieces * rounds
        )
    return int(max(by_words, by_citations + 2 * np.max(ends)))


def _turns(number: np.ndarray, threads: int, rounds: int) -> np.ndarray:
    """Return the turn of each document: which worker sweeps it, in which round."""
    turn = number % rounds
    order = np.argsort(turn, kind="stable")
    lengths = np.bincount(turn, minlength=rounds)
    place = np.zeros(len(number), np.int64)
    place[order] = np.arange(len(number)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return np.asarray(turn * threads + place % threads)


def rows_kept(
    layout: Layout,
    n_shared_levels: int,
    topics: int,
    threads: int,
    rounds: int,
    part: ChainPart | None = None,
) -> tuple[int, int]:
    """Choose how to keep changes of nodes above documents: the way that takes less memory.

    Returns
    -------
    rows : int
        Number of nodes whose changes are rows: all, or 1 for mu alone.
    room : int
        Number of entries in a worker's list; 0 if all nodes have rows.
    """
    n_shared = int(layout.level_start[n_shared_levels])
    room = entries_needed(layout, n_shared_levels, topics, threads, rounds, part)
    # if authors share papers, `give_up` of `engines.threads.merge` writes to rows
    if len(layout.server) or room * _ENTRY_BYTES >= (n_shared - 1) * topics * _ROW_BYTES:
        return n_shared, 0
    return 1, room


@inlined
def note_change(noted, node, topic, customers, tables):
    """Note a change of one topic of a node: in its row, with a mark, or in the list."""
    if node < noted.customers.shape[0]:
        n, k = index(node), index(topic)
        noted.customers[n, k] += customers
        noted.tables[n, k] += tables
        noted.marks[n, k // index(64)] |= np.uint64(1) << np.uint64(k % index(64))
    else:
        listed = noted.listed
        i = index(listed.used[0])
        listed.entry[i, 0] = node
        listed.entry[i, 1] = topic
        listed.entry[i, 2] = customers
        listed.entry[i, 3] = tables
        listed.used[0] += 1


def group_entries(lists: list[np.ndarray], begin: int, end: int) -> tuple[np.ndarray, np.ndarray]:
    """Group the entries of nodes ``begin`` to ``end`` - 1 by node.

    Returns
    -------
    start : ndarray of int64 [nodes + 1]
        First entry of each node.
    entry : ndarray of int32 [entries, 3]
        Topic, change of customers, change of tables.
    """
    start = np.zeros(end - begin + 1, np.int64)
    for entries in lists:
        _count_entries(entries, begin, end, start)
    np.cumsum(start, out=start)
    grouped = np.empty((int(start[-1]), 3), np.int32)
    place = start[:-1].copy()
    for entries in lists:
        _place_entries(entries, begin, end, place, grouped)
    return start, grouped


@hot_kernel
def _count_entries(entries, begin, end, count):
    """Count the entries of each node, at the index after the node's own."""
    for i in range(entries.shape[0]):
        n = entries[i, 0]
        if begin <= n < end:
            count[n - begin + 1] += 1


@hot_kernel
def _place_entries(entries, begin, end, place, grouped):
    """Copy each entry to the next place of its node."""
    for i in range(entries.shape[0]):
        n = entries[i, 0]
        if begin <= n < end:
            at = index(place[n - begin])
            place[n - begin] += 1
            grouped[at, 0] = entries[i, 1]
            grouped[at, 1] = entries[i, 2]
            grouped[at, 2] = entries[i, 3]


def sum_entries(start: np.ndarray, grouped: np.ndarray, begin: int, n_topics: int) -> np.ndarray:
    """Sum the entries of `group_entries` by node and topic: int32 [entries, 4], as in lists.

    ``begin`` is the first node that was grouped.
    """
    summed = np.zeros((len(grouped), 4), np.int32)
    used = _sum_entries(start, grouped, begin, np.full(n_topics, -1, np.int64), summed)
    return summed[:used]


@hot_kernel
def _sum_entries(start, grouped, begin, place, summed):
    used = 0
    for n in range(start.shape[0] - 1):
        first = used
        for i in range(start[n], start[n + 1]):
            k = grouped[i, 0]
            if place[k] < first:  # not listed for this node yet
                place[k] = used
                summed[used, 0] = begin + n
                summed[used, 1] = k
                used += 1
            summed[place[k], 2] += grouped[i, 1]
            summed[place[k], 3] += grouped[i, 2]
    return used


@hot_kernel
def merge_listed_range(parent, counts, presence, groups, room, noted, span):
    """Add entries to nodes ``span[1]`` to ``span[2]`` - 1 of a level; return tables repaired.

    ``groups`` is the result of `group_entries` for the level, whose first node is ``span[0]``.
    ``room`` is int32 [4, topics], zero before the first range of a level. Changes to the parent by
    a repair are noted in ``noted``.
    """
    start, entry = groups
    first, begin, end = span
    repaired = 0
    for n in range(begin, end):
        row = index(n)
        touched = index(0)
        for i in range(start[n - first], start[n - first + 1]):
            k = index(entry[i, 0])
            if room[3, k] != n:  # node 0 is never in a list
                room[3, k] = n
                room[2, touched] = entry[i, 0]
                touched += index(1)
            room[0, k] += entry[i, 1]
            room[1, k] += entry[i, 2]
        for j in range(touched + touched):  # losses first: a list has room for the topics that stay
            topic = np.int64(room[2, j if j < touched else j - touched])
            k = index(topic)
            if room[0, k] == 0 and room[1, k] == 0:  # changes cancel out, or are made already
                continue
            if j < touched and room[0, k] >= 0:
                continue
            customers, held = pair_at(counts.customers, counts.tables, row, k)
            customers += room[0, k]
            wanted = held + room[1, k]
            tables = valid_tables(customers, wanted)
            counts.total_customers[row] += room[0, k]
            counts.total_tables[row] += tables - held
            set_pair(counts.customers, counts.tables, row, k, customers, tables)
            note_presence(presence, n, topic, customers)
            room[0, k] = 0
            room[1, k] = 0
            if tables != wanted:
                repaired += 1
                note_change(noted, parent[n], topic, tables - wanted, 0)
    return repaired
