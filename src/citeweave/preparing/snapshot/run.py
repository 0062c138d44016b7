"""The import of a snapshot from end to end; what is finished is kept if it is interrupted."""

from __future__ import annotations

import gc
import json
import multiprocessing
import shutil
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from citeweave import __version__
from citeweave.corpus import Corpus, storage
from citeweave.corpus.affiliations import COLUMNS as PLACE_COLUMNS
from citeweave.corpus.shards import finish_shards
from citeweave.errors import CorpusError, ParameterError
from citeweave.files import absolute, locked, write_text
from citeweave.preparing.encode import Encoded, plan_text
from citeweave.preparing.keys import scrub
from citeweave.preparing.matching import FATES
from citeweave.preparing.pipeline import WordRules
from citeweave.preparing.report import UNREADABLE, Report
from citeweave.preparing.run import Imported, changed_settings, describe_words
from citeweave.preparing.settings import Settings
from citeweave.preparing.snapshot.collecting import PIECE, read_part
from citeweave.preparing.snapshot.joining import NumberedWorks, StoredTexts, join_words
from citeweave.preparing.snapshot.people import author_names, number_authors
from citeweave.preparing.snapshot.pieces import Piece
from citeweave.preparing.snapshot.shards import METADATA, ShardMaker, join_places
from citeweave.reading.openalex_snapshot import SnapshotPart, find_parts
from citeweave.reading.where import Where

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from citeweave.preparing.encode import TextPlan
    from citeweave.preparing.run import Progress

__all__ = ["SHARD", "import_snapshot"]

SHARD = 100_000
"""NumberedWorks in a shard, about."""

_FORMAT = 1
_EXCLUDED_SHOWN = 50
_PROBLEMS_KEPT = 1000
_NOT_HERE = {
    "people": None,
    "author_thesaurus": None,
    "keep_apart": (),
    "join": (),
    "keep_empty": True,
}
"""Settings that need all records at once, with the only values that a snapshot takes."""


def import_snapshot(
    folder: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    where: str | None = None,
    settings: Settings | None = None,
    workers: int = 1,
    overwrite: bool = False,
    progress: Progress | None = None,
    shard: int = SHARD,
    piece: int = PIECE,
) -> Imported:
    """Make a corpus of shards of an OpenAlex snapshot, without all of it in memory.

    Parts are read one by one and what is needed of them is kept in a hidden folder beside `out`;
    if the import is interrupted, the same call goes on with the parts that are missing.

    Parameters
    ----------
    folder : path
        Of the snapshot, in any of the layouts of docs/reference/formats.md.
    out : path
        Folder for the corpus.
    where : str, optional
        Conditions on works, such as ``"type = article, year >= 2000"``; all works if not given.
    settings : Settings, optional
        Of preparation. Names are told apart by OpenAlex ids alone, whatever `author_names` says.
    workers : int
        Processes that read parts side by side.
    overwrite : bool
        Replace an existing corpus.
    progress : callable, optional
        Called with a step's name, how much of it is done and how much there is.
    shard, piece : int
        NumberedWorks in a shard of the corpus, about, and works that are collected at once.

    Returns
    -------
    Imported
        The corpus, as loaded from `out`, and the report.

    Raises
    ------
    CorpusError
        The folder is no snapshot, a part is damaged, or no work is left.
    ParameterError
        An option cannot be used.

    Examples
    --------
    >>> import gzip, tempfile
    >>> work = {"id": "https://openalex.org/W1", "title": "Citation networks", "type": "article"}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     part = Path(folder, "data", "works", "updated_date=2026-06-24", "part_000.gz")
    ...     part.parent.mkdir(parents=True)
    ...     _ = part.write_bytes(gzip.compress(json.dumps(work).encode()))
    ...     corpus, report = import_snapshot(folder, f"{folder}/corpus", where="type = article")
    ...     corpus.n_documents, corpus.vocabulary, report.records_read
    (1, ['citation', 'networks'], 1)
    """
    use = settings or Settings()
    chosen = None if where is None else Where.parse(where)
    _check_settings(use, workers)
    tell = progress or (lambda _step, _done, _total: None)
    target = absolute(out)
    parts = find_parts(Path(folder))
    if target.exists() and not overwrite:
        storage.check_target(target, overwrite=overwrite)
    work = target.with_name(f".{target.name}.import")
    with _working(work, _identity(parts, use, where, piece)):
        told = _read_parts(parts, work, use, chosen, workers, piece, tell)
        _check_parts(parts, told)
        with storage.making(target, overwrite=overwrite) as temporary, _without_collector():
            report = _Making(parts, told, work, use, temporary, shard).run(tell)
        shutil.rmtree(work, ignore_errors=True)
    return Imported(Corpus.load(target), report)


def _check_settings(settings: Settings, workers: int) -> None:
    for name, only in _NOT_HERE.items():
        if getattr(settings, name) != only:
            raise ParameterError(
                f"The setting {name!r} cannot be used with a snapshot, which is read a part at a "
                f"time; leave it out. Got {getattr(settings, name)!r}."
            )
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise ParameterError(f"The number of workers must be at least 1. Got {workers!r} instead.")


def _identity(
    parts: Sequence[SnapshotPart], settings: Settings, where: str | None, piece: int
) -> dict[str, Any]:
    """Give all that the pieces of an interrupted import depend on."""
    return {
        "format": _FORMAT,
        "citeweave": __version__,
        "where": where,
        "piece": piece,
        "settings": settings.as_dict(),
        "parts": [[part.name, part.size] for part in parts],
    }


@contextmanager
def _working(work: Path, identity: dict[str, Any]) -> Iterator[None]:
    """Hold the folder of an import; what an import of other things left there is refused."""
    path = work / "import.json"
    try:
        work.mkdir(parents=True, exist_ok=True)
        with locked(work / "lock", wait=False):
            if not path.is_file():
                write_text(path, json.dumps(identity, indent=1) + "\n")
            elif (found := _read_json(path)) != identity:
                names = [name for name in identity if found.get(name) != identity[name]]
                raise CorpusError(
                    f"'{work}' holds an interrupted import that differs in {', '.join(names)}. "
                    "Start it again as it was, or remove that folder to begin anew."
                )
            yield
    except BlockingIOError:
        raise CorpusError(
            f"Another import is writing to '{work}'; wait for it, or choose another folder."
        ) from None
    except OSError as error:
        raise CorpusError(
            f"The import cannot write to '{work}': {error.strerror or error}. What is finished "
            "is kept; free some space and start it again."
        ) from error


def _read_json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


@contextmanager
def _without_collector() -> Iterator[None]:
    """Leave out the search for cycles of objects: there are none, and millions of objects."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _read_parts(
    parts: Sequence[SnapshotPart],
    work: Path,
    settings: Settings,
    where: Where | None,
    workers: int,
    piece: int,
    tell: Progress,
) -> list[dict[str, Any]]:
    """Read the parts that are not read yet; give what is known of each."""
    told = {number: _read_json(_mark(work, number)) for number in range(len(parts))}
    open_ = [number for number, found in told.items() if not found]
    done = len(parts) - len(open_)
    tell("parts", done, len(parts))

    def finish(number: int, found: dict[str, Any]) -> None:
        nonlocal done
        told[number] = found
        write_text(_mark(work, number), json.dumps(found) + "\n")
        done += 1
        tell("parts", done, len(parts))

    def task(number: int) -> tuple[Any, ...]:
        part = parts[number]
        return part.path, part.name, _pieces_of(work, number), settings, where, piece

    if workers == 1 or len(open_) < 2:
        for number in open_:
            finish(number, read_part(*task(number)))
    else:
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(min(workers, len(open_)), mp_context=context) as pool:
            waiting = {pool.submit(read_part, *task(number)): number for number in open_}
            for future in as_completed(waiting):
                finish(waiting[future], future.result())
    return [told[number] for number in range(len(parts))]


def _mark(work: Path, number: int) -> Path:
    return work / "parts" / f"{number:05d}.json"


def _pieces_of(work: Path, number: int) -> Path:
    return work / "pieces" / f"{number:05d}"


def _check_parts(parts: Sequence[SnapshotPart], told: Sequence[dict[str, Any]]) -> None:
    bad = [
        (part, found["counts"]["refused"])
        for part, found in zip(parts, told, strict=True)
        if found["counts"]["refused"]
    ]
    if bad:
        part, reason = bad[0]
        more = f" ({len(bad) - 1} more parts are damaged.)" if len(bad) > 1 else ""
        raise CorpusError(
            f"'{part.path}' {reason}, and start the import again: the other parts are kept.{more}"
        )


@dataclass(slots=True)
class _Making:
    """The steps from pieces to the files of a corpus."""

    parts: Sequence[SnapshotPart]
    told: Sequence[dict[str, Any]]
    work: Path
    settings: Settings
    folder: Path
    shard: int

    def run(self, tell: Progress) -> Report:
        pieces = [
            Piece(_pieces_of(self.work, number) / f"{one:05d}", number)
            for number, found in enumerate(self.told)
            for one in range(found["pieces"])
        ]
        report = self._begin_report()
        documents = NumberedWorks.of(pieces)
        report.skip("duplicate of same id", documents.merged)
        if not len(documents):
            reasons = ", ".join(f"{why}: {n}" for why, n in report.skipped_by_reason.items())
            raise CorpusError(
                f"No work is left of {report.records_read} ({reasons or 'the parts are empty'}). "
                "Check the conditions (--where) and the language."
            )
        tell("words", 0, len(documents))
        scratch = self.work / "scratch"
        shutil.rmtree(scratch, ignore_errors=True)
        words = join_words(pieces)
        plan, texts = plan_text(
            StoredTexts(pieces, documents, scratch / "texts"),
            words,
            WordRules.from_settings(self.settings),
            self.settings,
            scratch=scratch / "counts",
        )
        del words
        tell("words", len(documents), len(documents))
        tell("authors", 0, None)
        n_authors = number_authors(pieces, documents.kept)
        names, identified = author_names(pieces, n_authors)
        names.to_frame("name").write_parquet(self.folder / "authors.parquet")
        del names
        maker = ShardMaker(self.folder, plan, documents, join_places(pieces), n_authors)
        waiting, size = [], 0
        for number, (piece, block) in enumerate(zip(pieces, texts.blocks(), strict=True)):
            waiting.append((number, piece, block))
            size += len(block.titles)
            if size >= self.shard:
                maker.add(waiting)
                waiting, size = [], 0
                tell("shards", int(documents.first[number + 1]), len(documents))
        if size:
            maker.add(waiting)
        tell("shards", len(documents), len(documents))
        self._write_tables(plan, maker)
        self._finish_report(report, plan, maker, n_authors, identified)
        tell("saving", 0, None)
        finish_shards(
            self.folder,
            maker.counts,
            sizes=(len(plan.facts["vocabulary"]), n_authors, len(maker.categories)),
            metadata=[name for name in (*METADATA, *PLACE_COLUMNS) if name in maker.filled],
            report=maker.corpus_report(),
            preparation=plan.facts["pipeline"].as_preparation(),
            import_report=report.as_dict(),
        )
        return report

    def _begin_report(self) -> Report:
        report = Report(settings_changed=changed_settings(self.settings))
        counts = [found["counts"] for found in self.told]
        report.records_read = sum(one["read"] for one in counts)
        report.records_unreadable = sum(one["skipped"] for one in counts)
        report.skip(UNREADABLE, report.records_unreadable)
        report.files = counts
        for found in self.told:
            for reason, number in found["skipped"].items():
                report.skip(reason, number)
            for code, number in found["languages"].items():
                dropped = report.languages_dropped
                dropped[code] = dropped.get(code, 0) + number
            for name, number in found["as_read"].items():
                if name != "works":
                    report.as_read[name] = report.as_read.get(name, 0) + number
            report.problems_total += found["problems_total"]
            report.problems += found["problems"][: _PROBLEMS_KEPT - len(report.problems)]
        excluded: dict[str, int] = {}
        for found in self.told:
            for name, number in found["excluded"].items():
                excluded[name] = excluded.get(name, 0) + number
        most = sorted(excluded.items(), key=lambda pair: (-pair[1], pair[0]))[:_EXCLUDED_SHOWN]
        report.authors_excluded = {scrub(name): number for name, number in most}
        report.authors_excluded_mentions = sum(excluded.values())
        return report

    def _write_tables(self, plan: TextPlan, maker: ShardMaker) -> None:
        tables = {
            "vocabulary": pl.Series("word", plan.facts["vocabulary"], dtype=pl.String),
            "categories": pl.Series("name", list(maker.categories), dtype=pl.String),
        }
        for table, values in tables.items():
            values.to_frame().write_parquet(self.folder / f"{table}.parquet")

    def _finish_report(
        self, report: Report, plan: TextPlan, maker: ShardMaker, n_authors: int, identified: int
    ) -> None:
        nothing = np.zeros(0, dtype=np.int64)
        describe_words(report, Encoded(nothing, nothing, nothing, **plan.facts))
        report.tokens = sum(one["tokens"] for one in maker.counts)
        report.vocabulary = len(plan.facts["vocabulary"])
        report.documents = len(maker.documents)
        for name in ("title", "abstract", "keywords", "authors", "year", "category", "affiliation"):
            setattr(report, f"with_{name}", maker.known.get(name, 0))
        report.authors, report.authors_identified = n_authors, identified
        report.author_mentions = sum(one["author_mentions"] for one in maker.counts)
        report.institutions = len(maker.institutions)
        ids = dict(zip(maker.places.names, maker.places.ids, strict=True))
        report.institutions_identified = sum(bool(ids[name]) for name in maker.institutions)
        report.countries = len(maker.countries)
        by_part = {part.name: maker.fates_of(number) for number, part in enumerate(self.parts)}
        by_part = {name: fates for name, fates in by_part.items() if any(fates.values())}
        report.citations_by_source = {
            name: {"references": sum(fates.values()), **fates} for name, fates in by_part.items()
        }
        report.citations_by_fate = {
            fate: sum(fates[fate] for fates in by_part.values()) for fate in FATES
        }
        report.references = sum(report.citations_by_fate.values())
        report.citations_matched = sum(one["citations"] for one in maker.counts)
        report.warnings += plan.facts["warnings"]
        empty = maker.report.get("empty_documents", 0)
        if empty:
            report.warnings.append(f"{empty} documents have no word of the vocabulary.")
        if report.references and not report.citations_matched:
            report.warnings.append(
                f"None of {report.references} references leads to a document of the corpus; models "
                "with citations will see no network."
            )
