"""A small file in a run folder that users change while several processes show it."""

import contextlib
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Generic, TypeVar

from citeweave.errors import RunError
from citeweave.files import locked, writing

__all__ = ["SharedFile"]

Content = TypeVar("Content")
_MEND = "Correct the permissions of the run folder."


class SharedFile(ABC, Generic[Content]):
    """A file of users' decisions about a run, reread after another process has changed it.

    Parameters
    ----------
    path : Path or None
        The file; None keeps the content in memory only.
    nothing : content of a file that is not there
    """

    def __init__(self, path: Path | None, nothing: Content) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._revision = 0
        self._content = nothing
        self._nothing = nothing
        self._seen = None if path is None else _stamp(path)
        self._content = self._current()

    @abstractmethod
    def _load(self, path: Path) -> Content:
        """Read the file; raise `FileNotFoundError`, or `RunError` with the reason."""

    @abstractmethod
    def _save(self, path: Path, content: Content) -> None:
        """Write the file."""

    @property
    def content(self) -> Content:
        """The current content of the file."""
        self._refresh()
        return self._content

    @property
    def revision(self) -> int:
        """A number that increases when this or another process changes the content."""
        self._refresh()
        return self._revision

    def change(self, change: Callable[[Content], Content]) -> None:
        """Replace the content by the result of `change`; saved immediately."""
        with self._lock, self._alone():
            content = change(self._current())  # another process may have written in between
            if self._path is not None:
                before = _stamp(self._path)
                with writing(self._path, _MEND):
                    self._save(self._path, content)
                    if before is not None:
                        _come_after(self._path, before[1])
            self._content = content
            self._revision += 1
            self._seen = None if self._path is None else _stamp(self._path)

    def _current(self) -> Content:
        if self._path is None:
            return self._content
        try:
            return self._load(self._path)
        except FileNotFoundError:
            return self._nothing

    def _refresh(self) -> None:
        """Read what another process has written since; an unreadable file is ignored."""
        if self._path is None or _stamp(self._path) == self._seen:
            return
        with self._lock:
            stamp = _stamp(self._path)
            with contextlib.suppress(RunError):
                self._content = self._current()
                self._revision += 1
            self._seen = stamp  # last, because readers who see this version trust the content

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Lock out other processes between reading and writing."""
        if self._path is None:
            yield
            return
        with contextlib.ExitStack() as held:
            with writing(self._path, _MEND):
                lock = self._path.with_name(f".{self._path.stem}.lock")
                held.enter_context(locked(lock, wait=True))
            yield


def _stamp(path: Path) -> tuple[int, int, int] | None:
    """Return what distinguishes versions of a file; None if there is no file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def _come_after(path: Path, moment: int) -> None:
    """Make a file newer than its predecessor, even if the clock has not advanced.

    Both may have the same inode number, because that of a removed file is reused.
    """
    if path.stat().st_mtime_ns <= moment:
        os.utime(path, ns=(moment + 1, moment + 1))
