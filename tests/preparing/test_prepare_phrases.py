"""Phrases: the statistic, what is found, and how overlaps are settled."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from citeweave.preparing.hyphens import find_hyphens, hyphen_step
from citeweave.preparing.phrases import PhraseTable, association, chunks, find_phrases
from citeweave.preparing.segment import Segmenter


def test_statistics_against_hand_worked_table():
    # 10 pairs among 20 and 25 occurrences in 1000 words: cells 10, 10, 15, 965.
    cells = np.array([10.0, 10.0, 15.0, 965.0])
    expected = np.array([20 * 25, 20 * 975, 980 * 25, 980 * 975]) / 1000.0
    one = [np.array([n]) for n in (10, 20, 25)]
    llr, strength = association(*one, 1000, "llr")
    assert llr[0] == pytest.approx(2 * np.sum(cells * np.log(cells / expected)))
    chi2, _ = association(*one, 1000, "chi2")
    assert chi2[0] == pytest.approx(np.sum((cells - expected) ** 2 / expected))
    assert strength[0] == pytest.approx(np.log(10 * 1000 / (20 * 25)) / np.log(1000 / 10))


def test_pairs_rarer_than_chance_score_nothing():
    score, strength = association(np.array([1]), np.array([100]), np.array([100]), 1000, "llr")
    assert score[0] == 0
    assert strength[0] < 0


def _corpus(rng, n=3000):
    """Words 0 to 9 at random; 10 11 and 12 13 14 always together."""
    texts = []
    for _ in range(n):
        texts += list(rng.integers(0, 10, size=3))
        texts += [[10, 11], [12, 13, 14], [11], [13]][rng.integers(4)]
        texts.append(-1)
    return np.array(texts, dtype=np.int32)


@pytest.mark.parametrize("statistic", ["llr", "chi2"])
def test_planted_phrases_are_found(statistic):
    texts = _corpus(np.random.default_rng(0))
    found = find_phrases(texts, 15, min_count=50, statistic=statistic)
    words = {phrase.words for phrase in found}
    assert {(10, 11), (12, 13), (13, 14), (12, 13, 14)} == words
    counts = {phrase.words: phrase.count for phrase in found}
    assert counts[12, 13, 14] == counts[12, 13]
    assert find_phrases(texts, 15, min_count=50, max_words=2)[0].words in words
    assert find_phrases(texts, 15, min_count=10_000) == []


def test_no_phrase_across_a_break():
    texts = np.array([0, -1, 1] * 500 + [2, 3, -1] * 500, dtype=np.int32)
    found = find_phrases(texts, 4, min_count=3, min_score=0, min_strength=-1)
    assert (0, 1) not in {phrase.words for phrase in found}
    assert (2, 3) in {phrase.words for phrase in found}


def test_longer_then_stronger_then_left():
    table = PhraseTable([(0, 1), (1, 2), (2, 3, 4), (0, 0)], [5.0, 9.0, 1.0, 3.0], 6)
    cut = lambda *words: table.segment(np.array(words, dtype=np.int32)).tolist()  # noqa: E731
    assert cut(0, 1, 2) == [0, 7, -2]  # the stronger pair wins
    assert cut(1, 2, 3, 4) == [1, 8, -2, -2]  # three words go first
    assert cut(0, 0, 0) == [9, -2, 0]  # equal strength: the left one
    assert cut(0, -1, 1) == [0, -1, 1]
    assert cut() == []


_WORDS = st.lists(st.integers(-1, 4), max_size=30)
_PHRASES = st.lists(
    st.lists(st.integers(0, 4), min_size=2, max_size=3).map(tuple), max_size=8, unique=True
)


@given(st.lists(_WORDS, max_size=5), _PHRASES, st.integers(0, 100))
def test_segmenting_is_local_and_loses_nothing(parts, phrases, seed):
    scores = np.random.default_rng(seed).integers(1, 4, size=len(phrases)).astype(float).tolist()
    table = PhraseTable(phrases, scores, 5)
    texts = [np.array([*part, -1], dtype=np.int32) for part in parts]
    alone = [table.segment(text) for text in texts]
    together = table.segment(np.concatenate([*texts, np.zeros(0, dtype=np.int32)]))
    assert together.tolist() == [unit for part in alone for unit in part.tolist()]
    # Written out again, the units are the words.
    for text, units in zip(texts, alone, strict=True):
        written = []
        for unit in units.tolist():
            written += list(phrases[unit - 5]) if unit >= 5 else [unit] if unit != -2 else []
        assert written == text.tolist()


@given(st.lists(st.sampled_from(["a", "b", "c", "d", ""]), max_size=20))
def test_segmenter_of_texts_agrees_with_the_table(words):
    phrases = {"a b": 2.0, "b c": 3.0, "c d a": 1.0}
    number = {word: i for i, word in enumerate("abcd")}
    table = PhraseTable([tuple(number[w] for w in p.split()) for p in phrases], [2, 3, 1], 4)
    ids = np.array([number.get(word, -1) for word in words], dtype=np.int32)
    names = [*"abcd", *phrases]
    expected = [names[u] if u >= 0 else "" for u in table.segment(ids).tolist() if u != -2]
    assert Segmenter(phrases)(words) == expected


def test_chunks_part_at_breaks():
    texts = np.array(([1] * 9 + [-1]) * 50)
    spans = list(chunks(texts, size=95))
    assert spans[0][0] == 0
    assert spans[-1][1] == len(texts)
    assert all(a[1] == b[0] for a, b in itertools.pairwise(spans))
    assert all(texts[stop - 1] == -1 for _, stop in spans)


def test_the_more_usual_spelling_wins():
    words = ["yang", "mills", "yang-mills", "data", "set", "data-set"]
    texts = np.array([2, -1, 2, -1, 2, -1, 0, 1, -1, 3, 4, -1, 3, 4, -1, 5, -1], dtype=np.int32)
    rules = find_hyphens(
        lambda: [texts], np.bincount(texts[texts >= 0], minlength=len(words)), words
    )
    assert rules.split == {"data-set"}
    assert rules.join == {"yang-mills": 3}
    places = [np.array([0, 7, 9, 16, 17])]
    new, (moved,) = hyphen_step(words, rules)(texts, places)
    assert new.tolist() == [2, -1, 2, -1, 2, -1, 2, -1, 3, 4, -1, 3, 4, -1, 3, 4, -1]
    assert moved.tolist() == [0, 7, 8, 16, 17]
