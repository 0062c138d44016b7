"""Locations of data sets: the user's own folder first, then the cache."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from citeweave import files
from citeweave.errors import CorpusError

if TYPE_CHECKING:
    from citeweave.datasets.registry import DataFile, Dataset

__all__ = ["HeldFiles", "cache_folder", "data_folder", "file_sha256", "find", "place_for", "verify"]

DATA = "CITEWEAVE_DATA"
CACHE = "CITEWEAVE_CACHE"


@dataclass(frozen=True)
class HeldFiles:
    """Files of a data set that are on this computer.

    Attributes
    ----------
    folder : Path
        The folder that contains them.
    files : tuple of DataFile
        Their registry entries.

    Examples
    --------
    >>> from pathlib import Path
    >>> from citeweave.datasets import DataFile, HeldFiles
    >>> file = DataFile(path="cora/cora.cites", size=0, sha256="")
    >>> HeldFiles(folder=Path("data"), files=(file,)).paths[0].name
    'cora.cites'
    """

    folder: Path
    files: tuple[DataFile, ...]

    @property
    def paths(self) -> list[Path]:
        """Paths of the files, in order."""
        return [self.folder / file.path for file in self.files]


def data_folder() -> Path | None:
    """Return the user's folder of data sets, set by ``CITEWEAVE_DATA``; None if it is not set.

    Examples
    --------
    >>> import os
    >>> from citeweave.datasets import data_folder
    >>> os.environ["CITEWEAVE_DATA"] = "my-data"
    >>> data_folder().name
    'my-data'
    """
    named = os.environ.get(DATA)
    return Path(named).expanduser() if named else None


def cache_folder() -> Path:
    """Return the folder for data that can be downloaded or computed again.

    It is set by ``CITEWEAVE_CACHE``; the default is the system's usual cache folder.

    Raises
    ------
    CorpusError
        There is no home folder.

    Examples
    --------
    >>> from citeweave.datasets import cache_folder
    >>> cache_folder().is_absolute()
    True
    """
    try:
        return files.cache_folder()
    except RuntimeError as error:
        raise CorpusError(
            f"There is no home folder for the cache ({error}). Set {CACHE} to a folder."
        ) from error


def _folders() -> list[Path]:
    own = data_folder()
    folders = [] if own is None else [own]
    try:
        folders.append(cache_folder() / "datasets")
    except CorpusError:
        if not folders:
            raise
    return folders


def find(dataset: Dataset) -> HeldFiles | None:
    """Look for a data set in the user's folder and in the cache, by file names and sizes.

    Files of a different size are ignored; `verify` checks the contents.

    Examples
    --------
    >>> from citeweave.datasets import find, find_dataset
    >>> held = find(find_dataset("cora"))
    >>> held is None or held.folder.is_dir()
    True
    """
    for folder in _folders():
        for holding in dataset.holdings:
            if all(_has_size(folder / file.path, file.size) for file in holding):
                return HeldFiles(folder, holding)
    return None


def place_for(file: DataFile) -> Path:
    """Return the path where a file should be placed to be found."""
    own = data_folder()
    if own is not None and own.is_dir() and os.access(own, os.W_OK):
        return own / file.path
    return cache_folder() / "datasets" / file.path


def _has_size(path: Path, size: int) -> bool:
    try:
        return path.is_file() and path.stat().st_size == size
    except OSError:
        return False


def file_sha256(path: Path) -> str:
    """Compute the SHA-256 of a file."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise CorpusError(f"'{path}' cannot be read: {error.strerror or error}.") from error


def verify(dataset: Dataset, held: HeldFiles) -> None:
    """Check the contents of files that were found.

    Raises
    ------
    CorpusError
        A file does not match the registry.
    """
    for file, path in zip(held.files, held.paths, strict=True):
        found = file_sha256(path)
        if found != file.sha256:
            raise CorpusError(
                f"'{path}' is not the file of the data set {dataset.name!r}: its SHA-256 is "
                f"{found} instead of {file.sha256}. Delete it and download it again, or import it "
                "as your own file with `citeweave import`."
            )
