"""The list of formats, and detection of the format by content.

To add a format, add a module that defines a `Format`, and a line in `FORMATS`.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from citeweave.errors import ParameterError
from citeweave.naming import choice
from citeweave.reading import (
    arxiv,
    bibtex,
    citeseerx,
    crossref,
    edges,
    endnote,
    endnote_xml,
    excel,
    generic_files,
    ieee,
    lens,
    linqs,
    medline,
    openalex,
    openalex_csv,
    proquest,
    pubmed_xml,
    ris,
    scopus,
    semanticscholar,
    tridnr,
    wos,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citeweave.reading.formats import Format, Sample

__all__ = ["FORMATS", "detect", "find_format", "why_unknown"]

FORMATS: tuple[Format, ...] = (
    openalex.FORMAT,
    openalex_csv.FORMAT,
    bibtex.FORMAT,
    ris.FORMAT,
    wos.PLAIN,
    wos.TABBED,
    scopus.FORMAT,
    medline.FORMAT,
    pubmed_xml.FORMAT,
    crossref.FORMAT,
    endnote.FORMAT,
    endnote_xml.FORMAT,
    proquest.FORMAT,
    semanticscholar.FORMAT,
    lens.FORMAT,
    ieee.FORMAT,
    arxiv.FORMAT,
    citeseerx.FORMAT,
    linqs.CONTENT,
    linqs.NODES,
    tridnr.FORMAT,
    edges.FORMAT,
    generic_files.CSV,
    generic_files.JSONL,
    generic_files.PARQUET,
    excel.FORMAT,
)
_GENERIC = (generic_files.CSV, generic_files.JSONL, generic_files.PARQUET, excel.FORMAT)

_FOREIGN = (
    (b"%PDF", "a PDF document; export the records from the database instead"),
    (b"PK\x03\x04", "a zip archive or an Office document, but not a workbook"),
    (b"\xd0\xcf\x11\xe0", "an old Office document; save a spreadsheet as .xlsx or CSV"),
    (b"BZh", "compressed with bzip2; decompress it, or use gzip"),
    (b"\xfd7zXZ", "compressed with xz; decompress it, or use gzip"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd; decompress it, or use gzip"),
    (b"SQLite format 3", "an SQLite database; export its records as CSV"),
    (
        b"\x93NUMPY",
        "a NumPy array; save a matrix of counts as .npz, then: citeweave fit counts.npz",
    ),
    (
        b"\x89HDF",
        "an HDF5 file; open it (anndata.read_h5ad) and pass it to Corpus.from_matrix",
    ),
    (b"\x80\x04", "a Python pickle, which is never loaded; export it as CSV or JSON Lines"),
)


def find_format(name: str) -> Format:
    """Return the format of this name, or raise an error that lists the available ones."""
    for form in FORMATS:
        if form.name == name:
            return form
    near = difflib.get_close_matches(str(name), [form.name for form in FORMATS], 1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    names = ", ".join(form.name for form in FORMATS)
    raise ParameterError(
        f"The 'format' option of read must be one of {names}. Got {name!r} instead.{hint}"
    )


def detect(sample: Sample, *, with_columns: bool = False) -> Format | None:
    """Return the best matching format, or None.

    With a user-defined column map, only generic formats are considered.
    """
    candidates: Sequence[Format] = _GENERIC if with_columns else FORMATS
    best = None
    best_score = 0
    for form in candidates:
        score = form.score(sample)
        if score > best_score:
            best, best_score = form, score
    return best


def why_unknown(sample: Sample) -> str:
    """Return the most likely reason why no format matches."""
    if not sample.head.strip(b"\0 \t\r\n"):
        return "the file is empty"
    for magic, reason in _FOREIGN:
        if sample.head.startswith(magic):
            return f"this is {reason}"
    start = sample.text.lstrip()[:200].lower()
    if start.startswith(("<!doctype html", "<html")):
        return "this is a web page, not an export (perhaps a login page was saved instead)"
    if start.startswith("<"):
        return (
            "this is XML, but not from PubMed or EndNote; export as RIS, BibTeX, CSV or JSON "
            "instead"
        )
    control = sum(byte < 9 or 13 < byte < 32 for byte in sample.head[:4096])
    if control > 0.1 * len(sample.head[:4096]):
        return "this is not text and not a known data format"
    shown = sample.first_line.strip()[:60]
    named = choice("format=…", "--format …")
    return (
        f"no known format matches; the file starts with {shown!r}. Specify the format with {named}"
    )
