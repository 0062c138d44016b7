"""The second pass: pieces become the shards of a corpus, independently of each other."""

from __future__ import annotations

import itertools
import shutil
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from citeweave.corpus.affiliations import COLUMNS as PLACE_COLUMNS
from citeweave.corpus.check import remove_repeats
from citeweave.corpus.report import CorpusReport
from citeweave.corpus.shards import shard_name, write_shard
from citeweave.preparing.matching import FATES
from citeweave.preparing.places import PlaceRegister
from citeweave.preparing.run import places_by_author
from citeweave.preparing.snapshot.pieces import DOCUMENT_COLUMNS, text_lists

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from citeweave.preparing.encode import TextPlan
    from citeweave.preparing.places import ResolvedPlaces
    from citeweave.preparing.snapshot.joining import NumberedWorks, RewrittenTexts, StoredTexts
    from citeweave.preparing.snapshot.pieces import Piece

__all__ = ["METADATA", "ShardMaker", "ShardSums", "join_places", "number_categories"]

METADATA = tuple(
    name for name in DOCUMENT_COLUMNS if name not in {"id", "title", "category", "has_abstract"}
)
_FIELDS = ("title", "keywords", "year", "category")


def join_places(pieces: Sequence[Piece]) -> ResolvedPlaces:
    """Identify institutions by their ids; each piece gets the numbers of its own."""
    register = PlaceRegister()
    for piece in pieces:
        numbers = [register.mention(place, count) for place, count in piece.places()]
        np.save(piece.folder / "place_numbers.npy", np.array(numbers, dtype=np.int64))
    return register.resolve()


@dataclass(frozen=True, slots=True)
class ShardMaker:
    """Turns pieces into shards; shards do not depend on each other.

    Attributes
    ----------
    plan : TextPlan
        How texts become tokens.
    pieces, texts
        The input of the shards.
    documents : NumberedWorks
    places : ResolvedPlaces
    n_authors : int
    categories : dict
        Numbers of categories by name.
    """

    plan: TextPlan
    pieces: Sequence[Piece]
    texts: StoredTexts | RewrittenTexts
    documents: NumberedWorks
    places: ResolvedPlaces
    n_authors: int
    categories: dict[str, int]

    def make(self, folder: Path, number: int, pieces: Sequence[int]) -> dict[str, Any]:
        """Write one shard from some pieces; return what the report of the corpus needs."""
        arrays: dict[str, list[np.ndarray]] = {}
        frames = []
        fates: dict[int, Any] = {}
        for place in pieces:
            piece, kept = self.pieces[place], self.documents.kept[place]
            tokens, lengths, titles = self.plan.encode(self.texts.block(place))
            teams = piece.ragged("teams").take(kept)
            authors = piece.array("author_numbers")[teams.values]
            citations, own_fates = self.documents.citations(place, piece.ragged("references"))
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
            fates[piece.part] = fates.get(piece.part, 0) + own_fates
        whole = {name: np.concatenate(parts) for name, parts in arrays.items()}
        made = self._write(folder, number, whole, pl.concat(frames, how="vertical"))
        return made | {"fates": {part: counts.tolist() for part, counts in fates.items()}}

    def _write(
        self, folder: Path, number: int, whole: dict[str, np.ndarray], frame: pl.DataFrame
    ) -> dict[str, Any]:
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
        without = int(np.count_nonzero(np.diff(who_starts) == 0))
        shown = frame.select("id", "title", *METADATA, *PLACE_COLUMNS)
        # an interrupted shard is made again
        shutil.rmtree(folder / shard_name(number), ignore_errors=True)
        return {
            "counts": write_shard(folder, number, written, shown),
            "missing": {
                "duplicate_authors": repeated,
                "empty_documents": int(np.count_nonzero(whole["lengths"] == 0)),
                "documents_without_authors": without,
                "documents_without_category": int(np.count_nonzero(whole["categories"] < 0)),
            },
            "known": _known(frame, len(frame) - without),
            "filled": [name for name in shown.columns if shown[name].null_count() < len(shown)],
            "countries": frame["countries"].explode().drop_nulls().unique().sort().to_list(),
            "institutions": frame["institutions"].explode().drop_nulls().unique().sort().to_list(),
        }

    def _categories(self, column: pl.Series) -> np.ndarray:
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


def _known(frame: pl.DataFrame, with_authors: int) -> dict[str, int]:
    """Count the documents for which each field is known."""
    somewhere = frame["institutions"].is_not_null() | frame["countries"].is_not_null()
    return {
        **{name: len(frame) - frame[name].null_count() for name in _FIELDS},
        "abstract": int(frame["has_abstract"].sum()),
        "authors": with_authors,
        "affiliation": int(somewhere.sum()),
    }


def number_categories(pieces: Sequence[Piece], kept: Sequence[np.ndarray]) -> dict[str, int]:
    """Assign numbers to categories by first use in a document."""
    found: dict[str, int] = {}
    for piece, mask in zip(pieces, kept, strict=True):
        column = piece.documents("category")["category"].filter(pl.Series(mask))
        for name in column.drop_nulls().unique(maintain_order=True).to_list():
            found.setdefault(name, len(found))
    return found


@dataclass(slots=True)
class ShardSums:
    """Totals over the shards of a corpus.

    Attributes
    ----------
    counts : list of dict
        Counts of each shard.
    missing, known : Counter
        Numbers of documents that lack a field, and that have it.
    filled, countries, institutions : set
        Columns with at least one value, and the names that occur.
    fates : dict
        For each part of the snapshot, the outcomes of its references.
    """

    counts: list[dict[str, int]] = field(default_factory=list)
    missing: Counter[str] = field(default_factory=Counter)
    known: Counter[str] = field(default_factory=Counter)
    filled: set[str] = field(default_factory=set)
    countries: set[str] = field(default_factory=set)
    institutions: set[str] = field(default_factory=set)
    fates: dict[int, np.ndarray] = field(default_factory=dict)

    def add(self, made: dict[str, Any]) -> None:
        """Add the result of `ShardMaker.make` for one shard; shards are added in order."""
        self.counts.append(made["counts"])
        self.missing.update(made["missing"])
        self.known.update(made["known"])
        for name in ("filled", "countries", "institutions"):
            getattr(self, name).update(made[name])
        for part, counts in made["fates"].items():
            self.fates[part] = self.fates.get(part, 0) + np.array(counts)

    def corpus_report(self, folder: Path) -> CorpusReport:
        """Return the counts of missing data in the corpus whose shards are in a folder."""
        linked = np.zeros(sum(one["documents"] for one in self.counts), dtype=bool)
        for number in range(len(self.counts)):
            path = folder / shard_name(number) / "arrays" / "citations.npy"
            linked[np.load(path, allow_pickle=False).reshape(-1)] = True
        alone = int(len(linked) - np.count_nonzero(linked))
        return CorpusReport(**self.missing, documents_without_citations=alone)

    def fates_of(self, part: int) -> dict[str, int]:
        """Return the outcomes of the references of a part."""
        counts = self.fates.get(part)
        return dict(
            zip(FATES, (0,) * len(FATES) if counts is None else counts.tolist(), strict=True)
        )
