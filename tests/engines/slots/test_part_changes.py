"""Changes and rows as lists: what is taken out is what was there, and comes back as it was."""

import numpy as np
import pytest
from citation_tools import SPECS, cited_data
from test_merge import bits_of, draw_changes, mark_changes, start_chain

from citeweave.engines.core.compact_rows import TOPICS as TOPICS_COLUMN
from citeweave.engines.core.compact_rows import new_compact_rows
from citeweave.engines.core.data import ChainSettings
from citeweave.engines.core.hierarchy import node_weights
from citeweave.engines.slots import SparseSnapshotChain
from citeweave.engines.slots.change_lists import group_entries, sum_entries
from citeweave.engines.slots.part_changes import (
    put_node_changes,
    put_word_changes,
    take_node_changes,
    take_word_changes,
)
from citeweave.engines.slots.presence import new_presence
from citeweave.engines.slots.row_lists import RowLists, put_rows, take_rows
from citeweave.engines.threads.world import new_counts

TOPICS = 70


@pytest.fixture
def changed():
    """Give a chain of three threads with changes of many places, and their marks."""
    data = cited_data(SPECS["authors"], documents=300, authors=40)
    chain = start_chain(data, TOPICS, 3)
    draw_changes(chain, 1)
    yield chain, mark_changes(chain._changes)
    chain.close()


def test_changes_of_words_come_back(changed):
    chain, marks = changed
    changes = chain._changes
    words, background = changes.words.sum(axis=0), changes.background_tables.sum(axis=0)
    first, last = 5, len(background) - 3
    outside = changes.words[:, :first].copy(), changes.words[:, last:].copy()
    entries = take_word_changes(chain.workers, changes, marks, first, last)
    assert not changes.words[:, first:last].any()
    assert not changes.background_tables[:, first:last].any()
    assert not marks.words[:, first:last].any()
    np.testing.assert_array_equal(changes.words[:, :first], outside[0])
    np.testing.assert_array_equal(changes.words[:, last:], outside[1])
    assert (np.diff(entries[:, 0]) >= 0).all()
    for w, k, customers, tables in entries:
        if k == TOPICS:
            assert (customers, tables) == (0, background[w])
        else:
            assert [customers, tables] == words[w, k].tolist()
    moved = int(words[first:last].any(axis=2).sum() + (background[first:last] != 0).sum())
    assert len(entries) == moved > 100
    put_word_changes(changes, marks, *entries.T.copy())
    np.testing.assert_array_equal(changes.words[0, first:last], words[first:last])
    np.testing.assert_array_equal(changes.background_tables[0, first:last], background[first:last])
    np.testing.assert_array_equal(
        marks.words[0, first:last], mark_changes(changes).words[0, first:last]
    )


def test_changes_of_nodes_come_back(changed):
    chain, marks = changed
    changes = chain._changes
    both = np.stack([changes.node_customers, changes.node_tables], axis=3).sum(axis=0)
    entries = take_node_changes(changes, marks, 3, 20)
    assert not changes.node_customers[:, 3:20].any()
    assert not marks.nodes[:, 3:20].any()
    moved = {(3 + n, k) for n, k in np.argwhere(both[3:20].any(axis=2)).tolist()}
    assert len(moved) > 100
    assert moved <= {(n, k) for n, k, *_ in entries.tolist()}
    for n, k, *done in entries.tolist():
        assert done == both[n, k].tolist()
    put_node_changes(changes, marks, entries)
    np.testing.assert_array_equal(changes.node_customers[0, 3:20], both[3:20, :, 0])
    np.testing.assert_array_equal(changes.node_tables[0, 3:20], both[3:20, :, 1])


def test_entries_of_a_place_are_added_up():
    rng = np.random.default_rng(1)
    lists = [
        np.stack(
            [rng.integers(4, 9, n), rng.integers(6, size=n), *rng.integers(-3, 4, (2, n))], axis=1
        ).astype(np.int32)
        for n in (40, 0, 30)
    ]
    expected = np.zeros((9, 6, 2), int)
    for n, k, *done in np.concatenate(lists):
        expected[n, k] += done
    found = np.zeros_like(expected)
    summed = sum_entries(*group_entries(lists, 5, 9), 5, 6)
    assert len({(n, k) for n, k, *_ in summed.tolist()}) == len(summed)
    for n, k, *done in summed:
        found[n, k] = done
    np.testing.assert_array_equal(found[5:], expected[5:])
    assert not found[:5].any()


@pytest.mark.parametrize("as_lists", [True, False])
def test_rows_come_back_elsewhere(as_lists):
    chain = start_chain(cited_data(SPECS["authors"], documents=60), TOPICS, 1)
    counts = chain.state.topics
    bits = bits_of(counts)
    rows = np.array([9, 2, 30, 0])
    lists = take_rows(counts, bits, rows)
    assert lists.length.tolist() == (counts.customers[rows] > 0).sum(axis=1).tolist()
    places = np.array([5, 1, 2, 4])
    there, other = new_counts(6, TOPICS), new_presence(6, TOPICS)
    if as_lists:  # with the room that the rows need, one after the other, and no more
        n_topics = (counts.customers[rows] > 0).sum(axis=1)
        room = np.zeros(6, np.int64)
        room[places] = np.maximum(n_topics, n_topics[::-1])
        customers, tables = new_compact_rows(room, TOPICS)
        there = there._replace(customers=customers, tables=tables)
    put_rows(there, other, places, take_rows(counts, bits, rows[::-1].copy()))
    put_rows(there, other, places, lists)  # what was there is gone
    for name in ("customers", "tables", "total_customers", "total_tables"):
        np.testing.assert_array_equal(getattr(there, name)[places], getattr(counts, name)[rows])
        assert not getattr(there, name)[[0, 3]].any()
    np.testing.assert_array_equal(other[places], bits[rows])
    if as_lists:
        assert there.customers.lost[0] == 0
        assert (there.customers.row[:, TOPICS_COLUMN] >= 0).sum() > 3
    empty = RowLists(np.zeros(1, np.int32), *np.zeros((3, 0), np.int32))
    put_rows(there, other, places[:1], empty)
    assert not there.customers[places[0]].any()
    assert not other[places[0]].any()


@pytest.mark.parametrize("most_listed", [0, 20])
def test_shares_of_authors_do_not_depend_on_threads(most_listed):
    """And are those of a plain sum, to the precision of its units."""
    spec, found = SPECS["authors"], []
    data = cited_data(spec, documents=200, authors=30)
    for threads in (1, 2, 3):
        chain = SparseSnapshotChain(spec, data, ChainSettings(topics=40), seed=1, threads=threads)
        chain.start()
        chain.proposals.refresh(most_listed)
        found.append([array.copy() for array in chain.proposals.tables])
        chain.close()
    for one in found[1:]:
        assert all(np.array_equal(*pair) for pair in zip(one, found[0], strict=True))
    counts, parameters, layout = chain.state.topics, chain.state.parameters, chain.layout
    expected, row, weights = np.zeros(40), np.zeros(4, np.int64), np.zeros(40)
    first, last = layout.level_start[1:3]
    everybody = counts.total_customers[first:last].sum()
    for n in range(first, last):
        listed = chain.proposals.tables.listed[n - first]
        level, node = (0, 0) if listed else (1, n)
        row[:2] = 0, node
        node_weights(chain.tables, counts, parameters, row, level, weights)
        scale = parameters.topic_concentration[node] + counts.total_customers[node]
        expected += counts.total_customers[n] / everybody * weights / scale
    np.testing.assert_allclose(found[0][2], expected, rtol=1e-9)
    assert 0 < chain.proposals.tables.listed.sum() < last - first or most_listed == 0
