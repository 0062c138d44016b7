"""Citations held out, negatives matched in degree, and the measures of link prediction."""

import tracemalloc

import numpy as np
import pytest
from sklearn import metrics
from sklearn.feature_extraction.text import TfidfTransformer

from citeweave import SCNTM
from citeweave.baselines import PMTLM
from citeweave.corpus import Corpus
from citeweave.errors import CorpusError, ParameterError
from citeweave.evaluate import (
    LinkScores,
    auc,
    hold_out_citations,
    link_prediction,
    negative_pairs,
    pmtlm_scores,
    ranking_scores,
    scntm_scores,
    tfidf_scores,
)
from reference.planted import planted_corpus


@pytest.fixture(scope="module")
def corpus():
    return planted_corpus(groups=3, size=40, spread=1.0, inside=8.0, focus=0.5)


def as_set(pairs):
    return {tuple(pair) for pair in np.asarray(pairs).tolist()}


def test_held_out_and_kept_are_the_citations(corpus):
    train, pairs = hold_out_citations(corpus, share=0.2, seed=1)
    assert as_set(train.citations) | as_set(pairs) == as_set(corpus.citations)
    assert not as_set(train.citations) & as_set(pairs)
    assert len(pairs) == pytest.approx(0.2 * corpus.n_citations, abs=6)
    assert train.citations.tolist() == sorted(train.citations.tolist())
    assert (train.tokens == corpus.tokens).all()
    assert train.ids == corpus.ids
    assert not train.citations.flags.writeable
    again = hold_out_citations(corpus, share=0.2, seed=1)
    assert again.train.fingerprint == train.fingerprint != corpus.fingerprint
    assert (again.pairs == pairs).all()


def test_the_report_is_that_of_a_corpus_built_without_them(corpus):
    train, _ = hold_out_citations(corpus, share=0.7)
    linked = np.unique(train.citations)
    assert train.report.documents_without_citations == corpus.n_documents - len(linked)


def test_a_saved_corpus_can_be_held_out_and_saved(corpus, tmp_path):
    corpus.save(tmp_path / "whole")
    train, _ = hold_out_citations(Corpus.load(tmp_path / "whole"))
    train.save(tmp_path / "train")
    loaded = Corpus.load(tmp_path / "train")
    assert loaded.verify() == train.fingerprint


def test_citations_both_ways_stay_together():
    both = [(i, j) for i in range(6) for j in range(6) if i != j]
    _, pairs = hold_out_citations(Corpus.from_lists(tokens=[["a"]] * 6, citations=both), share=0.4)
    assert as_set(pairs) == as_set(pairs[:, ::-1])


def test_negatives_are_no_links_and_keep_the_citing_document(corpus):
    _, pairs = hold_out_citations(corpus, share=0.3)
    negatives = negative_pairs(corpus, pairs, each=4, seed=2)
    assert (negatives[:, 0] == np.repeat(pairs[:, 0], 4)).all()
    assert (negatives[:, 0] != negatives[:, 1]).all()
    linked = as_set(corpus.citations) | as_set(corpus.citations[:, ::-1])
    assert not as_set(negatives) & linked
    assert (negatives == negative_pairs(corpus, pairs, each=4, seed=2)).all()


def test_popularity_tells_little_of_matched_negatives_and_much_of_uniform_ones():
    large = planted_corpus(groups=3, size=400, spread=1.0, inside=5.0)
    train, pairs = hold_out_citations(large, share=0.2)
    cited = np.bincount(train.citations[:, 1], minlength=large.n_documents).astype(float)
    matched = negative_pairs(large, pairs, each=5)
    uniform = np.random.default_rng(0).integers(0, large.n_documents, 5000)
    assert auc(cited[pairs[:, 1]], cited[matched[:, 1]]) == pytest.approx(0.5, abs=0.05)
    assert auc(cited[pairs[:, 1]], cited[uniform]) > 0.65


def test_negatives_of_documents_linked_with_nearly_all():
    # 0 is linked with all but 4, which nobody cites
    star = Corpus.from_lists(tokens=[["a"]] * 5, citations=[(0, 1), (0, 2), (3, 0)])
    assert negative_pairs(star, [(0, 1), (0, 2)]).tolist() == [[0, 4], [0, 4]]
    full = Corpus.from_lists(tokens=[["a"]] * 3, citations=[(0, 1), (2, 0)])
    with pytest.raises(CorpusError, match="Document 0 has links with all"):
        negative_pairs(full, [(0, 1)])


def test_auc_is_scikit_learn_s_with_ties():
    rng = np.random.default_rng(0)
    good, bad = rng.integers(0, 6, 80) + 1.0, rng.integers(0, 6, 120) * 1.0
    truth = np.r_[np.ones(80), np.zeros(120)]
    assert auc(good, bad) == pytest.approx(metrics.roc_auc_score(truth, np.r_[good, bad]))
    assert auc(good, bad) == pytest.approx(1.0 - auc(bad, good))
    assert auc([1.0, 1.0], [1.0]) == 0.5


def test_ranking_by_sorting():
    rng = np.random.default_rng(5)
    corpus = planted_corpus(size=10, inside=4.0)
    train, pairs = hold_out_citations(corpus, share=0.3)
    scores = LinkScores(rng.normal(size=(30, 4)), rng.normal(size=(30, 4)))
    found = ranking_scores(scores, train, pairs, k=(1, 3, 10))
    known, held = as_set(train.citations), as_set(pairs)
    precision, recall = [], []
    for i in sorted({i for i, _ in held}):
        row = scores.citing[i] @ scores.cited.T
        best = [j for j in np.argsort(-row).tolist() if j != i and (i, j) not in known][:3]
        hits = sum((i, j) in held for j in best)
        precision.append(hits / 3)
        recall.append(hits / sum(pair[0] == i for pair in held))
    assert found.documents == len(precision)
    assert found.precision[3] == pytest.approx(np.mean(precision))
    assert found.recall[3] == pytest.approx(np.mean(recall))
    assert found.recall[1] <= found.recall[3] <= found.recall[10]


def test_equal_scores_give_what_chance_gives():
    train, pairs = Corpus.from_lists(tokens=[["a"]] * 11, citations=[(3, 4)]), [(0, 1), (0, 2)]
    same = LinkScores(np.ones((11, 1)), np.ones((11, 1)))
    found = ranking_scores(same, train, pairs, k=(5,))
    assert found.recall[5] == pytest.approx(0.5)  # five of ten candidates
    assert found.precision[5] == pytest.approx(0.2)  # two of ten are right


def test_small_pieces_give_the_same(corpus, monkeypatch):
    train, pairs = hold_out_citations(corpus)
    scores = tfidf_scores(train)
    whole = ranking_scores(scores, train, pairs)
    monkeypatch.setattr("citeweave.evaluate.links._CHUNK_CELLS", 300)
    assert ranking_scores(scores, train, pairs) == whole
    values = scores.pairs(corpus.citations)
    monkeypatch.setattr("citeweave.evaluate.link_scores._CHUNK_PAIRS", 7)
    assert (scores.pairs(corpus.citations) == values).all()


def test_tfidf_is_scikit_learn_s(corpus):
    counts = np.zeros((corpus.n_documents, corpus.vocabulary_size))
    np.add.at(counts, (np.repeat(np.arange(corpus.n_documents), corpus.lengths), corpus.tokens), 1)
    wanted = TfidfTransformer(smooth_idf=False).fit_transform(counts).toarray()
    scores = tfidf_scores(corpus)
    assert scores.rows(np.arange(corpus.n_documents)) == pytest.approx(wanted @ wanted.T)


def test_documents_without_words_score_nothing():
    scores = tfidf_scores(Corpus.from_lists(tokens=[["a", "b"], [], ["a"]]))
    assert scores.rows([1]).tolist() == [[0.0, 0.0, 0.0]]
    assert scores.pairs([(0, 1)]).tolist() == [0.0]


def test_scores_of_models_are_their_rates(corpus):
    train, pairs = hold_out_citations(corpus)
    model = SCNTM(topics=4, iterations=12, seed=1, chains=1).fit(train)
    i, j = pairs[0]
    shared = model.topic_scale_ * model.doc_topic_[i] * model.doc_topic_[j]
    rate = model.cite_propensity_[i] * model.cited_propensity_[j] * shared.sum()
    assert scntm_scores(model).pairs(pairs[:1]) == pytest.approx(rate)
    peer = PMTLM(topics=4, restarts=1, seed=1).fit(train)
    shared = peer.topic_scale_ * peer.doc_topic_[i] * peer.doc_topic_[j]
    assert pmtlm_scores(peer).pairs(pairs[:1]) == pytest.approx(
        peer.popularity_[i] * peer.popularity_[j] * shared.sum()
    )
    assert pmtlm_scores(peer, propensities=False).pairs(pairs[:1]) == pytest.approx(shared.sum())
    topical = scntm_scores(model, propensities=False).pairs(pairs[:1])
    propensities = model.cite_propensity_[i] * model.cited_propensity_[j]
    assert topical * propensities == pytest.approx(rate)
    for scores in (scntm_scores(model), pmtlm_scores(peer)):
        row = scores.rows([i])[0]
        assert row[j] == pytest.approx(scores.pairs(pairs[:1])[0])


def test_models_predict_planted_links(corpus):
    train, pairs = hold_out_citations(corpus, share=0.2)
    negatives = negative_pairs(corpus, pairs, each=5)
    scores = {
        "pmtlm": pmtlm_scores(PMTLM(topics=3, alpha=0.8, restarts=3, seed=0).fit(train)),
        "scntm": scntm_scores(SCNTM(topics=3, iterations=80, seed=0, chains=1).fit(train)),
        "tf-idf": tfidf_scores(train),
    }
    for name, score in scores.items():
        found = link_prediction(score, train, pairs, negatives, k=(10,))
        assert found.auc > 0.65, name
        assert found.pairs == len(pairs)
        assert found.recall[10] > 2 * 10 / corpus.n_documents, name


def test_large_corpora_are_ranked_in_pieces():
    rng = np.random.default_rng(0)
    documents = 30_000
    train = Corpus.from_arrays(
        tokens=np.zeros(documents, dtype=np.int32),
        offsets=np.arange(documents + 1),
        citations=rng.integers(0, documents, (50_000, 2)),
    )
    scores = LinkScores(rng.random((documents, 10)), rng.random((documents, 10)))
    tracemalloc.start()
    found = ranking_scores(scores, train, rng.integers(0, documents, (2_000, 2)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.documents > 1_000
    assert peak < 300e6  # all pairs would take 7.2 GB


@pytest.mark.parametrize("share", [0, 1, 1.5, True, "a"])
def test_bad_shares(corpus, share):
    with pytest.raises(ParameterError, match="between 0 and 1"):
        hold_out_citations(corpus, share=share)


def test_bad_input(corpus):
    with pytest.raises(CorpusError, match="between 1 pairs"):
        hold_out_citations(Corpus.from_lists(tokens=[["a"]] * 2, citations=[(0, 1), (1, 0)]))
    with pytest.raises(ParameterError, match="'seed' must be an integer"):
        hold_out_citations(corpus, seed=-1)
    with pytest.raises(ParameterError, match=r"Got \[0, 999\] in row 1"):
        negative_pairs(corpus, [(0, 1), (0, 999)])
    with pytest.raises(ParameterError, match=r"shape \(n, 2\)"):
        negative_pairs(corpus, [0, 1])
    with pytest.raises(ParameterError, match="2 documents and 120"):
        ranking_scores(LinkScores(np.ones((2, 1)), np.ones((2, 1))), corpus, [(0, 1)])
    with pytest.raises(ParameterError, match="at least one citation"):
        ranking_scores(tfidf_scores(corpus), corpus, np.empty((0, 2), dtype=int))
    with pytest.raises(ParameterError, match="not a number"):
        auc([np.nan], [1.0])
    with pytest.raises(ParameterError, match="1 values that are not"):
        LinkScores(np.array([[np.inf]]), np.ones((1, 1)))
    with pytest.raises(ParameterError, match="one number of features"):
        LinkScores(np.ones((2, 1)), np.ones((2, 2)))
