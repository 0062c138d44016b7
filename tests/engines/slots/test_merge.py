"""Merging marked changes is merging all changes, integer by integer."""

import numpy as np
import pytest
from citation_tools import SPECS, cited_data
from test_slot_chain import make as make_slots

from citeweave import simulate
from citeweave.engines.core.data import ChainSettings
from citeweave.engines.core.spec import preset
from citeweave.engines.slots.change_lists import new_change_list, rows_kept
from citeweave.engines.slots.merge import (
    add_noted_moves,
    merge_nodes,
    merge_words,
    new_marks,
    worker_notes,
)
from citeweave.engines.slots.presence import mark_topics, new_presence
from citeweave.engines.threads import SnapshotChain
from citeweave.engines.threads.world import new_changes
from citeweave.model.groups import build_tree


@pytest.fixture(scope="module")
def data():
    """With levels, and a vocabulary, that are long enough for threads."""
    corpus = simulate(
        documents=300, vocabulary=400, topics=3, authors=290, citations=900, seed=5
    ).corpus
    return build_tree(corpus, preset("scntm"), eta=0, unknown="shared").data


def start_chain(data, topics, threads, model="authors", **options):
    settings = ChainSettings(topics=topics)
    chain = SnapshotChain(SPECS[model], data, settings, seed=3, threads=threads, **options)
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


def list_changes(chain, seed):
    """Turn the rows of changes of all nodes but mu into lists, in a random order.

    Some changes are written in two pieces, by two workers, and some come to nothing.
    """
    rng = np.random.default_rng(seed)
    changes = chain._changes
    entries = [[] for _ in range(chain.threads)]
    both = np.stack([changes.node_customers, changes.node_tables], axis=3)
    for worker, n, k in np.argwhere(both[:, 1:].any(axis=3)):
        done = both[worker, n + 1, k]
        piece = rng.integers(-3, 4, size=2) if rng.random() < 0.3 else np.zeros(2, int)
        entries[worker].append((n + 1, k, *(done - piece)))
        entries[rng.integers(chain.threads)].append((n + 1, k, *piece))
    kept = changes._replace(
        node_customers=changes.node_customers[:, :1].copy(),
        node_tables=changes.node_tables[:, :1].copy(),
    )
    lists = []
    for written in entries:
        one = new_change_list(len(written))
        one.entry[:] = rng.permutation(np.array(written, np.int32))
        one.used[0] = len(written)
        lists.append(one)
    return kept, lists


@pytest.mark.parametrize(
    ("model", "threads"), [("authors", 1), ("authors", 3), ("fields above authors", 3)]
)
def test_listed_changes_merge_as_rows_do(model, threads):
    data = cited_data(SPECS[model], documents=400, authors=300)
    rows, listed = (start_chain(data, 70, threads, model) for _ in range(2))
    presence = bits_of(listed.state.topics)
    for seed in range(2):
        for chain in (rows, listed):
            draw_changes(chain, seed)
        kept, lists = list_changes(listed, seed)
        before = rows.repaired[0]
        rows._merge_nodes()
        repaired = merge_nodes(
            listed.workers,
            listed.layout,
            listed.state.topics,
            presence,
            listed.spec.n_shared,
            kept,
            marks := mark_changes(kept),
            lists,
        )
        assert repaired == rows.repaired[0] - before > 0
        for mine, theirs in zip(listed.state.topics, rows.state.topics, strict=True):
            assert np.array_equal(mine, theirs)
        assert np.array_equal(presence, bits_of(listed.state.topics))
        assert not kept.node_customers.any()
        assert not marks.nodes.any()
        assert not any(one.used[0] for one in lists)
        for array in listed._changes:
            array[...] = 0
    rows.close()
    listed.close()


@pytest.mark.parametrize("n_rows", [1, None])
def test_what_citations_repair_is_noted(data, n_rows):
    """Records say that tables came and went as they please, so many have to be repaired."""
    chains = [start_chain(data, 70, 1, rounds=2) for _ in range(2)]
    rng = np.random.default_rng(1)
    usual, chain = chains
    usual._moves[:, :2] = rng.integers(70, size=usual._moves[:, :2].shape)
    usual._moves[:, 6:] = rng.integers(-1, 2, size=usual._moves[:, 6:].shape)
    chain._moves[:] = usual._moves
    changes = usual._changes
    shared, documents = changes.node_customers.shape[1], chain.n_documents
    for round_ in range(2):
        before = changes.node_customers[0].copy()
        usual._merge_citations(round_)
        own = new_changes(1, n_rows or shared, 1, 70)
        marks = new_marks(1, n_rows or shared, 1, 70)
        noted = worker_notes(own, marks, 0, new_change_list(4 * len(chain._moves)))
        turn = (round_, 2, chain.part.document)
        add_noted_moves(
            chain.layout, chain.state.topics, chain._lists, chain._moves, noted, turn, 0, documents
        )
        told = np.zeros_like(before)
        told[: len(noted.customers)] = noted.customers
        for n, k, customers, _ in noted.listed.entry[: noted.listed.used[0]]:
            told[n, k] += customers
        assert np.array_equal(told, changes.node_customers[0] - before)
        assert np.count_nonzero(told) > 100
        assert (noted.listed.used[0] > 0) == (n_rows == 1)
        for n, k in np.argwhere(noted.customers != 0):
            assert int(noted.marks[n, k // 64]) >> int(k % 64) & 1
        for mine, theirs in zip(chain.state.topics, usual.state.topics, strict=True):
            assert np.array_equal(mine, theirs)


@pytest.mark.parametrize(("topics", "listed"), [(40, False), (4096, True)])
def test_changes_are_kept_whichever_way_takes_less(topics, listed):
    layout = make_slots(topics, kind="snapshots", documents=600).layout
    n_shared = int(layout.level_start[2])
    rows, room = rows_kept(layout, 2, topics, 2, 4)
    assert (rows, room > 0) == ((1, True) if listed else (n_shared, False))
    assert (16 * room < 8 * topics * (n_shared - 1)) or not listed
    shared = layout._replace(server=np.zeros(1, np.int32))
    assert rows_kept(shared, 2, topics, 2, 4) == (n_shared, 0)
