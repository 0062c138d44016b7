"""Single topics after EM: the likelihood of plain NumPy, and no better move is left."""

import numpy as np
import pytest

from citeweave.baselines import PMTLM
from citeweave.baselines._pmtlm_kernels import PmtlmSums, expect
from citeweave.baselines._pmtlm_labels import hard_log_likelihood, refine_labels
from citeweave.baselines.matching import undirected
from citeweave.baselines.pmtlm import _begin_at, _joint_weight, _prepare, _start
from citeweave.corpus import Corpus
from citeweave.errors import CorpusError
from citeweave.evaluate import nmi
from citeweave.model.clusters import cluster_documents
from reference.planted import dense, planted_corpus

BOTH = pytest.mark.parametrize("corrected", [True, False], ids=["corrected", "plain"])


def slow_log_likelihood(corpus, labels, topics, alpha, *, corrected):
    """Likelihood at its maximum over beta, S and a full matrix of rates, by sums over pairs.

    Left out, as it depends on no label: the expected number of links, which is the observed one,
    and with degree correction the part of the degrees themselves.
    """
    shares, links = dense(corpus)
    member = np.eye(topics)[labels]
    words = member.T @ shares
    beta = words / np.maximum(words.sum(axis=1, keepdims=True), 1e-300)
    own = beta[labels]
    by_words = (shares[shares > 0] * np.log(own[shares > 0])).sum()
    size = links.sum(axis=1) if corrected else np.ones(len(labels))
    mass = member.T @ size
    between = member.T @ links @ member
    rate = between / np.maximum(np.outer(mass, mass), 1e-300)
    pairs = rate[labels][:, labels]
    by_links = 0.5 * (links[links > 0] * np.log(pairs[links > 0])).sum()
    return alpha * by_words + (1 - alpha) * by_links


@pytest.fixture(scope="module")
def corpus():
    return planted_corpus(groups=3, size=12, length=8, focus=0.4, inside=4.0, spread=0.8, seed=5)


@BOTH
@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0])
def test_the_likelihood_is_that_of_plain_numpy(corpus, alpha, corrected):
    labels = np.random.default_rng(0).integers(0, 4, corpus.n_documents)
    fast = hard_log_likelihood(
        _prepare(corpus), undirected(corpus), labels, 4, alpha=alpha, degree_corrected=corrected
    )
    slow = slow_log_likelihood(corpus, labels, 4, alpha, corrected=corrected)
    assert fast == pytest.approx(slow)


@BOTH
@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.9, 1.0])
def test_the_search_ends_where_no_move_is_better(corpus, alpha, corrected):
    rng = np.random.default_rng(1)
    start = rng.integers(0, 3, corpus.n_documents)
    options = {"alpha": alpha, "degree_corrected": corrected}
    data, graph = _prepare(corpus), undirected(corpus)
    labels, value = refine_labels(data, graph, start, 3, rng=rng, **options)
    assert value >= hard_log_likelihood(data, graph, start, 3, **options)
    assert value == pytest.approx(
        slow_log_likelihood(corpus, labels, 3, alpha, corrected=corrected)
    )
    for d in range(corpus.n_documents):
        for z in range(3):
            other = labels.copy()
            other[d] = z
            moved = slow_log_likelihood(corpus, other, 3, alpha, corrected=corrected)
            assert moved <= value + 1e-7


@BOTH
def test_refined_labels_match_planted_ones_better(corrected):
    corpus = planted_corpus(groups=3, size=60, length=12, focus=0.4, inside=3.0, seed=2)
    scores = {}
    for refine in (True, False):
        model = PMTLM(
            topics=3,
            alpha="joint",
            degree_corrected=corrected,
            restarts=4,
            refine=refine,
            seed=0,
        ).fit(corpus)
        scores[refine] = nmi(model.labels_, corpus.categories)
    assert scores[True] > scores[False]
    assert model.alpha_ == 12 / 13
    again = PMTLM(topics=3, restarts=3, seed=4).fit(corpus)
    same = PMTLM(topics=3, restarts=3, seed=4).fit(corpus)
    assert (again.labels_ == same.labels_).all()
    assert again.facts_["refined_log_likelihood"] == same.facts_["refined_log_likelihood"]


@BOTH
def test_clusters_are_a_better_place_to_begin(corrected):
    """Where words tell little and links are few, random starts end at lower likelihoods."""
    corpus = planted_corpus(groups=6, size=40, length=15, focus=0.3, inside=4.0, seed=1)
    options = {"topics": 6, "alpha": 0.3, "degree_corrected": corrected, "restarts": 2, "seed": 0}
    random, clusters = (PMTLM(start=start, **options) for start in ("random", "clusters"))
    fact = "refined_log_likelihood"
    assert clusters.fit(corpus).facts_[fact] > random.fit(corpus).facts_[fact]
    assert (PMTLM(start="clusters", **options).fit(corpus).labels_ == clusters.labels_).all()


def test_em_and_the_search_begin_at_clusters():
    """EM at the clusters; the search at EM's labels, then at the clusters; the better is kept."""
    corpus = planted_corpus(groups=6, size=40, length=15, focus=0.2, inside=3.0, seed=4)
    data, graph = _prepare(corpus), undirected(corpus)
    kept = set()
    for seed in range(6):
        model = PMTLM(topics=6, alpha=0.3, start="clusters", restarts=1, seed=seed).fit(corpus)
        found = cluster_documents(corpus, 6, np.random.default_rng([seed, 0, 2]))
        now = _start(data, 6, corpus.vocabulary_size, [seed, 0])
        _begin_at(found, data, now)
        sums = PmtlmSums(*(np.empty_like(now[part]) for part in (0, 0, 1)))
        by_words, by_links = expect(data, now, sums)
        assert model.trace_[0] == pytest.approx(0.3 * by_words + 0.7 * by_links)
        rng = np.random.default_rng([seed, 0, 1])
        weights = {"alpha": 0.3, "degree_corrected": True, "rng": rng}
        values = [
            refine_labels(data, graph, first, 6, **weights)[1]
            for first in (model.doc_topic_.argmax(axis=1), found)
        ]
        assert model.facts_["refined_log_likelihood"] == pytest.approx(max(values))
        kept.add(int(np.argmax(values)))
    assert kept == {0, 1}  # either is the better one at times


def test_topics_begin_at_clusters():
    corpus = planted_corpus(groups=2, size=4, seed=0)
    data = _prepare(corpus)
    now = _start(data, 2, corpus.vocabulary_size, [0, 0])
    found = np.repeat([1, 0], 4)
    _begin_at(found, data, now)
    assert now.doc_topic == pytest.approx(np.where(np.eye(2)[found] > 0, 0.95, 0.05))
    shares, _ = dense(corpus)
    wanted = shares.T @ now.doc_topic
    assert now.word_topic == pytest.approx(wanted / wanted.sum(axis=0), abs=1e-4)


def test_papers_without_words_or_a_corpus_without():
    some = Corpus.from_lists(
        tokens=[["a", "b"], ["a"], [], ["c"], [], ["c", "c"]], citations=[(0, 1), (2, 1), (5, 0)]
    )
    model = PMTLM(topics=2, start="clusters", restarts=2, seed=0).fit(some)
    assert model.doc_topic_.sum(axis=1) == pytest.approx(np.ones(6))
    assert model.doc_topic_[4].tolist() == [0.5, 0.5]
    links = Corpus.from_lists(tokens=[[], []], vocabulary=["a"], citations=[(0, 1)])
    with pytest.raises(CorpusError, match="no words to cluster documents by"):
        PMTLM(topics=2, alpha=0.0, start="clusters").fit(links)


def test_a_word_weighs_as_much_as_a_link():
    corpus = Corpus.from_lists(tokens=[["a"] * 4, ["b"] * 2, []], citations=[(0, 1)])
    assert _joint_weight(corpus) == 0.75  # words weigh alpha / 3 each, links 1 - alpha
    assert _joint_weight(Corpus.from_lists(tokens=[[], []], vocabulary=["a"])) == 0.0
