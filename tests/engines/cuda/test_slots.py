"""Sweeps over slots, on the kernels' twin: the listed posterior, valid counts, every size."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
import test_twin_enumeration as dense
from cuda_tools import small_data
from host_device import EnduringDevice, HostDevice

import citeweave.engines.core.word_side as word_side_module
import citeweave.engines.cuda.proposals as proposals_module
from citeweave.engines.core.data import ChainSettings
from citeweave.engines.core.sparse_sweeps import RefreshSchedule
from citeweave.engines.core.spec import preset
from citeweave.engines.cuda import CudaChain
from citeweave.engines.slots import SparseChain
from citeweave.errors import ParameterError
from reference.capped import CappedPosterior, number_as_they_come
from reference.posterior import TinyPosterior
from reference.run import frequencies, marginal, total_variation
from reference.tiny import tiny_chain

CASES = {
    "one paper": ("scntm", {"documents": ((0, 0, 1),), "groups": (0,), "topics": 3}),
    "two words, many topics": ("scntm", {"documents": ((0, 1),), "groups": (0,), "topics": 5}),
    "no author": ("bursty-hdp-lda", {"documents": ((0, 0, 1, 1),), "groups": (0,)}),
    "a snapshot a paper": (
        "cntm-text",
        {"documents": ((0, 1), (0,)), "groups": (0, 0), "rounds": 2, "topics": 3},
    ),
}


def slots(spec, *, rounds=1, device=EnduringDevice, **corpus):
    """As ``tiny_chain``, on the kernels' twin, over slots."""
    kind = partial(CudaChain, rounds=rounds, device=device(), sparse=True)
    modules = {"chain": SimpleNamespace(DenseChain=kind), "word_side": word_side_module}
    chain = tiny_chain(spec, modules=modules, **({"citations": ()} | corpus))
    chain.upload()  # the parameters that were set on the host
    return chain


def distances(chain, sweeps):
    """Total variation of the assignments, the whole topic side and the word side."""
    topic_exact, word_exact = TinyPosterior(chain).distribution()
    topic_rows, word_rows = dense.run(chain, sweeps)
    topic_seen, word_seen = frequencies(topic_rows), frequencies(word_rows)
    width = len(chain.layout.word) + (len(chain.layout.citing) if chain.spec.citations else 0)
    return (
        total_variation(marginal(topic_exact, width), marginal(topic_seen, width)),
        total_variation(topic_exact, topic_seen),
        total_variation(word_exact, word_seen),
    )


@pytest.mark.parametrize("most_listed", [0, 64])
@pytest.mark.parametrize("case", CASES)
def test_frequencies_match_the_posterior(case, most_listed, monkeypatch):
    """With authors' topics inside and outside; with slots beyond those of the fast memory."""
    if case == "no author" and most_listed == 0:
        pytest.skip("there is no author to list")
    monkeypatch.setattr(proposals_module, "MOST_LISTED", most_listed)
    spec, corpus = CASES[case]
    assignments, topic_side, word_side = distances(slots(spec, **corpus), 30_000)
    assert assignments < 0.045
    assert topic_side < 0.06
    assert word_side < 0.05


def kept(chain, iterations, burn_in, *, freeze=True):
    """Run a chain from iteration 0 on by the schedule of a run; gives what it keeps."""
    chain.proposals.schedule = RefreshSchedule()
    chain.clock[0] = 0
    rows = np.zeros((iterations - burn_in, len(chain.layout.word)), np.int16)
    for iteration in range(iterations):
        if freeze and iteration >= burn_in:
            chain.freeze()
        chain.prepare_sweeps()
        chain.sweep_words()
        chain.clock[0] += 1
        if iteration >= burn_in:
            rows[iteration - burn_in] = chain.arrays["topic"]
    return rows


def test_what_is_kept_has_the_posterior_once_tables_are_frozen():
    """The schedule of 2,000 iterations over and over, nothing frozen, is seen: 0.28 were found."""
    chain = slots("bursty-hdp-lda", documents=((0, 1), (0, 1)), rounds=2, topics=300)
    exact = CappedPosterior(chain).partitions()

    def distance(*runs):
        return total_variation(exact, frequencies(number_as_they_come(np.concatenate(runs))))

    assert distance(kept(chain, 30_200, 200)) < 0.12
    assert distance(*(kept(chain, 2000, 0, freeze=False) for _ in range(6))) > 0.2


class Careless(EnduringDevice):
    """Kernels that take every proposal."""

    def change(self, source):
        exact = "return number * (fabsf(before) * to) < fabsf(after) * from;"
        assert source.count(exact) == 1
        return source.replace(exact, "return true;")


def test_accepting_every_proposal_is_seen():
    spec, corpus = CASES["two words, many topics"]
    assert min(distances(slots(spec, device=Careless, **corpus), 30_000)) > 0.1


def make(topics, *, model="scntm", seed=1, **settings):
    """Make a chain over slots of a small corpus, every count checked after each step."""
    spec = preset(model)
    chosen = ChainSettings(**({"topics": topics, "debug": True, "network_from": 2} | settings))
    return CudaChain(spec, small_data(spec), chosen, seed=seed, device=HostDevice(), sparse=True)


@pytest.mark.parametrize("topics", [2, 40, 4096])
def test_every_number_of_topics_keeps_counts_valid(topics):
    chain = make(topics)
    chain.start()
    infos = [chain.step() for _ in range(5)]
    assert infos[-1].iteration == 5
    assert infos[-1].acceptance > 0.5
    assert 1 < infos[-1].topics <= topics
    assert infos[-1].rate == pytest.approx(200, rel=0.5)


@pytest.mark.parametrize("model", ["cntm-text", "bursty-hdp-lda"])
def test_models_without_citations_or_authors(model):
    chain = make(50, model=model)
    chain.start()
    assert [chain.step().iteration for _ in range(4)] == [1, 2, 3, 4]


class PlannedError(Exception):
    """Raised in place of compiling, with the plan."""


class Planning(HostDevice):
    def prepare(self, plan):
        raise PlannedError(plan)


@pytest.mark.parametrize(("topics", "sparse"), [(60, 0), (300, 1)])
def test_the_number_of_topics_decides_where_nothing_is_said(topics, sparse):
    spec = preset("scntm")
    with pytest.raises(PlannedError) as stopped:
        CudaChain(spec, small_data(spec), ChainSettings(topics=topics), seed=1, device=Planning())
    assert stopped.value.args[0].defines["SPARSE"] == sparse


def test_tables_of_another_chain_are_refused():
    chain = make(40)
    chain.start()
    chain.step()
    tables = chain.extra_state()
    assert {name: table.dtype.kind for name, table in tables.items()}["guess"] in "ui"
    with pytest.raises(ParameterError, match=r"2000 numbers in 'guess'.*Got 1500"):
        make(40).restore(chain.state, tables | {"guess": tables["guess"][:1500]})
    with pytest.raises(ParameterError, match="none"):
        make(40).restore(chain.state, {"guess": tables["guess"]})


def test_a_dense_chain_has_no_tables():
    spec = preset("scntm")
    dense_chain = CudaChain(
        spec, small_data(spec), ChainSettings(topics=5), seed=1, device=HostDevice()
    )
    dense_chain.start()
    dense_chain.step()
    assert dense_chain.extra_state() == {}


def test_sums_by_marked_topics_are_those_of_all(monkeypatch):
    chain = make(40)
    chain.start()
    for _ in range(4):
        chain.step()
    names = ("cite_sum", "cited_sum", "cite_weight", "cited_weight", "node_rate", "report")

    def sums():
        chain._draws.weigh()
        for level in range(chain.citation_level + 1):
            marked = level > 0 and chain.proposals.marks_citations
            chain.run("rate_marked" if marked else "rate_level", level, 1)
        return {name: chain.arrays[name].copy() for name in names}

    assert chain.proposals.marks_citations
    marked = sums()
    monkeypatch.setattr(proposals_module.DeviceProposals, "marks_citations", False)
    for name, array in sums().items():
        np.testing.assert_allclose(marked[name], array, rtol=1e-12)


def test_densities_of_concentrations_by_marked_topics_are_those_of_all(monkeypatch):
    # with lists, there is no room for the means that the other way needs
    monkeypatch.setattr(CudaChain, "_keeps_lists", lambda *_: False)
    chain = make(40)
    chain.start()
    for _ in range(4):
        chain.step()
    betas = [0.2, 1.0, 7.0, 300.0]
    before = chain.arrays["topic_concentration"].copy()

    def densities():
        chain.arrays["topic_concentration"][:] = before
        chain._draws.weigh()
        for level in range(chain.citation_level):
            if not chain.proposals.marks_citations:
                chain.run("set_means", level)
        found = []
        for level in range(chain.citation_level + 1):
            found.append(chain._draws._densities(level, betas, 3.0, 0.5))
            chain.arrays["topic_concentration"][:] = before
        return np.array(found)

    marked = densities()
    monkeypatch.setattr(proposals_module.DeviceProposals, "marks_citations", False)
    np.testing.assert_allclose(marked, densities(), rtol=1e-10)
    assert np.ptp(marked, axis=1).min() > 0.1


@pytest.mark.long
@pytest.mark.parametrize("most_listed", [0, 64])
def test_frequencies_match_the_posterior_with_citations(most_listed, monkeypatch):
    monkeypatch.setattr(proposals_module, "MOST_LISTED", most_listed)
    corpus = {"documents": ((0,), (0,)), "groups": (0, 0), "citations": ((0, 1),)}
    chain = slots("scntm", topics=5, rounds=2, **corpus)
    assignments, topic_side, word_side = distances(chain, 150_000)
    assert assignments < 0.04
    assert topic_side < 0.055
    assert word_side < 0.04


@pytest.mark.parametrize("most_listed", [0, 3, 64])
def test_tables_are_those_of_the_cpu(most_listed, monkeypatch):
    """Up to rounding: the CPU makes them in double precision."""
    monkeypatch.setattr(proposals_module, "MOST_LISTED", most_listed)
    chain = make(40)
    chain.start()
    for _ in range(3):
        chain.step()
    chain.proposals.refresh()
    mine = chain.extra_state()
    spec = preset("scntm")
    other = SparseChain(spec, small_data(spec), ChainSettings(topics=40), seed=1)
    other.restore(chain.state)
    other.proposals.refresh(most_listed)
    theirs = other.extra_state()
    np.testing.assert_array_equal(mine["listed"], theirs["listed"])
    for name in ("guess_root", "guess_mass"):
        np.testing.assert_allclose(mine[name][:40], theirs[name][:40], rtol=1e-4)
    whole = np.stack([tables["guess"].reshape(-1, 40) for tables in (mine, theirs)]).astype(float)
    np.testing.assert_allclose(whole[0], whole[1], atol=1e-4 * whole.max())
