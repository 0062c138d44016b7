"""A size-bounded cache of files that were generated for downloads."""

import threading
from collections import OrderedDict

__all__ = ["KeptFiles"]

MOST = 64 * 1024 * 1024


class KeptFiles:
    """The most recently requested files, up to a total size.

    Building a table of a large corpus takes many times the memory of the table, and memory used by
    concurrent requests is not fully released. Tables are therefore built one at a time, and only
    once.

    Parameters
    ----------
    most : int
        Maximum total size, in bytes.
    """

    def __init__(self, most: int = MOST) -> None:
        self.most = most
        self.making = threading.Lock()
        """Held while a table is being built."""
        self._files: OrderedDict[str, bytes] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def size(self) -> int:
        """Total size of the cached files, in bytes."""
        with self._lock:
            return sum(map(len, self._files.values()))

    def get(self, key: str) -> bytes | None:
        """Return a cached file, or None."""
        with self._lock:
            if key in self._files:
                self._files.move_to_end(key)
            return self._files.get(key)

    def put(self, key: str, content: bytes) -> None:
        """Cache a file, evicting the least recently used ones if necessary."""
        if len(content) > self.most:
            return
        with self._lock:
            self._files[key] = content
            while sum(map(len, self._files.values())) > self.most:
                self._files.popitem(last=False)

    def forget(self) -> None:
        """Empty the cache."""
        with self._lock:
            self._files.clear()
