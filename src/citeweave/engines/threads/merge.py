"""Merge the changes of all workers into the snapshot, and repair table counts.

Customers are always right, because every document knows its own tables: the customers of phi_k at a
word are the tables of all documents there. Table counts may not be: two documents may each have
closed a table, unaware that the other's was the only one left. The rule: from the lowest shared
level up, customers are the sum of the tables below, and tables are moved into the range [1,
customers] (0 where there are none) by as little as needed.

Changes have one entry more than in `world`, the worker, in front. Workers share the rows of a level
between them, each a range, and note what they do to the level above as changes of their own.
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
    """Return the number of tables in range that is nearest."""
    if customers <= 0:
        return 0
    return min(max(tables, 1), customers)


@inlined
def merge_entry(parent, counts, changes, n, k, worker):
    """Add all workers' changes of one topic to a shared node, and put its tables into range.

    Its changes are zero afterwards. What a repair does to the parent is noted as a change of
    ``worker``. The root has number 0. Returns customers, tables and whether these were repaired.
    """
    customers, wanted = pair_at(counts.customers, counts.tables, n, k)
    for i in range(index(changes.node_customers.shape[0])):
        customers += changes.node_customers[i, n, k]
        wanted += changes.node_tables[i, n, k]
        changes.node_customers[i, n, k] = 0
        changes.node_tables[i, n, k] = 0
    repaired = False
    if n == 0:  # a topic's table stands while anybody sits there
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
    """Add changes to the shared nodes ``begin`` to ``end`` - 1; returns tables repaired.

    Changes of these nodes are zero afterwards.
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
    """Give phi_k new counts at a word, its tables put into range, and update its weights there.

    Returns how many tables it has.
    """
    held = valid_tables(customers, wanted)
    words.customers[w, k] = customers
    words.tables[w, k] = held
    cache.stay[w, k], cache.open[w, k] = weight_pair(tables.topic_word, customers, held)
    return held


@inlined
def take_background(words, changes, w):
    """Return the tables that gamma would have at a word by all changes, which are zero then."""
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
    these words, and gamma's last. Returns tables repaired; changes are zero afterwards.
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
    """Update the normalisers of every phi_k, which are a part of ``refresh_word_cache``."""
    beta = parameters.topic_word_concentration
    n_topics = len(beta)
    inverse = 1.0 / (beta + words.total_customers)
    cache.inverse[:n_topics] = inverse
    cache.opening[:n_topics] = (beta + parameters.word_discount[1] * words.total_tables) * inverse


def finish_words(words: WordCounts, totals: np.ndarray) -> None:
    """Set the totals of phi and gamma from those of all workers."""
    customers, tables = totals.sum(axis=0)
    words.total_customers[:], words.background_totals[0] = customers[:-1], customers[-1]
    words.total_tables[:], words.background_totals[1] = tables[:-1], tables[-1]


@inlined
def give_up(layout, state, node_customers, tell, room):
    """Let papers that have lost tables which are held lose them for good; returns how many.

    Their authors who do not serve them now give them up, in order. ``node_customers`` are changes
    of shared nodes; ``tell(room, node, topic)`` is called for each node that is changed.
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
    """Do nothing: rows are merged whole."""


@hot_kernel
def give_up_tables(layout, state, node_customers):
    """Like `give_up`."""
    return give_up(layout, state, node_customers, _tell_nobody, 0)


@inlined
def _add_move(counts, node, record, e, end):
    """Add what one citation did at one of its ends; a record is described in `citations`."""
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
    """Put tables of the topics that a citation moved into range, and tell the parent."""
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
    """Note customers that a node gains, as ``add_moves_telling`` asks."""
    changes, worker = room
    changes.node_customers[worker, node, topic] += customers


@inlined
def add_moves_telling(layout, counts, lists, record, tell, room, turn, begin, end):
    """Add what citations did to documents ``begin`` to ``end`` - 1; returns tables repaired.

    ``lists`` are the citations that each document makes (where they begin) and receives (where they
    begin in a list of citations); ``turn`` is the round, how many there are, and the numbers of
    documents in the whole corpus: citations count whose citing document moved in this round.
    ``tell(room, parent, topic, customers)`` is called where tables had to be put into range.
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
    """Do as ``add_moves_telling``; what parents gain is noted among the changes of ``worker``."""
    room = (changes, worker)
    return add_moves_telling(layout, counts, lists, record, _tell_parent, room, turn, begin, end)
