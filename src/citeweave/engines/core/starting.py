"""Counts for tokens with given topics: for a start, or from a model with fewer levels."""

import numpy as np

from citeweave.compiled import hot_kernel
from citeweave.engines.core.arrays import Array, Layout, State, TopicCounts
from citeweave.engines.core.seating import DocumentSeats, seat_words
from citeweave.engines.core.setting_up import new_shape
from citeweave.engines.core.spec import ModelSpec

__all__ = ["add_bursts", "place_tokens", "start_at", "with_bursts"]


def start_at(spec: ModelSpec, layout: Layout, state: State, topics: Array) -> None:
    """Fill a new state with the counts of tokens at the given topics.

    A topic has one table in each restaurant of the topic side that serves it; words are seated one
    after the other. If words choose their author, those of a document take its authors in turn.

    Parameters
    ----------
    spec : ModelSpec
    layout : Layout
    state : State
        As created by `new_state`; changed in place.
    topics : ndarray of int, shape (tokens,)
        In the order of ``layout.word``.
    """
    place_tokens(layout, state, topics)
    lengths = np.diff(layout.document_start)
    leaf = np.repeat(layout.leaf_start[:-1], lengths)
    if len(state.assignments.path):
        leaf = leaf + state.assignments.path
    _add_customers(layout, state.topics, layout.leaf[leaf], state.assignments.topic)
    _seat(spec, layout, state)


def place_tokens(layout: Layout, state: State, topics: Array) -> None:
    """Assign topics to tokens; if words choose their author, they take the authors in turn."""
    assignments = state.assignments
    assignments.topic[:] = topics
    if len(assignments.path):
        lengths = np.diff(layout.document_start)
        within = np.arange(len(topics)) - np.repeat(layout.document_start[:-1], lengths)
        assignments.path[:] = within % np.repeat(np.diff(layout.leaf_start), lengths)


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


def add_bursts(spec: ModelSpec, state: State, *, concentration: float) -> State:
    """Return the state of a model with phi' that continues that of the model without it.

    Every token has a table of its own at phi'. All counts therefore stay, and the next sweep seats
    the tokens. Nothing is drawn, so each part of a chain can do this by itself.

    Parameters
    ----------
    spec : ModelSpec
        The model with its document-topic level.
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
    tables = np.ones(len(state.assignments.topic), np.uint8)
    return state._replace(
        assignments=state.assignments._replace(burst_table=tables),
        parameters=state.parameters._replace(
            word_discount=discounts, word_concentration=concentrations
        ),
    )


def with_bursts(spec: ModelSpec, layout: Layout, state: State, *, concentration: float) -> State:
    """Do the same as `add_bursts`, and seat all words again, one after the other.

    Topics, citations and all counts of the topic side stay. ``layout`` is the same for both models.
    """
    joined = add_bursts(spec, state, concentration=concentration)
    for counts in joined.words:
        counts[...] = 0
    _seat(spec, layout, joined)
    return joined


def _seat(spec: ModelSpec, layout: Layout, state: State) -> None:
    """Seat all words at the topics of their tokens; counts must be zero."""
    topics = state.words.customers.shape[1]
    document = DocumentSeats(*(np.zeros(topics, np.int32) for _ in DocumentSeats._fields))
    seat_words(new_shape(spec), layout, state, document)
