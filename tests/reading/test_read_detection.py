"""Each format is told by its content, whatever the file's name and packing."""

from __future__ import annotations

import gzip
import io
import os
import sys
import threading

import pytest
from reader_excerpts import FILES
from reader_helpers import read_bytes

from citeweave.errors import CorpusError, ParameterError
from citeweave.reading import FORMATS, read

NEEDS_ITS_NAME = {"tridnr"}


@pytest.mark.parametrize("form", sorted(FILES))
def test_three_records_by_content_alone(form):
    if form in NEEDS_ITS_NAME:
        pytest.skip("lines of 'id title' are told by the file's name docs.txt only")
    records, reading = read_bytes(FILES[form][1])
    (counts,) = reading.counts.values()
    assert counts.format == form
    assert len(records) == counts.read == 3
    assert counts.skipped == 0


@pytest.mark.parametrize("form", sorted(FILES))
def test_misleading_suffix_does_not_mislead(form, tmp_path):
    if form in NEEDS_ITS_NAME:
        pytest.skip("told by its name")
    path = tmp_path / "file.ris"
    path.write_bytes(FILES[form][1])
    reading = read(path)
    assert len(list(reading)) == 3
    assert reading.counts[str(path)].format == form
    told = [problem.field for problem in reading.problems]
    assert ("format" in told) == (form != "ris")


@pytest.mark.parametrize("form", sorted(FILES))
def test_gzip_and_folder_give_the_same_records(form, tmp_path):
    name, data = FILES[form]
    plain = tmp_path / "plain" / name
    packed = tmp_path / "packed" / f"{name}.gz"
    plain.parent.mkdir()
    packed.parent.mkdir()
    plain.write_bytes(data)
    packed.write_bytes(gzip.compress(data))

    def content(path):
        return [
            (
                r.id.split("#")[0].rsplit("/")[-1].removesuffix(".gz"),
                r.title,
                r.authors,
                r.references,
            )
            for r in read(path)
        ]

    assert len(content(plain)) == 3
    assert content(plain) == content(packed) == content(plain.parent)


def test_every_format_is_tested():
    assert {form.name for form in FORMATS} == set(FILES) | {"edges"}


def test_standard_input(monkeypatch):
    class Standard:
        buffer = io.BytesIO(FILES["ris"][1])

    monkeypatch.setattr(sys, "stdin", Standard)
    records = list(read("-"))
    assert [record.source.file for record in records] == ["-"] * 3


def test_a_pipe_is_read_once(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=[FILES["ris"][1]])
    writer.start()
    assert len(list(read(pipe))) == 3
    writer.join()


def test_several_files_keep_their_order_and_counts(tmp_path):
    for name in ("b.bib", "a.ris"):
        form = "bibtex" if name.endswith("bib") else "ris"
        (tmp_path / name).write_bytes(FILES[form][1])
    reading = read(tmp_path / "b.bib", tmp_path / "a.ris")
    assert [r.source.file.rsplit("/")[-1] for r in reading] == ["b.bib"] * 3 + ["a.ris"] * 3
    assert reading.records_read == 6
    assert [c.read for c in reading.counts.values()] == [3, 3]


def test_folder_is_recursive_sorted_and_leaves_readme_aside(tmp_path):
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "z.ris").write_bytes(FILES["ris"][1])
    (tmp_path / "a.bib").write_bytes(FILES["bibtex"][1])
    (tmp_path / "README.md").write_text("About these files.")
    (tmp_path / ".hidden").write_bytes(b"\0\1\2")
    (tmp_path / "notes.xyz").write_text("one line of prose")
    reading = read(tmp_path)
    files = [record.source.file.rsplit("/")[-1] for record in reading]
    assert files == ["a.bib"] * 3 + ["z.ris"] * 3
    assert [p.file.rsplit("/")[-1] for p in reading.problems] == ["notes.xyz"]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b"%PDF-1.7 ...", "PDF"),
        (b"<html><body>log in</body></html>", "web page"),
        (b"<?xml version='1.0'?><a/>", "XML"),
        (b"BZh91AY&SY", "bzip2"),
        (bytes(range(32)) * 100, "not text"),
        (b"just a line of prose\n", "no known format"),
        (b"\x80\x04\x95....", "pickle"),
    ],
)
def test_what_is_no_bibliography_is_refused_with_the_reason(data, reason):
    records, reading = read_bytes(data)
    (counts,) = reading.counts.values()
    assert records == []
    assert counts.refused is not None
    assert reason in counts.refused
    assert reading.problem_count == 1


@pytest.mark.parametrize("form", ["ris", "bibtex", "medline", "wos", "csv"])
def test_forced_format_that_does_not_fit_is_refused_with_the_reason(form):
    data = FILES["wos"][1] if form != "wos" else FILES["ris"][1].replace(b"TY  -", b"ty: ")
    records, reading = read_bytes(data, format=form)
    assert reading.problem_count > 0
    assert not [record for record in records if record.title and "paper" in record.title]


def test_wrong_arguments_say_what_to_do(tmp_path):
    with pytest.raises(CorpusError, match="no such file"):
        read(tmp_path / "missing.bib")
    with pytest.raises(CorpusError, match="no such file"):
        read("")
    with pytest.raises(ParameterError, match="Did you mean 'bibtex'"):
        read(io.BytesIO(b""), format="bibtext")
    with pytest.raises(ParameterError, match="Did you mean 'authors'"):
        read(io.BytesIO(b""), columns={"autors": "Names"})
    with pytest.raises(ParameterError, match="binary"):
        read(io.StringIO("text"))
    with pytest.raises(ParameterError, match="at least one"):
        read()
    with pytest.raises(ParameterError, match="on_problem"):
        read(io.BytesIO(b""), on_problem="shrug")


def test_problems_are_raised_called_and_capped():
    bad = b'{"id": 1, "title": "x"}\n' + b"{broken\n" * 20
    with pytest.raises(CorpusError, match=":2"):
        list(read(io.BytesIO(bad), on_problem="raise"))
    seen = []
    list(read(io.BytesIO(bad), on_problem=seen.append))
    assert len(seen) == 20
    reading = read(io.BytesIO(bad), max_problems=5)
    assert len(list(reading)) == 1
    assert (len(reading.problems), reading.problem_count, reading.records_skipped) == (5, 20, 20)
    assert [problem.line for problem in reading.problems] == [2, 3, 4, 5, 6]


def test_the_callers_file_is_left_open():
    file = io.BytesIO(FILES["ris"][1])
    list(read(file))
    assert not file.closed
