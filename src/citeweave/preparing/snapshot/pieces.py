"""Pieces: the data of some thousand works, stored between the first and the second pass.

A piece is a folder of arrays and Parquet tables. Words, authors and places are numbered within the
piece; these numbers are translated when all pieces exist.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from citeweave.preparing.text_columns import Joined
from citeweave.reading import Affiliation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

__all__ = ["DOCUMENT_COLUMNS", "Piece", "Ragged", "save_piece", "text_lists"]

DOCUMENT_COLUMNS: dict[str, Any] = {
    "id": pl.String,
    "title": pl.String,
    "year": pl.Int64,
    "venue": pl.String,
    "doi": pl.String,
    "keywords": pl.List(pl.String),
    "abstract": pl.String,
    "document_type": pl.String,
    "cited_by": pl.Int64,
    "funders": pl.List(pl.String),
    "category": pl.String,
    "has_abstract": pl.Boolean,
}
"""Columns of the table of documents, with their types."""

_MARK = "\x1f"
_AFFILIATION = dict.fromkeys(Affiliation._fields, pl.String) | {"count": pl.Int64}
_AUTHOR = {"key": pl.Int64, "id": pl.String, "orcid": pl.String, "name": pl.String}


@dataclass(frozen=True, slots=True)
class Ragged:
    """Rows of different lengths: row i is ``values[offsets[i]:offsets[i + 1]]``."""

    values: np.ndarray
    offsets: np.ndarray

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]]) -> Ragged:
        """Make rows of lists of small numbers."""
        offsets = _offsets(rows)
        total = int(offsets[-1])
        return cls(np.fromiter(chain.from_iterable(rows), dtype=np.int32, count=total), offsets)

    @classmethod
    def joined(cls, rows: Sequence[np.ndarray]) -> Ragged:
        """Make rows of arrays of large numbers."""
        return cls(np.concatenate([np.zeros(0, dtype=np.int64), *rows]), _offsets(rows))

    def rows(self) -> list[list[int]]:
        """Return the rows as lists."""
        values, offsets = self.values.tolist(), self.offsets.tolist()
        return [values[a:b] for a, b in pairwise(offsets)]

    def take(self, kept: np.ndarray) -> Ragged:
        """Return the rows selected by a mask."""
        if kept.all():
            return self
        lengths = np.diff(self.offsets)
        offsets = np.concatenate(([0], np.cumsum(lengths[kept])))
        return Ragged(self.values[np.repeat(kept, lengths)], offsets)


def _offsets(rows: Sequence[Sequence[int]] | Sequence[np.ndarray]) -> np.ndarray:
    lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
    return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(lengths)))


def text_lists(name: str, rows: Sequence[list[str] | None]) -> pl.Series:
    """Make a column of lists of texts, none of them empty; None if there is none.

    polars would make a column of every list, which takes fifty times as long as splitting texts.
    """
    joined = [None if row is None else _MARK.join(row) for row in rows]
    found = pl.Series(name, joined, dtype=pl.String).str.split(_MARK)
    total = sum(len(row) for row in rows if row is not None)
    if int(found.list.len().sum() or 0) != total:  # a text contains the separator
        return pl.Series(name, rows, dtype=pl.List(pl.String))
    return found


def save_piece(
    folder: Path,
    *,
    arrays: Mapping[str, np.ndarray],
    words: Sequence[str],
    authors: Sequence[tuple[int, str | None, str | None, str]],
    places: Mapping[Affiliation, int],
    documents: Mapping[str, Sequence[Any]],
) -> None:
    """Write a piece into a new folder."""
    folder.mkdir(parents=True)
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array, allow_pickle=False)
    pl.DataFrame({"word": pl.Series(words, dtype=pl.String)}).write_parquet(
        folder / "words.parquet", compression="lz4"
    )
    people = zip(*authors, strict=True) if authors else [()] * len(_AUTHOR)
    pl.DataFrame(dict(zip(_AUTHOR, people, strict=True)), schema=_AUTHOR).write_parquet(
        folder / "authors.parquet", compression="lz4"
    )
    rows = [(*place, count) for place, count in places.items()]
    pl.DataFrame(rows, schema=_AFFILIATION, orient="row").write_parquet(
        folder / "places.parquet", compression="lz4"
    )
    columns = [
        text_lists(name, documents[name])
        if dtype == pl.List(pl.String)
        else pl.Series(name, documents[name], dtype=dtype)
        for name, dtype in DOCUMENT_COLUMNS.items()
    ]
    pl.DataFrame(columns).write_parquet(folder / "documents.parquet", compression="lz4")


class Piece:
    """A piece on disk, read on demand.

    Parameters
    ----------
    folder : Path
    part : int
        Number of the part of the snapshot that it comes from.
    """

    def __init__(self, folder: Path, part: int) -> None:
        self.folder = folder
        self.part = part

    def array(self, name: str) -> np.ndarray:
        """Read an array."""
        found: np.ndarray = np.load(self.folder / f"{name}.npy", allow_pickle=False)
        return found

    def ragged(self, name: str) -> Ragged:
        """Read rows of different lengths."""
        return Ragged(self.array(name), self.array(f"{name}_offsets"))

    def texts(self) -> Joined:
        """Read the texts, with the word numbers of the piece."""
        return Joined(self.array("texts"), self.array("text_offsets"), self.array("titles"))

    def words(self) -> list[str]:
        """Read the words, by their numbers in the piece."""
        found: list[str] = pl.read_parquet(self.folder / "words.parquet")["word"].to_list()
        return found

    def authors(self, *columns: str) -> pl.DataFrame:
        """Read columns of the table of authors, which has one row per spelling."""
        return pl.read_parquet(self.folder / "authors.parquet", columns=list(columns))

    def places(self) -> list[tuple[Affiliation, int]]:
        """Read the affiliations, by their numbers in the piece, with their frequencies."""
        rows = pl.read_parquet(self.folder / "places.parquet").rows()
        return [(Affiliation(*row[:-1]), row[-1]) for row in rows]

    def documents(self, *columns: str) -> pl.DataFrame:
        """Read columns of the table of documents; all of them if none is named."""
        return pl.read_parquet(self.folder / "documents.parquet", columns=list(columns) or None)
