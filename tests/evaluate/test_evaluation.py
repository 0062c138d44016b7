"""All measures at once: the same numbers as one by one, nothing used twice, reasons for gaps."""

import csv
import json
import math

import numpy as np
import pytest

import citeweave
from citeweave.baselines import Louvain, SpectralClustering, make_baseline
from citeweave.corpus import Corpus
from citeweave.errors import CorpusError, ParameterError
from citeweave.evaluate import (
    Evaluation,
    Measure,
    adjusted_rand,
    auc,
    clustering_scores,
    convergence,
    evaluate,
    find_new_documents,
    hold_out,
    hold_out_citations,
    hold_out_words,
    judge_chains,
    link_prediction,
    model_scores,
    new_negative_pairs,
    npmi_coherence,
    perplexity,
    ranking_scores,
    scntm_scores,
    tfidf_scores,
    topic_diversity,
    topic_scores,
)
from citeweave.evaluate.words import completion_words, plain_perplexity, without_words
from reference.planted import planted_corpus

TRAIN, TEST = "training documents", "test documents"


@pytest.fixture(scope="module")
def corpus():
    return planted_corpus(groups=3, size=40, focus=0.7, spread=0.5)


@pytest.fixture(scope="module")
def parts(corpus):
    return corpus.split(test=0.25, seed=1)


@pytest.fixture(scope="module")
def scntm(parts):
    model = citeweave.SCNTM(topics=4, iterations=40, chains=2, seed=1, combine="best")
    train, held = hold_out(parts.train, citations=0.2, words=0.2)
    return model.fit(train, held_out=held)


@pytest.fixture(scope="module")
def found(scntm, parts):
    return evaluate(scntm, parts, samples=50, k=(5,), negatives=3)


@pytest.fixture(scope="module")
def supervised(parts):
    return citeweave.SCNTM(topics=4, eta=math.inf, iterations=40, seed=1, chains=1).fit(parts.train)


def test_numbers_are_those_of_the_single_measures(found, scntm, parts):
    train = scntm.corpus_
    scores = clustering_scores(scntm.labels_, train.categories)
    assert found["NMI", TRAIN] == scores.nmi
    assert found["purity", TRAIN] == scores.purity
    folded = scntm.fold_in(parts.test, links=parts.links.citing, samples=50)
    rand = adjusted_rand(folded.labels, parts.test.categories)
    assert found["adjusted Rand", TEST] == rand
    assert found["perplexity, in sample"] == pytest.approx(perplexity(scntm).value)
    half = perplexity(scntm, parts.test, words=0.5, links=parts.links.citing, samples=50)
    assert found["perplexity"] == half.value
    used = scntm.topic_word_[scntm.topic_samples_ > 0]
    assert found["NPMI coherence"] == pytest.approx(npmi_coherence(used, train).mean())
    assert found["diversity"] == topic_diversity(used)
    trace = scntm.traces_["log_posterior"][:, scntm.burn_in_ :]
    where = "trace of log posterior"
    assert found["R-hat", where] == convergence(trace).rhat
    assert found["tail ESS", where] == convergence(trace).tail
    assert found.verdict == judge_chains(scntm).verdict.text


def test_held_out_parts_are_scored_with_what_never_saw_them(found, scntm, parts):
    without, words = hold_out_words(hold_out_citations(parts.train, share=0.2).train, share=0.2)
    assert scntm.corpus_.fingerprint == without.fingerprint
    assert found["perplexity, held-out words"] == pytest.approx(perplexity(scntm, words).value)
    pairs = hold_out_citations(parts.train, share=0.2).pairs
    where = f"{len(pairs)} held-out citations"
    ranked = ranking_scores(scntm_scores(scntm), without, pairs, k=(5,))
    assert found["recall at 5", where] == ranked.recall[5]
    ranked = ranking_scores(tfidf_scores(without), without, pairs, k=(5,))
    assert found["precision at 5, tf-idf cosine", where] == ranked.precision[5]
    assert 0.5 < found["AUC", where] <= 1.0


def test_links_of_test_documents_rest_on_their_words_alone(found, scntm, parts):
    links = parts.links.citing
    theta = scntm.transform(parts.test, citations=False, samples=50)
    scores, how = model_scores(scntm, theta)
    assert "rate of citations" in how
    negatives = new_negative_pairs(
        links, citing=parts.test.n_documents, cited=parts.train.n_documents, each=3
    )
    one = link_prediction(scores, None, links, negatives, k=(5,))
    where = f"{len(links)} citations of test documents"
    assert found["recall at 5", where] == one.recall[5]
    topical = (theta * scntm.topic_scale_) @ scntm.doc_topic_.T
    by_hand = auc(topical[tuple(links.T)], topical[tuple(negatives.T)])
    assert found["AUC", where] == pytest.approx(by_hand, abs=1e-6)
    dense = (theta * scntm.topic_scale_) @ (scntm.cited_propensity_[:, None] * scntm.doc_topic_).T
    by_hand = auc(dense[tuple(links.T)], dense[tuple(negatives.T)])
    assert one.auc == pytest.approx(by_hand, abs=1e-6)
    taken = {tuple(pair) for pair in links.tolist()}
    assert not taken & {tuple(pair) for pair in negatives.tolist()}


def test_the_whole_corpus_will_do_for_the_test_documents(corpus, parts, scntm):
    new = find_new_documents(corpus, parts.train)
    assert new.known == parts.train.n_documents
    assert new.corpus.ids == parts.test.ids
    order = np.lexsort((new.links[:, 1], new.links[:, 0]))
    assert new.links[order].tolist() == parts.links.citing.tolist()
    # words held out of training documents do not hide that they are the same
    assert find_new_documents(corpus, scntm.corpus_).known == parts.train.n_documents
    # made-up ids of other documents do not make them training documents
    others = planted_corpus(groups=3, size=40, seed=9)
    assert find_new_documents(others, parts.train).known == 0
    with pytest.raises(CorpusError, match="All 90 documents of the test corpus are training"):
        find_new_documents(parts.train, parts.train)
    with pytest.raises(ParameterError, match="not 90"):
        find_new_documents(corpus.split(test=0.5), parts.train)


def test_labels_of_test_documents_are_hidden_unless_asked_for(supervised, parts):
    found = evaluate(supervised, parts, samples=50)
    assert found["accuracy"] > 0.6  # of three classes of one size
    assert 0 <= found["macro F1"] <= 1
    assert found.protocol["labels_used_in_training"]
    how = {m.how for m in found if m.name == "NMI"}
    assert any("labels were used in training" in text for text in how)
    assert any("labels of test documents hidden" in text for text in how)
    rng = np.random.default_rng(0)
    mixed = Corpus.from_arrays(
        tokens=parts.test.tokens,
        offsets=parts.test.offsets,
        vocabulary=parts.test.vocabulary,
        categories=rng.permutation(parts.test.categories),
        category_names=parts.test.category_names,
    )
    links = parts.links.citing
    again = evaluate(supervised, mixed, links=links, samples=50)
    assert again["perplexity"] == found["perplexity"]
    assert again["accuracy"] < found["accuracy"]
    seen = evaluate(supervised, parts, samples=50, labels="seen")
    reasons = {m.name: m.how for m in seen if m.value is None}
    assert reasons["accuracy"].startswith("the labels were seen")
    assert any("SEEN (the paper's protocol)" in m.how for m in seen)


def test_reasons_for_what_is_not_measured(found, parts):
    unsupervised = {m.name: m.how for m in found if m.value is None}
    assert "not supervised (eta = 0)" in unsupervised["accuracy"]
    model = SpectralClustering(topics=3, seed=0).fit(parts.train)
    bare = {m.name: m.how for m in evaluate(model) if m.value is None}
    assert "hold_out(corpus, citations=0.1)" in bare["AUC"]
    assert "hold_out(corpus, words=0.1)" in bare["perplexity, held-out words"]
    assert "test=CORPUS" in bare["perplexity"]
    assert "no chains" in bare["R-hat"]
    assert judge_chains(model).verdict.headline == "No chains to judge"
    tested = {m.name: m.how for m in evaluate(model, parts, words="all") if m.value is None}
    assert tested["perplexity"].startswith("all words were used for the estimates")
    assert "citations that are to be predicted" in tested["AUC"]
    with pytest.raises(KeyError, match="could not be computed: all words were used"):
        evaluate(model, parts, words="all")["perplexity"]
    assert evaluate(model, categories=False).table()[0]["how"] == "not asked for"


def test_a_corpus_without_categories_is_never_compared(parts):
    plain = Corpus.from_lists(
        tokens=[parts.train.words(d) for d in range(parts.train.n_documents)],
        citations=parts.train.citations,
    )
    found = evaluate(Louvain(seed=0).fit(plain))
    gaps = [m for m in found if m.part == "clusters"]
    assert len(gaps) == 4
    assert all(m.value is None and m.how == "the documents have no categories" for m in gaps)


def test_baselines_are_measured_alike(parts, found):
    model = make_baseline("pmtlm-dc", topics=3, alpha=0.7, restarts=3, seed=0).fit(parts.train)
    other = evaluate(model, parts, k=(5,), negatives=3)
    assert other.model == "pmtlm-dc"
    assert other["NMI", TEST] > 0.5
    names = {(m.part, m.name) for m in other if m.part != "chains"}
    assert names <= {(m.part, m.name) for m in found}
    where = f"{len(parts.links.citing)} citations of test documents"
    words = tfidf_scores(parts.train, parts.test)
    ranked = ranking_scores(words, None, parts.links.citing, k=(5,))
    assert other["recall at 5, tf-idf cosine", where] == ranked.recall[5]
    whole = tfidf_scores(parts.train)  # a new document that is a training document scores alike
    again = tfidf_scores(parts.train, parts.train.subset([3, 4]))
    assert again.rows([0, 1]) == pytest.approx(whole.rows([3, 4]))
    theta = model.transform(parts.test)
    assert topic_scores(model, theta).rows([0]) == pytest.approx(theta[:1] @ model.doc_topic_.T)
    assert "rate of links" in model_scores(model)[1]
    assert "has no rate" in model_scores(Louvain(seed=0).fit(parts.train))[1]


def test_json_and_files_hold_everything(found, tmp_path):
    content = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert len(content["measures"]) == len(found.measures) == len(found.table())
    assert content["protocol"]["test"]["documents"] == 30
    assert json.loads(found.save(tmp_path / "a.json").read_text("utf-8")) == content
    with found.save(tmp_path / "deep" / "a.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["measure"] for row in rows] == [m.name for m in found]
    page = found.save(tmp_path / "a.md").read_text("utf-8").splitlines()
    assert sum(line.startswith("| ") for line in page) == len(found.measures) + 1
    with pytest.raises(ParameterError, match=r"written as \.json, \.csv, \.md"):
        found.save(tmp_path / "a.xlsx")
    infinite = Evaluation("m", (Measure("words", "perplexity", TEST, math.inf, ""),))
    assert infinite.to_dict()["measures"][0]["value"] == "inf"
    with pytest.raises(KeyError, match="there are: perplexity"):
        infinite["NMI"]


def test_words_left_out_and_scored(corpus):
    out = np.random.default_rng(0).random(corpus.n_tokens) < 0.3
    left = without_words(corpus, out)
    assert left.n_tokens == np.count_nonzero(~out)
    for d in (0, 50, 119):
        kept = ~out[corpus.offsets[d] : corpus.offsets[d + 1]]
        words = np.array(corpus.words(d))[kept].tolist()
        assert left.words(d) == words
    assert completion_words(corpus) == 0.5
    theta, phi = np.array([[0.2, 0.8]]), np.array([[0.5, 0.5, 0.0], [0.25, 0.75, 0.0]])
    scored = plain_perplexity(theta, phi, np.array([0, 0]), np.array([0, 1]))
    assert scored.value == pytest.approx((0.3 * 0.7) ** -0.5)
    impossible = plain_perplexity(theta, phi, np.array([0, 0]), np.array([0, 2]))
    assert impossible == (math.inf, 1)
    assert "probability 0; x" in impossible.explain("x")
    with pytest.raises(ParameterError, match="No word is left"):
        plain_perplexity(theta, phi, np.array([], int), np.array([], int))


def test_titles_are_estimated_from_where_there_are_any(corpus):
    titled = Corpus.from_lists(
        tokens=[corpus.words(d) for d in range(corpus.n_documents)],
        title_lengths=[4] * corpus.n_documents,
    )
    assert completion_words(titled) == "title"
    half = without_words(titled, np.arange(titled.n_tokens) % 2 == 1)
    assert half.title_lengths.tolist() == [2] * corpus.n_documents


def test_holding_out(corpus):
    train, held = hold_out(corpus, documents=0.25, citations=0.2, words=0.1, seed=3)
    assert train.n_documents == 90
    assert sorted(held) == ["citations", "words"]
    inside = corpus.split(test=0.25, seed=3).train
    assert train.n_citations + len(held["citations"]) == inside.n_citations
    assert train.n_tokens + len(held["words"]) == inside.n_tokens
    with pytest.raises(ParameterError, match="Nothing to hold out"):
        hold_out(corpus)


def test_bad_input(scntm, parts):
    with pytest.raises(ParameterError, match="'labels' must be 'hidden' or 'seen'"):
        evaluate(scntm, labels="some")
    with pytest.raises(ParameterError, match="Got SCNTM, which is not fitted"):
        evaluate(citeweave.SCNTM())
    with pytest.raises(ParameterError, match="'k' must be an integer of at least 1"):
        evaluate(scntm, k=(0,))
    with pytest.raises(ParameterError, match="'words' must be"):
        evaluate(scntm, parts, words="some")
