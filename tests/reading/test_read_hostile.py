"""Small files that ask for much: each is read or refused with a word, in linear time."""

import contextlib
import gzip
import io
import json
import tarfile
import time
import zipfile

import polars as pl
import pytest
from reader_helpers import read_bytes

from citeweave import read
from citeweave.errors import CorpusError


def messages(reading):
    return " ".join(str(problem) for problem in reading.problems)


def packed(data: bytes, times: int) -> bytes:
    """Pack a piece many times over without ever having it whole."""
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", compresslevel=9) as file:
        for _ in range(times):
            file.write(data)
    return buffer.getvalue()


def test_abbreviations_of_bibtex_do_not_explode():
    lines = ['@string{a0 = "0123456789"}']
    lines += [f"@string{{a{i} = a{i - 1} # a{i - 1} # a{i - 1} # a{i - 1}}}" for i in range(1, 30)]
    lines += ["@article{x, title = {Fine}, journal = a3}", "@article{y, title = a29}"]
    records, reading = read_bytes("\n".join(lines))
    assert [record.title for record in records] == ["Fine"]
    assert len(records[0].venue) == 640
    assert "abbreviations" in messages(reading)


@pytest.fixture
def small_limits(monkeypatch):
    monkeypatch.setattr("citeweave.reading.limits.FREE_BYTES", 1 << 16)
    monkeypatch.setattr("citeweave.reading.limits.MOST_EXPANSION", 20)
    monkeypatch.setattr("citeweave.reading.streams.MOST_BLANK_LINES", 1000)


@pytest.mark.usefixtures("small_limits")
def test_gzip_that_unpacks_to_a_thousand_times_its_size_is_cut():
    rows = b"id,title\n" + b"".join(b"%d,A title of some words\n" % i for i in range(1000))
    data = gzip.compress(rows) + packed(b"x" * (1 << 20), 20)
    records, reading = read_bytes(data, format="csv")
    assert len(records) == 1000
    assert "expands to more than" in messages(reading)


@pytest.mark.parametrize("piece", [b"a,", b"\n", b"1,2\n"])
@pytest.mark.usefixtures("small_limits")
def test_small_packed_tables_end_soon(piece):
    data = packed(b"id,title\n1,First\n", 1) + packed(piece * (1 << 18), 4)
    records, reading = read_bytes(data, format="csv")
    assert len(records) < 500_000
    assert "expands to more than" in messages(reading) or "empty lines" in messages(reading)


def test_tables_of_very_many_columns_are_refused():
    _, reading = read_bytes("title," + "a," * 60_000, format="csv")
    assert "more than 20000" in messages(reading)
    long = '1,"' + "Lee, B.; " * 30_000 + '"\n'
    records, _ = read_bytes("title,references\n" + long, format="csv")
    assert len(records) == 1


def test_rows_of_too_many_cells_are_passed_over():
    records, reading = read_bytes(
        "id,title,year\n1,First,2000\n" + "x," * 60_000 + "\n2,Second,2001\n"
    )
    assert [record.id for record in records] == ["1", "2"]
    assert reading.records_skipped == 1
    assert "20000 cells" in messages(reading)


def test_parquet_of_rows_without_content_is_refused():
    buffer = io.BytesIO()
    column = pl.repeat("x", 2_000_000, eager=True)
    pl.DataFrame({"id": column, "title": column}).write_parquet(buffer, compression="zstd")
    assert len(buffer.getvalue()) < 100_000
    records, reading = read_bytes(buffer.getvalue())
    assert records == []
    assert "2000000 rows" in messages(reading)


def test_a_parquet_file_on_which_polars_panics_is_refused(monkeypatch):
    buffer = io.BytesIO()
    pl.DataFrame({"id": ["1"], "title": ["One"]}).write_parquet(buffer)

    def panic(*_, **__):
        raise pl.exceptions.PanicException("called `Result::unwrap()` on an `Err` value")

    monkeypatch.setattr(pl.LazyFrame, "collect", panic)
    records, reading = read_bytes(buffer.getvalue())
    assert records == []
    assert "the Parquet file cannot be read (it is damaged)" in messages(reading)


@pytest.mark.usefixtures("small_limits")
def test_endless_empty_lines_are_not_read_to_their_end():
    data = "id,title\n1,First\n" + "\n" * 1_010 + "2,Second\n"
    records, reading = read_bytes(data)
    assert len(records) == 1
    assert "empty lines" in messages(reading)


@pytest.mark.parametrize("value", ["inf", "nan", "-1", "1e300", "x"])
def test_odd_numbers_of_words_lose_one_record(value):
    content = f"a\t1\t{value}\tT\nb\t1\t0\tT\nc\t0\t1\tT\n"
    records, reading = read_bytes(content, format="linqs")
    assert [record.id for record in records] == ["b", "c"]
    assert reading.records_skipped == 1
    read(io.BytesIO(content.encode()), format="linqs").prepare()


def test_links_in_archives_are_reported(tmp_path):
    path = tmp_path / "papers.tgz"
    with tarfile.open(path, "w:gz") as archive:
        data = b"@book{a, title={Topic models}}"
        member = tarfile.TarInfo("a.bib")
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))
        for name, kind in (("soft.bib", tarfile.SYMTYPE), ("hard.bib", tarfile.LNKTYPE)):
            link = tarfile.TarInfo(name)
            link.type, link.linkname = kind, "/etc/passwd"
            archive.addfile(link)
    reading = read(path)
    assert len(list(reading)) == 1
    assert "soft.bib" in messages(reading)
    assert "hard.bib" in messages(reading)
    assert "is a link" in messages(reading)


def test_links_in_zip_archives_are_reported(tmp_path):
    path = tmp_path / "papers.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.bib", "@book{a, title={Topic models}}")
        link = zipfile.ZipInfo("soft.bib")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    reading = read(path)
    assert len(list(reading)) == 1
    assert "is a link" in messages(reading)


@pytest.mark.usefixtures("small_limits")
def test_an_archive_that_unpacks_to_too_much_is_cut(tmp_path):
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.bib", "@book{a, title={Topic models}}")
        archive.writestr("b.csv", b"\n" * (1 << 20))
    reading = read(path)
    assert len(list(reading)) == 1
    assert "unpacks to more than" in messages(reading)


HOSTILE = {
    "spaces in a name": lambda n: "@a{k, title={x}, author={a" + " " * n + "b}}",
    "spaces in names": lambda n: f'id,title,authors\n1,x,"a{" " * n}b"\n',
    "spaces in an accent": lambda n: "@a{k, title={x \\'{" + " " * n + "}}",
    "lists never closed": lambda n: '[{"title":"x"},' * (n // 15),
    "lists in lists": lambda n: "[" * n,
    "objects in objects": lambda n: '{"title":"x","a":' * (n // 17),
    "names of fields": lambda n: "@a{k, " + "a b " * (n // 4) + "}",
    "entries never closed": lambda n: "@a{" * (n // 3),
    "open quotation marks": lambda n: "id,title\n" + '1,"x\n' * (n // 5),
    "ampersands": lambda n: f'id,title\n1,"{"&amp" * (n // 4)}"\n',
    "initials": lambda n: f'id,title,authors\n1,x,"{"A. " * (n // 3)}"\n',
    "references": lambda n: f'id,title,references\n1,x,"{"A B.; " * (n // 6)}"\n',
    "scopus references": lambda n: (
        "Title,Year,Source title,EID,References\n"
        f'x,2000,J,2-s2.0-1,"{"A B.; " * (n // 6)} T, (2000)"\n'
    ),
    "braces": lambda n: "@a{k, title={" + "{" * n + "}",
    "brackets": lambda n: f'id,title,authors\n1,x,"{"(" * n}"\n',
    "tags": lambda n: "TY  - JOUR\n" + "AU  - A, B\n" * (n // 11),
    "xml records never closed": lambda n: "<xml><ref-type><titles>" + "<record>" * (n // 8),
    "xml records in a record": lambda n: (
        "<xml><record><ref-type/><titles><title>x</title></titles>" + "<a>" * (n // 3) + "</record>"
    ),
    "xml comments": lambda n: "<PubmedArticleSet>" + "<!--" * (n // 4),
    "xml comments that end": lambda n: "<PubmedArticleSet>" + "<!---->" * (n // 7),
    "xml ampersands": lambda n: (
        "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>1</PMID><Article><ArticleTitle>x"
        + "&a" * (n // 2)
        + "</ArticleTitle></Article></MedlineCitation></PubmedArticle></PubmedArticleSet>"
    ),
    "xml tags cut off": lambda n: "<PubmedArticleSet><PubmedArticle>" + "<a " * (n // 3),
    "xml attributes": lambda n: (
        "<xml><record><ref-type/><titles "
        + "".join(f"a{i}='' " for i in range(n // 9))
        + "/></record>"
    ),
    "jats": lambda n: json.dumps(
        {"DOI": "10.1/x", "title": ["x"], "abstract": "<jats:p " * (n // 8), "funder": []}
        | {"reference-count": 1, "is-referenced-by-count": 1}
    ),
    "proquest numbers": lambda n: (
        "__________\nTitle: x\nProQuest document ID: 1\nAuthor: " + "A 1 ; " * (n // 6) + "1 B"
    ),
    "proquest affiliations": lambda n: (
        "__________\nTitle: x\nProQuest document ID: 1\nAuthor: A 1 1 B" + " 2 C" * (n // 4)
    ),
    "endnote names": lambda n: "%0 Book\n%T x\n%A " + "A and " * (n // 6),
    "endnote records": lambda n: "%0 Book\n" * (n // 8),
    "deep values": lambda n: json.dumps({"title": "x"})[:-1] + ',"a":' + "[" * n,
}


@pytest.mark.parametrize("case", sorted(HOSTILE))
def test_time_grows_with_the_size_of_a_file(case):
    make = HOSTILE[case]

    def seconds(size):
        data = make(size).encode()
        start = time.process_time()
        with contextlib.suppress(CorpusError):
            read(io.BytesIO(data)).prepare()
        return time.process_time() - start

    seconds(1000)  # what is loaded once
    small, large = seconds(8_000), seconds(128_000)
    # sixteen times the size: linear is 16, quadratic 256
    assert large < max(80 * small, 2.0)
