"""A run as a folder: everything needed to use the model later, or to continue its chains.

    manifest.json            format, version, status, parameters, seed, corpus, versions, result
    corpus/                  a copy of the corpus (a corpus folder)
    chains/chain-0/*.npz     checkpoints: state, sums and traces of each chain
    held_out/*.npy           held-out citations and words, if any
    estimates/*.npy          posterior means, after the run has finished
    traces/*.npy             one value per iteration and chain, after the run has finished
    chains-2/, ...           of a longer run that continues this one

`docs/reference/run-folder.md` describes every file. Nothing is ever pickled.
"""

import contextlib
import os
import platform
import shutil
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, Self

import numba
import numpy as np

import citeweave
from citeweave.checksums import checksums, damaged_files, sealed
from citeweave.corpus import Corpus, storage
from citeweave.corpus.people import PEOPLE_FILE
from citeweave.corpus.sharded import ShardedText
from citeweave.errors import CorpusError, MissingDependencyError, RunError
from citeweave.files import (
    absolute,
    format_of,
    locked,
    name_beside,
    read_manifest,
    replace_folder,
    sync_folder,
    write_atomically,
    writing,
)
from citeweave.naming import choice
from citeweave.runs.arrays import StoredArrays

__all__ = ["FORMAT", "NAMES_FILE", "VERSION", "Longer", "RunFolder", "is_run_folder"]

FORMAT = "citeweave-run"
VERSION = 1
RANGES_VERSION = 2
"""Format version of runs with estimates in several files, which earlier releases cannot read."""
NAMES_FILE = "names.json"
"""Names of topics given by users, written by `citeweave.explore`."""
SCNTM_KIND = "scntm"
_REQUIRED = ("status", "parameters", "seed", "corpus")
_ENTRIES: dict[str, type] = {
    "status": str,
    "parameters": dict,
    "seed": int,
    "corpus": dict,
    "plan": dict,
    "notes": list,
    "result": dict,
    "arrays": dict,
    "held_out": dict,
    "files": dict,
    "kind": str,
    "folders": dict,
    "longer": dict,
}
_PLACES = ("chains", "estimates", "traces")
_KINDS = {str: "a text", dict: "an object", int: "an integer", list: "a list"}
_CHAINS_SAVED = (
    "The chains are saved: free some disk space, correct the permissions, or choose another folder."
)
_HINT = "Free some disk space, correct the permissions, or choose another folder."


def is_run_folder(folder: str | os.PathLike[str]) -> bool:
    """Whether a folder has the manifest of a run, of any version."""
    return format_of(folder) == FORMAT


class Longer(NamedTuple):
    """A longer run in progress that continues a finished one."""

    number: int
    """Number in the names of its folders."""
    parameters: dict[str, Any]
    plan: dict[str, Any]
    """Return the entries of a manifest."""


class RunFolder:
    """One run on disk."""

    def __init__(self, path: Path, manifest: dict[str, Any]) -> None:
        self.path = path
        self.manifest = manifest
        self._identity = _identity(path)

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> Self:
        """Open an existing run; an error says what is wrong with it."""
        path = absolute(folder)
        return cls(path, _read_manifest(path))

    @classmethod
    @contextlib.contextmanager
    def create(
        cls, folder: str | os.PathLike[str], *, overwrite: bool, contents: Mapping[str, Any]
    ) -> Iterator[Self]:
        """Create a new run, which is moved into place when the block ends without an error.

        ``contents`` are the entries of the manifest other than format, version and dates.
        """
        target = absolute(folder)
        with contextlib.ExitStack() as held:
            held.enter_context(_replacing(target, overwrite=overwrite))
            yield from cls._create(target, held, overwrite=overwrite, contents=contents)

    @classmethod
    def _create(
        cls,
        target: Path,
        held: contextlib.ExitStack,
        *,
        overwrite: bool,
        contents: Mapping[str, Any],
    ) -> Iterator[Self]:
        there = _identity(target)
        temporary = name_beside(target)
        if target.is_dir() and not is_run_folder(target):
            # empty, perhaps a mounted volume, which can be filled but not replaced
            temporary = target / temporary.name
        manifest = {
            "format": FORMAT,
            "version": VERSION,
            "status": "running",
            "started": _now(),
            "versions": _versions(),
            **contents,
        }
        run = cls(temporary, manifest)
        try:
            with writing(target, f"Nothing there was changed. {_HINT}"):
                temporary.parent.mkdir(parents=True, exist_ok=True)
                temporary.mkdir()
                run._identity = _identity(temporary)
                (temporary / "chains").mkdir()
                run.write_manifest()
            yield run
            if _identity(target) != there:  # another process created something there
                held.enter_context(_replacing(target, overwrite=overwrite))
            with writing(target, f"Nothing there was changed. {_HINT}"):
                _put_in_place(temporary, target)
                sync_folder(target.parent)
            run.path = target
            run._identity = _identity(target)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)

    def place(self, name: str) -> Path:
        """Return the folder of chains, estimates or traces, which is numbered in a longer run."""
        return self.path / str(self.manifest.get("folders", {}).get(name, name))

    @property
    def chains(self) -> Path:
        """Folder of the chains."""
        return self.place("chains")

    @property
    def longer(self) -> Longer | None:
        """The longer run in progress that continues this one, if any."""
        found = self.manifest.get("longer")
        return None if found is None else Longer(**found)

    def longer_chains(self) -> Path:
        """Folder of the chains of the longer run in progress."""
        assert self.longer is not None  # noqa: S101 (asked for where there is one)
        return self.path / f"chains-{self.longer.number}"

    def begin_longer(self, parameters: Mapping[str, Any], plan: Mapping[str, Any]) -> None:
        """Record that a longer run has begun; this one stays as it is until that has finished."""
        _, dash, number = self.chains.name.partition("-")
        longer = Longer(int(number) + 1 if dash else 2, dict(parameters), dict(plan))
        self.manifest["longer"] = longer._asdict()
        chains = self.longer_chains()
        with writing(chains, _HINT):
            shutil.rmtree(chains, ignore_errors=True)
            chains.mkdir()
        self.write_manifest()

    @property
    def done(self) -> bool:
        """Whether all chains have finished and the estimates exist."""
        return bool(self.manifest["status"] == "done")

    def estimates(self) -> StoredArrays:
        """Return the estimates by name."""
        return StoredArrays(self.place("estimates"), self.manifest)

    def traces(self) -> StoredArrays:
        """Return the traces by name."""
        return StoredArrays(self.place("traces"), self.manifest)

    def corpus(self, *, thorough: bool = False) -> Corpus:
        """Load the run's own copy of its corpus.

        If an earlier release wrote it without checksums, a thorough check recomputes its
        fingerprint, so that no kernel reads a damaged array.
        """
        place = self.path / "corpus"
        try:
            corpus = Corpus.load(place)
            if thorough and not storage.has_checksums(place):
                with contextlib.suppress(MissingDependencyError):  # raised by polars, for strings
                    corpus.verify()
        except CorpusError as error:
            raise RunError(f"The run '{self.path}' has no usable corpus: {error}") from error
        self.check_corpus(corpus)
        return corpus

    def check_corpus(self, corpus: Corpus) -> None:
        """Refuse a corpus other than that of the run."""
        expected = self.manifest["corpus"]["fingerprint"]
        if corpus.fingerprint != expected:
            raise RunError(
                f"The run '{self.path}' was made with another corpus (fingerprint {expected[:12]}, "
                f"got {corpus.fingerprint[:12]}). Omit the corpus to use the copy in the run."
            )

    def store_corpus(self, corpus: Corpus) -> None:
        """Copy the corpus into the run."""
        with writing(self.path / "corpus", _HINT):
            _store_corpus(corpus, self.path / "corpus")

    def copy_names(self, source: Path | None) -> None:
        """Copy names of topics and people from the run that a model was loaded from, if any."""
        for name in (NAMES_FILE, PEOPLE_FILE):
            if source is not None and (source / name).is_file():
                with writing(self.path / name, _HINT):
                    shutil.copyfile(source / name, self.path / name)

    @property
    def kind(self) -> str:
        """The kind of model: "scntm" for those of this package, or the name of a baseline."""
        return str(self.manifest.get("kind", SCNTM_KIND))

    def check_kind(self) -> None:
        """Refuse a run of a baseline, which has no chains and no levels."""
        if self.kind != SCNTM_KIND:
            raise RunError(
                f"'{self.path}' is a run of the baseline {self.kind!r}, not of an SCNTM, and is "
                "finished; load it with citeweave.load, or see `citeweave info` and "
                "`citeweave evaluate`."
            )

    def store_held_out(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Store what was held out before the fit, for evaluation."""
        if not arrays:
            return
        folder = self.path / "held_out"
        with writing(folder, _HINT):
            folder.mkdir()
            for name, array in arrays.items():
                np.save(folder / f"{name}.npy", array, allow_pickle=False)
        self.manifest["held_out"] = {name: list(array.shape) for name, array in arrays.items()}
        self._add_checksums("held_out", arrays)
        self.write_manifest()

    def held_out(self) -> StoredArrays:
        """Return what was held out, by name; empty if nothing was."""
        return StoredArrays(self.path / "held_out", self.manifest)

    def _places(self) -> dict[str, str]:
        """Return the names of the folders of results, which are numbered in a longer run."""
        longer = self.longer
        if longer is None:
            return {name: self.place(name).name for name in _PLACES}
        return {name: f"{name}-{longer.number}" for name in _PLACES}

    def _making(self, name: str) -> Path:
        return self.path / f"{self._places()[name]}.part"

    def make_estimates(self) -> Path:
        """Create the folder into which workers write estimates; `finish` moves it into place."""
        self.check_place()
        part = self._making("estimates")
        with writing(part, _CHAINS_SAVED):
            shutil.rmtree(part, ignore_errors=True)  # left by a killed process
            part.mkdir()
        return part

    def estimates_in_making(self) -> StoredArrays:
        """Return the estimates that workers have written, before the run has finished."""
        return StoredArrays(self._making("estimates"), {})

    def is_complete(self, *, thorough: bool = False) -> bool:
        """Whether the run has finished and all its estimates and traces are readable.

        A thorough check compares every file with its checksum, if there are checksums.
        """
        if not self.done or (thorough and damaged_files(self.path, self.manifest)):
            return False
        try:
            for name, arrays in (("estimates", self.estimates()), ("traces", self.traces())):
                for key in self.manifest["arrays"][name]:
                    arrays.check_header(key)
        except (KeyError, TypeError, RunError):
            return False
        return True

    def _add_checksums(self, folder: str, names: Iterable[str]) -> None:
        known = self.manifest.setdefault("files", {})
        known |= checksums(self.path, [f"{folder}/{name}.npy" for name in names])

    def check_place(self) -> None:
        """Refuse to write if the folder of the run was moved, removed or replaced."""
        if _identity(self.path) != self._identity:
            raise RunError(
                f"The run folder '{self.path}' was moved, removed or replaced during the run, so "
                "it ends here. Everything saved is in the folder at its new location; continue "
                "there with `citeweave resume FOLDER`."
            )

    def write_manifest(self) -> None:
        """Replace the manifest atomically."""
        self.check_place()
        text = sealed(self.manifest)
        path = self.path / "manifest.json"
        with writing(path, _HINT), write_atomically(path) as file:
            file.write(text.encode())

    def finish(
        self,
        estimates: Mapping[str, np.ndarray],
        traces: Mapping[str, np.ndarray],
        result: Mapping[str, Any],
        plan: Mapping[str, Any] | None = None,
        written: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Write the results, and only then mark the run as finished.

        ``written`` holds the checksums of the files of estimates that workers wrote into the
        folder of `make_estimates`. A longer run has its own folders: until the manifest names
        them, the run is unchanged.
        """
        self.check_place()
        longer = self.longer
        old = [self.place(name) for name in _PLACES] if longer else []
        places = self._places()
        if longer is not None:
            known = self.manifest.get("files", {})
            stale = tuple(f"{folder.name}/" for folder in old)
            self.manifest["files"] = {n: v for n, v in known.items() if not n.startswith(stale)}
        for name, arrays in (("estimates", estimates), ("traces", traces)):
            folder, part = self.path / places[name], self._making(name)
            given = written if name == "estimates" else {}
            with writing(folder, _CHAINS_SAVED):
                for left in (folder,) if given else (part, folder):  # of a killed process
                    shutil.rmtree(left, ignore_errors=True)
                part.mkdir(exist_ok=bool(given))
                for key, array in arrays.items():
                    with (part / f"{key}.npy").open("wb") as file:
                        np.save(file, array, allow_pickle=False)
                        file.flush()
                        os.fsync(file.fileno())
                part.rename(folder)
                self._add_checksums(places[name], arrays)
                self.manifest["files"] |= {
                    f"{places[name]}/{file}": crc for file, crc in given.items()
                }
        by_ranges = {file.partition("/")[0] for file in written}
        names = {"estimates": sorted({*estimates, *by_ranges}), "traces": sorted(traces)}
        self.manifest |= {
            "version": RANGES_VERSION if by_ranges else VERSION,
            "status": "done",
            "finished": _now(),
            "arrays": names,
            "result": dict(result),
        }
        if longer is not None:
            self.manifest |= {
                "parameters": longer.parameters,
                "plan": longer.plan,
                "folders": places,
            }
            del self.manifest["longer"]
        self.manifest["plan"] = {**self.manifest.get("plan", {}), **dict(plan or {})}
        self.write_manifest()
        for folder in old:
            shutil.rmtree(folder, ignore_errors=True)

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Lock the run against other processes; the system releases the lock if this one dies."""
        with contextlib.ExitStack() as held:
            try:
                held.enter_context(locked(self.path / ".lock", wait=False))
            except BlockingIOError:
                raise RunError(
                    f"Another process is working on '{self.path}'; wait for it or stop it."
                ) from None
            except OSError as error:
                reason = error.strerror or str(error)
                raise RunError(
                    f"'{self.path / '.lock'}' cannot be written: {reason}. {_HINT}"
                ) from error
            self.check_place()
            yield


@contextlib.contextmanager
def _replacing(target: Path, *, overwrite: bool) -> Iterator[None]:
    """Check that a folder may be used, and lock the run in it; refused while that is in use."""
    check_target(target, overwrite=overwrite)
    with contextlib.ExitStack() as held:
        if is_run_folder(target):
            held.enter_context(RunFolder(target, {}).lock())
        yield


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what distinguishes a folder from others of the same name; None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def check_target(target: Path, *, overwrite: bool) -> None:
    """Refuse a folder that is not empty, before any work is done."""
    try:
        if not target.exists() and not target.is_symlink():
            return
        if target.is_dir() and not any(target.iterdir()):
            return
    except OSError as error:
        raise RunError(f"'{target}' cannot be used: {error.strerror or error}. {_HINT}") from error
    if not is_run_folder(target):
        raise RunError(
            f"'{target}' exists and is not a run, so it will not be overwritten. Choose another "
            "folder."
        )
    if not overwrite:
        raise RunError(
            f"'{target}' already contains a run; choose another folder, continue it with "
            f"`citeweave resume {target}`, or pass {choice('overwrite=True', '--overwrite')}."
        )


def _put_in_place(new: Path, target: Path) -> None:
    """Move a finished folder into place, or its files if the target cannot be replaced."""
    if new.parent == target:
        for part in sorted(new.iterdir(), key=lambda path: path.name == "manifest.json"):
            part.rename(target / part.name)  # the manifest last, because it makes the folder a run
        return
    replace_folder(new, target)


def _store_corpus(corpus: Corpus, folder: Path) -> None:
    """Write a corpus folder; without polars, strings on disk are copied, others left out."""
    if isinstance(corpus.text, storage.StoredText | ShardedText):
        source = corpus.text.folder
        # words or citations may have been held out since it was loaded
        if storage.stored_fingerprint(source) == corpus.fingerprint:
            shutil.copytree(source, folder)
            return
    try:
        corpus.save(folder)
    except CorpusError as error:
        raise RunError(f"The run's copy of the corpus cannot be written: {error}") from error
    except MissingDependencyError:
        folder.mkdir(parents=True)
        storage.write_arrays(corpus, folder)


def _read_manifest(folder: Path) -> dict[str, Any]:
    manifest = read_manifest(
        folder,
        kind="run",
        format=FORMAT,
        version=(VERSION, RANGES_VERSION),
        again="Fit again",
        error=RunError,
    )
    for name, kind in _ENTRIES.items():
        if name not in manifest and name in _REQUIRED:
            path = folder / "manifest.json"
            raise RunError(f"'{path}' is damaged: it lacks {name!r}. Fit again.")
        if name in manifest and not isinstance(manifest[name], kind):
            raise RunError(
                f"'{folder / 'manifest.json'}' is damaged: {name!r} must be "
                f"{_KINDS[kind]}. Got {manifest[name]!r:.60} instead. Fit again."
            )
    if not isinstance(manifest["corpus"].get("fingerprint"), str):
        raise RunError(
            f"'{folder / 'manifest.json'}' is damaged: 'corpus' lacks a fingerprint. Fit again."
        )
    return manifest


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _versions() -> dict[str, str]:
    return {
        "citeweave": citeweave.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
    }
