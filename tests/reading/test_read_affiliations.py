"""Affiliations, document types, counts of citations and funders, counted by hand."""

from __future__ import annotations

import csv
import html
import io
import json
import os
import re
from pathlib import Path

import pytest

from citeweave.reading import Affiliation, Record, read
from citeweave.reading.affiliations import funder_names, split_outside_brackets

SAMPLES = Path(os.environ.get("CITEWEAVE_DATA", "")) / "samples"

OPENALEX = {
    "id": "https://openalex.org/W1",
    "title": "First paper",
    "type": "article",
    "cited_by_count": 12,
    "grants": [{"funder": "https://openalex.org/F1", "funder_display_name": "ARC"}],
    "authorships": [
        {
            "author": {"display_name": "Kar Wai Lim"},
            "institutions": [
                {
                    "id": "https://openalex.org/I118347636",
                    "display_name": "Australian National University",
                    "ror": "https://ror.org/019wvm592",
                    "country_code": "AU",
                },
                {"id": "https://openalex.org/I2", "display_name": "NICTA", "country_code": "AU"},
            ],
            "countries": ["AU"],
        },
        {
            "author": {"display_name": "Wray Buntine"},
            "institutions": [],
            "countries": ["AU"],
            "raw_affiliation_strings": ["Monash University, Clayton"],
        },
        {"author": {"display_name": "Lan Du"}, "countries": ["CN", "AU"]},
        {"author": None, "institutions": [{"display_name": "Nobody's"}]},
    ],
}

WOS = """\
FN Clarivate Analytics Web of Science
VR 1.0
PT J
AU Lim, KW
   Buntine, W
   Zhang, Y
   Zhang, YQ
AF Lim, Kar Wai
   Buntine, Wray
   Zhang, Yan
   Zhang, Yiqun
TI First paper
DT Article; Proceedings Paper
C1 [Lim, Kar Wai; Buntine, Wray] Australian Natl Univ, Dept CS, Canberra, ACT 2601, Australia.
   [Buntine, Wray] NICTA, Canberra, ACT, Australia.
   [Zhang, Y.] Tsinghua Univ, Beijing, Peoples R China.
   [Nobody, A.] Univ Nowhere, Nowhere, France.
FU National Science Foundation [DMS-1, DMS-2]; ARC
TC 7
Z9 9
PY 2016
UT WOS:1
ER

PT J
AU Chen, CC
TI Second paper
RP Chen, CC (corresponding author), Duke Univ, Durham, NC 27708 USA.
Z9 3
UT WOS:2
ER

EF
"""

MEDLINE = """\
PMID- 1
TI  - First paper.
FAU - Lim, Kar Wai
AU  - Lim KW
AD  - Australian National University, Canberra, Australia (K.W.L., W.B.). Electronic address:
      lim@anu.edu.au.
AD  - NICTA, Sydney, Australia; Data61, Canberra, Australia.
FAU - Buntine, Wray
AU  - Buntine W
PT  - Journal Article
PT  - Research Support, Non-U.S. Gov't
PT  - Review
GR  - R01 EB1/EB/NIBIB NIH HHS/United States
GR  - CIHR/Canada

PMID- 2
TI  - Second paper.
AD  - Duke University, Durham, NC.
FAU - Chen, Changyou
PT  - Journal Article
"""

SCOPUS = (
    "Authors,Title,Year,Source title,Cited by,Affiliations,Authors with affiliations,"
    "Funding Details,Document Type,EID\n"
    '"Lim K.W., Buntine W.",First paper,2016,J,5,'
    '"ANU, Canberra, Australia; NICTA, Sydney, Australia",'
    '"Lim, K.W., ANU, Canberra, Australia, NICTA, Sydney, Australia; '
    'Buntine, W., NICTA, Sydney, Australia",'
    '"Australian Research Council, ARC: DP1; 81601515",Article,2-s2.0-1\n'
    '"Chen C., Du L.",Second paper,2011,J,,"Duke, Durham, United States; NUS, Singapore",,,'
    "Review,2-s2.0-2\n"
)

BIBTEX = """
@article{a, title={First paper}, author={Lim, Kar Wai and Buntine, Wray}, document_type={Review},
  affiliation={ANU, Canberra, Australia; NICTA, Sydney, Australia}, note={cited By 14},
  funding_details={European CommissionEuropean Commission, EC, 691895}}
@article{b, title={Second paper}, author={Lim, Kar Wai and Buntine, Wray}, Unique-ID={WOS:2},
  Affiliation={Lim, KW (Corresponding Author), Australian Natl Univ, Canberra, Australia.
   Lim, Kar Wai; Buntine, Wray, NICTA, Sydney, Australia.},
  Times-Cited={3}, Type={Article}, Funding-Acknowledgement={ARC {[}DP1]; NSF}}
@inproceedings{c, title={Third paper}}
"""

RIS = """\
TY  - JOUR
TI  - First paper
AU  - Lim, K.W.
AD  - ANU, Canberra, Australia
AD  - NICTA, Sydney, Australia
M3  - Review
N1  - Cited By :42
ER  -

TY  - CONF
TI  - Second paper
AU  - Chen, C.
AU  - Du, L.
AD  - NUS, Singapore
M3  - 10.1234/abc
ER  -
"""

LENS = (
    '"Lens ID","Title","Publication Type","Author/s","Funding","Citing Works Count"\n'
    '"000-1","First paper","journal article","Kar Wai Lim","ARC; NSF",10\n'
)

IEEE = (
    '"Document Title",Authors,"Author Affiliations","Publication Title",PDF Link,'
    "Article Citation Count,Funding Information,Document Identifier\n"
    '"First paper","K. W. Lim; W. Buntine","ANU, Australia; NA","IEEE Tests","",51,'
    '"ARC(grant numbers:DP1); ",IEEE Journals\n'
    '"Second paper","C. Chen; L. Du; K. W. Lim","Duke, NC, USA; NUS, Singapore","IEEE Tests","",'
    ",,IEEE Conferences\n"
)

OPENALEX_CSV = (
    '"id","display_name","type","cited_by_count","funders.display_name","publication_year",'
    '"authorships.author.display_name","authorships.institutions.display_name",'
    '"authorships.institutions.id","authorships.countries"\n'
    '"https://openalex.org/W1","First paper","article",3,"ARC|NSF",2016,"Kar Wai Lim||Lan Du",'
    '"ANU||NUS","https://openalex.org/I1||https://openalex.org/I3","AU||SG"\n'
    '"https://openalex.org/W2","Second paper","review",0,"",2011,"Changyou Chen|Lan Du",'
    '"Duke|NUS|Duke","https://openalex.org/I4|https://openalex.org/I3|https://openalex.org/I4",'
    '"US|SG"\n'
)

S2 = {
    "paperId": "p1",
    "title": "First paper",
    "citationCount": 4,
    "publicationTypes": ["Review", "JournalArticle"],
    "authors": [
        {"name": "Kar Wai Lim", "affiliations": ["ANU"]},
        {
            "first": "Wray",
            "last": "Buntine",
            "affiliation": {"institution": "Monash", "location": {"country": "Australia"}},
        },
    ],
}

ARXIV = {
    "id": "hep-th/1",
    "title": "First paper",
    "abstract": "a",
    "authors_parsed": [["Lim", "K. W.", "", "ANU, Canberra, Australia"], ["Du", "L.", ""]],
}

CROSSREF = {
    "DOI": "10.1234/abc",
    "title": ["First paper"],
    "type": "journal-article",
    "is-referenced-by-count": 21,
    "funder": [{"name": "ARC", "award": ["DP1"]}, {"name": "NSF"}],
    "author": [
        {
            "given": "Kar Wai",
            "family": "Lim",
            "affiliation": [
                {
                    "name": "Australian National University",
                    "id": [{"id": "https://ror.org/019wvm592", "id-type": "ROR"}],
                }
            ],
        },
        {"given": "Lan", "family": "Du", "affiliation": [{"name": "NUS, Singapore"}]},
    ],
}


def _read(text: str | list[dict]) -> list[Record]:
    if not isinstance(text, str):
        text = "\n".join(map(json.dumps, text))
    return list(read(io.BytesIO(text.encode())))


def _raws(record: Record) -> list[list[str | None]]:
    return [[one.raw for one in author.affiliations] for author in record.authors]


def _about(record: Record) -> tuple[str | None, int | None, tuple[str, ...]]:
    return record.document_type, record.cited_by, record.funders


def test_openalex() -> None:
    (record,) = _read([OPENALEX])
    lim, buntine, du = record.authors
    assert lim.affiliations == (
        Affiliation("Australian National University", "AU", "019wvm592", "I118347636"),
        Affiliation("NICTA", "AU", None, "I2"),
    )
    assert buntine.affiliations == (Affiliation(country="AU", raw="Monash University, Clayton"),)
    assert du.affiliations == (Affiliation(country="CN"), Affiliation(country="AU"))
    assert _about(record) == ("article", 12, ("ARC",))


def test_openalex_names_funders_in_two_ways() -> None:
    work = {**OPENALEX, "funders": [{"display_name": "NSF"}]}
    assert _read([work])[0].funders == ("NSF",)


def test_openalex_csv_places_correspond_only_where_there_are_as_many() -> None:
    first, second = _read(OPENALEX_CSV)
    assert [author.name for author in first.authors] == ["Kar Wai Lim", "Lan Du"]
    assert [author.affiliations for author in first.authors] == [
        (Affiliation("ANU", "AU", id="I1"),),
        (Affiliation("NUS", "SG", id="I3"),),
    ]
    assert not any(author.affiliations for author in second.authors)
    assert set(second.affiliations) == {
        Affiliation("Duke", id="I4"),
        Affiliation("NUS", id="I3"),
        Affiliation(country="US"),
        Affiliation(country="SG"),
    }
    assert _about(first) == ("article", 3, ("ARC", "NSF"))
    assert second.cited_by == 0


def test_wos_gives_addresses_to_the_authors_they_name() -> None:
    first, second = _read(WOS)
    anu = "Australian Natl Univ, Dept CS, Canberra, ACT 2601, Australia"
    # "Zhang, Y." may be either of two: the address is the paper's
    assert _raws(first) == [[anu], [anu, "NICTA, Canberra, ACT, Australia"], [], []]
    assert [one.institution for one in first.affiliations] == ["Tsinghua Univ", "Univ Nowhere"]
    assert first.authors[0].affiliations[0].institution == "Australian Natl Univ"
    assert _about(first) == (
        "Article; Proceedings Paper",
        7,
        ("National Science Foundation", "ARC"),
    )
    assert _raws(second) == [["Duke Univ, Durham, NC 27708 USA"]]
    assert second.cited_by == 3


def test_wos_tables_hold_the_same() -> None:
    head = "PT\tAU\tAF\tTI\tC1\tDT\tTC\tFU\tUT\n"
    row = (
        "J\tLim, KW; Du, L\tLim, Kar Wai; Du, Lan\tFirst\t[Lim, Kar Wai; Du, Lan] ANU, Canberra, "
        "Australia; [Du, Lan] NUS, Singapore\tArticle\t7\tARC [1]\tWOS:1\n"
    )
    (record,) = _read(head + row)
    anu = "ANU, Canberra, Australia"
    assert _raws(record) == [[anu], [anu, "NUS, Singapore"]]
    assert _about(record) == ("Article", 7, ("ARC",))
    long = head.replace("C1", "Addresses").replace("TC", "Times Cited, WoS Core")
    long = long.replace("DT", "Document Type").replace("UT", "UT (Unique WOS ID)")
    (record,) = _read(long + row)
    assert _raws(record)[1] == [anu, "NUS, Singapore"]
    assert record.cited_by == 7


def test_medline_affiliations_follow_their_author() -> None:
    first, second = _read(MEDLINE)
    assert _raws(first) == [
        [
            "Australian National University, Canberra, Australia",
            "NICTA, Sydney, Australia",
            "Data61, Canberra, Australia",
        ],
        [],
    ]
    assert _about(first) == ("Review", None, ("NIBIB NIH HHS", "CIHR"))
    assert _raws(second) == [["Duke University, Durham, NC"]]
    assert second.document_type == "Journal Article"


def test_scopus_tells_two_addresses_of_an_author_apart() -> None:
    first, second = _read(SCOPUS)
    anu, nicta = "ANU, Canberra, Australia", "NICTA, Sydney, Australia"
    assert _raws(first) == [[anu, nicta], [nicta]]
    assert _about(first) == ("Article", 5, ("Australian Research Council",))
    assert _raws(second) == [[], []]
    assert len(second.affiliations) == 2
    assert second.cited_by is None


def test_scopus_without_the_list_of_addresses_keeps_one_string() -> None:
    table = "Authors,Title,Year,Source title,Authors with affiliations,EID\n"
    table += '"Lim K.W.",First,2016,J,"Lim K.W., ANU, Canberra, Australia",2-s2.0-1\n'
    assert _raws(_read(table)[0]) == [["ANU, Canberra, Australia"]]


def test_bibtex_of_scopus_and_of_wos() -> None:
    first, second, third = _read(BIBTEX)
    assert [one.raw for one in first.affiliations] == [
        "ANU, Canberra, Australia",
        "NICTA, Sydney, Australia",
    ]
    assert _about(first) == ("Review", 14, ("European Commission",))
    assert _raws(second) == [
        ["Australian Natl Univ, Canberra, Australia", "NICTA, Sydney, Australia"],
        ["NICTA, Sydney, Australia"],
    ]
    assert _about(second) == ("Article", 3, ("ARC", "NSF"))
    assert _about(third) == ("inproceedings", None, ())


def test_ris() -> None:
    first, second = _read(RIS)
    # one author has all addresses, and all authors the only one
    assert _raws(first) == [["ANU, Canberra, Australia", "NICTA, Sydney, Australia"]]
    assert _about(first) == ("Review", 42, ())
    assert _raws(second) == [["NUS, Singapore"], ["NUS, Singapore"]]
    assert second.document_type == "conference paper"


def test_lens_and_ieee() -> None:
    (lens,) = _read(LENS)
    assert _about(lens) == ("journal article", 10, ("ARC", "NSF"))
    first, second = _read(IEEE)
    assert _raws(first) == [["ANU, Australia"], []]
    assert _about(first) == ("IEEE Journals", 51, ("ARC",))
    assert _raws(second) == [[], [], []]
    assert [one.raw for one in second.affiliations] == ["Duke, NC, USA", "NUS, Singapore"]


def test_semantic_scholar_arxiv_and_crossref() -> None:
    (record,) = _read([S2])
    assert record.authors[0].affiliations == (Affiliation(raw="ANU"),)
    assert record.authors[1].affiliations == (Affiliation("Monash", "Australia"),)
    assert _about(record) == ("Review", 4, ())
    (record,) = _read([ARXIV])
    assert _raws(record) == [["ANU, Canberra, Australia"], []]
    (record,) = _read([CROSSREF])
    lim, du = record.authors
    assert lim.affiliations == (Affiliation("Australian National University", ror="019wvm592"),)
    assert du.affiliations == (Affiliation(raw="NUS, Singapore"),)
    assert _about(record) == ("journal-article", 21, ("ARC", "NSF"))


def test_any_table() -> None:
    table = (
        "title,authors,AuthorAffiliation,Document Type,Cited by,Funders\n"
        '"First","A. Lim; B. Du","ANU, Australia; NUS, Singapore",Article,"1,234","ARC; NSF [1]"\n'
        '"Second","A. Lim; B. Du; C. Yu","ANU, Australia; NUS, Singapore",,not known,\n'
    )
    first, second = _read(table)
    assert _raws(first) == [["ANU, Australia"], ["NUS, Singapore"]]
    assert _about(first) == ("Article", 1234, ("ARC", "NSF"))
    assert len(second.affiliations) == 2
    assert _about(second) == (None, None, ())


def test_funders_without_grants() -> None:
    written = [
        "31200364, NSFC, Chinese Academy of Sciences",
        "Ministry of Education, Culture, Sports, Science and Technology, MEXT: 1",
        "Fundação para a Ciência e a TecnologiaFundação para a Ciência e a Tecnologia, FCT, UID/1",
        "NSF [1]",
        "NSF: 2",
        "EU Horizon 2020 programme",
        "691895",
        "",
        None,
    ]
    assert funder_names(written) == (
        "Chinese Academy of Sciences",
        "Ministry of Education, Culture, Sports, Science and Technology",
        "Fundação para a Ciência e a Tecnologia",
        "NSF",
        "EU Horizon 2020 programme",
    )


@pytest.mark.parametrize("wrong", [None, 5, "", [], {}, [None, 3, {"x": 1}], {"name": 3}, "NA"])
def test_what_is_no_affiliation_is_left_out(wrong: object) -> None:
    work = {
        **OPENALEX,
        "authorships": [{"author": {"display_name": "A. Lim"}, "institutions": wrong}],
    }
    (record,) = _read([work])
    assert record.authors[0].affiliations == ()
    (record,) = _read([{**CROSSREF, "author": [{"family": "Lim", "affiliation": wrong}]}])
    assert record.authors[0].affiliations == ()


def test_three_thousand_authors_share_their_addresses() -> None:
    names = [f"Family{i}, A." for i in range(3000)]
    places = [f"Univ {i}, City {i}, Italy" for i in range(600)]
    entries = [f"{name}, {places[i % 600]}" for i, name in enumerate(names)]
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(
        [
            "Authors",
            "Title",
            "Year",
            "Source title",
            "Affiliations",
            "Authors with affiliations",
            "EID",
        ]
    )
    writer.writerow(
        ["; ".join(names), "T", 2012, "J", "; ".join(places), "; ".join(entries), "2-s2.0-1"]
    )
    (record,) = _read(out.getvalue())
    assert _raws(record) == [[places[i % 600]] for i in range(3000)]


@pytest.mark.parametrize(
    "piece", ["[", "(", "a", "A.", "1", "a@", ". ", "(A.", "[a;", "@", ",", "a, "]
)
def test_endless_values_are_read_in_one_go(piece: str) -> None:
    """Nothing here goes through a value once for each of its characters."""
    long = piece * (200_000 // len(piece))
    assert isinstance(funder_names([long]), tuple)
    assert "".join(split_outside_brackets(long)).count("[") == long.count("[")
    text = MEDLINE.replace("NICTA, Sydney", long).replace("CIHR", long)
    assert len(_read(text)) == 2
    row = ["A. Lim", "T", 2012, "J", long, f"Lim A., {long}", long, "2-s2.0-1"]
    head = ["Authors", "Title", "Year", "Source title", "Affiliations"]
    head += ["Authors with affiliations", "Funding Details", "EID"]
    out = io.StringIO()
    csv.writer(out).writerows([head, row])
    assert len(_read(out.getvalue())) == 1
    assert len(_read(WOS.replace("NICTA", long))) == 2


def _sample(name: str) -> Path:
    path = SAMPLES / name
    if not path.is_file():
        pytest.skip(f"needs the real file {name} (set CITEWEAVE_DATA)")
    return path


def test_real_scopus_file() -> None:
    path = _sample("scopus/tethne_scopus.csv")
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    records = list(read(path))
    assert len(records) == len(rows)
    for record, row in zip(records, rows, strict=True):
        given = {text.strip() for text in row["Affiliations"].split(";")} - {""}
        found = {one.raw for author in record.authors for one in author.affiliations}
        found |= {one.raw for one in record.affiliations}
        assert found == given
        assert record.document_type == row["Document Type"]
        assert record.cited_by == (int(row["Cited by"]) if row["Cited by"] else None)


def test_real_wos_file() -> None:
    path = _sample("wos/tethne_wos2.txt")
    text = path.read_text(encoding="utf-8-sig")
    blocks = [block for block in re.split(r"^ER\s*$", text, flags=re.MULTILINE) if "\nUT " in block]
    records = list(read(path))
    assert len(records) == len(blocks)
    named = 0
    for record, block in zip(records, blocks, strict=True):
        times = re.search(r"^TC (\d+)", block, re.MULTILINE)
        assert record.cited_by == (int(times[1]) if times else None)
        field = re.search(r"^C1 (.*(?:\n   .*)*)", block, re.MULTILINE)
        lines = field[1].split("\n") if field else []
        given = {re.sub(r"\[.*?\]", "", line).strip(" .") for line in lines}
        found = {one.raw for author in record.authors for one in author.affiliations}
        found |= {one.raw for one in record.affiliations}
        if lines:
            assert found == given
        named += sum(line.strip().startswith("[") for line in lines)
    assert named > 100
    placed = sum(bool(author.affiliations) for record in records for author in record.authors)
    assert placed >= 0.95 * sum(len(record.authors) for record in records)


def test_real_openalex_file() -> None:
    path = _sample("openalex/openalex_work_W2741809807.json")
    (work,) = json.loads(path.read_text(encoding="utf-8"))["results"]
    (record,) = read(path)
    assert record.cited_by == work["cited_by_count"]
    given = [
        [(one["display_name"], one["country_code"], one["ror"].rsplit("/")[-1]) for one in places]
        for places in (authorship["institutions"] for authorship in work["authorships"])
    ]
    found = [
        [(one.institution, one.country, one.ror) for one in author.affiliations]
        for author in record.authors
    ]
    assert found == given


def test_real_medline_file() -> None:
    path = _sample("medline/nbib_pubmed-balloongui-set.nbib")
    records = list(read(path))
    text = path.read_text(encoding="utf-8")
    # an author of a paper with any affiliation has one where an AD line follows the name
    follows = 0
    for block in re.split(r"\n(?=PMID- )", text):
        people = re.split(r"^FAU - ", block, flags=re.MULTILINE)[1:]
        follows += sum(re.search(r"^AD  - ", one, re.MULTILINE) is not None for one in people)
    placed = sum(bool(author.affiliations) for record in records for author in record.authors)
    assert placed == follows


@pytest.mark.parametrize(
    "record",
    [
        {**OPENALEX, "authorships": [{"author": None}, {"author": {"display_name": " "}}]},
        {**CROSSREF, "DOI": "10.1/1", "author": [{}, {"family": ""}], "reference-count": 1},
        {**S2, "authors": [{"name": ""}, {"authorId": "7"}]},
        {"title": "First paper", "authors": ["Kar Wai Lim", "", None, {"id": 3}]},
    ],
)
def test_authors_without_a_name_are_told_once_a_file(record: dict) -> None:
    reading = read(io.BytesIO("\n".join([json.dumps(record)] * 3).encode()))
    records = list(reading)
    assert [len(one.authors) for one in records] == [len(records[0].authors)] * 3
    told = [problem for problem in reading.problems if problem.field == "authors"]
    assert len(told) == 1
    assert "without a name" in str(told[0])
    (counts,) = reading.counts.values()
    assert counts.nameless_authors >= 3


def test_pubmed_xml_of_a_real_file_holds_what_its_medline_does() -> None:
    """The real MEDLINE file, written as PubMed XML by these few lines, gives the same people."""
    path = _sample("medline/nbib_pubmed-balloongui-set.nbib")
    blocks = path.read_text("utf-8").replace("\r\n", "\n").strip().split("\n\n")
    articles = [_as_xml(_unfolded(block)) for block in blocks]
    text = f"<?xml version='1.0'?><PubmedArticleSet>{''.join(articles)}</PubmedArticleSet>"
    expected, found = list(read(path)), list(read(io.BytesIO(text.encode())))
    assert len(found) == len(expected) == 75
    for one, other in zip(found, expected, strict=True):
        for name in ("id", "title", "authors", "affiliations", "document_type", "funders"):
            assert getattr(one, name) == getattr(other, name), (one.id, name)


def _unfolded(block: str) -> list[tuple[str, str]]:
    lines = re.sub(r"\n {6}", " ", block).split("\n")
    return [(line[:4].strip(), line[6:]) for line in lines]


def _as_xml(fields: list[tuple[str, str]]) -> str:
    def element(tag: str, value: str, more: str = "") -> str:
        return f"<{tag}{more}>{html.escape(value)}</{tag}>"

    people: list[str] = []
    for tag, value in fields:
        if tag == "FAU":
            family, _, given = value.partition(", ")
            people.append(element("LastName", family) + element("ForeName", given) * bool(given))
        elif tag == "AUID":
            people[-1] += element("Identifier", value, ' Source="ORCID"')
        elif tag == "AD":
            people[-1] += f"<AffiliationInfo>{element('Affiliation', value)}</AffiliationInfo>"
        elif tag == "CN":
            people.append(element("CollectiveName", value))

    def every(tag: str, name: str) -> str:
        return "".join(element(name, value) for own, value in fields if own == tag)

    grants = "".join(
        f"<Grant>{element('Agency', value.split('/')[-2])}</Grant>"
        for tag, value in fields
        if tag == "GR"
    )
    authors = "".join(f"<Author>{one}</Author>" for one in people)
    return (
        f"<PubmedArticle><MedlineCitation>{every('PMID', 'PMID')}<Article>"
        f"{every('TI', 'ArticleTitle')}<AuthorList>{authors}</AuthorList><GrantList>{grants}"
        f"</GrantList><PublicationTypeList>{every('PT', 'PublicationType')}</PublicationTypeList>"
        "</Article></MedlineCitation></PubmedArticle>"
    )
