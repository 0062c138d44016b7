"""Merge the changes of all workers into the snapshot, and repair table counts.

Customer counts are always correct, because every document knows its own tables: the customers of
phi_k at a word are the tables of all documents there. Table counts may be wrong: two documents may
each have closed a table, unaware that the other's was the only one left. The repair rule: from the
lowest shared level up, customers are the sum of the tables below, and tables are clipped to the
range [1, customers] (0 if there are no customers).

Changes have the worker as an additional first axis, compared with `world`. Each worker merges a
range of the rows of a level and records its effects on the level above in its own changes.
"""

import numpy as np

from citeweave.compiled import hot_kernel, index, inlined
from citeweave.engines.core.arrays import Parameters, WordCounts
from citeweave.engines.core.row_places import pair_at, set_pair
from citeweave.engines.core.stirling import weight_pair
from citeweave.engines.core.word_side import WordCache

__all__ = [
    "add_moves",
    "add_moves_telling",
    "finish_words",
    "give_up",
    "give_up_tables",
    "merge_entry",
    "merge_nodes",
    "merge_words",
    "refresh_topics",
    "set_background",
    "set_word",
    "take_background",
    "valid_tables",
]


@inlined
def valid_tables(customers, tables):
    """Return the valid number of tables that is nearest to ``tables``."""
    if customers <= 0:
        return 0
    return min(max(tables, 1), customers)


@inlined
def merge_entry(parent, counts, changes, n, k, worker):
    """Add all workers' changes of one topic to a shared node, and bring its tables into range.

    The changes are reset to zero. The effect of a repair on the parent is recorded in the changes
    of ``worker``. The root has number 0. Returns customers, tables and whether tables were
    repaired.
    """
    customers, wanted = pair_at(counts.customers, counts.tables, n, k)
    for i in range(index(changes.node_customers.shape[0])):
        customers += changes.node_customers[i, n, k]
        wanted += changes.node_tables[i, n, k]
        changes.node_customers[i, n, k] = 0
        changes.node_tables[i, n, k] = 0
    repaired = False
    if n == 0:  # a topic has one table as long as it has customers
        tables = 1 if customers > 0 else 0
    else:
        tables = valid_tables(customers, wanted)
        if tables != wanted:
            repaired = True
            changes.node_customers[worker, parent[n], k] += tables - wanted
    set_pair(counts.customers, counts.tables, n, k, customers, tables)
    return customers, tables, repaired


@hot_kernel
def merge_nodes(parent, counts, changes, begin, end, worker):
    """Add changes to the shared nodes ``begin`` to ``end`` - 1; return the number of repairs.

    The changes of these nodes are reset to zero.
    """
    n_topics = counts.customers.shape[1]
    repaired = 0
    for n in range(begin, end):
        customers_total = 0
        tables_total = 0
        for k in range(n_topics):
            customers, tables, moved = merge_entry(
                parent, counts, changes, index(n), index(k), worker
            )
            repaired += 1 if moved else 0
            customers_total += customers
            tables_total += tables
        counts.total_customers[n] = customers_total
        counts.total_tables[n] = tables_total
    return repaired


@inlined
def set_word(tables, words, cache, w, k, customers, wanted):
    """Set the counts of phi_k at a word, with tables in range, and update its weights there.

    Returns the number of tables.
    """
    held = valid_tables(customers, wanted)
    words.customers[w, k] = customers
    words.tables[w, k] = held
    cache.stay[w, k], cache.open[w, k] = weight_pair(tables.topic_word, customers, held)
    return held


@inlined
def take_background(words, changes, w):
    """Return gamma's tables at a word after all changes, and reset these changes to zero."""
    wanted = words.background_tables[w]
    for i in range(index(changes.background_tables.shape[0])):
        wanted += changes.background_tables[i, w]
        changes.background_tables[i, w] = 0
    return wanted


@inlined
def set_background(tables, words, cache, w, customers, wanted):
    """Like `set_word` for gamma."""
    held = valid_tables(customers, wanted)
    words.background_customers[w] = customers
    words.background_tables[w] = held
    cache.background_stay[w], cache.background_open[w] = weight_pair(
        tables.background, customers, held
    )
    return held


@hot_kernel
def merge_words(shape, tables, words, cache, changes, totals, begin, end, worker):
    """Add changes to phi and gamma at words ``begin`` to ``end`` - 1, and update their weights.

    ``totals`` (int64 [workers, 2, topics + 1]) receives the customers and tables of each phi_k at
    these words, then those of gamma. Returns the number of repaired tables. The changes are reset
    to zero.
    """
    n_topics = words.customers.shape[1]
    n_workers = changes.words.shape[0]
    repaired = 0
    totals[worker] = 0
    for w in range(begin, end):
        below = 0
        for k in range(n_topics):
            customers = words.customers[w, k]
            wanted = words.tables[w, k]
            moved = False
            for i in range(n_workers):
                if changes.words[i, w, k, 0] != 0 or changes.words[i, w, k, 1] != 0:
                    customers += changes.words[i, w, k, 0]
                    wanted += changes.words[i, w, k, 1]
                    changes.words[i, w, k, 0] = 0
                    changes.words[i, w, k, 1] = 0
                    moved = True
            held = wanted
            if moved:
                held = set_word(tables, words, cache, w, k, customers, wanted)
                repaired += 1 if held != wanted else 0
            totals[worker, 0, k] += customers
            totals[worker, 1, k] += held
            below += held
        if shape.background > 0:
            wanted = take_background(words, changes, w)
            held = set_background(tables, words, cache, w, below, wanted)
            repaired += 1 if held != wanted else 0
            totals[worker, 0, n_topics] += below
            totals[worker, 1, n_topics] += held
    return repaired


def refresh_topics(words: WordCounts, parameters: Parameters, cache: WordCache) -> None:
    """Update the normalisers of every phi_k, as a part of ``refresh_word_cache``."""
    beta = parameters.topic_word_concentration
    n_topics = len(beta)
    inverse = 1.0 / (beta + words.total_customers)
    cache.inverse[:n_topics] = inverse
    cache.opening[:n_topics] = (beta + parameters.word_discount[1] * words.total_tables) * inverse


def finish_words(words: WordCounts, totals: np.ndarray) -> None:
    """Set the totals of phi and gamma from the workers' totals."""
    customers, tables = totals.sum(axis=0)
    words.total_customers[:], words.background_totals[0] = customers[:-1], customers[-1]
    words.total_tables[:], words.background_totals[1] = tables[:-1], tables[-1]


@inlined
def give_up(layout, state, node_customers, tell, room):
    """Release held tables that papers have lost; return the number of tables.

    Authors who do not currently serve such tables give them up, in order. ``node_customers`` holds
    changes of shared nodes; ``tell(room, node, topic)`` is called for each changed node.
    """
    counts, served, server = state.topics, state.assignments.served, state.assignments.server
    given = 0
    for d in range(layout.server_start.shape[0] - 1):
        if server[d] < 0:
            continue
        n, now = index(layout.citation_node + d), layout.server[server[d]]
        for k in range(index(counts.tables.shape[1])):
            if counts.held[n, k] == 0:
                continue
            for a in range(layout.server_start[d], layout.server_start[d + 1]):
                while counts.tables[n, k] < counts.held[n, k] and a != server[d] and served[a, k]:
                    served[a, k] -= 1
                    counts.held[n, k] -= 1
                    node_customers[layout.server[a], k] -= 1
                    node_customers[now, k] += 1
                    tell(room, layout.server[a], k)
                    tell(room, now, k)
                    given += 1
    return given


@inlined
def _tell_nobody(room, node, topic):
    """Do nothing, because whole rows are merged."""


@hot_kernel
def give_up_tables(layout, state, node_customers):
    """Like `give_up`."""
    return give_up(layout, state, node_customers, _tell_nobody, 0)


@inlined
def _add_move(counts, node, record, e, end):
    """Add the changes of one citation at one end; `citations` describes the record."""
    for which in range(2):
        k = index(record[e, which])
        customers = record[e, 2 + 2 * end + which]
        tables = record[e, 6 + 2 * end + which]
        if customers == 0 and tables == 0:
            continue
        before = pair_at(counts.customers, counts.tables, node, k)
        now = (before[0] + customers, before[1] + tables)
        set_pair(counts.customers, counts.tables, node, k, now[0], now[1])
        counts.total_customers[node] += customers
        counts.total_tables[node] += tables


@inlined
def _repair_move(counts, tell, room, parent, node, record, e):
    """Bring the tables of a citation's old and new topic into range, and notify the parent."""
    repaired = 0
    for which in range(2):
        k = index(record[e, which])
        customers, tables = pair_at(counts.customers, counts.tables, node, k)
        moved = valid_tables(customers, tables) - tables
        if moved != 0:
            repaired += 1
            counts.tables[node, k] += moved
            counts.total_tables[node] += moved
            tell(room, parent, k, moved)
    return repaired


@inlined
def _tell_parent(room, node, topic, customers):
    """Record customers that a node gains; a callback of ``add_moves_telling``."""
    changes, worker = room
    changes.node_customers[worker, node, topic] += customers


@inlined
def add_moves_telling(layout, counts, lists, record, tell, room, turn, begin, end):
    """Add citations' changes to documents ``begin`` to ``end`` - 1; return the number of repairs.

    ``lists`` holds the start of the citations that each document makes, the start of those that it
    receives in a list of citations, and that list. ``turn`` holds the round, the number of rounds,
    and the numbers of documents in the whole corpus: only citations whose citing document moved in
    this round count. ``tell(room, parent, topic, customers)`` is called if tables had to be
    repaired.
    """
    made, start, received = lists
    round_, rounds, number = turn
    repaired = 0
    for d in range(begin, end):
        node = index(layout.citation_node + d)
        parent = layout.parent[node]
        own = number[d] % rounds == round_
        if own:
            for e in range(made[d], made[d + 1]):
                _add_move(counts, node, record, e, 0)
        for j in range(start[d], start[d + 1]):
            e = received[j]
            if rounds == 1 or number[layout.citing[e]] % rounds == round_:
                _add_move(counts, node, record, e, 1)
        if own:
            for e in range(made[d], made[d + 1]):
                repaired += _repair_move(counts, tell, room, parent, node, record, e)
        for j in range(start[d], start[d + 1]):
            e = received[j]
            if rounds == 1 or number[layout.citing[e]] % rounds == round_:
                repaired += _repair_move(counts, tell, room, parent, node, record, e)
    return repaired


@hot_kernel
def add_moves(layout, counts, lists, record, changes, turn, begin, end, worker):
    """Like ``add_moves_telling``, with parents' gains recorded in the changes of ``worker``."""
    room = (changes, worker)
    return add_moves_telling(layout, counts, lists, record, _tell_parent, room, turn, begin, end)
