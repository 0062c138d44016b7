"""After workers are done: their changes are added to the snapshot, and tables made valid again.

Customers come out right by themselves, since every document knows its own tables: the customers of
phi_k at a word are the tables of all documents there. Table counts need not: two documents may each
have closed a table and left the only one of others, which neither saw. The rule: from the lowest
shared level up, customers are the sum of the tables below, and tables are moved into the range
[1, customers] (0 where there are none) by as little as needed.
"""

from collections.abc import Sequence

import numpy as np

from citeweave.parallel.world import Changes
from citeweave.sampler._compile import hot_kernel, inlined

__all__ = ["add_changes", "repair_documents", "repair_nodes", "repair_words"]


def add_changes(into: Changes, others: Sequence[Changes]) -> None:
    """Add the changes of all workers to those of the first, and set the others to zero."""
    for other in others:
        for total, change in zip(into, other, strict=True):
            np.add(total, change, out=total)
            change[...] = 0


@inlined
def _valid(customers, tables):
    """Give the number of tables in range that is nearest."""
    if customers <= 0:
        return 0
    return min(max(tables, 1), customers)


@hot_kernel
def repair_documents(layout, counts, level, changes):
    """Put tables of the documents' nodes on one level into range, and tell their parents.

    What a repair changes of the parent's customers is added to ``changes.node_customers``.
    """
    n_topics = counts.customers.shape[1]
    repaired = 0
    for n in range(layout.level_start[level], layout.level_start[level + 1]):
        for k in range(n_topics):
            tables = _valid(counts.customers[n, k], counts.tables[n, k])
            moved = tables - counts.tables[n, k]
            if moved != 0:
                repaired += 1
                counts.tables[n, k] = tables
                counts.total_tables[n] += moved
                changes.node_customers[layout.parent[n], k] += moved
    return repaired


@hot_kernel
def repair_nodes(layout, counts, n_shared, changes):
    """Add changes to the nodes above documents, lowest level first; returns tables repaired.

    ``changes`` are zero afterwards.
    """
    n_topics = counts.customers.shape[1]
    repaired = 0
    for level in range(n_shared - 1, -1, -1):
        for n in range(layout.level_start[level], layout.level_start[level + 1]):
            customers_total = 0
            tables_total = 0
            for k in range(n_topics):
                customers = counts.customers[n, k] + changes.node_customers[n, k]
                wanted = counts.tables[n, k] + changes.node_tables[n, k]
                if level == 0:  # the root: a topic's table stands while anybody sits there
                    tables = 1 if customers > 0 else 0
                else:
                    tables = _valid(customers, wanted)
                    if tables != wanted:
                        repaired += 1
                        changes.node_customers[layout.parent[n], k] += tables - wanted
                counts.customers[n, k] = customers
                counts.tables[n, k] = tables
                customers_total += customers
                tables_total += tables
                changes.node_customers[n, k] = 0
                changes.node_tables[n, k] = 0
            counts.total_customers[n] = customers_total
            counts.total_tables[n] = tables_total
    return repaired


@hot_kernel
def repair_words(shape, words, changes):
    """Add changes to phi and gamma; returns tables repaired. ``changes`` are zero afterwards."""
    n_words, n_topics = words.customers.shape
    repaired = 0
    words.total_customers[:] = 0
    words.total_tables[:] = 0
    words.background_totals[:] = 0
    for w in range(n_words):
        below = 0
        for k in range(n_topics):
            customers = words.customers[w, k] + changes.words[w, k, 0]
            wanted = words.tables[w, k] + changes.words[w, k, 1]
            tables = _valid(customers, wanted)
            repaired += 1 if tables != wanted else 0
            words.customers[w, k] = customers
            words.tables[w, k] = tables
            words.total_customers[k] += customers
            words.total_tables[k] += tables
            below += tables
            changes.words[w, k, 0] = 0
            changes.words[w, k, 1] = 0
        if len(shape.background) > 0:
            wanted = words.background_tables[w] + changes.background_tables[w]
            tables = _valid(below, wanted)
            repaired += 1 if tables != wanted else 0
            words.background_customers[w] = below
            words.background_tables[w] = tables
            words.background_totals[0] += below
            words.background_totals[1] += tables
            changes.background_tables[w] = 0
    return repaired
