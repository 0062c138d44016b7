"""Add the changes of workers to shared counts, only at the places where workers have written.

The rule is that of `engines.threads.merge`, and the result is the same, integer by integer. With
many topics nearly all changes are zero. Workers set a bit for each change that they write into a
row, or list their changes (`change_lists`), and only these places are visited. Totals were correct
before, so they are updated by the amounts added here.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from citeweave.compiled import hot_kernel, index, inlined
from citeweave.engines.core.arrays import Layout, Shape, Tables, TopicCounts, WordCounts
from citeweave.engines.core.row_places import is_list
from citeweave.engines.core.word_side import WordCache
from citeweave.engines.slots.change_lists import (
    ChangeList,
    Noted,
    group_entries,
    merge_listed_range,
    new_change_list,
    note_change,
)
from citeweave.engines.slots.presence import lowest_bit, new_presence, note_presence
from citeweave.engines.threads.merge import (
    add_moves_telling,
    give_up,
    merge_entry,
    set_background,
    set_word,
    take_background,
)
from citeweave.engines.threads.workers import WorkerPool
from citeweave.engines.threads.world import Changes

__all__ = [
    "Marks",
    "add_noted_moves",
    "give_up_marked",
    "mark",
    "merge_node_range",
    "merge_nodes",
    "merge_word_range",
    "merge_words",
    "new_marks",
    "read_word",
    "take_marks",
    "worker_notes",
]

_FEW = 256
"""Levels with fewer nodes are not worth waking a thread for."""


BeforeLevel = Callable[[int, list[np.ndarray]], None]
"""Takes a level and all listed entries, to which it may add."""


class Marks(NamedTuple):
    """Where workers have written to their `Changes`: one bit per topic, the worker first."""

    nodes: np.ndarray
    """uint64 [workers, nodes whose changes are rows, words of 64 topics]."""
    words: np.ndarray
    """uint64 [workers, words, words of 64 topics]; changes of only gamma need no mark."""


def new_marks(workers: int, n_rows: int, n_words: int, topics: int) -> Marks:
    """Allocate memory for the marks of all workers."""
    return Marks(
        nodes=np.stack([new_presence(n_rows, topics) for _ in range(workers)]),
        words=np.stack([new_presence(n_words, topics) for _ in range(workers)]),
    )


def worker_notes(changes: Changes, marks: Marks, worker: int, listed: ChangeList) -> Noted:
    """Return the rows of one worker, with a list."""
    rows = (changes.node_customers[worker], changes.node_tables[worker])
    return Noted(*rows, marks.nodes[worker], listed)


def merge_nodes(
    workers: WorkerPool,
    layout: Layout,
    counts: TopicCounts,
    presence: np.ndarray,
    n_shared_levels: int,
    changes: Changes,
    marks: Marks,
    lists: Sequence[ChangeList] = (),
    *,
    level_end: np.ndarray | None = None,
    before: BeforeLevel | None = None,
) -> int:
    """Add all changes to the nodes above documents, lowest level first.

    ``lists`` are those of all workers, if only mu's changes are rows. A part of a chain merges the
    nodes of each level before ``level_end``, and calls ``before`` first. Afterwards counts, totals
    and ``presence`` of these nodes are up to date; changes, marks and lists are empty. Returns the
    number of tables that were moved into range.
    """
    ends = layout.level_start[1:] if level_end is None else level_end

    def merge(begin: int, end: int, worker: int) -> int:
        return merge_node_range(layout.parent, counts, presence, changes, marks, begin, end, worker)

    n_rows = changes.node_customers.shape[1]
    entries = [one.entry[: int(one.used[0])] for one in lists]
    repaired = 0
    for level in range(n_shared_levels - 1, -1, -1):
        first, last = int(layout.level_start[level]), int(ends[level])
        if before is not None:
            before(level, entries)
        if first < n_rows:
            repaired += _by_ranges(workers, merge, first, last)
        else:
            level_repairs, told = _merge_lists(
                workers, layout, counts, presence, (changes, marks), entries, (first, last)
            )
            repaired += level_repairs
            entries += told
    for one in lists:
        one.used[0] = 0
    return repaired


def _merge_lists(
    workers: WorkerPool,
    layout: Layout,
    counts: TopicCounts,
    presence: np.ndarray,
    rows: tuple[Changes, Marks],
    entries: list[np.ndarray],
    level: tuple[int, int],
) -> tuple[int, list[np.ndarray]]:
    """Add listed changes to the nodes of a level.

    Returns the number of tables that were moved into range, and the resulting changes of listed
    parents.
    """
    groups = group_entries(entries, *level)
    room = np.zeros((workers.size, 4, counts.customers.shape[1]), np.int32)
    told: list[np.ndarray] = []

    def merge(begin: int, end: int, worker: int) -> int:
        most = int(groups[0][end - level[0]] - groups[0][begin - level[0]])
        noted = worker_notes(*rows, worker, new_change_list(most))
        span = (level[0], begin, end)
        repaired = merge_listed_range(
            layout.parent, counts, presence, groups, room[worker], noted, span
        )
        told.append(noted.listed.entry[: int(noted.listed.used[0])])
        return repaired

    return _by_ranges(workers, merge, *level), told


def merge_words(
    workers: WorkerPool,
    shape: Shape,
    tables: Tables,
    words: WordCounts,
    cache: WordCache,
    presence: np.ndarray,
    changes: Changes,
    marks: Marks,
) -> int:
    """Add all changes to the word side, and update the weights of words.

    ``presence``, a bit for each topic that has customers at a word, is up to date afterwards; the
    normalisers of topics are left to ``parallel.merge.refresh_topics``. Returns the number of
    tables that were moved into range.
    """
    n_words, topics = words.customers.shape
    added = np.zeros((workers.size, 2, topics + 1), np.int64)
    room = np.zeros((workers.size, 3, topics), np.int32)

    def merge(begin: int, end: int, worker: int) -> int:
        span = (begin, end)
        return merge_word_range(
            shape, tables, words, cache, presence, (changes, marks), (added, room), span, worker
        )

    repaired = _by_ranges(workers, merge, 0, n_words)
    customers, held = added.sum(axis=0)
    words.total_customers[:] += customers[:-1]
    words.total_tables[:] += held[:-1]
    words.background_totals[:] += (customers[-1], held[-1])
    return repaired


def _by_ranges(
    workers: WorkerPool, task: Callable[[int, int, int], int], first: int, last: int
) -> int:
    """Divide a range among the workers, and sum the values that they return."""
    if last - first < _FEW:
        return int(task(first, last, 0))
    bounds = [first + (last - first) * i // workers.size for i in range(workers.size + 1)]
    found = [0] * workers.size

    def share(worker: int) -> None:
        found[worker] = int(task(bounds[worker], bounds[worker + 1], worker))

    workers.run(share)
    return sum(found)


@inlined
def mark(marks, row, topic):
    """Set the bit of one place; ``marks`` are those of one worker, for nodes or for words."""
    bit = np.uint64(1) << np.uint64(topic % 64)
    marks[index(row), index(topic) // index(64)] |= bit


@inlined
def _read_marks(marks, row, i):
    """Return the bits that any worker has set in one word of a row."""
    bits = np.uint64(0)
    for worker in range(index(marks.shape[0])):
        bits |= marks[worker, row, i]
    return bits


@inlined
def take_marks(marks, row, i):
    """Return the bits that any worker has set in one word of a row, and clear them."""
    bits = _read_marks(marks, row, i)
    for worker in range(index(marks.shape[0])):
        marks[worker, row, i] = np.uint64(0)
    return bits


@inlined
def _is_lost(counts, changes, row, k):
    """Return whether changes leave a node without customers of a topic."""
    customers = counts.customers[row, k]
    for worker in range(index(changes.node_customers.shape[0])):
        customers += changes.node_customers[worker, row, k]
    return customers == 0


@hot_kernel
def merge_node_range(parent, counts, presence, changes, marks, begin, end, worker):
    """Add changes to the shared nodes ``begin`` to ``end`` - 1; return tables repaired.

    Changes to the parent by a repair are noted, and marked, as changes of ``worker``. The root has
    number 0.
    """
    repaired = 0
    for n in range(begin, end):
        row = index(n)
        more_customers = 0
        more_tables = 0
        # remove topics that a list loses first: it has room only for those that stay
        for turn in range(0 if is_list(counts.customers, row) else 1, 2):
            for i in range(marks.nodes.shape[2]):
                if turn == 0:
                    bits = _read_marks(marks.nodes, row, index(i))
                else:
                    bits = take_marks(marks.nodes, row, index(i))
                while bits != np.uint64(0):
                    topic = 64 * i + lowest_bit(bits)
                    bits &= bits - np.uint64(1)
                    k = index(topic)
                    if turn == 0 and not _is_lost(counts, changes, row, k):
                        continue
                    more_customers -= counts.customers[row, k]
                    more_tables -= counts.tables[row, k]
                    customers, tables, moved = merge_entry(parent, counts, changes, row, k, worker)
                    if moved:
                        repaired += 1
                        mark(marks.nodes[worker], parent[n], topic)
                    note_presence(presence, n, topic, customers)
                    more_customers += customers
                    more_tables += tables
        counts.total_customers[row] += more_customers
        counts.total_tables[row] += more_tables
    return repaired


@inlined
def read_word(changes, marks, row, listed):
    """List the topics at which a word has changed, with the changes of customers and tables.

    ``listed`` is int32 [3, topics]. Changes are zero afterwards. Reading is separate from the work
    on each place, so that many reads are in flight at a time. Returns the number of topics.
    """
    n_workers = index(changes.words.shape[0])
    marked = index(0)
    for i in range(marks.words.shape[2]):
        bits = take_marks(marks.words, row, index(i))
        while bits != np.uint64(0):
            listed[0, marked] = 64 * i + lowest_bit(bits)
            bits &= bits - np.uint64(1)
            marked += index(1)
    found = index(0)
    for j in range(marked):
        k = index(listed[0, j])
        customers, tables = 0, 0
        for worker in range(n_workers):
            customers += changes.words[worker, row, k, 0]
            tables += changes.words[worker, row, k, 1]
            changes.words[worker, row, k, 0] = 0
            changes.words[worker, row, k, 1] = 0
        if customers != 0 or tables != 0:  # changes of workers may have cancelled out
            listed[0, found] = k
            listed[1, found] = customers
            listed[2, found] = tables
            found += index(1)
    return found


@hot_kernel
def merge_word_range(shape, tables, words, cache, presence, written, room, span, worker):
    """Add changes to phi and gamma at words ``span[0]`` to ``span[1]`` - 1; update their weights.

    ``written`` holds the changes and marks of all workers. The first array of ``room`` (int64
    [workers, 2, topics + 1], zero before) receives the gains of customers and tables of each phi_k
    at these words, and last those of gamma; the other is int32 [workers, 3, topics]. Returns the
    number of tables repaired.
    """
    changes, marks = written
    n_topics = index(words.customers.shape[1])
    gained, listed = room[0][worker], room[1][worker]
    repaired = 0
    for w in range(span[0], span[1]):
        row = index(w)
        below = words.background_customers[row]
        for j in range(read_word(changes, marks, row, listed)):
            k = index(listed[0, j])
            before = words.tables[row, k]
            customers = words.customers[row, k] + listed[1, j]
            wanted = before + listed[2, j]
            held = set_word(tables, words, cache, row, k, customers, wanted)
            repaired += 1 if held != wanted else 0
            note_presence(presence, w, listed[0, j], customers)
            gained[0, k] += listed[1, j]
            gained[1, k] += held - before
            below += held - before
        if shape.background > 0:
            customers, held_before = words.background_customers[row], words.background_tables[row]
            wanted = take_background(words, changes, row)
            if below != customers or wanted != held_before:
                held = set_background(tables, words, cache, row, below, wanted)
                repaired += 1 if held != wanted else 0
                gained[0, n_topics] += below - customers
                gained[1, n_topics] += held - held_before
    return repaired


@inlined
def _note_gain(noted, node, topic, customers):
    """Note a gain of customers, with the signature that ``add_moves_telling`` requires."""
    note_change(noted, node, topic, customers, 0)


@hot_kernel
def add_noted_moves(layout, counts, lists, record, noted, turn, begin, end):
    """Like ``add_moves`` of `engines.threads.merge`, but note the gains of parents in ``noted``."""
    return add_moves_telling(layout, counts, lists, record, _note_gain, noted, turn, begin, end)


@inlined
def _mark_node(marks, node, topic):
    """Mark a node, with the signature that ``give_up`` requires."""
    mark(marks, node, topic)


@hot_kernel
def give_up_marked(layout, state, node_customers, marks):
    """Like `give_up` of `engines.threads.merge`, but also mark each change."""
    return give_up(layout, state, node_customers, _mark_node, marks)
