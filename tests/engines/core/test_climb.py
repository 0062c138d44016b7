"""The one climb of all engines: what it does to counts, whatever view it gets of them."""

import numba
import numpy as np
import pytest

from citeweave.engines.core.arrays import TopicCounts
from citeweave.engines.core.climb import (
    Ends,
    TopicPath,
    draw_removal,
    find_ends,
    move_below_root,
    move_customer,
    take_out_ends,
)
from citeweave.engines.core.random import new_generator
from citeweave.engines.core.turnover import Move, ends_turnover, root_turnover, turnover
from reference.tiny import tiny_chain


@numba.njit
def _draw(rng, counts, path, level):
    return draw_removal(rng, counts, path, level)


@numba.njit
def _shift(counts, path, level, depth, sign):
    move_customer(counts, path, level, depth, sign)


@numba.njit
def _shift_below(counts, path, level, depth, sign):
    move_below_root(counts, path, level, depth, sign)


@numba.njit
def _take_out(rng, layout, counts, row, level, first, second, topic):
    ends = Ends(row, level, find_ends(layout, row, level, first, second))
    return ends.meet, take_out_ends(rng, counts, ends, topic)


def counts_of(rows, columns, kind=np.int32):
    return TopicCounts(
        np.zeros((rows, columns), kind),
        np.zeros((rows, columns), kind),
        np.zeros(rows, np.int64),
        np.zeros(rows, np.int64),
        np.zeros((0, columns), kind),
    )


def copied(counts):
    return [array.copy() for array in counts]


# Nodes 0 (root), 1, 4 and 6 of a tree of seven, and the same four levels as rows of their own.
TREE, OWN = np.array([0, 1, 4, 6]), np.arange(4)


@pytest.mark.parametrize("depths", [[1], [4, 1], [4, 2, 1], [4, 4, 3, 1, 2]])
def test_adding_and_removing_is_the_identity_in_every_view(depths):
    """Nodes of a tree and levels of one document hold the same counts, column by column."""
    tree, own = counts_of(7, 3), counts_of(4, 2, np.int64)
    before = copied(tree)
    for depth in depths:
        _shift(tree, TopicPath(TREE, 2), 3, depth, 1)
        _shift(own, TopicPath(OWN, 1), 3, depth, 1)
    np.testing.assert_array_equal(tree.customers[TREE, 2], own.customers[:, 1])
    np.testing.assert_array_equal(tree.tables[TREE, 2], own.tables[:, 1])
    np.testing.assert_array_equal(tree.total_customers[TREE], own.customers.sum(axis=1))
    np.testing.assert_array_equal(tree.total_tables[TREE], own.tables.sum(axis=1))
    assert tree.tables[0, 2] == (tree.customers[0, 2] > 0)
    for depth in reversed(depths):
        _shift(tree, TopicPath(TREE, 2), 3, depth, -1)
    for array, empty in zip(tree, before, strict=True):
        np.testing.assert_array_equal(array, empty)


def test_a_fixed_root_is_left_alone():
    with_root, below = counts_of(4, 1), counts_of(3, 1)
    rows = np.array([-1, 0, 1, 2])
    for depth in (4, 2, 3, 1, 1):
        _shift(with_root, TopicPath(OWN, 0), 3, depth, 1)
        _shift_below(below, TopicPath(rows, 0), 3, depth, 1)
    for whole, part in zip(with_root, below, strict=True):
        np.testing.assert_array_equal(whole[1:], part)


def test_removal_is_by_tables_over_customers_and_blocked_where_others_would_lose_theirs():
    counts = counts_of(3, 1)
    for depth in (3, 3, 1, 1):  # 2 tables of 4 customers, 2 of 2 above
        _shift(counts, TopicPath(OWN[:3], 0), 2, depth, 1)
    rng = new_generator(3)
    path = TopicPath(OWN[:3], 0)
    found = np.bincount([_draw(rng, counts, path, 2) for _ in range(4000)], minlength=4)
    assert found[0] == found[2] == 0
    assert found[1] / 4000 == pytest.approx(0.5, abs=0.04)
    alone = counts_of(3, 1)
    for depth in (3, 1):  # one table of two: whoever leaves with it would leave the other without
        _shift(alone, TopicPath(OWN[:3], 0), 2, depth, 1)
    assert {int(_draw(rng, alone, TopicPath(OWN[:3], 0), 2)) for _ in range(200)} == {0, 1}


def test_ends_come_out_together_or_not_at_all():
    chain = tiny_chain("scntm", seed=4)
    layout, level = chain.layout, chain.citation_level
    first, second = (layout.citation_node + ends[0] for ends in (layout.citing, layout.cited))
    topic = int(chain.state.assignments.citing_topic[0])
    row, rng = np.zeros((2, level + 1), np.int64), new_generator(1)
    outcomes = set()
    for _ in range(200):
        counts = TopicCounts(*copied(chain.state.topics))
        meet, (out, second_out) = _take_out(rng, layout, counts, row, level, first, second, topic)
        assert meet == 1  # of one author
        np.testing.assert_array_equal(row[:, level], [first, second])
        outcomes.add(out > 0)
        if out == 0:
            assert second_out == 0
            assert (counts.customers == chain.state.topics.customers).all()
        else:
            _shift(counts, TopicPath(row[1], topic), level, second_out, 1)
        for mine, before in zip(counts, chain.state.topics, strict=True):
            np.testing.assert_array_equal(mine, before)
    assert True in outcomes


@numba.njit
def _turnover(step, move):
    return turnover(step, move.removed[0], move.added[0]), ends_turnover(step, move)


@numba.njit
def _at_root(customers, old, new, moved):
    return root_turnover(customers, old, new, moved)


def test_turnover_counts_customers_and_tables_by_depth():
    move = Move(0, 1, (2, 1), (3, 3))
    by_step = [_turnover(step, move) for step in range(4)]
    assert [tuple(first) for first, _ in by_step] == [
        (1, 1, 1, 1),
        (1, 0, 1, 1),
        (0, 0, 1, 0),
        (0, 0, 0, 0),
    ]
    assert [tuple(both) for _, both in by_step] == [
        (2, 1, 2, 2),
        (1, 0, 2, 2),
        (0, 0, 2, 0),
        (0, 0, 0, 0),
    ]


def test_tables_of_the_root_follow_its_customers():
    moved = _turnover(0, Move(0, 1, (2, 2), (2, 2)))[1]
    after = np.array([[0, 2]], np.int32)
    assert tuple(_at_root(after, 0, 1, moved)) == (2, 1, 2, 1)
    after = np.array([[5, 3]], np.int32)
    assert tuple(_at_root(after, 0, 1, moved)) == (2, 0, 2, 0)
    assert tuple(_at_root(after, 0, 0, moved)) == (2, 0, 2, 0)
