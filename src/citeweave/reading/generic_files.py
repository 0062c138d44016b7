"""The generic formats: CSV, TSV, JSON Lines and Parquet with columns by name or by map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from citeweave.files import parquet_errors, parquet_reason
from citeweave.reading.entities import decode_all
from citeweave.reading.formats import Format, Sample, convert
from citeweave.reading.generic import has_text, make_record, missing_columns
from citeweave.reading.jsonstream import json_objects
from citeweave.reading.limits import FREE_ROWS, MOST_COLUMNS, MOST_ROWS_A_BYTE
from citeweave.reading.table import table_rows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from citeweave.reading.problems import FileContext
    from citeweave.reading.record import Record
    from citeweave.reading.streams import ByteStream

__all__ = ["CSV", "JSONL", "PARQUET"]

_GIVES = (
    "id doi title abstract keywords authors author_ids affiliations year venue category references "
    "language document_type cited_by funders"
)
_ROWS_AT_ONCE = 4096


def _read_csv(stream: ByteStream, context: FileContext) -> Iterator[Record]:
    sample = Sample("", stream.head, stream.head_text)
    refusal = missing_columns(sample.header, context)
    if refusal is not None:
        context.refuse(refusal)
        return
    yield from convert(table_rows(stream, context), _from_row, context)


def _from_row(row: dict[str, str], line: int, context: FileContext) -> Record | None:
    return make_record(dict(row), line, context)


def _sniff_csv(sample: Sample) -> int:
    if sample.is_json or len(sample.cells) < 2 or "\0" in sample.text[:4096]:
        return 0
    if any(len(cell) > 200 for cell in sample.cells):
        return 0
    if has_text(sample.header):
        return 30
    # A header and rows of similar length: a table, though of unknown content.
    counts = [line.count(sample.delimiter) + 1 for line in sample.lines[1:6]]
    return 5 if counts and all(count >= len(sample.cells) for count in counts) else 0


def _read_jsonl(stream: ByteStream, context: FileContext) -> Iterator[Record]:
    return convert(json_objects(stream, context), make_record, context)


def _sniff_jsonl(sample: Sample) -> int:
    if not sample.is_json:
        return 0
    keys = {key.lower() for key in sample.json_keys}
    return 30 if has_text(keys) else 10


def _read_parquet(stream: ByteStream, context: FileContext) -> Iterator[Record]:
    with stream.as_path() as path:
        yield from convert(_parquet_rows(path, context), make_record, context)


def _parquet_rows(path: Path, context: FileContext) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (row number, row), with a few thousand rows in memory at a time."""
    import polars as pl  # noqa: PLC0415  half a second that other formats need not wait for

    try:
        frame = pl.scan_parquet(path)
        names = frame.collect_schema().names()
        if len(names) > MOST_COLUMNS:
            context.refuse(f"the table has more than {MOST_COLUMNS} columns")
            return
        refusal = missing_columns(names, context)
        if refusal is not None:
            context.refuse(refusal)
            return
        rows = frame.select(pl.len()).collect().item()
        size = path.stat().st_size
        if rows > FREE_ROWS and rows > MOST_ROWS_A_BYTE * size:
            context.refuse(
                f"it claims to contain {rows} rows in {size} bytes, which is implausible"
            )
            return
        offset = 0
        while True:
            part = frame.slice(offset, _ROWS_AT_ONCE).collect()
            for place, row in enumerate(part.iter_rows(named=True), start=1):
                yield offset + place, decode_all(row)
            if part.height < _ROWS_AT_ONCE:
                return
            offset += part.height
    except parquet_errors(pl) as error:
        context.refuse(f"the Parquet file cannot be read ({parquet_reason(error)})")


def _sniff_parquet(sample: Sample) -> int:
    return 90 if sample.head.startswith(b"PAR1") else 0


CSV = Format(
    name="csv",
    label="CSV or TSV with a column map",
    sniff=_sniff_csv,
    read=_read_csv,
    suffixes=(".csv", ".tsv", ".tab", ".txt"),
    gives=_GIVES,
)
JSONL = Format(
    name="jsonl",
    label="JSON Lines or JSON with a column map",
    sniff=_sniff_jsonl,
    read=_read_jsonl,
    suffixes=(".jsonl", ".ndjson", ".json"),
    gives=_GIVES,
)
PARQUET = Format(
    name="parquet",
    label="Parquet with a column map",
    sniff=_sniff_parquet,
    read=_read_parquet,
    suffixes=(".parquet",),
    gives=_GIVES,
)
