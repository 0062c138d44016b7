"""Download data sets atomically, with a size limit and a checksum."""

from __future__ import annotations

import http.client
import shutil
import ssl
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from citeweave import __version__
from citeweave.datasets.places import HeldFiles, cache_folder, file_sha256, find, place_for, verify
from citeweave.datasets.registry import Dataset, find_dataset
from citeweave.errors import CorpusError
from citeweave.files import name_beside
from citeweave.reading.archives import unpack
from citeweave.reading.problems import FileContext, FileCounts, ProblemLog

if TYPE_CHECKING:
    from citeweave.datasets.registry import DataFile

__all__ = ["FetchProgress", "get"]

FetchProgress: TypeAlias = Callable[[str, int, int | None], None]
"""Called with a URL, the number of bytes received and, if known, the total."""

MOST_ARCHIVE = 1 << 27
"""Size limit of an archive whose size is not known in advance."""

_CHUNK = 1 << 16

_NETWORK = (
    urllib.error.URLError,
    http.client.HTTPException,
    TimeoutError,
    ConnectionError,
    ssl.SSLError,
)


def get(
    name: str | Dataset, *, progress: FetchProgress | None = None, timeout: float = 30.0
) -> HeldFiles:
    """Find a data set on this computer, or download it into the cache.

    The function looks in the folder set by ``CITEWEAVE_DATA``, then in the cache, and then
    downloads the files. They are kept only if their SHA-256 matches the registry.

    Parameters
    ----------
    name : str or Dataset
        The data set.
    progress : callable or None
        Called with the download progress.
    timeout : float
        Seconds without a response after which the download fails.

    Raises
    ------
    CorpusError
        The data set is not available. The message says from where it was requested, and where to
        put the files by hand.

    Examples
    --------
    >>> from citeweave import datasets
    >>> held = datasets.get("cora")
    >>> all(path.is_file() for path in held.paths)
    True
    """
    dataset = find_dataset(name) if isinstance(name, str) else name
    held = find(dataset)
    if held is None:
        held = _fetch(dataset, progress or _silent, timeout)
    else:
        verify(dataset, held)
    for other in dataset.needs:
        get(other, progress=progress, timeout=timeout)
    return held


def _silent(_address: str, _done: int, _total: int | None) -> None:
    """Ignore progress."""


def _fetch(dataset: Dataset, progress: FetchProgress, timeout: float) -> HeldFiles:
    files = dataset.holdings[-1]
    if not dataset.can_be_fetched:
        raise CorpusError(
            f"The data set {dataset.name!r} is not on this computer, and its exact files cannot be "
            f"downloaded: they are {dataset.source}. Home page: {dataset.home}. "
            f"{_by_hand(files)}"
        )
    folder = cache_folder() / "datasets"
    addresses = list(dict.fromkeys(file.url for file in files if file.url is not None))
    for address in addresses:
        wanted = [file for file in files if file.url == address]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=".new-", dir=folder) as temporary:
                _fetch_address(address, wanted, folder, Path(temporary), progress, timeout)
        except _NETWORK as error:
            raise CorpusError(
                f"The data set {dataset.name!r} could not be downloaded from {address} "
                f"({_why(error)}). {_by_hand(files)}"
            ) from error
        except OSError as error:
            raise CorpusError(
                f"The data set {dataset.name!r} could not be saved in '{folder}': "
                f"{error.strerror or error}. Set CITEWEAVE_CACHE to a writable folder."
            ) from error
    return HeldFiles(folder, files)


def _fetch_address(
    address: str,
    wanted: list[DataFile],
    folder: Path,
    temporary: Path,
    progress: FetchProgress,
    timeout: float,
) -> None:
    """Download one URL, check the files, and move them to their final paths."""
    packed = wanted[0].member is not None
    whole = temporary / "whole"
    limit = MOST_ARCHIVE if packed else wanted[0].size
    _download(address, whole, limit, progress, timeout, exact=not packed, files=wanted)
    found = _members(whole, address, temporary) if packed else {}
    for file in wanted:
        path = found.get(file.member or "") if packed else whole
        if path is None:
            raise CorpusError(f"{address} no longer contains {file.member!r}. {_by_hand(wanted)}")
        sha256 = file_sha256(path)
        if sha256 != file.sha256:
            raise CorpusError(
                f"The file '{file.path}' from {address} is not the expected one: its SHA-256 is "
                f"{sha256} instead of {file.sha256}. Nothing was saved. {_by_hand([file])}"
            )
        target = folder / file.path
        target.parent.mkdir(parents=True, exist_ok=True)
        # written next to its final path first, so that it appears there atomically
        beside = name_beside(target)
        path.replace(beside)
        beside.replace(target)


def _download(
    address: str,
    target: Path,
    limit: int,
    progress: FetchProgress,
    timeout: float,
    *,
    exact: bool,
    files: list[DataFile],
) -> None:
    if not address.startswith(("https://", "http://")):
        raise CorpusError(
            f"The address {address} is neither https nor http and will not be opened."
        )
    agent = {"User-Agent": f"citeweave/{__version__}"}
    request = urllib.request.Request(address, headers=agent)  # noqa: S310 (checked above)
    done = 0
    with (
        urllib.request.urlopen(request, timeout=timeout) as answer,  # noqa: S310
        target.open("wb") as file,
    ):
        length = answer.headers.get("Content-Length") or ""
        total = int(length) if length.isdigit() else None
        progress(address, 0, total)
        while chunk := answer.read(_CHUNK):
            done += len(chunk)
            if done > limit:
                raise CorpusError(
                    f"{address} returned more than the expected {limit:,} bytes; the download was "
                    f"stopped and nothing was saved. {_by_hand(files)}"
                )
            file.write(chunk)
            progress(address, done, total)
    if (exact and done < limit) or (total is not None and done < total):
        raise CorpusError(
            f"{address} ended after {done:,} bytes instead of {limit if exact else total:,}; "
            f"nothing was saved. Try again. {_by_hand(files)}"
        )


def _members(archive: Path, address: str, temporary: Path) -> dict[str, Path]:
    """Unpack an untrusted archive; return its files by base name."""
    folder = temporary / "members"
    folder.mkdir()
    context = FileContext(address, ProblemLog(), FileCounts(address))
    found = {}
    for number, item in enumerate(unpack(archive, address, folder, context)):
        path = temporary / f"member-{number}"
        with item.open() as packed, path.open("wb") as file:
            shutil.copyfileobj(packed, file)
        found[item.name.rpartition("!")[2].rpartition("/")[2]] = path
    return found


def _why(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"{error.code} {error.reason}"
    return str(getattr(error, "reason", "") or error) or type(error).__name__


def _by_hand(files: list[DataFile] | tuple[DataFile, ...]) -> str:
    """Explain where to put files obtained by other means."""
    places = " and ".join(
        f"{file.path.rpartition('/')[2]} as '{place_for(file)}' (SHA-256 {file.sha256})"
        for file in files
    )
    return (
        f"If you have the data from elsewhere, save {places}, or set CITEWEAVE_DATA to the folder "
        f"that contains '{files[0].path}'."
    )
