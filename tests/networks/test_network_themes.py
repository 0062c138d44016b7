"""Centrality and density of topics, against Callon's formulas worked out by hand."""

import numpy as np
import pytest

from citeweave.corpus import Corpus
from citeweave.errors import NotFoundError, ParameterError
from citeweave.networks import Themes, themes_of

CORPUS = Corpus.from_lists(
    tokens=[["a", "b", "a"], ["a", "b", "c"], ["c", "d"], ["a"], []],
    vocabulary=["a", "b", "c", "d"],
)
PHI = np.array([[0.5, 0.4, 0.1, 0.0], [0.1, 0.0, 0.5, 0.4]])


def test_centrality_and_density_are_as_by_hand() -> None:
    # papers: a 3, b 2, c 2, d 1; together: ab 2, ac 1, bc 1, cd 1
    e_ab, e_ac, e_bc, e_cd = 4 / 6, 1 / 6, 1 / 4, 1 / 2
    found = themes_of(CORPUS, PHI, np.array([0, 1]))
    assert [words.tolist() for words in found.words] == [[0, 1], [2, 3]]
    assert found.density == pytest.approx([100 * e_ab / 2, 100 * e_cd / 2])
    assert found.centrality == pytest.approx([10 * (e_ac + e_bc)] * 2)
    assert found.links == pytest.approx((e_ac + e_bc) * (1 - np.eye(2)))


def test_a_word_belongs_to_the_topic_where_it_is_most_probable() -> None:
    found = themes_of(CORPUS, PHI[::-1], np.array([1, 0]), words=2)
    assert found.topics.tolist() == [1, 0]
    assert [words.tolist() for words in found.words] == [[0, 1], [2, 3]]


def test_topics_with_one_word_of_their_own_are_no_themes() -> None:
    phi = np.array([[0.5, 0.4, 0.05, 0.05], [0.1, 0.1, 0.8, 0.01], [0.0, 0.0, 0.2, 0.8]])
    assert themes_of(CORPUS, phi, np.arange(3)).topics.tolist() == [0]
    with pytest.raises(NotFoundError, match="no topic has two words of its own"):
        themes_of(CORPUS, np.eye(4), np.arange(4))


def test_quadrants_are_named() -> None:
    themes = Themes(
        topics=np.arange(4),
        centrality=np.array([9.0, 1.0, 2.0, 8.0]),
        density=np.array([9.0, 8.0, 1.0, 2.0]),
        words=(),
        links=np.zeros((4, 4)),
    )
    assert themes.middle == (5.0, 5.0)
    assert themes.quadrant == ["motor", "niche", "emerging or declining", "basic"]


def test_a_theme_has_two_words_at_least() -> None:
    with pytest.raises(ParameterError, match="'words' must be at least 2"):
        themes_of(CORPUS, PHI, np.arange(2), words=1)
