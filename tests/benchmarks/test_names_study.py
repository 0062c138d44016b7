"""The benchmark of names: its measures, its made-up people, and what it says of the rules."""

import pytest
from benchmarks.made_up_people import made_up_works
from benchmarks.names import (
    by_ids,
    initial_form,
    markdown,
    measure,
    scores,
    single_people,
    unsure_names,
)

from citeweave.reading import Author, Record, Source


def test_measures_of_partitions():
    same = scores(["a", "a", "b"], [7, 7, 3])
    assert (same["precision"], same["recall"], same["b3_f1"]) == (1, 1, 1)
    apart = scores(["a", "a", "a", "b"], [1, 1, 2, 2])
    assert apart["precision"] == pytest.approx(1 / 2)
    assert apart["recall"] == pytest.approx(1 / 3)
    assert apart["b3_precision"] == pytest.approx((1 + 1 + 1 / 2 + 1 / 2) / 4)
    assert apart["b3_recall"] == pytest.approx((2 / 3 + 2 / 3 + 1 / 3 + 1) / 4)


def test_who_is_scored():
    assert initial_form("Bruce A. Lee") == "B. Lee"
    written = ["Arie E. Kaufman", "A. Kaufman", "Wei Chen 0001", "Wei Chen 0002", "Ann Berg"]
    assert unsure_names(iter(written)) == {"Arie E. Kaufman", "A. Kaufman"}
    authors = tuple(map(Author, ["Cumrun Vafa", "C. Vafa", "Wei Chen", "Ann Berg", "Eva Berg"]))
    record = Record("1", Source("test", 1), authors=authors)
    assert single_people([record]) == {"Cumrun Vafa": "vafa"}


def test_made_up_people_are_drawn_alike_and_share_names():
    works = made_up_works(papers=60, labs=8, seed=2)
    assert works == made_up_works(papers=60, labs=8, seed=2)
    assert works != made_up_works(papers=60, labs=8, seed=3)
    ids = {author.id for work in works for author in work.authors}
    assert len(ids) > 20
    assert any("." in author.name for work in works for author in work.authors)


def test_evidence_is_better_than_names_alone():
    test = by_ids("made up", made_up_works(papers=400, labs=20, seed=4))
    assert all(author.id is None for record in test.records for author in record.authors)
    rows = {rule: measure(test, rule) for rule in ("initials", "full", "evidence")}
    best = rows["evidence"]["b3_f1"]
    assert best > max(rows["initials"]["b3_f1"], rows["full"]["b3_f1"])
    assert best > 0.95
    assert "| made up | " in markdown(list(rows.values()))
