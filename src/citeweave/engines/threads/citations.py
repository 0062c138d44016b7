"""The snapshot sweep of citations: each document moves its citations in a private copy.

The unit of work is the citing document. It moves its citations one after the other with the
sequential sampler's kernel, and sees the snapshot and its own changes at both ends. A frequently
cited paper is therefore changed by many documents that do not see each other's changes. These
changes are recorded per citation and added up, and the paper's tables are brought into range by the
rule of `merge`.
"""

from typing import NamedTuple

import numpy as np

from citeweave.compiled import hot_kernel, index, inlined
from citeweave.engines.core.arrays import TopicCounts
from citeweave.engines.core.exponent import Exponent, new_exponent
from citeweave.engines.core.row_places import pair_at
from citeweave.engines.dense.citations import CitationWork, citation_sweep, new_citation_work
from citeweave.engines.threads.rows import copy_row
from citeweave.engines.threads.streams import CITATIONS, open_stream
from citeweave.engines.threads.world import Changes, new_counts

__all__ = [
    "Citing",
    "Near",
    "Neighbourhood",
    "Own",
    "Rates",
    "Topics",
    "bring_citation",
    "new_moves",
    "new_neighbourhood",
    "note_end",
    "own_view",
    "return_topics",
    "sweep_citing",
]


class Citing(NamedTuple):
    """Location of the citations of documents."""

    level: int
    """The level that citations reach."""
    n_shared: int
    """Number of nodes above documents."""
    start: np.ndarray
    """int64 [documents + 1]: first citation of each document."""


class Near(NamedTuple):
    """The part of a `Layout` that ``citation_sweep`` reads; a call passes all arrays of a tuple."""

    parent: np.ndarray
    citing: np.ndarray
    cited: np.ndarray
    citation_node: int


class Topics(NamedTuple):
    """The part of `Assignments` that ``citation_sweep`` reads."""

    citing_topic: np.ndarray


class Rates(NamedTuple):
    """The part of `Parameters` that ``citation_sweep`` reads."""

    topic_discount: np.ndarray
    topic_concentration: np.ndarray
    topic_scale: np.ndarray
    share: np.ndarray


class Own(NamedTuple):
    """The part of a `State` that ``citation_sweep`` reads."""

    topics: TopicCounts
    assignments: Topics
    parameters: Rates
    random: np.ndarray


class Neighbourhood(NamedTuple):
    """A worker's private arrays: the nodes above a document and above all documents it cites."""

    topics: TopicCounts
    parent: np.ndarray
    concentration: np.ndarray
    share: np.ndarray
    """float64: as in `Parameters`, if authors share papers."""
    exponent: Exponent
    work: CitationWork
    citing: np.ndarray
    cited: np.ndarray
    topic: np.ndarray
    node: np.ndarray
    """int32: number in the whole tree of the node at each place."""
    place: np.ndarray
    """int32 [nodes of the whole tree]: place of each node here, -1 if absent."""
    random: np.ndarray
    changes: Changes
    """Changes of the same worker's world."""
    tally: np.ndarray
    """int64 [4]: as in ``citation_sweep``."""


def new_moves(n_citations: int) -> np.ndarray:
    """Allocate records of how each citation changed the counts of its two documents.

    A record (int16 [citations, 10]) holds the topic before and after, then the changes of
    customers by end (citing, cited) and topic, then the changes of tables.
    """
    return np.zeros((n_citations, 10), np.int16)


def new_neighbourhood(chain, most_cited: int, changes: Changes) -> Neighbourhood:
    """Allocate one worker's arrays; ``most_cited`` is the length of the longest citation list."""
    n_levels = len(chain.spec.topic_side)
    topics = chain.settings.topics
    n_nodes = len(chain.layout.parent)
    rows = min((most_cited + 1) * n_levels, n_nodes)
    return Neighbourhood(
        topics=new_counts(rows, topics, held=len(chain.layout.server) > 0),
        parent=np.zeros(rows, np.int32),
        concentration=np.zeros(rows),
        share=np.ones(rows if len(chain.layout.server) else 0),
        exponent=new_exponent(rows, topics, n_levels),
        work=new_citation_work(topics, n_levels),
        citing=np.zeros(most_cited, np.int32),
        cited=np.zeros(most_cited, np.int32),
        topic=np.zeros(most_cited, np.int16),
        node=np.zeros(rows, np.int32),
        place=np.full(n_nodes, -1, np.int32),
        random=np.zeros(4, np.uint64),
        changes=changes,
        tally=np.zeros(4, np.int64),
    )


@inlined
def _settle_in(layout, state, exponent, here, level, node, n):
    """Copy a node of the citation level and its ancestors, except those already copied.

    ``n`` is the number of nodes copied so far, the root first. Returns the new number.
    """
    counts = state.topics
    n_topics = here.topics.customers.shape[1]
    below = -1
    current = node
    for _ in range(level + 1):
        place = here.place[current]
        known = place >= 0
        if not known:
            place = n
            n += 1
            here.place[current] = place
            here.node[place] = current
            copy_row(here.topics.customers, place, counts.customers, current, n_topics)
            copy_row(here.topics.tables, place, counts.tables, current, n_topics)
            if here.topics.held.shape[0] > 0:
                copy_row(here.topics.held, place, counts.held, current, n_topics)
                here.share[place] = state.parameters.share[current]
            here.topics.total_customers[place] = counts.total_customers[current]
            here.topics.total_tables[place] = counts.total_tables[current]
            here.concentration[place] = state.parameters.topic_concentration[current]
            here.exponent.cite_weight[place] = exponent.cite_weight[current]
            here.exponent.cited_weight[place] = exponent.cited_weight[current]
        if below >= 0:
            here.parent[below] = place
        if known:
            break
        below = place
        current = layout.parent[current]
    return n


@inlined
def bring_citation(layout, state, here, record, node, e, i):
    """Copy a citation of the document at ``node`` to place i; both ends are already copied."""
    here.citing[i] = here.place[node]
    here.cited[i] = here.place[layout.citation_node + layout.cited[e]]
    here.topic[i] = state.assignments.citing_topic[e]
    record[e, 0] = here.topic[i]


@inlined
def own_view(parameters, here, n_citations):
    """Return the layout and the state for the sweep of one document's citations."""
    near = Near(here.parent, here.citing[:n_citations], here.cited[:n_citations], 0)
    own = Own(
        here.topics,
        Topics(here.topic),
        Rates(parameters.topic_discount, here.concentration, parameters.topic_scale, here.share),
        here.random,
    )
    return near, own


@inlined
def return_topics(state, here, record, first, last):
    """Write the new topics of citations back to the state."""
    for e in range(first, last):
        state.assignments.citing_topic[e] = here.topic[e - first]
        record[e, 1] = here.topic[e - first]


@inlined
def note_end(here, counts, record, e, end, place):
    """Move the changes at one end of a citation from the counts here to the citation's record."""
    i, n = index(place), index(here.node[place])
    for which in range(2):
        k = index(record[e, which])
        before = pair_at(counts.customers, counts.tables, n, k)
        customers = here.topics.customers[i, k] - before[0]
        tables = here.topics.tables[i, k] - before[1]
        record[e, 2 + 2 * end + which] = customers
        record[e, 6 + 2 * end + which] = tables
        here.topics.customers[i, k] -= customers
        here.topics.tables[i, k] -= tables


@inlined
def _move_out(counts, here, record, n_shared, first, last, n_nodes):
    """Record changes: of documents by citation, of shared nodes in the worker's changes."""
    for e in range(first, last):
        for end in range(2):
            place = here.citing[e - first] if end == 0 else here.cited[e - first]
            note_end(here, counts, record, e, end, place)
    for place in range(n_nodes):
        node = here.node[place]
        here.place[node] = -1
        if node < n_shared:
            i, n = index(place), index(node)
            mine, changes = here.topics, here.changes
            for k in range(index(mine.customers.shape[1])):
                changes.node_customers[n, k] += mine.customers[i, k] - counts.customers[n, k]
            for k in range(index(mine.customers.shape[1])):
                changes.node_tables[n, k] += mine.tables[i, k] - counts.tables[n, k]


@hot_kernel
def sweep_citing(citing, layout, tables, state, exponent, here, record, key, docs):
    """Visit the citations that some documents make, with one random stream per document.

    ``docs`` (int64 [n, 2]) holds documents and their numbers in the whole corpus.
    """
    level, n_shared, start = citing
    parameters = state.parameters
    n_topics = here.topics.customers.shape[1]
    for i in range(docs.shape[0]):
        d = docs[i, 0]
        first, last = start[d], start[d + 1]
        if first == last:
            continue
        here.place[0] = 0  # the root is at place 0, as kernels expect
        here.node[0] = 0
        here.parent[0] = 0
        copy_row(here.topics.customers, 0, state.topics.customers, 0, n_topics)
        copy_row(here.topics.tables, 0, state.topics.tables, 0, n_topics)
        for k in range(index(n_topics)):
            here.exponent.cite_sum[k] = exponent.cite_sum[k]
            here.exponent.cited_sum[k] = exponent.cited_sum[k]
        here.topics.total_customers[0] = state.topics.total_customers[0]
        here.topics.total_tables[0] = state.topics.total_tables[0]
        here.concentration[0] = parameters.topic_concentration[0]
        here.exponent.cite_weight[0] = exponent.cite_weight[0]
        here.exponent.cited_weight[0] = exponent.cited_weight[0]
        node = layout.citation_node + d
        n = _settle_in(layout, state, exponent, here, level, node, 1)
        for e in range(first, last):
            cited = layout.citation_node + layout.cited[e]
            n = _settle_in(layout, state, exponent, here, level, cited, n)
            bring_citation(layout, state, here, record, node, e, e - first)
        open_stream(key, CITATIONS, docs[i, 1], here.random)
        near, own = own_view(parameters, here, last - first)
        citation_sweep(level, near, tables, own, here.work, here.exponent, here.tally)
        return_topics(state, here, record, first, last)
        _move_out(state.topics, here, record, n_shared, first, last, n)
