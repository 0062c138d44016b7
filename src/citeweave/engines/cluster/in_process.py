"""Workers that are threads of this process.

They serve for tests, for measuring the cost of exchanges, and for several parts on one GPU.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

from citeweave.engines.cluster.divided import DividedChain, refuse_undivided
from citeweave.engines.cluster.exchanges import Hub, StoppedError, ThreadExchange
from citeweave.engines.cluster.partition import Division
from citeweave.engines.cluster.plans import make_plan
from citeweave.engines.cluster.worker import PartWorker, Recipe
from citeweave.engines.core.capabilities import SNAPSHOT, Capabilities
from citeweave.engines.core.data import Request

__all__ = ["InProcessChain", "ThreadTeam"]


class ThreadTeam:
    """Workers that are threads, each with its own part.

    Parameters
    ----------
    division : Division
    recipe : Recipe
    """

    def __init__(self, division: Division, recipe: Recipe) -> None:
        self._hub = Hub(division.parts)
        self.workers = [
            PartWorker(make_plan(division, rank), recipe, ThreadExchange(rank, self._hub))
            for rank in range(division.parts)
        ]
        self._pool = ThreadPoolExecutor(division.parts, "citeweave-part")

    def call(self, method: str, arguments: Sequence[tuple[Any, ...]] | None = None) -> list[Any]:
        """Call a method of all workers concurrently, with one tuple of ``arguments`` per worker."""
        given = arguments or [()] * len(self.workers)

        def work(worker: PartWorker, own: tuple[Any, ...]) -> Any:
            try:
                return getattr(worker, method)(*own)
            except BaseException:
                self._hub.stop()
                raise

        tasks = [self._pool.submit(work, *one) for one in zip(self.workers, given, strict=True)]
        errors = [error for task in tasks if (error := task.exception()) is not None]
        for error in sorted(errors, key=lambda one: isinstance(one, StoppedError)):
            self._hub.barrier.reset()
            raise error
        return [task.result() for task in tasks]

    def share(self, value: Any) -> Any:
        """Return the value: threads share their memory."""
        return value

    def replace_lost(self) -> None:
        """Do nothing: threads cannot be lost."""

    def close(self) -> None:
        """End the threads."""
        for worker in self.workers:
            worker.close()
        self._pool.shutdown()


class InProcessChain(DividedChain):
    """A chain whose parts share one process."""

    capabilities = Capabilities(SNAPSHOT, refuses=refuse_undivided, by_name=True, divided=True)

    @classmethod
    def open(cls, request: Request) -> Self:
        """Create a chain, not yet started."""
        spec, data, settings, seed, stream, threads, rounds, workers = request
        return cls(
            spec,
            data,
            settings,
            seed=seed,
            stream=stream,
            threads=max(1, threads // workers.number),
            rounds=rounds,
            workers=workers.number,
            device=workers.device,
        )

    def _new_team(self, division: Division, recipe: Recipe) -> ThreadTeam:
        return ThreadTeam(division, recipe)
