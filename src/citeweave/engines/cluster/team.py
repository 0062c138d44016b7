"""What a divided chain asks of its workers, wherever they are."""

from collections.abc import Sequence
from typing import Any, Protocol

from citeweave.engines.cluster.worker import Recipe

__all__ = ["LostWorkerError", "Team"]


class LostWorkerError(Exception):
    """A worker has ended; the others have stopped, and it can be replaced."""


class Team(Protocol):
    """The workers of a chain."""

    def call(self, method: str, arguments: Sequence[tuple[Any, ...]] | None = None) -> list[Any]:
        """Let all workers do something at a time; ``arguments`` are those of each.

        Raises
        ------
        LostWorkerError
            One of them has ended.
        """

    def in_one_piece(
        self, what: str, recipe: Recipe, *more: Any, from_parts: bool
    ) -> Sequence[Any]:
        """Let one worker call a function of `citeweave.engines.cluster.whole`.

        ``from_parts`` says whether it is given the states of all parts. Gives a state for each
        part, to be handed on as an argument of `call`: it need not be in this process.
        """

    def replace_lost(self) -> None:
        """Have a worker for every part again."""

    def close(self) -> None:
        """Let all workers go."""
