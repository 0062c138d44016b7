"""Archives (.tar, .tgz, .zip), read like folders and treated as untrusted.

Members are copied to a temporary folder under generated names, so that names inside an archive
cannot point elsewhere; their number and sizes are limited.
"""

from __future__ import annotations

import stat
import tarfile
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING

from citeweave.reading.limits import most_unpacked
from citeweave.reading.streams import copy_limited, file_input, room_to_unpack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from citeweave.reading.problems import FileContext
    from citeweave.reading.streams import Input

__all__ = ["is_archive", "unpack"]

MOST_MEMBERS = 10_000
MOST_BYTES = 1 << 33
_BROKEN = (
    EOFError,
    NotImplementedError,  # a compression method that this Python lacks
    OSError,
    RuntimeError,  # an encrypted zip
    ValueError,
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
)


def is_archive(path: Path) -> bool:
    """Return whether a file is a tar or zip archive; Office documents do not count."""
    try:
        with path.open("rb") as file:
            head = file.read(262)
    except OSError:
        # It is reported when it is read.
        return False
    if head.startswith(b"PK\x03\x04"):
        return not _is_office(path)
    if path.name.lower().endswith((".tgz", ".tar.gz", ".tar")):
        return True
    return head[257:262] == b"ustar"


def _is_office(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return "[Content_Types].xml" in archive.namelist()
    except _BROKEN:
        return False


def unpack(path: Path, name: str, folder: Path, context: FileContext) -> list[Input]:
    """Copy the regular files of an archive into `folder` and return them sorted by name.

    Parameters
    ----------
    path : Path
        The archive.
    name : str
        Its name for messages.
    folder : Path
        An empty temporary folder.
    context : FileContext
        Where rejected members are reported.
    """
    inputs: list[Input] = []
    # limit the size to what compressed text can expand to: the temporary folder is finite
    left = min(MOST_BYTES, most_unpacked(path.stat().st_size))
    most = left
    try:
        for member, size, source in _members(path, context):
            if len(inputs) >= MOST_MEMBERS:
                context.note(None, f"only the first {MOST_MEMBERS} files of the archive are read")
                break
            parts = PurePosixPath(member.replace("\\", "/")).parts
            if parts and (parts[0] == "/" or ".." in parts or ":" in parts[0]):
                context.note(None, f"member {member[:200]!r} points outside the archive; skipped")
                continue
            if size > left:
                context.note(
                    None, f"the archive unpacks to more than {most} bytes; the rest is skipped"
                )
                break
            target = folder / f"{len(inputs):06d}"
            with room_to_unpack(name), target.open("wb") as file:
                if not copy_limited(source, file, left):
                    context.note(
                        None, f"member {member[:200]!r} is larger than declared; truncated"
                    )
            left -= target.stat().st_size
            inputs.append(file_input(target, name=f"{name}!{member}"))
    except _BROKEN as error:
        context.note(
            None,
            f"the archive is damaged ({error}); the {len(inputs)} files before the damage are read",
        )
    return sorted(inputs, key=lambda item: item.name)


def _members(path: Path, context: FileContext) -> Iterator[tuple[str, int, IO[bytes]]]:
    """Yield (name, size, content) of the regular files that are not hidden; report links."""
    with path.open("rb") as file:
        is_zip = file.read(2) == b"PK"
    if is_zip:
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                if info.is_dir() or _hidden(info.filename):
                    continue
                if stat.S_ISLNK(info.external_attr >> 16):
                    context.note(None, f"member {info.filename[:200]!r} is a link; skipped")
                else:
                    with archive.open(info) as source:
                        yield info.filename, info.file_size, source
        return
    # As a stream: links cannot be followed, and members before a damaged end are kept.
    with tarfile.open(path, mode="r|*") as archive:
        for member in archive:
            if member.isreg() and not _hidden(member.name):
                extracted = archive.extractfile(member)
                if extracted is not None:
                    yield member.name, member.size, extracted
            elif (member.issym() or member.islnk()) and not _hidden(member.name):
                context.note(
                    None,
                    f"member {member.name[:200]!r} is a link to {member.linkname[:99]!r}; skipped",
                )


def _hidden(name: str) -> bool:
    return any(
        part.startswith(".") and part not in (".", "..") for part in PurePosixPath(name).parts
    )
