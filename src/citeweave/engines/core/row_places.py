"""Access to the counts of a node, stored as a dense row or as a list, for kernels.

A row has places: one per topic in an array, and one per topic of the node in a list. Topics ascend,
so sums over a row are the same to the last bit either way::

    for j in range(n_places(counts.customers, n)):
        k = topic_at(counts.customers, n, j)
        own = count_at(counts.customers, n, j) - discount * count_at(counts.tables, n, j)

Writing counts of a row invalidates its places. The functions are compiled for the type of the
counts that a kernel receives, so for arrays they have no overhead.
"""
# ruff: noqa: ARG001, ARG005, PLW0108 (Numba compares the names of arguments)

import numpy as np
from numba.extending import overload

from citeweave.compiled import index, inlined
from citeweave.engines.core.compact_rows import (
    PASTED,
    ROOM,
    START,
    TOPICS,
    USED,
    CompactRows,
    find_place,
    is_compact,
    write_pair,
)
from citeweave.engines.core.prefetch import prefetch, prefetch_item

__all__ = [
    "ask_count",
    "count_at",
    "empty_row",
    "is_list",
    "n_places",
    "pair_at",
    "ranked_count",
    "set_pair",
    "topic_at",
]

# Without the compiler, these functions are used; with it, the overloads by type below.


def is_list(rows, node):
    """Return whether the topics of a node are a list, whose capacity is limited."""
    return isinstance(rows, CompactRows) and rows.row[node, TOPICS] >= 0


def n_places(rows, node):
    """Return the number of places of a row to visit: those in use, or all topics if dense."""
    return int(rows.row[node, USED]) if isinstance(rows, CompactRows) else rows.shape[1]


def topic_at(rows, node, place):
    """Return the topic of a place; topics ascend."""
    if is_list(rows, node):
        return rows.topic[int(rows.row[node, TOPICS]) + int(place)]
    return place


def count_at(rows, node, place):
    """Return the count in a place, which may be zero."""
    if isinstance(rows, CompactRows):
        return rows.counts[int(rows.row[node, START]) + int(place), rows.column]
    return rows[node, place]


def pair_at(customers, tables, node, topic):
    """Return customers and tables of a topic, with a single search."""
    return customers[node, topic], tables[node, topic]


def set_pair(customers, tables, node, topic, new_customers, new_tables):
    """Set customers and tables of a topic."""
    customers[node, topic] = new_customers
    tables[node, topic] = new_tables


def ranked_count(rows, node, rank, topic):
    """Return the count of a topic, number ``rank`` among the node's topics, without a search."""
    return count_at(rows, node, rank if is_list(rows, node) else topic)


def ask_count(rows, node, topic):
    """Prefetch the memory needed to read one count, without waiting for it."""


@inlined
def _listed_topic(rows, node, place):
    first = rows.row[index(node), index(TOPICS)]
    return np.int64(place) if first < 0 else np.int64(rows.topic[index(first + place)])


@inlined
def _listed_pair(rows, node, topic):
    n = index(node)
    place = find_place(rows, n, topic)
    if place < 0:
        return np.int32(0), np.int32(0)
    at = index(rows.row[n, index(START)] + place)
    return rows.counts[at, index(0)], rows.counts[at, index(1)]


@inlined
def _ranked_listed(rows, node, rank, topic):
    n = index(node)
    place = np.int64(rank) if rows.row[n, index(TOPICS)] >= 0 else np.int64(topic)
    return rows.counts[index(rows.row[n, index(START)] + place), index(rows.column)]


@inlined
def _ask_listed(rows, node, topic):
    """Prefetch the list of a node: topics, and the counts of as many as fit a cache line."""
    n = index(node)
    start, first = rows.row[n, index(START)], rows.row[n, index(TOPICS)]
    if first < 0:
        prefetch(rows.counts, index(start + np.int64(topic)), index(0))
    elif rows.row[n, index(ROOM)] > 0:
        prefetch_item(rows.topic, index(first))
        prefetch(rows.counts, index(start), index(0))
        prefetch(rows.counts, index(start + (rows.row[n, index(USED)] >> 1)), index(0))


@overload(is_list, jit_options=PASTED)
def _compiled_is_list(rows, node):
    if is_compact(rows):
        return lambda rows, node: rows.row[index(node), index(TOPICS)] >= 0
    return lambda rows, node: False


@overload(n_places, jit_options=PASTED)
def _compiled_n_places(rows, node):
    if is_compact(rows):
        return lambda rows, node: rows.row[index(node), index(USED)]
    return lambda rows, node: rows.shape[1]


@overload(topic_at, jit_options=PASTED)
def _compiled_topic_at(rows, node, place):
    if is_compact(rows):
        return lambda rows, node, place: _listed_topic(rows, node, place)
    return lambda rows, node, place: place


@overload(count_at, jit_options=PASTED)
def _compiled_count_at(rows, node, place):
    if is_compact(rows):
        return lambda rows, node, place: rows.counts[
            index(rows.row[index(node), index(START)] + place), index(rows.column)
        ]
    return lambda rows, node, place: rows[index(node), index(place)]


@overload(pair_at, jit_options=PASTED)
def _compiled_pair_at(customers, tables, node, topic):
    if is_compact(customers):
        return lambda customers, tables, node, topic: _listed_pair(customers, node, topic)
    return lambda customers, tables, node, topic: (customers[node, topic], tables[node, topic])


@overload(set_pair, jit_options=PASTED)
def _compiled_set_pair(customers, tables, node, topic, new_customers, new_tables):
    if is_compact(customers):

        def listed(customers, tables, node, topic, new_customers, new_tables):
            write_pair(customers, node, topic, new_customers, new_tables)

        return listed

    def dense(customers, tables, node, topic, new_customers, new_tables):
        customers[node, topic] = new_customers
        tables[node, topic] = new_tables

    return dense


@overload(ranked_count, jit_options=PASTED)
def _compiled_ranked_count(rows, node, rank, topic):
    if is_compact(rows):
        return lambda rows, node, rank, topic: _ranked_listed(rows, node, rank, topic)
    return lambda rows, node, rank, topic: rows[node, topic]


@overload(ask_count, jit_options=PASTED)
def _compiled_ask_count(rows, node, topic):
    if is_compact(rows):
        return lambda rows, node, topic: _ask_listed(rows, node, topic)
    return lambda rows, node, topic: prefetch(rows, index(node), index(topic))


@inlined
def empty_row(customers, tables, node):
    """Remove all topics of a node."""
    for j in range(n_places(customers, node) - 1, -1, -1):  # from the end: nothing is moved
        set_pair(customers, tables, node, index(topic_at(customers, node, j)), 0, 0)
