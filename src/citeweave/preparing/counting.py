"""Count integer keys, possibly more than fit into memory: in sorted blocks that are merged."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["KeyCounts", "count_sorted"]

_MERGED_AT_ONCE = 4_000_000


def count_sorted(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct keys in ascending order, and their counts.

    Keys are sorted explicitly, because ``np.unique`` hashes, which is slower for such dense keys.

    Examples
    --------
    >>> count_sorted(np.array([7, 3, 7]))
    (array([3, 7]), array([1, 2]))
    """
    ordered = np.sort(keys)
    starts = _starts(ordered)
    return ordered[starts], np.diff(np.append(starts, len(ordered)))


def _starts(ordered: np.ndarray) -> np.ndarray:
    new = np.ones(len(ordered), dtype=bool)
    new[1:] = ordered[1:] != ordered[:-1]
    return np.flatnonzero(new)


class KeyCounts:
    """Counts of keys that are added in blocks.

    Parameters
    ----------
    folder : Path, optional
        Folder for the counts of blocks until they are merged, if they do not fit into memory.

    Examples
    --------
    >>> counts = KeyCounts()
    >>> counts.add(np.array([5, 2, 5]))
    >>> counts.add(np.array([2, 9, 5]))
    >>> counts.frequent(2)
    (array([2, 5]), array([2, 3]))
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._parts: list[tuple[np.ndarray, np.ndarray]] = []
        self._files: list[Path] = []
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)

    def add(self, keys: np.ndarray) -> None:
        """Count the keys of one block."""
        part = count_sorted(keys)
        if self._folder is not None:
            files = [self._folder / f"{len(self._parts):05d}-{name}.npy" for name in ("key", "n")]
            for file, array in zip(files, (part[0], part[1].astype(np.int32)), strict=True):
                np.save(file, array)
            # an empty array cannot be memory-mapped
            part = (
                (np.load(files[0], mmap_mode="r"), np.load(files[1], mmap_mode="r"))
                if len(keys)
                else part
            )
            self._files += files
        self._parts.append(part)

    def frequent(self, least: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the keys with at least the given count, in ascending order, and their counts.

        The counts are discarded afterwards.
        """
        parts = [part for part in self._parts if len(part[0])]
        found = [self._merged(parts, low, high, least) for low, high in _ranges(parts)]
        self._parts.clear()
        for file in self._files:
            file.unlink()
        self._files.clear()
        if not found:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        return np.concatenate([k for k, _ in found]), np.concatenate([n for _, n in found])

    @staticmethod
    def _merged(
        parts: list[tuple[np.ndarray, np.ndarray]], low: int, high: int, least: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Sum the counts of keys from `low` to below `high` over all blocks."""
        keys, counts = [], []
        for key, count in parts:
            begin, end = np.searchsorted(key, [low, high])
            keys.append(np.asarray(key[begin:end]))
            counts.append(np.asarray(count[begin:end], dtype=np.int64))
        key, count = np.concatenate(keys), np.concatenate(counts)
        if len(parts) > 1 and len(key):
            order = np.argsort(key, kind="stable")
            key = key[order]
            starts = _starts(key)
            key, count = key[starts], np.add.reduceat(count[order], starts)
        often = count >= least
        return key[often], count[often]


def _ranges(parts: list[tuple[np.ndarray, np.ndarray]]) -> list[tuple[int, int]]:
    """Divide the keys into ranges that can be merged one by one."""
    if not parts:
        return []
    total = sum(len(key) for key, _ in parts)
    last = max(int(key[-1]) for key, _ in parts) + 1
    number = -(-total // _MERGED_AT_ONCE)
    sample = np.sort(np.concatenate([key[:: max(len(key) // 1000, 1)] for key, _ in parts]))
    inner = sample[np.arange(1, number) * len(sample) // number] if number > 1 else sample[:0]
    first = min(int(key[0]) for key, _ in parts)
    return list(pairwise(sorted({first, *inner.tolist(), last})))
