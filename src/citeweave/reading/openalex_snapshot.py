"""The OpenAlex snapshot: where its parts are, and the works of one part.

Three layouts are read, by their folders: ``data/parquet/works`` and ``data/jsonl/works`` with a
``manifest.json`` above them (since 2026), and ``data/works`` with a ``manifest`` inside (before).
In each, parts are in folders ``updated_date=…``.
"""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np

from citeweave.errors import CorpusError
from citeweave.files import parquet_errors, parquet_reason
from citeweave.reading.entities import ENTITY, decode_all, has_entities
from citeweave.reading.narrow_json import narrow_decoder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from citeweave.reading.problems import FileContext
    from citeweave.reading.where import Where

__all__ = ["SnapshotPart", "find_parts", "is_snapshot", "works_folder", "works_of"]

_PLACES = (
    *("data/parquet/works", "parquet/works", "data/jsonl/works", "jsonl/works", "data/works"),
    *("legacy-data/works", "works", "."),
)
_ENDINGS = (".gz", ".parquet", ".jsonl")
_ROWS = 2_000
_MANY, _PACKED = 1 << 20, 1 << 16
_INDEX, _CITED = "abstract_inverted_index", "referenced_works"
_PREFIX = "https://openalex.org/W"
_NAMES = {"display_name": None}
# The fields that an import uses; only these parts of nested objects are read from Parquet.
_WANTED: dict[str, Any] = {
    "id": None,
    "doi": None,
    "title": None,
    "display_name": None,
    "publication_year": None,
    "publication_date": None,
    "language": None,
    "type": None,
    "cited_by_count": None,
    "updated_date": None,
    "primary_location": {"source": _NAMES},
    "best_oa_location": {"source": _NAMES},
    "host_venue": _NAMES,
    "primary_topic": {"field": _NAMES},
    "concepts": {"level": None, "display_name": None},
    "keywords": {"display_name": None, "keyword": None},
    "funders": _NAMES,
    "grants": {"funder_display_name": None},
    "authorships": {
        "author": {"id": None, "display_name": None, "orcid": None},
        "raw_author_name": None,
        "institutions": {"id": None, "display_name": None, "ror": None, "country_code": None},
        "countries": None,
    },
    _CITED: None,
    _INDEX: None,
    "abstract": None,
}


class SnapshotPart(NamedTuple):
    """One file of works.

    Attributes
    ----------
    path : Path
    name : str
        Path below the folder of works, with slashes.
    size : int
        Size in bytes.
    """

    path: Path
    name: str
    size: int


def works_folder(folder: Path) -> Path | None:
    """Find the folder of works inside a snapshot, or inside a folder of it; None if there is none.

    If the works exist as both Parquet and JSON Lines, Parquet is used, which is faster to read.
    """
    for place in _PLACES:
        works = folder / place
        if works.is_dir() and any(works.glob("updated_date=*/")):
            return works
    return None


def is_snapshot(path: str | Path) -> bool:
    """Return whether a path is a folder with the works of a snapshot.

    Examples
    --------
    >>> is_snapshot("works.jsonl.gz")
    False
    """
    folder = Path(path)
    return folder.is_dir() and works_folder(folder) is not None


def find_parts(folder: Path) -> list[SnapshotPart]:
    """List the parts of works in a snapshot, by name.

    Raises
    ------
    CorpusError
        The folder is not a snapshot, or lacks parts that its manifest lists.
    """
    works = works_folder(folder)
    if works is None:
        raise CorpusError(
            f"'{folder}' is not an OpenAlex snapshot: it contains no works/updated_date=…, as "
            "data/parquet, data/jsonl and the data of older snapshots do."
        )
    paths = sorted(
        path
        for path in works.glob("updated_date=*/*")
        if path.is_file() and path.name.endswith(_ENDINGS) and not path.name.startswith(".")
    )
    parts = [
        SnapshotPart(path, path.relative_to(works).as_posix(), path.stat().st_size)
        for path in paths
    ]
    _check_manifest(works, {part.name for part in parts})
    if not parts:
        raise CorpusError(f"'{works}' contains no parts; download the snapshot again.")
    return parts


def _check_manifest(works: Path, names: set[str]) -> None:
    """Compare with the manifest, if any: a missing part would otherwise go unnoticed."""
    for path in (works.parent / "manifest.json", works / "manifest", works / "manifest.json"):
        if not path.is_file():
            continue
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise CorpusError(f"The manifest '{path}' cannot be read ({error}).") from error
        named = [url.rpartition("/works/")[2] for url in _addresses(content) if "/works/" in url]
        missing = [name for name in named if name not in names]
        if missing:
            raise CorpusError(
                f"'{path}' names {len(named)} parts of works, of which {len(missing)} are not "
                f"there, such as '{missing[0]}'. Fetch them, or remove the manifest to import "
                "what is there."
            )


def _addresses(content: Any) -> Iterator[str]:
    """Yield everything in a manifest that looks like the address of a part."""
    if isinstance(content, dict):
        for value in content.values():
            yield from _addresses(value)
    elif isinstance(content, list):
        for value in content:
            yield from _addresses(value)
    elif isinstance(content, str) and content.endswith(_ENDINGS):
        yield content


def works_of(
    path: Path, context: FileContext, where: Where | None = None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line, work) for the works in a part that meet the conditions.

    Works contain only the fields that an import uses. ``abstract_inverted_index`` may be JSON text
    in bytes, and ``referenced_works`` the same or an array of the numbers in the ids, because
    Python objects are not needed. `context.counts.read` counts all works, including those that do
    not meet the conditions.
    """
    if path.suffix == ".parquet":
        yield from _from_parquet(path, context, where)
    else:
        yield from _from_lines(path, context, where)


def _from_lines(
    path: Path, context: FileContext, where: Where | None
) -> Iterator[tuple[int, dict[str, Any]]]:
    # conditions may refer to fields that an import does not use
    asked = {} if where is None else dict.fromkeys(where.columns)
    loads = narrow_decoder(_WANTED | asked, as_bytes=[_INDEX, _CITED])
    counts = context.counts
    number = 0
    try:
        for number, line in enumerate(_lines(path), start=1):
            try:
                work = loads(line)
            except (ValueError, RecursionError) as error:
                if line.strip():
                    context.skip(number, f"line is not valid JSON and was skipped ({error})")
                continue
            if not isinstance(work, dict):
                context.skip(number, f"expected a JSON object, got {type(work).__name__}")
                continue
            counts.read += 1
            if where is None or where.holds(work):
                yield number, decode_all(work) if has_entities(line) else work
    except (OSError, EOFError, zlib.error) as error:
        # works before the damage count; the import reports that the part is damaged
        context.refuse(f"is damaged after line {number} ({error}); fetch it again")


def _lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file, which is read in large blocks for speed."""
    rest = b""
    with path.open("rb") as file:
        for piece in (
            _unpacked(file) if path.suffix == ".gz" else iter(lambda: file.read(_MANY), b"")
        ):
            *whole, rest = (rest + piece).split(b"\n")
            yield from whole
    if rest:
        yield rest


def _unpacked(file: BinaryIO) -> Iterator[bytes]:
    """Unpack a gzip file of one or more members; the module `gzip` takes a third longer."""
    unzip = None
    while packed := file.read(_PACKED):
        while packed:
            if unzip is None or unzip.eof:
                packed = packed.lstrip(b"\0")  # some programs pad the last block with zeros
                if not packed:
                    break
                unzip = zlib.decompressobj(wbits=31)
            yield unzip.decompress(packed)
            packed = unzip.unused_data
    if unzip is not None and not unzip.eof:
        raise EOFError("the file ends before its last block does")


def _from_parquet(
    path: Path, context: FileContext, where: Where | None
) -> Iterator[tuple[int, dict[str, Any]]]:
    import polars as pl  # noqa: PLC0415 (other formats need none of it)

    try:
        table = pl.scan_parquet(path)
        schema = table.collect_schema()
        rows = int(table.select(pl.len()).collect().item())
        context.counts.read += rows
        wanted = [_narrow(pl, name, schema[name]) for name in _WANTED if name in schema]
        chosen = None
        if where is not None:
            known = [name for name in where.columns if name in schema]
            chosen = [where.holds(row) for row in _rows(table.select(known), rows)]
        for first in range(0, rows, _ROWS):
            some = table.slice(first, _ROWS)
            numbers = range(first, min(first + _ROWS, rows))
            if chosen is not None:
                numbers = [number for number in numbers if chosen[number]]  # type: ignore[assignment]
                if not numbers:
                    continue
                some = some.filter(pl.Series(chosen[first : first + _ROWS]))
            frame = some.select(wanted).collect()
            encoded = _with_entities(pl, frame)
            cited = _cited_numbers(pl, frame)
            if cited is not None:
                frame = frame.drop(_CITED)
            for i, work in enumerate(frame.iter_rows(named=True)):
                for name in encoded:
                    work[name] = decode_all(work[name])
                work[_INDEX] = _index(work.get(_INDEX))
                if cited is not None:
                    work[_CITED] = cited[i]
                yield numbers[i] + 1, work
    except parquet_errors(pl) as error:
        context.refuse(f"cannot be read as Parquet ({parquet_reason(error)}); fetch it again")


def _rows(table: Any, rows: int) -> Iterator[dict[str, Any]]:
    for first in range(0, rows, 10 * _ROWS):
        yield from table.slice(first, 10 * _ROWS).collect().iter_rows(named=True)


def _narrow(pl: Any, name: str, dtype: Any) -> Any:
    """Keep only the wanted fields of a nested column, so that no others become objects."""
    narrow = _narrowed(pl, dtype, _WANTED[name])
    return pl.col(name) if narrow == dtype else pl.col(name).cast(narrow)


def _narrowed(pl: Any, dtype: Any, wanted: Mapping[str, Any] | None) -> Any:
    if wanted is None:
        return dtype
    if isinstance(dtype, pl.List):
        return pl.List(_narrowed(pl, dtype.inner, wanted))
    if isinstance(dtype, pl.Struct):
        return pl.Struct(
            [
                pl.Field(field.name, _narrowed(pl, field.dtype, wanted[field.name]))
                for field in dtype.fields
                if field.name in wanted
            ]
        )
    return dtype


def _with_entities(pl: Any, frame: Any) -> list[str]:
    """Return the columns in which a text has an entity: few, and decoding all would take long."""
    # ids have no entities, and abstracts are decoded when they are put together
    apart = {_CITED, _INDEX}
    return [
        name for name in frame.columns if name not in apart and _mentions_entity(pl, frame[name])
    ]


def _mentions_entity(pl: Any, column: Any) -> bool:
    if isinstance(column.dtype, pl.List):
        return _mentions_entity(pl, column.explode())
    if isinstance(column.dtype, pl.Struct):
        return any(_mentions_entity(pl, column.struct.field(f.name)) for f in column.dtype.fields)
    return column.dtype == pl.String and bool(column.str.contains(ENTITY).any())


def _cited_numbers(pl: Any, frame: Any) -> list[np.ndarray] | None:
    """Return the numbers of the works that each row cites; None if one has no OpenAlex id."""
    if _CITED not in frame.columns or frame[_CITED].dtype != pl.List(pl.String):
        return None
    lengths = frame[_CITED].list.len().fill_null(0).to_numpy()
    flat = frame[_CITED].list.drop_nulls().explode().drop_nulls()
    numbers = flat.str.strip_prefix(_PREFIX).cast(pl.Int64, strict=False)
    if len(numbers) != lengths.sum() or numbers.null_count() or (numbers < 0).any():
        return None
    return np.split(numbers.to_numpy(), np.cumsum(lengths[:-1]))


def _index(value: Any) -> Any:
    """Return the inverted index of an abstract as in JSON Lines; Parquet has a text or a map."""
    if isinstance(value, str):
        return None if value == "null" else value.encode()
    if isinstance(value, list):
        return {pair["key"]: pair["value"] for pair in value if isinstance(pair, dict)}
    return value
