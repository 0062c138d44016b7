"""Tidy tables: the same rows in every format, and their summary."""

import csv
import json
import math
import sys

import numpy as np
import polars as pl
import pytest

from citeweave.errors import MissingDependencyError, RunError
from citeweave.experiments import Row, SummaryRow, Table, write_table

ROWS = [
    Row("cora", "scntm", "1/2", 1, "nmi", "test", 0.25, "all words; hidden"),
    Row("cora", "scntm", "2/2", 1, "nmi", "test", 0.75, "all words; hidden"),
    Row("cora", "scntm", "1/2", 1, "acceptance", "train", math.nan, ""),
    Row("cora", 'pmtlm, "dc"', "1/2", 1, "nmi", "test", 0.5, "all words; hidden"),
]


def test_summary_is_mean_and_standard_deviation():
    nmi, acceptance, other = Table(ROWS).summary()
    assert nmi[:5] == ("cora", "scntm", "nmi", "test", "all words; hidden")
    assert nmi.mean == 0.5
    assert nmi.sd == pytest.approx(np.std([0.25, 0.75], ddof=1))
    assert nmi.n == 2
    assert math.isnan(acceptance.mean)
    assert acceptance.n == 0
    assert other.mean == 0.5
    assert math.isnan(other.sd)


def test_all_formats_hold_the_same(tmp_path):
    files = Table(ROWS).save(tmp_path)
    assert {file.name for file in files} == {
        f"{name}.{suffix}"
        for name in ("results", "summary")
        for suffix in ("csv", "json", "parquet")
    }
    with (tmp_path / "results.csv").open(newline="") as file:
        from_csv = list(csv.DictReader(file))
    from_json = json.loads((tmp_path / "results.json").read_text())
    from_parquet = pl.read_parquet(tmp_path / "results.parquet").to_dicts()
    expected = [
        row._asdict() | {"value": None if math.isnan(row.value) else row.value} for row in ROWS
    ]
    assert from_json == expected
    assert from_parquet == expected
    assert [row["model"] for row in from_csv] == [row.model for row in ROWS]
    assert [row["value"] for row in from_csv] == ["0.25", "0.75", "", "0.5"]


def test_the_schema_does_not_depend_on_the_rows(tmp_path):
    full = write_table(tmp_path / "full.parquet", Row, ROWS)
    empty = write_table(tmp_path / "empty.parquet", Row, [])
    unknown = write_table(tmp_path / "unknown.parquet", Row, [ROWS[2]])
    schema = pl.read_parquet_schema(full)
    assert list(schema) == list(Row._fields)
    assert pl.read_parquet_schema(empty) == schema
    assert pl.read_parquet_schema(unknown) == schema


def test_selecting():
    table = Table(ROWS)
    assert len(table.select(model="scntm", measure=["nmi", "acceptance"])) == 3
    assert table.values(model="scntm").tolist() == [0.25, 0.75]
    with pytest.raises(KeyError, match="no column 'modell'"):
        table.select(modell="scntm")


def test_parquet_by_pyarrow_has_the_same_schema(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    usual = write_table(tmp_path / "usual.parquet", Row, ROWS)
    monkeypatch.setitem(sys.modules, "polars", None)
    other = write_table(tmp_path / "other.parquet", Row, ROWS)
    assert pl.read_parquet(other).equals(pl.read_parquet(usual))


def test_parquet_needs_a_library_and_says_so(tmp_path, monkeypatch):
    for name in ("polars", "pyarrow"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingDependencyError, match="pip install polars"):
        Table(ROWS).save(tmp_path, parquet=True)
    assert len(Table(ROWS).save(tmp_path)) == 4


def test_unknown_formats_and_folders_are_refused(tmp_path):
    with pytest.raises(RunError, match=r"must end in one of: \.csv"):
        write_table(tmp_path / "results.xlsx", SummaryRow, [])
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="cannot be written"):
        write_table(tmp_path / "file" / "results.csv", Row, ROWS)
