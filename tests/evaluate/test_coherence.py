"""NPMI by counting sets, known cases, and diversity."""

import itertools
import tracemalloc

import numpy as np
import pytest

from citeweave.corpus import Corpus
from citeweave.errors import ParameterError
from citeweave.evaluate import npmi_coherence, top_words, topic_diversity


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(5)
    return Corpus.from_lists(tokens=[rng.integers(0, 30, 8) for _ in range(60)])


def counted_npmi(words, corpus):
    """NPMI of one list of words, by sets of documents."""
    texts = [
        set(corpus.tokens[corpus.offsets[d] : corpus.offsets[d + 1]].tolist())
        for d in range(corpus.n_documents)
    ]
    values = []
    for i, j in itertools.combinations(words, 2):
        both = np.mean([i in text and j in text for text in texts])
        apart = np.mean([i in text for text in texts]) * np.mean([j in text for text in texts])
        values.append(-1.0 if both == 0 else np.log(both / apart) / -np.log(both))
    return np.mean(values)


def test_counting_sets_gives_the_same(corpus):
    weights = np.random.default_rng(1).random((4, corpus.vocabulary_size))
    found = npmi_coherence(weights, corpus, top=6)
    wanted = [counted_npmi(words, corpus) for words in top_words(weights, top=6).tolist()]
    assert found == pytest.approx(wanted)


def test_words_never_and_always_together():
    pairs = Corpus.from_lists(tokens=[["a", "b"], ["a", "b", "b"], ["c"], ["d"], ["c", "d"]])
    weights = [[1, 1, 0, 0], [1, 0, 1, 0]]
    assert npmi_coherence(weights, pairs, top=2).tolist() == pytest.approx([1.0, -1.0])
    everywhere = Corpus.from_lists(tokens=[["a", "b"], ["b", "a"]])
    assert npmi_coherence([[1, 1]], everywhere, top=2).tolist() == [1.0]


def test_independent_words_have_none():
    # a in documents 0 and 1, b in 0 and 2, of four: p_ab = 1/4 = p_a p_b
    square = Corpus.from_lists(tokens=[["a", "b"], ["a"], ["b"], ["c"]])
    assert npmi_coherence([[1, 1, 0]], square, top=2).tolist() == pytest.approx([0.0])


def test_ties_go_to_the_smaller_id():
    assert top_words([[0.2, 0.5, 0.2, 0.2]], top=3).tolist() == [[1, 0, 2]]


def test_diversity_of_equal_and_of_disjoint_topics():
    assert topic_diversity(np.tile(np.arange(8.0), (4, 1)), top=2) == 0.25
    assert topic_diversity(np.eye(4), top=1) == 1.0


def test_thirty_thousand_documents_need_no_table_of_all_pairs():
    rng = np.random.default_rng(0)
    tokens = rng.integers(0, 20_000, 3_000_000).astype(np.int32)
    large = Corpus.from_arrays(
        tokens=tokens, offsets=np.arange(0, 3_000_001, 100), vocabulary_size=20_000
    )
    weights = rng.random((50, 20_000))
    tracemalloc.start()
    found = npmi_coherence(weights, large)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.shape == (50,)
    assert peak < 400e6  # all pairs of words would take 3.2 GB


@pytest.mark.parametrize(
    ("weights", "top", "text"),
    [
        (np.ones((2, 29)), 5, "29 columns and a vocabulary of 30"),
        (np.ones((2, 30)), 1, "at least 2"),
        (np.ones((2, 30)), 31, "at most the number of words, 30"),
        (np.full((2, 30), np.nan), 5, "60 of the values not finite"),
        (np.ones(30), 5, r"shape \(30,\)"),
    ],
)
def test_bad_input(corpus, weights, top, text):
    with pytest.raises(ParameterError, match=text):
        npmi_coherence(weights, corpus, top=top)
