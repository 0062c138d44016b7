"""Authors: topics with intervals, influence, neighbours."""

import json

import numpy as np
import pytest

from citeweave.errors import NotFoundError, ParameterError


def test_influence_is_the_models(view):
    np.testing.assert_allclose(view.author_influence, view.model.author_influence_)
    table = view.authors()
    assert table["influence"].to_list() == sorted(table["influence"].to_list(), reverse=True)
    assert table["papers"].sum() == sum(len(set(view.corpus.authors(d))) for d in range(90))
    assert (table["first_papers"] <= table["papers"]).all()
    assert (table["influence_all"] >= table["influence"] - 1e-9).all()


def test_influence_by_topic_adds_up(view):
    np.testing.assert_allclose(
        view.influence_by_topic.sum(axis=1), view.author_influence, rtol=1e-5, atol=1e-9
    )
    long = view.influence(top=3)
    assert set(long.columns) == {"author", "name", "topic", "topic_name", "influence"}
    assert long["author"].n_unique() == 3


def test_topics_are_nu_where_the_model_has_it_else_the_mean_of_papers(view):
    topics, rows = view.author_topics
    np.testing.assert_allclose(topics.sum(axis=1), 1, rtol=1e-5)
    table = view.authors()
    sources = dict(zip(table["author"], table["topics_from"], strict=True))
    names = view.corpus.author_names
    for a, row in enumerate(rows.tolist()):
        first = (view.corpus.first_authors == a).any()
        assert (row >= 0) == first
        assert sources[a] == ("model" if first else "papers")
        if first:
            assert view.model.groups_[row].name == names[a]
            np.testing.assert_allclose(topics[a], view.model.group_topic_[row], rtol=1e-6)
        else:
            mine = [d for d in range(90) if names[a] in view.corpus.authors(d)]
            np.testing.assert_allclose(topics[a], view.doc_topic[mine].mean(axis=0), rtol=1e-5)


def test_intervals_are_over_samples(view):
    _, rows = view.author_topics
    table = view.authors()
    for row in table.iter_rows(named=True):
        group = rows[row["author"]]
        if group < 0:
            assert row["weight_low"] is None
            continue
        half = 1.6449 * view.model.group_topic_sd_[group, row["topic"]]
        assert row["weight_low"] == pytest.approx(max(row["weight"] - half, 0), abs=1e-6)
        assert row["weight_high"] == pytest.approx(min(row["weight"] + half, 1), abs=1e-6)
        assert row["lows"][0] == pytest.approx(row["weight_low"], abs=1e-6)
        assert row["weights"] == sorted(row["weights"], reverse=True)


def test_few_papers_and_the_top(view):
    papers = view.papers_of_author.counts
    assert set(view.authors(min_papers=20)["author"]) == set(np.flatnonzero(papers >= 20).tolist())
    assert len(view.authors(top=2)) == 2
    with pytest.raises(ParameterError, match="'top' must be at least 1"):
        view.authors(top=0)


def test_nearest_is_by_hellinger_distance(view):
    topics, _ = view.author_topics
    roots = np.sqrt(topics.astype(float))
    distance = np.sqrt(np.maximum(1 - roots @ roots[3], 0))
    distance[3] = np.inf
    distance[view.papers_of_author.counts < 2] = np.inf
    found = view.nearest_authors(3, 4)
    assert [link.author for link in found] == np.argsort(distance, kind="stable")[:4].tolist()
    assert [link.score for link in found] == pytest.approx(np.sort(distance)[:4], abs=1e-3)
    named = view.authors(top=1, nearest=2)
    author = named["author"][0]
    assert named["nearest"][0].to_list() == [link.name for link in view.nearest_authors(author, 2)]


def test_page_of_an_author(view):
    a = int(view.authors()["author"][0])
    page = view.author(a)
    json.dumps(page.to_dict())
    assert page.papers == len(page.publications)
    assert [link.year for link in page.publications] == sorted(
        (link.year for link in page.publications), reverse=True
    )
    assert all(page.name in link.authors for link in page.publications)
    assert page.years == [
        min(link.year for link in page.publications),
        max(link.year for link in page.publications),
    ]
    assert a not in [link.author for link in page.coauthors]
    shared = page.coauthors[0]
    assert shared.score == sum(shared.name in link.authors for link in page.publications)


@pytest.mark.parametrize("author", [-1, 10_000])
def test_no_such_author(view, author):
    with pytest.raises(NotFoundError, match="There is no author"):
        view.author(author)
