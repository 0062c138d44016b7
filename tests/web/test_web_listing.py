"""Lists: filters divide them, pages are their parts; charts draw what they are given."""

import numpy as np
import pytest

from citeweave.explore import Exploration
from citeweave.web.listing import AuthorList, Cut, PaperList


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
