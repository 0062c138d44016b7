"""Pages and tables of papers that are drawn into categories."""

import numpy as np
import pytest
from scipy.special import softmax

from citeweave import SCNTM
from citeweave.corpus import Corpus
from citeweave.explore import Exploration
from citeweave.explore.reasons import Readings
from citeweave.model.embedding import smooth_words
from citeweave.model.smoothing import normalised_graph, smooth_scales
from citeweave.web.report.gather import gather
from citeweave.web.report.page import render

KIND = np.arange(36) % 3


@pytest.fixture(scope="module")
def drawn():
    rng = np.random.default_rng(5)
    words = [[f"w{k}-{w}" for w in rng.integers(0, 12, 15)] for k in KIND]
    pairs = [(d, (d + 3 * step) % 36) for d in range(36) for step in (1, 4)]
    corpus = Corpus.from_lists(tokens=words, citations=pairs)
    options = {"iterations": 60, "exactly": True, "seed": 2, "chains": 1}
    return Exploration(SCNTM(topics=6, categories=3, **options).fit(corpus))


def test_a_paper_has_its_categories_with_reasons(drawn):
    page = drawn.paper(4)
    likeliest = page.drawn_categories[0]
    assert likeliest.category == drawn.model.category_[4]
    assert likeliest.name == f"category {likeliest.category}"
    assert likeliest.probability == pytest.approx(drawn.model.category_probability_[4].max())
    assert likeliest.linked == 4  # two that it cites and two that cite it, all of its kind
    assert likeliest.topics
    k = likeliest.topics[0].topic
    assert drawn.group_topic[likeliest.category, k] > drawn.model.topic_share_[k]


def test_the_table_of_papers_has_them(drawn):
    table = drawn.papers()
    assert set(table["drawn_category"]) <= set(drawn.groups.names)
    assert min(table["drawn_probability"]) > 1 / 3


@pytest.fixture(scope="module")
def told():
    """Papers of which the first fifteen have a label, each kind with authors of its own."""
    rng = np.random.default_rng(5)
    words = [
        [f"w{k if rng.random() < 0.5 else 3}-{w}" for w in rng.integers(0, 12, 15)] for k in KIND
    ]
    pairs = [(d, (d + 3 * step) % 36) for d in range(36) for step in (1, 4)]
    corpus = Corpus.from_lists(
        tokens=words,
        citations=pairs + [(d, (d + 1) % 36) for d in range(0, 36, 5)],
        authors=[[f"author {k}-{d % 4}"] for d, k in enumerate(KIND)],
        categories=[f"kind {KIND[d]}" if d < 15 else None for d in range(36)],
    )
    options = {"iterations": 60, "exactly": True, "seed": 2, "chains": 2}
    return Exploration(SCNTM(topics=6, labels="some", **options).fit(corpus))


def test_reasons_add_up_to_the_probability(told):
    for paper in range(15, 36):
        odds = sum(told.readings.odds(paper).values())
        np.testing.assert_allclose(softmax(odds), told.category_probability[paper], atol=1e-4)
        words, weights = told.readings.of_words(paper)
        assert set(words) == set(told.corpus.tokens[15 * paper : 15 * paper + 15])
        np.testing.assert_allclose(
            weights.sum(axis=0), told.readings.odds(paper)["words"], atol=1e-9
        )


def test_reasons_of_runs_that_smoothed_words_twice(told):
    """Their read-out has no lengths for the regression; words reach one another as in SGC."""
    earlier = told.model.read_out_._replace(
        carried=None, discriminant=None, placed=None, weights=np.array([2.0, 0.0, 0.0, 0.0])
    )
    readings = Readings(told, earlier)
    graph = normalised_graph(told.corpus, loops=True).toarray()
    regression = earlier.regression - earlier.regression.mean(axis=1, keepdims=True)
    scores = 2.0 * graph @ graph @ readings.words.toarray() @ regression
    scores -= scores.mean(axis=0)  # compared with an average paper
    for paper in (15, 20):
        odds = readings.odds(paper)
        np.testing.assert_allclose(odds["words"] + odds["citations"], scores[paper], atol=1e-9)


def test_the_discriminant_takes_part_in_reasons(told):
    """Alone, it says of each paper what its scores say, compared with an average paper."""
    alone = told.model.read_out_._replace(weights=np.array([0.0, 0.0, 0.0, 0.0, 1.5]))
    readings = Readings(told, alone)
    words, _ = smooth_words(told.corpus, np.random.default_rng(0))
    carried = smooth_scales(words.graph, words.words @ np.asarray(alone.discriminant), words.scales)
    scores = 1.5 * carried * np.asarray(alone.placed)[:, None]
    scores -= scores.mean(axis=1, keepdims=True)
    average = scores.mean(axis=0)
    for paper in (15, 30):
        odds = readings.odds(paper)
        intercepts = alone.intercepts - alone.intercepts.mean()
        np.testing.assert_allclose(odds["share"], intercepts + average, atol=1e-5)
        expected = scores[paper] - average
        np.testing.assert_allclose(
            odds["words"] + odds["citations"], expected, rtol=1e-4, atol=1e-6
        )


def test_papers_with_the_same_words_have_no_reasons():
    """What all papers have tells none from the others: only the shares of categories are left."""
    corpus = Corpus.from_lists(
        tokens=[["sun", "moon"]] * 12,
        citations=[(0, 1), (2, 3), (5, 7)],
        categories=["a", "a", "b", "b", "b", "b", *[None] * 6],
    )
    options = {"iterations": 4, "exactly": True, "seed": 2, "chains": 1, "topics": 2}
    view = Exploration(SCNTM(labels="some", **options).fit(corpus))
    for paper in (7, 11):
        papers, weights = view.readings.of_papers(paper)
        assert paper in papers
        np.testing.assert_allclose(weights, 0.0, atol=1e-6)


def test_the_page_of_a_paper_names_words_papers_and_authors(told):
    likeliest = told.paper(20).drawn_categories[0]
    assert likeliest.name == f"kind {KIND[20]}"
    assert set(likeliest.odds) == {"words", "citations", "authors", "topics", "share"}
    assert likeliest.odds["citations"] > 0
    assert all(reason.word.startswith(f"w{KIND[20]}") for reason in likeliest.words[:2])
    linked = {16, 17, 19, 21, 23, 32, 8} | {20 + 3, 20 - 3, (20 + 12) % 36, 20 - 12}
    assert {link.paper for link in likeliest.papers} <= linked
    assert KIND[likeliest.papers[0].paper] == KIND[20]
    assert [author.name for author in likeliest.authors] == [f"author {KIND[20]}-{20 % 4}"]


def test_categories_are_described(told, drawn):
    cards = told.category_cards()
    assert sorted(card.name for card in cards) == ["kind 0", "kind 1", "kind 2"]
    assert sum(card.papers for card in cards) == 36
    assert [card.labelled for card in cards] == [5, 5, 5]
    for card in cards:
        assert 1 / 3 < card.sure <= 1
        assert len(card.examples) == 3
        assert all(one.paper >= 15 for one in card.examples)
        assert card.words[0].startswith(f"w{card.name[-1]}")
    table = told.categories()
    assert table["labelled"].to_list() == [5, 5, 5]
    assert drawn.categories()["labelled"].to_list() == [0, 0, 0]


def test_categories_without_papers_are_left_out(drawn, monkeypatch):
    shares = np.array(drawn.model.category_probability_)
    shares[:, 0] += shares[:, 1]
    shares[:, 1] = 0.0
    view = Exploration(drawn.model)
    monkeypatch.setitem(view.__dict__, "category_probability", shares)
    assert {card.category for card in view.category_cards()} == {0, 2}
    assert "3 categories, of which 2 are in use" in gather(view).drawn_note


def test_the_report_has_a_section_of_categories(told, drawn, supervised):
    contents = gather(told)
    assert "15 papers kept the label given" in contents.drawn_note
    page = render(contents, told)
    assert 'id="categories"' in page
    assert 'href="#categories"' in page
    assert "5 labels given" in page
    assert "shares of samples" in gather(drawn).drawn_note
    other = render(gather(supervised), supervised)
    assert 'id="categories"' not in other
    assert 'href="#categories"' not in other


def test_other_models_have_none(supervised):
    assert supervised.paper(0).drawn_categories == []
    assert "drawn_category" not in supervised.papers().columns
