"""A chain in parts on the kernels' twin gives the bytes of the whole one on it."""

import pytest
from host_device import HostDevice
from part_tools import differences, draw_corpus, request_for, run

from citeweave.engines.cluster.in_process import InProcessChain
from citeweave.engines.core.capabilities import CUDA
from citeweave.engines.core.data import ClusterWorkers
from citeweave.engines.core.spec import LEFT_OUT, PAPER
from citeweave.engines.cuda import chain as cuda_chain
from citeweave.engines.staged import open_chain

CASES = {
    "authors": {"rounds": 1},
    "authors, three rounds": {"rounds": 3, "burst_from": 3},
    "a group of half the papers": {"corpus": {"authors": 2}, "rounds": 1},
    "a divided group in three rounds": {"corpus": {"authors": 2}, "rounds": 3},
    "self-citations as in the paper": {"self_citations": PAPER, "rounds": 1},
    "no authors": {"model": "bursty-hdp-lda", "rounds": 1},
    "text alone": {"model": "cntm-text", "rounds": 2},
    "fixed rates": {"sample_concentrations": False, "sample_propensities": False},
}


@pytest.fixture(scope="module", autouse=True)
def twin():
    """Let chains on a GPU run on the kernels' twin."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cuda_chain, "CudaDevice", HostDevice)
        yield


def in_parts(request, workers):
    return InProcessChain.open(request._replace(workers=ClusterWorkers(workers, device=CUDA)))


@pytest.fixture(scope="module", params=CASES)
def case(request):
    options = {"self_citations": LEFT_OUT} | CASES[request.param]
    wanted = request_for(draw_corpus(**options.pop("corpus", {})), **options)
    return wanted, run(open_chain(cuda_chain.CudaChain, wanted))


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_parts_give_the_bytes_of_the_whole(case, workers):
    wanted, expected = case
    assert differences(run(in_parts(wanted, workers)), expected) == []
