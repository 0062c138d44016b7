"""The kernels' source, built for a host, does what threads do: the same integers, step by step."""

import numpy as np
import pytest
from cuda_tools import FIXED, make, small_data
from host_device import HostDevice

from citeweave.engines.core.estimates import new_sums
from citeweave.engines.core.random import new_generator, standard_gamma, uniform
from citeweave.engines.core.setting_up import all_arrays
from citeweave.engines.core.spec import preset
from citeweave.engines.core.stirling import weight_pair
from citeweave.engines.cuda import memory, scalars
from citeweave.engines.cuda.samples import _NAMES
from citeweave.engines.cuda.scalars import peek_uniforms
from citeweave.errors import RunError

MODELS = ("scntm", "cntm-text", "bursty-hdp-lda")


@pytest.mark.parametrize("rounds", [1, 3])
@pytest.mark.parametrize("model", MODELS)
def test_same_integers_as_threads(model, rounds):
    """Weights are rounded otherwise, which no draw of these steps meets."""
    threads = make(model, device=None, rounds=rounds, **FIXED)
    threads.start()
    threads.step()  # the network is on
    twin = make(model, rounds=rounds, **FIXED)
    twin.restore(threads.state)
    repaired = threads.repaired.copy()
    for _ in range(4):
        theirs, mine = threads.step(), twin.step()
        for a, b in zip(all_arrays(threads.state), all_arrays(twin.state), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)
        for name in ("iteration", "blocked", "topics", "blocked_citations", "acceptance"):
            np.testing.assert_equal(getattr(mine, name), getattr(theirs, name))
        np.testing.assert_allclose(mine.log_likelihood, theirs.log_likelihood, rtol=1e-12)
        np.testing.assert_allclose(mine.rate, theirs.rate, rtol=1e-10)
        np.testing.assert_allclose(mine.concentrations, theirs.concentrations)
    np.testing.assert_array_equal(twin.repaired, threads.repaired - repaired)
    assert twin.repaired.sum() > 0  # else repairs were not seen


@pytest.mark.parametrize("model", MODELS)
def test_given_topics_get_the_counts_of_threads(model):
    """Nothing is drawn: a topic, or a word of one, has one table in each restaurant."""
    chains = [make(model, device=None, **FIXED), make(model, **FIXED)]
    topics = np.random.default_rng(1).integers(
        chains[0].settings.topics, size=len(chains[0].layout.word)
    )
    for chain in chains:
        chain.start(topics)
    for mine, theirs in zip(*(all_arrays(chain.state) for chain in chains), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_long_lists_of_references_are_alike_too():
    """More than 32 references, many to papers of one author and some twice to the same paper."""
    spec = preset("scntm")
    data = small_data(spec, citations=300)
    data.citing[:120] = 0
    data.citing[120:170] = data.citing[120]
    threads = make(spec, device=None, data=data, **FIXED)
    threads.start()
    threads.step()
    twin = make(spec, data=data, **FIXED)
    twin.restore(threads.state)
    for _ in range(4):
        threads.step()
        twin.step()
        for a, b in zip(all_arrays(threads.state), all_arrays(twin.state), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)


def test_documents_too_long_for_packed_counts_are_alike_too():
    """A paper of more than 32,767 words: its counts do not share a number any more."""
    spec = preset("scntm")
    data = small_data(spec, documents=20, authors=3, citations=40)
    rng = np.random.default_rng(5)
    long = np.minimum(rng.geometric(0.1, 33_000), data.n_words).astype(np.int32) - 1
    data = data._replace(
        tokens=np.concatenate([long, data.tokens[data.offsets[1] :]]),
        offsets=np.concatenate([[0], data.offsets[1:] - data.offsets[1] + len(long)]),
    )
    threads = make(spec, device=None, data=data, topics=4, **FIXED)
    threads.start()
    threads.step()
    twin = make(spec, data=data, topics=4, **FIXED)
    assert twin._program.defines["PACKED"] == 0
    twin.restore(threads.state)
    for _ in range(2):
        theirs, mine = threads.step(), twin.step()
        for a, b in zip(all_arrays(threads.state), all_arrays(twin.state), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)
        np.testing.assert_allclose(mine.log_likelihood, theirs.log_likelihood, rtol=1e-12)


def test_weights_of_large_counts():
    """Beyond the dense table, single-precision polynomials against the sampler's own."""
    chain = make("cntm-text")
    words = chain.state.words
    rng = np.random.default_rng(0)
    customers = np.exp(rng.uniform(np.log(512), np.log(5e6), words.customers.shape)).astype(
        np.int32
    )
    share = rng.beta(0.3, 0.3, customers.shape)
    tables = np.clip((share * customers).astype(np.int32), 1, customers)
    words.customers[...] = customers
    words.tables[...] = tables
    words.background_customers[...] = tables.sum(axis=1)
    words.background_tables[...] = 1
    chain.upload()
    pairs = [
        weight_pair(chain.tables.topic_word, int(c), int(t))
        for c, t in zip(customers.ravel(), tables.ravel(), strict=True)
    ]
    stay, opened = np.array(pairs).T
    np.testing.assert_allclose(chain.arrays["stay"], stay, rtol=3e-6)
    np.testing.assert_allclose(chain.arrays["open"], opened, rtol=3e-6)


def test_scalars_are_those_of_the_sampler():
    theirs = new_generator(7)
    mine = theirs.copy()
    for _ in range(3):
        ahead = peek_uniforms(mine, 5)
        assert ahead == [scalars.uniform(mine) for _ in range(5)]
        assert ahead == [uniform(theirs) for _ in range(5)]
        for shape in (0.3, 1.0, 40.0):
            expected = standard_gamma(theirs, shape)
            assert scalars.standard_gamma(mine, shape) == pytest.approx(expected, rel=1e-14)
    np.testing.assert_array_equal(mine, theirs)


def drawn(draws, draw, read):
    values = []
    for _ in range(draws):
        draw()
        values.append(read())
    return np.array(values)


def test_concentrations_and_propensities_have_the_distribution_of_threads():
    """Repeated draws given the same counts: their means, against their own spread."""
    threads = make("scntm", device=None, debug=False)
    threads.start()
    for _ in range(5):
        threads.step()
    twin = make("scntm", debug=False)
    twin.restore(threads.state)
    twin._draws.weigh()

    def read_threads():
        return np.array(threads.concentrations())

    theirs = drawn(400, threads.draw_concentrations, read_threads)
    mine = drawn(400, twin._draws.draw_concentrations, lambda: np.array(twin._draws.levels()))
    for column in range(theirs.shape[1]):
        a, b = np.log(theirs[50:, column]), np.log(mine[50:, column])
        # neighbours in a chain of draws are alike: batches of 35 are taken as independent
        spread = np.sqrt(sum(np.var(x.reshape(10, -1).mean(axis=1), ddof=1) / 10 for x in (a, b)))
        assert abs(a.mean() - b.mean()) < 5 * spread, column

    def read(chain):
        chain._ahead = True
        parameters = chain.state.parameters
        return np.concatenate([parameters.cite, parameters.cited])

    twin.restore(threads.state)
    theirs = drawn(
        300,
        threads.draw_propensities,
        lambda: np.concatenate([threads.state.parameters.cite, threads.state.parameters.cited]),
    )
    mine = drawn(300, twin._draws.draw_propensities, lambda: read(twin))
    # only products are identified, so rows are set on one scale
    n = threads.n_documents
    for values in (theirs, mine):
        values[:, :n] /= values[:, :n].mean(axis=1, keepdims=True)
        values[:, n:] /= values[:, n:].mean(axis=1, keepdims=True)
    spread = np.sqrt((theirs.var(axis=0) + mine.var(axis=0)) / 300)
    score = (theirs.mean(axis=0) - mine.mean(axis=0)) / spread
    assert np.abs(score).max() < 5.5
    assert np.mean(score**2) < 1.6


def test_likelihoods_settle_at_the_same_height():
    def height(**options):
        chain = make("scntm", debug=False, **options)
        chain.start()
        return np.mean([chain.step().log_likelihood for _ in range(150)][60:])

    threads = [height(device=None, seed=seed, **FIXED) for seed in range(4)]
    twin = [height(seed=seed, **FIXED) for seed in range(4)]
    gap = abs(np.mean(threads) - np.mean(twin))
    assert gap < 4 * max(np.std(threads), 0.002 * abs(np.mean(threads)))


def test_too_little_memory_is_said_before_anything_is_copied(monkeypatch):
    monkeypatch.setattr(HostDevice, "room", 2_000_000)
    with pytest.raises(RunError, match="topics would fit"):
        make("scntm")


@pytest.mark.parametrize("model", MODELS)
def test_memory_of_sums_is_asked_for_beforehand(model):
    """What is counted before the run is what the sums of kept samples take then."""
    chain = make(model)
    sums = new_sums(chain)
    counted = memory.bytes_of_sums(chain)
    taken = sum(getattr(sums, name).nbytes for name in _NAMES)
    assert taken <= counted <= taken + 8 * chain.host.words.customers.shape[0]
