"""Checks that every corpus must pass, however it is built or loaded.

Compiled kernels do not check bounds, so nothing out of range may pass these checks.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from citeweave.errors import CorpusError

__all__ = [
    "as_integers",
    "check_array",
    "check_arrays",
    "check_ids",
    "check_lengths",
    "check_offsets",
    "check_strings",
    "metadata_column",
    "owner_of",
    "remove_repeats",
    "sort_citations",
]

_INT64 = np.iinfo(np.int64)


def as_integers(values: Any, name: str, *, width: int | None = None) -> np.ndarray:
    """Return values as an int64 array: one-dimensional, or with `width` columns."""
    try:
        array = np.asarray(values)
    except (ValueError, TypeError, OverflowError) as error:
        raise CorpusError(f"{name} must be an array of integers; {error}.") from error
    if array.size == 0:
        array = np.zeros((0,) if width is None else (0, width), dtype=np.int64)
    if array.dtype.kind not in "iu":
        example = array.reshape(-1)[0]
        raise CorpusError(
            f"{name} must contain integers; got values of type {array.dtype} such as {example!r}."
        )
    expected = 1 if width is None else 2
    if array.ndim != expected or (width is not None and array.shape[1] != width):
        shape = "one dimension" if width is None else f"shape (n, {width})"
        raise CorpusError(f"{name} must have {shape}; got an array of shape {array.shape}.")
    if array.dtype == np.uint64 and array.max() > _INT64.max:
        raise CorpusError(f"{name} contains the value {array.max()}, which is too large for an id.")
    return array.astype(np.int64, copy=False)


def check_offsets(offsets: np.ndarray, total: int, name: str) -> None:
    """Check that offsets start at 0, never decrease, and end at the number of entries."""
    if len(offsets) < 2:
        raise CorpusError(
            f"A corpus needs at least one document; {name} has {len(offsets)} entries (it needs "
            "one more than the number of documents)."
        )
    falls = np.flatnonzero(np.diff(offsets) < 0)
    if len(falls):
        raise CorpusError(f"{name} must not decrease, but it does after document {falls[0]}.")
    if offsets[0] != 0 or offsets[-1] != total:
        raise CorpusError(
            f"{name} must run from 0 to the number of entries, {total}; "
            f"it runs from {offsets[0]} to {offsets[-1]}."
        )


def owner_of(offsets: np.ndarray, position: int) -> tuple[int, int]:
    """Return the document that contains a flat position, and the position within that document."""
    document = int(np.searchsorted(offsets, position, side="right")) - 1
    return document, int(position - offsets[document])


def check_ids(
    values: np.ndarray, size: int, offsets: np.ndarray | None, *, what: str, lowest: int = 0
) -> None:
    """Check that ids lie between `lowest` and `size - 1`; errors name the document and position."""
    if len(values) == 0 or (values.min() >= lowest and values.max() < size):
        return
    position = int(np.flatnonzero((values < lowest) | (values >= size))[0])
    where = f"document {position}"
    if offsets is not None:
        where = "document {}, position {}".format(*owner_of(offsets, position))
    raise CorpusError(
        f"The {what} id of {where} must be between {lowest} and {size - 1} "
        f"(there are {size}); got {values[position]}."
    )


def check_arrays(
    folder: Path,
    arrays: Mapping[str, np.ndarray],
    sizes: tuple[int, int, int],
    documents: int,
    first: int = 0,
) -> None:
    """Check all arrays of a corpus, or of a shard of one; see `check_array`."""
    totals = {"offsets": len(arrays["tokens"]), "author_offsets": len(arrays["author_ids"])}
    for name in sorted(arrays, key=lambda name: name not in totals):  # others rely on offsets
        check_array(folder, name, arrays, sizes, documents, first, totals)


def check_array(
    folder: Path,
    name: str,
    arrays: Mapping[str, np.ndarray],
    sizes: tuple[int, int, int],
    documents: int,
    first: int,
    totals: Mapping[str, int],
) -> None:
    """Check an array that was read: compiled code trusts it, so a changed file must be found here.

    Parameters
    ----------
    folder : Path
        Where it is from.
    name : str
    arrays : mapping
        Of a corpus, or of a shard of one; of the others those are read that this one is about.
    sizes : tuple of int
        Words, authors and categories.
    documents : int
        Of the whole corpus.
    first : int
        Number of the first document of the shard.
    totals : mapping
        Where offsets must end, by their name.
    """
    array = arrays[name]
    try:
        if name in totals:
            check_offsets(array, totals[name], name)
        elif name == "tokens":
            check_ids(array, sizes[0], arrays["offsets"], what="word")
        elif name == "author_ids":
            check_ids(array, sizes[1], arrays["author_offsets"], what="author")
        elif name == "categories":
            check_ids(array, sizes[2], None, what="category", lowest=-1)
        elif name == "title_lengths":
            check_lengths(array, arrays["offsets"])
        elif name == "citations":
            _check_citations(array, documents, first, first + len(arrays["categories"]))
    except CorpusError as error:
        raise CorpusError(f"The arrays in '{folder}' are damaged: {error}") from error


def _check_citations(citations: np.ndarray, documents: int, first: int, last: int) -> None:
    pairs = citations.astype(np.int64)
    if not len(pairs):
        return
    keys = pairs[:, 0] * documents + pairs[:, 1]
    if (
        pairs.min() < 0
        or pairs.max() >= documents
        or pairs[0, 0] < first
        or pairs[-1, 0] >= last
        or (np.diff(keys) <= 0).any()
        or (pairs[:, 0] == pairs[:, 1]).any()
    ):
        raise CorpusError("citations are not sorted, unique and inside the corpus.")


def check_lengths(title_lengths: np.ndarray, offsets: np.ndarray) -> None:
    """Check that no title has more words than its document."""
    lengths = np.diff(offsets)
    bad = np.flatnonzero((title_lengths < 0) | (title_lengths > lengths))
    if len(bad):
        raise CorpusError(
            f"The title length of document {bad[0]} must be between 0 and its number of words, "
            f"{lengths[bad[0]]}; got {title_lengths[bad[0]]}."
        )


def check_strings(
    values: Sequence[Any],
    name: str,
    *,
    size: int,
    per: str,
    optional: bool = False,
    unique: bool = False,
) -> list[Any]:
    """Return a list of `size` plain, encodable strings (or None, if `optional`)."""
    if isinstance(values, str | bytes):
        raise CorpusError(f"{name} must be a list of strings; got one string, {values!r}.")
    checked = list(values)
    if len(checked) != size:
        raise CorpusError(
            f"{name} must have one entry per {per}, {size} in total; got {len(checked)}."
        )
    for position, value in enumerate(checked):
        if type(value) is str or (optional and value is None):
            continue
        if not isinstance(value, str):
            hint = " or None" if optional else ""
            raise CorpusError(
                f"{name}[{position}] must be a string{hint}; got {value!r} "
                f"of type {type(value).__name__}."
            )
        checked[position] = str(value)  # NumPy strings cannot be stored in JSON and Parquet
    check_encodable(checked, name)
    if unique and len(set(checked)) != size:
        seen: set[str] = set()
        for position, value in enumerate(checked):
            if value in seen:
                raise CorpusError(
                    f"{name} must be unique; {value!r} occurs again at position {position}."
                )
            seen.add(value)
    return checked


def check_encodable(values: Sequence[str | None], name: str) -> None:
    """Reject lone surrogates (from wrongly decoded input), which cannot be hashed or stored."""
    try:
        "".join(value for value in values if value is not None).encode()
    except UnicodeEncodeError:
        for position, value in enumerate(values):
            if value is not None and any("\ud800" <= c <= "\udfff" for c in value):
                raise CorpusError(
                    f"{name}[{position}] is not valid Unicode text: {value!r}. Decode the input "
                    "with the correct encoding."
                ) from None
        raise


def metadata_column(values: Any, name: str, size: int) -> list[Any]:
    """Return a metadata column as a list of values of one type, None if missing.

    The types are strings, booleans, integers, floats (integers among them become floats) and lists
    of strings: those that JSON and Parquet both support.
    """
    column = values.tolist() if hasattr(values, "tolist") else list(values)
    where = f"metadata[{name!r}]"
    if len(column) != size:
        raise CorpusError(
            f"{where} must have one entry per document, {size} in total; got {len(column)}."
        )
    kinds = {type(value) for value in column if value is not None}
    if kinds <= {str}:
        check_encodable(column, where)
    elif kinds == {int, float}:
        column = [value if value is None else float(value) for value in column]
    elif kinds == {int}:
        large = [v for v in column if v is not None and not _INT64.min <= v <= _INT64.max]
        if large:
            raise CorpusError(f"{where} contains the integer {large[0]}, which exceeds 64 bits.")
    elif kinds in ({list}, {tuple}, {list, tuple}):
        column = [
            value
            if value is None
            else check_strings(value, f"{where}[{i}]", size=len(value), per="item")
            for i, value in enumerate(column)
        ]
    elif kinds not in ({bool}, {float}):
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise CorpusError(
            f"{where} must contain values of one type (strings, booleans, integers, floats or "
            f"lists of strings; None if missing); got {names}. Convert the values first."
        )
    return column


def sort_citations(pairs: np.ndarray, documents: int) -> tuple[np.ndarray, int, int]:
    """Return sorted unique citations, and the numbers of self-citations and repetitions removed."""
    bad = np.flatnonzero(((pairs < 0) | (pairs >= documents)).any(axis=1))
    if len(bad):
        citing, cited = pairs[bad[0]].tolist()
        raise CorpusError(
            f"Citation {bad[0]}, ({citing}, {cited}), points outside the corpus: positions must be "
            f"between 0 and {documents - 1}. Omit citations of unknown documents."
        )
    other = pairs[:, 0] != pairs[:, 1]
    keys = pairs[other, 0] * documents + pairs[other, 1]
    unique = np.unique(keys)
    citations = np.stack([unique // documents, unique % documents], axis=1).astype(np.int32)
    return citations, int(len(pairs) - len(keys)), int(len(keys) - len(unique))


def remove_repeats(
    ids: np.ndarray, offsets: np.ndarray, size: int
) -> tuple[np.ndarray, np.ndarray, int]:
    """Keep the first mention of an id in each document; return ids, offsets and number removed."""
    if len(ids) == 0:
        return ids, offsets, 0
    owner = np.repeat(np.arange(len(offsets) - 1, dtype=np.int64), np.diff(offsets))
    _, first = np.unique(owner * size + ids, return_index=True)
    removed = len(ids) - len(first)
    if removed == 0:
        return ids, offsets, 0
    first.sort()
    counts = np.bincount(owner[first], minlength=len(offsets) - 1)
    return ids[first], np.concatenate(([0], np.cumsum(counts))), removed
