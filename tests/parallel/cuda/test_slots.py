"""Sweeps over slots, on the kernels' twin: the listed posterior, valid counts, every size."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
import test_twin_enumeration as dense
from cuda_tools import small_data
from host_device import HostDevice

import citeweave.parallel.cuda.proposals as proposals_module
import citeweave.sampler.word_side as word_side_module
from citeweave.errors import ParameterError
from citeweave.parallel.cuda import CudaChain
from citeweave.sampler.chain import Settings, _flat
from citeweave.sampler.spec import preset
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


def slots(spec, *, rounds=1, device=HostDevice, **corpus):
    """As ``tiny_chain``, on the kernels' twin, over slots."""
    kind = partial(CudaChain, rounds=rounds, device=device(), sparse=True)
    modules = {"chain": SimpleNamespace(Chain=kind), "word_side": word_side_module}
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
    monkeypatch.setattr(proposals_module, "_MOST_LISTED", most_listed)
    spec, corpus = CASES[case]
    assignments, topic_side, word_side = distances(slots(spec, **corpus), 30_000)
    assert assignments < 0.045
    assert topic_side < 0.06
    assert word_side < 0.05


class Careless(HostDevice):
    """Kernels that take every proposal."""

    def change(self, source):
        exact = "stands = numbers[DRAW_STAND] * (fabsf(before) * to) < fabsf(after) * from;"
        assert exact in source
        return source.replace(exact, "stands = true;")


def test_accepting_every_proposal_is_seen():
    spec, corpus = CASES["two words, many topics"]
    assert min(distances(slots(spec, device=Careless, **corpus), 30_000)) > 0.1
