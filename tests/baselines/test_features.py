"""k-means on tf-idf and AGC: planted groups, steps written out, new papers, refusals."""

import numpy as np
import pytest

from citeweave.baselines import AGC, KMeans
from citeweave.baselines.features import _spread
from citeweave.baselines.k_means import best_k_means
from citeweave.corpus import Corpus
from citeweave.errors import CorpusError
from citeweave.evaluate import nmi
from citeweave.model.smoothing import tfidf
from reference.planted import dense, planted_corpus


@pytest.fixture(scope="module")
def corpus():
    """Words that tell little and links that tell more."""
    return planted_corpus(groups=3, size=40, focus=0.25, inside=6.0, outside=1.5, seed=2)


def test_smoothing_finds_what_words_alone_do_not(corpus):
    words = nmi(KMeans(topics=3, seed=1).fit(corpus).labels_, corpus.categories)
    both = nmi(AGC(topics=3, seed=1).fit(corpus).labels_, corpus.categories)
    assert both > 0.8
    assert both > words + 0.1


def test_agc_stops_where_the_clusters_first_spread_again(corpus):
    """The method with dense matrices, from the Laplacian to the singular vectors."""
    model = AGC(topics=3, restarts=30, seed=1).fit(corpus)
    links = (dense(corpus)[1] > 0) + np.eye(corpus.n_documents)
    root = np.sqrt(links.sum(axis=1))
    laplacian = np.eye(len(links)) - links / root[:, None] / root
    features, before = tfidf(corpus).toarray(), np.inf
    for step in range(1, 60):  # noqa: B007 (looked at below)
        features = (np.eye(len(links)) - laplacian / 2) @ features
        vectors = np.linalg.svd(features)[0][:, :3]
        labels = best_k_means(vectors, 3, np.random.default_rng(0), restarts=30).labels
        parts = [features[labels == c] for c in range(3)]
        spread = np.mean([((x[:, None] - x[None]) ** 2).sum(axis=2).mean() for x in parts])
        if spread > before:
            break
        before, kept = spread, labels
    assert model.facts_["smoothing_steps"] == step - 1
    assert model.facts_["distance"] == pytest.approx(before)
    assert nmi(model.labels_, kept) == pytest.approx(1.0)


def test_the_spread_of_clusters_is_over_pairs_of_members():
    rng = np.random.default_rng(0)
    features, labels = rng.normal(size=(20, 3)), np.arange(20) % 2
    parts = (features[::2], features[1::2])
    pairs = [((x[:, None] - x[None]) ** 2).sum(axis=2).mean() for x in parts]
    assert _spread(features, labels) == pytest.approx(np.mean(pairs))


@pytest.mark.parametrize("kind", [KMeans, AGC])
def test_training_papers_are_placed_where_they_are(corpus, kind):
    """Nearly: a new paper does not smooth the papers that it is tied to, nor read itself."""
    model = kind(topics=3, seed=1).fit(corpus)
    ends = np.concatenate([corpus.citations, corpus.citations[:, ::-1]])
    placed = model.transform(corpus, links=ends)
    assert (placed.argmax(axis=1) == model.labels_).mean() > 0.9
    assert (placed.sum(axis=1) == 1.0).all()
    if kind is AGC:
        alone = model.transform(corpus).argmax(axis=1)
        truth = corpus.categories
        assert nmi(alone, truth) < nmi(placed.argmax(axis=1), truth) - 0.1


def test_the_largest_cluster_comes_first_and_papers_without_words_have_all():
    tokens = [["sun", "moon"]] * 5 + [["oak", "elm"]] * 3 + [[]]
    model = KMeans(topics=2, seed=0).fit(Corpus.from_lists(tokens=tokens))
    assert model.labels_.tolist() == [0] * 5 + [1] * 3 + [0]
    assert model.doc_topic_[-1] == pytest.approx([5 / 8, 3 / 8])


def test_refusals(corpus):
    texts = Corpus.from_lists(tokens=[["a", "b"], ["b", "c"], ["d"]])
    with pytest.raises(CorpusError, match="AGC smooths words over citations"):
        AGC(topics=2).fit(texts)
    for kind in (KMeans, AGC):
        with pytest.raises(CorpusError, match="121"):
            kind(topics=121).fit(corpus)
        with pytest.raises(CorpusError, match="by their words"):
            kind(topics=2).fit(Corpus.from_lists(tokens=[[], []], citations=[(0, 1)]))
    with pytest.raises(CorpusError, match="fewer clusters than there are documents"):
        AGC(topics=45).fit(corpus)
    with pytest.raises(CorpusError, match="2 of 3 documents have words"):
        KMeans(topics=3).fit(Corpus.from_lists(tokens=[["a"], ["b"], []]))
