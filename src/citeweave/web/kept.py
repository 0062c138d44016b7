"""Files that were made for a download, kept while there is room: memory is bounded."""

import threading
from collections import OrderedDict

__all__ = ["KeptFiles"]

MOST = 64 * 1024 * 1024


class KeptFiles:
    """The last files that were asked for, up to so many bytes in all.

    Tables of a large corpus take many times their size while they are made, and what is made by
    several requests at a time is never given back whole: one is made at a time, and once.

    Parameters
    ----------
    most : int
        Bytes that are kept at most.
    """

    def __init__(self, most: int = MOST) -> None:
        self.most = most
        self.making = threading.Lock()
        """Held while a table is made."""
        self._files: OrderedDict[str, bytes] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def size(self) -> int:
        """Bytes that are kept."""
        with self._lock:
            return sum(map(len, self._files.values()))

    def get(self, key: str) -> bytes | None:
        """Give a file that is kept."""
        with self._lock:
            if key in self._files:
                self._files.move_to_end(key)
            return self._files.get(key)

    def put(self, key: str, content: bytes) -> None:
        """Keep a file, in place of those that nobody asked for longest."""
        if len(content) > self.most:
            return
        with self._lock:
            self._files[key] = content
            while sum(map(len, self._files.values())) > self.most:
                self._files.popitem(last=False)

    def forget(self) -> None:
        """Drop all."""
        with self._lock:
            self._files.clear()
