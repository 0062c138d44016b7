"""Sweeps over slots on a GPU: the same bytes twice, valid counts, the height of dense sweeps."""

import numpy as np
import pytest
from cuda_tools import FIXED, small_data

from citeweave.engines.core.data import ChainSettings
from citeweave.engines.core.setting_up import all_arrays
from citeweave.engines.core.spec import preset
from citeweave.engines.cuda import CudaChain
from citeweave.engines.cuda.device import CudaDevice
from citeweave.errors import CiteweaveError, RunError

pytestmark = pytest.mark.gpu


@pytest.fixture(autouse=True)
def _gpu():
    try:
        CudaDevice()
    except CiteweaveError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("topics", [3, 300, 4096])
def test_counts_are_valid_and_bytes_the_same_twice(topics):
    """More documents than groups, so that every group has several."""
    spec = preset("scntm")
    data = small_data(spec, documents=12_000, authors=900, citations=40_000)
    settings = ChainSettings(topics=topics, network_from=2, debug=True)
    states = []
    for _ in range(2):
        chain = CudaChain(spec, data, settings, seed=1, sparse=True)
        chain.start()
        infos = [chain.step() for _ in range(5)]
        assert infos[-1].acceptance > 0.5
        states.append([array.copy() for array in all_arrays(chain.state)])
    for first, second in zip(*states, strict=True):
        np.testing.assert_array_equal(first, second)


def test_likelihoods_settle_where_those_of_dense_sweeps_do():
    spec = preset("scntm")
    data = small_data(spec, documents=300, citations=800)

    def height(*, sparse, seed):
        settings = ChainSettings(topics=60, **FIXED)
        chain = CudaChain(spec, data, settings, seed=seed, sparse=sparse)
        chain.start()
        return np.mean([chain.step().log_likelihood for _ in range(300)][150:])

    dense = [height(sparse=False, seed=seed) for seed in range(4)]
    slots = [height(sparse=True, seed=seed) for seed in range(4)]
    gap = abs(np.mean(dense) - np.mean(slots))
    assert gap < 4 * max(np.std(dense), 0.002 * abs(np.mean(dense)))


class InRows(CudaChain):
    """A chain whose counts are dense rows."""

    def _keeps_lists(self, spec, data):  # noqa: ARG002 (asked of every chain)
        return False


@pytest.mark.parametrize("topics", [300, 1000])
def test_lists_and_rows_draw_alike(topics):
    """Other kernels, which may round differently: a token here and there may differ."""
    spec = preset("scntm")
    data = small_data(spec, documents=4000, authors=300, citations=12_000)
    settings = ChainSettings(topics=topics, network_from=1)
    chains = [kind(spec, data, settings, seed=1, rounds=2) for kind in (CudaChain, InRows)]
    for chain in chains:
        chain.start()
        for _ in range(2):
            chain.step()
    lists, rows = (chain.state for chain in chains)
    assert chains[0].arrays["counts"].nbytes < chains[1].arrays["customers"].nbytes / 2
    for name in ("topic", "citing_topic", "burst_table"):
        mine, theirs = getattr(lists.assignments, name), getattr(rows.assignments, name)
        assert np.mean(mine != theirs) < 0.02, name


def test_frozen_tables_stay_as_they_are():
    spec = preset("scntm")
    settings = ChainSettings(topics=300, network_from=2)
    chain = CudaChain(spec, small_data(spec), settings, seed=1, sparse=True)
    chain.start()
    for _ in range(8):
        chain.step()
    chain.freeze()
    before = chain.extra_state()
    for _ in range(3):  # new ones would be due before iterations 8 and 10
        chain.step()
    for name, table in chain.extra_state().items():
        if name != "guess_mass":  # the citations' follows lambdaT
            np.testing.assert_array_equal(table, before[name])


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("name", "value"), [("stay", np.nan), ("topic_concentration", 1e-60)])
def test_a_number_that_is_none_ends_the_run(name, value, sparse):
    spec = preset("scntm")
    settings = ChainSettings(topics=60, network_from=2)
    chain = CudaChain(spec, small_data(spec), settings, seed=1, sparse=sparse)
    chain.start()
    for _ in range(4):
        chain.step()
    values = chain.device.download(chain.arrays[name])
    values[7] = value
    chain.device.upload(chain.arrays[name], values)
    with pytest.raises(RunError, match="Iteration 5 stops"):
        chain.step()
