"""Chains whose counts of nodes are lists draw what those with dense rows draw, and fit their rooms.

Fingerprints (`tests/test_fingerprints.py`) compare fits of 300 topics with those of dense rows; the
long tests here compare every kind of chain, state by state.
"""

import numpy as np
import pytest
from citation_tools import SPECS, cited_data

from citeweave.engines.core.arrays import flatten
from citeweave.engines.core.compact_rows import CompactRows
from citeweave.engines.core.count_lists import count_rooms
from citeweave.engines.core.data import ChainSettings
from citeweave.engines.core.estimates import Sums, new_sums
from citeweave.engines.core.setting_up import all_arrays
from citeweave.engines.core.spec import LEFT_OUT, preset
from citeweave.engines.slots import SparseChain, SparseSnapshotChain
from citeweave.engines.slots import snapshot as snapshot_module
from citeweave.engines.slots.change_lists import entries_needed
from citeweave.errors import RunError
from reference.tiny import tiny_data


class DenseRowsChain(SparseChain):
    compact_counts = False


class DenseRowsSnapshotChain(SparseSnapshotChain):
    compact_counts = False


KINDS = {
    "one by one": (SparseChain, DenseRowsChain, {}),
    "snapshots": (SparseSnapshotChain, DenseRowsSnapshotChain, {"threads": 2, "rounds": 3}),
    "one snapshot": (SparseSnapshotChain, DenseRowsSnapshotChain, {"threads": 3, "rounds": 1}),
}
ALL_AUTHORS = "all authors"


def corpus_of(model, documents=60):
    """Draw papers of few words, several without any or with one or two, that cite each other."""
    if model == ALL_AUTHORS:
        rng = np.random.default_rng(4)
        lengths = [0, 1, 2, *rng.integers(1, 9, 17)]
        return preset("scntm").with_all_authors(), tiny_data(
            preset("scntm").with_all_authors(),
            documents=[rng.integers(0, 12, n).tolist() for n in lengths],
            groups=[int(n) for n in rng.integers(0, 5, 20)],
            citations=sorted((int(i), int(j)) for i, j in rng.integers(0, 20, (40, 2))),
            n_words=12,
            servers=[
                sorted(rng.permutation(5)[: rng.integers(2, 5)].tolist()) if d % 3 else ()
                for d in range(20)
            ],
        )
    data = cited_data(SPECS[model], documents=documents)
    lengths = np.diff(data.offsets)
    lengths[:9] = [0, 1, 2] * 3
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return SPECS[model], data._replace(tokens=data.tokens[: offsets[-1]], offsets=offsets)


def make(kind, model, topics, *, lists=True, documents=60, **settings):
    spec, data = corpus_of(model, documents)
    listed, dense, options = KINDS[kind]
    chosen = {"network_from": 2, "debug": True, **settings}
    maker = listed if lists else dense
    return maker(spec, data, ChainSettings(topics=topics, **chosen), seed=1, **options)


def run(chain, steps=5):
    """Start, take steps and keep samples; returns what the steps tell, and the sums."""
    chain.start()
    sums = new_sums(chain)
    found = []
    for _ in range(steps):
        found.append(chain.step()._replace(seconds=0, word_seconds=0, citation_seconds=0))
        chain.keep_sample(sums)
    chain.collect_samples(sums)
    chain.close()
    return found, sums


def expect_same(one, other):
    for mine, theirs in zip(all_arrays(one.state), all_arrays(other.state), strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("kind", ["one by one", "snapshots"])
@pytest.mark.parametrize("topics", [256, 4096])
def test_rows_have_room_for_papers_of_no_word_one_and_two(topics, kind):
    """Every count is compared with the assignments after each step, and none was refused."""
    chain = make(kind, "authors", topics, self_citations=LEFT_OUT)
    run(chain)
    rows = chain.state.topics.customers
    listed = rows.row[:, 1] >= 0
    assert rows.lost[0] == 0
    assert not listed[0]
    assert listed[-60:].all()
    # authors have a list where it is smaller, here with 4,096 topics alone
    assert listed[1:7].all() == (topics == 4096)
    fullest = rows.row[listed, 3] / np.maximum(rows.row[listed, 2], 1)
    assert fullest.max() == 1.0  # papers of one word, at the least, use all they have


def test_a_step_with_too_little_room_stops_the_run():
    chain = make("one by one", "authors", 256, debug=False)
    chain.start()
    chain.state.topics.customers.lost[0] = 1
    with pytest.raises(RunError, match=r"iteration 1 a node got more topics than there is room"):
        chain.step()


def test_rooms_are_those_of_tokens_citations_and_papers():
    spec, data = corpus_of("authors")
    layout = make("one by one", "authors", 256).layout
    rooms = count_rooms(layout, 2, 256, citation_level=2, most_self=3)
    tokens = np.diff(data.offsets)
    ends = np.bincount(data.citing, minlength=60) + np.bincount(data.cited, minlength=60)
    np.testing.assert_array_equal(rooms[-60:], tokens)
    np.testing.assert_array_equal(rooms[-120:-60], np.minimum(tokens + 2 * ends + 3, 256))
    above = np.bincount(data.parents[1], rooms[-120:-60], minlength=6)
    np.testing.assert_array_equal(rooms[1:7], np.minimum(above, 256))
    assert rooms[0] == 256
    without = count_rooms(layout, 2, 256, citation_level=None, most_self=0)
    np.testing.assert_array_equal(without[-120:-60], tokens)
    assert spec.n_shared == 2


def test_an_author_has_room_for_every_paper_that_may_be_served():
    chain = make("one by one", ALL_AUTHORS, 4096)
    layout = chain.layout
    rooms = count_rooms(layout, 2, 4096, citation_level=2, most_self=0)
    papers = rooms[layout.level_start[2] : layout.level_start[3]]
    expected = np.zeros(int(layout.level_start[2]), np.int64)
    for d in range(20):
        several = layout.server[layout.server_start[d] : layout.server_start[d + 1]]
        for n in several if len(several) else [layout.parent[layout.level_start[2] + d]]:
            expected[n] += papers[d]
    np.testing.assert_array_equal(rooms[1 : len(expected)], expected[1:])


def test_given_topics_start_lists_and_arrays_alike():
    chains = [make("one by one", "authors", 300, lists=lists) for lists in (True, False)]
    topics = np.random.default_rng(2).integers(0, 300, len(chains[0].layout.word))
    for chain in chains:
        chain.start(topics)
        assert isinstance(chain.state.topics.customers, CompactRows) == (chain is chains[0])
    expect_same(*chains)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("model", "topics"),
    [
        *(("authors", 2), ("authors", 70), ("authors", 300), ("authors", 4096)),
        *(("no authors", 300), ("fields above authors", 300), (ALL_AUTHORS, 300)),
    ],
)
def test_lists_and_arrays_draw_the_same_bytes(model, topics, kind):
    chains = [make(kind, model, topics, lists=lists) for lists in (True, False)]
    (told, sums), (told_too, sums_too) = (run(chain) for chain in chains)
    expect_same(*chains)
    np.testing.assert_equal(told, told_too)
    for field, mine, theirs in zip(Sums._fields, sums, sums_too, strict=True):
        assert mine.tobytes() == theirs.tobytes(), field
    other = make(kind, model, topics, lists=False)
    other.restore(chains[0].state, chains[0].extra_state())
    again = make(kind, model, topics)
    again.restore(chains[1].state, chains[1].extra_state())
    for chain in (other, again, chains[0]):
        chain.step()
        chain.close()
    expect_same(other, chains[0])
    expect_same(again, chains[0])


@pytest.mark.long
@pytest.mark.parametrize("as_lists", [True, False])
def test_lists_of_nodes_take_changes_of_threads_kept_either_way(monkeypatch, as_lists):
    """Authors with few papers each, whose counts are lists, merged from rows and from lists."""
    chains = [make("snapshots", "authors", 4096, lists=x, documents=600) for x in (True, False)]
    layout = chains[0].layout
    assert (chains[0].state.topics.customers.row[1:7, 1] >= 0).any()
    kept = (1, entries_needed(layout, 2, 4096, 2, 3)) if as_lists else (7, 0)
    monkeypatch.setattr(snapshot_module, "rows_kept", lambda *_: kept)
    for chain in chains:
        run(chain)
    expect_same(*chains)


def test_names_of_a_state_lead_to_lists():
    chain = make("one by one", "authors", 300)
    chain.start()
    named = flatten(chain.state)
    assert named["topics.customers"] is chain.state.topics.customers
    assert named["topics.customers"][3].shape == (300,)
