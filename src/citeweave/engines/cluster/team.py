"""The interface between a divided chain and its workers, wherever they run."""

from collections.abc import Sequence
from typing import Any, Protocol

__all__ = ["LostWorkerError", "Team"]


class LostWorkerError(Exception):
    """A worker has ended; the others have stopped, and the lost one can be replaced."""


class Team(Protocol):
    """The workers of a chain."""

    def call(self, method: str, arguments: Sequence[tuple[Any, ...]] | None = None) -> list[Any]:
        """Call a method of all workers concurrently, with one tuple of ``arguments`` per worker.

        Raises
        ------
        LostWorkerError
            If one of them has ended.
        """

    def share(self, value: Any) -> Any:
        """Store a value once for all workers; pass what this returns as an argument of `call`."""

    def replace_lost(self) -> None:
        """Replace lost workers, so that every part has one again."""

    def close(self) -> None:
        """Release all workers."""
