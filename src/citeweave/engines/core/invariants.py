"""Checks of a state's invariants: each count is rebuilt from assignments and tables, in NumPy."""

import numpy as np

from citeweave.engines.core.arrays import Array, Layout, State
from citeweave.engines.core.count_lists import dense_counts
from citeweave.engines.core.spec import ModelSpec

__all__ = ["check_state"]


def check_state(spec: ModelSpec, layout: Layout, state: State) -> None:
    """Raise AssertionError naming the first count that differs from the sum of its children.

    A parent's customers are its children's tables; the lowest levels' customers are the tokens and,
    on the level they reach, the citations, including sampled ones; 1 <= t <= c wherever c > 0.
    """
    _check_topics(spec, layout, state)
    _check_words(spec, layout, state)


def _expect(name: str, actual: Array, expected: Array) -> None:
    if not np.array_equal(actual, expected):
        where = np.argwhere(np.asarray(actual) != np.asarray(expected))[0]
        raise AssertionError(
            f"{name} at {tuple(int(i) for i in where)} is {actual[tuple(where)]}, "
            f"but assignments give {expected[tuple(where)]}."
        )


def _expect_tables(name: str, customers: Array, tables: Array) -> None:
    """Check that tables exist exactly where customers do, and never outnumber them."""
    _expect(f"{name}: occupied tables", tables > 0, customers > 0)
    _expect(f"{name}: tables within customers", tables <= customers, np.ones_like(tables, bool))


def _check_topics(spec: ModelSpec, layout: Layout, state: State) -> None:
    counts = dense_counts(state.topics)
    assignments = state.assignments
    n_topics = counts.customers.shape[1]
    document = np.repeat(np.arange(len(layout.document_start) - 1), np.diff(layout.document_start))
    path = assignments.path if len(assignments.path) else np.zeros(len(document), np.int64)
    leaf = layout.leaf[layout.leaf_start[document] + path]
    customers = np.zeros_like(counts.customers)
    np.add.at(customers, (leaf, assignments.topic), 1)
    if spec.citations is not None and state.clock[1]:
        for ends in (layout.citing, layout.cited):
            np.add.at(customers, (layout.citation_node + ends, assignments.citing_topic), 1)
        document, place = np.nonzero(assignments.self_topic >= 0)  # both ends are at the same paper
        own = assignments.self_topic[document, place]
        np.add.at(customers, (layout.citation_node + document, own), 2)
    if len(assignments.category):
        papers = slice(layout.level_start[2], layout.level_start[3])
        expected = layout.level_start[1] + assignments.category
        _expect("parents of papers", layout.parent[papers], expected)
    below = slice(layout.level_start[1], None)
    np.add.at(customers, layout.parent[below], counts.tables[below])
    if len(layout.server):
        _check_servers(spec, layout, state, customers)
    _expect("topic-side customers", counts.customers, customers)
    _expect_tables("topic side", counts.customers, counts.tables)
    _expect("tables of mu", counts.tables[0], np.minimum(counts.customers[0], 1))
    _expect("total customers", counts.total_customers, counts.customers.sum(axis=1))
    _expect("total tables", counts.total_tables, counts.tables.sum(axis=1))
    if n_topics and len(assignments.topic):
        _expect("topics in range", assignments.topic < n_topics, assignments.topic >= 0)


def _check_servers(spec: ModelSpec, layout: Layout, state: State, customers: Array) -> None:
    """Check the held tables of shared papers, and count them at the authors who serve them."""
    counts, assignments = dense_counts(state.topics), state.assignments
    first = layout.level_start[spec.n_shared]
    lengths = np.diff(layout.server_start)
    paper = np.repeat(np.arange(len(lengths)), lengths)
    now = assignments.server[paper] == np.arange(len(paper))
    shared = first + np.flatnonzero(lengths)
    _expect("parents of shared papers", layout.parent[first + paper[now]], layout.server[now])
    held = np.zeros_like(counts.held)
    np.add.at(held, first + paper[~now], assignments.served[~now])
    _expect("tables held", counts.held, held)
    _expect("held within tables", held[shared] <= counts.tables[shared], held[shared] >= 0)
    np.add.at(customers, layout.server[~now], assignments.served[~now])
    np.subtract.at(customers, layout.parent[shared], held[shared])


def _check_words(spec: ModelSpec, layout: Layout, state: State) -> None:
    words = state.words
    assignments = state.assignments
    burst = spec.word_level("document-topic") is not None
    customers = np.zeros_like(words.customers)
    passed = assignments.burst_table if burst else np.ones(len(layout.word), np.int64)
    np.add.at(customers, (layout.word, assignments.topic), passed)
    _expect("customers of phi", words.customers, customers)
    if burst:
        tokens = np.zeros_like(words.customers)
        np.add.at(tokens, (layout.word, assignments.topic), 1)
        _expect("bursts reach phi", words.customers > 0, tokens > 0)
    _expect_tables("phi", words.customers, words.tables)
    _expect("total customers of phi", words.total_customers, words.customers.sum(axis=0))
    _expect("total tables of phi", words.total_tables, words.tables.sum(axis=0))
    if spec.word_level("corpus") is not None:
        _expect("customers of gamma", words.background_customers, words.tables.sum(axis=1))
        _expect_tables("gamma", words.background_customers, words.background_tables)
        totals = np.array([words.background_customers.sum(), words.background_tables.sum()])
        _expect("totals of gamma", words.background_totals, totals)
