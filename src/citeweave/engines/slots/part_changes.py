"""Changes of shared counts as lists, which the parts of a chain send each other.

An entry is (row, topic, customers, tables), for a word or for a node above documents. The changes
of all threads of a part at one place are summed before they are sent, and removed from the changes.
Received entries are added to the changes of the first thread, and marked.
"""

import numpy as np

from citeweave.compiled import hot_kernel, index
from citeweave.engines.slots.merge import Marks, mark, read_word, take_marks
from citeweave.engines.slots.presence import lowest_bit
from citeweave.engines.threads.workers import WorkerPool
from citeweave.engines.threads.world import Changes

__all__ = ["put_node_changes", "put_word_changes", "take_node_changes", "take_word_changes"]


def take_word_changes(
    workers: WorkerPool, changes: Changes, marks: Marks, first: int, last: int
) -> np.ndarray:
    """Remove and return changes of words ``first`` to ``last`` - 1: int32 [entries, 4], by word.

    For gamma, the topic is the number of topics, and there are no customers.
    """
    bounds = [first + (last - first) * i // workers.size for i in range(workers.size + 1)]
    found: list[np.ndarray] = [np.zeros((0, 4), np.int32)] * workers.size

    def take(worker: int) -> None:
        begin, end = bounds[worker : worker + 2]
        room = _count_marks(marks.words, begin, end) + end - begin  # gamma needs no mark
        entries = np.zeros((room, 4), np.int32)
        listed = np.zeros((3, changes.words.shape[2]), np.int32)
        found[worker] = entries[: _take_words(changes, marks, begin, end, listed, entries)]

    workers.run(take)
    return np.concatenate(found)


@hot_kernel
def _count_marks(marks, first, last):
    """Count the places that workers have marked in rows ``first`` to ``last`` - 1."""
    found = 0
    for n in range(first, last):
        for i in range(marks.shape[2]):
            bits = np.uint64(0)
            for worker in range(marks.shape[0]):
                bits |= marks[worker, n, i]
            while bits != np.uint64(0):
                bits &= bits - np.uint64(1)
                found += 1
    return found


@hot_kernel
def _take_words(changes, marks, first, last, listed, entries):
    n_topics = changes.words.shape[2]
    used = 0
    for w in range(first, last):
        row = index(w)
        for j in range(read_word(changes, marks, row, listed)):
            entries[used, 0] = w
            for column in range(3):
                entries[used, 1 + column] = listed[column, j]
            used += 1
        tables = 0
        for i in range(index(changes.background_tables.shape[0])):
            tables += changes.background_tables[i, row]
            changes.background_tables[i, row] = 0
        if tables != 0:
            entries[used, 0] = w
            entries[used, 1] = n_topics
            entries[used, 3] = tables
            used += 1
    return used


@hot_kernel
def put_word_changes(
    changes: Changes,
    marks: Marks,
    word: np.ndarray,
    topic: np.ndarray,
    customers: np.ndarray,
    tables: np.ndarray,
) -> None:
    """Add entries, given by column, to the changes of words."""
    n_topics = changes.words.shape[2]
    for i in range(word.shape[0]):
        w, k = index(word[i]), np.int64(topic[i])
        if k == n_topics:
            changes.background_tables[0, w] += tables[i]
        else:
            changes.words[0, w, index(k), 0] += customers[i]
            changes.words[0, w, index(k), 1] += tables[i]
            mark(marks.words[0], w, k)


def take_node_changes(changes: Changes, marks: Marks, begin: int, end: int) -> np.ndarray:
    """Remove and return the rows of nodes ``begin`` to ``end`` - 1: int32 [entries, 4]."""
    entries = np.zeros((_count_marks(marks.nodes, begin, end), 4), np.int32)
    _take_nodes(changes, marks, begin, end, entries)
    return entries


@hot_kernel
def _take_nodes(changes, marks, begin, end, entries):
    used = 0
    for n in range(begin, end):
        row = index(n)
        for i in range(marks.nodes.shape[2]):
            bits = take_marks(marks.nodes, row, index(i))
            while bits != np.uint64(0):
                topic = 64 * i + lowest_bit(bits)
                bits &= bits - np.uint64(1)
                k = index(topic)
                entries[used, 0] = n
                entries[used, 1] = topic
                for worker in range(index(changes.node_customers.shape[0])):
                    entries[used, 2] += changes.node_customers[worker, row, k]
                    entries[used, 3] += changes.node_tables[worker, row, k]
                    changes.node_customers[worker, row, k] = 0
                    changes.node_tables[worker, row, k] = 0
                used += 1


@hot_kernel
def put_node_changes(changes: Changes, marks: Marks, entries: np.ndarray) -> None:
    """Add entries to the rows of changes of nodes."""
    for i in range(entries.shape[0]):
        n, topic = index(entries[i, 0]), np.int64(entries[i, 1])
        k = index(topic)
        changes.node_customers[0, n, k] += entries[i, 2]
        changes.node_tables[0, n, k] += entries[i, 3]
        mark(marks.nodes[0], n, topic)
