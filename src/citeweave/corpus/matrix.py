"""Build a corpus from a matrix of counts: SciPy, NumPy, pandas, ``.npz``, AnnData-like objects."""

import os
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from citeweave.corpus.build import Parts, parts_from_lists
from citeweave.errors import CorpusError

__all__ = ["is_matrix_file", "parts_from_matrix"]

_SPARSE_KEYS = frozenset({"data", "indices", "indptr", "shape", "format", "row", "col", "offsets"})
_SPARSE_KEYS |= frozenset({"blocksize", "_is_array", "coords"})
_OWN = ("vocabulary", "authors", "categories", "citations", "titles", "ids", "title_lengths")
_MOST_TOKENS = 2**31 - 1
_FOREIGN = (OSError, ValueError, KeyError, EOFError, TypeError, zipfile.BadZipFile, zlib.error)


def is_matrix_file(source: object) -> bool:
    """Return whether a source is a file of NumPy arrays, by its name.

    Examples
    --------
    >>> is_matrix_file("no such file.npz")
    False
    """
    path = Path(source) if isinstance(source, str | os.PathLike) else None
    return path is not None and path.suffix.lower() == ".npz" and path.is_file()


def parts_from_matrix(counts: Any, **given: Any) -> Parts:
    """Turn a matrix of counts into word ids and validate them; see `Corpus.from_matrix`."""
    told: dict[str, Any] = {}
    if isinstance(counts, str | os.PathLike):
        counts, told = _from_file(Path(counts))
    elif all(hasattr(counts, name) for name in ("X", "obs", "var")):
        counts, told = _from_annotated(counts, given)
    elif hasattr(counts, "to_numpy") and hasattr(counts, "columns"):
        told = {"vocabulary": _texts(counts.columns), "ids": _texts(counts.index)}
        counts = counts.to_numpy()
    metadata = {**(told.pop("metadata", None) or {}), **(given.pop("metadata", None) or {})}
    merged = {name: value for name, value in given.items() if value is not None}
    parts = {**told, **merged}
    tokens, offsets, words = _tokens(counts)
    documents = len(offsets) - 1
    vocabulary = parts.pop("vocabulary", None)
    if vocabulary is None:
        vocabulary = [f"w{word}" for word in range(words)]
    vocabulary = list(vocabulary)
    if len(vocabulary) != words:
        raise CorpusError(
            f"vocabulary must have one word per column of counts, {words} in total; got "
            f"{len(vocabulary)}."
        )
    parts["citations"] = _citations(parts.get("citations"), documents)
    return parts_from_lists(
        tokens=np.split(tokens, offsets[1:-1]),
        vocabulary=vocabulary,
        metadata=metadata or None,
        **parts,
    )


def _tokens(counts: Any) -> tuple[np.ndarray, np.ndarray, int]:
    """Expand counts into tokens; return word ids, offsets and the number of words."""
    from scipy import sparse  # noqa: PLC0415  only a matrix needs it

    if not sparse.issparse(counts):
        try:
            counts = np.asarray(counts)
        except (ValueError, TypeError) as error:
            raise CorpusError(f"counts must be a matrix of numbers; {error}.") from error
        if counts.ndim != 2:
            raise CorpusError(
                "counts must be a matrix (documents × words); got an array of shape "
                f"{counts.shape}."
            )
        if counts.dtype.kind not in "biuf":
            raise CorpusError(f"counts must contain numbers; got values of type {counts.dtype}.")
    if counts.ndim != 2 or counts.shape[0] < 1:
        raise CorpusError(
            f"counts must be a matrix with at least one document; got shape {counts.shape}."
        )
    if counts.dtype.kind not in "biuf":
        raise CorpusError(f"counts must contain numbers; got values of type {counts.dtype}.")
    rows = sparse.csr_array(counts, copy=True)
    rows.sum_duplicates()
    values = rows.data
    wrong = ~np.isfinite(values) | (values < 0) | (values != np.floor(values))
    if wrong.any():
        place = int(np.flatnonzero(wrong)[0])
        document = int(np.searchsorted(rows.indptr, place, side="right")) - 1
        raise CorpusError(
            f"counts must be non-negative integers; document {document}, word "
            f"{int(rows.indices[place])} has {values[place]!s}. Pass the raw counts, before any "
            "weighting (TF-IDF) or scaling."
        )
    # summed as floats, because integer types may overflow
    total = float(values.sum(dtype=np.float64))
    if total > _MOST_TOKENS:
        raise CorpusError(
            f"The counts sum to {total:,.0f} words; a corpus can have at most {_MOST_TOKENS:,}. "
            "Are these word counts?"
        )
    repeats = values.astype(np.int64)
    tokens = np.repeat(rows.indices.astype(np.int64), repeats)
    ends = np.concatenate((np.zeros(1, np.int64), np.cumsum(repeats)))
    return tokens, ends[rows.indptr], int(rows.shape[1])


def _citations(citations: Any, documents: int) -> Any:
    """Turn a square matrix, in which rows cite columns, into pairs; pairs pass through."""
    from scipy import sparse  # noqa: PLC0415

    if citations is None:
        return None
    square = isinstance(citations, np.ndarray) and citations.ndim == 2 and citations.shape[1] != 2
    if not sparse.issparse(citations) and not square:
        return citations
    if citations.shape != (documents, documents):
        raise CorpusError(
            f"A matrix of citations must have one row and one column per document, {documents} in "
            f"total; got shape {tuple(citations.shape)}."
        )
    citing, cited = citations.nonzero()
    return np.stack([np.asarray(citing, np.int64), np.asarray(cited, np.int64)], axis=1)


def _from_file(path: Path) -> tuple[Any, dict[str, Any]]:
    """Read counts and other arrays from a file of NumPy arrays, without unpickling objects."""
    from scipy import sparse  # noqa: PLC0415

    if not path.is_file():
        raise CorpusError(f"'{path}': no such file. Check the name and try again.")
    told: dict[str, Any] = {}
    try:
        # opened here, because NumPy leaves a file open if it is not an archive
        with path.open("rb") as raw:
            if raw.read(6) == b"\x93NUMPY":
                raise CorpusError(
                    f"'{path}' contains a single array; save it as .npz: np.savez(name, "
                    "counts=array)."
                )
            raw.seek(0)
            with np.load(raw, allow_pickle=False) as file:
                names = set(file.files)
                is_sparse = {"data", "shape", "format"} <= names
                dense = next((name for name in ("counts", "X", "arr_0") if name in names), None)
                counts = None if is_sparse or dense is None else file[dense]
                rest = sorted(names - _SPARSE_KEYS if is_sparse else names - {dense})
                arrays = {name: file[name] for name in rest}
            if is_sparse:
                raw.seek(0)
                counts = sparse.load_npz(raw)
                counts = sparse.csr_array(counts)
                counts.check_format(full_check=True)
    except MemoryError as error:
        raise CorpusError(f"'{path}' does not fit into memory ({error}).") from error
    except _FOREIGN as error:
        reason = str(error)
        if "allow_pickle" in reason:
            reason = (
                "it contains Python objects, which are never loaded; store texts as arrays of str"
            )
        raise CorpusError(f"'{path}' cannot be read as a matrix: {reason}.") from error
    if counts is None:
        raise CorpusError(
            f"'{path}' contains no counts. Save a sparse matrix with scipy.sparse.save_npz, or "
            "arrays "
            "with np.savez(name, counts=..., vocabulary=...). It contains: "
            f"{', '.join(sorted(names))}."
        )
    for name, array in arrays.items():
        if name in _OWN:
            told[name] = array if name == "citations" else array.tolist()
        elif array.ndim == 1 and array.dtype.kind in "biufU" and len(array) == counts.shape[0]:
            told.setdefault("metadata", {})[name] = _cells(array.tolist())
        else:
            raise CorpusError(
                f"'{path}': {name!r} is neither one of {', '.join(_OWN)} nor a column with one "
                f"value for each of the {counts.shape[0]} documents; its shape is {array.shape}."
            )
    if "authors" in told:
        told["authors"] = [_names(cell) for cell in told["authors"]]
    return counts, told


def _from_annotated(data: Any, given: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Read an AnnData-like object: X, the index and columns of obs, and the index of var.

    `given` may name columns of obs (categories, authors, titles) and a matrix of obsp (citations).
    """
    told: dict[str, Any] = {
        "ids": _texts(getattr(data.obs, "index", None)),
        "vocabulary": _texts(getattr(data.var, "index", None)),
    }
    columns = [str(name) for name in getattr(data.obs, "columns", ())]
    used = set()
    for name in ("categories", "authors", "titles"):
        column = given.get(name)
        if isinstance(column, str):
            if column not in columns:
                there = ", ".join(columns) or "none"
                raise CorpusError(
                    f"{name}={column!r} is not a column of obs. Its columns: {there}."
                )
            used.add(column)
            given[name] = _cells(list(data.obs[column]))
    if given.get("authors") is not None:
        given["authors"] = [_names(cell) for cell in given["authors"]]
    links = given.get("citations")
    if isinstance(links, str):
        pairs = getattr(data, "obsp", {})
        if links not in pairs:
            raise CorpusError(f"citations={links!r} is not a matrix in obsp.")
        given["citations"] = pairs[links]
    metadata = {}
    for column in columns:
        cells = _cells(list(data.obs[column]))
        if column == "title" and column not in used and given.get("titles") is None:
            told["titles"] = cells
        elif column not in used | {"id", "title"}:
            metadata[column] = _one_kind(cells)
    told["metadata"] = metadata
    return data.X, {name: value for name, value in told.items() if value is not None}


def _texts(index: Any) -> list[str] | None:
    return None if index is None else [str(label) for label in index]


def _cells(values: Sequence[Any]) -> list[Any]:
    """Return plain Python values, with None for missing ones."""
    plain = [value.item() if isinstance(value, np.generic) else value for value in values]
    missing = (value is None or value != value or value == "" for value in plain)  # noqa: PLR0124
    return [None if gone else value for gone, value in zip(missing, plain, strict=True)]


def _one_kind(cells: list[Any]) -> list[Any]:
    """Return a column as metadata: values of one type, or else all as text."""
    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds <= {int, float} and float in kinds:
        return [None if cell is None else float(cell) for cell in cells]
    if len(kinds) <= 1 and kinds <= {str, bool, int}:
        return cells
    return [None if cell is None else str(cell) for cell in cells]


def _names(cell: Any) -> list[str] | None:
    """Return the names in a cell: a list, or text separated by semicolons."""
    if isinstance(cell, str):
        return [name for part in cell.split(";") if (name := part.strip())]
    return None if cell is None else [str(name) for name in cell]
