"""Memory of the steps that hold something for every work of a snapshot, at full size.

Run: ``python -m benchmarks.snapshot_memory [WORKS]`` (10 million by default). Works, authors and
words of pieces are made up as numbers and names of the sizes that real ones have: 3.4 authors a
work, and a vocabulary that goes on growing. Everything else of an import holds one piece at a time.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from benchmarks.import_snapshot import MANY, peak_bytes

from citeweave.preparing.snapshot.collecting import PIECE
from citeweave.preparing.snapshot.joining import NumberedWorks, join_words
from citeweave.preparing.snapshot.people import number_authors
from citeweave.preparing.snapshot.pieces import Piece, Ragged

_MENTIONS = int(3.4 * PIECE)
_FIRST = 10**9


class MadePiece(Piece):
    """A piece that is made up when it is asked for."""

    def __init__(self, folder: Path, number: int, works: int) -> None:
        super().__init__(folder, number)
        self._works = works

    def _rng(self, kind: int) -> np.random.Generator:
        return np.random.default_rng((self.part, kind))

    def array(self, name: str) -> np.ndarray:
        """Return the ids of the works."""
        first = _FIRST + self.part * PIECE
        return {"works": np.arange(first, first + PIECE, dtype=np.int64)}[name]

    def authors(self, *_columns: str) -> pl.DataFrame:
        """Return the ids of authors: some write much, most little."""
        keys = 1.2 * self._works * self._rng(1).random(_MENTIONS) ** 1.5
        return pl.DataFrame({"key": keys.astype(np.int64)})

    def ragged(self, name: str) -> Ragged:
        """Give who wrote what, or 20 references of each work."""
        if name == "references":
            cited = _FIRST + self._rng(3).integers(0, self._works, size=20 * PIECE)
            return Ragged(cited, np.arange(0, 20 * PIECE + 1, 20))
        offsets = np.linspace(0, _MENTIONS, PIECE + 1).astype(np.int64)
        return Ragged(np.arange(_MENTIONS, dtype=np.int32), offsets)

    def words(self) -> list[str]:
        """Return words that all pieces have, and rare ones."""
        rare = self._rng(2).integers(0, 8_000_000, size=PIECE).tolist()
        return [f"word{i}" for i in range(30_000)] + [f"rareword{i}" for i in rare]


def main() -> None:
    """Run the steps one after the other."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("works", nargs="?", type=int, default=MANY)
    works = parser.parse_args().works
    start = time.process_time()

    def tell(step: str, number: int) -> None:
        seconds = time.process_time() - start
        print(
            f"{step:>24}: {number:>12,}  {peak_bytes() / 1e9:.2f} GB  {seconds:.1f} cpu s",
            flush=True,
        )

    with tempfile.TemporaryDirectory(prefix="citeweave-bench-") as place:
        pieces: list[Any] = [MadePiece(Path(place), i, works) for i in range(works // PIECE)]
        documents = NumberedWorks.of(pieces)
        tell("documents", len(documents))
        tell("citations of a piece", len(documents.citations(0, pieces[0].ragged("references"))[0]))
        tell("authors", number_authors(pieces, documents.kept))
        tell("words", len(join_words(pieces)))


if __name__ == "__main__":
    main()
