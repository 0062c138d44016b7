"""Excel workbooks: recognised as the same tables in CSV are, and refused with a word if hostile."""

from __future__ import annotations

import csv
import dataclasses
import datetime as dt
import io
import sys
import zipfile

import openpyxl
import pytest
from reader_excerpts import FILES
from reader_helpers import read_bytes

from citeweave.errors import MissingDependencyError
from citeweave.reading import read


def workbook(**sheets):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def content(records):
    return [{**dataclasses.asdict(r), "id": r.id.split("#")[0], "source": None} for r in records]


@pytest.mark.parametrize("form", ["csv", "scopus", "lens", "ieee", "openalex-csv", "wos-tab"])
def test_a_table_saved_as_a_workbook_is_the_same_records(form):
    text = FILES[form][1].decode("utf-8-sig")
    mark = {"csv": ";", "wos-tab": "\t"}.get(form, ",")
    quoting = csv.QUOTE_NONE if form == "wos-tab" else csv.QUOTE_MINIMAL
    rows = list(csv.reader(io.StringIO(text), delimiter=mark, quoting=quoting))
    data = workbook(papers=rows)
    records, reading = read_bytes(data)
    assert content(records) == content(read_bytes(text)[0])
    assert [counts.format for counts in reading.counts.values()] == ["excel"]
    assert reading.problems == []


def test_numbers_dates_and_errors_of_cells():
    rows = [
        ["id", "title", "date", "cited_by", "venue"],
        [17, "First", dt.datetime(2016, 5, 1), 3.0, "#N/A"],  # noqa: DTZ001
        ["b", "Second", dt.date(2011, 1, 1), None, "=1+1"],
        ["c", "Third", 1999.0, "12", True],
    ]
    records, _ = read_bytes(workbook(papers=rows))
    assert [(r.id, r.year, r.cited_by, r.venue) for r in records] == [
        ("17", 2016, 3, None),
        ("b", 2011, None, None),  # a formula that nobody has worked out has no value
        ("c", 1999, 12, "true"),
    ]
    assert [record.source.position for record in records] == [2, 3, 4]


def test_several_sheets_and_lines_above_the_names_of_columns():
    papers = [["Export of 3 May"], [], ["id", "title", "year"], ["a", "First", 2016]]
    data = workbook(
        papers=papers,
        more=[["id", "title", "year"], ["b", "Second", 2017]],
        notes=[["who", "what", "when"], ["me", "this", "now"]],
        empty=[],
    )
    records, reading = read_bytes(data)
    assert [(r.id, r.year) for r in records] == [("a", 2016), ("b", 2017)]
    assert [r.source.file for r in records] == ["<open file>!papers", "<open file>!more"]
    assert records[0].source.position == 4
    (problem,) = reading.problems
    assert "sheet 'notes'" in str(problem)
    assert "title" in str(problem)


def test_columns_are_mapped_as_in_csv():
    rows = [["Überschrift, lang", "wer"], ["Ein Titel", "Lim, Kar Wai"]]
    records, _ = read_bytes(
        workbook(a=rows), columns={"title": "Überschrift, lang", "authors": "wer"}
    )
    assert [(r.title, r.authors[0].family) for r in records] == [("Ein Titel", "Lim")]
    records, reading = read_bytes(workbook(a=rows), columns={"title": "Uberschrift"})
    assert records == []
    assert "no column 'Uberschrift'" in str(reading.problems[0])


def test_workbooks_that_hold_no_table_are_refused():
    records, reading = read_bytes(workbook(a=[]))
    assert records == []
    assert "empty" in str(reading.problems[0])
    other = io.BytesIO()
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("word/document.xml", "<document/>")
    records, reading = read_bytes(other.getvalue())
    assert records == []
    assert "not a workbook" in str(reading.problems[0])


def repacked(data, change):
    """Change the files inside a workbook."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as source,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target,
    ):
        for info in source.infolist():
            target.writestr(info.filename, change(info.filename, source.read(info)))
    return out.getvalue()


def test_entities_and_bombs_in_workbooks_are_refused():
    data = FILES["excel"][1]
    bomb = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'

    def with_entity(name, text):
        return bomb + text.split(b"?>")[-1] if name.endswith("sheet1.xml") else text

    records, reading = read_bytes(repacked(data, with_entity))
    assert records == []
    assert "entities" in str(reading.problems[0])
    big = repacked(data, lambda _, text: text + b" " * (20 << 20))
    records, reading = read_bytes(big)
    assert records == []
    assert "unpacks to more than" in str(reading.problems[0])


def test_far_cells_do_not_make_a_small_workbook_large(monkeypatch):
    monkeypatch.setattr("citeweave.reading.excel._FREE_CELLS", 100_000)
    monkeypatch.setattr("citeweave.reading.excel.MOST_EXPANSION", 1)
    book = openpyxl.load_workbook(io.BytesIO(FILES["excel"][1]))
    for row in range(5, 60):
        book.active.cell(row, 16_384, "far")
    buffer = io.BytesIO()
    book.save(buffer)
    records, reading = read_bytes(buffer.getvalue())
    assert [record.id for record in records[:3]] == ["g1", "g2", "g3"]
    assert any("more cells" in str(problem) for problem in reading.problems)


def test_without_openpyxl_the_line_that_installs_it(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    path = tmp_path / "papers.xlsx"
    path.write_bytes(FILES["excel"][1])
    with pytest.raises(MissingDependencyError, match=r"install .*\[excel\]"):
        list(read(path))
