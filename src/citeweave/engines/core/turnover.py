"""Changes at the nodes of a move's paths: customers and tables removed and added.

A move already made in the counts is described by topics and depths. They determine, level by level,
the customers and tables removed and added, and the order in which nodes pass their gains on to
their parents. This is the same for every engine, whatever it then does with a node.
"""

from typing import NamedTuple

from citeweave.compiled import inlined

__all__ = [
    "Move",
    "Turnover",
    "ends_turnover",
    "root_turnover",
    "turnover",
    "walk_ends",
    "walk_up",
]


class Move(NamedTuple):
    """Customers of one topic who left, and customers of another topic, or the same, who came."""

    old: int
    new: int
    removed: tuple[int, int]
    """Depths of those who left the first and the second end, 0 for nobody."""
    added: tuple[int, int]
    """Depths of those who came."""


class Turnover(NamedTuple):
    """Changes of a move at one node."""

    left: int
    """Customers of the old topic that were removed."""
    closed: int
    """Tables of the old topic that were removed."""
    came: int
    """Customers of the new topic that were added."""
    opened: int
    """Tables of the new topic that were added."""


@inlined
def turnover(step, removed, added):
    """Return the change by one end ``step`` levels up, ``removed`` and ``added`` levels deep."""
    return Turnover(
        1 if step < removed else 0,
        1 if step + 1 < removed else 0,
        1 if step < added else 0,
        1 if step + 1 < added else 0,
    )


@inlined
def ends_turnover(step, move):
    """Return the change by both ends together, on a level where they are at the same node."""
    first = turnover(step, move.removed[0], move.added[0])
    second = turnover(step, move.removed[1], move.added[1])
    return Turnover(
        first.left + second.left,
        first.closed + second.closed,
        first.came + second.came,
        first.opened + second.opened,
    )


@inlined
def root_turnover(customers, old, new, moved):
    """Correct the change at the root, where a topic has one table while it has customers.

    ``customers`` [rows, topics] are the counts after the move, with the root in row 0.
    """
    now_old, now_new = customers[0, old], customers[0, new]
    was_old = now_old + moved.left - (moved.came if old == new else 0)
    was_new = now_new - moved.came + (moved.left if old == new else 0)
    closed = (1 if was_old > 0 else 0) - (1 if now_old > 0 else 0)
    opened = (1 if now_new > 0 else 0) - (1 if was_new > 0 else 0)
    if old == new:
        opened = 0
    return Turnover(moved.left, closed, moved.came, opened)


@inlined
def walk_ends(visit, room, ends, move):
    """Visit the nodes below the root that a move affects, from both ends up.

    ``visit(room, lower, side, moved, carry, carried)`` receives a node, the changes of the move
    there, and the gains of its two weights from its children; it returns the gains of its parent's
    weights. Returns the gains of the root's weights.
    """
    return walk_up(visit, room, ends, move, (0.0, 0.0, 0.0, 0.0))


@inlined
def walk_up(visit, room, ends, move, gained):
    """Do the same as `walk_ends`, starting with the gains of both ends' weights, ``gained``."""
    carry_a, carried_a, carry_b, carried_b = gained
    for step in range(ends.level):
        lower = ends.level - step
        if lower == ends.meet:
            carry_a += carry_b
            carried_a += carried_b
            carry_b, carried_b = 0.0, 0.0
        for side in range(2):
            if side == 1 and lower <= ends.meet:
                continue
            carry = carry_a if side == 0 else carry_b
            carried = carried_a if side == 0 else carried_b
            if lower <= ends.meet:
                moved = ends_turnover(step, move)
            else:
                moved = turnover(step, move.removed[side], move.added[side])
            if moved.left + moved.came > 0 or carry != 0.0 or carried != 0.0:
                carry, carried = visit(room, lower, side, moved, carry, carried)
            if side == 0:
                carry_a, carried_a = carry, carried
            else:
                carry_b, carried_b = carry, carried
    return carry_a + carry_b, carried_a + carried_b
