"""Snapshot chains: the same bytes for any number of threads, and counts that add up."""

import numpy as np
import pytest
from parallel_tools import snapshot_chain

from citeweave import simulate
from citeweave.engines.core.data import ChainSettings
from citeweave.engines.core.invariants import check_state
from citeweave.engines.core.setting_up import all_arrays
from citeweave.engines.core.spec import preset
from citeweave.engines.dense.chain import DenseChain
from citeweave.engines.threads import SnapshotChain
from citeweave.errors import ParameterError
from citeweave.model.groups import build_tree

NP_ATM = pytest.param("np-atm", marks=pytest.mark.long)
"""The command fits it by sequential sweeps: kernels that are compiled for these tests alone."""


@pytest.fixture(scope="module")
def corpus():
    return simulate(documents=80, vocabulary=60, topics=3, authors=15, citations=150, seed=5).corpus


def make(corpus, *, spec="scntm", kind=SnapshotChain, topics=5, seed=1, **options):
    model = preset(spec)
    data = build_tree(corpus, model, eta=0, unknown="shared").data
    settings = ChainSettings(topics=topics, network_from=2, debug=True)
    chain = kind(model, data, settings, seed=seed, **options)
    chain.start()
    return chain


@pytest.mark.parametrize("spec", ["scntm", "cntm-text", "bursty-hdp-lda", NP_ATM])
def test_threads_do_not_show(corpus, spec):
    """Every count is checked against the assignments after each step, too (debug)."""
    chains = [make(corpus, spec=spec, threads=threads, rounds=2) for threads in (1, 2, 5)]
    infos = [[chain.step() for _ in range(4)] for chain in chains]
    for chain in chains[1:]:
        for mine, first in zip(all_arrays(chain.state), all_arrays(chains[0].state), strict=True):
            np.testing.assert_array_equal(mine, first)
    assert infos[0][-1].log_likelihood == infos[2][-1].log_likelihood
    assert infos[0][-1].acceptance == infos[1][-1].acceptance or spec != "scntm"


@pytest.mark.parametrize("spec", ["scntm", NP_ATM])
@pytest.mark.parametrize("whole", [True, False])
def test_long_rows_do_not_show(corpus, spec, whole, monkeypatch):
    """What is done with many topics, with a copy of all words and without, changes no byte."""
    usual = make(corpus, spec=spec, rounds=2)
    monkeypatch.setattr("citeweave.engines.threads.chain.FEW_TOPICS", 0)
    monkeypatch.setattr("citeweave.engines.threads.chain.keeps_all_words", lambda *_: whole)
    long = make(corpus, spec=spec, rounds=2, threads=2)
    for _ in range(4):
        usual.step()
        long.step()
    assert usual._sweep_documents is not long._sweep_documents
    assert (bool(long._worlds[0].whole[0]), bool(usual._worlds[0].whole[0])) == (whole, False)
    for mine, theirs in zip(all_arrays(usual.state), all_arrays(long.state), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_a_copy_of_all_words_is_made_where_it_pays(corpus, monkeypatch):
    """Here 60 words stand in 80 papers, each word several times: a copy pays for one round."""
    chain = make(corpus, topics=100)
    assert chain._whole
    assert not make(corpus, topics=96)._whole
    assert not make(corpus, topics=100, rounds=80)._whole
    monkeypatch.setattr("citeweave.engines.threads.world.MOST_BYTES", 16 * 60 * 100)
    assert chain._whole == make(corpus, topics=100)._whole
    assert not make(corpus, topics=100, threads=2)._whole


def test_rounds_and_seeds_do(corpus):
    chains = [make(corpus), make(corpus, rounds=4), make(corpus, seed=2)]
    for chain in chains:
        for _ in range(3):
            chain.step()
    topics = [chain.state.assignments.topic for chain in chains]
    assert not np.array_equal(topics[0], topics[1])
    assert not np.array_equal(topics[0], topics[2])


def test_tables_are_repaired_and_stay_valid(corpus):
    chain = make(corpus)
    for _ in range(10):
        chain.step()
    check_state(chain.spec, chain.layout, chain.state)
    assert chain.repaired.sum() > 0  # else this corpus could not show that repairs are right


def test_likelihoods_settle_at_the_same_height(corpus):
    """Means over many sweeps, against the spread of the sequential chain's own seeds."""

    def height(**options):
        chain = make(corpus, **options)
        return np.mean([chain.step().log_likelihood for _ in range(120)][40:])

    sequential = [height(kind=DenseChain, seed=seed) for seed in range(4)]
    snapshot = [height(rounds=4, seed=seed) for seed in range(4)]
    gap = abs(np.mean(sequential) - np.mean(snapshot))
    assert gap < 4 * max(np.std(sequential), 0.002 * abs(np.mean(sequential)))


@pytest.mark.parametrize("options", [{"threads": 0}, {"rounds": 0}])
def test_nonsense_is_refused(corpus, options):
    with pytest.raises(ParameterError, match="at least one"):
        make(corpus, **options)


def test_empty_documents_are_passed_over():
    chain = snapshot_chain(
        "scntm", documents=((), (0, 1), ()), groups=(0, 0, 1), citations=((0, 1), (2, 1))
    )
    for _ in range(5):
        chain.step()
    check_state(chain.spec, chain.layout, chain.state)
