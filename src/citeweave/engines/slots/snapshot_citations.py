"""The snapshot sweep of citations over the topics of papers; `parallel.citations` has it over all.

The unit is the citing document, as there: it moves its citations by the kernel of the sequential
sweep, in rows of its own that hold the nodes of both ends. Rows are empty between documents, and a
node fills and empties the topics that it has. Rows of shared nodes stay for a whole round where
memory allows, and so do the sums of `rates`: what a document changed of them is put back after it.
"""

from typing import NamedTuple

import numpy as np

from citeweave.compiled import hot_kernel, index, inlined
from citeweave.engines.core.arrays import TopicCounts
from citeweave.engines.slots.citations import (
    CitationWork,
    ask_bits,
    new_citation_work,
    sweep_opened,
)
from citeweave.engines.slots.presence import lowest_bit, new_presence, note_presence
from citeweave.engines.slots.rates import RateSums, new_rates
from citeweave.engines.slots.touched import busy_words
from citeweave.engines.slots.wide import (
    Wide,
    add_wide,
    choose_wide,
    copy_wide,
    new_wide,
    node_level,
    restore_wide,
    sum_wide,
)
from citeweave.engines.threads.citations import Near, Own, Rates, Topics
from citeweave.engines.threads.streams import CITATIONS, open_stream
from citeweave.engines.threads.world import Changes, new_counts

__all__ = ["Neighbourhood", "new_neighbourhood", "note_moved_documents", "sweep_citing"]

_WIDTH = 64
_MOST_BYTES = 1 << 31
"""Largest room for rows that stay, of all workers together."""


class Weights(NamedTuple):
    """What ``sweep_opened`` reads and writes of an `Exponent`."""

    cite_weight: np.ndarray
    cited_weight: np.ndarray


class Neighbourhood(NamedTuple):
    """What one worker writes to: the nodes above a document and all that it cites."""

    topics: TopicCounts
    presence: np.ndarray
    """uint64 [rows, words of 64 topics]."""
    parent: np.ndarray
    concentration: np.ndarray
    weights: Weights
    work: CitationWork
    rates: RateSums
    base: RateSums
    """What ``rates`` are before a document moves."""
    base_wide: Wide
    """What wide nodes are then."""
    citing: np.ndarray
    cited: np.ndarray
    topic: np.ndarray
    node: np.ndarray
    """int32: nodes, numbered as in the whole tree, by their place here."""
    place: np.ndarray
    """int32 [nodes of the whole tree]: their place here, -1 for none."""
    random: np.ndarray
    changes: Changes
    """Those of the same worker's world."""
    marks: np.ndarray
    """uint64 [shared nodes, words of 64 topics]: where ``changes`` of nodes may not be zero."""
    rows: np.ndarray
    """int64 [3]: rows for nodes that stay, how many of them do, and of others after them."""
    tally: np.ndarray
    """int64 [6]: as that of ``citation_sweep``."""


def new_neighbourhood(chain, most_cited: int, changes: Changes, marks: np.ndarray) -> Neighbourhood:
    """Make room for one worker; ``most_cited`` is the longest list of citations."""
    n_levels = len(chain.spec.topic_side)
    topics = chain.settings.topics
    n_nodes = len(chain.layout.parent)
    n_shared = len(marks)
    staying = min(n_shared, max(_MOST_BYTES // (8 * topics * getattr(chain, "threads", 1)), 1))
    rows = staying + (most_cited + 1) * n_levels
    return Neighbourhood(
        topics=new_counts(rows, topics),
        presence=new_presence(rows, topics),
        parent=np.zeros(rows, np.int32),
        concentration=np.zeros(rows),
        weights=Weights(np.zeros(rows), np.zeros(rows)),
        work=new_citation_work(topics, n_levels, most_cited),
        rates=new_rates(topics),
        base=new_rates(topics),
        base_wide=new_wide(topics),
        citing=np.zeros(most_cited, np.int32),
        cited=np.zeros(most_cited, np.int32),
        topic=np.zeros(most_cited, np.int16),
        node=np.zeros(rows, np.int32),
        place=np.full(n_nodes, -1, np.int32),
        random=np.zeros(4, np.uint64),
        changes=changes,
        marks=marks,
        rows=np.array([staying, 0, 0]),
        tally=np.zeros(6, np.int64),
    )


@inlined
def _copy_totals(state, exponent, here, place, node):
    """Give a row the totals and weights that its node has in the snapshot."""
    counts = state.topics
    here.topics.total_customers[place] = counts.total_customers[node]
    here.topics.total_tables[place] = counts.total_tables[node]
    here.weights.cite_weight[place] = exponent.cite_weight[node]
    here.weights.cited_weight[place] = exponent.cited_weight[node]


@inlined
def _fill_row(state, exponent, presence, here, place, node):
    """Copy a node into a row that is empty."""
    counts = state.topics
    i, n = index(place), index(node)
    here.place[n] = place
    here.node[i] = node
    here.concentration[i] = state.parameters.topic_concentration[n]
    _copy_totals(state, exponent, here, i, n)
    for j in range(index(presence.shape[1])):
        here.presence[i, j] = presence[n, j]
    word = here.work.touched.word
    for w in range(busy_words(presence, n, word)):
        j = word[index(w)]
        bits = presence[n, index(j)]
        while bits != np.uint64(0):
            k = index(_WIDTH * j + lowest_bit(bits))
            bits &= bits - np.uint64(1)
            here.topics.customers[i, k] = counts.customers[n, k]
            here.topics.tables[i, k] = counts.tables[n, k]


@inlined
def _empty_row(presence, here, place):
    """Empty a row whose counts are those of the snapshot."""
    i = index(place)
    n = index(here.node[i])
    here.place[n] = -1
    word = here.work.touched.word
    for w in range(busy_words(presence, n, word)):
        j = word[index(w)]
        bits = presence[n, index(j)]
        while bits != np.uint64(0):
            k = index(_WIDTH * j + lowest_bit(bits))
            bits &= bits - np.uint64(1)
            here.topics.customers[i, k] = 0
            here.topics.tables[i, k] = 0


@inlined
def _settle_in(n_shared, layout, state, exponent, presence, here, level, node):
    """Copy a node of the citation level and those above it that are not here yet; mu is.

    Shared nodes stay where there is room for all of the path: above one that stays all others do.
    """
    stays = here.rows[1] + level - 1 <= here.rows[0]
    below = -1
    current = node
    while True:
        place = here.place[current]
        known = place >= 0
        if not known:
            kind = 1 if stays and current < n_shared else 2
            place = here.rows[kind] + (here.rows[0] if kind == 2 else 0)
            here.rows[kind] += 1
            _fill_row(state, exponent, presence, here, place, current)
        if below >= 0:
            here.parent[below] = place
        if known:
            break
        below = place
        current = layout.parent[current]


@hot_kernel
def _open_round(level, n_shared, layout, state, exponent, presence, rates, here):
    """Copy mu, wide nodes and the sums."""
    mine, wide, parameters = here.rates, here.work.wide, state.parameters
    here.parent[0] = 0
    here.rows[1] = 1
    here.rows[2] = 0
    _fill_row(state, exponent, presence, here, 0, 0)
    for k in range(index(rates.cite.shape[0])):
        mine.cite[k] = rates.cite[k]
        mine.cited[k] = rates.cited[k]
    here.work.touched.changed[:] = 0
    wide.size[0] = 0
    found = choose_wide(presence, wide, n_shared)
    add_wide(state.topics, parameters, presence, exponent, mine, wide, 0, 0)
    for j in range(1, found + 1):
        node = wide.node[j]
        if here.rows[1] + level - 1 > here.rows[0]:  # its row would not stay
            break
        lower = node_level(layout, node)
        add_wide(state.topics, parameters, presence, exponent, mine, wide, node, lower)
        _settle_in(n_shared, layout, state, exponent, presence, here, level, node)
        wide.node[j] = here.place[node]
    sum_wide(parameters, mine, wide)
    copy_wide(wide, here.base_wide)
    for k in range(index(rates.cite.shape[0])):
        here.base.cite[k] = mine.cite[k]
        here.base.cited[k] = mine.cited[k]
        restore_wide(here.base_wide, wide, k)


@inlined
def _note(here, counts, record, e, end, place, node, which, topic):
    """Move one topic's change at a document from the counts here to the citation's record."""
    i, n, k = index(place), index(node), index(topic)
    customers = here.topics.customers[i, k] - counts.customers[n, k]
    tables = here.topics.tables[i, k] - counts.tables[n, k]
    record[e, 2 + 2 * end + which] = customers
    record[e, 6 + 2 * end + which] = tables
    here.topics.customers[i, k] -= customers
    here.topics.tables[i, k] -= tables


@inlined
def _note_shared(here, counts, place, node, topic):
    """Move one topic's change at a shared node to the worker's changes."""
    i, n, k = index(place), index(node), index(topic)
    customers = here.topics.customers[i, k] - counts.customers[n, k]
    tables = here.topics.tables[i, k] - counts.tables[n, k]
    if customers != 0 or tables != 0:
        here.changes.node_customers[n, k] += customers
        here.changes.node_tables[n, k] += tables
        here.marks[n, k // index(_WIDTH)] |= np.uint64(1) << np.uint64(topic % _WIDTH)
        here.topics.customers[i, k] -= customers
        here.topics.tables[i, k] -= tables
        note_presence(here.presence, place, topic, here.topics.customers[i, k])


@inlined
def _move_out(state, exponent, presence, here, record, first, last):
    """Note what was done, at documents by citation, and leave all as it was found."""
    counts = state.topics
    for e in range(first, last):
        i = e - first
        for end in range(2):
            place = here.citing[i] if end == 0 else here.cited[i]
            for which in range(2):
                topic = record[e, which]
                _note(here, counts, record, e, end, place, here.node[place], which, topic)
            while place > 0:
                place = here.parent[place]
                _copy_totals(state, exponent, here, place, here.node[place])
    for i in range(here.work.logged[0]):
        place = here.work.log[index(i), index(0)]
        _note_shared(here, counts, place, here.node[place], here.work.log[index(i), index(1)])
    here.work.logged[0] = 0
    for i in range(here.rows[2]):
        _empty_row(presence, here, here.rows[0] + i)
    here.rows[2] = 0
    changed = here.work.touched.changed
    moved = False
    for j in range(changed.shape[0]):
        bits = changed[index(j)]
        changed[index(j)] = np.uint64(0)
        while bits != np.uint64(0):
            k = index(_WIDTH * j + lowest_bit(bits))
            bits &= bits - np.uint64(1)
            here.rates.cite[k] = here.base.cite[k]
            here.rates.cited[k] = here.base.cited[k]
            restore_wide(here.work.wide, here.base_wide, k)
            moved = True
    if moved:
        copy_wide(here.base_wide, here.work.wide)


@hot_kernel
def sweep_citing(
    level,
    n_shared,
    start,
    layout,
    tables,
    state,
    exponent,
    presence,
    guesses,
    rates,
    here,
    record,
    key,
    docs,
):
    """Visit the citations that some documents make, each with a random stream of its own.

    ``start`` (int64 [documents + 1]) tells where the citations of a document begin; ``n_shared``
    counts the nodes above documents; ``docs`` (int64 [3]) is first document, end and step.
    ``presence``, ``rates`` and the weights in ``exponent`` are those of the snapshot.
    """
    y = state.assignments.citing_topic
    parameters = state.parameters
    _open_round(level, n_shared, layout, state, exponent, presence, rates, here)
    for d in range(docs[0], docs[1], docs[2]):
        first, last = start[d], start[d + 1]
        if first == last:
            continue
        after = d + docs[2]
        if after < docs[1]:
            for e in range(start[after], start[after + 1]):
                ask_bits(layout, presence, layout.citation_node + layout.cited[e])
        node = layout.citation_node + d
        _settle_in(n_shared, layout, state, exponent, presence, here, level, node)
        for e in range(first, last):
            cited = layout.citation_node + layout.cited[e]
            _settle_in(n_shared, layout, state, exponent, presence, here, level, cited)
            here.citing[e - first] = here.place[node]
            here.cited[e - first] = here.place[cited]
            here.topic[e - first] = y[e]
            record[e, 0] = y[e]
        open_stream(key, CITATIONS, d, here.random)
        near = Near(here.parent, here.citing[: last - first], here.cited[: last - first], 0)
        own = Own(
            here.topics,
            Topics(here.topic),
            Rates(parameters.topic_discount, here.concentration, parameters.topic_scale),
            here.random,
        )
        sweep_opened(
            level,
            near,
            tables,
            own,
            here.work,
            here.presence,
            guesses,
            here.rates,
            here.weights,
            here.tally,
        )
        for e in range(first, last):
            y[e] = here.topic[e - first]
            record[e, 1] = y[e]
        _move_out(state, exponent, presence, here, record, first, last)
    for place in range(here.rows[1]):
        _empty_row(presence, here, place)


@inlined
def _note_moved(counts, presence, node, record, e):
    """Bring the bits of the topics that one citation moved up to date at one of its ends."""
    for which in range(2):
        k = np.int64(record[e, which])
        note_presence(presence, node, k, counts.customers[index(node), index(k)])


@hot_kernel
def note_moved_documents(layout, counts, presence, lists, record, turn, begin, end):
    """Bring the bits of documents ``begin`` to ``end`` - 1 up to date after a round of citations.

    Arguments are those of ``parallel.merge.add_moves``, which has been called before.
    """
    made, start, received = lists
    round_, rounds = turn
    for d in range(begin, end):
        node = layout.citation_node + d
        if d % rounds == round_:
            for e in range(made[d], made[d + 1]):
                _note_moved(counts, presence, node, record, e)
        for j in range(start[d], start[d + 1]):
            e = received[j]
            if rounds == 1 or layout.citing[e] % rounds == round_:
                _note_moved(counts, presence, node, record, e)
