"""Bags of words and counts from TF-IDF."""

import itertools

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from citeweave.errors import CorpusError
from citeweave.preparing import Settings, prepare
from citeweave.preparing.tfidf import counts_from_tfidf


def test_bags_are_expanded_and_not_filtered(make):
    corpus, report = prepare(
        [
            make("a", words=(("w10", 2.0), ("w2", 1.0)), words_kind="count", title="Not used"),
            make("b", words=(("w3", 0.0),), words_kind="count"),
        ]
    )
    assert corpus.vocabulary == ["w2", "w3", "w10"]
    assert corpus.tokens.tolist() == [2, 2, 0]
    assert corpus.offsets.tolist() == [0, 3, 3]
    assert report.vocabulary_before == 3


def test_bags_may_be_filtered(make):
    bags = [
        make(str(i), words=(("x", 1.0), (f"y{i % 2}", 3.0)), words_kind="count") for i in range(30)
    ]
    strict = Settings(filter_bags=True, min_word_count=20)
    corpus, _ = prepare(bags, settings=strict)
    assert corpus.vocabulary == []  # x in all 30 documents, y0 and y1 in 15 each: above 18 % and 10
    corpus, _ = prepare(
        bags, settings=Settings(filter_bags=True, max_document_share=0.6, min_word_count=20)
    )
    assert corpus.vocabulary == ["y0", "y1"]


def test_bags_and_texts_share_a_vocabulary(make):
    corpus, _ = prepare(
        [
            make("a", title="oak ash"),
            make("b", words=(("oak", 2.0), ("elm", 1.0)), words_kind="count"),
        ]
    )
    words = [corpus.vocabulary[i] for i in corpus.tokens.tolist()]
    assert words == ["oak", "ash", "oak", "oak", "elm"]
    assert corpus.offsets.tolist() == [0, 2, 5]


def test_counts_must_be_whole_numbers(make):
    with pytest.raises(CorpusError, match=r"word 'x' must be an integer .* got 0\.5"):
        prepare([make("a", words=(("x", 0.5),), words_kind="count")])


def _tfidf(counts, size, frequency):
    """TF-IDF values of counts, with weights log(size / frequency)."""
    documents, words = np.nonzero(counts)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    values = (shares * np.log(size / frequency))[documents, words]
    offsets = np.concatenate(([0], np.cumsum(np.count_nonzero(counts, axis=1))))
    return values, words, offsets


@pytest.mark.parametrize("extra", [0, 37])
def test_counts_come_back_even_if_the_weights_are_of_a_larger_corpus(extra):
    rng = np.random.default_rng(3)
    counts = rng.poisson(0.8, size=(200, 12))
    counts[:, 0] += counts.sum(axis=1) == 0
    hidden = rng.integers(0, extra + 1, size=12)
    frequency = np.count_nonzero(counts, axis=0) + hidden
    values, words, offsets = _tfidf(counts, 200 + extra, frequency)
    found = counts_from_tfidf(values, words, offsets, 12)
    assert (found.method, found.n_documents, found.off) == ("constraint", 200 + extra, 0)
    assert found.largest_error < 1e-4
    # A document whose counts have a common factor looks the same as its primitive form.
    truth = counts // np.gcd.reduce(counts, axis=1)[:, None]
    assert found.counts.tolist() == truth[truth > 0].tolist()


def test_too_few_documents_fall_back_to_the_formula():
    # Three documents cannot fix the weights of four words; log(3 / df) gives the counts back.
    counts = np.array([[1, 2, 0, 1], [1, 0, 3, 0], [0, 1, 0, 4]])
    values, words, offsets = _tfidf(counts, 3, np.count_nonzero(counts, axis=0))
    found = counts_from_tfidf(values, words, offsets, 4)
    assert (found.method, found.n_documents, found.off) == ("formula", 3, 0)
    assert found.counts.tolist() == counts[counts > 0].tolist()


def test_counts_that_the_rarest_word_has_twice_come_back():
    counts = np.array([[2, 3, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1]])
    values, words, offsets = _tfidf(counts, 3, np.count_nonzero(counts, axis=0))
    assert counts_from_tfidf(values, words, offsets, 4).counts[:2].tolist() == [2, 3]


def test_tfidf_must_be_positive():
    with pytest.raises(CorpusError, match="positive"):
        counts_from_tfidf(np.array([-1.0]), np.array([0]), np.array([0, 1]), 1)


def test_prepare_recovers_tfidf(make):
    rng = np.random.default_rng(0)
    counts = rng.poisson(1.0, size=(60, 5))
    counts[:, 1] += counts.sum(axis=1) == 0
    values, words, offsets = _tfidf(counts, 70, np.count_nonzero(counts, axis=0) + 5)
    records = [
        make(
            str(d),
            words=tuple(
                (f"w{w}", v) for w, v in zip(words[a:b].tolist(), values[a:b].tolist(), strict=True)
            ),
            words_kind="tfidf",
        )
        for d, (a, b) in enumerate(itertools.pairwise(offsets))
    ]
    corpus, report = prepare(records)
    truth = counts // np.gcd.reduce(counts, axis=1)[:, None]
    assert report.tfidf is not None
    assert report.tfidf["method"] == "constraint"
    assert report.tfidf["n_documents"] == 70
    assert corpus.n_tokens == truth.sum()


@given(st.lists(st.lists(st.floats(1e-6, 1e6), max_size=4), max_size=5))
@example([[231.0, 231.0], [231.0, 1.75]])
def test_any_positive_values_give_counts(documents):
    values = np.array([v for d in documents for v in d])
    words = np.array([i for d in documents for i in range(len(d))], dtype=np.int64)
    offsets = np.concatenate(([0], np.cumsum([len(d) for d in documents]))).astype(np.int64)
    found = counts_from_tfidf(values, words, offsets, 4)
    assert len(found.counts) == len(values)
    assert (found.counts >= 1).all()
