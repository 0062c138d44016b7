"""Files that the browser hands over, piece by piece, into a project's folder.

A piece is a request of its own, so that none is large, a slow disk never runs into the server's
patience, and the page knows how far it is.
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
"""Of all files of a project together."""
ROOM_LEFT = 200 * 1024**2
"""Bytes that an upload leaves free on the disk: the corpus and the run need room, too."""

_UNFINISHED = ".upload-"


class Uploads:
    """Takes the files of one project.

    Parameters
    ----------
    project : Project
    most_bytes : int
        Of all files together.

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
        """Add a piece of a file; the last one makes the file appear under its name.

        Parameters
        ----------
        name : str
            As the browser tells it; made harmless.
        piece : bytes
        offset : int
            Where it belongs: after what has come so far, or 0 to begin again.
        total : int
            Bytes of the whole file.

        Raises
        ------
        ParameterError
            The piece is not the next one, or the files are too many or too large.
        RunError
            The disk is full, or the folder cannot be written.
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
                    f"'{own}' arrived out of order ({have:,} bytes are here). Choose it again."
                )
            with part.open("ab" if offset else "wb") as file:
                file.write(piece)
            if offset + len(piece) == total:
                part.replace(self.folder / own)
        except OSError as error:
            part.unlink(missing_ok=True)
            why = "the disk is full" if is_full(error) else error.strerror or str(error)
            raise RunError(f"'{own}' cannot be stored: {why}. Free some space first.") from error

    def _check(self, name: str, total: int) -> None:
        others = [path for path in self._all() if path.name not in {name, f"{_UNFINISHED}{name}"}]
        if len(others) >= MOST_FILES:
            raise ParameterError(
                f"A project takes at most {MOST_FILES} files. Put them into one archive (.zip)."
            )
        if _size(others) + total > self.most_bytes:
            raise ParameterError(
                f"The files are larger than {gigabytes(self.most_bytes)} together. Export fewer "
                "records, or use the command line: citeweave import."
            )
        free = shutil.disk_usage(self.folder).free
        if total + ROOM_LEFT > free:
            raise RunError(
                f"There is too little room on the disk for '{name}': {size_text(total)} are needed "
                f"and {size_text(free)} are free. Free some space first."
            )

    def _all(self) -> list[Path]:
        return [path for path in self.folder.iterdir() if path.is_file()]

    def remove(self, name: str) -> None:
        """Remove a file that was given."""
        for path in self.project.files:
            if path.name == name:
                path.unlink()
                return
        raise ParameterError("There is no such file in the project.")


def gigabytes(size: int) -> str:
    """Write a limit.

    Examples
    --------
    >>> gigabytes(4_000_000_000)
    '4 GB'
    """
    return f"{size / 1e9:g} GB"


def _size(paths: Sequence[Path]) -> int:
    return sum(path.stat().st_size for path in paths)
