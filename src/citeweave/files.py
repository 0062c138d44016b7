"""Atomic writing of files and folders, locks and manifests; used by all parts of the package."""

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
except ImportError:  # missing on Windows, where a run is not protected against a second process
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
    "parquet_errors",
    "parquet_reason",
    "read_manifest",
    "replace_folder",
    "sync_folder",
    "write_atomically",
    "write_bytes",
    "write_text",
    "writing",
]

PART = ".part"
"""Suffix of files that are being written."""


def absolute(path: str | os.PathLike[str]) -> Path:
    """Return an absolute path without resolving symbolic links."""
    return Path(os.path.abspath(path))  # noqa: PTH100 (resolve() would follow links)


def cache_folder() -> Path:
    """Return the folder for data that can be downloaded or computed again.

    It is set by ``CITEWEAVE_CACHE``; the default is the system's usual cache folder.

    Raises
    ------
    RuntimeError
        There is no home folder.
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
    """Return the format named in a folder's manifest.json, or None if there is no readable one."""
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
    format: str,  # noqa: A002 (the name used in the manifest)
    version: int | tuple[int, ...],
    again: str,
    error: type[CiteweaveError],
) -> dict[str, Any]:
    """Read the manifest.json of a folder, and check its format and version.

    Parameters
    ----------
    folder : Path
    kind : str
        What the folder should be, for error messages: "corpus" or "run".
    format, version
        Required format, and the version or versions that can be read.
    again : str
        Advice if the folder cannot be used, such as "Fit again".
    error : type
        Type of error to raise.
    """
    path = folder / "manifest.json"
    if not folder.is_dir():
        raise error(f"There is no {kind} folder '{folder}'.")
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise error(f"'{folder}' is not a {kind}: it has no manifest.json.") from None
    except OSError as problem:
        raise error(f"'{path}' cannot be read: {problem.strerror or problem}.") from problem
    except (ValueError, RecursionError) as problem:
        raise error(
            f"'{path}' is not valid JSON, so the {kind} cannot be used. {again}."
        ) from problem
    found = manifest.get("format") if isinstance(manifest, dict) else None
    if found != format:
        raise error(f"'{folder}' is not a {kind}: its manifest has the format {found!r}.")
    versions = version if isinstance(version, tuple) else (version,)
    if manifest.get("version") not in versions:
        raise error(
            f"'{folder}' is a {kind} in format version {manifest.get('version')!r}, but this "
            f"release reads version {' and '.join(map(str, versions))}. {again} or use another "
            "release of citeweave."
        )
    check_content(manifest, path, error)
    return dict(manifest)


@contextlib.contextmanager
def locked(path: Path, *, wait: bool) -> Iterator[None]:
    """Hold a lock on a file, creating it if necessary; the system releases it if the process dies.

    Parameters
    ----------
    path : Path
        The lock file; its content does not matter, and it is not deleted.
    wait : bool
        Whether to wait for another process that holds the lock; otherwise BlockingIOError is
        raised.
    """
    if fcntl is None:
        yield
        return
    with path.open("a", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield


def name_beside(target: Path, kind: str = "new") -> Path:
    """Return an unused hidden name next to a file or folder."""
    return target.with_name(f".{target.name}.{kind}-{secrets.token_hex(4)}")


def replace_folder(new: Path, target: Path) -> None:
    """Move a finished folder to its final name; if that fails, an existing folder is restored.

    Parameters
    ----------
    new : Path
        A folder on the same file system as `target`, named by `name_beside`.
    target : Path
        Final name; an existing folder of that name is deleted.
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
    """Flush the entries of a folder, so that a rename survives a power cut."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def write_atomically(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file that replaces `path` on success.

    For a symbolic link, its target is replaced; devices and folders are rejected.
    """
    path = Path(os.path.realpath(path)) if path.is_symlink() else path
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "it is not a regular file", os.fspath(path))
    part = path.with_name(f"{path.name}.{secrets.token_hex(4)}{PART}")
    try:
        with part.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
        sync_folder(path.parent)
    except BaseException as error:
        with contextlib.suppress(OSError):  # report the first error
            part.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename in {None, os.fspath(part)}:
            error.filename = os.fspath(
                path
            )  # a full disk has no file name, and the temporary file is gone
        raise


def parquet_errors(pl: Any) -> tuple[type[BaseException], ...]:
    """Return what reading a damaged Parquet file with polars may raise.

    Its Rust code panics on some damage (a page header cut short, say). Python sees that as an
    exception which is not an `Exception`, so it has to be named. See `parquet_reason`.
    """
    return OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException


def parquet_reason(error: BaseException) -> str:
    """Return one line on why a Parquet file cannot be read.

    Examples
    --------
    >>> parquet_reason(OSError("no space left"))
    'no space left'
    """
    if not isinstance(error, Exception):  # a panic, which speaks of Rust code
        return "it is damaged"
    return next(iter(str(error).splitlines()), type(error).__name__)[:300]


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file atomically; its folder must exist."""
    with write_atomically(path) as file:
        file.write(content)


def is_full(error: OSError) -> bool:
    """Return whether an error means that the disk is full."""
    return error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def write_text(path: Path, text: str) -> None:
    """Write text as UTF-8 atomically, creating the folder if necessary."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with write_atomically(path) as file:
        file.write(text.encode())


@contextlib.contextmanager
def writing(path: Path, hint: str) -> Iterator[None]:
    """Turn operating system errors into errors that name the path and say what to do."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise RunError(f"'{path}' cannot be written: {reason}. {hint}") from error
