"""Counts as lists: equal to arrays after any writes, of fixed room, copied and stored."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from citeweave.compiled import hot_kernel
from citeweave.engines.core.arrays import TopicCounts
from citeweave.engines.core.compact_rows import LIST_BYTES, ROW_BYTES, CompactRows, new_compact_rows
from citeweave.engines.core.count_lists import (
    copy_counts,
    dense_counts,
    join_lists,
    lists_of,
    pack_counts,
    put_lists,
    rows_of_lists,
    select_rows,
    unpack_counts,
)
from citeweave.engines.core.row_places import (
    ask_count,
    count_at,
    is_list,
    n_places,
    pair_at,
    ranked_count,
    set_pair,
    topic_at,
)
from citeweave.errors import RunError
from reference.dense_rows import DenseRows

NODES, TOPICS = 4, 9
ROOMS = np.array([9, 4, 2, 0])
"""Nodes with a dense row, with lists, and without room for any topic."""


@hot_kernel
def write_all(customers, tables, writes):
    """Write (column, node, topic, change) one after the other, by adding."""
    for i in range(writes.shape[0]):
        column, n, k, change = writes[i]
        if column == 0:
            customers[n, k] += change
        else:
            tables[n, k] += change


@hot_kernel
def write_pairs(customers, tables, writes):
    """Do the same, both counts at a time."""
    for i in range(writes.shape[0]):
        column, n, k, change = writes[i]
        own, held = pair_at(customers, tables, n, k)
        if column == 0:
            set_pair(customers, tables, n, k, own + change, held)
        else:
            set_pair(customers, tables, n, k, own, held + change)


@hot_kernel
def read_all(rows, out):
    """Read every entry by its indices."""
    for n in range(rows.shape[0]):
        for k in range(rows.shape[1]):
            ask_count(rows, n, k)
            out[n, k] = rows[n, k]


@hot_kernel
def visit_all(customers, tables, out):
    """Read every row by its places; returns how many rows are lists, -1 if topics descend."""
    lists = 0
    for n in range(customers.shape[0]):
        lists += 1 if is_list(customers, n) else 0
        last = -1
        for j in range(n_places(customers, n)):
            k = topic_at(customers, n, j)
            if k <= last:
                return -1
            last = k
            out[0, n, k] += count_at(customers, n, j)
            out[1, n, k] += ranked_count(tables, n, j, k)
    return lists


def fitting(twin, node):
    return len(twin.listed(node)[0]) <= ROOMS[node]


@st.composite
def write_sequences(draw):
    """Changes that leave every node, at every time, with topics that it has room for."""
    twin, writes = DenseRows(NODES, TOPICS), []
    for _ in range(draw(st.integers(0, 60))):
        column, node = draw(st.integers(0, 1)), draw(st.integers(0, NODES - 1))
        topic = draw(st.integers(0, TOPICS - 1))
        before = twin.counts[column, node, topic]
        value = draw(st.sampled_from([0, 0, 1, 2, -1]))
        twin.write(column, node, topic, value)
        if fitting(twin, node):
            writes.append((column, node, topic, value - before))
        else:
            twin.write(column, node, topic, before)
    return twin, np.array(writes, np.int64).reshape(-1, 4)


@given(write_sequences())
def test_any_writes_give_what_an_array_has(given_writes):
    twin, writes = given_writes
    customers, tables = new_compact_rows(ROOMS, TOPICS)
    write_all(customers, tables, writes)
    assert customers.lost[0] == 0
    for column, rows in enumerate((customers, tables)):
        out = np.zeros((NODES, TOPICS), np.int32)
        read_all(rows, out)
        np.testing.assert_array_equal(out, twin.counts[column])
        np.testing.assert_array_equal(rows, twin.counts[column])
        np.testing.assert_array_equal(rows[1:3], twin.counts[column, 1:3])
        np.testing.assert_array_equal(rows[[2, 0]], twin.counts[column, [2, 0]])
        np.testing.assert_array_equal(rows[-1], twin.counts[column, -1])
        assert rows[1, 3] == twin.counts[column, 1, 3]
    out = np.zeros((2, NODES, TOPICS), np.int32)
    assert visit_all(customers, tables, out) == 3
    np.testing.assert_array_equal(out, twin.counts)


@given(write_sequences())
def test_equal_counts_are_equal_bytes(given_writes):
    """Lists are sorted, and what is not used is empty: no history of writes shows."""
    twin, writes = given_writes
    rows, again = new_compact_rows(ROOMS, TOPICS), new_compact_rows(ROOMS, TOPICS)
    write_all(*rows, writes)
    write_pairs(*again, writes)
    for field in ("row", "topic", "counts", "lost"):
        np.testing.assert_array_equal(getattr(rows[0], field), getattr(again[0], field))
    for node in range(1, NODES):
        start, first, room, used = rows[0].row[node]
        topics, counts = twin.listed(node)
        assert (room, used) == (ROOMS[node], len(topics))
        empty = room - used
        listed = rows[0].topic[first : first + room]
        assert listed.tolist() == [*topics, *[-1] * empty]
        held = rows[0].counts[start : start + room]
        assert held.tolist() == [*counts.tolist(), *[[0, 0]] * empty]


def test_arrays_are_visited_like_lists():
    dense = np.random.default_rng(1).integers(0, 3, (2, NODES, TOPICS)).astype(np.int32)
    out = np.zeros_like(dense)
    assert visit_all(*dense, out) == 0
    np.testing.assert_array_equal(out, dense)
    writes = np.array([[0, 1, 2, 5], [1, 3, 4, 7]])
    expected = dense.copy()
    expected[0, 1, 2] += 5
    expected[1, 3, 4] += 7
    write_pairs(*dense, writes)
    np.testing.assert_array_equal(dense, expected)
    read_all(dense[0], out[1])
    np.testing.assert_array_equal(out[1], dense[0])


def test_a_row_is_dense_where_a_list_would_not_be_smaller():
    rooms = np.array([0, 1, 799, 800, 5000])
    customers, tables = new_compact_rows(rooms, 1000)
    assert (customers.row[:, 1] >= 0).tolist() == [True, True, True, False, False]
    assert customers.row[:, 2].tolist() == [0, 1, 799, 1000, 1000]
    places = customers.topic.nbytes + customers.counts.nbytes
    assert places == LIST_BYTES * 800 + ROW_BYTES * 2000
    assert customers.counts is tables.counts
    assert customers.topic is tables.topic


def test_a_topic_too_many_is_counted_and_writes_nothing_else():
    customers, tables = new_compact_rows(np.array([2, 2]), 50)
    for k in (7, 9, 8):
        customers[0, k] = 1
    customers[1, 5] = 4
    assert customers.lost[0] == tables.lost[0] == 1
    assert np.flatnonzero(customers[0]).tolist() == [7, 9]
    assert customers[1, 5] == 4


def counts_of(customers, tables):
    totals = (np.asarray(rows).sum(axis=1) for rows in (customers, tables))
    return TopicCounts(customers, tables, *totals, np.zeros((0, customers.shape[1]), np.int32))


def filled(compact, *, seed=0):
    """Counts of three papers that have at most two topics, and a root."""
    rng = np.random.default_rng(seed)
    rooms = np.array([40, 2, 2, 0])
    rows = new_compact_rows(rooms, 40) if compact else np.zeros((2, 4, 40), np.int32)
    for n, room in enumerate(rooms):
        for k in rng.choice(40, rng.integers(room + 1), replace=False):
            rows[0][n, k], rows[1][n, k] = rng.integers(1, 9, 2)
    return counts_of(*rows)


@pytest.mark.parametrize("of", [True, False])
@pytest.mark.parametrize("to", [True, False])
def test_counts_are_copied_between_lists_and_arrays(of, to, monkeypatch):
    monkeypatch.setattr("citeweave.engines.core.count_lists._BLOCK_BYTES", 8 * 40 * 3)
    theirs, mine = filled(of), filled(to, seed=5)  # a list's old topics leave no room for others
    copy_counts(mine, theirs)
    for one, other in zip(dense_counts(mine), dense_counts(theirs), strict=True):
        np.testing.assert_array_equal(one, other)


def test_counts_of_another_corpus_are_refused():
    theirs = filled(compact=False)
    theirs.customers[3, 1] = theirs.tables[3, 1] = 1
    with pytest.raises(RunError, match="more topics than its tokens, citations and papers"):
        copy_counts(filled(compact=True), theirs)


@pytest.mark.parametrize("compact", [True, False])
def test_stored_lists_give_the_counts_back(compact):
    counts = filled(compact)
    lists = lists_of(counts.customers, counts.tables)
    assert lists.length.tolist() == np.count_nonzero(counts.customers, axis=1).tolist()
    for mine, theirs in zip(rows_of_lists(lists), counts[:2], strict=True):
        np.testing.assert_array_equal(mine, theirs)
        assert mine.dtype == theirs.dtype
    with pytest.raises(ValueError, match="as long as"):
        rows_of_lists(lists._replace(topic=lists.topic[1:]))


@pytest.mark.parametrize("of", [True, False])
@pytest.mark.parametrize("to", [True, False])
def test_some_nodes_are_copied_as_lists(of, to):
    """In any order; all others stay as they are."""
    theirs, mine = filled(of), filled(to, seed=5)
    before = dense_counts(mine)
    before = np.array([before.customers, before.tables])
    put_lists(*mine[:2], np.array([2, 0]), lists_of(*theirs[:2], np.array([1, 0])))
    for i in range(2):
        np.testing.assert_array_equal(mine[i][[2, 0]], theirs[i][[1, 0]])
        np.testing.assert_array_equal(mine[i][[1, 3]], before[i][[1, 3]])
    assert [customers.shape for customers in select_rows(*theirs[:2], np.array([3, 1, 1]))] == [
        (3, 40)
    ] * 2
    np.testing.assert_array_equal(select_rows(*theirs[:2])[1], theirs.tables)
    copied = filled(to, seed=5)
    copy_counts(copied, theirs, np.array([1]))
    np.testing.assert_array_equal(copied.customers[1], theirs.customers[1])
    np.testing.assert_array_equal(copied.customers[0], before[0][0])
    np.testing.assert_array_equal(copied.total_tables, theirs.total_tables)


def test_lists_of_parts_are_joined():
    counts = filled(compact=True)[:2]
    places = np.array([2, 0]), np.zeros(0, np.int64), np.array([4, 1])
    nodes = np.array([1, 3]), np.zeros(0, np.int64), np.array([0, 2])
    pieces = [(lists_of(*counts, n), place) for n, place in zip(nodes, places, strict=True)]
    customers, tables = rows_of_lists(join_lists(pieces, 5))
    order = [3, 2, 1, 3, 0]  # nothing comes for the fourth, and node 3 has no topic
    np.testing.assert_array_equal(customers, np.asarray(counts[0])[order])
    np.testing.assert_array_equal(tables, np.asarray(counts[1])[order])


def test_only_lists_are_packed():
    named = {"state.topics.customers": np.zeros((2, 3)), "state.clock": np.zeros(2)}
    assert pack_counts(named).keys() == unpack_counts(named).keys() == named.keys()
    counts = filled(compact=True)
    named |= {"state.topics.customers": counts.customers, "state.topics.tables": counts.tables}
    packed = pack_counts(named)
    assert all(isinstance(array, np.ndarray) for array in packed.values())
    again = unpack_counts(packed)
    assert again.keys() == named.keys()
    np.testing.assert_array_equal(again["state.topics.tables"], counts.tables)


def test_copies_and_pickles_are_apart():
    customers = filled(compact=True).customers
    for make in (CompactRows.copy, lambda rows: pickle.loads(pickle.dumps(rows))):  # noqa: S301
        again = make(customers)
        np.testing.assert_array_equal(again, customers)
        before = again[0, 3]
        customers[0, 3] += 1
        assert again[0, 3] == before


def test_lists_are_plain_python_too():
    """The property above with NUMBA_DISABLE_JIT=1."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__),
            *("-k", "writes or bytes or visited or copied or stored or joined or too_many"),
        ],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
