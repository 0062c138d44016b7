"""Columns of one value a paper: venues, periods, countries, and any other."""

import pytest

from citeweave import Corpus
from citeweave.corpus.columns import paper_column, shared_column, years_of
from citeweave.errors import CorpusError


def made(**metadata):
    size = len(next(iter(metadata.values())))
    return Corpus.from_lists(tokens=[["a"]] * size, metadata=metadata)


def test_spellings_of_one_venue_are_one_value():
    corpus = made(venue=["The Lancet", "the  lancet ", None, "BMJ", "The Lancet", " "])
    found = paper_column(corpus, "venue")
    assert found.values == ["The Lancet", "BMJ"]
    assert found.of_paper.tolist() == [0, 0, -1, 1, 0, -1]
    assert found.known == 4


@pytest.mark.parametrize(
    ("years", "expected"),
    [
        (None, ["1995–1999", "2000–2004", "2020–2024"]),
        (5, ["1995–1999", "2000–2004", "2020–2024"]),
        (1, ["1998", "2000", "2001", "2023"]),
    ],
)
def test_periods(years, expected):
    corpus = made(year=[2001, 1998, 2023, None, 2000])
    found = paper_column(corpus, "period", years=years)
    assert found.values == expected
    assert found.years == (years or 5)
    assert found.of_paper[3] == -1
    assert [found.values[place] for place in found.of_paper[[1, 2]]] == [expected[0], expected[-1]]


def test_no_more_than_ten_periods():
    for years, width in ((10, 1), (11, 2), (20, 2), (21, 5), (50, 5), (51, 10), (400, 50)):
        corpus = made(year=list(range(1600, 1600 + years)))
        found = paper_column(corpus, "period")
        assert found.years == width
        assert len(found.values) <= 10


@pytest.mark.parametrize(
    ("name", "metadata", "values"),
    [
        ("country", {"countries": [["AU", "SG"], ["SG", "AU"], None]}, ["AU", "SG"]),
        ("institution", {"institutions": [["ANU"], ["NUS", "ANU"], []]}, ["ANU", "NUS"]),
        ("type", {"document_type": ["article", "review", None]}, ["article", "review"]),
        ("volume", {"volume": [1, 2, None]}, ["1", "2"]),
        ("impact", {"impact": [0.5, 1.5, float("nan")]}, ["0.5", "1.5"]),
    ],
)
def test_other_columns(name, metadata, values):
    found = paper_column(made(**metadata), name)
    assert found.values == values
    assert found.of_paper.tolist() == [0, 1, -1]


def test_values_of_another_corpus():
    train = paper_column(made(venue=["ICML", "JMLR", None]), "venue")
    new = paper_column(made(venue=["jmlr", "NIPS", None, "ICML"]), "venue")
    assert train.matched(new).tolist() == [1, -2, -1, 0]
    nothing = paper_column(Corpus.from_lists(tokens=[["a"]]), "venue")
    assert train.matched(nothing).tolist() == [-1]


def test_years_in_many_forms():
    corpus = made(year=["2014-05-01", "2014.0", "soon", "0999"])
    assert years_of(corpus).tolist() == [2014, 2014, 0, 0]


@pytest.mark.parametrize(
    ("metadata", "name", "message"),
    [
        ({"year": [2001, 2002]}, "venue", r"'venue' is missing \(columns: year\)"),
        ({"venue": [None, ""]}, "venue", "have no venue: its metadata column 'venue' is empty"),
        ({"venue": ["x", "y"]}, "period", "no period: its metadata column 'year' is missing"),
        ({"doi": ["10.1/a", "10.1/b"]}, "doi", "No two papers share a doi: 2 papers have as many"),
    ],
)
def test_columns_that_group_nothing_are_refused(metadata, name, message):
    with pytest.raises(CorpusError, match=message):
        shared_column(made(**metadata), name)
