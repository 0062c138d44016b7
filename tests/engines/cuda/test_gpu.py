"""On a GPU: what the twin does, the same bytes from run to run, and every size of rows."""

import numpy as np
import pytest
from cuda_tools import FIXED, make, small_data

from citeweave.engines.core.estimates import add_sample, new_sums
from citeweave.engines.core.setting_up import all_arrays
from citeweave.engines.core.spec import preset
from citeweave.engines.cuda.device import CudaDevice
from citeweave.errors import CiteweaveError

pytestmark = pytest.mark.gpu


@pytest.fixture(autouse=True)
def _gpu():
    try:
        CudaDevice()
    except CiteweaveError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("model", ["scntm", "cntm-text", "bursty-hdp-lda"])
def test_the_twin_and_the_gpu_draw_alike(model):
    """One topic a lane, so that both try them in the same order; roundings may differ."""
    data = small_data(preset(model), documents=400, citations=1500)
    settings = FIXED | {"self_citations": "left-out"}
    twin = make(model, data=data, topics=4, **settings)
    chain = make(model, device=CudaDevice, data=data, topics=4, **settings)
    twin.start()
    chain.start()
    for _ in range(2):
        twin.step()
        chain.step()
    a, b = twin.state.assignments, chain.state.assignments
    assert np.mean(a.topic != b.topic) < 0.01
    assert np.mean(a.citing_topic != b.citing_topic) < 0.01
    assert np.sum(a.self_topic != b.self_topic) <= 0.05 * np.sum(a.self_topic >= 0)
    assert np.mean(twin.state.topics.tables != chain.state.topics.tables) < 0.01


@pytest.mark.parametrize("topics", [2, 5, 20, 50, 150, 700])
def test_counts_are_valid_and_bytes_the_same_twice(topics):
    """Rows of few topics, of several lanes and in the card's own memory; all is sampled."""
    data = small_data(preset("scntm"), documents=3000, citations=9000)
    states = []
    for _ in range(2):
        chain = make(
            "scntm",
            device=CudaDevice,
            data=data,
            topics=topics,
            network_from=2,
            self_citations="left-out",
        )
        chain.start()
        infos = [chain.step() for _ in range(6)]
        assert infos[-1].acceptance > 0.5
        states.append([array.copy() for array in all_arrays(chain.state)])
    for first, second in zip(*states, strict=True):
        np.testing.assert_array_equal(first, second)


def test_sums_of_samples_are_those_of_the_sampler():
    chain = make("scntm", device=CudaDevice, topics=40, network_from=1)
    chain.start()
    sums, expected = new_sums(chain), new_sums(chain)
    for _ in range(3):
        chain.step()
        chain.keep_sample(sums)
        add_sample(chain, expected)
    chain.collect_samples(sums)
    for mine, theirs in zip(sums, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=2e-6, atol=1e-9)


def test_two_chains_take_turns():
    """Their programs are the same, so they share a module; each must find its own arrays."""
    data = small_data(preset("scntm"))
    alone = make("scntm", device=CudaDevice, data=data, seed=1)
    alone.start()
    for _ in range(3):
        alone.step()
    chains = [make("scntm", device=CudaDevice, data=data, seed=seed) for seed in (1, 2)]
    for chain in chains:
        chain.start()
    for _ in range(3):
        for chain in chains:
            chain.step()
    for mine, theirs in zip(all_arrays(alone.state), all_arrays(chains[0].state), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_likelihoods_settle_where_threads_settle():
    def height(**options):
        chain = make("scntm", debug=False, topics=12, **options)
        chain.start()
        return np.mean([chain.step().log_likelihood for _ in range(150)][60:])

    threads = [height(device=None, seed=seed, **FIXED) for seed in range(4)]
    gpu = [height(device=CudaDevice, seed=seed, **FIXED) for seed in range(4)]
    gap = abs(np.mean(threads) - np.mean(gpu))
    assert gap < 4 * max(np.std(threads), 0.002 * abs(np.mean(threads)))
