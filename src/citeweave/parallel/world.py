"""A worker's own world: the snapshot, and what the document at hand has changed of it.

Shared counts (mu, nu, phi, gamma) are read from a snapshot that stands still while workers run.
Each worker has a copy of the word side, of which it undoes what a document did before it takes
the next, and a few rows for the nodes of the document at hand. What a document did is added to
the worker's changes: integers, so that no order of documents or workers shows in the sums.
"""

from typing import NamedTuple

import numpy as np

from citeweave.parallel.paths import Paths
from citeweave.sampler.arrays import Layout, State, TopicCounts, WordCounts
from citeweave.sampler.document import WordWork, new_word_work
from citeweave.sampler.exponent import Exponent, new_exponent
from citeweave.sampler.word_side import WordCache, new_word_cache

__all__ = ["Changes", "World", "copy_snapshot", "new_counts", "new_world"]


class Changes(NamedTuple):
    """What the documents of one worker did to shared counts since the snapshot."""

    node_customers: np.ndarray
    """int32 [shared nodes, topics]."""
    node_tables: np.ndarray
    """int32 [shared nodes, topics]."""
    word_customers: np.ndarray
    """int32 [words, topics]."""
    word_tables: np.ndarray
    """int32 [words, topics]."""
    background_tables: np.ndarray
    """int32 [words]."""


class World(NamedTuple):
    """What one worker writes to, and nobody else."""

    layout: Layout
    """One document and its nodes, numbered from 0."""
    state: State
    """Counts of these nodes; the word side of all words; the corpus's own assignments."""
    cache: WordCache
    work: WordWork
    exponent: Exponent
    changes: Changes
    before: np.ndarray
    """int16 [longest document]: topics of the document's tokens before its sweep."""
    tally: np.ndarray
    """int64 [5]: as that of ``word_sweep``."""


def new_world(chain, paths: Paths) -> World:
    """Make room for one worker of a chain."""
    spec, layout, state = chain.spec, chain.layout, chain.state
    topics = chain.settings.topics
    n_paths = int(np.diff(layout.leaf_start).max(initial=1))
    n_shared = int(layout.level_start[spec.n_shared])
    n_words = state.words.customers.shape[0]
    longest = int(np.diff(layout.document_start).max(initial=1))
    rows = paths.most
    # where documents have levels of their own they have one path, so the place is the same in all
    citation_place = rows - 1 - spec.below_citations
    tree = Layout(
        word=layout.word,
        document_start=np.zeros(2, np.int64),
        parent=np.zeros(rows, np.int32),
        level_start=np.zeros(2, np.int64),
        leaf=np.zeros(n_paths, np.int32),
        leaf_start=np.zeros(2, np.int64),
        citing=layout.citing,
        cited=layout.cited,
        citation_node=citation_place,
    )
    words = WordCounts(*(array.copy() for array in state.words))
    parameters = state.parameters._replace(topic_concentration=np.zeros(rows))
    own = State(
        topics=new_counts(rows, topics),
        words=words,
        assignments=state.assignments,
        parameters=parameters,
        random=np.zeros(4, np.uint64),
        clock=state.clock,
    )
    return World(
        layout=tree,
        state=own,
        cache=new_word_cache(n_words, topics),
        work=new_word_work(topics, n_paths, spec.n_shared, spec.n_document),
        exponent=new_exponent(rows, topics, len(spec.topic_side)),
        changes=Changes(
            node_customers=np.zeros((n_shared, topics), np.int32),
            node_tables=np.zeros((n_shared, topics), np.int32),
            word_customers=np.zeros((n_words, topics), np.int32),
            word_tables=np.zeros((n_words, topics), np.int32),
            background_tables=np.zeros(n_words, np.int32),
        ),
        before=np.zeros(longest, np.int16),
        tally=np.zeros(5, np.int64),
    )


def new_counts(rows: int, topics: int) -> TopicCounts:
    """Make empty topic-side counts of some nodes."""
    return TopicCounts(
        customers=np.zeros((rows, topics), np.int32),
        tables=np.zeros((rows, topics), np.int32),
        total_customers=np.zeros(rows, np.int64),
        total_tables=np.zeros(rows, np.int64),
    )


def copy_snapshot(world: World, words: WordCounts, cache: WordCache) -> None:
    """Bring a worker's copy of the word side up to the snapshot."""
    for mine, common in zip(world.state.words, words, strict=True):
        mine[...] = common
    for name in ("stay", "open", "inverse", "opening", "background_stay", "background_open"):
        getattr(world.cache, name)[...] = getattr(cache, name)
