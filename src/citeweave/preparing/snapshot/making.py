"""From the pieces of all parts to the files of a corpus, in steps whose results are stored."""

from __future__ import annotations

from concurrent.futures import as_completed
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from citeweave.corpus.affiliations import COLUMNS as PLACE_COLUMNS
from citeweave.corpus.shards import finish_shards
from citeweave.errors import CorpusError
from citeweave.preparing.encode import plan_text
from citeweave.preparing.pipeline import WordRules
from citeweave.preparing.snapshot.joining import (
    NumberedWorks,
    RewrittenTexts,
    StoredTexts,
    join_words,
)
from citeweave.preparing.snapshot.kept import KeptSteps
from citeweave.preparing.snapshot.people import author_names, number_authors
from citeweave.preparing.snapshot.pieces import Piece
from citeweave.preparing.snapshot.pool import worker_pool
from citeweave.preparing.snapshot.reporting import begin_report, finish_report
from citeweave.preparing.snapshot.shards import (
    METADATA,
    ShardMaker,
    ShardSums,
    join_places,
    number_categories,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from citeweave.preparing.encode import TextPlan
    from citeweave.preparing.places import ResolvedPlaces
    from citeweave.preparing.report import Report
    from citeweave.preparing.run import Progress
    from citeweave.preparing.settings import Settings
    from citeweave.reading.openalex_snapshot import SnapshotPart

__all__ = ["Making", "pieces_of"]


def pieces_of(work: Path, part: int) -> Path:
    """Name the folder of the pieces of a part."""
    return work / "pieces" / f"{part:05d}"


@dataclass(frozen=True)
class Making:
    """The steps from pieces to the files of a corpus.

    Finished work is in the folder of the import: results of steps in ``steps``, the shards and
    tables of the corpus in ``corpus``. After a restart, finished work is not repeated.

    Attributes
    ----------
    work : Path
        Folder of the import.
    pieces_by_part : tuple of (int, int)
        For each part, its number and its number of pieces.
    settings : Settings
    shard : int
        Approximate number of documents in a shard.
    """

    work: Path
    pieces_by_part: tuple[tuple[int, int], ...]
    settings: Settings
    shard: int

    @property
    def folder(self) -> Path:
        """Folder of the unfinished corpus."""
        return self.work / "corpus"

    @cached_property
    def step(self) -> KeptSteps:
        """Runs steps, or returns their stored results."""
        return KeptSteps(self.work / "steps")

    @cached_property
    def pieces(self) -> list[Piece]:
        """All pieces, in order."""
        return [
            Piece(pieces_of(self.work, part) / f"{one:05d}", part)
            for part, number in self.pieces_by_part
            for one in range(number)
        ]

    @cached_property
    def documents(self) -> NumberedWorks:
        """The works that are documents. Sorting their ids again is faster than storing them."""
        return NumberedWorks.of(self.pieces)

    def run(
        self,
        parts: Sequence[SnapshotPart],
        told: Sequence[dict[str, Any]],
        workers: int,
        tell: Progress,
    ) -> Report:
        """Make the corpus; return the report of the whole import."""
        report = begin_report(self.settings, told)
        report.skip("duplicate of same id", self.documents.merged)
        total = len(self.documents)
        if not total:
            reasons = ", ".join(f"{why}: {n}" for why, n in report.skipped_by_reason.items())
            raise CorpusError(
                f"No work is left of {report.records_read} ({reasons or 'the parts are empty'}). "
                "Check the conditions (--where) and the language."
            )
        self.folder.mkdir(parents=True, exist_ok=True)
        tell("words", 0, total)
        with ExitStack() as stack:
            people = None
            if workers > 1 and not self.step.has("people"):
                # people and institutions do not depend on words
                people = stack.enter_context(worker_pool(1)).submit(_join_people, self)
            plan, _ = self.plan()
            tell("words", total, total)
            tell("authors", 0, None)
            n_authors, identified, places = self.people() if people is None else people.result()
        categories = self.categories()
        sums = ShardSums()
        for made in self._shards(workers, tell):
            sums.add(made)
        tables = {
            "vocabulary": ("word", plan.facts["vocabulary"]),
            "categories": ("name", [*categories]),
        }
        for table, (column, values) in tables.items():
            frame = pl.Series(column, values, dtype=pl.String).to_frame()
            frame.write_parquet(self.folder / f"{table}.parquet")
        finish_report(report, parts, plan, sums, places, (n_authors, identified))
        tell("saving", 0, None)
        finish_shards(
            self.folder,
            sums.counts,
            sizes=(len(plan.facts["vocabulary"]), n_authors, len(categories)),
            metadata=[name for name in (*METADATA, *PLACE_COLUMNS) if name in sums.filled],
            report=sums.corpus_report(self.folder),
            preparation=plan.facts["pipeline"].as_preparation(),
            import_report=report.as_dict(),
        )
        return report

    def plan(self) -> tuple[TextPlan, StoredTexts | RewrittenTexts]:
        """Choose words and phrases; return the texts on which the choice was based."""
        stored = StoredTexts(self.pieces, self.documents, self.work / "texts")

        def make() -> tuple[TextPlan, list[Path] | None]:
            words = self.step("words", lambda: join_words(self.pieces))
            plan, texts = plan_text(
                stored,
                words,
                WordRules.from_settings(self.settings),
                self.settings,
                scratch=self.work / "counts",
                step=self.step,
            )
            return plan, texts.files if isinstance(texts, RewrittenTexts) else None

        plan, files = self.step("plan", make)
        return plan, stored if files is None else RewrittenTexts(files)

    def people(self) -> tuple[int, int, ResolvedPlaces]:
        """Identify people and institutions; return the counts of people and ids, and the places."""

        def make() -> tuple[int, int, ResolvedPlaces]:
            number = self.step("authors", lambda: number_authors(self.pieces, self.documents.kept))
            names, identified = author_names(self.pieces, number, self.step)
            names.to_frame("name").write_parquet(self.folder / "authors.parquet")
            return number, identified, join_places(self.pieces)

        return self.step("people", make)

    def categories(self) -> dict[str, int]:
        """Assign numbers to the categories."""
        return self.step("categories", lambda: number_categories(self.pieces, self.documents.kept))

    @cached_property
    def maker(self) -> ShardMaker:
        """Makes shards, once everything that they share is known."""
        plan, texts = self.plan()
        n_authors, _, places = self.people()
        return ShardMaker(
            plan, self.pieces, texts, self.documents, places, n_authors, self.categories()
        )

    def make_shard(self, number: int, pieces: Sequence[int]) -> dict[str, Any]:
        """Write one shard."""
        return self.step(
            f"shard-{number:05d}", lambda: self.maker.make(self.folder, number, pieces)
        )

    def _shards(self, workers: int, tell: Progress) -> Iterator[dict[str, Any]]:
        """Write the missing shards; return what is known about each, in order."""
        groups = self._groups()
        total = len(self.documents)
        sizes = [int(self.documents.first[g[-1] + 1] - self.documents.first[g[0]]) for g in groups]
        missing = [n for n in range(len(groups)) if not self.step.has(f"shard-{n:05d}")]
        done = total - sum(sizes[number] for number in missing)
        tell("shards", done, total)
        if workers == 1 or len(missing) < 2:
            for number in missing:
                self.make_shard(number, groups[number])
                done += sizes[number]
                tell("shards", done, total)
        else:
            with worker_pool(min(workers, len(missing))) as pool:
                waiting = {
                    pool.submit(_make_shard, self, number, groups[number]): number
                    for number in missing
                }
                for future in as_completed(waiting):
                    future.result()
                    done += sizes[waiting[future]]
                    tell("shards", done, total)
        for number, group in enumerate(groups):
            yield self.make_shard(number, group)

    def _groups(self) -> list[list[int]]:
        """Group consecutive pieces until they are enough for a shard."""
        groups: list[list[int]] = []
        waiting: list[int] = []
        sizes = np.diff(self.documents.first).tolist()
        for number in range(len(sizes)):
            waiting.append(number)
            if sum(sizes[one] for one in waiting) >= self.shard:
                groups.append(waiting)
                waiting = []
        if sum(sizes[one] for one in waiting):
            groups.append(waiting)
        return groups

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what another process can read itself."""
        names = ("work", "pieces_by_part", "settings", "shard")
        return {name: self.__dict__[name] for name in names}


def _join_people(making: Making) -> tuple[int, int, ResolvedPlaces]:
    return making.people()


def _make_shard(making: Making, number: int, pieces: Sequence[int]) -> None:
    """Write a shard in a worker process, which reads shared data only once."""
    _shared(making).make_shard(number, pieces)


@cache
def _shared(making: Making) -> Making:
    return making
