"""A worker's private world: the snapshot and the current document's changes to it.

Shared counts (mu, nu, phi, gamma) are read from a snapshot that is constant while workers run. Each
worker has rows for the nodes and for the words of the current document, into which it copies the
snapshot before it sweeps a document. With many topics, rows are long and a document changes few of
their entries. A worker then has a copy of the whole word side, if memory allows, and restores the
entries that a document changed. In both cases, the changes are added to the worker's changes. These
are integers, so the sums do not depend on the order of documents or workers.
"""

from typing import NamedTuple

import numpy as np

from citeweave.engines.core.arrays import Layout, State, TopicCounts, WordCounts
from citeweave.engines.core.exponent import Exponent, new_exponent
from citeweave.engines.core.word_side import WordCache, new_word_cache
from citeweave.engines.dense.document import WordWork, new_word_work
from citeweave.engines.threads.paths import Paths

__all__ = [
    "Changes",
    "World",
    "copy_snapshot",
    "new_changes",
    "new_counts",
    "new_world",
    "word_places",
]


FEW_TOPICS = 96
"""Maximum number of topics for which the rows of words are copied for each document."""
MOST_BYTES = 1 << 31
"""Maximum memory for copies of the word side, over all workers."""


class Changes(NamedTuple):
    """Changes that the documents of one worker made to shared counts since the snapshot."""

    node_customers: np.ndarray
    """int32 [shared nodes, topics]."""
    node_tables: np.ndarray
    """int32 [shared nodes, topics]."""
    words: np.ndarray
    """int32 [words, topics, 2]: customers and tables, which are usually needed together."""
    background_tables: np.ndarray
    """int32 [words]."""


class World(NamedTuple):
    """The arrays that only one worker writes to."""

    layout: Layout
    """One document and its nodes, numbered from 0; words are numbered within the document."""
    state: State
    """Counts of these nodes and of the document's words; assignments of the corpus itself."""
    cache: WordCache
    work: WordWork
    exponent: Exponent
    changes: Changes
    whole: np.ndarray
    """bool [1]: whether the word side contains all words."""
    before: np.ndarray
    """int16 [longest document]: topics of the document's tokens before its sweep."""
    saved_counts: np.ndarray
    """int32 [longest document, 2]: customers and tables at each token's word and topic before."""
    saved_weights: np.ndarray
    """float32 [longest document, 2]: their A0 and B1."""
    tally: np.ndarray
    """int64 [5]: as in ``word_sweep``."""


def new_world(
    chain, paths: Paths, places: np.ndarray, changes: Changes, *, whole: bool = False
) -> World:
    """Allocate the arrays of one worker of a chain.

    ``places`` is the result of `word_places`; ``whole`` requests a copy of the whole word side.
    """
    spec, layout, state = chain.spec, chain.layout, chain.state
    topics = chain.settings.topics
    n_paths = int(np.diff(layout.leaf_start).max(initial=1))
    longest = int(np.diff(layout.document_start).max(initial=1))
    rows = paths.most
    # if documents have levels of their own, they have one path, so the place is the same in all
    citation_place = rows - 1 - spec.below_citations
    n_words = len(state.words.customers)
    places = layout.word if whole else places
    n_rows = n_words if whole else int(places.max(initial=0)) + 1
    # one row per word, because kernels take the size of the vocabulary from the shape; the system
    # commits memory only for rows that are written
    words = WordCounts(*(np.zeros(array.shape, array.dtype) for array in state.words))
    tree = Layout(
        word=places,
        document_start=np.zeros(2, np.int64),
        parent=np.zeros(rows, np.int32),
        level_start=np.zeros(2, np.int64),
        leaf=np.zeros(n_paths, np.int32),
        leaf_start=np.zeros(2, np.int64),
        citing=layout.citing,
        cited=layout.cited,
        citation_node=citation_place,
        server_start=layout.server_start,
        server=layout.server,
    )
    shared = len(layout.server) > 0
    parameters = state.parameters._replace(
        topic_concentration=np.zeros(rows), share=np.ones(rows if shared else 0)
    )
    own = State(
        topics=new_counts(rows, topics, held=shared),
        words=words,
        assignments=state.assignments,
        parameters=parameters,
        random=np.zeros(4, np.uint64),
        clock=state.clock,
    )
    return World(
        layout=tree,
        state=own,
        cache=new_word_cache(n_rows, topics),
        work=new_word_work(topics, n_paths, spec.n_shared, spec.n_document),
        exponent=new_exponent(rows, topics, len(spec.topic_side)),
        changes=changes,
        whole=np.array([whole]),
        before=np.zeros(longest, np.int16),
        saved_counts=np.zeros((longest, 2), np.int32),
        saved_weights=np.zeros((longest, 2), np.float32),
        tally=np.zeros(5, np.int64),
    )


def keeps_all_words(chain, places: np.ndarray) -> bool:
    """Return whether workers copy the whole word side: if it is cheaper and fits into memory.

    A copy is updated every round; without it, the rows of a document's words are copied each time.
    """
    n_words, topics = chain.state.words.customers.shape
    runs = 1 + int(np.count_nonzero(np.diff(places)))
    return (
        topics > FEW_TOPICS
        and 4 * n_words * chain.rounds <= runs
        and 16 * n_words * topics * chain.threads <= MOST_BYTES
    )


def copy_snapshot(world: World, words: WordCounts, cache: WordCache) -> None:
    """Update a worker's copy of the whole word side, if it has one, to the snapshot."""
    if not world.whole[0]:
        return
    for mine, common in zip(world.state.words, words, strict=True):
        mine[...] = common
    for name in ("stay", "open", "inverse", "opening", "background_stay", "background_open"):
        getattr(world.cache, name)[...] = getattr(cache, name)


def new_changes(workers: int, n_shared: int, n_words: int, topics: int) -> Changes:
    """Allocate the changes of all workers; the first axis of every array is the worker."""
    return Changes(
        node_customers=np.zeros((workers, n_shared, topics), np.int32),
        node_tables=np.zeros((workers, n_shared, topics), np.int32),
        words=np.zeros((workers, n_words, topics, 2), np.int32),
        background_tables=np.zeros((workers, n_words), np.int32),
    )


def new_counts(rows: int, topics: int, *, held: bool = False) -> TopicCounts:
    """Create empty topic-side counts of some nodes; ``held`` if authors share papers."""
    return TopicCounts(
        customers=np.zeros((rows, topics), np.int32),
        tables=np.zeros((rows, topics), np.int32),
        total_customers=np.zeros(rows, np.int64),
        total_tables=np.zeros(rows, np.int64),
        held=np.zeros((rows if held else 0, topics), np.int32),
    )


def word_places(layout: Layout) -> np.ndarray:
    """Return the place of each token's word among its document's own words: int32 [tokens]."""
    begins = layout.document_start[:-1]
    n_tokens = len(layout.word)
    fresh = np.ones(n_tokens, np.bool_)
    fresh[1:] = layout.word[1:] != layout.word[:-1]
    fresh[begins[begins < n_tokens]] = True
    seen = np.cumsum(fresh)
    lengths = np.diff(layout.document_start)
    before = np.concatenate([[0], seen])[begins]
    return (seen - 1 - np.repeat(before, lengths)).astype(np.int32)
