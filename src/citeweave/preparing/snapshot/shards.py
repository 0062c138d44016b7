"""The second reading: pieces become the shards of a corpus."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from citeweave.corpus.affiliations import COLUMNS as PLACE_COLUMNS
from citeweave.corpus.check import remove_repeats
from citeweave.corpus.report import CorpusReport
from citeweave.corpus.shards import write_shard
from citeweave.preparing.matching import FATES
from citeweave.preparing.places import PlaceRegister
from citeweave.preparing.run import places_by_author
from citeweave.preparing.snapshot.pieces import DOCUMENT_COLUMNS, text_lists

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from citeweave.preparing.encode import TextPlan
    from citeweave.preparing.places import ResolvedPlaces
    from citeweave.preparing.snapshot.joining import NumberedWorks
    from citeweave.preparing.snapshot.pieces import Piece
    from citeweave.preparing.text_columns import Joined

__all__ = ["ShardMaker", "join_places"]

METADATA = tuple(
    name for name in DOCUMENT_COLUMNS if name not in {"id", "title", "category", "has_abstract"}
)
_FIELDS = ("title", "keywords", "year", "category")


def join_places(pieces: Sequence[Piece]) -> ResolvedPlaces:
    """Tell institutions apart by their ids; each piece is given the numbers of its own."""
    register = PlaceRegister()
    for piece in pieces:
        numbers = [register.mention(place, count) for place, count in piece.places()]
        np.save(piece.folder / "place_numbers.npy", np.array(numbers, dtype=np.int64))
    return register.resolve()


@dataclass(slots=True)
class ShardMaker:
    """Turns pieces into shards, and counts what is in them.

    Attributes
    ----------
    folder : Path
        Of the corpus in the making.
    plan : TextPlan
        How texts become tokens.
    documents : NumberedWorks
    places : ResolvedPlaces
    n_authors : int
    counts : list of dict
        Of each shard written.
    fates : dict
        For each part of the snapshot, what became of its references.
    """

    folder: Path
    plan: TextPlan
    documents: NumberedWorks
    places: ResolvedPlaces
    n_authors: int
    counts: list[dict[str, int]] = field(default_factory=list)
    fates: dict[int, np.ndarray] = field(default_factory=dict)
    known: dict[str, int] = field(default_factory=dict)
    categories: dict[str, int] = field(default_factory=dict)
    filled: set[str] = field(default_factory=set)
    report: dict[str, int] = field(default_factory=dict)
    countries: set[str] = field(default_factory=set)
    institutions: set[str] = field(default_factory=set)
    _linked: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=bool))

    def __post_init__(self) -> None:
        """Begin with no citation."""
        self._linked = np.zeros(len(self.documents), dtype=bool)

    def add(self, pieces: Sequence[tuple[int, Piece, Joined]]) -> None:
        """Write one shard of some pieces, each with its number and its texts."""
        arrays: dict[str, list[np.ndarray]] = {}
        frames = []
        for number, piece, texts in pieces:
            kept = self.documents.kept[number]
            tokens, lengths, titles = self.plan.encode(texts)
            teams = piece.ragged("teams").take(kept)
            authors = piece.array("author_numbers")[teams.values]
            citations, fates = self.documents.citations(number, piece.ragged("references"))
            table = piece.documents().filter(pl.Series(kept))
            own = {
                "tokens": tokens,
                "lengths": lengths,
                "title_lengths": titles,
                "author_ids": authors.astype(np.int64),
                "team_lengths": np.diff(teams.offsets),
                "categories": self._categories(table["category"]),
                "citations": citations,
            }
            for name, array in own.items():
                arrays.setdefault(name, []).append(array)
            frames.append(self._with_places(table, piece, kept, authors, teams.offsets))
            self.fates[piece.part] = self.fates.get(piece.part, 0) + fates
        whole = {name: np.concatenate(parts) for name, parts in arrays.items()}
        self._write(whole, pl.concat(frames, how="vertical"))

    def _write(self, whole: dict[str, np.ndarray], frame: pl.DataFrame) -> None:
        offsets = np.concatenate(([0], np.cumsum(whole["lengths"])))
        starts = np.concatenate(([0], np.cumsum(whole["team_lengths"])))
        who, who_starts, repeated = remove_repeats(
            whole["author_ids"], starts, max(self.n_authors, 1)
        )
        written = {
            "tokens": whole["tokens"],
            "offsets": offsets,
            "title_lengths": whole["title_lengths"],
            "author_ids": who,
            "author_offsets": who_starts,
            "categories": whole["categories"],
            "citations": whole["citations"],
        }
        self._linked[whole["citations"].reshape(-1)] = True
        self._count("duplicate_authors", repeated)
        self._count("empty_documents", int(np.count_nonzero(whole["lengths"] == 0)))
        without = int(np.count_nonzero(np.diff(who_starts) == 0))
        self._count("documents_without_authors", without)
        self._count("documents_without_category", int(np.count_nonzero(whole["categories"] < 0)))
        self._describe(frame, len(frame) - without)
        shown = frame.select("id", "title", *METADATA, *PLACE_COLUMNS)
        self.filled |= {name for name in shown.columns if shown[name].null_count() < len(shown)}
        self.counts.append(write_shard(self.folder, len(self.counts), written, shown))

    def _count(self, name: str, number: int) -> None:
        self.report[name] = self.report.get(name, 0) + number

    def _describe(self, frame: pl.DataFrame, with_authors: int) -> None:
        counts = {name: len(frame) - frame[name].null_count() for name in _FIELDS}
        counts |= {"abstract": int(frame["has_abstract"].sum()), "authors": with_authors}
        somewhere = frame["institutions"].is_not_null() | frame["countries"].is_not_null()
        counts["affiliation"] = int(somewhere.sum())
        for name, number in counts.items():
            self.known[name] = self.known.get(name, 0) + number
        self.countries.update(frame["countries"].explode().drop_nulls().unique().to_list())
        self.institutions.update(frame["institutions"].explode().drop_nulls().unique().to_list())

    def _categories(self, column: pl.Series) -> np.ndarray:
        """Give categories numbers by first use."""
        for name in column.drop_nulls().unique(maintain_order=True).to_list():
            self.categories.setdefault(name, len(self.categories))
        codes = column.replace_strict(
            list(self.categories), list(self.categories.values()), default=-1, return_dtype=pl.Int64
        )
        return codes.fill_null(-1).to_numpy()

    def _with_places(
        self,
        table: pl.DataFrame,
        piece: Piece,
        kept: np.ndarray,
        authors: np.ndarray,
        starts: np.ndarray,
    ) -> pl.DataFrame:
        """Add the columns of institutions and countries."""
        mention = piece.array("place_numbers").tolist()
        teams = piece.ragged("teams")
        entries = np.repeat(kept, np.diff(teams.offsets))
        own = [
            [mention[i] for i in row] for row in piece.ragged("team_places").take(entries).rows()
        ]
        rest = [[mention[i] for i in row] for row in piece.ragged("other_places").take(kept).rows()]
        people, ends = authors.tolist(), starts.tolist()
        by_author = [places_by_author(people[a:b], own[a:b]) for a, b in itertools.pairwise(ends)]
        made = self.places.columns(by_author, rest)
        empty: list[list[str] | None] = [None] * len(table)
        return table.with_columns(
            [text_lists(name, made.get(name, empty)) for name in PLACE_COLUMNS]
        )

    def corpus_report(self) -> CorpusReport:
        """Give the counts of what is missing in the whole corpus."""
        alone = int(len(self._linked) - np.count_nonzero(self._linked))
        return CorpusReport(**self.report, documents_without_citations=alone)

    def fates_of(self, part: int) -> dict[str, int]:
        """Give what became of the references of a part."""
        counts = self.fates.get(part)
        return dict(
            zip(FATES, (0,) * len(FATES) if counts is None else counts.tolist(), strict=True)
        )
