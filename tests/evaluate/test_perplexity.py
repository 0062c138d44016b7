"""Perplexity: no word estimated from and scored, and values worked out another way."""

import math

import numpy as np
import pytest

from citeweave import SCNTM, Corpus
from citeweave.errors import CorpusError, ParameterError
from citeweave.evaluate import hold_out_words, perplexity
from citeweave.simulate import simulate

QUICK = {"samples": 40, "burn_in": 10}


@pytest.fixture(scope="module")
def parts():
    corpus = simulate(
        documents=160, vocabulary=60, topics=3, words_per_document=14, citations=300, seed=3
    ).corpus
    return corpus.split(test=0.25, seed=0)


@pytest.fixture(scope="module")
def model(parts):
    return SCNTM(topics=3, iterations=60, seed=1, chains=1).fit(parts.train)


def by_hand(theta, phi, corpus, scored):
    document = np.repeat(np.arange(corpus.n_documents), corpus.lengths)
    logs = [
        math.log(sum(float(theta[d, k]) * phi[k, w] for k in range(len(phi))))
        for d, w, chosen in zip(document, corpus.tokens, scored, strict=True)
        if chosen
    ]
    return math.exp(-sum(logs) / len(logs)), len(logs)


@pytest.mark.parametrize("words", [0.2, 0.5, 0.9, "none"])
@pytest.mark.parametrize("method", ["paper", "gibbs"])
def test_words_are_estimated_from_or_scored_never_both(model, parts, words, method):
    options = {"words": words, "links": parts, "method": method, **QUICK}
    found = perplexity(model, parts.test, **options)
    folded = model.fold_in(parts.test, **options)
    value, n_scored = by_hand(folded.doc_topic, model.topic_word_, parts.test, ~folded.used)
    assert found.value == pytest.approx(value, rel=1e-9)
    assert found.n_scored == n_scored
    assert found.n_estimated == folded.used.sum()
    assert found.n_scored + found.n_estimated == parts.test.n_tokens
    assert found.kind == "test"
    assert found.protocol["words_used"] == folded.protocol["words_used"]


@pytest.mark.parametrize("method", ["paper", "gibbs"])
def test_scored_words_have_no_say_in_the_estimates(model, parts, method):
    corpus = parts.test
    half = corpus.lengths // 2
    head = {"offsets": corpus.offsets, "vocabulary": corpus.vocabulary, "title_lengths": half}
    within = np.arange(corpus.n_tokens) - np.repeat(corpus.offsets[:-1], corpus.lengths)
    tail = within >= np.repeat(half, corpus.lengths)
    tokens = np.where(tail, 0, corpus.tokens)
    options = {"words": "title", "method": method, **QUICK}
    given, changed = (
        model.fold_in(Corpus.from_arrays(tokens=t, **head), **options)
        for t in (corpus.tokens, tokens)
    )
    np.testing.assert_array_equal(given.used, ~tail)
    assert given.doc_topic.tobytes() == changed.doc_topic.tobytes()
    if method == "gibbs":
        assert given.burst_topic.tobytes() == changed.burst_topic.tobytes()
        assert given.burst_word.tobytes() == changed.burst_word.tobytes()
        assert (given.burst_word[tail] == 0).all()


def test_bursts_make_words_of_the_document_likelier(model, parts):
    new = Corpus.from_lists(
        tokens=[["w1", "w2", "w1"], ["w1", "w2", "w3"]],
        vocabulary=parts.test.vocabulary,
        title_lengths=[2, 2],
    )
    options = {"words": "title", "method": "gibbs", "samples": 4000}
    repeated, fresh = perplexity(model, new, burst=True, **options).per_document
    plain = perplexity(model, new, **options).per_document
    assert repeated < plain[0]  # w1 again after w1
    assert fresh > plain[1] * 0.9  # w3 gains nothing


def test_sums_of_documents_are_the_whole(model, parts):
    found = perplexity(model, parts.test, words=0.5, **QUICK)
    assert found.document_log_likelihood.sum() == pytest.approx(found.log_likelihood)
    assert found.document_scored.sum() == found.n_scored
    weights = found.document_scored / found.n_scored
    scored = weights > 0
    mean = np.exp((weights[scored] * np.log(found.per_document[scored])).sum())
    assert found.value == pytest.approx(mean)


def test_unseen_words_are_counted_and_not_scored(model, parts):
    new = Corpus.from_lists(tokens=[["w1", "zebra", "w2", "w2"], ["zebra"]])
    found = perplexity(model, new, words="none", **QUICK)
    assert (found.n_scored, found.n_estimated, found.n_unseen) == (3, 0, 2)
    assert math.isnan(found.per_document[1])
    known = Corpus.from_lists(tokens=[["w1", "w2", "w2"], []], vocabulary=parts.train.vocabulary)
    assert perplexity(model, known, words="none", **QUICK).value == found.value


def test_words_may_be_foretold_by_theta(model, parts):
    options = {"words": 0.5, "links": parts, **QUICK}
    folded = model.fold_in(parts.test, **options)
    found = perplexity(model, parts.test, vector="theta", **options)
    value, _ = by_hand(folded.doc_word_topic, model.topic_word_, parts.test, ~folded.used)
    assert found.value == pytest.approx(value, rel=1e-9)
    assert found.protocol["formula"] == "p(w) = sum_k theta_dk phi_kw"
    every = np.ones(parts.train.n_tokens, bool)
    value, _ = by_hand(model.doc_word_topic_, model.topic_word_, parts.train, every)
    assert perplexity(model, vector="theta").value == pytest.approx(value, rel=1e-6)
    with pytest.raises(ParameterError, match="'vector' must be"):
        perplexity(model, vector="phi")


def test_in_sample_is_named_so(model, parts):
    found = perplexity(model)
    value, n = by_hand(
        model.doc_topic_, model.topic_word_, parts.train, np.ones(parts.train.n_tokens, bool)
    )
    assert found.value == pytest.approx(value, rel=1e-6)
    assert found.n_scored == found.n_estimated == n
    assert found.kind == "in sample"


def test_words_held_out_before_fitting(parts):
    corpus = parts.train
    train, held = hold_out_words(corpus, share=0.3, seed=2)
    assert train.n_tokens + len(held.word) == corpus.n_tokens
    taken = np.bincount(held.document, minlength=corpus.n_documents)
    np.testing.assert_array_equal(taken, np.floor(0.3 * corpus.lengths + 0.5))
    for d in range(corpus.n_documents):  # together they are the document
        left = train.tokens[train.offsets[d] : train.offsets[d + 1]]
        both = np.sort(np.concatenate([left, held.word[held.document == d]]))
        np.testing.assert_array_equal(
            both, np.sort(corpus.tokens[corpus.offsets[d] : corpus.offsets[d + 1]])
        )
    np.testing.assert_array_equal(train.citations, corpus.citations)
    again, _ = hold_out_words(corpus, share=0.3, seed=2)
    assert again.fingerprint == train.fingerprint
    assert hold_out_words(corpus, share=0.3, seed=3)[0].fingerprint != train.fingerprint
    model = SCNTM(topics=3, iterations=60, seed=1, chains=1).fit(train)
    found = perplexity(model, held)
    assert found.kind == "held-out words"
    assert found.n_scored == len(held.word)
    # words that were learned from are less of a surprise
    assert perplexity(model).value < found.value < corpus.vocabulary_size


def test_held_out_words_belong_to_one_model(model, parts):
    _, held = hold_out_words(parts.train, share=0.3)
    with pytest.raises(ParameterError, match="held out of a corpus other than"):
        perplexity(model, held)


def test_titles_stay_titles_without_some_words():
    corpus = Corpus.from_lists(tokens=[["a", "b", "c", "d"], ["a", "b"]], title_lengths=[2, 2])
    train, held = hold_out_words(corpus, share=0.5, seed=1)
    for d in range(2):
        title = set("ab") - {corpus.vocabulary[w] for w in held.word[held.document == d]}
        assert train.title_lengths[d] == len(title)
        assert set(train.words(d)[: train.title_lengths[d]]) == title


WRONG = {
    "all words": ({"words": "all"}, "must leave some to be scored"),
    "burst": ({"burst": True}, "only method='gibbs' has"),
    "titles": ({"words": "title"}, "does not say which words are of titles"),
    "share": ({"words": 0.0}, "a share between 0 and 1"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_options_are_refused(model, parts, case):
    options, text = WRONG[case]
    with pytest.raises((ParameterError, CorpusError), match=text):
        perplexity(model, parts.test, **options)


def test_nothing_to_score_is_refused(model):
    with pytest.raises(ParameterError, match="No word is left to score: 1 are used for estimation"):
        perplexity(model, Corpus.from_lists(tokens=[["w1"], ["zebra"]]), words=0.5, **QUICK)
    with pytest.raises(ParameterError, match="'burst' is for new documents"):
        perplexity(model, burst=True)
    with pytest.raises(ParameterError, match=r"share of words to hold out\. Got 1 instead"):
        hold_out_words(model.corpus_, share=1)
    with pytest.raises(CorpusError, match=r"No word is held out at a share of 0\.1"):
        hold_out_words(Corpus.from_lists(tokens=[["a", "b"]]), share=0.1)
