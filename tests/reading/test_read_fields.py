"""The fields of each format's records, and what each format is known to get wrong."""

from __future__ import annotations

import json

import pytest
from reader_excerpts import FILES, GENERIC_ROWS, OPENALEX_WORKS, S2_PAPERS, WOS_TAB, json_lines
from reader_helpers import read_bytes

from citeweave.reading import Author


def records_of(form):
    records, reading = read_bytes(FILES[form][1])
    assert reading.problems == []
    return records


def names(record):
    return [author.name for author in record.authors]


@pytest.mark.parametrize(
    "form",
    [
        "bibtex",
        "ris",
        "wos",
        "wos-tab",
        "medline",
        "lens",
        "openalex",
        "openalex-csv",
        "semanticscholar",
        "arxiv",
        "scopus",
    ],
)
def test_what_all_formats_share(form):
    first = records_of(form)[0]
    assert first.doi == "10.1234/abc.1"
    assert first.year == 2016
    assert first.abstract is not None
    assert "\n" not in first.abstract
    assert len(first.authors) >= 2
    assert first.authors[0].family == "Lim"


def test_bibtex():
    first, second, third = records_of("bibtex")
    assert first.id == "lim2016"
    assert first.title == "Bayesian Models of Études & Citations"
    assert first.venue == "Journal of Made-up Learning (Series A)"
    assert first.abstract == "We model text, and citations, with 10% of the effort."
    assert first.keywords == ("topic models", "citations")
    assert names(first) == ["Kar Wai Lim", "The Topic and Model Group", "Kurt Gödel"]
    assert first.authors[1].family is None
    assert first.source.position == 6
    assert second.title == 'A title with "quotes" inside'
    assert second.authors[1] == Author("Swapnil van der Mishra", "Swapnil", "van der Mishra")
    assert [(r.first_author, r.title, r.year) for r in second.references] == [
        ("Blei, D.M.", "Latent things", 2003),
        ("Teh, Y.W.", "Hierarchical things; and more", 2006),
    ]
    assert (third.id, third.title, third.year, third.language) == (
        "third",
        "Third paper",
        1999,
        "English",
    )


def test_bibtex_of_web_of_science():
    entry = r"""@article{ WOS:1,
Author = {Lim, Kar Wai and Buntine, Wray},
Title = {{A title over
   two lines}},
Journal = {{MADE UP}}, Year = {{2016}},
DOI = {{10.1234/a\_b}},
Unique-ID = {{WOS:000001}},
ORCID-Numbers = {{Buntine, Wray/0000-0002-1825-0097}},
Cited-References = {{Blei DM, 2003, J MACH LEARN RES, V3, P993.
   Teh YW, 2006, J AM STAT ASSOC, V101, P1566, DOI 10.1198/016214506000000302.}},
}"""
    (record,), _ = read_bytes(entry)
    assert (record.id, record.title) == ("WOS:000001", "A title over two lines")
    assert record.doi == "10.1234/a_b"
    assert [r.year for r in record.references] == [2003, 2006]
    assert record.references[1].doi == "10.1198/016214506000000302"
    assert [author.orcid for author in record.authors] == [None, "0000-0002-1825-0097"]


@pytest.mark.parametrize(
    "broken",
    [
        "@article{bad, title = {No {closing brace}, year = {2000},",
        '@article{bad, title = "No closing quotation mark, year = 2000,',
        "@article{bad",
        "@article{",
        "@article{bad, title = {x}} }}}",
        "@string{unclosed = {",
        "% comment } } {{{",
    ],
)
def test_bibtex_with_unbalanced_braces_keeps_the_others(broken):
    text = f"@book{{one, title={{One}}}}\n{broken}\n@book{{two, title={{Two}}}}\n"
    records, _ = read_bytes(text)
    assert {"one", "two"} <= {record.id for record in records}


def test_bibtex_broken_entry_keeps_its_good_fields():
    text = "@article{bad,\n title = {An {open brace},\n year = {2001},\n author = {Du, Lan}\n}\n"
    (record,), reading = read_bytes(text)
    assert (record.title, record.year, names(record)) == ("An open brace", 2001, ["Lan Du"])
    assert reading.problems[0].line == 1


def test_ris():
    first, second, third = records_of("ris")
    assert first.id == "r1"
    assert first.abstract == "An abstract that goes on over a second line."
    assert first.keywords == ("topic models", "citations")
    assert first.venue == "Journal of Made-up Learning"
    assert (second.title, second.abstract, second.year) == ("Second paper", "Given under N2.", 2011)
    assert names(second) == ["Jürgen Müller"]
    assert [r.title for r in second.references] == ["Latent things", "Others"]
    assert third.references[0].doi == "10.1234/abc.1"


def test_ris_without_end_and_cut_off():
    text = "TY  - JOUR\nTI  - One\nTY  - JOUR\nTI  - Two\nER  - \n1.\nTY  - JOUR\nTI  - Three\n"
    records, reading = read_bytes(text)
    assert [record.title for record in records] == ["One", "Two", "Three"]
    assert [(p.line, p.field) for p in reading.problems] == [(1, "ER"), (7, "ER")]


def test_wos_plain():
    first, second, third = records_of("wos")
    assert first.id == "WOS:000000000000001"
    assert first.title == "Bayesian models of text and citations"
    assert first.abstract == "The abstract is wrapped over two lines."
    assert first.keywords == ("topic models", "citations")
    assert first.category == "Computer Science, Artificial Intelligence"
    assert names(first) == ["Kar Wai Lim", "Wray Buntine"]
    assert [author.orcid for author in first.authors] == [None, "0000-0002-1825-0097"]
    assert [(r.first_author, r.year, r.doi) for r in first.references] == [
        ("Blei DM", 2003, "10.1162/jmlr.2003.3.4-5.993"),
        (None, 2010, None),
        ("Teh YW", 2006, None),
    ]
    assert (second.year, third.authors) == (2020, ())


def test_wos_table_with_quotation_marks_and_long_names():
    first = records_of("wos-tab")[0]
    assert first.title == 'First "quoted paper'
    assert names(first) == ["Kar Wai Lim", "Wray Buntine"]
    assert [r.year for r in first.references] == [2003, 2006]
    header, *rows = WOS_TAB.split("\n")
    long_names = {"AU": "Authors", "AF": "Author Full Names", "TI": "Article Title"}
    long_names |= {"AB": "Abstract", "CR": "Cited References", "PY": "Publication Year"}
    long_names |= {"UT": "UT (Unique WOS ID)", "DI": "DOI"}
    header = "\t".join(long_names.get(name, name) for name in header.split("\t"))
    records, _ = read_bytes("\n".join([header, *rows]))
    assert (records[0].doi, records[0].id, len(records[0].references)) == (first.doi, "WOS:1", 2)


def test_medline():
    first, second, third = records_of("medline")
    assert first.id == "10000001"
    assert first.title == "Guided catheters in a title that goes on over the end of its line."
    assert first.abstract == "BACKGROUND: an abstract of two lines."
    assert [a.orcid for a in first.authors] == ["0000-0002-1825-0097", None]
    assert first.venue == "Journal of made-up medicine"
    assert first.language == "eng"
    assert names(second) == ["CC Chen", "The Test Group"]
    assert (second.doi, second.keywords) == ("10.1234/abc.2", ("Humans",))
    assert (third.year, third.language, third.abstract) == (1999, "fre", None)


def test_scopus():
    first, second, third = records_of("scopus")
    assert first.id == "2-s2.0-1"
    assert first.authors[0] == Author("K.W. Lim", "K.W.", "Lim", "111")
    assert first.keywords == ("topics", "cites")
    assert [(r.first_author, r.title, r.year) for r in first.references] == [
        ("Blei, D.M.", "Latent things", 2003),
        ("Teh, Y.W.", "Others", 2006),
    ]
    assert (second.authors, second.abstract, second.keywords) == ((), None, ("A", "B"))
    assert [a.family for a in third.authors] == ["Pan", "Yu"]
    assert third.title == 'Third "paper"'


def test_scopus_of_today_has_full_names():
    text = (
        'Authors,"Author full names","Author(s) ID",Title,Year,Source title,References,EID\n'
        '"Lim, K.W.; Buntine, W.","Lim, Kar Wai (111); Buntine, Wray (222)","111; 222",T,2016,J,'
        '"Blei D.M., Ng A.Y., Latent, of things, Journal of X, 3, pp. 9-10, (2003)",2-s2.0-1\n'
    )
    (record,), _ = read_bytes(text)
    assert [(a.name, a.id) for a in record.authors] == [
        ("Kar Wai Lim", "111"),
        ("Wray Buntine", "222"),
    ]
    (reference,) = record.references
    assert (reference.first_author, reference.title) == ("Blei D.M.", "Latent, of things")


def test_scopus_rows_with_one_column_more_than_the_header():
    header = "Authors,Title,Year,Source title,Funding Text 1,References,EID\n"
    rows = 'A B.,"One",2001,J,,,2-s2.0-1\n'
    rows += 'A B.,"Two\nlines",2002,J,,,"Du, L., Deep (1999) J",2-s2.0-2\n'
    records, reading = read_bytes(header + rows)
    assert [record.id for record in records] == ["2-s2.0-1", "2-s2.0-2"]
    assert records[1].references[0].title == "Deep"
    assert reading.problems[0].line == 3


def test_lens_ieee_and_openalex_tables():
    lens = records_of("lens")
    assert [r.id for r in lens[0].references] == ["000-2", "000-9"]
    assert (lens[0].category, lens[2].year) == ("Statistics", 1999)
    ieee = records_of("ieee")
    assert (ieee[0].id, ieee[0].doi, ieee[1].keywords) == (
        "6634083",
        "10.1109/t.1",
        ("Terms", "More"),
    )
    assert ieee[1].authors[0].family == "Nominé"
    table = records_of("openalex-csv")
    assert [a.id for a in table[0].authors] == ["A1", "A2"]
    assert [a.orcid for a in table[0].authors] == [None, "0000-0002-1825-0097"]
    assert [r.id for r in table[0].references] == ["W2", "W9"]


PAGES = {
    "lines": json_lines(OPENALEX_WORKS),
    "list": json.dumps(OPENALEX_WORKS).encode(),
    "indented list": json.dumps(OPENALEX_WORKS, indent=1).encode(),
    "page": json.dumps({"meta": {"count": 3}, "results": OPENALEX_WORKS, "group_by": []}).encode(),
    "indented page": json.dumps({"results": OPENALEX_WORKS}, indent=2).encode(),
    "pages on lines": b"\n".join(json.dumps({"results": [w]}).encode() for w in OPENALEX_WORKS),
    "one after another": b"\n".join(json.dumps(w, indent=1).encode() for w in OPENALEX_WORKS),
}


@pytest.mark.parametrize("shape", PAGES)
def test_openalex_in_every_shape(shape):
    records, reading = read_bytes(PAGES[shape])
    assert reading.problems == []
    first, second, third = records
    assert (first.id, first.abstract) == ("W1", "We model text We do")
    assert first.authors[0] == Author("Kar Wai Lim", "Kar Wai", "Lim", "A1", "0000-0002-1825-0097")
    assert [r.id for r in first.references] == ["W2", "W9"]
    assert (first.category, first.venue, first.keywords) == (
        "Computer Science",
        "J Made Up",
        ("Topic model",),
    )
    assert (second.title, second.category, second.abstract) == ("Second paper", "Physics", None)
    assert third.year == 1999


def test_openalex_index_with_gaps_or_nonsense():
    works = [dict(OPENALEX_WORKS[0], abstract_inverted_index=index) for index in (
        {"b": [7], "a": [2]}, {"a": ["x"]}, {"a": 5}, {"a": [10**12]}, [],
    )]  # fmt: skip
    records, reading = read_bytes(json_lines(works))
    assert [record.abstract for record in records] == ["a b", None, None, "a", None]
    assert [problem.line for problem in reading.problems] == [2, 3]


def test_semantic_scholar_dialects():
    first, second, _ = records_of("semanticscholar")
    assert names(first) == ["Kar Wai Lim", "Wray Buntine Jr"]
    assert [r.id for r in first.references] == ["12", "19"]
    assert (first.venue, first.category, second.year) == ("J Made Up", "Computer Science", None)
    api = {
        "paperId": "p1",
        "externalIds": {"DOI": "10.1/none", "CorpusId": 5},
        "title": "From the API",
        "authors": [{"authorId": "77", "name": "Wray Buntine"}],
        "journal": {"name": "J"},
        "fieldsOfStudy": ["Physics"],
        "references": [
            {"paperId": "p2", "title": "Cited", "year": 2001, "authors": [{"name": "L Du"}]}
        ],
    }
    full = {
        "paper_id": "f1",
        "metadata": {"title": "Full text", "authors": [{"first": "L", "last": "Du"}]},
        "abstract": [{"text": "Part one."}, {"text": "Part two."}],
        "bib_entries": {"b0": {"title": "Cited", "year": 2003, "authors": [],
                               "other_ids": {"DOI": ["10.1000/X"]}}},
    }  # fmt: skip
    records, reading = read_bytes(json_lines([api, full, S2_PAPERS[0]]))
    assert reading.problems == []
    assert records[0].authors[0].id == "77"
    assert records[0].references[0][:5] == ("p2", None, "Cited", 2001, "L Du")
    assert records[1].abstract == "Part one. Part two."
    assert records[1].references[0].doi == "10.1000/x"


def test_arxiv():
    first, second, _ = records_of("arxiv")
    assert first.title == "First paper: on Gödel"
    assert (first.category, first.year) == ("cs.LG", 2016)
    assert names(first) == ["Kar Wai Lim", "Wray Buntine Jr"]
    assert names(second) == ["C. Chen", "L. Du"]
    assert (second.id, second.year) == ("hep-th/9901001", 1999)


def test_generic_tables_and_lines():
    first = records_of("jsonl")[0]
    assert (first.id, first.category, first.keywords) == ("g1", "cs", ("topics", "cites"))
    assert [(r.id, r.doi) for r in first.references] == [
        ("g2", None),
        ("10.1234/other", "10.1234/other"),
    ]
    first, second, _third = records_of("csv")
    assert (first.id, first.abstract) == ("g1", 'An "abstract" of two lines')
    assert names(first) == ["Kar Wai Lim", "Wray Buntine"]
    assert (first.keywords, first.venue, second.authors) == (("a", "b"), "J", ())
    parquet = records_of("parquet")
    assert [names(record) for record in parquet] == [["Kar Wai Lim", "Wray Buntine"], [], ["L. Du"]]
    assert [record.source.position for record in parquet] == [1, 2, 3]
    assert [record.year for record in parquet] == [2016, None, 1999]


def test_column_map():
    text = "Nr,Überschrift,Wer,Was\n1,Erstes,A. Eins; B. Zwei,Text\n"
    records, reading = read_bytes(text)
    assert records == []
    assert "columns=" in reading.problems[0].message
    columns = {"id": "nr", "title": "Überschrift", "authors": "wer", "abstract": "Was"}
    (record,), reading = read_bytes(text, columns=columns)
    assert (record.id, record.title, record.abstract, len(record.authors)) == (
        "1",
        "Erstes",
        "Text",
        2,
    )
    _, reading = read_bytes(text, columns={"title": "Uberschrift"})
    assert "Did you mean 'überschrift'" in reading.problems[0].message
    item = {
        "Info": {"Name": "Deep title"},
        "people": [{"given": "L", "family": "Du", "orcid": "0000-0002-1825-0097"}],
    }
    (record,), _ = read_bytes(json.dumps(item), columns={"title": "info.name", "authors": "people"})
    assert (record.title, record.authors[0].orcid) == ("Deep title", "0000-0002-1825-0097")


def test_lists_written_as_text_in_cells():
    text = (
        "id,title,authors,keywords,references\n"
        '1,T,"[\'Lan Du\', ""Pat O\'Neil""]","[""a"", ""b""]","[12, 13]"\n'
        '2,U,"Du, Lan","x; y","10.1000/a; Blei D. (2003) Latent things"\n'
    )
    one, two = read_bytes(text)[0]
    assert names(one) == ["Lan Du", "Pat O'Neil"]
    assert (one.keywords, [r.id for r in one.references]) == (("a", "b"), ["12", "13"])
    assert names(two) == ["Lan Du"]
    assert [(r.doi, r.year) for r in two.references] == [("10.1000/a", None), (None, 2003)]


def test_wrong_types_in_json_lose_the_field_or_the_record_never_the_file():
    odd = [1, "x", None, {"a": {}}, [[]], {"name": 5}, True, 1e400, [None, 7], {"display_name": []}]
    for template in (OPENALEX_WORKS[0], S2_PAPERS[0], GENERIC_ROWS[0]):
        for field in template:
            if field in ("id", "paper_id", "title"):
                continue
            items = [template, *[dict(template, **{field: value}) for value in odd], template]
            data = "\n".join(json.dumps(item) for item in items)
            records, reading = read_bytes(data)
            assert len(records) + reading.records_skipped == len(items)
            assert records[0].title == records[-1].title == template["title"]


def test_citeseerx():
    first, second, third = records_of("citeseerx")
    assert (first.id, first.keywords, names(first)) == (
        "1",
        ("topics", "cites"),
        ["Kar Wai Lim", "Wray Buntine"],
    )
    assert [r.id for r in first.references] == ["2", "99"]
    assert (second.abstract, second.references, third.abstract) == ("Tabs inside", (), None)


WOS_IDENTIFIERS = b"""FN Clarivate Analytics Web of Science
VR 1.0
PT J
AU Kaiser, R
   Li, W
   Li, W
AF Kaiser, R
   Li, Wei
   Li, Wen
TI Light in cold gases
RI kaiser, robin/J-3641-2014; Li, Wei/B-9803-2009; Li, W/C-1111-2011
OI Li, Wen/0000-0002-1825-0097
UT WOS:1
ER

EF
"""


def test_identifiers_of_web_of_science_go_to_whom_they_name():
    (record,) = read_bytes(WOS_IDENTIFIERS)[0]
    assert [author.id for author in record.authors] == ["J-3641-2014", "B-9803-2009", None]
    assert [author.orcid for author in record.authors] == [None, None, "0000-0002-1825-0097"]
    entry = (
        b"@article{WOS:1, title={Light}, unique-id={WOS:1}, author={Kaiser, R. and Li, Wei},\n"
        b"ResearcherID-Numbers={Kaiser, Robin/J-3641-2014\n   Li, Wei/B-9803-2009},\n"
        b"ORCID-Numbers={Li, Wei/0000-0002-1825-0097}}"
    )
    (record,) = read_bytes(entry)[0]
    assert [author.id for author in record.authors] == ["J-3641-2014", "B-9803-2009"]
    assert record.authors[1].orcid == "0000-0002-1825-0097"
