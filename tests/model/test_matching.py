"""Pairing of topics, and when chains are averaged."""

import numpy as np
import pytest
from model_tools import QUICK

from citeweave import SCNTM
from citeweave.engines.core.estimates import Sums
from citeweave.model.matching import combine_chains, match_topics


def phi(k=4, v=30, seed=0):
    return np.random.default_rng(seed).dirichlet(np.full(v, 0.1), k)


def test_a_permutation_is_found():
    words = phi()
    shuffle = np.array([2, 0, 3, 1])
    order, cosines, agreement = match_topics(words, words[shuffle])
    np.testing.assert_array_equal(shuffle[order], np.arange(4))
    np.testing.assert_allclose(cosines, 1.0)
    assert agreement == pytest.approx(1.0)


def test_fewer_topics_leave_some_alone():
    words = phi()
    order, cosines, agreement = match_topics(words, words[:3])
    assert order.tolist() == [0, 1, 2, -1]
    assert cosines[3] == 0.0
    assert agreement == pytest.approx(0.75)
    assert match_topics(words, words[:3], weights=np.array([1, 1, 1, 0.0]))[2] == pytest.approx(1.0)


def sums_of(words, samples):
    k, v = words.shape
    return Sums(
        samples=np.array([samples]),
        nodes=np.full((1, k), samples / k),
        nodes_squared=np.full((1, k), samples / k**2),
        documents=np.tile(words[:, :2].T * samples, (1, 1, 1)).astype(np.float32),
        mixture=np.zeros((0, k), np.float32),
        topic_word=words.T * samples,
        topic_samples=np.full(k, samples),
        background=np.full(v, samples / v),
        citing=np.zeros((0, k), np.float32),
        cite=np.zeros(0),
        cited=np.zeros(0),
        topic_scale=np.zeros(0),
        category=np.zeros((0, 0), np.float32),
        contribution=np.zeros(0),
        contribution_squared=np.zeros(0),
        contribution_prior=np.zeros(0),
    )


def test_chains_that_agree_are_averaged():
    words = phi()
    other = words[[1, 2, 3, 0]]
    combined, how = combine_chains(
        [sums_of(other, 3), sums_of(words, 5)], [-1.0, -2.0], [-20.0, -10.0], combine="auto"
    )
    assert (how.how, how.best) == ("average", 1)
    assert combined.samples[0] == 8
    np.testing.assert_allclose(combined.topic_word, words.T * 8)
    assert how.orders[0] == [3, 0, 1, 2]


def test_chains_that_differ_are_not():
    chains = [sums_of(phi(seed=1), 3), sums_of(phi(seed=2), 3)]
    combined, how = combine_chains(chains, [-1.0, -1.0], [-10.0, -20.0], combine="auto")
    assert (how.how, how.best) == ("best", 0)
    assert how.agreements[1] < 0.9
    assert combined is chains[0]
    assert combined.samples[0] == 3
    _, forced = combine_chains(chains, [-1.0, -1.0], [-10.0, -20.0], combine="average")
    assert forced.how == "average"


@pytest.mark.parametrize(("combine", "samples"), [("average", 10), ("best", 5)])
def test_a_model_says_how_it_was_combined(small, combine, samples):
    model = SCNTM(**QUICK, chains=2, combine=combine).fit(small)
    assert model.combination_["how"] == combine
    assert model.n_samples_ == samples
    likelihoods = model.traces_["log_likelihood"][:, 15:].mean(axis=1)
    np.testing.assert_allclose(model.combination_["likelihoods"], likelihoods)
    scores = model.combination_["scores"]
    assert model.combination_["best"] == np.argmax(scores)
    assert scores[0] != scores[1]
    with pytest.raises(AttributeError, match="consensus"):
        _ = model.consensus_
