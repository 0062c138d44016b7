"""Encodings, line ends, packing, broken quotes: what users' files are like."""

from __future__ import annotations

import gzip
import io
import json
import zlib

import pytest
from reader_excerpts import CSV, FILES, RIS, json_lines
from reader_helpers import read_bytes

from citeweave.reading import read
from citeweave.reading.problems import FileContext, FileCounts, ProblemLog
from citeweave.reading.streams import ByteStream

TEXT_FORMATS = sorted(FILES.keys() - {"excel", "parquet", "tridnr"})


def stream_of(data):
    context = FileContext("f", ProblemLog(), FileCounts("f"))
    return ByteStream(io.BytesIO(data), context), context


def facts(records):
    return [(r.title, r.authors, r.abstract, r.year, r.references, r.words) for r in records]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("form", TEXT_FORMATS)
def test_unicode_encodings_make_no_difference(form, encoding):
    data = FILES[form][1]
    text = data.decode("utf-8-sig")
    records, reading = read_bytes(text.encode(encoding))
    expected, before = read_bytes(data)
    assert facts(records) == facts(expected)
    assert reading.problems == before.problems


@pytest.mark.parametrize("end", ["\r\n", "\r"])
@pytest.mark.parametrize("form", TEXT_FORMATS)
def test_line_ends_make_no_difference(form, end):
    data = FILES[form][1]
    records, reading = read_bytes(data.replace(b"\n", end.encode()))
    expected, before = read_bytes(data)
    assert facts(records) == facts(expected)
    assert reading.problems == before.problems


def test_line_numbers_with_mixed_line_ends():
    stream, _ = stream_of(b"a\r\nb\rc\n\n\x0bd\x85\xe2\x80\xa8e")
    assert list(stream.lines()) == [(1, "a"), (2, "b"), (3, "c"), (4, ""), (5, "\x0bd…\u2028e")]


def test_lines_cut_anywhere_by_chunks_are_whole(monkeypatch):
    monkeypatch.setattr("citeweave.reading.streams._CHUNK", 3)
    monkeypatch.setattr("citeweave.reading.streams.HEAD_BYTES", 4)
    data = "erste Zeile\r\nzwéite\rdritte ✓\n\nlast".encode()
    expected = ["erste Zeile", "zwéite", "dritte ✓", "", "last"]
    assert [text for _, text in stream_of(data)[0].lines()] == expected
    assert [text for _, text in stream_of(gzip.compress(data))[0].lines()] == expected
    stream, context = stream_of(data)
    assert "".join(stream.text()) == data.decode()
    assert context.log.count == 0


def test_latin_1_is_read_and_noted_once():
    text = RIS.replace("Jürgen", "Jürgen “x”")
    records, reading = read_bytes(text.encode("cp1252"))
    assert records[1].authors[0].name == "Jürgen “x” Müller"
    (problem,) = reading.problems
    assert problem.field == "encoding"
    assert problem.line == text[: text.index("Müller")].count("\n") + 1
    (counts,) = reading.counts.values()
    assert counts.recoded_lines == 1


def test_mixed_encodings_keep_what_is_utf_8():
    data = "TY  - JOUR\nTI  - Größe ".encode() + "Übung".encode("latin-1") + b"\nER  - \n"
    (record,), _ = read_bytes(data)
    assert record.title == "Größe Übung"


def test_zero_bytes_and_lone_surrogates_do_not_pass():
    data = json_lines([{"id": "1", "title": "a\0b\ud800c", "authors": ["D\udfffu"]}])
    (record,), _ = read_bytes(data)
    assert record.title == "a b c"
    record.authors[0].name.encode("utf-8")
    (record,), _ = read_bytes(b"TY  - JOUR\nTI  - Ze\0ro\nER  - \n")
    assert record.title == "Ze ro"


@pytest.mark.parametrize("cut", [0.3, 0.6, 0.95])
def test_truncated_gzip_gives_what_was_before_the_cut(cut):
    rows = [{"id": str(i), "title": f"Paper {zlib.crc32(str(i).encode())}"} for i in range(30_000)]
    packed = gzip.compress(json_lines(rows))
    records, reading = read_bytes(packed[: int(cut * len(packed))])
    assert [record.id for record in records] == [str(i) for i in range(len(records))]
    assert len(records) > 0.8 * cut * len(rows)
    assert "gzip" in [problem.field for problem in reading.problems]


def test_damaged_gzip_and_members_one_after_another():
    packed = bytearray(gzip.compress(RIS.encode() * 3000))
    packed[len(packed) // 2] ^= 0xFF
    _, reading = read_bytes(bytes(packed))
    assert "gzip" in [problem.field for problem in reading.problems]
    two = gzip.compress(RIS.encode()) + gzip.compress(RIS.encode()) + b"\0\0\0"
    records, reading = read_bytes(two)
    assert (len(records), reading.problems) == (6, [])


def test_quotation_marks_that_do_not_close_lose_one_row():
    lines = [f'{i};"Paper {i}";;;2000;;\n' for i in range(3000)]
    lines[1000] = '1000;"Paper 1000;;;2000;;\n'
    records, reading = read_bytes(
        "key;Title;Abstract;Authors;Publication Year;Journal;Tags\n" + "".join(lines)
    )
    assert [r.id for r in records] == [str(i) for i in range(3000) if i != 1000]
    (problem,) = reading.problems
    assert (problem.line, problem.skipped) == (1002, True)


def test_two_broken_rows_do_not_swallow_what_is_between():
    lines = [f'{i},"Paper {i}","Abstract {i}",2000\n' for i in range(50)]
    lines[10] = '10,"Paper 10,"Abstract 10",2000\n'
    lines[20] = '20,"Paper 20","Abst"ract" 20,2000\n'
    records, _ = read_bytes("id,title,abstract,year\n" + "".join(lines))
    assert {str(i) for i in range(50)} - {r.id for r in records} <= {"10", "20"}


def test_an_open_mark_and_a_doubled_one_do_not_swallow_the_row_after_them():
    lines = [f'good{i},"Paper {i}","Some text",2000\n' for i in range(3)]
    for bad in (['bad,"\n', 'bad,""\n'], ['bad,"\n', "bad\n", 'bad,""\n']):
        records, reading = read_bytes("".join(["id,title,abstract,year\n", *bad, *lines]))
        assert [r.id for r in records if r.id.startswith("good")] == ["good0", "good1", "good2"]
        assert reading.problems


def test_cells_beyond_the_limit_of_the_csv_module():
    long = "word " * 100_000
    (record,), reading = read_bytes(f'id,title,abstract\n1,T,"{long}"\n')
    assert record.abstract == long.strip()
    assert reading.problems == []


def test_rows_too_short_and_too_long_are_read_and_noted():
    records, reading = read_bytes("id,title,year\n1,One\n2,Two,2002,extra\n3,Three,2003\n,,\n\n")
    assert [(r.id, r.year) for r in records] == [("1", None), ("2", 2002), ("3", 2003)]
    assert [problem.line for problem in reading.problems] == [2, 3]


def test_one_bad_json_line():
    good = [{"id": str(i), "title": f"Paper {i}"} for i in range(3)]
    lines = json_lines(good).split(b"\n")
    lines[1:1] = [b'{"id": "x", "title": "cut', b"[1, 2]", b"not json", b"{}", b"1" * 5000]
    records, reading = read_bytes(b"\n".join(lines))
    assert [r.id for r in records] == ["0", "1", "2"]
    assert [problem.line for problem in reading.problems] == [2, 3, 4, 5, 6]


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize(
    "bad", ['{"id": "x", "title": "no end', '{"id": , }', "{]", "nonsense", "7"]
)
def test_one_bad_element_of_a_json_list(indent, bad):
    good = [
        {"id": str(i), "title": f"P {i}", "year": 2000, "more": [{"title": "no"}]} for i in range(4)
    ]
    parts = [json.dumps(item, indent=indent) for item in good]
    parts.insert(2, bad)
    records, reading = read_bytes("[" + ",\n".join(parts) + "]")
    assert [r.id for r in records] == ["0", "1", "2", "3"]
    assert reading.problem_count >= 1
    assert reading.problems[0].line is not None


@pytest.mark.parametrize("shape", ["{}", "[{}]", '{{"results": [{}]}}', "{}\n{}"])
def test_deeply_nested_json_is_passed_over(shape):
    deep = '{"id": "d", "title": ' + "[" * 100_000 + "]" * 100_000 + "}"
    good = '{"id": "g", "title": "Good"}'
    text = "[" + deep + ",\n" + good + "]" if shape != "{}\n{}" else deep + "\n" + good
    records, reading = read_bytes(text)
    assert [r.id for r in records] == ["g"]
    assert reading.records_skipped == 1
    assert reading.problems[0].line == 1


def test_json_cut_off_keeps_what_was_whole():
    works = [{"id": str(i), "title": f"Paper {i}"} for i in range(100)]
    text = json.dumps({"meta": {}, "results": works}, indent=1)
    records, reading = read_bytes(text[: len(text) // 2])
    assert 45 <= len(records) <= 52
    assert reading.problem_count >= 1


def test_megabyte_lines():
    long = "x" * 3_000_000
    data = f"TY  - JOUR\nTI  - One\nAB  - {long}\nER  - \nTY  - JOUR\nTI  - Two\nER  - \n"
    records, _ = read_bytes(data)
    assert [len(r.abstract or "") for r in records] == [3_000_000, 0]


def test_lines_beyond_the_limit_are_passed_over(monkeypatch):
    monkeypatch.setattr("citeweave.reading.streams.LONGEST_LINE", 1_000_000)
    data = b'{"id": "1", "title": "One"}\n' + b"x" * 5_000_000 + b'\n{"id": "2", "title": "Two"}\n'
    records, reading = read_bytes(data)
    assert [r.id for r in records] == ["1", "2"]
    assert [r.source.position for r in records] == [1, 3]
    assert reading.problems[0].line == 2


def test_records_without_end_are_bounded(monkeypatch):
    monkeypatch.setattr("citeweave.reading.tagged._LARGEST_RECORD", 1000)
    data = "TY  - JOUR\nTI  - One\n" + "more and more text\n" * 1000
    (record,), reading = read_bytes(data)
    assert record.title is not None
    assert len(record.title) < 1100
    assert "longer than" in reading.problems[0].message


def test_files_that_cannot_be_read_say_so(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(CSV)
    reading = read(path, tmp_path / "a.csv")
    path.unlink()
    assert list(reading) == []
    assert "cannot be opened" in str(reading.problems[0])


def test_reading_streams(tmp_path):
    """Memory does not grow with the file: only what one record needs is read ahead."""
    path = tmp_path / "big.jsonl"
    with path.open("wb") as file:
        for number in range(20_000):
            file.write(json.dumps({"id": number, "title": "T" * 500}).encode() + b"\n")

    class Counting(io.FileIO):
        taken = 0

        def read(self, size=-1):
            data = super().read(size)
            self.taken += len(data)
            return data

    with Counting(path) as file:
        reading = read(file)
        next(reading)
        assert file.taken < 2_000_000 < path.stat().st_size
        reading.close()


def test_lines_before_the_header_of_a_table():
    ieee = FILES["ieee"][1]
    for before in (b'"https://ieeexplore.ieee.org/search?x=1,2"\n', b"sep=,\n", b"\n\n"):
        records, reading = read_bytes(before + ieee)
        assert [r.title for r in records] == ["First paper", "Second paper", "Third paper"]
        assert records[0].source.position == before.count(b"\n") + 2
        assert reading.problems == []


def test_tables_of_two_columns_and_of_a_trailing_empty_one():
    records, reading = read_bytes("id,title\n1,One\n2,Two\n3,Three\n")
    assert [(r.id, r.title) for r in records] == [("1", "One"), ("2", "Two"), ("3", "Three")]
    records, more = read_bytes('id,title,year,\n1,"On\ne",2001,\n2,Two,2002,\n')
    assert [(r.title, r.year) for r in records] == [("On e", 2001), ("Two", 2002)]
    assert reading.problems == more.problems == []
