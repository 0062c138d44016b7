"""Consensus of chains: alignment by documents, latent classes, and the estimator's use of them."""

import numpy as np
import pytest
from model_tools import QUICK

from citeweave import SCNTM, load
from citeweave.engines.core.estimates import Sums
from citeweave.model import consensus
from citeweave.model.consensus import align_topics, consensus_memberships
from citeweave.model.matching import combine_chains
from citeweave.model.scoring import plug_in_log_likelihood


def clusters(seed, documents=300, topics=4):
    return np.random.default_rng(seed).integers(0, topics, documents)


def show(labels, topics, seed, wrong):
    """One-hot memberships of a chain that numbers topics its own way and errs at times."""
    rng = np.random.default_rng(seed)
    shown = np.where(rng.random(len(labels)) < wrong, rng.integers(0, topics, len(labels)), labels)
    return np.eye(topics)[rng.permutation(topics)[shown]]


def same_partition(a, b):
    return len(set(zip(a.tolist(), b.tolist(), strict=True))) == len(set(a.tolist()))


def test_permuted_chains_are_aligned():
    truth = np.eye(4)[clusters(0)]
    shuffles = [np.random.default_rng(seed).permutation(4) for seed in range(3)]
    members = [truth[:, shuffle] for shuffle in shuffles]
    aligned = [
        member[:, order] for member, order in zip(members, align_topics(members), strict=True)
    ]
    for member in aligned[1:]:
        np.testing.assert_array_equal(member, aligned[0])


def test_where_no_sharpening_keeps_the_classes_the_aligned_mean_is_taken(monkeypatch):
    monkeypatch.setattr(consensus, "_POWERS", ())
    first = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]])
    second = np.array([[0.9, 0.0, 0.1], [0.3, 0.6, 0.1], [0.0, 0.2, 0.8]])
    found = consensus_memberships([first, second[:, [1, 2, 0]]])
    np.testing.assert_allclose(found, (first + second) / 2, rtol=1e-12)


def test_a_consensus_is_right_where_no_chain_is():
    truth = clusters(1)
    members = [show(truth, 4, seed, wrong=0.3) for seed in range(7)]
    classes = consensus_memberships(members)
    np.testing.assert_allclose(classes.sum(axis=1), 1.0)
    found = classes.argmax(axis=1)
    names = np.array([np.bincount(truth[found == g], minlength=4).argmax() for g in range(4)])
    assert (names[found] == truth).mean() > 0.97
    for member in members:
        order = align_topics([np.eye(4)[truth], member])[1]
        assert (member[:, order].argmax(axis=1) == truth).mean() < 0.9


def test_chains_that_split_and_merge_still_tell():
    """Each chain joins one pair of classes and splits another at random: none sees all four."""
    truth = clusters(2, documents=600)
    rng = np.random.default_rng(3)
    members = []
    for joined, split in [((0, 1), 2), ((1, 2), 3), ((2, 3), 0), ((3, 0), 1)]:
        labels = np.where(truth == joined[1], joined[0], truth)
        second = (truth == split) & (rng.random(len(truth)) < 0.5)
        members.append(np.eye(4)[np.where(second, joined[1], labels)])
    found = consensus_memberships(members).argmax(axis=1)
    assert same_partition(truth, found)


@pytest.mark.parametrize("noise", [0.5, 0.75, 0.95])
def test_soft_memberships_of_few_chains_keep_their_classes(noise):
    """Papers of many topics: EM on the memberships as they are would join classes."""
    truth = clusters(7, documents=900, topics=9)
    rng = np.random.default_rng(8)
    members = [
        noise * rng.dirichlet(np.full(9, 0.3), 900) + (1 - noise) * np.eye(9)[truth]
        for _ in range(2)
    ]
    found = consensus_memberships(members).argmax(axis=1)
    assert (np.bincount(found, minlength=9) >= 9).all()
    names = np.array([np.bincount(truth[found == g], minlength=9).argmax() for g in range(9)])
    mean = np.mean(members, axis=0).argmax(axis=1)
    assert (names[found] == truth).mean() >= (mean == truth).mean() - 0.02


def test_of_many_starts_the_likeliest_are_continued(monkeypatch):
    truth = clusters(2, topics=5)
    merged = [np.where(truth == k, (k + 1) % 5, truth) for k in range(5)]
    members = [show(merged[seed % 5], 5, seed, 0.15) for seed in range(15)]
    every, fit = [], consensus._latent_classes

    def watch(shown, start, steps):
        found = fit(shown, start, steps)
        every.append((steps, start, found))
        return found

    monkeypatch.setattr(consensus, "_latent_classes", watch)
    consensus_memberships(members)
    first = [found for steps, _, found in every if steps == consensus._FIRST_STEPS]
    later = [start for steps, start, _ in every if steps == consensus._STEPS]
    assert len(first) == 16  # the mean, and each chain
    assert len({likelihood for likelihood, _ in first}) > len(later) == consensus._KEPT
    first.sort(key=lambda found: -found[0])
    for start, (_, classes) in zip(later, first, strict=False):
        np.testing.assert_array_equal(start, classes)


def test_one_chain_is_its_own_consensus():
    truth = clusters(4)
    found = consensus_memberships([np.eye(4)[truth] * 0.9 + 0.025]).argmax(axis=1)
    np.testing.assert_array_equal(found, truth)


def test_the_same_chains_give_the_same_consensus():
    members = [show(clusters(5), 4, seed, wrong=0.4) for seed in range(4)]
    np.testing.assert_array_equal(consensus_memberships(members), consensus_memberships(members))


def test_a_model_by_consensus_is_kept(small, tmp_path):
    model = SCNTM(**QUICK, chains=3, combine="consensus").fit(small, out=tmp_path / "run")
    assert model.combination_["how"] == "consensus"
    assert model.n_samples_ == 15
    best = model.combination_["best"]
    assert model.combination_["orders"][best] == list(range(model.topics))
    np.testing.assert_array_equal(model.labels_, model.consensus_.argmax(axis=1))
    again = load(tmp_path / "run")
    np.testing.assert_array_equal(again.consensus_, model.consensus_)
    np.testing.assert_array_equal(again.labels_, model.labels_)


def test_a_single_chain_needs_no_consensus(small):
    model = SCNTM(**QUICK, combine="consensus", chains=1).fit(small)
    assert model.combination_["how"] == "best"
    np.testing.assert_array_equal(model.labels_, model.doc_topic_.argmax(axis=1))


def test_the_score_is_the_likelihood_at_the_means(small):
    """Against plain loops over words and pairs, from the fitted attributes."""
    model = SCNTM(**QUICK, chains=1).fit(small)
    theta, seen, phi = model.doc_word_topic_, model.doc_topic_, model.topic_word_
    words = sum(
        np.log(theta[d] @ phi[:, w])
        for d in range(small.n_documents)
        for w in small.tokens[small.offsets[d] : small.offsets[d + 1]]
    )
    rate = np.einsum("ik,jk,k->ij", seen, seen, model.topic_scale_)
    rate = model.cite_propensity_[:, None] * model.cited_propensity_ * rate
    links = sum(np.log(rate[i, j]) for i, j in small.citations)
    n = 5
    sums = Sums(
        samples=np.array([n]),
        nodes=np.zeros((0, model.topics)),
        nodes_squared=np.zeros((0, model.topics)),
        documents=np.stack([seen, theta]) * n,
        mixture=np.zeros((0, model.topics)),
        topic_word=phi.T * n,
        topic_samples=np.full(model.topics, n),
        background=model.background_ * n,
        citing=np.zeros((0, model.topics)),
        cite=model.cite_propensity_ * n,
        cited=model.cited_propensity_ * n,
        topic_scale=model.topic_scale_ * n,
        category=np.zeros((0, 0), np.float32),
        contribution=np.zeros(0),
        contribution_squared=np.zeros(0),
        contribution_prior=np.zeros(0),
    )
    for choice, counted in (("zero", rate.sum()), ("left-out", rate.sum() - np.trace(rate))):
        found = plug_in_log_likelihood(model.spec_, sums, small, self_citations=choice)
        assert found == pytest.approx(words + links - counted, rel=1e-6)


def test_the_best_chain_is_chosen_by_score_not_by_word_likelihood():
    words = np.random.default_rng(6).dirichlet(np.full(20, 0.1), 3)
    chains = [
        Sums(
            samples=np.array([2]),
            nodes=np.full((1, 3), 2 / 3),
            nodes_squared=np.full((1, 3), 2 / 9),
            documents=np.zeros((1, 2, 3), np.float32),
            mixture=np.zeros((0, 3), np.float32),
            topic_word=words.T * 2,
            topic_samples=np.full(3, 2),
            background=np.zeros(0),
            citing=np.zeros((0, 3), np.float32),
            cite=np.zeros(0),
            cited=np.zeros(0),
            topic_scale=np.zeros(0),
            category=np.zeros((0, 0), np.float32),
            contribution=np.zeros(0),
            contribution_squared=np.zeros(0),
            contribution_prior=np.zeros(0),
        )
        for _ in range(2)
    ]
    _, how = combine_chains(chains, [-5.0, -1.0], [-10.0, -20.0], combine="best")
    assert how.best == 0
