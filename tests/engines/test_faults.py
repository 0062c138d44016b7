"""Every engine keeps to numbers that single precision can hold, and stops where it cannot."""

import dataclasses

import numpy as np
import pytest

from citeweave import simulate
from citeweave.engines.core.data import ChainSettings, Request
from citeweave.engines.core.slice_sampling import SMALLEST
from citeweave.engines.core.spec import preset
from citeweave.engines.registry import ENGINES
from citeweave.errors import RunError
from citeweave.model.groups import build_tree

ALONE = [name for name in ENGINES if name != "ray"]  # whose workers look at what they have
ON_THE_CPU = [name for name in ALONE if name != "cuda"]
VAGUE = (0.03, 0.03)


@pytest.fixture(autouse=True)
def _on_the_twin(twin):
    """Let the GPU's kernels run on the host."""


@pytest.fixture(scope="module")
def corpus():
    sizes = {"documents": 120, "words_per_document": 20, "vocabulary": 60, "citations": 100}
    return simulate(**sizes, topics=8, authors=12, seed=5).corpus


def open_chain(corpus, name, *, topics=40, shared=True, **settings):
    spec = preset("scntm")
    levels = [
        dataclasses.replace(level, shared_concentration=shared) if level.nodes == "topic" else level
        for level in spec.word_side
    ]
    spec = dataclasses.replace(spec, word_side=tuple(levels))
    data = build_tree(corpus, spec, eta=0, unknown="shared").data
    chosen = ChainSettings(topics=topics, network_from=2, **settings)
    chain = ENGINES[name].open(Request(spec, data, chosen, 1, threads=2, rounds=2))
    chain.start()
    return chain


@pytest.mark.parametrize("name", ON_THE_CPU)
def test_a_vague_prior_of_each_topic_keeps_topics_in_use(corpus, name):
    """Topics without tokens draw what is as good as zero; others have their say all the same.

    Where draws had no least, dense sweeps fell from 98 topics to 7, and sparse ones rose to 100.
    """
    chain = open_chain(corpus, name, topics=100, shared=False, concentration_prior=VAGUE)
    topics, least = [], []
    for _ in range(80):
        topics.append(chain.step().topics)
        least.append(chain.state.parameters.topic_word_concentration.min())
    chain.close()
    assert min(topics) > 70
    assert min(least) == SMALLEST


@pytest.mark.parametrize("name", ALONE)
def test_no_draw_of_a_concentration_is_below_the_least(corpus, name):
    chain = open_chain(corpus, name, concentration_prior=(1.0, 1e12))
    for _ in range(3):
        info = chain.step()
    chain.close()
    assert min(info.concentrations) >= SMALLEST


@pytest.mark.parametrize("name", ALONE)
def test_a_concentration_too_small_for_weights_ends_the_run(corpus, name):
    """As a run of a release that did not look may have stored it."""
    chain = open_chain(corpus, name)
    chain.step()
    chain.state.parameters.topic_word_concentration[3] = 1e-60
    chain.restore(chain.state)
    with pytest.raises(RunError, match=r"Iteration 2 stops: .*less vague concentration_prior"):
        chain.step()
    assert chain.iteration == 1
    chain.close()


def test_a_group_concentration_too_small_ends_the_run_on_a_gpu(corpus):
    """Sums for drawing concentrations then are no numbers, with which a slice never ended."""
    chain = open_chain(corpus, "cuda")
    for _ in range(4):
        chain.step()
    chain.arrays["topic_concentration"][7] = 1e-60
    with pytest.raises(RunError, match="Iteration 5 stops"):
        chain.step()
    chain.close()


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("name", ALONE)
def test_a_poisoned_weight_ends_the_run(corpus, name, value, monkeypatch):
    chain = open_chain(corpus, name)
    for _ in range(3):
        chain.step()
    if name == "cuda":
        chain.arrays["stay"].reshape(-1, 40)[5, 7] = value
        monkeypatch.setattr(chain, "_repair_words", lambda: None)  # renews what changes
    else:
        chain.cache.stay[5, 7] = value
        monkeypatch.setattr(chain, "refresh_cache", lambda: None)  # renews all, on one core
    with pytest.raises(RunError, match=f"Iteration 4 stops: A0 of phi at 5, 7 is {value}"):
        chain.step()
    chain.close()


@pytest.mark.parametrize(
    ("field", "said"), [("log_likelihood", "log likelihood"), ("rate", "number of citations")]
)
def test_a_result_that_is_no_number_ends_the_run(corpus, field, said, monkeypatch):
    chain = open_chain(corpus, "dense")
    for _ in range(3):
        chain.step()
    found = chain.measure()._replace(**{field: np.nan})
    monkeypatch.setattr(chain, "measure", lambda: found)
    with pytest.raises(RunError, match=f"{said}.* is nan"):
        chain.step()
