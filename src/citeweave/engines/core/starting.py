"""Counts for tokens with given topics: for a start, or from a model with fewer levels."""

import numpy as np

from citeweave.compiled import hot_kernel
from citeweave.engines.core.arrays import Array, Layout, State, TopicCounts
from citeweave.engines.core.seating import DocumentSeats, seat_words
from citeweave.engines.core.setting_up import new_shape
from citeweave.engines.core.spec import ModelSpec

__all__ = ["start_at", "with_bursts"]


def start_at(spec: ModelSpec, layout: Layout, state: State, topics: Array) -> None:
    """Fill a new state with the counts of tokens at the given topics.

    A topic has one table in each restaurant of the topic side that serves it, as after the random
    start on a GPU; words are seated one after the other. If words choose their author, those of a
    document take its authors in turn.

    Parameters
    ----------
    spec : ModelSpec
    layout : Layout
    state : State
        As created by `new_state`; changed in place.
    topics : ndarray of int, shape (tokens,)
        In the order of ``layout.word``.
    """
    counts, assignments = state.topics, state.assignments
    assignments.topic[:] = topics
    lengths = np.diff(layout.document_start)
    document = np.repeat(np.arange(len(lengths)), lengths)
    leaf = layout.leaf_start[document]
    if len(assignments.path):
        within = np.arange(len(document)) - layout.document_start[document]
        assignments.path[:] = within % np.diff(layout.leaf_start)[document]
        leaf = leaf + assignments.path
    _add_customers(layout, counts, layout.leaf[leaf], assignments.topic)
    _seat(spec, layout, state)


def _add_customers(layout: Layout, counts: TopicCounts, node: Array, topic: Array) -> None:
    """Add customers of nodes and topics to zero counts, with one table per topic.

    Levels are processed from the lowest up; the tables of each are customers of the level above.
    """
    n_topics, starts = counts.customers.shape[1], layout.level_start
    customer = node.astype(np.int64) * n_topics + topic  # node and topic encoded as one number
    for level in range(len(starts) - 2, -1, -1):
        here = customer >= starts[level] * n_topics
        entry, number = np.unique(customer[here], return_counts=True)
        nodes, topics = np.divmod(entry, n_topics)
        set_counts(counts.customers, counts.tables, nodes, topics, number)
        np.add.at(counts.total_customers, nodes, number)
        np.add.at(counts.total_tables, nodes, 1)
        above = layout.parent[nodes].astype(np.int64) * n_topics + topics
        customer = np.concatenate([customer[~here], above])


@hot_kernel
def set_counts(customers, tables, nodes, topics, number):
    """Set the customers of nodes and topics, which have one table each."""
    for i in range(nodes.shape[0]):
        customers[nodes[i], topics[i]] = number[i]
        tables[nodes[i], topics[i]] = 1


def with_bursts(spec: ModelSpec, layout: Layout, state: State, *, concentration: float) -> State:
    """Return the state of a model with phi' that continues that of the model without it.

    Topics, citations and all counts of the topic side stay; words are seated again at their topics.

    Parameters
    ----------
    spec : ModelSpec
        The model with its document-topic level.
    layout : Layout
        The same for both.
    state : State
        State of the model without that level; its arrays become part of the new state.
    concentration : float
        Initial value of that level's concentration.
    """
    level = spec.word_level("document-topic")
    discounts = state.parameters.word_discount.copy()
    discounts[2] = level.discount if level else 0.0
    # the value that an engine keeps there for a model without the level has no meaning
    concentrations = np.array([state.parameters.word_concentration[0], concentration])
    joined = state._replace(
        assignments=state.assignments._replace(burst_table=np.zeros(len(layout.word), np.uint8)),
        parameters=state.parameters._replace(
            word_discount=discounts, word_concentration=concentrations
        ),
    )
    for counts in joined.words:
        counts[...] = 0
    _seat(spec, layout, joined)
    return joined


def _seat(spec: ModelSpec, layout: Layout, state: State) -> None:
    """Seat all words at the topics of their tokens; counts must be zero."""
    topics = state.words.customers.shape[1]
    document = DocumentSeats(*(np.zeros(topics, np.int32) for _ in DocumentSeats._fields))
    seat_words(new_shape(spec), layout, state, document)
