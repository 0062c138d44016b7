"""The start of a snapshot chain, and the first topics of its citations.

Each paper draws from its own random stream, and what it adds to shared counts is a change like
those of a sweep. A start is therefore divided between threads, and between the parts of a chain,
as sweeps are. A topic, or a word of a topic, gets one table in each restaurant that serves it: the
fewest possible, to which no order of papers matters. Sweeps bring them to their distribution within
a few iterations (docs/understand/starts.md).
"""

from typing import NamedTuple

import numpy as np

from citeweave.compiled import hot_kernel, index, inlined
from citeweave.engines.core.climb import Ends, find_ends
from citeweave.engines.core.random import uniform
from citeweave.engines.core.row_places import set_pair
from citeweave.engines.dense.citations import draw_citing_topic, weigh_ends
from citeweave.engines.threads.streams import CITATIONS, WORDS, open_stream

__all__ = [
    "OpeningWork",
    "draw_citing_topics",
    "draw_topics",
    "new_opening_work",
    "open_paper",
    "open_tables",
]


class OpeningWork(NamedTuple):
    """Scratch arrays of one document, empty between documents."""

    tokens: np.ndarray
    """int32 [topics]: tokens of each topic."""
    last: np.ndarray
    """int64 [topics]: last token of each topic so far, -1 for none."""
    listed: np.ndarray
    """int32 [topics]: topics of the document."""


def new_opening_work(topics: int) -> OpeningWork:
    """Allocate scratch arrays for one worker."""
    return OpeningWork(
        tokens=np.zeros(topics, np.int32),
        last=np.full(topics, -1, np.int64),
        listed=np.zeros(topics, np.int32),
    )


@hot_kernel
def draw_topics(layout, assignments, n_topics, rng, key, docs):
    """Draw a uniformly random topic for every token of some documents.

    If words choose their author, a uniformly random author is drawn as well. ``docs`` (int64 [n,
    2]) holds documents and their numbers in the whole corpus; ``rng`` is uint64 [4].
    """
    for place in range(docs.shape[0]):
        d = docs[place, 0]
        open_stream(key, WORDS, docs[place, 1], rng)
        n_paths = layout.leaf_start[d + 1] - layout.leaf_start[d]
        for i in range(layout.document_start[d], layout.document_start[d + 1]):
            assignments.topic[i] = int(uniform(rng) * n_topics)
            if assignments.path.shape[0] > 0:
                assignments.path[i] = int(uniform(rng) * n_paths)


@inlined
def open_paper(shape, layout, state, work, note_word, note_node, room, d):
    """Set a document's own counts from its topics, with one table each, and note what it shares.

    Calls ``note_word(room, word, topic)`` for each new customer of phi, and ``note_node(room, node,
    topic)`` for each new customer of a node above documents. Shared counts gain customers alone:
    a merge then opens their tables, because it brings them into range.
    """
    counts, assignments = state.topics, state.assignments
    n_document = len(shape.document)
    begin, end = layout.document_start[d], layout.document_start[d + 1]
    first = layout.leaf_start[d]
    run_begin = begin
    used = 0
    for i in range(begin, end):
        if layout.word[i] != layout.word[run_begin]:
            run_begin = i
        k = index(assignments.topic[i])
        if work.tokens[k] == 0:
            work.listed[used] = assignments.topic[i]
            used += 1
        work.tokens[k] += 1
        opens = True
        if shape.burst > 0:  # the first token of a word and topic opens the table of phi'
            opens = work.last[k] < run_begin
            work.last[k] = i
            assignments.burst_table[i] = 1 if opens else 0
        if opens:
            note_word(room, layout.word[i], assignments.topic[i])
        if n_document == 0:
            note_node(room, layout.leaf[first + assignments.path[i]], assignments.topic[i])
    n = layout.leaf[first]
    for step in range(n_document):
        total = 0
        for j in range(used):
            k = index(work.listed[j])
            customers = work.tokens[k] if step == 0 else np.int32(1)
            set_pair(counts.customers, counts.tables, n, k, customers, np.int32(1))
            total += customers
        counts.total_customers[n] = total
        counts.total_tables[n] = used
        n = layout.parent[n]
    for j in range(used):
        if n_document > 0:
            note_node(room, n, work.listed[j])
        work.tokens[index(work.listed[j])] = 0
        work.last[index(work.listed[j])] = -1


@inlined
def _note_word(changes, w, topic):
    """Add a customer of phi to the changes of a worker."""
    changes.words[index(w), index(topic), 0] += 1


@inlined
def _note_node(changes, n, topic):
    """Add a customer of a node above documents to the changes of a worker."""
    changes.node_customers[index(n), index(topic)] += 1


@hot_kernel
def open_tables(shape, layout, state, work, changes, docs):
    """Build the counts of some documents from the topics of their tokens; they must be zero.

    ``changes`` are those of one worker, and ``docs`` is as in `draw_topics`.
    """
    for place in range(docs.shape[0]):
        open_paper(shape, layout, state, work, _note_word, _note_node, changes, docs[place, 0])


@hot_kernel
def draw_citing_topics(citing, layout, tables, state, work, record, rng, key, docs):
    """Draw a first topic for every citation that some documents make.

    Each is drawn as if there were no other citation: if it were drawn given the others, first
    topics would reinforce each other, and chains would take longer to converge
    (docs/results/parallel.md). The ``record`` of a citation, which `citations` describes, then says
    that each of its two papers gains a customer; merging it opens the tables that are missing.
    ``citing`` is a `Citing`, and ``docs`` is as in `draw_topics`.
    """
    level, start = citing.level, citing.start
    parameters = state.parameters
    for place in range(docs.shape[0]):
        d = docs[place, 0]
        open_stream(key, CITATIONS, docs[place, 1], rng)
        first = layout.citation_node + d
        for e in range(start[d], start[d + 1]):
            second = layout.citation_node + layout.cited[e]
            ends = Ends(work.row, level, find_ends(layout, work.row, level, first, second))
            weigh_ends(tables, state.topics, parameters, ends, work)
            k = draw_citing_topic(rng, parameters, work)
            state.assignments.citing_topic[e] = k
            record[e, :] = 0
            record[e, 0] = k
            record[e, 1] = k
            record[e, 2] = 1
            record[e, 4] = 1
