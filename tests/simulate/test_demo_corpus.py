"""The demo corpus: readable, of its stated size, and with its areas planted."""

from collections import Counter

import numpy as np
import pytest

from citeweave.corpus import Corpus
from citeweave.simulate import demo_corpus
from citeweave.simulate.demo import _TITLES

AREAS = [
    "Agriculture",
    "Archaeology",
    "Biology",
    "Computer Science",
    "Financial Economics",
    "Industrial Engineering",
    "Material Science",
    "Petroleum Chemistry",
    "Physics",
    "Social Science",
]


@pytest.fixture(scope="module")
def demo():
    return demo_corpus()


def test_sizes(demo):
    corpus = demo.corpus
    assert corpus.category_names == AREAS
    assert corpus.n_documents == 1500
    assert corpus.n_authors == len(set(corpus.author_names)) == 400
    assert corpus.n_citations == pytest.approx(8000, rel=0.03)
    assert 850 < corpus.vocabulary_size < 1100
    assert corpus.n_tokens / 1500 == pytest.approx(60, rel=0.05)
    assert np.bincount(corpus.categories, minlength=10).min() > 50
    years = corpus.metadata["year"]
    assert (min(years), max(years)) == (1995, 2024)


def test_it_is_the_same_each_time():
    once = demo_corpus()
    again = demo_corpus()
    assert again.corpus.fingerprint == once.corpus.fingerprint
    assert again.corpus.fingerprint != demo_corpus(seed=1).corpus.fingerprint


def test_topics_are_the_areas(demo):
    truth, words = demo.truth, demo.corpus.vocabulary
    np.testing.assert_allclose(truth.topic_word.sum(axis=1), 1.0)
    tops = [{words[i] for i in np.argsort(-row)[:25]} for row in truth.topic_word]
    assert "soil water" in tops[0]
    assert "bronze age" in tops[1]
    assert "gene expression" in tops[2]
    assert "quantum mechanics" in tops[8]
    scaled = truth.topic_word / np.linalg.norm(truth.topic_word, axis=1, keepdims=True)
    between = (scaled @ scaled.T)[np.triu_indices(10, 1)]
    assert between.min() > 0
    assert between.max() < 0.3


def test_general_words_are_in_every_area(demo):
    row = demo.truth.topic_word[:, demo.corpus.vocabulary.index("method")]
    assert (row > 2 / demo.corpus.vocabulary_size / 10).all()


def test_titles_are_the_first_words_of_their_papers(demo):
    corpus = demo.corpus
    glue = set(" ".join(_TITLES).lower().replace(",", "").replace(":", "").split())
    for d in range(0, 1500, 50):
        title = corpus.titles[d].lower()
        head = corpus.words(d)[: corpus.title_lengths[d]]
        assert len(head) >= 2
        for word in sorted(head, key=len, reverse=True):
            assert word in title
            title = title.replace(word, "", 1)
        assert set(title.replace(",", "").replace(":", "").split()) <= glue


def test_labels_follow_the_main_topic_with_a_little_noise(demo):
    main = demo.truth.doc_topic.argmax(axis=1)
    agreement = (main == demo.corpus.categories).mean()
    assert 0.92 < agreement < 0.98


def test_truth_stays_aligned_to_the_tokens(demo):
    corpus, truth = demo.corpus, demo.truth
    likelihood = np.log(truth.topic_word[truth.token_topic, corpus.tokens]).mean()
    shuffled = np.log(truth.topic_word[(truth.token_topic + 1) % 10, corpus.tokens]).mean()
    assert likelihood > shuffled + 1.5
    assert truth.citing_topic.shape == (corpus.n_citations,)
    assert truth.author_topic.shape == (400, 10)


def test_citations_stay_within_areas_and_go_back_in_time(demo):
    corpus = demo.corpus
    citing, cited = corpus.citations.T
    years = np.array(corpus.metadata["year"])
    assert (years[citing] > years[cited]).all()
    main = demo.truth.doc_topic.argmax(axis=1)
    assert (main[citing] == main[cited]).mean() > 0.55


def test_names_are_readable(demo):
    assert all(len(name.split()) == 2 and name[1:3] == ". " for name in demo.corpus.author_names)
    assert max(Counter(demo.corpus.titles).values()) < 10


def test_it_can_be_saved(demo, tmp_path):
    folder = demo.corpus.save(tmp_path / "demo")
    assert Corpus.load(folder).verify() == demo.corpus.fingerprint
