"""People of one name told apart, spellings of one person joined: by evidence, and at what cost."""

import math
from collections import Counter

import numpy as np
import pytest

from citeweave.preparing import Settings, prepare
from citeweave.preparing.people import clusters as clustering
from citeweave.preparing.people import telling
from citeweave.preparing.people.agreeing import agreement
from citeweave.preparing.people.clusters import ClusterRules, agglomerate
from citeweave.preparing.people.evidence import (
    EvidenceWeights,
    candidate_pairs,
    pair_evidence,
)
from citeweave.preparing.people.facts import MOST_COAUTHORS, gather_facts
from citeweave.preparing.people.prior import BIAS, NamePrior
from citeweave.preparing.people.telling import compare_by
from citeweave.reading import Affiliation, Author, Record, Reference, Source
from citeweave.reading.name_parts import parse

OPTICS = "laser beams in thin glass fibres and their refraction"
PLANTS = "drought stress of wheat roots in saline soil"
FIELDS = ("medieval trade routes", "coral reef fish", "tax policy reform")


def _work(number, title, *names, authors=(), **fields):
    people = tuple(one if isinstance(one, Author) else Author(one) for one in (*names, *authors))
    return Record(str(number), Source("test", number), title=title, authors=people, **fields)


def _people(*works, **settings):
    """Give the author of every entry, list after list, and the report."""
    corpus, report = prepare(list(works), settings=Settings(deduplicate=False, **settings))
    return [corpus.author_names[i] for i in corpus.author_ids.tolist()], report, corpus


OTHERS = [
    _work(20 + i, FIELDS[i], f"{first} Zhang") for i, first in enumerate(["Yi", "Yan", "Yong"])
]


def test_one_person_with_a_rare_name_and_several_with_a_common_one():
    names, report, _ = _people(
        _work(1, OPTICS, "Maria Rocio Guede"),
        _work(2, PLANTS, "M. R. Guede"),
        _work(3, OPTICS, "Y. Zhang", "Anna Berg"),
        _work(4, OPTICS, "Y. Zhang", "Anna Berg"),
        _work(5, PLANTS, "Y. Zhang", "Omar Haddad"),
        _work(6, PLANTS, "Y. Zhang", "Omar Haddad"),
        *OTHERS,
    )
    assert names[0] == names[1] == "Maria Rocio Guede"
    assert names[2] == names[4]
    assert names[6] == names[8]
    assert names[2] != names[6]
    (split,) = report.split_names
    assert (split["name"], split["n_authors"], split["mentions"]) == ("Y. Zhang", 2, 4)
    (merged,) = report.merged_names
    assert merged["names"] == ["M. R. Guede", "Maria Rocio Guede"]
    assert (report.merged_names_total, report.split_names_total) == (1, 1)
    assert not any("initials" in warning for warning in report.warnings)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"authors": ["Y. Zhang", "Anna Berg"]}, {"authors": ["Y. Zhang", "Anna Berg"]}),
        ({"references": (Reference(id="2"),)}, {}),
        ({"title": OPTICS}, {"title": f"More {OPTICS}"}),
    ],
    ids=["co-author", "citation", "words"],
)
def test_what_papers_share_joins_their_authors(one, other):
    def authors(*works):
        fillers = [_work(50 + i, f"Field {i} of study", f"Ann Filler{i}") for i in range(40)]
        made = [
            _work(number, **({"title": title, "authors": ["Y. Zhang"]} | fields))
            for number, title, fields in zip((1, 2), (OPTICS, PLANTS), works, strict=True)
        ]
        _, _, corpus = _people(*made, *OTHERS, *fillers)
        return [corpus.authors(0)[0], corpus.authors(1)[0]]

    alone = authors({}, {})
    assert alone[0] != alone[1]
    together = authors(one, other)
    assert together[0] == together[1]


def test_an_institution_in_common_joins_and_its_absence_does_not():
    def zhang(place):
        return Author("Y. Zhang", affiliations=(Affiliation(institution=place, country="CN"),))

    def authors(one, other):
        fillers = [
            _work(50 + i, f"Field {i} of study", f"Ann Filler{i}") for i in range(40)
        ]  # an institution is rare among many papers
        works = [_work(1, OPTICS, zhang(one)), _work(2, PLANTS, zhang(other))]
        names, _, _ = _people(*works, *OTHERS, *fillers)
        return names[:2]

    same = authors("Lanzhou University", "Lanzhou University")
    assert same[0] == same[1]
    other = authors("Lanzhou University", "Xiamen University")
    assert other[0] != other[1]


def test_two_of_one_name_in_one_paper_are_two_people_and_one_full_name_is_one():
    names, _, corpus = _people(
        _work(1, OPTICS, "J. Guede", "Jose Guede"), _work(2, OPTICS, "Ana Guede", "Ana Guede")
    )
    assert names[0] != names[1]
    assert corpus.authors(1) == ["Ana Guede"]


def test_identifiers_join_and_part_whatever_the_papers_say():
    names, report, _ = _people(
        _work(1, OPTICS, Author("Bruce Lee", id="A101"), "Anna Berg"),
        _work(2, OPTICS, Author("Bruce Lee", id="A102"), "Anna Berg"),
        _work(3, PLANTS, Author("Bruce Li", id="A101")),
        _work(4, OPTICS, Author("B. Lee", orcid="0000-0002-1825-0097"), "Omar Haddad"),
        _work(5, OPTICS, Author("Bruce Lee", id="A102", orcid="0000-0002-1825-0097")),
    )
    assert names[0] != names[2]
    assert names[0] == names[4]
    assert names[2] == names[5] == names[7]
    assert report.authors_identified == 2


def test_ids_of_different_kinds_may_be_one_persons():
    names, _, _ = _people(
        _work(1, OPTICS, Author("Maria Guede", id="A5069892096")),
        _work(2, OPTICS, Author("Maria Guede", id="7004212771")),
        _work(3, OPTICS, Author("Maria Guede", id="A5069892097")),
    )
    assert names[0] == names[1]
    assert names[2] != names[0]


def test_numbers_of_dblp_are_identifiers():
    names, _, _ = _people(
        _work(1, OPTICS, "Min Chen 0001"),
        _work(2, PLANTS, "Min Chen 0001", year=2020),
        _work(3, OPTICS, "Min Chen 0002"),
    )
    assert names[0] == names[1] != names[2]


def test_authors_without_names_are_left_out_and_counted():
    names, report, _ = _people(_work(1, OPTICS, Author(""), Author("Anna Berg"), Author("???")))
    assert names == ["Anna Berg"]
    assert report.authors_excluded_mentions == 2


def test_the_order_of_records_changes_nothing():
    works = [
        _work(i, OPTICS if i % 2 else PLANTS, "Y. Zhang", f"Co Author{i % 3}", year=2000 + i)
        for i in range(12)
    ]

    def partition(order):
        corpus, _ = prepare([works[i] for i in order], settings=Settings(deduplicate=False))
        groups = {}
        for place, ident in enumerate(corpus.ids):
            first = corpus.author_ids[corpus.author_offsets[place]]
            groups.setdefault(int(first), set()).add(ident)
        return sorted(map(sorted, groups.values()))

    assert partition(range(12)) == partition(range(11, -1, -1))


def test_the_prior_falls_with_the_number_of_bearers():
    written = [f"{first} Zhang" for first in ("Yi", "Yan", "Ying", "Li")] + ["Maria Guede"]
    names = compare_by([parse(name) for name in [*written, "Y. Zhang", "M. Guede", "Y. X. Zhang"]])
    prior = NamePrior(names)

    def odds(one, other):
        agreed = agreement(names[one], names[other])
        assert agreed is not None
        return prior.log_odds(names[one], names[other], agreed)

    rare, common = odds(4, 6), odds(5, 5)
    assert rare > 2
    assert common < 0
    assert common == pytest.approx(BIAS - math.log(prior.others(names[5], names[5],
                                   agreement(names[5], names[5]))))  # fmt: skip
    assert common < odds(0, 0)
    assert common < odds(7, 7)


def _facts(paper, block, **fields):
    n_papers = int(paper.max()) + 1
    nothing = np.zeros(0, dtype=np.int64)
    values = {
        "institutions": (nothing, nothing),
        "tokens": nothing,
        "offsets": np.zeros(n_papers + 1, dtype=np.int64),
        "citations": np.zeros((0, 2), dtype=np.int64),
        "venues": [None] * n_papers,
        "years": [None] * n_papers,
    }
    return gather_facts(paper=paper, block=block, **(values | fields))


def test_evidence_is_the_documented_sum():
    # two papers of block 0, with block 1 in both, among four papers
    paper = np.array([0, 0, 1, 1, 2, 3])
    block = np.array([0, 1, 0, 1, 2, 3])
    facts = _facts(
        paper,
        block,
        citations=np.array([[1, 0]]),
        venues=["A", "A", "B", None],
        years=[2000, 2013, None, None],
    )
    weights = EvidenceWeights()
    (found,) = pair_evidence(np.array([[0, 2]]), block, paper, facts, weights)
    rare = math.log(4 / 2)
    expected = weights.coauthor * rare + weights.citation + weights.venue * rare + 3 * weights.year
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("mentions", [500, 1000, 2000])
def test_pairs_of_a_large_block_grow_with_its_mentions(mentions):
    """2,000 papers by "Y. Zhang", each with one of 20 co-authors: no two million pairs."""
    paper = np.repeat(np.arange(mentions), 2)
    block = np.stack([np.zeros(mentions), 1 + np.arange(mentions) % 20], axis=1).ravel().astype(int)
    pairs = candidate_pairs(block, paper, _facts(paper, block))
    assert len(pairs) <= 40 * len(paper)


@pytest.mark.parametrize("size", [300, 600])
def test_agglomeration_looks_at_pairs_in_proportion(size, monkeypatch):
    pushed = Counter()
    original = clustering.heapq.heappush

    def counted(queue, item):
        pushed["pushes"] += 1
        original(queue, item)

    monkeypatch.setattr(clustering.heapq, "heappush", counted)
    pairs = [(i, j, 3.0, 1) for i in range(size) for j in range(i + 1, min(i + 9, size))]
    found = agglomerate(
        [1] * size, [{0}] * size, [{i} for i in range(size)], [{}] * size, pairs,
        prior=lambda *_: 1.0, rules=ClusterRules(nothing=0.0),
    )  # fmt: skip
    assert set(found) == {found[0]}
    assert pushed["pushes"] <= 12 * len(pairs)


def test_clusters_that_contradict_are_never_joined():
    def joined(**changes):
        values = {
            "sizes": [1, 1], "names": [{0}, {0}], "papers": [{0}, {1}], "marks": [{}, {}],
            "pairs": [(0, 1, 50.0, 1)], "prior": lambda *_: 5.0,
        } | changes  # fmt: skip
        prior = values.pop("prior")
        return len(set(agglomerate(*values.values(), prior=prior))) == 1

    assert joined()
    assert joined(marks=[{"ORCID": "1"}, {"id": "2"}])
    assert not joined(marks=[{"ORCID": "1"}, {"ORCID": "2"}])
    assert not joined(papers=[{0}, {0}])
    assert not joined(prior=lambda *_: None)
    assert not joined(prior=lambda *_: math.nan)
    assert not joined(pairs=[(0, 1, -50.0, 1)], prior=lambda *_: 1.0)


def test_thousands_of_authors_of_one_paper_make_no_pairs():
    """Time and memory follow the list of authors: nobody is compared with those beside them."""
    n = 3000
    paper = np.repeat(np.arange(3), n)
    block = np.tile(np.arange(n), 3)
    facts = _facts(paper, block)
    assert n > MOST_COAUTHORS
    assert facts.coauthors.nnz == 0
    assert len(candidate_pairs(block, paper, facts)) == 3 * n


def test_nobody_is_compared_where_identifiers_tell_all(monkeypatch):
    seen = []
    original = telling.candidate_pairs

    def counted(block, *rest):
        seen.append(len(block))
        return original(block, *rest)

    monkeypatch.setattr(telling, "candidate_pairs", counted)
    works = [_work(i, OPTICS, Author("Y. Zhang", id=f"A{100 + i % 7}")) for i in range(60)]
    names, _, _ = _people(*works)
    assert (seen, len(set(names))) == ([0], 7)
    names, _, _ = _people(*works, _work(99, OPTICS, "Y. Zhang"))
    assert seen == [0, 61]
