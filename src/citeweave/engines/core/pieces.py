"""Ranges of nodes, words or documents: of work for threads, and of rows in concatenated lists."""

from typing import NamedTuple

import numpy as np

__all__ = ["Share", "cut", "list_ranges"]

_PIECES = 64
"""Sums of floating-point numbers are taken piece by piece and then over pieces, so that they do not
depend on the number of threads."""


class Share(NamedTuple):
    """The pieces of one worker, as an argument of kernels."""

    bounds: np.ndarray
    """int64 [pieces + 1]: bounds of all pieces."""
    first: int
    """The worker's first piece, which is its number."""
    step: int
    """Number of workers, which is the step from one of the worker's pieces to the next."""


def cut(first: int, last: int) -> np.ndarray:
    """Cut the range from ``first`` to ``last`` - 1 into pieces: int64 [pieces + 1], their bounds.

    Examples
    --------
    >>> cut(3, 6)
    array([3, 4, 5, 6])
    """
    pieces = max(1, min(_PIECES, last - first))
    return first + (np.arange(pieces + 1, dtype=np.int64) * (last - first)) // pieces


def list_ranges(start: np.ndarray, count: np.ndarray) -> np.ndarray:
    """List the integers of several ranges, one range after the other.

    Examples
    --------
    >>> list_ranges(np.array([4, 0]), np.array([2, 3])).tolist()
    [4, 5, 0, 1, 2]
    """
    before = np.cumsum(count) - count
    return np.repeat(start - before, count) + np.arange(count.sum())
