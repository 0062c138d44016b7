"""Files and folders that appear whole or not at all; every part of the package may use it."""

import contextlib
import errno
import json
import os
import secrets
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO

from citeweave.checksums import check_content
from citeweave.errors import CiteweaveError, RunError

try:
    import fcntl as _fcntl
except ImportError:  # not on Windows, where a run is not guarded against a second process
    fcntl: ModuleType | None = None
else:
    fcntl = _fcntl

__all__ = [
    "PART",
    "absolute",
    "cache_folder",
    "format_of",
    "is_full",
    "locked",
    "name_beside",
    "read_manifest",
    "replace_folder",
    "sync_folder",
    "write_atomically",
    "write_bytes",
    "write_text",
    "writing",
]

PART = ".part"
"""How names of files end that are being written."""


def absolute(path: str | os.PathLike[str]) -> Path:
    """Make a path that stays true if the working folder changes."""
    return Path(os.path.abspath(path))  # noqa: PTH100 (resolve() would follow a link away)


def cache_folder() -> Path:
    """Return the folder for what can be fetched or computed again.

    It is named by ``CITEWEAVE_CACHE``, or is the system's usual one for caches.

    Raises
    ------
    RuntimeError
        There is no home folder to put it in.
    """
    named = os.environ.get("CITEWEAVE_CACHE")
    if named:
        return absolute(Path(named).expanduser())
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
        return (Path(base) if base else Path.home() / "AppData" / "Local") / "citeweave"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "citeweave"
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "citeweave"


def format_of(folder: str | os.PathLike[str]) -> str | None:
    """Tell the format that a folder's manifest.json names, None without one that can be read."""
    try:
        manifest = json.loads((Path(folder) / "manifest.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    found = manifest.get("format") if isinstance(manifest, dict) else None
    return found if isinstance(found, str) else None


def read_manifest(
    folder: Path,
    *,
    kind: str,
    format: str,  # noqa: A002 (as the manifest calls it)
    version: int | tuple[int, ...],
    again: str,
    error: type[CiteweaveError],
) -> dict[str, Any]:
    """Read the manifest.json of a folder, which must be of one format and a version that is read.

    Parameters
    ----------
    folder : Path
    kind : str
        What the folder should be, for the texts of errors: "corpus", "run".
    format, version
        What the manifest must name; of several versions one.
    again : str
        What to do about a folder that cannot be used ("Fit again").
    error : type
        What is raised.
    """
    path = folder / "manifest.json"
    if not folder.is_dir():
        raise error(f"There is no {kind} folder '{folder}'.")
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise error(f"'{folder}' is no {kind}: it has no manifest.json.") from None
    except OSError as problem:
        raise error(f"'{path}' cannot be read: {problem.strerror or problem}.") from problem
    except (ValueError, RecursionError) as problem:
        raise error(f"'{path}' is not valid JSON; the {kind} cannot be used. {again}.") from problem
    found = manifest.get("format") if isinstance(manifest, dict) else None
    if found != format:
        raise error(f"'{folder}' is no {kind}: its manifest names the format {found!r}.")
    versions = version if isinstance(version, tuple) else (version,)
    if manifest.get("version") not in versions:
        raise error(
            f"'{folder}' is a {kind} of format version {manifest.get('version')!r}; this release "
            f"reads version {' and '.join(map(str, versions))}. {again} or use another release of "
            "citeweave."
        )
    check_content(manifest, path, error)
    return dict(manifest)


@contextlib.contextmanager
def locked(path: Path, *, wait: bool) -> Iterator[None]:
    """Hold the lock on a file, which is made if need be; the system lifts it if we die.

    Parameters
    ----------
    path : Path
        The lock file; its content does not matter, and it is left behind.
    wait : bool
        Wait for another process that holds it; if not, a BlockingIOError is raised.
    """
    if fcntl is None:
        yield
        return
    with path.open("a", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield


def name_beside(target: Path, kind: str = "new") -> Path:
    """Give a hidden name beside a file or folder that nothing else has."""
    return target.with_name(f".{target.name}.{kind}-{secrets.token_hex(4)}")


def replace_folder(new: Path, target: Path) -> None:
    """Rename a finished folder to its name; an old one of that name comes back if that fails.

    Parameters
    ----------
    new : Path
        On the same file system as `target`: made by `name_beside`.
    target : Path
        Nothing, or a folder, which is removed.
    """
    if not target.exists():
        new.rename(target)
        return
    old = name_beside(target, "old")
    target.rename(old)
    try:
        new.rename(target)
    except OSError:
        old.rename(target)
        raise
    shutil.rmtree(old, ignore_errors=True)


def sync_folder(folder: Path) -> None:
    """Flush a folder's entries, so that a rename survives a power cut."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def write_atomically(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file that takes the place of `path` when all went well.

    A link stays a link, and what it points to is replaced; a device or a folder is refused.
    """
    path = Path(os.path.realpath(path)) if path.is_symlink() else path
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "it is not a plain file", os.fspath(path))
    part = path.with_name(f"{path.name}.{secrets.token_hex(4)}{PART}")
    try:
        with part.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
        sync_folder(path.parent)
    except BaseException as error:
        with contextlib.suppress(OSError):  # the first error is the one to tell
            part.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename in {None, os.fspath(part)}:
            error.filename = os.fspath(path)  # a full disk names no file, and ours is gone
        raise


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file whole or not at all, into a folder that is there."""
    with write_atomically(path) as file:
        file.write(content)


def is_full(error: OSError) -> bool:
    """Whether an error says that there is no room left to write."""
    return error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def write_text(path: Path, text: str) -> None:
    """Write a text as UTF-8, whole or not at all; its folder is made if need be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with write_atomically(path) as file:
        file.write(text.encode())


@contextlib.contextmanager
def writing(path: Path, hint: str) -> Iterator[None]:
    """Turn an error of the operating system into one that names the place and says what to do."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise RunError(f"'{path}' cannot be written: {reason}. {hint}") from error
