"""Tables as Excel workbooks: what goes in comes out, and nothing in them is run."""

from __future__ import annotations

import io
import sys

import openpyxl
import polars as pl
import pytest

from citeweave.errors import MissingDependencyError, ParameterError
from citeweave.explore import to_csv, to_xlsx
from citeweave.reading import read

PAPERS = pl.DataFrame(
    {
        "id": ["a", "b", "c"],
        "title": ["First paper", "=HYPERLINK(1)", "Control \x07 and \ufffe"],
        "authors": [["Kar Wai Lim", "Wray Buntine"], [], None],
        "year": [2016, None, 1999],
        "share": [0.25, float("nan"), float("inf")],
        "new": [True, False, None],
    }
)


def opened(content):
    return openpyxl.load_workbook(io.BytesIO(content))


def test_cells_keep_their_types_and_lists_are_joined():
    rows = list(opened(to_xlsx({"papers": PAPERS}))["papers"].iter_rows(values_only=True))
    assert rows[0] == tuple(PAPERS.columns)
    assert rows[1] == ("a", "First paper", "Kar Wai Lim; Wray Buntine", 2016, 0.25, True)
    assert rows[2][3:] == (None, None, False)
    assert rows[3][1:5] == ("Control  and ", None, 1999, None)


def test_no_text_becomes_a_formula_and_texts_are_those_of_csv():
    texts = ["=1+1", "+1", "-x", "@cmd", " =1", "\t=1", "plain", "＝1", "'quoted"]
    frame = pl.DataFrame({"=head": texts})
    sheet = opened(to_xlsx({"t": frame}))["t"]
    assert all(cell.data_type == "s" for row in sheet.iter_rows() for cell in row)
    written = [row[0] for row in sheet.iter_rows(min_row=2, values_only=True)]
    in_csv = pl.read_csv(io.StringIO(to_csv(frame)), truncate_ragged_lines=True)
    assert written == in_csv.to_series().to_list()
    assert sheet.cell(1, 1).value == "'=head"


def test_a_table_written_is_read_back(tmp_path):
    """Out and in again: the records are those of the same table as CSV."""
    frame = PAPERS.with_columns(title=pl.Series(["First paper", "Second", "Third, with a comma"]))
    book, table = tmp_path / "t.xlsx", tmp_path / "t.csv"
    book.write_bytes(to_xlsx({"papers": frame}))
    table.write_text(to_csv(frame), "utf-8")

    def content(path):
        return [(r.id, r.title, r.authors, r.year) for r in read(path)]

    assert content(book) == content(table)
    assert [row[0] for row in content(book)] == ["a", "b", "c"]


def test_names_of_sheets():
    small = pl.DataFrame({"a": [1]})
    names = ["a/b[c]", "A b c", "x" * 40, "x" * 35, "", "'"]
    sheets = opened(to_xlsx(dict.fromkeys(names, small))).sheetnames
    assert len({name.lower() for name in sheets}) == len(names)
    assert all(0 < len(name) <= 31 for name in sheets)


def test_long_texts_are_cut_and_long_tables_refused(monkeypatch):
    sheet = opened(to_xlsx({"t": pl.DataFrame({"a": ["x" * 40_000]})}))["t"]
    assert len(sheet.cell(2, 1).value) == 32_767
    monkeypatch.setattr("citeweave.explore.workbook.MOST_ROWS", 2)
    with pytest.raises(ParameterError, match="3 rows"):
        to_xlsx({"t": PAPERS})
    with pytest.raises(ParameterError, match="at least one"):
        to_xlsx({})


def test_without_openpyxl_the_line_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingDependencyError, match=r"install .*\[excel\]"):
        to_xlsx({"t": PAPERS})
