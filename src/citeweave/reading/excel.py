"""Excel workbooks (``.xlsx``): each sheet is a table, recognised like the same table in CSV.

openpyxl reads row by row. A workbook is a compressed folder of XML files. Before it is opened, the
sizes and the beginnings of its files are checked, so that a small workbook cannot use excessive
memory.
"""

from __future__ import annotations

import datetime as dt
import warnings
import zipfile
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from citeweave.errors import MissingDependencyError
from citeweave.installing import install_extra
from citeweave.reading import generic_files, ieee, lens, openalex_csv, scopus, wos
from citeweave.reading.formats import SHAPE_ERRORS, Format, Sample
from citeweave.reading.generic import missing_columns
from citeweave.reading.limits import MOST_BLANK_LINES, MOST_EXPANSION, most_unpacked
from citeweave.reading.streams import HEAD_BYTES, SheetStream

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from citeweave.reading.problems import FileContext
    from citeweave.reading.record import Record
    from citeweave.reading.streams import ByteStream

__all__ = ["FORMAT"]

_TABLES = (openalex_csv.FORMAT, wos.TABBED, scopus.FORMAT, lens.FORMAT, ieee.FORMAT)
_BROKEN = (
    *SHAPE_ERRORS,
    EOFError,
    NotImplementedError,
    OSError,
    RuntimeError,  # an encrypted workbook
    SyntaxError,  # XML that is not well-formed
    Warning,
    zipfile.BadZipFile,
    zlib.error,
)
_ERRORS = frozenset({"#N/A", "#REF!", "#NAME?", "#DIV/0!", "#NULL!", "#NUM!", "#VALUE!"})
_FREE_CELLS = 20_000_000
"""Number of cells that a workbook may have regardless of its size, including empty ones."""


def _read(stream: ByteStream, context: FileContext) -> Iterator[Record]:
    try:
        import openpyxl  # noqa: PLC0415  of the extra 'excel'
    except ImportError as error:
        raise MissingDependencyError(
            f"{context.file}: reading Excel workbooks needs openpyxl, which is not installed. "
            f"Install it with `{install_extra('excel')}`, or save the table as CSV."
        ) from error
    with stream.as_path() as path, path.open("rb") as file:
        refusal = _refusal(path)
        if refusal is not None:
            context.refuse(refusal)
            return
        try:
            with warnings.catch_warnings():
                # ignore warnings about charts, styles and data validation
                warnings.simplefilter("ignore")
                book = openpyxl.load_workbook(
                    file, read_only=True, data_only=True, keep_links=False
                )
        except (*_BROKEN, openpyxl.utils.exceptions.InvalidFileException) as error:
            context.refuse(f"the workbook cannot be read ({str(error)[:300]})")
            return
        try:
            yield from _sheets(book, path.stat().st_size, context)
        finally:
            book.close()


def _refusal(path: Path) -> str | None:
    """Return why a workbook must not be opened, or None."""
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(info.file_size for info in archive.infolist())
            most = most_unpacked(path.stat().st_size)
            if size > most:
                return (
                    f"the workbook unpacks to more than {MOST_EXPANSION} times its size, which is "
                    "implausible for a table"
                )
            for info in archive.infolist():
                if info.filename.endswith((".xml", ".rels")):
                    with archive.open(info) as file:
                        head = file.read(HEAD_BYTES)
                    if b"<!DOCTYPE" in head or b"<!ENTITY" in head:
                        return "the workbook declares XML entities, which spreadsheets never do"
    except _BROKEN as error:
        return f"the workbook is damaged ({str(error)[:300]})"
    return None


def _sheets(book: Any, size: int, context: FileContext) -> Iterator[Record]:
    """Read all sheets that are tables of papers, and report the others."""
    sheets = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
    reasons = []
    read = 0
    for sheet in sheets or book.worksheets:
        stream = SheetStream(_rows(sheet, size, context))
        sample = Sample("", stream.head, stream.head_text)
        form = _recognise(sample, context)
        reason = "the sheet is empty" if not stream.head else None
        if reason is None and form is generic_files.CSV:
            reason = missing_columns(sample.header, context)
        if reason is not None:
            reasons.append(f"sheet {sheet.title[:60]!r}: {reason}")
            continue
        # with several sheets, records and problems include the sheet name
        own = context
        if len(sheets) > 1:
            own = replace(context, file=f"{context.file}!{sheet.title[:60]}")
        for record in form.read(stream, own):
            read += 1
            yield record
    if not read and not context.counts.problems:
        context.refuse("; ".join(reasons) or "the workbook has no sheet with a table")
    else:
        # a sheet of notes next to the table is not a problem, but is reported
        for reason in reasons:
            if "is empty" not in reason:
                context.note(None, f"{reason}. The sheet is skipped")


def _recognise(sample: Sample, context: FileContext) -> Format:
    if context.columns:
        return generic_files.CSV
    best = max(_TABLES, key=lambda form: form.score(sample))
    return best if best.score(sample) else generic_files.CSV


def _rows(sheet: Any, size: int, context: FileContext) -> Iterator[tuple[int, list[str]]]:
    """Yield (row number, cells as text) of the non-empty rows."""
    cells = blank = 0
    try:
        for number, row in enumerate(sheet.iter_rows(values_only=True), start=1):
            texts = [_text(value) for value in row]
            cells += len(texts)
            if cells > max(_FREE_CELLS, MOST_EXPANSION * size):
                context.note(
                    number,
                    "more cells than plausible for a workbook of this size; the rest is skipped",
                )
                return
            while texts and not texts[-1]:
                texts.pop()
            blank = 0 if texts else blank + 1
            if blank > MOST_BLANK_LINES:
                return
            if texts:
                yield number, texts
    except _BROKEN as error:
        context.note(
            None,
            f"sheet {sheet.title[:60]!r} is damaged ({str(error)[:200]}); the rows before the "
            "damage are kept",
        )


def _text(value: Any) -> str:
    """Format the value of a cell as in CSV."""
    if value is None or value is False or value is True:
        return "" if value is None else str(value).lower()
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, dt.datetime | dt.date):
        return value.isoformat()[:10]
    text = str(value)
    return "" if text in _ERRORS else text


def _sniff(sample: Sample) -> int:
    return 90 if sample.head.startswith(b"PK\x03\x04") and b"xl/" in sample.head else 0


FORMAT = Format(
    name="excel",
    label="Excel workbook (.xlsx) with a column map",
    sniff=_sniff,
    read=_read,
    suffixes=(".xlsx", ".xlsm"),
    gives=generic_files.CSV.gives,
)
