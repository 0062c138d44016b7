"""PMTLM: each EM step as in plain NumPy, likelihood that only rises, planted networks found."""

import inspect
import os

import numpy as np
import pytest

from citeweave import datasets
from citeweave.baselines import PMTLM
from citeweave.baselines._pmtlm_kernels import PmtlmSums, expect, maximise
from citeweave.baselines.pmtlm import _prepare, _start
from citeweave.corpus import Corpus
from citeweave.errors import CorpusError, ParameterError
from citeweave.evaluate import clustering_scores, nmi
from reference.planted import dense, em_step, log_likelihood, planted_corpus

BOTH = pytest.mark.parametrize("corrected", [True, False], ids=["corrected", "plain"])


@pytest.fixture(scope="module")
def tiny():
    """Twelve documents: repeated words, a citation both ways, one without links."""
    rng = np.random.default_rng(8)
    citations = [(0, 1), (1, 0), (1, 2), (3, 4), (4, 5), (5, 3), (6, 7), (8, 0), (9, 10), (9, 1)]
    return Corpus.from_lists(
        tokens=[rng.integers(0, 9, 5).tolist() for _ in range(12)], citations=citations
    )


def step(corpus, now, alpha, corrected):
    sums = PmtlmSums(*(np.empty_like(now[k]) for k in (0, 0, 1)))
    values = expect(_prepare(corpus), now, sums)
    maximise(sums, now, alpha, corrected)
    return alpha * values[0] + (1 - alpha) * values[1]


@BOTH
@pytest.mark.parametrize("alpha", [0.2, 0.7])
def test_steps_are_those_of_plain_numpy(tiny, alpha, corrected):
    now = _start(_prepare(tiny), 3, tiny.vocabulary_size, [1, 0])
    slow = tuple(part.copy() for part in now)
    shares, links = dense(tiny)
    for _ in range(6):
        value = step(tiny, now, alpha, corrected)
        assert value == pytest.approx(log_likelihood(shares, links, *slow, alpha), rel=1e-12)
        slow = em_step(shares, links, *slow, alpha, corrected=corrected)
        for fast, reference in zip(now, slow, strict=True):
            assert fast == pytest.approx(reference, rel=1e-6, abs=1e-9)


@BOTH
@pytest.mark.parametrize("alpha", [0.0, 0.1, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("first", [0, 10])
def test_the_likelihood_never_falls(alpha, corrected, first):
    corpus = planted_corpus(size=30, spread=1.0, inside=4.0)
    model = PMTLM(
        topics=5,
        alpha=alpha,
        degree_corrected=corrected,
        restarts=2,
        seed=0,
        words_first=first,
        tolerance=0.0,
        iterations=150,
    ).fit(corpus)
    assert np.diff(model.trace_).min() > -1e-9 * abs(model.trace_[-1])
    assert model.trace_[-1] > model.trace_[0]


@BOTH
def test_fixed_points_are_stationary(tiny, corrected):
    """No small change of one document's topics, nor of S, raises the likelihood at the end."""
    alpha, rng = 0.5, np.random.default_rng(0)
    now = _start(_prepare(tiny), 2, tiny.vocabulary_size, [3, 0])
    for _ in range(3000):
        step(tiny, now, alpha, corrected)
    shares, links = dense(tiny)
    best = log_likelihood(shares, links, *now, alpha)
    for d in range(tiny.n_documents):
        for _ in range(10):
            theta = now.doc_topic.copy()
            theta[d] = np.clip(theta[d] + 1e-3 * rng.normal() * np.array([1, -1]), 1e-12, 1)
            theta[d] /= theta[d].sum()
            popularity = now.popularity.copy()
            if corrected:
                popularity[d] *= np.exp(1e-3 * rng.normal())
            changed = log_likelihood(
                shares, links, theta, now.word_topic, popularity, now.topic_scale, alpha
            )
            assert changed <= best + 1e-7


@BOTH
def test_planted_topics_are_found(corrected):
    corpus = planted_corpus(focus=0.4, inside=6.0)
    model = PMTLM(topics=3, alpha=0.8, degree_corrected=corrected, restarts=4, seed=0).fit(corpus)
    assert nmi(model.labels_, corpus.categories) > 0.9
    assert model.doc_topic_.sum(axis=1) == pytest.approx(np.ones(corpus.n_documents))
    assert model.topic_word_.sum(axis=1) == pytest.approx(np.ones(3))
    assert nmi(model.labels_, model.doc_topic_.argmax(axis=1)) > 0.9


def test_words_and_links_together_beat_either():
    corpus = planted_corpus(focus=0.12, inside=3.0, outside=1.0, size=80, seed=4)
    scores = {
        alpha: nmi(
            PMTLM(topics=3, alpha=alpha, restarts=6, seed=0).fit(corpus).labels_, corpus.categories
        )
        for alpha in (0.0, 0.7, 1.0)
    }
    assert scores[0.7] > max(scores[0.0], scores[1.0])


def test_degree_correction_finds_groups_in_links_of_uneven_degrees():
    corpus = planted_corpus(focus=0.0, inside=14.0, outside=3.0, spread=1.2, size=80, seed=2)
    scores = {
        corrected: nmi(
            PMTLM(topics=3, alpha=0.0, degree_corrected=corrected, restarts=6, seed=0)
            .fit(corpus)
            .labels_,
            corpus.categories,
        )
        for corrected in (True, False)
    }
    assert scores[True] > scores[False] + 0.1


def test_degrees_are_reproduced():
    """At a maximum the expected degree of each document is its degree, if degree-corrected."""
    corpus = planted_corpus(size=30)
    model = PMTLM(topics=3, restarts=1, seed=0, tolerance=0.0, iterations=1500).fit(corpus)
    carried = model.popularity_[:, None] * model.doc_topic_
    expected = carried @ (model.topic_scale_ * carried.sum(axis=0))
    assert expected == pytest.approx(dense(corpus)[1].sum(axis=1), rel=1e-3, abs=1e-3)
    assert model.popularity_.mean() == pytest.approx(1.0)


@BOTH
def test_many_iterations_on_words_alone_do_not_bar_links(corrected):
    corpus = planted_corpus(size=20, focus=0.9)
    model = PMTLM(topics=3, restarts=2, seed=0, words_first=2000, degree_corrected=corrected).fit(
        corpus
    )
    assert np.isfinite(model.trace_).all()


def test_plain_model_has_no_popularities():
    model = PMTLM(topics=2, degree_corrected=False, restarts=1, seed=0).fit(planted_corpus(size=10))
    assert (model.popularity_ == 1.0).all()


def test_the_best_restart_is_kept_and_seeds_repeat():
    corpus = planted_corpus(size=20)
    model = PMTLM(topics=4, restarts=5, seed=3, refine=False).fit(corpus)
    assert (model.labels_ == model.doc_topic_.argmax(axis=1)).all()
    assert model.log_likelihood_ == model.log_likelihoods_.max() == model.trace_[-1]
    assert len(model.log_likelihoods_) == 5
    assert len(model.trace_) == model.n_iter_ + 1
    again = PMTLM(topics=4, restarts=5, seed=3, refine=False).fit(corpus)
    assert again.doc_topic_.tobytes() == model.doc_topic_.tobytes()
    fresh = PMTLM(topics=4, restarts=1).fit(corpus)
    same = PMTLM(topics=4, restarts=1, seed=fresh.seed_).fit(corpus)
    assert same.topic_word_.tobytes() == fresh.topic_word_.tobytes()


@BOTH
@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
def test_documents_without_words_or_links(alpha, corrected):
    corpus = Corpus.from_lists(
        tokens=[["a", "b"], ["a"], [], ["c"], [], ["c", "c"]], citations=[(0, 1), (2, 1), (5, 0)]
    )
    model = PMTLM(topics=2, alpha=alpha, degree_corrected=corrected, restarts=2, seed=0)
    model.fit(corpus)
    for name in ("doc_topic_", "topic_word_", "topic_scale_", "popularity_", "trace_"):
        assert np.isfinite(getattr(model, name)).all(), name
    assert model.doc_topic_.sum(axis=1) == pytest.approx(np.ones(6))
    assert model.doc_topic_[4].tolist() == [0.5, 0.5]


def test_parameters_like_those_of_other_estimators(tmp_path):
    model = PMTLM(topics=3)
    names = list(inspect.signature(PMTLM).parameters)
    assert list(model.get_params()) == names
    assert model.set_params(alpha=0.25, seed=1) is model
    assert repr(model) == "PMTLM(topics=3, alpha=0.25, seed=1)"
    with pytest.raises(ParameterError, match="no parameter 'topcs'"):
        model.set_params(topcs=4)
    corpus = planted_corpus(size=10)
    corpus.save(tmp_path / "corpus")
    theta = PMTLM(topics=2, restarts=1, seed=1).fit_transform(tmp_path / "corpus")
    assert (theta == PMTLM(topics=2, restarts=1, seed=1).fit(corpus).doc_topic_).all()


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"topics": 0}, "'topics' parameter of PMTLM must be an integer of at least 1. Got 0"),
        ({"alpha": 1.5}, "a number from 0 to 1, or 'joint'. Got 1.5"),
        ({"alpha": "words"}, "Got 'words'"),
        ({"alpha": float("nan")}, "Got nan"),
        ({"degree_corrected": 1}, "True or False. Got 1"),
        ({"restarts": True}, "Got True"),
        ({"seed": -1}, "Got -1"),
    ],
)
def test_bad_parameters(wrong, text):
    with pytest.raises(ParameterError, match=text):
        PMTLM(**wrong).fit(planted_corpus(size=4))


def test_corpora_that_lack_what_is_asked_for():
    text = Corpus.from_lists(tokens=[["a"], ["b"]])
    with pytest.raises(CorpusError, match="no citations; fit PMTLM with alpha=1"):
        PMTLM(topics=2).fit(text)
    assert PMTLM(topics=2, alpha=1.0, restarts=1).fit(text).doc_topic_.shape == (2, 2)
    links = Corpus.from_lists(tokens=[[], []], vocabulary=["a"], citations=[(0, 1)])
    with pytest.raises(CorpusError, match="no words; fit PMTLM with alpha=0"):
        PMTLM(topics=2).fit(links)
    assert PMTLM(topics=2, alpha=0.0, restarts=1).fit(links).doc_topic_.shape == (2, 2)


@pytest.mark.skipif(
    "CITEWEAVE_DATA" not in os.environ, reason="CITEWEAVE_DATA does not name a folder with Cora"
)
def test_cora_is_clustered_better_with_links():
    cora = datasets.load("cora")
    scores = {
        alpha: clustering_scores(
            PMTLM(topics=7, alpha=alpha, restarts=3, seed=0, iterations=150).fit(cora).labels_,
            cora.categories,
        )
        for alpha in (0.9, 1.0)
    }
    assert scores[0.9].nmi > scores[1.0].nmi
