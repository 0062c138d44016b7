"""Storage of the strings of a corpus: in memory, in Parquet tables, or in a larger corpus.

The sampler needs arrays only. Strings (words, names, titles, metadata) are accessed through a
`TextStore`, which reads a column on first use.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Protocol

import numpy as np

from citeweave.corpus.canonical import canonical_bytes

__all__ = ["NAME_COLUMN", "MemoryText", "Metadata", "SubsetText", "TextStore"]
__all__ += ["hash_blocks", "hash_contents"]

# The column of names in each table except the table of documents.
NAME_COLUMN = {"vocabulary": "word", "authors": "name", "categories": "name"}

_ARRAY_TYPES = {
    "tokens": "<i4",
    "offsets": "<i8",
    "title_lengths": "<i4",
    "author_ids": "<i4",
    "author_offsets": "<i8",
    "categories": "<i4",
    "citations": "<i4",
}


class TextStore(Protocol):
    """The string columns of a corpus."""

    @property
    def metadata_names(self) -> tuple[str, ...]:
        """Names of the further columns of the table of documents."""

    def column(self, table: str, name: str) -> list[Any]:
        """Return one column of "documents", "vocabulary", "authors" or "categories"."""


class MemoryText:
    """Columns stored as lists."""

    def __init__(
        self, columns: Mapping[tuple[str, str], list[Any]], metadata: Sequence[str] = ()
    ) -> None:
        self._columns: dict[tuple[str, str], list[Any]] = dict(columns)
        self._metadata = tuple(metadata)

    @property
    def metadata_names(self) -> tuple[str, ...]:
        """Names of the further columns of the table of documents."""
        return self._metadata

    def column(self, table: str, name: str) -> list[Any]:
        """Return one column."""
        return self._columns[table, name]


class SubsetText:
    """A subset of the documents of another store, which shares the other tables."""

    def __init__(self, parent: TextStore, index: np.ndarray) -> None:
        self._parent = parent
        self._index = index
        self._gathered: dict[str, list[Any]] = {}

    @property
    def metadata_names(self) -> tuple[str, ...]:
        """Names of the further columns of the table of documents."""
        return self._parent.metadata_names

    def column(self, table: str, name: str) -> list[Any]:
        """Return one column, gathered from the parent on first use."""
        if table != "documents":
            return self._parent.column(table, name)
        if name not in self._gathered:
            values = self._parent.column(table, name)
            take = getattr(values, "take", None)  # sharded columns read each shard only once
            self._gathered[name] = (
                [values[i] for i in self._index.tolist()] if take is None else take(self._index)
            )
        return self._gathered[name]


class Metadata(Mapping[str, list[Any]]):
    """Further columns by document (year, venue, abstract, ...), each read on first use."""

    def __init__(self, text: TextStore) -> None:
        self._text = text

    def __getitem__(self, name: str) -> list[Any]:
        """Return a column with one value per document."""
        if name not in self._text.metadata_names:
            raise KeyError(name)
        return self._text.column("documents", name)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the columns."""
        return iter(self._text.metadata_names)

    def __len__(self) -> int:
        """Return the number of columns."""
        return len(self._text.metadata_names)

    def __repr__(self) -> str:
        """Show the names of the columns without reading them."""
        return f"Metadata({', '.join(self)})"


def hash_contents(arrays: Mapping[str, np.ndarray], sizes: Sequence[int], text: TextStore) -> str:
    """Hash arrays and strings, independently of the platform and of how the corpus was built.

    Parameters
    ----------
    arrays
        The seven arrays of a corpus by name.
    sizes
        Sizes of the vocabulary, author and category tables.
    text
        The strings, including metadata.
    """
    shapes = {name: array.shape for name, array in arrays.items()}
    return hash_blocks(shapes, lambda name: [arrays[name]], sizes, text)


def hash_blocks(
    shapes: Mapping[str, tuple[int, ...]],
    blocks: Callable[[str], Iterable[np.ndarray]],
    sizes: Sequence[int],
    text: TextStore,
) -> str:
    """Compute the same hash as `hash_contents`, with each array given in consecutive blocks.

    Parameters
    ----------
    shapes
        Shapes of the whole arrays by name.
    blocks
        Returns the blocks of an array, given its name.
    sizes, text
        As there.
    """
    digest = hashlib.sha256(f"citeweave-corpus 1 {list(sizes)}".encode())
    for name, dtype in _ARRAY_TYPES.items():
        digest.update(f"\n{name} {dtype} {shapes[name]}\n".encode())
        for block in blocks(name):
            digest.update(np.ascontiguousarray(block, dtype=dtype).reshape(-1).data)
    columns = [*NAME_COLUMN.items(), ("documents", "id"), ("documents", "title")]
    columns += [("documents", name) for name in sorted(text.metadata_names)]
    for table, name in columns:
        values = text.column(table, name)
        digest.update(f"\n{table} {name!r} {len(values)}\n".encode())
        stored = getattr(values, "canonical", None)  # columns of shards: no object for each value
        for some in _batches(values) if stored is None else stored():
            digest.update(some)
    return digest.hexdigest()


def _batches(values: Iterable[Any], size: int = 4096) -> Iterator[bytes]:
    """Yield the bytes of the values, a given number at a time."""
    source = iter(values)
    while some := list(islice(source, size)):
        yield canonical_bytes(some)
