"""Every count can be rebuilt from assignments and indicators, on any corpus (issue: e)."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from citeweave.engines.core.data import ChainSettings
from citeweave.engines.core.invariants import check_state
from citeweave.engines.core.spec import PRESETS, preset
from citeweave.engines.dense.chain import DenseChain
from reference.tiny import tiny_data


@st.composite
def corpora(draw):
    n_documents = draw(st.integers(1, 5))
    n_words = draw(st.integers(1, 4))
    document = st.lists(st.integers(0, n_words - 1), max_size=6)
    documents = draw(st.lists(document, min_size=n_documents, max_size=n_documents))
    if draw(st.booleans()):
        documents[0] = [0] * draw(st.integers(1, 60))
    groups = draw(st.lists(st.integers(0, 2), min_size=n_documents, max_size=n_documents))
    pairs = [(i, j) for i in range(n_documents) for j in range(n_documents) if i != j]
    citations = draw(st.lists(st.sampled_from(pairs), max_size=8, unique=True)) if pairs else []
    return {
        "documents": documents,
        "groups": groups,
        "citations": citations,
        "n_words": n_words,
    }


@pytest.mark.parametrize("name", PRESETS)
@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(
    corpus=corpora(),
    topics=st.integers(1, 5),
    seed=st.integers(0, 2**32),
    network_from=st.integers(0, 2),
)
def test_counts_add_up_after_every_sweep(name, corpus, topics, seed, network_from):
    spec = preset(name)
    chain = DenseChain(
        spec,
        tiny_data(spec, **corpus),
        ChainSettings(topics=topics, network_from=network_from, debug=True),
        seed=seed,
    )
    chain.start()
    check_state(spec, chain.layout, chain.state)
    for _ in range(4):
        info = chain.step()
        assert np.isfinite(info.log_likelihood)
        assert 0 <= info.topics <= topics
    parameters = chain.state.parameters
    for array in parameters:
        assert np.isfinite(array).all()
    for array in (parameters.topic_concentration, parameters.cite, parameters.topic_scale):
        assert (array > 0).all()


@pytest.mark.parametrize(
    ("break_it", "named"),
    [
        (lambda s: s.topics.customers.__setitem__((-1, 0), 99), "topic-side customers"),
        (lambda s: s.topics.total_tables.__setitem__(0, 77), "total tables"),
        (lambda s: s.words.customers.__setitem__((0, 0), 99), "customers of phi"),
        (lambda s: s.words.background_totals.__setitem__(0, 99), "totals of gamma"),
    ],
)
def test_check_names_the_count_that_is_off(break_it, named):
    spec = preset("cntm-text")
    chain = DenseChain(spec, tiny_data(spec), ChainSettings(topics=2), seed=1)
    chain.start()
    break_it(chain.state)
    with pytest.raises(AssertionError, match=named):
        check_state(spec, chain.layout, chain.state)


def test_same_seed_same_bytes_and_streams_differ():
    spec = preset("scntm")

    def run(seed, stream):
        chain = DenseChain(
            spec, tiny_data(spec), ChainSettings(topics=3, network_from=2), seed=seed, stream=stream
        )
        chain.start()
        for _ in range(30):
            chain.step()
        return chain.state

    first, again, other = run(1, 0), run(1, 0), run(1, 1)
    for a, b in zip(first, again, strict=True):
        parts = zip(a, b, strict=True) if isinstance(a, tuple) else [(a, b)]
        assert all(x.tobytes() == y.tobytes() for x, y in parts)
    assert first.random.tobytes() != other.random.tobytes()
    assert first.parameters.cite.tobytes() != other.parameters.cite.tobytes()
