"""Papers, citations, flow and categories against plain sums."""

import json

import numpy as np
import pytest

from citeweave.corpus import Corpus
from citeweave.errors import NotFoundError
from citeweave.explore import Exploration
from citeweave.explore.citations import flow_by_citing_topic
from citeweave.explore.graphs import paper_map
from citeweave.explore.graphs.map_layout import place_papers


def test_papers_are_ranked_by_influence(view):
    table = view.papers()
    assert sorted(table["paper"].to_list()) == list(range(90))
    np.testing.assert_array_equal(
        table["cited_propensity"].to_numpy(), np.sort(view.model.cited_propensity_)[::-1]
    )
    row = table.row(0, named=True)
    d = row["paper"]
    assert row["title"] == view.corpus.titles[d]
    assert row["authors"] == view.corpus.authors(d)
    assert row["cited"] == (view.corpus.citations[:, 1] == d).sum()
    assert row["cites"] == (view.corpus.citations[:, 0] == d).sum()
    assert row["topic"] == row["topics"][0] == view.doc_topic[d].argmax()


class Agreed:
    """A model whose main topics are not the largest ones, as a consensus of chains may have it."""

    doc_topic_ = np.array([[0.6, 0.4, 0.0], [0.7, 0.3, 0.0], [0.2, 0.3, 0.5], [0.8, 0.2, 0.0]])
    topic_word_ = np.array([[0.7, 0.2, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]])
    labels_ = np.array([0, 1, 2, 0])
    corpus_ = Corpus.from_lists(tokens=[["a", "b"], ["b"], ["c"], ["a", "c"]])


def test_main_topics_are_the_labels_of_the_model_everywhere():
    view = Exploration(Agreed())
    papers = view.papers().sort("paper")
    assert papers["topic"].to_list() == [0, 1, 2, 0]
    assert papers["weight"].to_list() == [0.6, 0.3, 0.5, 0.8]
    assert papers["topics"][1].to_list() == [0, 1]  # the mixture is theta' all the same
    assert dict(view.topics().select("topic", "papers").iter_rows()) == {0: 2, 1: 1, 2: 1}
    assert view.paper_link(1).topic == 1
    assert [node.group for node in paper_map(view).nodes if node.kind == "paper"] == [0, 1, 2, 0]
    islands = place_papers(Agreed.doc_topic_, Agreed.labels_)
    apart = np.linalg.norm(islands.papers - islands.centres[Agreed.labels_], axis=1)
    assert (apart <= islands.radii[Agreed.labels_] + 1e-9).all()


def test_papers_of_a_topic_hold_a_fifth_of_it(view):
    k = view.order[1]
    table = view.papers(topic=k)
    assert set(table["paper"]) == set(np.flatnonzero(view.doc_topic[:, k] >= 0.2).tolist())
    key = view.doc_topic[:, k] * view.model.cited_propensity_
    assert table["paper"][0] == max(table["paper"], key=lambda d: key[d])
    with pytest.raises(NotFoundError):
        view.papers(topic=55)


def test_cited_for_is_the_mean_of_incoming_citations(view):
    received = view.cited_for
    for d in range(90):
        rows = view.model.citing_topic_[view.corpus.citations[:, 1] == d]
        if len(rows):
            np.testing.assert_allclose(received[d], rows.mean(axis=0), rtol=1e-4, atol=1e-6)
        else:
            assert np.isnan(received[d]).all()


def test_what_a_paper_is_about_against_cited_for(view):
    d = int(np.bincount(view.corpus.citations[:, 1]).argmax())
    page = view.paper(d)
    json.dumps(page.to_dict())
    gaps = [abs(row.difference) for row in page.differences]
    assert gaps == sorted(gaps, reverse=True)
    for row in page.differences:
        assert row.about == pytest.approx(float(view.model.doc_word_topic_[d, row.topic]))
        assert row.difference == pytest.approx(row.cited_for - row.about, abs=1e-6)
    assert {link.paper for link in page.cited_by} == set(
        view.corpus.citations[view.corpus.citations[:, 1] == d, 0].tolist()
    )
    assert {link.paper for link in page.references} == set(
        view.corpus.citations[view.corpus.citations[:, 0] == d, 1].tolist()
    )
    table = view.papers().filter(view.papers()["paper"] == d)
    gap = 0.5 * np.abs(view.cited_for[d] - view.about[d]).sum()
    assert table["gap"][0] == pytest.approx(gap)


def test_a_paper_that_nobody_cites_is_cited_for_nothing(view):
    alone = int(np.flatnonzero(view.incoming.counts == 0)[0])
    page = view.paper(alone)
    assert (page.cited_for, page.differences, page.cited_by) == ([], [], [])


def test_similar_papers_leave_out_the_paper_and_find_its_copy(view):
    found = view.similar_papers(4, 6)
    assert 4 not in [link.paper for link in found]
    assert [link.score for link in found] == sorted((link.score for link in found), reverse=True)
    likeness = view.word_vectors.like_paper(4)
    assert likeness[4] == pytest.approx(1.0, abs=1e-5)
    assert likeness.max() <= 1 + 1e-5
    begin, end = view.corpus.offsets[4:6]
    np.testing.assert_allclose(
        view.word_vectors.like_words(view.corpus.tokens[begin:end]), likeness, atol=1e-5
    )


@pytest.mark.parametrize("paper", [-1, 90])
def test_no_such_paper(view, paper):
    with pytest.raises(NotFoundError, match=f"There is no paper {paper}; papers run from 0 to 89"):
        view.paper(paper)


def test_citations_have_a_probability_for_each_topic(view):
    table = view.citations()
    assert len(table) == view.corpus.n_citations
    columns = [f"topic_{k}" for k in sorted(view.order)]
    np.testing.assert_allclose(table.select(columns).to_numpy().sum(axis=1), 1, rtol=1e-4)
    row = table.row(11, named=True)
    place = row["citation"]
    assert [row["citing"], row["cited"]] == view.corpus.citations[place].tolist()
    assert row["topic"] == view.model.citing_topic_[place].argmax()
    assert row["probability"] == pytest.approx(row[f"topic_{row['topic']}"])


def test_citations_of_one_paper(view):
    table = view.citations(paper=5, titles=True, probabilities=False)
    ends = view.corpus.citations
    assert len(table) == ((ends[:, 0] == 5) | (ends[:, 1] == 5)).sum()
    assert all(5 in pair for pair in zip(table["citing"], table["cited"], strict=True))
    assert table["citing_title"][0] == view.corpus.titles[table["citing"][0]]


def test_flow_is_the_sum_over_citations(view):
    theta = view.doc_topic.astype(float)
    citing, cited = view.corpus.citations.T
    expected = theta[citing].T @ theta[cited]
    np.testing.assert_allclose(view.flow_matrix, expected, rtol=1e-5)
    table = view.flow()
    assert table["citations"].sum() == pytest.approx(view.corpus.n_citations, rel=1e-5)
    assert table["expected"].sum() == pytest.approx(table["citations"].sum())
    for k in view.order:
        mine = table.filter(table["citing_topic"] == k)
        assert mine["share"].sum() == pytest.approx(1)


def test_flow_by_citing_topic_adds_up_to_the_flow(view):
    cube = flow_by_citing_topic(view, view.citing_topic)
    np.testing.assert_allclose(cube.sum(axis=0), view.flow_matrix, rtol=1e-4)
    np.testing.assert_allclose(cube.sum(axis=(1, 2)), view.citations_by_topic, rtol=1e-4)
    table = view.flow(by_citing_topic=True)
    row = table.row(0, named=True)
    value = cube[row["made_for"], row["citing_topic"], row["cited_topic"]]
    assert row["citations"] == pytest.approx(value)
    assert (table["citations"] >= 0.5).all()


def test_categories_by_the_model_or_by_papers(view, supervised):
    for where, source in ((view, "papers"), (supervised, "model")):
        table = where.categories()
        assert table["topics_from"].unique().to_list() == [source]
        assert table["papers"].sum() == 90
    table = view.categories()
    for row in table.iter_rows(named=True):
        mine = view.corpus.categories == row["category"]
        mean = view.doc_topic[mine].mean(axis=0)
        assert row["weight"] == pytest.approx(float(mean.max()), rel=1e-5)
        assert row["lows"] == [None] * len(row["lows"])
    groups = supervised.model.groups_
    for row in supervised.categories().iter_rows(named=True):
        node = groups.find("category", row["category"])
        nu = supervised.model.group_topic_[node]
        assert row["weight"] == pytest.approx(float(nu.max()))
        assert row["lows"][0] is not None


def test_crosstab_rows_are_shares(view):
    table = view.crosstab()
    for name in view.corpus.category_names:
        mine = table.filter(table["name"] == name)
        assert mine["share"].sum() == pytest.approx(1, rel=1e-5)
    assert table["papers"].sum() == 90
