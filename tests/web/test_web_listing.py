"""Lists: filters divide them, pages are their parts; charts draw what they are given."""

import re

import numpy as np
import pytest

from citeweave.explore import Exploration
from citeweave.web import charts
from citeweave.web.listing import AuthorList, Cut, PaperList
from citeweave.web.templating import number, percent, query


@pytest.fixture(scope="module")
def view(run) -> Exploration:
    return Exploration(run)


def test_cuts_are_a_partition() -> None:
    entries = np.arange(53)
    parts = [Cut.make(n, 53, 10).of(entries) for n in range(1, 7)]
    assert [d for part in parts for d in part] == entries.tolist()
    assert Cut.make(1, 0).of(np.arange(0)) == []
    assert (Cut.make(5, 0).number, Cut.make(5, 0).pages) == (1, 1)


def test_orders_are_those_of_the_arrays(view: Exploration) -> None:
    papers = PaperList(view)
    assert [name for name, _ in papers.sorts] == ["influence", "cited", "newest", "oldest", "title"]
    by = {name: papers.select({"sort": name}) for name, _ in papers.sorts}
    assert (np.diff(view.cited_propensity[by["influence"]]) <= 0).all()
    assert (np.diff(view.incoming.counts[by["cited"]]) <= 0).all()
    assert (np.diff(view.years[by["newest"]]) <= 0).all()
    assert (np.diff(view.years[by["oldest"]]) >= 0).all()
    names = [view.title(d).casefold() for d in by["title"].tolist()]
    assert names == sorted(names)
    for chosen in by.values():
        assert sorted(chosen.tolist()) == list(range(60))
    assert papers.select({"sort": "nonsense"}).tolist() == by["influence"].tolist()


def test_filters_divide_the_papers(view: Exploration) -> None:
    papers = PaperList(view)
    for name, values in {
        "category": papers.categories,
        "venue": papers.venues,
        "topic": [str(k) for k in view.order],
    }.items():
        found = [papers.select({name: value}).tolist() for value in values]
        assert sorted(d for part in found for d in part) == list(range(60)), name
    early = papers.select({"to": "2003"}).tolist()
    late = papers.select({"from": "2004"}).tolist()
    assert sorted(early + late) == list(range(60))
    both = papers.select({"category": "Sky", "to": "2003"}).tolist()
    assert sorted(both) == sorted(set(early) & set(papers.select({"category": "Sky"}).tolist()))
    assert papers.select({"category": "no such"}).tolist() == []


def test_authors_are_found_by_parts_of_names(view: Exploration) -> None:
    authors = AuthorList(view)
    found = authors.select({"q": "READER 3"}).tolist()
    assert [view.corpus.author_names[a] for a in found] == ["Reader 3"]
    names = [view.corpus.author_names[a].casefold() for a in authors.select({"sort": "name"})]
    assert names == sorted(names)
    parts = [authors.select({"topic": str(k)}).tolist() for k in range(view.n_topics)]
    assert sorted(a for part in parts for a in part) == sorted(authors.select({}).tolist())


def widths(svg: str) -> list[float]:
    return [float(x) for x in re.findall(r'width="([\d.]+)" height="8"', svg)]


def test_bars_stay_inside() -> None:
    assert widths(charts.bar(0.25))[1] == 25
    assert widths(charts.bar(7.0))[1] == 100
    assert widths(charts.bar(-1.0))[1] == 0
    assert widths(charts.bar(1.0, largest=0.0))[1] == 0
    assert 'x1="20.00" x2="60.00"' in charts.bar(0.4, low=0.2, high=0.6)
    assert "whisker" not in charts.bar(0.4)


def test_stripes_do_not_overlap() -> None:
    svg = charts.stripe([(0, 0.5), (1, 0.3), (2, 0.4)])
    begins = [float(x) for x in re.findall(r' x="([\d.]+)"', svg)]
    assert begins == [0, 50, 80]
    assert all(a + w <= 100 for a, w in zip(begins, widths(svg), strict=True))


def test_gaps_in_years_are_left_out() -> None:
    svg = charts.sparkline([0.1, None, 0.2], topic=1, label="x")
    line = re.search(r'polyline class="line" points="([^"]*)"', svg)
    assert line is not None
    assert [point.split(",")[0] for point in line.group(1).split()] == ["0.0", "100.0"]
    assert charts.sparkline([0.1]) == ""
    assert charts.sparkline([None, 0.1, None]) == ""


def test_columns_have_one_for_each_year_and_escape() -> None:
    svg = charts.columns({2000: 3, 2004: 6}, label='<"&')
    assert svg.count('class="column"') == 5
    assert "&lt;&#34;&amp;" in svg
    assert charts.columns({}, label="x") == ""
    assert charts.columns({2000: 0.0}, label="x").count('class="column"') == 1


def test_lines_break_where_values_are_missing() -> None:
    nan = float("nan")
    series = [charts.Series("a", [(1, 1.0), (2, 2.0), (3, nan), (4, 3.0), (5, 1.0)])]
    path = re.search(r' d="([^"]*)"', charts.lines(series, label="x", mark=(3, "here")))
    assert path is not None
    assert path.group(1).count("M") == 2
    assert charts.lines([charts.Series("a", [(1, nan)])], label="x") == ""
    flat = [charts.Series("a", [(1, 5.0), (2, 5.0)])]
    assert "line chart-0" in charts.lines(flat, label="x")


def test_numbers_are_written_for_people() -> None:
    assert [percent(x) for x in (0.0, 1e-9, 0.5, float("nan"))] == [
        "0.0 %",
        "< 0.1 %",
        "50.0 %",
        "–",
    ]
    assert [number(x, 1) for x in (1234.56, float("nan"))] == ["1,234.6", "–"]
    assert query({"a": "1", "b": ""}, a=None, c="x y") == "c=x+y"
