"""Receive files from the browser, piece by piece, into the folder of a project.

Each piece is a separate request. Requests therefore stay small, a slow disk does not cause a
timeout, and the page can show the progress.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path

from citeweave.errors import ParameterError, RunError
from citeweave.files import is_full
from citeweave.web.projects.shelf import Project, safe_file_name
from citeweave.wording import size_text

__all__ = ["MOST_BYTES", "MOST_FILES", "PIECE", "Uploads", "gigabytes"]

PIECE = 4 * 1024 * 1024
"""Largest piece, in bytes."""
MOST_FILES = 500
MOST_BYTES = 4_000_000_000
"""Total size of all files of a project."""
ROOM_LEFT = 200 * 1024**2
"""Bytes that an upload leaves free on the disk for the corpus and the run."""

_UNFINISHED = ".upload-"


class Uploads:
    """Receives the files of one project.

    Parameters
    ----------
    project : Project
    most_bytes : int
        Maximum total size of all files.

    Examples
    --------
    >>> import tempfile
    >>> from citeweave.web.projects.shelf import Shelf
    >>> project = Shelf(tempfile.mkdtemp()).create("My papers")
    >>> Uploads(project).add("../a.bib", b"@book{b", offset=0, total=20)
    >>> Uploads(project).add("../a.bib", b", title={Soils}}", offset=7, total=23)
    >>> [path.name for path in project.files], project.files[0].read_bytes()[:9]
    (['a.bib'], b'@book{b, ')
    """

    def __init__(self, project: Project, *, most_bytes: int = MOST_BYTES) -> None:
        self.project = project
        self.folder = project.path / "files"
        self.most_bytes = most_bytes

    def add(self, name: str, piece: bytes, *, offset: int, total: int) -> None:
        """Add a piece of a file; after the last piece, the file appears under its name.

        Parameters
        ----------
        name : str
            File name sent by the browser; it is made safe.
        piece : bytes
        offset : int
            Position of the piece: the number of bytes received so far, or 0 to start again.
        total : int
            Size of the whole file, in bytes.

        Raises
        ------
        ParameterError
            The piece is out of order, or there are too many files, or they are too large.
        RunError
            The disk is full, or the folder is not writable.
        """
        own = safe_file_name(name)
        part = self.folder / f"{_UNFINISHED}{own}"
        try:
            self.folder.mkdir(exist_ok=True)
            if offset == 0:
                self._check(own, total)
            have = part.stat().st_size if offset and part.exists() else 0
            if offset != have or offset + len(piece) > total:
                raise ParameterError(
                    f"A piece of '{own}' arrived out of order ({have:,} bytes received so far). "
                    "Choose the file again."
                )
            with part.open("ab" if offset else "wb") as file:
                file.write(piece)
            if offset + len(piece) == total:
                part.replace(self.folder / own)
        except OSError as error:
            part.unlink(missing_ok=True)
            why = "the disk is full" if is_full(error) else error.strerror or str(error)
            raise RunError(
                f"'{own}' cannot be saved: {why}. Free some disk space and try again."
            ) from error

    def _check(self, name: str, total: int) -> None:
        others = [path for path in self._all() if path.name not in {name, f"{_UNFINISHED}{name}"}]
        if len(others) >= MOST_FILES:
            raise ParameterError(
                f"A project can have at most {MOST_FILES} files. Pack them into one archive (.zip)."
            )
        if _size(others) + total > self.most_bytes:
            raise ParameterError(
                f"The files exceed {gigabytes(self.most_bytes)} in total. Export fewer records, or "
                "use the command line: citeweave import"
            )
        free = shutil.disk_usage(self.folder).free
        if total + ROOM_LEFT > free:
            raise RunError(
                f"There is not enough disk space for '{name}': it needs {size_text(total)}, and "
                f"{size_text(free)} is free. Free some disk space and try again."
            )

    def _all(self) -> list[Path]:
        return [path for path in self.folder.iterdir() if path.is_file()]

    def remove(self, name: str) -> None:
        """Remove an uploaded file."""
        for path in self.project.files:
            if path.name == name:
                path.unlink()
                return
        raise ParameterError("The project has no such file.")


def gigabytes(size: int) -> str:
    """Format a size limit.

    Examples
    --------
    >>> gigabytes(4_000_000_000)
    '4 GB'
    """
    return f"{size / 1e9:g} GB"


def _size(paths: Sequence[Path]) -> int:
    return sum(path.stat().st_size for path in paths)
