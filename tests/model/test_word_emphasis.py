"""Emphasis on words that go along with citations."""

import numpy as np
import pytest
from scipy import sparse

import citeweave
from citeweave.model.smoothing import tfidf
from citeweave.model.word_emphasis import PRIOR_LINKS, autocorrelation, emphasise


@pytest.fixture(scope="module")
def corpus():
    """Papers of two subjects; all but the last three cite one of their own subject."""
    rng = np.random.default_rng(4)
    subjects = [["sun", "moon", "star"], ["oak", "elm", "leaf"]]
    tokens = [
        [*rng.choice(subjects[d % 2], 3), *rng.choice(["note", "study", "on"], 2)]
        for d in range(80)
    ]
    citations = [(d, d - 2 * int(rng.integers(1, 1 + d // 2))) for d in range(2, 77)]
    return citeweave.Corpus.from_lists(tokens=tokens, citations=citations)


def by_definition(words, corpus):
    """The docstring's formula, for dense words and one word after another."""
    citing, cited = corpus.citations.T
    pairs = {(i, j) for i, j in zip(citing.tolist(), cited.tolist(), strict=True) if i != j}
    pairs |= {(j, i) for i, j in pairs}
    ends = np.array(sorted(pairs)).T
    dense = words.toarray()
    own, links = np.zeros(dense.shape[1]), np.zeros(dense.shape[1])
    for word, x in enumerate(dense.T):
        linked = x[ends[0]]  # a paper counts once for each of its links
        own[word] = ((linked * x[ends[1]]).mean() - linked.mean() ** 2) / linked.var()
        links[word] = np.count_nonzero(linked)
    common = np.average(own, weights=links)
    return np.maximum((links * own + PRIOR_LINKS * common) / (links + PRIOR_LINKS), 0.0)


def test_it_is_the_correlation_over_links(corpus):
    words = tfidf(corpus)
    found = autocorrelation(words, corpus)
    np.testing.assert_allclose(found, by_definition(words, corpus), atol=1e-12)


def test_words_of_subjects_go_along_with_citations(corpus):
    found = dict(zip(corpus.vocabulary, autocorrelation(tfidf(corpus), corpus), strict=True))
    subject = [found[word] for word in ("sun", "moon", "star", "oak", "elm", "leaf")]
    assert min(subject) > max(found[word] for word in ("note", "study", "on"))


def test_a_rare_word_has_nearly_the_mean(corpus):
    """A word of one linked paper has a correlation of nearly 0, but this says little."""
    words = tfidf(corpus)
    rare = sparse.csr_array(([1.0], ([5], [0])), shape=(corpus.n_documents, 1))
    both = sparse.csr_array(sparse.hstack([words, rare]))
    with_it = autocorrelation(both, corpus)
    assert with_it[-1] > 0.5 * autocorrelation(words, corpus).mean()
    np.testing.assert_allclose(with_it[:-1], autocorrelation(words, corpus), rtol=0.1)


def test_words_are_multiplied_by_a_power(corpus):
    words = tfidf(corpus)
    found = emphasise(words, corpus, 0.5).toarray()
    weights = np.sqrt(autocorrelation(words, corpus))
    np.testing.assert_allclose(found, words.toarray() * weights, atol=1e-14)


def test_nothing_is_emphasised_without_links_or_power(corpus):
    words = tfidf(corpus)
    assert emphasise(words, corpus, 0.0) is words
    alone = citeweave.Corpus.from_lists(tokens=[["a", "b"], ["b"]], citations=[(0, 0)])
    words = tfidf(alone)
    assert emphasise(words, alone, 0.5) is words


def test_words_that_avoid_citations_do_not_vanish_altogether():
    """Where cited papers never share a word, all correlations are negative: words stay."""
    corpus = citeweave.Corpus.from_lists(
        tokens=[["a"], ["b"]] * 6, citations=[(d, d - 1) for d in range(1, 12, 2)]
    )
    words = tfidf(corpus)
    assert not autocorrelation(words, corpus).any()
    assert emphasise(words, corpus, 0.5) is words
