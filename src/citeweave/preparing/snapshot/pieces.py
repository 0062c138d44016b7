"""Pieces: what is kept of some thousand works between the first reading and the corpus.

A piece is a folder of arrays and Parquet tables. Words, authors and places have numbers of their
own in it, which are translated when all pieces are there.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from citeweave.preparing.encode import Joined
from citeweave.reading import Affiliation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

__all__ = ["DOCUMENT_COLUMNS", "Piece", "Ragged", "save_piece"]

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

_AFFILIATION = dict.fromkeys(Affiliation._fields, pl.String) | {"count": pl.Int64}
_AUTHOR = {"key": pl.Int64, "id": pl.String, "orcid": pl.String, "name": pl.String}


@dataclass(frozen=True, slots=True)
class Ragged:
    """Rows of different lengths: row i is ``values[offsets[i]:offsets[i + 1]]``."""

    values: np.ndarray
    offsets: np.ndarray

    @classmethod
    def of(cls, rows: Sequence[Sequence[int] | np.ndarray], dtype: type = np.int32) -> Ragged:
        """Make rows of lists or arrays."""
        lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        parts: list[np.ndarray] = [np.asarray(row, dtype=dtype) for row in rows if len(row)]
        values = np.concatenate(parts) if parts else np.zeros(0, dtype=dtype)
        return cls(values, offsets)

    def rows(self) -> list[list[int]]:
        """Give the rows as lists."""
        values, offsets = self.values.tolist(), self.offsets.tolist()
        return [values[a:b] for a, b in itertools.pairwise(offsets)]

    def take(self, kept: np.ndarray) -> Ragged:
        """Give the rows under a mask."""
        if kept.all():
            return self
        lengths = np.diff(self.offsets)
        offsets = np.concatenate(([0], np.cumsum(lengths[kept])))
        return Ragged(self.values[np.repeat(kept, lengths)], offsets)


def save_piece(
    folder: Path,
    *,
    arrays: Mapping[str, np.ndarray],
    words: Sequence[str],
    authors: Sequence[tuple[int, str | None, str | None, str]],
    places: Mapping[Affiliation, int],
    documents: Mapping[str, Sequence[Any]],
) -> None:
    """Write a piece into a folder that is made for it."""
    folder.mkdir(parents=True)
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array, allow_pickle=False)
    pl.DataFrame({"word": pl.Series(words, dtype=pl.String)}).write_parquet(
        folder / "words.parquet"
    )
    pl.DataFrame(list(authors), schema=_AUTHOR, orient="row").write_parquet(
        folder / "authors.parquet"
    )
    rows = [(*place, count) for place, count in places.items()]
    pl.DataFrame(rows, schema=_AFFILIATION, orient="row").write_parquet(folder / "places.parquet")
    columns = [
        pl.Series(name, documents[name], dtype=dtype) for name, dtype in DOCUMENT_COLUMNS.items()
    ]
    pl.DataFrame(columns).write_parquet(folder / "documents.parquet", compression="lz4")


class Piece:
    """A piece on disk, read as it is asked for.

    Parameters
    ----------
    folder : Path
    part : int
        Number of the part of the snapshot that it is from.
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
        """Read the texts, with the piece's own numbers of words."""
        return Joined(self.array("texts"), self.array("text_offsets"), self.array("titles"))

    def words(self) -> list[str]:
        """Read the words by the piece's own numbers."""
        found: list[str] = pl.read_parquet(self.folder / "words.parquet")["word"].to_list()
        return found

    def authors(self, *columns: str) -> pl.DataFrame:
        """Read columns of the table of authors: one row a spelling."""
        return pl.read_parquet(self.folder / "authors.parquet", columns=list(columns))

    def places(self) -> list[tuple[Affiliation, int]]:
        """Read the affiliations by the piece's own numbers, with how often each is there."""
        rows = pl.read_parquet(self.folder / "places.parquet").rows()
        return [(Affiliation(*row[:-1]), row[-1]) for row in rows]

    def documents(self) -> pl.DataFrame:
        """Read the table of documents."""
        return pl.read_parquet(self.folder / "documents.parquet")
