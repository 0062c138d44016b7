"""A run as a folder: all that is needed to use the model later, or to go on with its chains.

    manifest.json            format, version, status, parameters, seed, corpus, versions, result
    corpus/                  a copy of the corpus (a corpus folder)
    chains/chain-0/*.npz     checkpoints: state, sums and traces of each chain
    held_out/*.npy           citations and words taken out of the corpus before, if any
    estimates/*.npy          posterior means, when the run is done
    traces/*.npy             a value an iteration and chain, when the run is done
    chains-2/, ...           of a longer run that goes on with this one

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
"""Of runs with estimates in several files, which earlier releases would not find."""
NAMES_FILE = "names.json"
"""Names that people gave to topics, written by `citeweave.explore`."""
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
    "The chains are saved: free some space, mend the permissions, or choose another folder."
)
_HINT = "Free some space, mend the permissions, or choose another folder."


def is_run_folder(folder: str | os.PathLike[str]) -> bool:
    """Whether a folder says that it is a run, of whatever version."""
    return format_of(folder) == FORMAT


class Longer(NamedTuple):
    """A longer run, under way from one that is done."""

    number: int
    """Of its folders."""
    parameters: dict[str, Any]
    plan: dict[str, Any]
    """As the entries of a manifest."""


class RunFolder:
    """One run on disk."""

    def __init__(self, path: Path, manifest: dict[str, Any]) -> None:
        self.path = path
        self.manifest = manifest
        self._identity = _identity(path)

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> Self:
        """Open an existing run; the error says what is wrong with it."""
        path = absolute(folder)
        return cls(path, _read_manifest(path))

    @classmethod
    @contextlib.contextmanager
    def create(
        cls, folder: str | os.PathLike[str], *, overwrite: bool, contents: Mapping[str, Any]
    ) -> Iterator[Self]:
        """Make a new run; it takes its place, whole, when the block ends without an error.

        ``contents`` are the manifest's entries beyond format, version and dates.
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
            # empty, and maybe a mounted volume, which can be filled but not replaced
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
            if _identity(target) != there:  # another process has made something there meanwhile
                held.enter_context(_replacing(target, overwrite=overwrite))
            with writing(target, f"Nothing there was changed. {_HINT}"):
                _put_in_place(temporary, target)
                sync_folder(target.parent)
            run.path = target
            run._identity = _identity(target)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)

    def place(self, name: str) -> Path:
        """Give the folder of the chains, the estimates or the traces: numbered in a longer run."""
        return self.path / str(self.manifest.get("folders", {}).get(name, name))

    @property
    def chains(self) -> Path:
        """Folder of the chains."""
        return self.place("chains")

    @property
    def longer(self) -> Longer | None:
        """The longer run that is under way from this one, if there is one."""
        found = self.manifest.get("longer")
        return None if found is None else Longer(**found)

    def longer_chains(self) -> Path:
        """Folder of the chains of the longer run that is under way."""
        assert self.longer is not None  # noqa: S101 (asked for where there is one)
        return self.path / f"chains-{self.longer.number}"

    def begin_longer(self, parameters: Mapping[str, Any], plan: Mapping[str, Any]) -> None:
        """Note that the run goes on; it stays as it is until the longer one is done."""
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
        """Whether all chains have come to their end and the estimates are there."""
        return bool(self.manifest["status"] == "done")

    def estimates(self) -> StoredArrays:
        """Give the estimates by name."""
        return StoredArrays(self.place("estimates"), self.manifest)

    def traces(self) -> StoredArrays:
        """Give the traces by name."""
        return StoredArrays(self.place("traces"), self.manifest)

    def corpus(self, *, thorough: bool = False) -> Corpus:
        """Load the run's own copy of its corpus.

        Where an earlier release wrote it without checksums, a thorough look computes its
        fingerprint anew, so that no kernel meets a damaged array.
        """
        place = self.path / "corpus"
        try:
            corpus = Corpus.load(place)
            if thorough and not storage.has_checksums(place):
                with contextlib.suppress(MissingDependencyError):  # of polars, for the strings
                    corpus.verify()
        except CorpusError as error:
            raise RunError(f"The run '{self.path}' has no usable corpus: {error}") from error
        self.check_corpus(corpus)
        return corpus

    def check_corpus(self, corpus: Corpus) -> None:
        """Refuse a corpus that the run was not made with."""
        expected = self.manifest["corpus"]["fingerprint"]
        if corpus.fingerprint != expected:
            raise RunError(
                f"The run '{self.path}' was made with another corpus (fingerprint {expected[:12]}, "
                f"got {corpus.fingerprint[:12]}). Leave the corpus out to use the run's own copy."
            )

    def store_corpus(self, corpus: Corpus) -> None:
        """Copy the corpus into the run."""
        with writing(self.path / "corpus", _HINT):
            _store_corpus(corpus, self.path / "corpus")

    def copy_names(self, source: Path | None) -> None:
        """Take over names of topics and people from the run a model was loaded from, if any."""
        for name in (NAMES_FILE, PEOPLE_FILE):
            if source is not None and (source / name).is_file():
                with writing(self.path / name, _HINT):
                    shutil.copyfile(source / name, self.path / name)

    @property
    def kind(self) -> str:
        """What was fitted: "scntm" for the models of this package, else the baseline's name."""
        return str(self.manifest.get("kind", SCNTM_KIND))

    def check_kind(self) -> None:
        """Refuse a run of a baseline, which has no chains and no levels."""
        if self.kind != SCNTM_KIND:
            raise RunError(
                f"'{self.path}' is a run of the baseline {self.kind!r}, not of an SCNTM, and is "
                "done; load it with citeweave.load, or look at it with `citeweave info` and "
                "`citeweave evaluate`."
            )

    def store_held_out(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Keep what was taken out of the corpus before the fit, to be scored afterwards."""
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
        """Give what was held out by name; empty if nothing was."""
        return StoredArrays(self.path / "held_out", self.manifest)

    def _places(self) -> dict[str, str]:
        """Name the folders of what comes out: numbered in a longer run."""
        longer = self.longer
        if longer is None:
            return {name: self.place(name).name for name in _PLACES}
        return {name: f"{name}-{longer.number}" for name in _PLACES}

    def _making(self, name: str) -> Path:
        return self.path / f"{self._places()[name]}.part"

    def make_estimates(self) -> Path:
        """Make the folder that workers write estimates into, which `finish` puts in place."""
        self.check_place()
        part = self._making("estimates")
        with writing(part, _CHAINS_SAVED):
            shutil.rmtree(part, ignore_errors=True)  # of a process killed while it wrote
            part.mkdir()
        return part

    def estimates_in_making(self) -> StoredArrays:
        """Give the estimates that workers have written, before the run is done."""
        return StoredArrays(self._making("estimates"), {})

    def is_complete(self, *, thorough: bool = False) -> bool:
        """Whether the run is done and all its estimates and traces can still be read.

        A thorough look compares every byte with its checksum, where there are some.
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
        """Refuse to write where the run's folder was moved away, removed or replaced."""
        if _identity(self.path) != self._identity:
            raise RunError(
                f"The run folder '{self.path}' was moved, removed or replaced while the run was "
                "under way, so it ends here. What was saved lies where the folder is now: go on "
                "from there with `citeweave resume FOLDER`."
            )

    def write_manifest(self) -> None:
        """Write the manifest anew, whole or not at all."""
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
        """Write what came out, and only then say that the run is done.

        ``written`` are checksums of files of estimates that workers have put where
        `make_estimates` said. What a longer run leaves has folders of its own: until the manifest
        names them, the run is what it was.
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
                for left in (folder,) if given else (part, folder):  # of a process killed before
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
        """Keep a second process from working on the same run; the system lifts it if we die."""
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
    """Check that a place may be taken; hold the run there, which is refused while it is live."""
    check_target(target, overwrite=overwrite)
    with contextlib.ExitStack() as held:
        if is_run_folder(target):
            held.enter_context(RunFolder(target, {}).lock())
        yield


def _identity(path: Path) -> tuple[int, int] | None:
    """Tell a folder from another of the same name; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def check_target(target: Path, *, overwrite: bool) -> None:
    """Refuse a place that holds something, before any work is done."""
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
            f"'{target}' holds a run already; choose another folder, continue it with "
            f"`citeweave resume {target}`, or pass {choice('overwrite=True', '--overwrite')}."
        )


def _put_in_place(new: Path, target: Path) -> None:
    """Put a finished folder where it belongs, or its parts if the place cannot be replaced."""
    if new.parent == target:
        for part in sorted(new.iterdir(), key=lambda path: path.name == "manifest.json"):
            part.rename(target / part.name)  # the manifest last: it makes the folder a run
        return
    replace_folder(new, target)


def _store_corpus(corpus: Corpus, folder: Path) -> None:
    """Write a corpus folder; without polars the strings are copied, or left out if in memory."""
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
