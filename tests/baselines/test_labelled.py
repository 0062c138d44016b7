"""Models that are given some labels: against linear algebra, scikit-learn, and what is planted."""

import dataclasses

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression as Reference

from citeweave.baselines import SGC, LabelPropagation, LogisticRegression
from citeweave.corpus import Corpus
from citeweave.errors import CorpusError
from citeweave.evaluate import accuracy, evaluate
from citeweave.experiments import choose, cross_validate, k_folds
from citeweave.model.logistic import PENALTIES, choose_penalty, fit_regression
from citeweave.model.smoothing import normalised_graph, tfidf
from reference.planted import dense, planted_corpus

ALL = pytest.mark.parametrize("kind", [LabelPropagation, LogisticRegression, SGC])


@pytest.fixture(scope="module")
def whole():
    return planted_corpus(groups=3, size=40, focus=0.3, inside=5.0, outside=1.0, seed=5)


@pytest.fixture(scope="module")
def corpus(whole):
    """Five labels a group; the others are hidden."""
    shown = np.full(whole.n_documents, -1, np.int32)
    for c in range(3):
        shown[np.flatnonzero(whole.categories == c)[:5]] = c
    return dataclasses.replace(whole, categories=shown, _stored_fingerprint=None)


@ALL
def test_hidden_labels_are_found(kind, corpus, whole):
    model = kind(seed=1).fit(corpus)
    hidden = corpus.categories < 0
    assert accuracy(model.labels_[hidden], whole.categories[hidden]) > 0.6
    assert model.doc_topic_.sum(axis=1) == pytest.approx(np.ones(corpus.n_documents))
    assert model.facts_["labelled_documents"] == 15


def test_sgc_reads_what_words_alone_do_not(corpus, whole):
    hidden = corpus.categories < 0
    found = [
        accuracy(kind(seed=1).fit(corpus).labels_[hidden], whole.categories[hidden])
        for kind in (LogisticRegression, SGC)
    ]
    assert found[1] > found[0] + 0.1


def test_label_propagation_solves_its_equations(corpus):
    """(D - A) f = A y on the papers without labels, as Zhu, Ghahramani and Lafferty have it."""
    links = dense(corpus)[1]
    known = corpus.categories >= 0
    free = ~known & (links.sum(axis=1) > 0)
    target = np.eye(3)[corpus.categories[known]]
    system = (np.diag(links.sum(axis=1)) - links)[free][:, free]
    wanted = np.linalg.solve(system, links[free][:, known] @ target)
    plain = LabelPropagation(class_masses=False, tolerance=1e-10).fit(corpus)
    assert plain.doc_topic_[free] == pytest.approx(wanted, abs=1e-6)
    scaled = wanted / wanted.sum(axis=0)  # labels have equal shares
    model = LabelPropagation(tolerance=1e-10).fit(corpus)
    assert model.doc_topic_[free] == pytest.approx(
        scaled / scaled.sum(axis=1, keepdims=True), abs=1e-6
    )
    assert model.doc_topic_[free] != pytest.approx(wanted, abs=1e-3)
    assert (model.doc_topic_[known] == target).all()


def test_papers_out_of_reach_have_the_shares_of_labels():
    corpus = Corpus.from_lists(
        tokens=[["a"]] * 7,
        citations=[(0, 1), (1, 2), (4, 5)],
        categories=["x", None, "y", "y", None, None, None],
    )
    model = LabelPropagation(class_masses=False).fit(corpus)
    assert model.doc_topic_[4:] == pytest.approx(np.tile([1 / 3, 2 / 3], (3, 1)))
    assert model.doc_topic_[1] == pytest.approx([0.5, 0.5])
    assert model.facts_["documents_out_of_reach"] == 3
    scaled = LabelPropagation().fit(corpus).doc_topic_
    assert scaled[4:] == pytest.approx(model.doc_topic_[4:])
    assert scaled[1] == pytest.approx([1 / 3, 2 / 3])


@pytest.mark.parametrize("penalty", [1.0, 0.01])
def test_the_regression_is_that_of_scikit_learn(corpus, penalty):
    known = corpus.categories >= 0
    smoothed = normalised_graph(corpus, loops=True)
    features = (smoothed @ smoothed @ tfidf(corpus)).toarray()
    wanted = Reference(C=1.0 / penalty, tol=1e-9, max_iter=5000)
    wanted.fit(features[known], corpus.categories[known])
    model = SGC(penalty=penalty).fit(corpus)
    assert model.doc_topic_ == pytest.approx(wanted.predict_proba(features), abs=2e-3)


def test_the_slope_of_the_loss_is_its_own():
    """At the minimum every move is uphill."""
    rng = np.random.default_rng(0)
    features, classes = rng.normal(size=(30, 4)), rng.integers(0, 3, 30)
    found = fit_regression(features, classes, 3, penalty=0.5)

    def loss(weights, intercepts):
        scores = features @ weights + intercepts
        logs = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        return -logs[np.arange(30), classes].sum() + 0.25 * (weights**2).sum()

    least = loss(*found)
    for _ in range(50):
        step = rng.normal(size=(5, 3)) * 0.02
        assert loss(found.weights + step[:4], found.intercepts + step[4]) > least - 1e-6


def test_the_penalty_is_chosen_by_labels_left_out():
    """Noise asks for a strong penalty, plain features for a weak one."""
    rng = np.random.default_rng(1)
    classes = np.arange(60) % 2
    noise = rng.normal(size=(60, 8))
    plain = np.where(classes, 1.0, -1.0)[:, None] + 0.1 * noise
    assert choose_penalty(noise, classes, 2, rng, folds=5) == PENALTIES[0]
    assert choose_penalty(plain, classes, 2, rng, folds=5) < 0.01


@ALL
def test_new_papers_are_classified(kind, whole):
    parts = whole.split(test=0.25, seed=0)
    model = kind(seed=1).fit(parts.train)
    found = evaluate(model, parts)
    assert found["accuracy", "test documents"] > 0.5
    assert "labels were used in training" in next(m for m in found if m.name == "NMI").how
    assert found.protocol["labels_used_in_training"]
    rows = cross_validate(whole, [choose(kind.kind)], folds=k_folds(4, seed=0)[:1], seeds=[1])
    (value,) = rows.values(measure="accuracy", where="test")
    assert value > 0.5
    assert {row.protocol for row in rows if row.measure == "nmi"} != {"labels never seen"}
    assert all("labels of training documents used" in row.protocol for row in rows)


def test_a_category_without_a_labelled_paper_is_never_given(corpus):
    shown = np.where(corpus.categories == 1, -1, corpus.categories).astype(np.int32)
    without = dataclasses.replace(corpus, categories=shown, _stored_fingerprint=None)
    for kind in (LabelPropagation, LogisticRegression, SGC):
        model = kind(seed=1).fit(without)
        assert model.doc_topic_.shape[1] == 3
        assert (model.doc_topic_[:, 1] == 0).all()
        assert (model.transform(without.subset([0, 50]))[:, 1] == 0).all()


@ALL
def test_corpora_that_lack_labels_words_or_links(kind):
    texts = [["a", "b"], ["b", "c"], ["d"]]
    for labels in (None, ["x", None, None]):
        bare = Corpus.from_lists(tokens=texts, citations=[(0, 1)], categories=labels)
        with pytest.raises(CorpusError, match="learns from documents of at least two categories"):
            kind().fit(bare)
    labels = ["x", "y", None]
    if kind is not LogisticRegression:
        with pytest.raises(CorpusError, match="uses citations, and the corpus has none"):
            kind().fit(Corpus.from_lists(tokens=texts, categories=labels))
    if kind is not LabelPropagation:
        empty = Corpus.from_lists(tokens=[[], [], []], citations=[(0, 1)], categories=labels)
        with pytest.raises(CorpusError, match="uses words, and the corpus has none"):
            kind().fit(empty)
