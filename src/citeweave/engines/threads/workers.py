"""Threads that divide the work of a step."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

__all__ = ["WorkerPool"]


class WorkerPool:
    """A fixed number of workers, including the calling thread.

    Parameters
    ----------
    size : int
        Number of workers.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._pool: ThreadPoolExecutor | None = None

    def run(self, task: Callable[[int], Any]) -> None:
        """Run ``task(worker)`` for every worker in parallel, and wait until all are done."""
        if self.size == 1:
            task(0)
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.size - 1, "citeweave-sweep")
        others: list[Future[Any]] = [self._pool.submit(task, i) for i in range(1, self.size)]
        try:
            task(0)
        finally:  # no thread may still write to the chain when this returns
            errors = [other.exception() for other in others]
        for error in errors:
            if error is not None:
                raise error

    def close(self) -> None:
        """Stop the threads; another task would start new ones."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None
