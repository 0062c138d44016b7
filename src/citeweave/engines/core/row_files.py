"""Arrays of a chain in files, by rows: each part of a divided chain writes the rows it owns.

A file is an uncompressed ``.npz``. The file of a part contains its rows and their indices in the
whole chain (`Rows`, under ``rows.``), so that a chain divided into another number of parts, or not
at all, finds the rows that it needs. Counts of nodes are rows of all topics, or lists of the topics
of each node. Arrays that are the same in all parts are stored in the file of the whole chain
instead (`citeweave.runs.checkpoint`), which lists the parts.
"""

import json
import threading
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from citeweave.engines.core.compact_rows import CompactRows
from citeweave.engines.core.count_lists import (
    COUNTS,
    LISTS,
    TopicLists,
    join_lists,
    lists_of,
    pack_counts,
    rows_of_lists,
    select_rows,
    unpack_counts,
)
from citeweave.engines.core.pieces import list_ranges
from citeweave.errors import RunError
from citeweave.files import write_atomically

__all__ = [
    "BY_ROW",
    "PartFile",
    "Peek",
    "RowMean",
    "Rows",
    "WrittenParts",
    "choose_rows",
    "peek",
    "read_header",
    "read_rows",
    "take_rows",
    "tokens_of",
    "whole_shapes",
    "write_rows",
]

_READING = threading.Lock()
"""One thread reads at a time: NumPy parses the header of an array as an expression, which
occasionally fails in Python 3.11 if other threads do the same (SystemError, recursion depth)."""

_NODE, _DOCUMENT, _CITATION, _TOKEN = "node", "document", "citation", "token"
BY_ROW: Mapping[str, tuple[str, int]] = {
    "state.topics.customers": (_NODE, 0),
    "state.topics.tables": (_NODE, 0),
    "state.topics.total_customers": (_NODE, 0),
    "state.topics.total_tables": (_NODE, 0),
    "state.assignments.topic": (_TOKEN, 0),
    "state.assignments.burst_table": (_TOKEN, 0),
    "state.assignments.citing_topic": (_CITATION, 0),
    "state.assignments.self_topic": (_DOCUMENT, 0),
    "state.parameters.topic_concentration": (_NODE, 0),
    "state.parameters.cite": (_DOCUMENT, 0),
    "state.parameters.cited": (_DOCUMENT, 0),
    "sums.nodes": (_NODE, 0),
    "sums.nodes_squared": (_NODE, 0),
    "sums.documents": (_DOCUMENT, 1),
    "sums.citing": (_CITATION, 0),
    "sums.cite": (_DOCUMENT, 0),
    "sums.cited": (_DOCUMENT, 0),
}
"""Arrays of a state and of sums that are divided between parts, with the kind and the axis of their
rows. All others are the same in every part."""


class Rows(NamedTuple):
    """Rows of a whole chain, by their indices."""

    document: np.ndarray
    """int64 [documents]."""
    node: np.ndarray
    """int64 [nodes]."""
    citation: np.ndarray
    """int64 [citations]."""
    token_start: np.ndarray
    """int64 [documents with words]: first token of each of the first documents in ``document``; the
    words of documents without an entry here are left out."""
    token_count: np.ndarray
    """int64 [documents with words]."""


class RowMean(NamedTuple):
    """Means, or their standard deviations over samples, of some rows of a field of `Sums`."""

    name: str
    field: str
    first: int
    last: int
    """Range of rows of the whole chain; ``last`` is exclusive."""
    rows: int
    """Approximate number of rows per file."""
    layer: int | None = None
    """Index on the field's first axis, if it has several layers of rows."""
    spread: bool = False
    """Whether to write the standard deviation over samples; only for nodes."""


class PartFile(NamedTuple):
    """A file that a part has written."""

    name: str
    bytes: int
    lists: bool
    """Whether counts of nodes are lists."""


class WrittenParts(NamedTuple):
    """Output of the parts of a chain."""

    shared: dict[str, np.ndarray]
    """Arrays that are the same in all parts, for the file of the whole chain."""
    shapes: dict[str, list[int]]
    """Shapes, in the whole chain, of the arrays that are divided."""
    files: list[PartFile]


def tokens_of(start: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Return the indices of tokens, one document after the other.

    Examples
    --------
    >>> tokens_of(np.array([4, 0]), np.array([2, 3])).tolist()
    [4, 5, 0, 1, 2]
    """
    return list_ranges(start, count)


def whole_shapes(parts: Sequence[Mapping[str, Sequence[int]]], **rows: int) -> dict[str, list[int]]:
    """Return the shapes of arrays of a whole chain, given those in its parts.

    ``rows`` has the number of rows of each kind; an array without rows in any part is empty.
    """
    out: dict[str, list[int]] = {}
    for name, found in parts[0].items():
        kind, axis = BY_ROW[name]
        above = name.startswith("sums.") and kind == _NODE  # only nodes above documents have sums
        any_rows = any(shapes[name][axis] for shapes in parts)
        number = rows["shared_node" if above else kind] if any_rows else 0
        out[name] = [*found[:axis], number, *found[axis + 1 :]]
    return out


def choose_rows(arrays: Mapping[str, Any], rows: Rows) -> dict[str, Any]:
    """Take rows of those arrays that are divided; counts that are lists stay lists."""
    found: dict[str, Any] = {
        name: take_rows(name, array, rows)
        for name, array in arrays.items()
        if name in BY_ROW and not isinstance(array, CompactRows)
    }
    customers, tables = (arrays.get(name) for name in COUNTS)
    if isinstance(customers, CompactRows):
        found |= zip(COUNTS, select_rows(customers, tables, rows.node), strict=True)
    return found


def take_rows(name: str, array: np.ndarray, rows: Rows) -> np.ndarray:
    """Take rows of an array of the whole chain; an empty array is returned as it is."""
    kind, axis = BY_ROW[name]
    if not array.shape[axis]:
        return array
    places = tokens_of(rows.token_start, rows.token_count) if kind == _TOKEN else None
    chosen = getattr(rows, kind) if places is None else places
    if name.startswith("sums.") and kind == _NODE:
        chosen = chosen[chosen < array.shape[0]]  # only nodes above documents have sums
    return np.take(array, chosen, axis=axis)


def write_rows(path: Path, rows: Rows, arrays: Mapping[str, Any]) -> PartFile:
    """Write the rows of a part atomically."""
    numbers = {f"rows.{name}": array for name, array in rows._asdict().items()}
    with write_atomically(path) as file:
        np.savez(file, **numbers, **pack_counts(arrays))  # type: ignore[arg-type]
    lists = isinstance(arrays.get(COUNTS[0]), CompactRows)
    return PartFile(path.name, path.stat().st_size, lists)


class Peek(NamedTuple):
    """Summary of a checkpoint for a driver."""

    iteration: int
    network_on: bool
    burst_rows: int
    """Number of tokens with a seat at phi'."""


def peek(path: Path) -> Peek:
    """Read the summary from the file of a whole chain, without reading its parts."""
    name = "state.assignments.burst_table"
    shapes = read_header(path).get("shapes", {})
    with np.load(path, allow_pickle=False) as stored:
        clock = stored["state.clock"]
        burst_rows = shapes[name][0] if name in shapes else len(stored[name])
    return Peek(int(clock[0]), bool(clock[1]), burst_rows)


def read_header(path: Path) -> dict[str, Any]:
    """Read the header of the file of a whole chain."""
    with np.load(path, allow_pickle=False) as stored:
        header = json.loads(stored["header"].tobytes())
    return dict(header)


def read_rows(path: Path, rows: Rows | None = None) -> dict[str, Any]:
    """Read rows of a chain from the file of the whole chain and those of its parts.

    In addition to the result, only one array of one part is in memory at a time; of counts stored
    as lists, the lists of one part and, until they are put together, the wanted lists of all.

    Parameters
    ----------
    path : Path
        File of the whole chain, which lists its parts or contains all arrays.
    rows : Rows, optional
        All rows if not given.

    Returns
    -------
    dict
        Arrays by name: the chosen rows of those in `BY_ROW`, and all others in full. Counts of
        nodes that are stored as lists are `CompactRows`, for reading only.

    Raises
    ------
    RunError
        A file is missing or damaged.
    """
    try:
        with _READING:
            header = read_header(path)
            with np.load(path, allow_pickle=False) as stored:
                found = _whole_arrays(stored, rows)
            if "parts" in header:
                found |= _gather(path.parent / header["folder"], header, rows)
    except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise RunError(f"The checkpoint '{path}' cannot be read ({error}).") from error
    return found


def _whole_arrays(stored: Mapping[str, np.ndarray], rows: Rows | None) -> dict[str, Any]:
    """Read rows from the file of the whole chain, one array at a time."""
    lists = {name: stored[name] for name in stored if name.startswith(LISTS)}
    counts = unpack_counts(lists)
    found = counts if rows is None else choose_rows(counts, rows)
    for name in stored:
        if name not in lists and name != "header":
            array = stored[name]
            if rows is not None and name in BY_ROW:
                array = take_rows(name, array, rows)
            found[name] = array
    return found


def _gather(folder: Path, header: Mapping[str, Any], rows: Rows | None) -> dict[str, Any]:
    """Assemble rows from the files of parts."""
    shapes = {name: tuple(shape) for name, shape in header["shapes"].items()}
    out: dict[str, Any] = {}
    lists: list[tuple[TopicLists, np.ndarray]] = []
    for file in header["parts"]:
        with np.load(folder / file["name"], allow_pickle=False) as stored:
            there = Rows(*(stored[f"rows.{name}"] for name in Rows._fields))
            pick = _matcher(there, rows)
            listed = COUNTS if LISTS + "topic" in stored else ()
            if listed:
                source, target, _ = pick(_NODE)
                counts = unpack_counts({n: stored[n] for n in stored if n.startswith(LISTS)})
                customers, tables = (counts[name] for name in COUNTS)
                lists.append((lists_of(customers, tables, source), target))
            for name, shape in shapes.items():
                if name in listed:
                    continue
                kind, axis = BY_ROW[name]
                values = stored[name]
                if not shape[axis]:
                    out[name] = values
                    continue
                source, target, size = pick(kind)
                if name.startswith("sums.") and kind == _NODE:
                    inside = source < len(values)
                    source, target = source[inside], target[inside]
                    size = 0 if rows is None else int((rows.node < shape[0]).sum())
                if name not in out:
                    size = shape[axis] if rows is None else size
                    out[name] = np.zeros((*shape[:axis], size, *shape[axis + 1 :]), values.dtype)
                place: tuple[Any, ...] = (slice(None),) * axis
                out[name][(*place, target)] = values[(*place, source)]
    if lists:
        nodes = shapes[COUNTS[0]][0] if rows is None else len(rows.node)
        out |= zip(COUNTS, rows_of_lists(join_lists(lists, nodes)), strict=True)
    return out


def _matcher(
    there: Rows, wanted: Rows | None
) -> Callable[[str], tuple[np.ndarray, np.ndarray, int]]:
    """Return a function that finds, by kind, wanted rows' places in a part and in the result."""
    known: dict[str, tuple[np.ndarray, np.ndarray, int]] = {}

    def pick(kind: str) -> tuple[np.ndarray, np.ndarray, int]:
        if kind not in known:
            known[kind] = _places(kind, there, wanted)
        return known[kind]

    return pick


def _places(kind: str, there: Rows, wanted: Rows | None) -> tuple[np.ndarray, np.ndarray, int]:
    if kind == _TOKEN:
        return _token_places(there, wanted)
    numbers = getattr(there, kind)
    if wanted is None:
        return np.arange(len(numbers)), numbers, 0
    return *_both(numbers, getattr(wanted, kind)), len(getattr(wanted, kind))


def _both(numbers: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find wanted numbers among ascending ones; return places in both arrays."""
    if not len(numbers):
        nothing = np.zeros(0, np.int64)
        return nothing, nothing
    place = np.minimum(np.searchsorted(numbers, wanted), len(numbers) - 1)
    has = numbers[place] == wanted
    return place[has], np.flatnonzero(has)


def _token_places(there: Rows, wanted: Rows | None) -> tuple[np.ndarray, np.ndarray, int]:
    count = there.token_count
    if wanted is None:
        return np.arange(count.sum()), tokens_of(there.token_start, count), 0
    with_words = wanted.document[: len(wanted.token_count)]
    source, target = _both(there.document, with_words)
    lengths = wanted.token_count[target]
    begins = np.cumsum(count) - count
    places = np.cumsum(wanted.token_count) - wanted.token_count
    return (
        tokens_of(begins[source], lengths),
        tokens_of(places[target], lengths),
        int(wanted.token_count.sum()),
    )
