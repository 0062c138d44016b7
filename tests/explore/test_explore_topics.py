"""Topics: words, labels, shares, growth, and what a page about one says."""

import json

import numpy as np
import pytest

from citeweave.errors import NotFoundError, ParameterError
from citeweave.evaluate import npmi_coherence
from citeweave.explore import Exploration
from citeweave.explore.labels import make_labels, short_label
from citeweave.explore.topics import growth
from citeweave.model.describing import rank_words


def test_topics_in_use_largest_first(view):
    table = view.topics()
    assert table["topic"].to_list() == view.order
    assert set(view.order) == set(np.flatnonzero(view.model.topic_samples_ > 0).tolist())
    share = table["share"].to_numpy()
    assert (np.diff(share) <= 0).all()
    np.testing.assert_allclose(share, view.doc_topic.mean(axis=0)[view.order], rtol=1e-5)
    assert table["papers"].sum() == view.corpus.n_documents


def test_a_topic_never_in_use_is_hidden(view, monkeypatch):
    other = Exploration(view.model)
    samples = np.array(view.model.topic_samples_)
    samples[view.order[-1]] = 0
    monkeypatch.setattr(type(view.model), "topic_samples_", samples)
    assert view.order[-1] not in other.topics()["topic"].to_list()
    with pytest.raises(NotFoundError, match=f"no topic {view.order[-1]} in use"):
        other.topic(view.order[-1])


def test_words_by_probability_and_phrases_whole(view):
    table = view.topics(words=4)
    for k, words in zip(view.order, table["words"].to_list(), strict=True):
        best = np.argsort(-view.topic_word[k], kind="stable")[:4]
        assert words == [view.corpus.vocabulary[w].replace("_", " ") for w in best]
    assert any(" " in word for word in view.vocabulary)
    assert not any("_" in word for word in view.vocabulary)


def test_relevance_goes_from_probability_to_lift():
    phi = np.array([[0.6, 0.3, 0.1], [0.6, 0.1, 0.3]])
    share, occurs = np.array([0.5, 0.5]), np.ones(3, bool)

    def first(relevance):
        return rank_words(phi, share, occurs, relevance=relevance, number=1)[:, 0].tolist()

    assert first(1.0) == [0, 0]
    assert first(0.0) == [1, 2]
    assert rank_words(phi, share, np.array([1, 0, 0], bool), relevance=0.0, number=3).shape == (
        2,
        1,
    )


@pytest.mark.parametrize("options", [{"relevance": 1.5}, {"relevance": -0.1}, {"words": 0}])
def test_wrong_options_of_words(view, options):
    with pytest.raises(ParameterError, match="must be"):
        view.topics(**options)


def test_coherence_is_that_of_evaluate(view):
    expected = npmi_coherence(view.topic_word[view.used], view.corpus, top=10)
    np.testing.assert_allclose(view.coherence[view.used], expected)


def test_growth_of_exact_lines_is_their_slope():
    years = np.arange(6)
    papers = np.array([3, 1, 0, 5, 2, 4])
    shares = np.stack([0.2 + 0.05 * years, 0.4 * 1.1**years], axis=1)
    shares[2] = np.nan  # a year without papers
    slope, rate = growth(shares, papers)
    assert slope[0] == pytest.approx(0.05)
    assert rate[1] == pytest.approx(0.1)
    slope, rate = growth(shares[:2], papers[:2])
    assert np.isnan(slope).all()
    assert np.isnan(rate).all()


def test_yearly_shares_add_up_to_the_share(view):
    weight = view.papers_by_year / view.papers_by_year.sum()
    np.testing.assert_allclose(weight @ np.nan_to_num(view.share_by_year), view.share, rtol=1e-5)
    trend = view.topics()["trend"].to_list()
    assert all(len(row) == len(view.year_range) for row in trend)


def test_mu_and_its_interval_over_samples(view):
    table = view.topics()
    mu, low, high = (table[name].to_numpy() for name in ("mu", "mu_low", "mu_high"))
    np.testing.assert_allclose(mu, view.model.topic_share_[view.order])
    half = 1.6449 * view.model.topic_share_sd_[view.order]
    np.testing.assert_allclose(high, np.minimum(mu + half, 1))
    np.testing.assert_allclose(low, np.maximum(mu - half, 0))
    assert (half > 0).any()


def test_citations_by_topic_are_all_citations(view):
    assert view.topics()["citations"].sum() == pytest.approx(view.corpus.n_citations, rel=1e-4)


def test_labels_take_phrases_and_no_form_twice():
    assert make_labels([["volume", "volumes", "volume rendering", "gpu", "mesh"]]) == [
        "volume rendering, gpu, mesh"
    ]
    assert make_labels([["study", "studies", "cat"], ["study", "studies", "cat"]]) == [
        "study, cat",
        "study, cat (2)",
    ]
    assert make_labels([["d-branes", "branes", "3d", "2d"]]) == ["d-branes, 3d, 2d"]
    assert make_labels([[]]) == ["no words"]


def test_short_labels_end_between_words():
    assert short_label("volume rendering, gpu", 30) == "volume rendering, gpu"
    assert short_label("volume rendering, gpu", 20) == "volume rendering"
    assert short_label("volume rendering", 8) == "volume…"


def test_labels_name_the_category_where_the_model_saw_it(supervised, view):
    assert supervised.supervised
    assert not view.supervised
    mass = supervised.category_mass
    for k in supervised.order:
        best = int(mass[:, k].argmax())
        clear = mass[best, k] / mass[:, k].sum() >= 0.5
        named = supervised.labels[k].startswith(f"{supervised.corpus.category_names[best]}: ")
        assert named == clear
    assert not any(label.startswith("area") for label in view.labels)


def test_a_page_is_plain_json(view):
    k = view.order[0]
    page = view.topic(k)
    again = json.loads(json.dumps(page.to_dict()))
    assert again["topic"] == k
    assert page.name == view.topic_name(k)
    assert page.years == list(range(2000, 2008))
    assert [link.score for link in page.typical_papers] == sorted(
        (link.score for link in page.typical_papers), reverse=True
    )
    assert page.typical_papers[0].paper == int(view.doc_topic[:, k].argmax())
    weight = view.doc_topic[:, k] * view.model.cited_propensity_
    assert page.influential_papers[0].paper == int(weight.argmax())
    for word in page.words:
        assert word.lift > 0
    assert sum(row["share"] for row in page.categories) <= 1 + 1e-9


@pytest.mark.parametrize("topic", [-1, 99])
def test_no_such_topic(view, topic):
    with pytest.raises(NotFoundError, match=f"There is no topic {topic}"):
        view.topic(topic)
