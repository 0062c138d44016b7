"""From affiliations to institutions and countries: what is one, what is not."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pytest

from citeweave import Corpus, read
from citeweave.corpus.affiliations import Affiliations
from citeweave.preparing.institutions import institution_in_address, institution_key, place_of
from citeweave.preparing.places import PlaceRegister
from citeweave.preparing.run import Imported, prepare
from citeweave.reading import Affiliation, Author, Record, Source

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("Dept. of Physics, Univ. of Oslo, N-0316 Oslo, Norway", "Univ. of Oslo"),
        (
            "Department of CS, Beckman Institute, University of Illinois at Urbana, IL",
            "University of Illinois at Urbana",
        ),
        ("Department of Neurosurgery, Mayo Clinic, Rochester, Minnesota, USA", "Mayo Clinic"),
        ("Emory University School of Medicine, Atlanta, GA", "Emory University"),
        ("Warren Alpert School of Medicine at Brown University, RI", "Brown University"),
        ("University College London, Gower Street, London, UK", "University College London"),
        (
            "School of Medicine, University of California, Los Angeles, CA, USA",
            "University of California, Los Angeles",
        ),
        (
            "Institute of Physics, Chinese Academy of Sciences, Beijing, China",
            "Chinese Academy of Sciences",
        ),
        ("I/O Doctors, LLC, Hanska, MN, USA", "I/O Doctors"),
        ("College of William and Mary, Williamsburg, VA", "College of William and Mary"),
        ("3 Graduate School of Engineering, The University of Tokyo, Japan", "University of Tokyo"),
        ("Tweag, Zürich, Switzerland", "Tweag"),
        ("France", None),
        ("", None),
    ],
)
def test_the_institution_in_an_address(address: str, name: str | None) -> None:
    assert institution_in_address(address) == name


@pytest.mark.parametrize(
    "piece", ["(", "[", "a ", "School of ", "University of ", "1-", ",", "a, "]
)
def test_endless_addresses_are_cut(piece: str) -> None:
    long = piece * (200_000 // len(piece))
    for given in (
        Affiliation(raw=long),
        Affiliation(institution=long),
        Affiliation(long, raw=long),
    ):
        found = place_of(given)
        assert found.name is None or len(found.name) <= 300
        assert found.country is None


def test_spellings_of_one_institution() -> None:
    one = {institution_key(name) for name in ("Univ Oslo", "University of Oslo", "UNIV. OF OSLO")}
    assert one == {"university oslo"}
    assert institution_key("Université Paris-Dauphine") == institution_key("Univ. Paris Dauphine")
    assert institution_key("Universidade de Coimbra") == institution_key("University of Coimbra")
    assert institution_key("York University") != institution_key("University of York")
    assert institution_key("Chinese Acad Sci") == institution_key("Chinese Academy of Sciences")


def test_names_of_registries_stay_as_they_are() -> None:
    given = Affiliation("Google (United States)", "US", ror="00njsd438")
    assert place_of(given).name == "Google (United States)"


def _resolved(*affiliations: Affiliation) -> tuple[list[str], list[str], list[str]]:
    register = PlaceRegister()
    numbers = [register.mention(one) for one in affiliations]
    found = register.resolve()
    places = [found.of_mention[number] for number in numbers]
    return (
        [found.names[one] if one >= 0 else "" for one in places],
        [found.ids[one] if one >= 0 else "" for one in places],
        [found.countries[one] if one >= 0 else "" for one in places],
    )


def test_identifiers_tell_institutions() -> None:
    names, ids, countries = _resolved(
        Affiliation("Australian National University", "AU", ror="019wvm592", id="I1"),
        Affiliation("ANU", "AU", id="I1"),
        Affiliation("Australian Natl. Univ.", ror="019wvm592"),
        Affiliation(raw="Dept CS, Australian National University, Canberra, Australia"),
    )
    assert set(names) == {"Australian National University"}
    assert set(ids) == {"019wvm592"}
    assert set(countries) == {"AU"}


def test_one_name_in_two_countries_is_two_institutions() -> None:
    names, _, countries = _resolved(
        Affiliation("Northeastern University", "US"),
        Affiliation("Northeastern University", "CN"),
        Affiliation("Northeastern University"),
    )
    assert names[0] == "Northeastern University"
    assert names[1] == "Northeastern University (CN)"
    assert names[2] not in names[:2]
    assert countries == ["US", "CN", ""]


def test_without_a_country_it_is_the_only_one_of_its_name() -> None:
    names, _, countries = _resolved(
        Affiliation("UNIV OSLO", raw="UNIV OSLO, OSLO, NORWAY"),
        Affiliation("University of Oslo"),
    )
    assert names == ["University of Oslo"] * 2
    assert countries == ["NO"] * 2


def test_a_country_alone_is_no_institution() -> None:
    assert _resolved(Affiliation(country="AU"), Affiliation(raw="France")) == (["", ""],) * 3


def _facts(corpus: Corpus) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    found = Affiliations.of(corpus)
    people = {
        (corpus.author_names[corpus.author_ids[place]], found.names[one])
        for place, one in found.members.tolist()
    }
    nations = {(corpus.ids[paper], found.codes[one]) for paper, one in found.nations.tolist()}
    return people, nations


def _prepare(*works: dict[str, Any]) -> Imported:
    records = []
    for number, work in enumerate(works):
        people = [Author(one) if isinstance(one, str) else one for one in work.pop("authors", ())]
        records.append(Record(str(number), Source("test", 1), authors=tuple(people), **work))
    return prepare(records)


ANU = Affiliation(raw="ANU, Canberra, Australia")
NUS = Affiliation(raw="National University of Singapore, Singapore")


def test_authors_carry_their_places_into_the_corpus() -> None:
    corpus, report = _prepare(
        {
            "title": "Topic models",
            "authors": [
                Author("Kar Wai Lim", affiliations=(ANU,)),
                Author("University of Nowhere", affiliations=(Affiliation(country="FR"),)),
                Author("Lan Du", affiliations=(NUS, ANU)),
                # the same person twice: a corpus has each author of a paper once
                Author("Kar Wai Lim", affiliations=(NUS,)),
                Author("Wray Buntine", affiliations=(ANU,)),
            ],
            "document_type": "Review",
            "cited_by": 7,
            "funders": ("ARC",),
        },
        {"title": "Citation networks"},
    )
    people, nations = _facts(corpus)
    nus = "National University of Singapore"
    assert people == {
        ("Kar Wai Lim", "ANU"),
        ("Kar Wai Lim", nus),
        ("Lan Du", "ANU"),
        ("Lan Du", nus),
        ("Wray Buntine", "ANU"),
    }
    assert nations == {("0", "AU"), ("0", "SG"), ("0", "FR")}
    assert corpus.metadata["document_type"] == ["Review", None]
    assert corpus.metadata["cited_by"] == [7, None]
    assert corpus.metadata["funders"] == [["ARC"], None]
    assert (report.with_affiliation, report.institutions, report.countries) == (1, 2, 3)


def test_records_of_one_work_add_what_the_other_lacks() -> None:
    corpus, _ = _prepare(
        {"title": "Topic models", "doi": "10.1/x", "authors": ["K. Lim", "L. Du"], "cited_by": 3},
        {
            "title": "Topic models",
            "doi": "10.1/x",
            "authors": [Author("K. Lim", affiliations=(ANU,)), Author("L. Du")],
            "cited_by": 9,
            "document_type": "Article",
            "funders": ("ARC",),
        },
    )
    assert corpus.n_documents == 1
    assert _facts(corpus)[0] == {("K. Lim", "ANU")}
    assert corpus.metadata["cited_by"] == [9]
    assert corpus.metadata["document_type"] == ["Article"]
    assert corpus.metadata["funders"] == [["ARC"]]


def test_another_list_of_authors_gives_its_places_to_the_paper() -> None:
    corpus, _ = _prepare(
        {"title": "Topic models", "doi": "10.1/x", "authors": ["K. Lim", "L. Du"]},
        {
            "title": "Topic models",
            "doi": "10.1/x",
            "authors": [Author("K. Lim", affiliations=(ANU,))],
        },
    )
    assert _facts(corpus) == (set(), {("0", "AU")})


def test_three_thousand_authors_cost_what_they_hold() -> None:
    team = [
        Author(f"Ann Family{i}", affiliations=(Affiliation(raw=f"Univ City{i % 500}, Italy"),))
        for i in range(3000)
    ]
    corpus, _ = _prepare({"title": "Collider physics", "authors": team})
    (told,) = corpus.metadata["author_institutions"]
    assert told == [str(i % 500) for i in range(3000)]
    assert len(corpus.metadata["institutions"][0]) == 500
    assert len(Affiliations.of(corpus).members) == 3000


def test_files_are_read_prepared_saved_and_loaded(tmp_path: Path) -> None:
    entry = "@article{a, title={Topic models}, author={Lim, K. and Du, L.}, affiliation={%s}}"
    text = entry % "Dept CS, ANU, Canberra, Australia; Univ Oslo, Oslo, Norway"
    corpus, report = read(io.BytesIO(text.encode())).prepare()
    corpus.save(tmp_path / "corpus")
    loaded = Corpus.load(tmp_path / "corpus")
    assert Affiliations.of(loaded).names == ["ANU", "Univ Oslo"]
    assert loaded.metadata["countries"] == [["AU", "NO"]]
    assert "author_institutions" not in loaded.metadata
    assert loaded.import_report["institutions"] == report.institutions == 2
