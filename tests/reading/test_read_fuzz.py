"""Random damage: never a crash, always a report with file and line, good records kept."""

from __future__ import annotations

import gzip
import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reader_excerpts import FILES
from reader_helpers import read_bytes

from citeweave.reading import FORMATS, Record, read

FAST = settings(max_examples=60, database=None)
NAMES = [form.name for form in FORMATS]
MARKS = (b'"', b"{", b"}", b"\n", b"\r", b"\0", b"@", b"\\")
LONG = 60_000
"""Bytes of junk: reading them again at every byte would take minutes, for each of many tests."""
CONTENTS = [data for _, data in FILES.values()]


def check(data, **options):
    """Read anything; what comes out is sound and what is lost is reported."""
    records, reading = read_bytes(data, **options)
    for record in records:
        assert isinstance(record, Record)
        assert record.id
        assert record.source.position >= 1
        repr(record).encode("utf-8")
        for reference in record.references:
            assert any(reference)
    for problem in reading.problems:
        assert problem.file
        assert problem.message
        assert problem.line is None or problem.line >= 1
    assert records or reading.problem_count
    assert reading.records_read == len(records)
    return records, reading


@FAST
@given(st.binary(max_size=3000), st.none() | st.sampled_from(NAMES))
def test_random_bytes(data, form):
    check(data, format=form)


@FAST
@given(
    st.text(max_size=1500), st.sampled_from(NAMES), st.sampled_from(["utf-8", "utf-16", "utf-7"])
)
def test_random_text(text, form, encoding):
    check(text.encode(encoding, "replace"), format=form)


@FAST
@given(st.sampled_from(CONTENTS), st.data())
def test_truncated_files(content, data):
    cut = data.draw(st.integers(0, len(content)))
    check(content[:cut])
    check(content[cut:])
    packed = gzip.compress(content)
    check(packed[: data.draw(st.integers(0, len(packed) - 1))])


@FAST
@given(st.sampled_from(CONTENTS), st.data())
def test_damaged_bytes(content, data):
    damaged = bytearray(content)
    for _ in range(data.draw(st.integers(1, 8))):
        place = data.draw(st.integers(0, len(damaged) - 1))
        damaged[place : place + data.draw(st.integers(0, 3))] = data.draw(
            st.binary(max_size=4)
            | st.sampled_from([b'"', b"{", b"}", b"\n", b"\r", b"\0", b"@", b"\\"])
        )
    check(bytes(damaged))


@FAST
@given(st.sampled_from(CONTENTS), st.sampled_from(CONTENTS), st.sampled_from(NAMES))
def test_two_formats_in_one_file_and_the_wrong_one_forced(first, second, form):
    check(first + b"\n" + second)
    check(first, format=form)


@FAST
@given(st.sampled_from(sorted(FILES)), st.randoms(use_true_random=False))
def test_mixed_line_ends(form, random):
    lines = FILES[form][1].split(b"\n")
    mixed = b"".join(line + random.choice([b"\n", b"\r\n", b"\r"]) for line in lines)
    if form not in ("parquet", "excel", "tridnr"):
        records, _ = check(mixed)
        assert len(records) == 3


JUNK = st.text(st.characters(blacklist_characters="\n\r"), max_size=200)
TAGLESS = st.text(st.characters(blacklist_characters="\n\r!"), max_size=200)
"""Without the mark that begins a comment, which rightly reaches to its end."""


def bib(number):
    return f"@article{{good{number},\n  title = {{Paper {number}}},\n  year = 2000\n}}\n"


def ris(number):
    return f"TY  - JOUR\nID  - good{number}\nTI  - Paper {number}\nER  - \n"


def wos(number):
    return f"PT J\nAU Du, L\nTI Paper {number}\nUT good{number}\nER\n\n"


def medline(number):
    return f"PMID- good{number}\nTI  - Paper {number}\nDP  - 2000\n\n"


def endnote(number):
    return f"%0 Book\n%M good{number}\n%T Paper {number}\n\n"


def pubmed_xml(number):
    return (
        f"<PubmedArticle><MedlineCitation><PMID>good{number}</PMID><Article><ArticleTitle>"
        f"Paper {number}</ArticleTitle></Article></MedlineCitation></PubmedArticle>\n"
    )


def endnote_xml(number):
    return (
        f"<record><accession-num>good{number}</accession-num><titles><title>Paper {number}"
        "</title></titles></record>\n"
    )


def proquest(number):
    return (
        f"{'_' * 60}\n\nTitle: Paper {number}\n\nProQuest document ID: good{number}\n\n{'_' * 60}\n"
    )


def line(number):
    return json.dumps({"id": f"good{number}", "title": f"Paper {number}"}) + "\n"


def work(number):
    return json.dumps({"DOI": f"10.1234/good{number}", "title": [f"Paper {number}"]}) + "\n"


def row(number):
    return f'good{number},"Paper {number}","Some text",2000\n'


@pytest.mark.parametrize(
    ("form", "make", "bad", "head"),
    [
        ("bibtex", bib, st.builds("@misc{{{}\n".format, JUNK), ""),
        ("bibtex", bib, st.builds("@misc{{key, title = {{{}\n".format, JUNK), ""),
        ("ris", ris, st.builds("TY  - JOUR\n{}\n".format, JUNK), ""),
        ("wos", wos, st.builds("PT J\n{}\n".format, JUNK), "FN Clarivate\nVR 1.0\n"),
        ("medline", medline, st.builds("PMID- {}\n\n".format, JUNK), ""),
        ("endnote", endnote, st.builds("%0 Book\n{}\n".format, JUNK), ""),
        (
            "pubmed-xml",
            pubmed_xml,
            st.builds("<PubmedArticle><a>{}\n".format, TAGLESS),
            "<?xml version='1.0'?><PubmedArticleSet>",
        ),
        ("endnote-xml", endnote_xml, st.builds("<record>{}\n".format, TAGLESS), "<xml><records>"),
        ("endnote-xml", endnote_xml, st.builds("<record><{}</record>\n".format, TAGLESS), "<xml>"),
        ("proquest", proquest, st.builds("Title: {}\n".format, JUNK), "____________\n"),
        ("jsonl", line, st.builds("{{{}\n".format, JUNK), ""),
        ("crossref", work, st.builds("{{{}\n".format, JUNK), ""),
        ("csv", row, st.builds('bad,"{}\n'.format, JUNK), "id,title,abstract,year\n"),
    ],
)
def test_one_bad_record_never_loses_the_good_ones(form, make, bad, head):
    @settings(max_examples=60, database=None)
    @given(st.lists(bad, min_size=1, max_size=3), st.integers(0, 5))
    def run(bads, place):
        parts = [make(number) for number in range(6)]
        parts[place:place] = bads
        records, _ = check((head + "".join(parts)).encode("utf-8", "replace"), format=form)
        ids = [record.id.removeprefix("10.1234/") for record in records]
        assert [f"good{number}" for number in range(6)] == [i for i in ids if i.startswith("good")]

    run()


KEYS = "id title authors abstract_inverted_index authorships references year keywords".split()  # noqa: SIM905
KEYS += "author title container-title reference issued date-parts affiliation message".split()  # noqa: SIM905
KEYS += "outbound_citations paper_id metadata versions categories".split()  # noqa: SIM905
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=5), inner, max_size=5)
    ),
    max_leaves=30,
)


@FAST
@given(
    VALUES,
    st.sampled_from(["openalex", "semanticscholar", "arxiv", "jsonl", "crossref"]),
    st.sampled_from([None, 1]),
)
def test_json_of_any_shape(value, form, indent):
    data = json.dumps([value, {"id": "good", "title": "Good"}], indent=indent)
    records, _ = check(data.encode(), format=form)
    assert records[-1].title == "Good"


LONG_READ = ["bibtex", "ris", "wos", "medline", "csv", "jsonl", "citeseerx", "endnote", "proquest"]
LONG_READ += ["pubmed-xml", "endnote-xml", "crossref"]


@pytest.mark.parametrize("form", LONG_READ)
def test_long_junk_is_read_in_one_go(form):
    for junk in (
        b"x",
        b"{",
        b'"',
        b"\\",
        b"[",
        b"a,",
        b"@a{",
        b"\n",
        b"\r",
        b"; ",
        b"TY  - \n",
        b"<",
        b"<record",
        b"<record>",
        b"<PubmedArticle ",
        b"</record>",
        b"<!--",
        b"&",
        b"%0 \n",
        b"____________\n",
        b'{"message":',
    ):
        check(junk * (LONG // len(junk)), format=form)


JUNKS = [b"{", b'"', b"[", b'{"a":', b'[{"a":1,', b"@a{", b"@a{k,t={", b'@a{k,t={x}} @b{l,t="']
JUNKS += [b"\n", b"a, B., ", b"(2000)", b"@a{k,t={x}}", b'a,b,"c\n', b'{"title":"x"},']


@pytest.mark.parametrize("junk", JUNKS)
def test_long_junk_of_unknown_format(junk):
    check(junk * (LONG // len(junk)))


def test_junk_inside_the_fields_that_are_taken_apart():
    for junk in (
        "A, ",
        "A., ",
        "A, B., ",
        "; ",
        "(2000)",
        "10.1000/",
        "DOI ",
        "\\'",
        "{",
        "$",
        "a and ",
    ):
        text = junk * (LONG // len(junk))
        for data in (
            f"TY  - JOUR\nTI  - T\nAU  - {text}\nN1  - References: {text}\nCR  - {text}\nER  - \n",
            f"@a{{k, title={{T}}, author={{{text}}}, abstract={{{text}}}\n}}\n",
            f'Authors,Title,Year,Source title,References,EID\n"{text}",T,2000,J,"{text}",2-s2.0-1',
        ):
            check(data.encode())


def test_the_same_in_chunks_of_any_size():
    """Where the pieces of a stream end does not matter."""

    class Slow(io.RawIOBase):
        def __init__(self, data, size):
            super().__init__()
            self.data, self.size, self.at = data, size, 0

        def read(self, size=-1):  # noqa: ARG002
            piece = self.data[self.at : self.at + self.size]
            self.at += len(piece)
            return piece

    for _, data in FILES.values():
        expected = read_bytes(data)[0]
        for size in (1, 2, 3, 7, 1000):
            assert list(read(Slow(data, size))) == expected
