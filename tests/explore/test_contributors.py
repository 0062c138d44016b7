"""Institutions, countries, venues and funders: figures, growth, pages, by hand-made corpora."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from citeweave import Corpus
from citeweave.errors import NotFoundError, ParameterError
from citeweave.explore import Exploration, Literature
from citeweave.explore.contributors import contributors_of, growth_of, h_index
from citeweave.explore.facts import GroupedIds

YEARS = [2001, 2002, 2003, 2003, None, 2004]


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    """Six papers; citations of them are 3, 2, 1, 0, 0, 0."""
    return Corpus.from_lists(
        tokens=[["a", "b"]] * 6,
        authors=[["Lim", "Du"], ["Lim"], ["Du", "Chen"], ["Lim", "Chen"], None, ["Du"]],
        citations=[(1, 0), (2, 0), (3, 0), (2, 1), (3, 1), (5, 2)],
        metadata={
            "year": YEARS,
            "institutions": [
                ["ANU", "NUS"],
                ["ANU"],
                ["NUS", "Duke"],
                ["ANU", "Duke"],
                None,
                ["NUS"],
            ],
            "institution_ids": [["019wvm592", ""], [""], ["", ""], ["", ""], None, [""]],
            "institution_countries": [
                ["AU", "SG"],
                ["AU"],
                ["SG", "US"],
                ["AU", "US"],
                None,
                ["SG"],
            ],
            "author_institutions": [["0", "1"], ["0"], ["0", "1"], ["0", "1"], None, ["0"]],
            "countries": [["AU", "SG"], ["AU"], ["SG", "US"], ["AU", "US"], None, ["SG"]],
            "venue": ["JMLR", "jmlr ", "JMLR", "ACL", None, "ACL"],
            "funders": [["ARC", "NSF"], ["ARC"], None, ["arc"], None, None],
            "cited_by": [30, 20, None, 5, 7, 0],
        },
    )


@pytest.fixture(scope="module")
def view(corpus: Corpus) -> Exploration:
    topics = np.array([[1, 0], [0.5, 0.5], [0, 1], [0, 1], [1, 0], [0.25, 0.75]])
    model = SimpleNamespace(
        doc_topic_=topics,
        topic_word_=np.array([[0.9, 0.1], [0.1, 0.9]]),
        cited_propensity_=np.array([3.0, 2.0, 1.0, 0.5, 0.5, 0.25]),
    )
    return Exploration(model, corpus=corpus)


def _rows(frame, key: str) -> dict:
    return {row[key]: row for row in frame.to_dicts()}


def test_institutions_of_a_corpus_alone(corpus: Corpus) -> None:
    rows = _rows(Literature(corpus).table("institutions"), "name")
    anu = rows["ANU"]
    # papers 0, 1, 3, cited 3, 2 and 0 times
    assert (anu["papers"], anu["citations"], anu["h_index"], anu["cited_by"]) == (3, 5, 2, 55)
    assert (anu["first_year"], anu["last_year"], anu["by_year"]) == (2001, 2003, [1, 1, 1, 0])
    assert anu["joint"] == pytest.approx(2 / 3)
    assert (anu["id"], anu["country"], anu["growth"]) == ("019wvm592", "AU", None)
    assert (rows["NUS"]["papers"], rows["NUS"]["citations"], rows["NUS"]["h_index"]) == (3, 4, 1)
    assert rows["Duke"]["by_year"] == [0, 0, 2, 0]
    assert list(rows) == ["ANU", "NUS", "Duke"]  # by papers, then by first mention
    assert "topic" not in anu


def test_countries_venues_funders_and_authors(corpus: Corpus) -> None:
    literature = Literature(corpus)
    countries = _rows(literature.table("countries"), "code")
    assert countries["US"]["name"] == "United States"
    assert {code: row["papers"] for code, row in countries.items()} == {"AU": 3, "SG": 3, "US": 2}
    venues = _rows(literature.table("venues"), "name")
    assert {name: row["papers"] for name, row in venues.items()} == {"JMLR": 3, "ACL": 2}
    assert venues["JMLR"]["h_index"] == 2
    funders = _rows(literature.table("funders"), "name")
    assert {name: row["papers"] for name, row in funders.items()} == {"ARC": 3, "NSF": 1}
    authors = _rows(literature.table("authors", sort="citations"), "name")
    assert {name: row["citations"] for name, row in authors.items()} == {
        "Lim": 5,
        "Du": 4,
        "Chen": 1,
    }
    assert list(authors) == ["Lim", "Du", "Chen"]


def test_topics_and_influence_come_from_the_model(view: Exploration) -> None:
    rows = _rows(view.contributors("institutions", sort="influence"), "name")
    assert rows["ANU"]["influence"] == pytest.approx(5.5)
    assert rows["ANU"]["weights"] == pytest.approx([0.5, 0.5])
    assert rows["NUS"]["topic"] == 1
    assert rows["NUS"]["weight"] == pytest.approx((0 + 1 + 0.75) / 3)
    assert list(rows) == ["ANU", "NUS", "Duke"]
    assert view.authors()["h_index"].to_list() == [2, 1, 1]


def test_orders_and_limits(corpus: Corpus) -> None:
    literature = Literature(corpus)
    assert literature.table("institutions", sort="name")["name"].to_list() == ["ANU", "Duke", "NUS"]
    assert literature.table("institutions", min_papers=3, top=1)["name"].to_list() == ["ANU"]
    with pytest.raises(ParameterError, match=r"sort.*must be one of papers"):
        literature.table("institutions", sort="size")
    with pytest.raises(ParameterError, match=r"needs a fitted run"):
        literature.table("institutions", sort="influence")
    with pytest.raises(ParameterError, match=r"top"):
        literature.table("institutions", top=0)
    with pytest.raises(ParameterError, match=r"kind.*must be one of authors, institutions"):
        literature.table("cities")


def test_what_a_corpus_lacks_is_said() -> None:
    literature = Literature(Corpus.from_lists(tokens=[["a"]]))
    assert set(literature.missing) == {"authors", "institutions", "countries", "venues", "funders"}
    with pytest.raises(NotFoundError, match=r"names no institutions.*import again"):
        literature.table("institutions")


def test_all_about_one(view: Exploration) -> None:
    page = view.contributor("institutions", 1)
    assert (page.name, page.country, page.papers, page.citations) == ("NUS", "Singapore", 3, 4)
    assert [(one.name, one.score) for one in page.partners] == [("ANU", 1), ("Duke", 1)]
    # those who work there, not all authors of its papers
    assert [(one.name, one.score) for one in page.authors] == [("Du", 3)]
    assert [one.paper for one in page.influential] == [0, 2, 5]
    assert [one.paper for one in page.latest] == [5, 2, 0]
    assert {(one.kind, one.name) for one in page.contributors} >= {("countries", "Singapore")}
    assert page.by_year == [1, 0, 1, 1]
    country = view.contributor("countries", 0)
    assert [one.name for one in country.authors] == ["Lim", "Du", "Chen"]
    with pytest.raises(NotFoundError, match=r"no institution 9; institutions run from 0 to 2"):
        view.contributor("institutions", 9)
    assert page.to_dict()["name"] == "NUS"


def test_the_page_of_an_author_names_their_institutions(view: Exploration) -> None:
    page = view.author(view.corpus.author_names.index("Chen"))
    assert page.institutions == [{"institution": 2, "name": "Duke", "papers": 2}]
    assert (page.citations, page.h_index, page.cited_by) == (1, 1, 5)


def test_finding_one(corpus: Corpus) -> None:
    found = contributors_of(corpus, "countries")
    assert found.find("SG") == found.find("singapore") == found.find("1") == 1
    assert found.find("united") == 2
    with pytest.raises(NotFoundError, match=r"There is no country 'Ruritania'"):
        found.find("Ruritania")
    with pytest.raises(NotFoundError, match=r"no country 7"):
        found.find("7")


def test_h_index_is_that_of_the_definition() -> None:
    rng = np.random.default_rng(0)
    who, paper = rng.integers(0, 30, 400), rng.integers(0, 90, 400)
    pairs = np.unique(np.stack([who, paper], 1), axis=0)
    cited = rng.poisson(4, 90)
    papers = GroupedIds(pairs[:, 0], pairs[:, 1], 31)
    for one, found in enumerate(h_index(papers, cited).tolist()):
        counts = sorted(cited[papers[one]].tolist(), reverse=True)
        assert found == max(h for h in range(len(counts) + 1) if all(c >= h for c in counts[:h]))


@pytest.mark.parametrize("rate", [-0.1, 0.0, 0.15])
def test_growth_finds_the_rate_that_papers_were_made_with(rate: float) -> None:
    counts = np.round(400 * (1 + rate) ** np.arange(12)).astype(int)
    years = np.repeat(np.arange(2000, 2012), counts)
    papers = GroupedIds(np.zeros(len(years), int), np.arange(len(years)), 2)
    growth = growth_of(papers, years)
    assert growth[0] == pytest.approx(rate, abs=0.005)
    assert np.isnan(growth[1])


def test_growth_needs_papers_and_years() -> None:
    papers = GroupedIds(np.zeros(4, int), np.arange(4), 1)
    assert np.isnan(growth_of(papers, np.array([2001, 2002, 2003, 2004]))).all()
    papers = GroupedIds(np.zeros(9, int), np.arange(9), 1)
    assert np.isnan(growth_of(papers, np.full(9, 2001))).all()
    assert np.isnan(growth_of(papers, np.zeros(9, int))).all()


def test_search_finds_them_by_name_and_code(view: Exploration) -> None:
    found = [(hit.kind, hit.label, hit.detail) for hit in view.search("sing")]
    assert found == [("country", "Singapore", "3 papers")]
    assert [(hit.kind, hit.id) for hit in view.search("SG")] == [("country", 1)]
    assert ("institution", 0) in [(hit.kind, hit.id) for hit in view.search("anu")]
    assert {hit.kind for hit in view.search("a", limit=40)} >= {"institution", "country", "venue"}
    assert len(view.search("a", limit=3)) == 3


def test_search_keeps_places_for_every_kind() -> None:
    corpus = Corpus.from_lists(
        tokens=[["a"]] * 30,
        titles=[f"Oslo {d}" for d in range(30)],
        authors=[[f"Oslo {d}"] for d in range(30)],
        metadata={"venue": ["Oslo Journal"] * 30, "institutions": [["Oslo"]] * 30},
    )
    model = SimpleNamespace(doc_topic_=np.ones((30, 1)), topic_word_=np.ones((1, 1)))
    hits = Exploration(model, corpus=corpus).search("oslo", limit=20)
    kinds = [hit.kind for hit in hits]
    assert (kinds.count("paper"), kinds.count("author")) == (13, 5)
    assert (kinds.count("venue"), kinds.count("institution")) == (1, 1)
