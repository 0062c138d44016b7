"""Citations: every fate of a reference, and that the steps do not overreach."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from citeweave.preparing.keys import title_key
from citeweave.preparing.matching import FATES, MatchOptions, Work, abbreviates, match
from citeweave.preparing.references import ReferenceColumns, family_key, person_key, venue_key
from citeweave.reading import Reference

LONG = "A multiple criteria sorting method with several reference actions"


def _work(ident, title="", *, year=2000, author="lee", doi="", venue="", initial=""):
    return Work(
        (ident,),
        (doi,) if doi else (),
        (title_key(title),) if title else (),
        year,
        family_key(author),
        initial,
        venue_key(venue),
    )


def _match(works, references, **options):
    """Match references given as (citing, Reference) and tell fate and target of each."""
    columns = ReferenceColumns()
    for citing, reference in references:
        columns.add(citing, reference, 0)
    citing = columns.column("document").astype(np.int64)
    found = match(works, columns, citing, MatchOptions(**options))
    return [FATES[code] for code in found.fate.tolist()], found.citations.tolist()


WORKS = [
    _work("w0", "Unrelated title of a quite different work"),
    _work("w1", LONG, doi="10.1/x", venue="American Journal of Physics", initial="b"),
    _work("w2", "Strings part I and the shape of all things", author="witten"),
]


@pytest.mark.parametrize(
    ("reference", "fate"),
    [
        (Reference(id="w1"), "id"),
        (Reference(id="unknown", doi="https://doi.org/10.1/X"), "doi"),
        (Reference(id="10.1/x"), "doi"),
        (Reference(title=LONG.upper() + "!", year=2000, first_author="Lee, Bruce"), "title"),
        (Reference(title=LONG, year=2001), "title"),
        (Reference(title=LONG), "title"),
        (Reference(title=LONG, year=2005), "outside"),
        (Reference(title=LONG, first_author="Li B"), "outside"),
        (
            Reference(title=LONG.replace("sorting", "sortng"), year=2000, first_author="Lee"),
            "fuzzy",
        ),
        (Reference(title=LONG.replace("sorting", "sortng"), year=2009), "outside"),
        (Reference(title="Strings part II and the shape of all things", year=2000), "outside"),
        (Reference(title="Strings part 1 and the shape", year=2000), "outside"),
        (
            Reference(year=2000, first_author="LEE B", raw="LEE B, 2000, AM J PHYS, V34, P1185"),
            "string",
        ),
        (Reference(year=2000, first_author="LEE C", raw="LEE C, 2000, AM J PHYS, V1"), "outside"),
        (Reference(year=2000, first_author="LEE B", raw="LEE B, 2000, NATURE, V1"), "outside"),
        (Reference(), "outside"),
        (Reference(id="w0"), "self"),
    ],
)
def test_fate_of_one_reference(reference, fate):
    fates, citations = _match(WORKS, [(0, reference)])
    assert fates == [fate]
    assert citations == ([] if fate in {"outside", "self"} else [[0, 1]])


def test_steps_can_be_turned_off():
    typo = Reference(title=LONG.replace("sorting", "sortng"), year=2000, first_author="Lee")
    exact = Reference(title=LONG)
    string = Reference(year=2000, first_author="LEE B", raw="LEE B, 2000, AM J PHYS")
    references = [(0, typo), (0, exact), (0, string)]
    assert _match(WORKS, references, fuzzy=False)[0] == ["outside", "title", "duplicate"]
    assert _match(WORKS, references, titles=False)[0] == ["outside", "outside", "string"]
    assert _match(WORKS, references, strings=False)[0] == ["fuzzy", "duplicate", "outside"]


def test_repeated_references_are_counted_once():
    fates, citations = _match(WORKS, [(0, Reference(id="w1")), (0, Reference(doi="10.1/x"))])
    assert fates == ["id", "duplicate"]
    assert citations == [[0, 1]]


def test_ambiguous_references_match_nothing():
    twins = [_work("a", LONG), _work("b", LONG), _work("c")]
    assert _match(twins, [(2, Reference(title=LONG))]) == (["ambiguous"], [])
    twins[1] = _work("b", LONG, year=2001)
    years = [(2, Reference(title=LONG, year=2001, first_author="Lee"))]
    assert _match(twins, years) == (["title"], [[2, 1]])
    same_id = [_work("a"), _work("a"), _work("c")]
    assert _match(same_id, [(2, Reference(id="a"))])[0] == ["ambiguous"]


def test_references_of_dropped_documents_count_for_nothing():
    columns = ReferenceColumns()
    columns.add(0, Reference(id="w1"), 0)
    columns.add(1, Reference(id="w2"), 0)
    found = match(WORKS, columns, np.array([-1, 1]), MatchOptions())
    assert found.citations.tolist() == [[1, 2]]
    counts = found.by_file(columns.column("file"), ["file.bib"])["file.bib"]
    assert counts["references"] == counts["id"] == 1


def test_journal_abbreviations():
    assert abbreviates("phys rev lett", venue_key("Physical Review Letters"))
    assert abbreviates(
        "proc natl acad sci", venue_key("Proceedings of the National Academy of Sciences")
    )
    assert not abbreviates("rev lett", venue_key("Physical Review Letters"))
    assert not abbreviates("phys rev d", venue_key("Physical Review"))


def test_authors_of_references():
    assert person_key("van der Berg L.") == ("vanderberg", "l")
    assert person_key("Lim, K. W.") == person_key("Lim KW") == ("lim", "k")
    assert family_key("Müller-Lüdenscheidt") == "mullerludenscheidt"


_TEXT = st.text(alphabet="abcde 12", max_size=30) | st.none()


@given(
    st.lists(
        st.builds(
            Reference, id=_TEXT, doi=_TEXT, title=_TEXT, year=st.integers(-5, 3000) | st.none(),
            first_author=_TEXT, raw=_TEXT,
        ),
        max_size=10,
    )
)  # fmt: skip
def test_fates_add_up_for_any_references(references):
    fates, citations = _match(WORKS, [(i % 3, r) for i, r in enumerate(references)])
    matched = [f for f in fates if f not in {"outside", "ambiguous", "self", "duplicate"}]
    assert len(matched) == len(citations)
    assert len({tuple(pair) for pair in citations}) == len(citations)
    assert all(citing != cited for citing, cited in citations)
