"""Threads that share the parts of a step, and how what they share is cut up."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Share", "WorkerPool", "cut"]

_PIECES = 64
"""Sums of floating-point numbers are taken piece by piece and then over pieces, so that they do
not depend on how many threads there are."""


class Share(NamedTuple):
    """The pieces that one worker takes, as kernels are told."""

    bounds: np.ndarray
    """int64 [pieces + 1]: those of all pieces."""
    first: int
    """The worker's first piece, which is its number."""
    step: int
    """How many workers there are: every so many-th piece from the first is the worker's."""


class WorkerPool:
    """A fixed number of workers, of which the calling thread is one.

    Parameters
    ----------
    size : int
        Number of workers.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._pool: ThreadPoolExecutor | None = None

    def run(self, task: Callable[[int], Any]) -> None:
        """Do ``task(worker)`` for every worker, at a time, and wait until all are done."""
        if self.size == 1:
            task(0)
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.size - 1, "citeweave-sweep")
        others: list[Future[Any]] = [self._pool.submit(task, i) for i in range(1, self.size)]
        try:
            task(0)
        finally:  # nobody writes to the chain any more when this returns
            errors = [other.exception() for other in others]
        for error in errors:
            if error is not None:
                raise error

    def close(self) -> None:
        """End the threads; another task would begin new ones."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None


def cut(first: int, last: int) -> np.ndarray:
    """Cut the range from ``first`` to ``last`` - 1 into pieces: int64 [pieces + 1], their bounds.

    Examples
    --------
    >>> cut(3, 6)
    array([3, 4, 5, 6])
    """
    pieces = max(1, min(_PIECES, last - first))
    return first + (np.arange(pieces + 1, dtype=np.int64) * (last - first)) // pieces
