"""On a GPU: parts of a chain that share it give the bytes of the chain in one piece."""

from copy import deepcopy
from functools import cache

import numpy as np
import pytest
from cuda_tools import small_data
from part_runs import differences, run

from citeweave.engines.cluster.in_process import InProcessChain
from citeweave.engines.core.capabilities import CUDA
from citeweave.engines.core.data import ChainSettings, ClusterWorkers, Request
from citeweave.engines.core.setting_up import all_arrays
from citeweave.engines.core.spec import preset
from citeweave.engines.cuda.chain import CudaChain
from citeweave.engines.cuda.device import CudaDevice
from citeweave.engines.staged import open_chain
from citeweave.errors import CiteweaveError

pytestmark = pytest.mark.gpu


@pytest.fixture(autouse=True)
def _gpu():
    try:
        CudaDevice()
    except CiteweaveError as error:
        pytest.skip(str(error))


def wanted(model, topics, rounds, authors, burst_from=0):
    spec = preset(model)
    data = small_data(spec, documents=3000, citations=9000, authors=authors)
    settings = ChainSettings(topics, network_from=1, burst_from=burst_from)
    return Request(spec, data, settings, seed=1, rounds=rounds)


@cache
def in_one_piece(*case):
    return run(open_chain(CudaChain, wanted(*case)))


def in_parts(request, workers):
    return InProcessChain.open(request._replace(workers=ClusterWorkers(workers, device=CUDA)))


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize(
    "case",
    [
        ("scntm", 5, 1, 900, 2),
        ("scntm", 20, 3, 900),
        ("scntm", 50, 1, 3),  # groups that are divided themselves
        ("scntm", 150, 1, 300),
        ("cntm-text", 20, 1, 300),
        ("bursty-hdp-lda", 20, 1, 3),
        ("scntm", 300, 2, 900, 2),  # over slots
        ("scntm", 1000, 1, 12),  # groups that are divided, and have too many topics to be listed
        ("cntm-text", 4096, 1, 300),
    ],
    ids=lambda case: "-".join(str(one) for one in case),
)
def test_parts_give_the_bytes_of_the_whole(case, workers):
    expected = in_one_piece(*case)
    assert differences(run(in_parts(wanted(*case), workers)), expected) == []


@pytest.mark.parametrize("topics", [20, 300])
def test_parts_go_on_from_a_chain_in_one_piece_and_back(topics):
    request = wanted("scntm", topics, 1, 900)
    whole = open_chain(CudaChain, request)
    whole.start()
    for _ in range(3):
        whole.step()
    parts = in_parts(request, 2)
    # the state is handed over with the first step
    parts.restore(deepcopy(whole.state), whole.extra_state())
    for _ in range(2):
        whole.step()
        parts.step()
    for mine, theirs in zip(all_arrays(parts.state), all_arrays(whole.state), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    again = open_chain(CudaChain, request)
    again.restore(parts.state, parts.extra_state())
    assert again.step().log_likelihood == whole.step().log_likelihood
    for chain in (whole, parts, again):
        chain.close()
