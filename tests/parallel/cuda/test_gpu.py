"""On a GPU: what the twin does, the same bytes from run to run, and every size of rows."""

import numpy as np
import pytest
from cuda_tools import FIXED, make, small_data

from citeweave.errors import CiteweaveError
from citeweave.parallel.cuda.device import CudaDevice
from citeweave.sampler.chain import _flat
from citeweave.sampler.spec import preset

pytestmark = pytest.mark.gpu


@pytest.fixture(autouse=True)
def _gpu():
    try:
        CudaDevice()
    except CiteweaveError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("model", ["scntm", "cntm-text", "bursty-hdp-lda"])
def test_the_twin_and_the_gpu_draw_alike(model):
    """Few topics, which both try in the same order; a draw between two roundings may differ."""
    data = small_data(preset(model), documents=400, citations=1500)
    twin = make(model, data=data, **FIXED)
    chain = make(model, device=CudaDevice, data=data, **FIXED)
    twin.start()
    chain.start()
    for _ in range(2):
        twin.step()
        chain.step()
    a, b = twin.state.assignments, chain.state.assignments
    assert np.mean(a.topic != b.topic) < 0.01
    assert np.mean(a.citing_topic != b.citing_topic) < 0.01
    assert np.mean(twin.state.topics.tables != chain.state.topics.tables) < 0.01


@pytest.mark.parametrize("topics", [2, 5, 20, 50, 150, 700])
def test_counts_are_valid_and_bytes_the_same_twice(topics):
    """Rows of few topics, of several lanes and in the card's own memory; all is sampled."""
    data = small_data(preset("scntm"), documents=3000, citations=9000)
    states = []
    for _ in range(2):
        chain = make("scntm", device=CudaDevice, data=data, topics=topics, network_from=2)
        chain.start()
        infos = [chain.step() for _ in range(6)]
        assert infos[-1].acceptance > 0.5
        states.append([array.copy() for array in _flat(chain.state)])
    for first, second in zip(*states, strict=True):
        np.testing.assert_array_equal(first, second)


def test_likelihoods_settle_where_threads_settle():
    def height(**options):
        chain = make("scntm", debug=False, topics=12, **options)
        chain.start()
        return np.mean([chain.step().log_likelihood for _ in range(150)][60:])

    threads = [height(device=None, seed=seed, **FIXED) for seed in range(4)]
    gpu = [height(device=CudaDevice, seed=seed, **FIXED) for seed in range(4)]
    gap = abs(np.mean(threads) - np.mean(gpu))
    assert gap < 4 * max(np.std(threads), 0.002 * abs(np.mean(threads)))
