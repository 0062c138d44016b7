"""Snapshot chains start, and citations and phi' join, in valid states drawn as they should be.

That neither threads nor parts show is tested with the chains (`test_snapshot_chain.py`, and
`tests/engines/cluster`).
"""

import numpy as np
import pytest

from citeweave import Corpus, simulate
from citeweave.engines.core.data import ChainSettings, Request
from citeweave.engines.core.hierarchy import node_weights
from citeweave.engines.core.invariants import check_state
from citeweave.engines.core.setting_up import all_arrays
from citeweave.engines.core.spec import LEFT_OUT, PAPER, ZERO, preset
from citeweave.engines.slots import SparseChain, SparseSnapshotChain
from citeweave.engines.staged import open_chain
from citeweave.engines.threads import SnapshotChain
from citeweave.model.groups import build_tree
from reference.run import total_variation

NP_ATM = pytest.param("np-atm", marks=pytest.mark.long)
"""The command fits it by sequential sweeps: kernels that are compiled for these tests alone."""
KINDS = {"all topics": SnapshotChain, "slots": SparseSnapshotChain}


@pytest.fixture(scope="module")
def corpus():
    """Papers that cite each other; some have no words, one word, or no author."""
    base = simulate(
        documents=40,
        vocabulary=30,
        topics=3,
        authors=8,
        citations=90,
        words_per_document=12,
        seed=3,
    ).corpus
    kept = np.where(np.arange(40) < 6, np.arange(40) % 2, base.lengths)
    starts = base.offsets[:-1]
    tokens = [base.tokens[at : at + n] for at, n in zip(starts, kept, strict=True)]
    authors = [[] if d % 5 == 0 else [d % 8, (d + 1) % 8][: 1 + d % 2] for d in range(40)]
    return Corpus.from_arrays(
        tokens=np.concatenate(tokens),
        offsets=np.concatenate([[0], np.cumsum(kept)]),
        citations=np.array(base.citations),
        author_ids=np.array([author for paper in authors for author in paper]),
        author_offsets=np.cumsum([0, *map(len, authors)]),
        author_names=[f"author {i}" for i in range(8)],
    )


def ask(corpus, spec="scntm", *, topics=5, rounds=2, threads=2, seed=1, **settings):
    spec = preset(spec) if isinstance(spec, str) else spec
    kind = {"contributions": "position"} if spec.tables_choose_author else {}
    data = build_tree(corpus, spec, eta=0, unknown="shared", **kind).data
    chosen = ChainSettings(topics=topics, **settings)
    return Request(spec, data, chosen, seed, threads=threads, rounds=rounds)


def expect_one_table_each(chain):
    counts, words = chain.state.topics, chain.state.words
    np.testing.assert_array_equal(np.asarray(counts.tables), np.asarray(counts.customers) > 0)
    np.testing.assert_array_equal(words.tables, words.customers > 0)
    np.testing.assert_array_equal(words.background_tables, words.background_customers > 0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("topics", [1, 2, 300, 4096])
@pytest.mark.parametrize("rounds", [1, 7])
def test_a_start_is_valid_with_any_number_of_topics(corpus, kind, topics, rounds):
    chain = KINDS[kind].open(ask(corpus, topics=topics, rounds=rounds, network_from=0))
    chain.start()
    check_state(chain.spec, chain.layout, chain.state)
    expect_one_table_each(chain)
    assert len(np.unique(chain.state.assignments.topic)) > topics / 40
    assert not chain.repaired.any()
    chain.switch_network_on()
    check_state(chain.spec, chain.layout, chain.state)
    expect_one_table_each(chain)
    assert (chain.state.assignments.citing_topic >= 0).all()
    assert not chain.repaired.any()
    chain.close()


MODELS = {
    "bursts": preset("scntm"),
    "no bursts": preset("scntm").without("phi'"),
    "text alone": preset("cntm-text"),
    "no authors": preset("bursty-hdp-lda"),
    "all authors": preset("scntm").with_all_authors(),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("given", [False, True])
def test_a_start_is_valid_in_every_model(corpus, kind, model, given):
    wanted = ask(corpus, MODELS[model], topics=40, network_from=1, debug=True)
    topics = np.random.default_rng(1).integers(40, size=len(wanted.data.tokens)) if given else None
    chain = KINDS[kind].open(wanted)
    chain.start(topics)
    check_state(chain.spec, chain.layout, chain.state)
    for _ in range(3):  # each is checked
        chain.step()
    chain.close()


@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("model", [NP_ATM])
def test_words_that_choose_their_author_start_at_authors_of_their_paper(corpus, model, given):
    wanted = ask(corpus, model, debug=True)
    topics = np.random.default_rng(1).integers(5, size=len(wanted.data.tokens)) if given else None
    chain = SnapshotChain.open(wanted)
    chain.start(topics)
    check_state(chain.spec, chain.layout, chain.state)
    assert np.unique(chain.state.assignments.path).tolist() == [0, 1]
    chain.step()
    chain.close()


@pytest.mark.parametrize("self_citations", [LEFT_OUT, PAPER, ZERO])
def test_citations_join_whatever_is_known_of_self_citations(corpus, self_citations):
    options = {"network_from": 1, "self_citations": self_citations, "debug": True}
    for kind, topics in ((SnapshotChain, 5), (SparseSnapshotChain, 300)):
        chain = kind.open(ask(corpus, topics=topics, **options))
        chain.start()
        infos = [chain.step() for _ in range(3)]
        assert infos[-1].rate == pytest.approx(90, rel=0.5)
        chain.close()


def test_topics_are_uniform_and_another_seed_gives_others(corpus):
    drawn = []
    for seed in range(60):
        chain = SnapshotChain.open(ask(corpus, topics=4, seed=seed))
        chain.start()
        drawn.append(chain.state.assignments.topic.copy())
        chain.close()
    drawn = np.array(drawn)
    assert len({row.tobytes() for row in drawn}) == 60
    expected = drawn.size / 4
    assert np.abs(np.bincount(drawn.ravel()) - expected).max() < 4 * np.sqrt(expected)
    pairs = np.bincount((4 * drawn[:, :-1] + drawn[:, 1:]).ravel(), minlength=16)
    assert np.abs(pairs - pairs.mean()).max() < 4 * np.sqrt(pairs.mean())  # neighbours are free


def test_first_citing_topics_have_the_weights_of_both_ends(corpus):
    """As if there were no other citation, though one paper cites several."""
    chain = SnapshotChain.open(ask(corpus, topics=3, rounds=3, network_from=9))
    chain.start()
    for _ in range(4):
        chain.step()
    layout, state = chain.layout, chain.state
    edge = int(np.flatnonzero(np.bincount(layout.citing)[layout.citing] > 1)[-1])
    expected = np.ones(3)
    for end in (layout.citing[edge], layout.cited[edge]):
        row, weights = np.zeros(chain.citation_level + 1, np.int64), np.zeros(3)
        node = layout.citation_node + end
        for level in range(chain.citation_level, -1, -1):
            row[level], node = node, layout.parent[node]
        parameters = state.parameters
        node_weights(chain.tables, state.topics, parameters, row, chain.citation_level, weights)
        expected *= weights
    expected /= expected.sum()
    assert expected.max() - expected.min() > 0.1  # else uniform topics would do
    before = all_arrays(state)
    kept, found = [array.copy() for array in before], np.zeros(3)
    for _ in range(4000):
        chain.start_citations()
        found[state.assignments.citing_topic[edge]] += 1
        for array, old in zip(before[:-2], kept[:-2], strict=True):  # not the random state
            array[...] = old
    chain.close()
    shares = {(k,): share for k, share in enumerate(found / found.sum())}
    assert total_variation(shares, {(k,): share for k, share in enumerate(expected)}) < 0.04


@pytest.mark.parametrize("kind", KINDS)
def test_bursts_join_without_a_draw(corpus, kind):
    """Each token has a table of its own, so the counts of phi stay as they are."""
    wanted = ask(corpus, topics=40, network_from=1, burst_from=2, debug=True)
    chain = open_chain(KINDS[kind], wanted)
    chain.start()
    for _ in range(2):
        chain.step()
    before = [array.copy() for array in (*chain.state.words, chain.state.random)]
    chain._join()
    assert chain.bursting
    check_state(chain.spec, chain.layout, chain.state)
    assert (chain.state.assignments.burst_table == 1).all()
    for mine, theirs in zip((*chain.state.words, chain.state.random), before, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    chain.step()
    assert (chain.state.assignments.burst_table == 0).any()
    chain.close()


def test_sequential_chains_keep_their_start(corpus):
    """Theirs seats tokens one after the other, from the chain's own stream."""
    chain = SparseChain.open(ask(corpus, topics=40))
    chain.start()
    assert (chain.state.words.tables > 1).any()
    chain.close()
