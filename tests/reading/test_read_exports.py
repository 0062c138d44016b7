"""EndNote, PubMed XML, Crossref and ProQuest: every field of the excerpts, and other layouts."""

from __future__ import annotations

import json
import re

import pytest
from reader_excerpts import FILES
from reader_exports import CROSSREF_WORKS, ENDNOTE_XML, PROQUEST, PUBMED_XML
from reader_helpers import read_bytes

from citeweave.reading import Affiliation, Author, Reference, read

LIM_AT_ANU = Affiliation(raw="ANU, Canberra, Australia")
MONASH = Affiliation(raw="Monash, Clayton, Australia")


def fields(form):
    records, reading = read_bytes(FILES[form][1])
    assert reading.problems == []
    return records


def test_pubmed_xml_article():
    first = fields("pubmed-xml")[0]
    assert (first.id, first.doi, first.year, first.language) == (
        *("10000001", "10.1234/abc.1"),
        *(2016, "eng"),
    )
    assert first.title == "Models of CO2 & text."
    assert first.abstract == "BACKGROUND: It rises. Not named. RESULTS: It fell, p < 0.05."
    assert first.venue == "Journal of made-up medicine"
    assert first.keywords == ("topic models", "citations")
    assert first.document_type == "Review"
    assert first.funders == ("NIBIB NIH HHS", "Wellcome Trust")
    assert (
        first.source.position == PUBMED_XML[: PUBMED_XML.index("<PubmedArticle>")].count("\n") + 1
    )
    lim, buntine, group = first.authors
    assert lim.orcid == "0000-0002-1825-0097"
    assert lim.affiliations == (
        LIM_AT_ANU._replace(ror="019wvm592"),
        Affiliation(raw="NICTA, Sydney, Australia"),
        Affiliation(raw="Data61, Canberra, Australia"),
    )
    assert (buntine.name, buntine.family) == ("Wray Buntine Jr", "Buntine Jr")
    assert group == Author("The Test Group")
    assert first.references == (
        Reference(id="10000002", year=2011, raw="Chen C. Second paper. J Made Up. 2011;1:2."),
        Reference(doi="10.1234/xyz", year=2003, raw="Blei D. Topics. (2003) doi: 10.1234/xyz."),
        Reference(doi="10.1234/abc.3"),
    )


def test_pubmed_xml_sparse_article_and_book():
    _, second, third = fields("pubmed-xml")
    assert (second.title, second.year, second.venue) == ("[Deuxième article].", 2011, "J Made Up")
    assert (second.keywords, second.doi, second.references) == (("Humans",), None, ())
    assert (second.authors[0].family, second.authors[0].given) == ("Chen", "CC")
    assert (third.id, third.title, third.venue, third.year) == (
        *("10000003", "Third paper"),
        *("StatPearls of Tests", 1999),
    )
    assert [author.name for author in third.authors] == ["Lan Du"]
    assert (third.abstract, third.document_type) == ("A chapter.", "Study Guide")


def test_pubmed_xml_and_medline_give_the_same_paper():
    """The two exports of one record differ in what they hold, not in how it reads."""
    medline = """\
PMID- 5
TI  - A title.
FAU - de la Cruz, Maria
AU  - de la Cruz M
AUID- ORCID: 0000-0002-1825-0097
AD  - ANU, Canberra, Australia. Electronic address: m@anu.edu.au.
PT  - Journal Article
GR  - R01/NS/NINDS NIH HHS/United States
DP  - 2016 May
JT  - J
LA  - eng
"""
    xml = """<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>5</PMID><Article><Journal>
<JournalIssue><PubDate><Year>2016</Year></PubDate></JournalIssue><Title>J</Title></Journal>
<ArticleTitle>A title.</ArticleTitle><AuthorList><Author><LastName>de la Cruz</LastName>
<ForeName>Maria</ForeName><Identifier Source="ORCID">0000000218250097</Identifier><AffiliationInfo>
<Affiliation>ANU, Canberra, Australia. Electronic address: m@anu.edu.au.</Affiliation>
</AffiliationInfo></Author></AuthorList><Language>eng</Language><GrantList><Grant>
<Agency>NINDS NIH HHS</Agency></Grant></GrantList><PublicationTypeList>
<PublicationType>Journal Article</PublicationType></PublicationTypeList></Article>
</MedlineCitation></PubmedArticle></PubmedArticleSet>"""
    (one,), _ = read_bytes(medline)
    (other,), _ = read_bytes(xml)
    for name in ("id", "title", "authors", "year", "venue", "language", "document_type", "funders"):
        assert getattr(one, name) == getattr(other, name), name


def test_endnote_tagged():
    first, second, third = fields("endnote")
    assert (first.id, first.doi, first.year) == ("26999999", "10.1234/abc.1", 2016)
    assert first.abstract == "An abstract that goes on over a second line."
    assert first.keywords == ("topic models", "citations")
    assert (first.venue, first.language) == ("Journal of Made-up Learning", "English")
    assert first.document_type == "journal article"
    assert [(a.given, a.family) for a in first.authors] == [
        ("Kar Wai", "Lim"),
        ("Wray", "Buntine"),
        (None, None),
    ]
    assert first.authors[2].name == "The Topic Group"
    assert first.affiliations == (
        LIM_AT_ANU,
        Affiliation(raw="Monash University, Clayton, Australia"),
    )
    assert (second.doi, second.venue) == ("10.1234/abc.2", "Proceedings of Tests")
    assert [a.family for a in second.authors] == ["Müller", "Gödel"]
    assert third.authors[0].affiliations == (LIM_AT_ANU,)
    assert third.document_type == "PhD thesis"


def test_endnote_without_types_is_parted_by_empty_lines():
    """The format's elder, of the program refer: no %0, an empty line between records."""
    text = "%A Kar Wai Lim\n%T First paper\n%D 2016\n\n%A Wray Buntine\n%T Second\n\n%T Third\n"
    records, reading = read_bytes(text)
    assert [record.title for record in records] == ["First paper", "Second", "Third"]
    assert reading.counts["<open file>"].format == "endnote"


def test_endnote_abstract_keeps_its_empty_lines():
    records, _ = read_bytes("%0 Generic\n%T One\n%X First part.\n\nSecond part.\n\n%D 2001\n")
    assert [(r.abstract, r.year) for r in records] == [("First part. Second part.", 2001)]


def test_endnote_xml():
    first, second, third = fields("endnote-xml")
    assert (first.id, first.doi, first.year) == ("26999999", "10.1234/abc.1", 2016)
    assert first.title == "Bayesian models of text"
    assert first.abstract == "An abstract of R&D."
    assert first.keywords == ("topic models", "citations")
    assert (first.venue, first.language) == ("Journal of Made-up Learning", "eng")
    assert [author.family for author in first.authors] == ["Lim", "Buntine"]
    assert first.affiliations == (LIM_AT_ANU, MONASH)
    assert first.document_type == "journal article"
    assert (second.title, second.year, second.doi) == ("Second & paper", 2011, "10.1234/abc.2")
    assert (second.authors[0].name, second.venue) == ("Jürgen Müller", "Proceedings of Tests")
    assert (third.title, third.document_type) == ("Third paper", "PhD thesis")


def test_crossref_fields():
    first, second, third = fields("crossref")
    assert (first.id, first.doi) == ("10.1234/abc.1", "10.1234/abc.1")
    assert first.title == "Bayesian models of CO2: a study"
    assert first.abstract == "Aim Of H2O, p < 0.05."
    assert (first.year, first.venue, first.cited_by) == (2016, "Journal of Made-up Learning", 21)
    assert (first.document_type, first.language) == ("journal-article", "en")
    assert first.funders == ("Australian Research Council",)
    assert first.keywords == ("Software", "Statistics")
    lim, group, buntine = first.authors
    assert lim.orcid == "0000-0002-1825-0097"
    anu, nicta = lim.affiliations
    assert (anu.institution, anu.ror) == ("Australian National University", "019wvm592")
    assert nicta == Affiliation("NICTA", raw="NICTA, Sydney, Australia")
    assert group == Author("The Test Group")
    assert (buntine.given, buntine.family) == ("Wray", "Buntine Jr")
    assert first.references == (
        Reference(doi="10.1234/abc.2"),
        Reference(title="Latent things", year=2003, first_author="Blei"),
        Reference(doi="10.1234/xyz", year=2006, raw="Teh Y. Processes (2006). doi:10.1234/xyz"),
    )
    assert (second.year, second.venue, second.abstract, second.cited_by) == (
        *(2011, "Conference of Tests"),
        *("Second paper", 0),
    )
    assert (third.document_type, third.authors[0].name) == ("dissertation", "Lan Du")


def answer(kind, message):
    return {"status": "ok", "message-type": kind, "message-version": "1.0.0", "message": message}


PAGE = {"facets": {}, "total-results": 3, "items": CROSSREF_WORKS, "items-per-page": 20}
LAYOUTS = {
    "page": answer("work-list", PAGE),
    "file of the public data": {"items": CROSSREF_WORKS},
    "list": CROSSREF_WORKS,
}


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("layout", sorted(LAYOUTS))
def test_crossref_layouts(layout, indent):
    records, reading = read_bytes(json.dumps(LAYOUTS[layout], indent=indent))
    expected = fields("crossref")
    assert [c.format for c in reading.counts.values()] == ["crossref"]
    assert [(r.id, r.authors, r.references) for r in records] == [
        (r.id, r.authors, r.references) for r in expected
    ]


@pytest.mark.parametrize("indent", [None, 1])
def test_crossref_single_answer(indent):
    records, reading = read_bytes(json.dumps(answer("work", CROSSREF_WORKS[0]), indent=indent))
    assert [(r.id, r.cited_by) for r in records] == [("10.1234/abc.1", 21)]
    assert reading.problems == []


def test_crossref_answers_one_a_line():
    lines = "\n".join(json.dumps(answer("work", work)) for work in CROSSREF_WORKS)
    records, _ = read_bytes(lines)
    assert [record.id for record in records] == [f"10.1234/abc.{n}" for n in (1, 2, 3)]


def test_a_page_inside_pages_is_read_without_recursion():
    data = '{"message":' * 50_000 + "{}" + "}" * 50_000
    records, reading = read_bytes(data, format="crossref")
    assert records == []
    assert reading.problem_count


def test_proquest():
    first, second, third = fields("proquest")
    assert (first.id, first.doi, first.year) == ("1789000001", "10.1234/abc.1", 2016)
    assert first.title == "Bayesian models of text"
    assert first.abstract == "An abstract in two parts. Methods: we counted."
    assert first.keywords == ("topic models", "citation networks")
    assert (first.venue, first.category) == ("Journal of Made-up Learning", "Computers")
    assert (first.language, first.document_type, first.cited_by) == (
        *("English", "Journal Article"),
        4,
    )
    assert [(a.name, a.affiliations) for a in first.authors] == [
        ("Kar Wai Lim", (LIM_AT_ANU,)),
        ("Wray Buntine", (LIM_AT_ANU, MONASH)),
    ]
    assert (
        first.source.position
        == PROQUEST[: PROQUEST.index("\nBayesian models of text\n\nAu")].count("\n") + 2
    )
    assert (second.year, second.keywords) == (2011, ("Statistics",))
    assert (third.venue, third.year) == ("Australian National University", 1999)
    assert third.document_type == "Dissertations & Theses"


def test_proquest_cut_off():
    records, reading = read_bytes(PROQUEST[: PROQUEST.index("Publication date: Jan 5")])
    assert [record.title for record in records] == ["Bayesian models of text", "Second paper"]
    assert "ends inside" in str(reading.problems[0])


@pytest.mark.parametrize("form", ["pubmed-xml", "endnote-xml"])
def test_encodings_of_xml(form):
    text = FILES[form][1].decode()
    expected = [record.title for record in fields(form)]
    for encoding in ("utf-16", "utf-8-sig"):
        records, reading = read_bytes(text.encode(encoding))
        assert [record.title for record in records] == expected
        assert reading.problems == []
    western = re.sub(r"<\?xml[^>]*>", '<?xml version="1.0" encoding="ISO-8859-1"?>', text)
    records, _ = read_bytes(western.replace("©", "é").encode("latin-1", "xmlcharrefreplace"))
    assert [record.title for record in records] == expected
    declared = re.sub(r"<\?xml[^>]*>", '<?xml version="1.0" encoding="Shift_JIS"?>', text)
    _, reading = read_bytes(declared)
    assert "shift_jis" in str(reading.problems[0])


BOMB = (
    '<?xml version="1.0"?><!DOCTYPE xml [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 20)).replace("&a0;", "&a;")
    + '<!ENTITY file SYSTEM "file:///etc/passwd">]>'
)


def test_entities_are_never_resolved():
    """Neither those that multiply nor those that ask for a file; the records are read."""
    body = ENDNOTE_XML.partition("?>")[2].replace("An abstract of", "&a19; &file; an abstract of")
    records, reading = read_bytes(BOMB + body)
    assert len(records) == 3
    assert records[0].abstract == "&a19; &file; an abstract of R&D."
    assert reading.problems == []
    inside = ENDNOTE_XML.replace("<titles>", "<!DOCTYPE x [<!ENTITY b 'c'>]><titles>", 1)
    records, reading = read_bytes(inside)
    assert len(records) == 2
    assert "not well-formed" in str(reading.problems[0])


def test_what_xml_forbids_is_mended():
    broken = ENDNOTE_XML.replace(
        "Third paper", "Third \x0b\x00paper &#0; &#xFFFF; &nbsp; &bogus; &"
    )
    records, reading = read_bytes(broken)
    assert records[2].title == "Third paper &bogus; &"
    assert reading.problems == []


def test_prefixes_need_not_be_declared():
    text = PUBMED_XML.replace(
        "Third paper", 'Third <mml:math mml:x="1"><mml:mi>p</mml:mi></mml:math>'
    )
    records, _ = read_bytes(text)
    assert records[2].title == "Third p"


def test_deep_and_long_records_of_xml(monkeypatch):
    deep = ENDNOTE_XML.replace("Third paper", "<s>" * 100_000 + "Deep" + "</s>" * 100_000)
    records, _ = read_bytes(deep)
    assert records[2].title == "Deep"
    monkeypatch.setattr("citeweave.reading.xmlrecords._MOST_TAGS", 1000)
    records, reading = read_bytes(deep)
    assert len(records) == 2
    assert "more than 1000 tags" in str(reading.problems[0])
    monkeypatch.setattr("citeweave.reading.xmlrecords._LARGEST_RECORD", 50_000)
    wide = ENDNOTE_XML.replace("</titles>", "x" * 900_000 + "</titles>", 1)
    records, reading = read_bytes(wide)
    assert [record.title for record in records] == ["Second & paper", "Third paper"]
    assert "longer than 50000 characters" in str(reading.problems[0])


def test_a_comment_that_is_not_closed_is_told():
    records, reading = read_bytes(ENDNOTE_XML.replace("</records>", "<!-- <record>"))
    assert len(records) == 3
    assert "comment" in str(reading.problems[0])


def test_the_wrong_xml_is_refused_by_name():
    records, reading = read_bytes("<?xml version='1.0'?><feed><entry/></feed>", format="pubmed-xml")
    assert records == []
    assert "<PubmedArticle>" in str(reading.problems[0])


def test_an_enw_file_with_other_content_is_told(tmp_path):
    path = tmp_path / "library.enw"
    path.write_text("TY  - JOUR\nTI  - A title\nER  - \n")
    reading = read(path)
    assert len(list(reading)) == 1
    assert ".enw" in str(reading.problems[0])
