"""Works outside the corpus: kept where two papers cite them, by counts made here by plain loops."""

from __future__ import annotations

import os
import re
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest

from citeweave.errors import NotFoundError
from citeweave.networks import network_of
from citeweave.preparing import prepare
from citeweave.preparing.references import ReferenceColumns
from citeweave.preparing.sections import sections
from citeweave.reading import Record, Reference, Source, read

SAMPLES = Path(os.environ.get("CITEWEAVE_DATA", "")) / "samples"

BLEI = Reference(title="Latent Dirichlet allocation", year=2003, first_author="Blei, D.")
BLEI_AGAIN = Reference(title="Latent Dirichlet Allocation.", year=2003, first_author="BLEI D.M.")
TEH = Reference(doi="10.1198/teh", raw="Teh YW, 2006, J AM STAT ASSOC, V101, P1566")
STRING = Reference(first_author="Neal R", year=2000, raw="Neal R, 2000, J COMP GRAPH, V9, P249")
OTHER_PAGE = STRING._replace(raw="Neal R, 2000, J COMP GRAPH, V9, P1")
ONCE = Reference(title="Cited by one paper alone", year=1999)
ONLY_ID = Reference(id="W99")
LISTS = [
    (BLEI, TEH, STRING, ONCE, ONLY_ID, Reference(id="p1")),
    (BLEI_AGAIN, TEH, TEH, ONLY_ID),
    (BLEI, OTHER_PAGE, Reference(id="p1")),
    (),
    (STRING, Reference(id="p0"), Reference(id="p1")),
]


def papers(lists=LISTS):
    return [
        Record(
            f"p{number}",
            Source("x", number + 1),
            title=f"Networks of topic {'abcdefgh'[number % 8]} number {number}",
            references=cited,
        )
        for number, cited in enumerate(lists)
    ]


def test_works_that_two_papers_cite_are_kept():
    corpus, report = prepare(papers())
    teh, neal = TEH.raw, STRING.raw
    kept = [set(cited or ()) for cited in corpus.metadata["outside_references"]]
    assert [len(cited) for cited in kept] == [3, 2, 1, 0, 1]
    assert kept[4] == {neal}
    assert teh in kept[0] & kept[1]
    listed = {entry["work"]: entry["papers"] for entry in report.outside_works}
    assert {re.sub(r"[^a-z]", "", work.lower())[:4]: n for work, n in listed.items()} == {
        "blei": 3,
        "tehy": 2,
        "neal": 2,
    }
    assert report.outside_works_total == 3
    assert any("latent dirichlet allocation" in work.lower() for work in listed)
    assert "Cited most outside the corpus" in [section.title for section in sections(report)]


def test_the_map_of_cited_works_counts_pairs_inside_and_outside():
    corpus, _ = prepare(papers())
    network = network_of(corpus, "co-cited-works", weight="raw")
    expected: Counter[frozenset[str]] = Counter()
    inside = {paper: set() for paper in range(5)}
    for citing, cited in corpus.citations.tolist():
        inside[citing].add(corpus.titles[cited])
    for paper, outside in enumerate(corpus.metadata["outside_references"]):
        for pair in combinations(sorted(inside[paper] | set(outside or ())), 2):
            expected[frozenset(pair)] += 1
    found = {
        frozenset((network.names[a], network.names[b])): count
        for (a, b), count in zip(network.links.tolist(), network.counts.tolist(), strict=True)
    }
    assert found == expected
    assert network.of == "work"


def test_corpora_without_such_works_say_so():
    corpus, report = prepare(papers([(ONLY_ID,), (ONLY_ID,), ()]))
    assert "outside_references" not in corpus.metadata
    assert report.outside_works == []
    with pytest.raises(NotFoundError, match="two of its papers cite"):
        network_of(corpus, "co-cited-works")


def test_order_of_the_records_does_not_matter():
    """Which reference a label is of may; how many works and papers there are does not."""
    forward = prepare(papers())[1].outside_works
    backward = prepare(papers(LISTS)[::-1])[1].outside_works
    assert [entry["papers"] for entry in forward] == [entry["papers"] for entry in backward]


def test_labels_take_room_for_works_cited_twice_alone():
    columns = ReferenceColumns()
    for number in range(20_000):
        columns.add(number, Reference(title=f"A work of its own number {number}"), 0)
    # a few of them share a bit with another one
    assert len(columns.labels) < 200
    columns.add(20_000, Reference(title="A work of its own number 7"), 0)
    assert "A work of its own number 7" in columns.labels.values()


def test_real_wos_file():
    path = SAMPLES / "wos" / "tethne_wos2.txt"
    if not path.is_file():
        pytest.skip("needs the real file wos/tethne_wos2.txt (set CITEWEAVE_DATA)")
    text = path.read_text("utf-8", errors="replace")
    cites = "Peterson CH, 2003, SCIENCE, V302, P2082"
    expected = sum(cites in record for record in text.split("\nER"))
    _, report = prepare(list(read(path)))
    first = report.outside_works[0]
    assert first["work"].startswith(cites)
    assert first["papers"] == expected == 7
