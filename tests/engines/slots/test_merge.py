"""Merging marked changes is merging all changes, integer by integer."""

import numpy as np
import pytest

from citeweave import simulate
from citeweave.engines.core.data import ChainSettings
from citeweave.engines.core.spec import preset
from citeweave.engines.slots.merge import mark_moves, merge_nodes, merge_words, new_marks
from citeweave.engines.slots.presence import mark_topics, new_presence
from citeweave.engines.threads import SnapshotChain
from citeweave.model.groups import build_tree


@pytest.fixture(scope="module")
def data():
    """With levels, and a vocabulary, that are long enough for threads."""
    corpus = simulate(
        documents=300, vocabulary=400, topics=3, authors=290, citations=900, seed=5
    ).corpus
    return build_tree(corpus, preset("scntm"), eta=0, unknown="shared").data


def start_chain(data, topics, threads, **options):
    settings = ChainSettings(topics=topics)
    chain = SnapshotChain(preset("scntm"), data, settings, seed=3, threads=threads, **options)
    chain.start()
    chain._workers()
    return chain


def draw_changes(chain, seed):
    """Draw changes of some places, such as leave no negative number of customers."""
    rng = np.random.default_rng(seed)
    changes, counts, words = chain._changes, chain.state.topics, chain.state.words
    n_shared, topics = changes.node_customers.shape[1:]
    for _ in range(6000):
        worker, k = rng.integers(chain.threads), rng.integers(topics)
        n = rng.integers(n_shared) if rng.random() < 0.9 else 0
        held = counts.customers[n, k] + changes.node_customers[:, n, k].sum()
        changes.node_customers[worker, n, k] += rng.integers(-min(held, 3), 3)
        changes.node_tables[worker, n, k] += rng.integers(-2, 3)
        w = rng.integers(words.customers.shape[0])
        held = words.customers[w, k] + changes.words[:, w, k, 0].sum()
        changes.words[worker, w, k] += [rng.integers(-min(held, 3), 3), rng.integers(-2, 3)]
        if rng.random() < 0.2:
            changes.background_tables[worker, w] += rng.integers(-2, 3)


def mark_changes(changes):
    """Mark all places that have changed."""
    workers, n_shared, topics = changes.node_customers.shape
    marks = new_marks(workers, n_shared, changes.words.shape[1], topics)
    nodes = (changes.node_customers != 0) | (changes.node_tables != 0)
    for changed, bits in ((nodes, marks.nodes), (changes.words.any(axis=3), marks.words)):
        for worker, row, k in np.argwhere(changed):
            bits[worker, row, k // 64] |= np.uint64(1) << np.uint64(k % 64)
    return marks


def bits_of(counts):
    presence = new_presence(*counts.customers.shape)
    mark_topics(counts, presence, 0, len(presence))
    return presence


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("topics", [3, 70])
def test_marked_changes_merge_as_all_do(data, topics, threads):
    dense, sparse = (start_chain(data, topics, threads) for _ in range(2))
    presence = bits_of(sparse.state.topics)
    word_presence = bits_of(sparse.state.words)
    for seed in range(2):  # the second time from what the first has left
        for chain in (dense, sparse):
            draw_changes(chain, seed)
        marks = mark_changes(sparse._changes)
        before = dense.repaired.copy()
        dense._merge_words()
        dense._merge_nodes()
        counts, words = sparse.state.topics, sparse.state.words
        word_repairs = merge_words(
            sparse.workers,
            sparse.shape,
            sparse.tables,
            words,
            sparse.cache,
            word_presence,
            sparse._changes,
            marks,
        )
        node_repairs = merge_nodes(
            sparse.workers, sparse.layout, counts, presence, 2, sparse._changes, marks
        )
        repaired = dense.repaired - before
        assert (node_repairs, word_repairs) == tuple(repaired)
        assert repaired.min() > 0
        for mine, theirs in zip(
            (*counts, *words), (*dense.state.topics, *dense.state.words), strict=True
        ):
            assert np.array_equal(mine, theirs)
        for name in ("stay", "open", "background_stay", "background_open"):
            assert np.array_equal(getattr(sparse.cache, name), getattr(dense.cache, name))
        assert not any(array.any() for array in (*sparse._changes, *marks))
        assert np.array_equal(presence, bits_of(counts))
        assert np.array_equal(word_presence, bits_of(words))
    dense.close()
    sparse.close()


def test_what_citations_repair_is_marked(data):
    """Records say that tables came and went as they please, so many have to be repaired."""
    chain = start_chain(data, 70, 1, rounds=2)
    rng = np.random.default_rng(1)
    chain._moves[:, :2] = rng.integers(70, size=chain._moves[:, :2].shape)
    chain._moves[:, 6:] = rng.integers(-1, 2, size=chain._moves[:, 6:].shape)
    changes = chain._changes
    for round_ in range(2):
        before = changes.node_customers.copy()
        chain._merge_citations(round_)
        marks = new_marks(1, before.shape[1], 1, 70)
        turn = (round_, 2)
        mark_moves(chain.layout, chain._lists, chain._moves, turn, marks, 0, chain.n_documents, 0)
        told = np.argwhere(changes.node_customers != before)
        assert len(told) > 100
        for worker, n, k in told:
            assert int(marks.nodes[worker, n, k // 64]) >> int(k % 64) & 1
