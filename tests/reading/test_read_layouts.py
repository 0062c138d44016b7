"""Layouts that sources have changed to, and fields that once went astray."""

# ruff: noqa: E501  excerpts as exports write them

import io
import json

import pytest
from reader_helpers import read_bytes

from citeweave import read
from citeweave.preparing import Settings
from citeweave.reading.entities import decode_entities
from citeweave.reading.scopus_references import scopus_references

BLEI = (
    "Blei, David M.; Ng, Andrew Y.; Jordan, Michael I., Latent Dirichlet allocation, "
    "Journal of Machine Learning Research, 3, 4-5, pp. 993-1022, (2003)"
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        # names with semicolons between them and initials behind
        (
            (
                "Blei D.M.; Ng A.Y.; Jordan M.I., Latent Dirichlet allocation, J. Mach. Learn. Res., "
                "3, pp. 993-1022, (2003); Teh Y.W.; Jordan M.I., Hierarchical Dirichlet processes, J. Am. "
                "Stat. Assoc., 101, 476, (2006); Pitman J., Combinatorial stochastic processes, (2006)"
            ),
            [
                ("Blei D.M.", "Latent Dirichlet allocation", 2003),
                ("Teh Y.W.", "Hierarchical Dirichlet processes", 2006),
                ("Pitman J.", "Combinatorial stochastic processes", 2006),
            ],
        ),
        # full names, family name first
        (
            BLEI + "; Griffiths, Thomas L.; Steyvers, Mark, Finding scientific topics, PNAS, 101, "
            "(2004); Hofmann, Thomas, Probabilistic latent semantic indexing, SIGIR, pp. 50-57, "
            "(1999)",
            [
                ("Blei, David M.", "Latent Dirichlet allocation", 2003),
                ("Griffiths, Thomas L.", "Finding scientific topics", 2004),
                ("Hofmann, Thomas", "Probabilistic latent semantic indexing", 1999),
            ],
        ),
        # names with initials and commas
        (
            (
                "Lim, K.W.; Buntine, W., Bibliographic analysis with the citation network topic model, "
                "ACML, 39, pp. 142-158, (2014); Lim, K.W.; Buntine, W., Another title, J, 5, (2016)"
            ),
            [
                (
                    "Lim, K.W.",
                    "Bibliographic analysis with the citation network topic model",
                    2014,
                ),
                ("Lim, K.W.", "Another title", 2016),
            ],
        ),
        # the layout of 2023: commas between names, the year last
        (
            (
                "Blei D.M., Ng A.Y., Latent Dirichlet allocation, J. Mach. Learn. Res., 3, (2003); "
                "Teh Y.W., Hierarchical Dirichlet processes, J. Am. Stat. Assoc., 101, 476, (2006)"
            ),
            [
                ("Blei D.M.", "Latent Dirichlet allocation", 2003),
                ("Teh Y.W.", "Hierarchical Dirichlet processes", 2006),
            ],
        ),
        # names of one word, titles parted after their first word, no year told as such
        (
            (
                "Suharto; Sukarno; Hatta M., A title, Indonesia, 5, (2003); Dupont É.; Léger M., L'étude; "
                "deuxième partie, Revue, 7, (2015); Anonymous, (n.d.); Okri B., Trees, J, 3, (2001)"
            ),
            [
                ("Suharto", "A title", 2003),
                ("Dupont É.", "L'étude; deuxième partie", 2015),
                (None, None, None),
                ("Okri B.", "Trees", 2001),
            ],
        ),
        # a semicolon inside a title, and a reference without a year
        (
            (
                "Cook D.J.; Mulrow C.D., Systematic reviews; synthesis of best evidence, Ann. Intern. "
                "Med., 126, 5, (1997); Pitman J., Combinatorial processes, (2006); "
                "Smith J.A., Undated work, Some Press, pp. 1-20; Jones B.; Lee C., Dated work, J, 1, "
                "(2001)"
            ),
            [
                ("Cook D.J.", "Systematic reviews; synthesis of best evidence", 1997),
                ("Pitman J.", "Combinatorial processes", 2006),
                ("Smith J.A.", None, None),
                ("Jones B.", "Dated work", 2001),
            ],
        ),
        # the layout until 2022: the year after the title
        (
            (
                "Kalé, L., Krishnan, S., CHARM++ (1993) ACM SIGPLAN Not., 28, pp. 91-108; "
                "Phillips, J.C., Scalable molecular dynamics (2005) J. Comput. Chem., 26"
            ),
            [
                ("Kalé, L.", "CHARM++", 1993),
                ("Phillips, J.C.", "Scalable molecular dynamics", 2005),
            ],
        ),
        # organisations, which are no titles, and titles without an author
        (
            (
                "World Health Organization, Global tuberculosis report, (2020); OECD, Education at a glance, "
                "Paris, (2019); R Core Team, R: A Language and Environment, (2021); Deep Learning, MIT Press, "
                "(2016); Annual report, World Bank, (2014); Blei D.M., Topic models, CACM, 55, (2012)"
            ),
            [
                ("World Health Organization", "Global tuberculosis report", 2020),
                ("OECD", "Education at a glance", 2019),
                ("R Core Team", "R: A Language and Environment", 2021),
                (None, "Deep Learning", 2016),
                (None, "Annual report", 2014),
                ("Blei D.M.", "Topic models", 2012),
            ],
        ),
    ],
)
def test_references_of_scopus_in_every_layout(text, found):
    references = scopus_references(text)
    assert [(r.first_author, r.title, r.year) for r in references] == found


def test_scopus_references_of_the_present_layout_lead_to_documents():
    header = "Authors,Author full names,Title,Year,Source title,Cited by,DOI,References,EID\n"
    rows = [
        (
            '"Blei D.M.; Ng A.Y.; Jordan M.I.","Blei, David M. (1); Ng, Andrew Y. (2)",'
            'Latent Dirichlet allocation,2003,JMLR,9,,"",2-s2.0-1'
        ),
        f'"Lim K.W.","Lim, Kar Wai (3)",Citation network topic models,2016,ML,1,,"{BLEI}",2-s2.0-2',
    ]
    records = read(io.BytesIO((header + "\n".join(rows)).encode()))
    corpus, report = records.prepare(Settings(min_word_count=1))
    assert corpus.citations.tolist() == [[1, 0]]
    assert report.citations_by_fate["title"] + report.citations_by_fate["fuzzy"] == 1


WOS_BIBTEX = """
@article{WOS:000001,
Author = {Lim, Kar Wai and Buntine, Wray},
Title = {Citation networks},
Journal = {MACHINE LEARNING},
Early Access Date = {OCT 2023},
Web of Science Index = {Science Citation Index},
Cited-References = {Blei DM, 2003, J MACH LEARN RES, V3, P993.
   Teh YW, 2006, J AM STAT ASSOC, V101, P1566.
   Pitman J, 2006, LECT NOTES MATH, V1875, P1.},
Number-of-Cited-References = {3},
Unique-ID = {WOS:000001},
}
@article{WOS:000002,
Author = {Teh, Y. W.},
Title = {Second entry},
Early Access Year = 2022,
Journal = {J}
}
"""


def test_names_of_bibtex_fields_may_have_spaces():
    records, reading = read_bytes(WOS_BIBTEX)
    assert reading.problem_count == 0
    assert [len(record.references) for record in records] == [3, 0]
    assert [record.year for record in records] == [2023, 2022]
    assert records[0].references[1].first_author == "Teh YW"


def test_entities_of_inverted_indexes_and_of_tabs():
    work = {"id": "https://openalex.org/W1", "title": "T", "authorships": []}
    work["abstract_inverted_index"] = {"caf&eacute;": [0], "&lt;": [1], "bar": [2]}
    records, _ = read_bytes(json.dumps(work))
    assert records[0].abstract == "café < bar"
    row = "1\t10.1.1.1\tTabs&#9;and caf&eacute;\t[a]\t[Ann Lee]\tAn abstract\t[]\n"
    records, reading = read_bytes(row, format="citeseerx")
    assert (records[0].title, reading.problem_count) == ("Tabs and café", 0)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Daum&eacute; III, Hal", "Daumé III, Hal"),
        ("M&#252;ller &amp; S&#xF8;n", "Müller & Søn"),
        ("double &amp;amp; encoded &amp;eacute;", "double & encoded é"),
        ("R&D, AT&T; Q&A and &unknown;", "R&D, AT&T; Q&A and &unknown;"),
        ("size&region; &lt;i&gt;", "size&region; <i>"),
    ],
)
def test_entities(text, plain):
    assert decode_entities(text) == plain


NAME = "Daum&eacute; III, Hal; M&uuml;ller, J&ouml;rg"
ENTITIES = {
    "csv": f'id,title,authors,keywords\n1,Caf&eacute; &amp; bar,"{NAME}",r&ocirc;le; t&ecirc;te\n',
    "jsonl": json.dumps(
        {"id": "1", "title": "Caf&eacute; &amp; bar", "authors": NAME,
         "keywords": "r&ocirc;le; t&ecirc;te"}
    ),
    "json": json.dumps(
        [{"id": "1", "title": "Caf&eacute; &amp; bar", "authors": ["Daum&eacute; III, Hal", "M&uuml;ller, J&ouml;rg"],
          "keywords": ["r&ocirc;le", "t&ecirc;te"]}], indent=1
    ),
    "bibtex": "@article{1, title={Caf&eacute; \\& bar}, keywords={r\\&ocirc;le; t&ecirc;te},\n"
    " author={Daum{\\&}eacute; III, Hal and M\\&uuml;ller, J&ouml;rg}}",
    "ris": "TY  - JOUR\nID  - 1\nTI  - Caf&eacute; &amp; bar\nAU  - Daum&eacute; III, Hal\n"
    "AU  - M&uuml;ller, J&ouml;rg\nKW  - r&ocirc;le; t&ecirc;te\nER  - \n",
    "wos": "FN Clarivate Analytics Web of Science\nVR 1.0\nPT J\nAU Daum&eacute; III, Hal\n"
    "   M&uuml;ller, J&ouml;rg\nTI Caf&eacute; &amp; bar\n"
    "DE r&ocirc;le; t&ecirc;te\nUT 1\nER\n\nEF\n",
    "medline": "PMID- 1\nTI  - Caf&eacute; &amp; bar\nFAU - Daum&eacute; III, Hal\n"
    "FAU - M&uuml;ller, J&ouml;rg\nOT  - r&ocirc;le\nOT  - t&ecirc;te\n",
    "scopus": "Authors,Title,Year,Source title,EID,Author Keywords\n"
    f'"{NAME}",Caf&eacute; &amp; bar,2020,J,2-s2.0-1,r&ocirc;le; t&ecirc;te\n',
}  # fmt: skip


@pytest.mark.parametrize("form", sorted(ENTITIES))
def test_entities_are_decoded_before_anything_is_split(form):
    records, _ = read_bytes(ENTITIES[form], format="jsonl" if form == "json" else form)
    record = records[0]
    assert record.title == "Café & bar"
    assert [author.family for author in record.authors] == ["Daumé III", "Müller"]
    assert record.authors[1].given == "Jörg"
    assert record.keywords == ("rôle", "tête")


@pytest.mark.parametrize(
    ("issued", "year"),
    [
        ({"date-parts": [[2019, 5, 1]]}, 2019),
        ({"date-parts": [["2018"]]}, 2018),
        ({"date-parts": [[None]]}, None),
        ({"raw": "May 2017"}, 2017),
        ({"literal": "2016"}, 2016),
        ("2015-04-02", 2015),
    ],
)
def test_csl_json_has_a_year(issued, year):
    items = [
        {
            "id": "lim",
            "type": "article-journal",
            "title": "Topic models",
            "author": [{"family": "Lim", "given": "Kar Wai"}],
            "issued": issued,
            "container-title": "Machine Learning",
        }
    ]
    records, _ = read_bytes(json.dumps(items, indent=2))
    assert [(r.year, r.venue, r.authors[0].family) for r in records] == [
        (year, "Machine Learning", "Lim")
    ]


def test_crossref_works_have_year_and_references():
    work = {
        "DOI": "10.1000/a",
        "title": ["Topic models"],
        "published-print": {"date-parts": [[2019]]},
        "reference": [
            {"key": "r1", "doi-asserted-by": "crossref", "DOI": "10.1000/b"},
            {"key": "r2", "article-title": "Older", "author": "Blei", "year": "2003"},
        ],
    }
    records, _ = read_bytes(json.dumps(work))
    assert records[0].year == 2019
    first, second = records[0].references
    assert first.doi == "10.1000/b"
    assert (second.title, second.first_author, second.year) == ("Older", "Blei", 2003)


@pytest.mark.parametrize("cites", ["12", "0", "12.0"])
def test_a_number_of_citations_is_no_reference(cites):
    table = (
        f'Cites,Authors,Title,Year,Source\n{cites},"KW Lim, W Buntine, ...",Topic models,2016,ML\n'
    )
    records, _ = read_bytes(table)
    assert records[0].references == ()
    assert [author.family for author in records[0].authors] == ["Lim", "Buntine"]
    records, _ = read_bytes(json.dumps({"title": "A title", "cites": 12}))
    assert records[0].references == ()
    records, _ = read_bytes("id,title,cites\na,First,\nb,Second,a;7\n")
    assert [reference.id for reference in records[1].references] == ["a", "7"]


MEDLINE = """
PMID- 1
TI  - A trial
FAU - Shaffer, Arthur L 3rd
AU  - Shaffer AL 3rd
FAU - Smith, John Jr
AU  - Smith J Jr
MH  - Stroke/*therapy/drug therapy
MH  - *Stroke/diagnosis
MH  - Humans
MH  - Tissue Plasminogen Activator/*therapeutic use
"""


def test_suffixes_and_headings_of_medline():
    records, _ = read_bytes(MEDLINE)
    names = [(author.given, author.family, author.name) for author in records[0].authors]
    assert names == [
        ("Arthur L", "Shaffer 3rd", "Arthur L Shaffer 3rd"),
        ("John", "Smith Jr", "John Smith Jr"),
    ]
    assert records[0].keywords == ("Stroke", "Humans", "Tissue Plasminogen Activator")
    short, _ = read_bytes(
        MEDLINE.replace("FAU - Shaffer, Arthur L 3rd\n", "").replace("FAU - Smith, John Jr\n", "")
    )
    assert [(a.given, a.family) for a in short[0].authors] == [
        ("AL", "Shaffer 3rd"),
        ("J", "Smith Jr"),
    ]


def test_headings_of_pubmed_in_other_formats():
    words = ["*Stroke/drug therapy", "TCP/IP", "Aged/*psychology"]
    lines = ["TY  - JOUR", "TI  - A trial", *(f"KW  - {word}" for word in words), "ER  - "]
    records, _ = read_bytes("\n".join(lines))
    assert records[0].keywords == ("Stroke", "TCP/IP", "Aged")
