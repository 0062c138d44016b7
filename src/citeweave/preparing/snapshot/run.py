"""The import of a snapshot from end to end; if interrupted, finished work is kept."""

from __future__ import annotations

import gc
import json
import shutil
from concurrent.futures import BrokenExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from citeweave import __version__
from citeweave.corpus import Corpus, storage
from citeweave.errors import CorpusError, ParameterError
from citeweave.files import absolute, locked, replace_folder, write_text
from citeweave.preparing.report import Report
from citeweave.preparing.run import Imported
from citeweave.preparing.settings import Settings
from citeweave.preparing.snapshot.collecting import PIECE, read_part
from citeweave.preparing.snapshot.making import Making, pieces_of
from citeweave.preparing.snapshot.pool import worker_pool
from citeweave.reading.openalex_snapshot import SnapshotPart, find_parts
from citeweave.reading.where import Where

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from citeweave.preparing.run import Progress

__all__ = ["SHARD", "import_snapshot"]

SHARD = 100_000
"""Approximate number of works in a shard."""

_FORMAT = 2
_MOVING = "moving"
_NOT_HERE = {
    "people": None,
    "author_thesaurus": None,
    "keep_apart": (),
    "join": (),
    "keep_empty": True,
}
"""Settings that need all records at once, with the only values possible for a snapshot."""


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
    """Import an OpenAlex snapshot into a sharded corpus, without holding all of it in memory.

    Parts are read one by one, and the data needed from them is kept in a hidden folder beside
    `out`. If the import is interrupted, the same call continues with the missing parts.

    Parameters
    ----------
    folder : path
        Folder of the snapshot, in any of the layouts of docs/how-to/snapshot.md.
    out : path
        Folder for the corpus.
    where : str, optional
        Conditions on works, such as ``"type = article, year >= 2000"``; all works if not given.
    settings : Settings, optional
        Settings of the preparation. Authors are identified by OpenAlex ids only, whatever the
        value of `author_names`.
    workers : int
        Number of processes that read parts in parallel.
    overwrite : bool
        Replace an existing corpus.
    progress : callable, optional
        Called with the name of a step, the amount done and the total amount.
    shard, piece : int
        Approximate number of works in a shard of the corpus, and number of works collected at once.

    Returns
    -------
    Imported
        The corpus, as loaded from `out`, and the report.

    Raises
    ------
    CorpusError
        The folder is not a snapshot, a part is damaged, or no work is left.
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
    work = target.with_name(f".{target.name}.import")
    if _finished(work, target):
        shutil.rmtree(work, ignore_errors=True)
        corpus = Corpus.load(target)
        return Imported(corpus, Report.of(corpus) or Report())
    storage.check_target(target, overwrite=overwrite)
    with _working(work, _identity(parts, use, where, piece, shard)):
        told = _read_parts(parts, work, use, chosen, workers, piece, tell)
        _check_parts(parts, told)
        pieces = tuple((number, found["pieces"]) for number, found in enumerate(told))
        making = Making(work, pieces, use, shard)
        with _without_collector():
            report = making.run(parts, told, workers, tell)
        storage.check_target(target, overwrite=overwrite)
        write_text(work / _MOVING, f"{storage.stored_fingerprint(making.folder)}\n")
        replace_folder(making.folder, target)
        shutil.rmtree(work, ignore_errors=True)
    return Imported(Corpus.load(target), report)


def _finished(work: Path, target: Path) -> bool:
    """Return whether an import was interrupted after its corpus was moved into place."""
    try:
        moved = (work / _MOVING).read_text(encoding="utf-8").strip()
    except OSError:
        return False
    return storage.stored_fingerprint(target) == moved


def _check_settings(settings: Settings, workers: int) -> None:
    for name, only in _NOT_HERE.items():
        if getattr(settings, name) != only:
            raise ParameterError(
                f"The setting {name!r} cannot be used with a snapshot, which is read one part at a "
                f"time; omit it. Got {getattr(settings, name)!r}."
            )
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise ParameterError(f"The number of workers must be at least 1. Got {workers!r} instead.")


def _identity(
    parts: Sequence[SnapshotPart], settings: Settings, where: str | None, piece: int, shard: int
) -> dict[str, Any]:
    """Return everything on which the pieces of an interrupted import depend."""
    return {
        "format": _FORMAT,
        "citeweave": __version__,
        "where": where,
        "piece": piece,
        "shard": shard,
        "settings": settings.as_dict(),
        "parts": [[part.name, part.size] for part in parts],
    }


@contextmanager
def _working(work: Path, identity: dict[str, Any]) -> Iterator[None]:
    """Lock the folder of an import; remains of a different import are refused."""
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
                    "Restart it as it was, or remove that folder to begin again."
                )
            yield
    except BlockingIOError:
        raise CorpusError(
            f"Another import is writing to '{work}'; wait for it, or choose another folder."
        ) from None
    except (OSError, pl.exceptions.PolarsError) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise CorpusError(
            f"The import cannot write to '{work}': {reason}. Finished work "
            "is kept; free some disk space and start it again."
        ) from error
    except BrokenExecutor:
        raise CorpusError(
            "A process of the import ended unexpectedly, perhaps because memory was exhausted. "
            f"Finished work is kept in '{work}'; start the import again, with fewer workers if "
            "memory is short. (A script that imports with several workers must do so below "
            "'if __name__ == \"__main__\":'.)"
        ) from None


def _read_json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


@contextmanager
def _without_collector() -> Iterator[None]:
    """Disable the garbage collector: there are millions of objects, and no cycles."""
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
    """Read the remaining parts; return what is known about each."""
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
        return part.path, part.name, pieces_of(work, number), settings, where, piece

    if workers == 1 or len(open_) < 2:
        for number in open_:
            finish(number, read_part(*task(number)))
    else:
        with worker_pool(min(workers, len(open_))) as pool:
            waiting = {pool.submit(read_part, *task(number)): number for number in open_}
            for future in as_completed(waiting):
                finish(waiting[future], future.result())
    return [told[number] for number in range(len(parts))]


def _mark(work: Path, number: int) -> Path:
    return work / "parts" / f"{number:05d}.json"


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
