"""What runs one part of a chain: in a thread of this process, or in a worker of a Ray cluster."""

import sys
import time
from typing import NamedTuple

import numpy as np

from citeweave.engines.cluster.exchanges import PartExchange
from citeweave.engines.cluster.part_chain import PartChain
from citeweave.engines.cluster.plans import PartPlan
from citeweave.engines.core.arrays import State
from citeweave.engines.core.data import ChainSettings, Info
from citeweave.engines.core.estimates import Sums, new_sums
from citeweave.engines.core.spec import ModelSpec

__all__ = ["PartWorker", "Recipe", "Usage", "most_memory"]


class Recipe(NamedTuple):
    """How the chain of every part is made."""

    spec: ModelSpec
    settings: ChainSettings
    seed: int
    stream: int
    threads: int
    """Of each worker."""
    rounds: int


class Usage(NamedTuple):
    """What a worker has used since it was started."""

    messages: int
    """Sent to other workers."""
    bytes: int
    """In these messages."""
    waited: float
    """Seconds spent on exchanges, waiting for other workers included."""
    processor: float
    """Seconds of processor time of its process."""
    memory: int
    """Bytes: the most that its process has held."""


class PartWorker:
    """Holds one part of a chain and does what the driver asks of all parts.

    Parameters
    ----------
    plan : PartPlan
    recipe : Recipe
    exchange : PartExchange
    """

    def __init__(self, plan: PartPlan, recipe: Recipe, exchange: PartExchange) -> None:
        spec, settings, seed, stream, threads, rounds = recipe
        self.chain = PartChain(
            plan,
            exchange,
            spec,
            settings._replace(debug=False),  # a part of the counts is in other parts
            seed=seed,
            stream=stream,
            threads=threads,
            rounds=rounds,
        )
        self._exchange = exchange
        self._sums: Sums | None = None

    def restore(self, state: State, sums: Sums | None) -> None:
        """Go on from the part of a state, with the sums of samples kept before."""
        self.chain.restore(state)
        self._sums = None if sums is None else Sums(*(array.copy() for array in sums))

    def step(self) -> Info:
        """Take the chain one iteration on, together with all other parts."""
        return self.chain.step()

    def keep(self) -> None:
        """Add the present state to the sums."""
        if self._sums is None:
            self._sums = new_sums(self.chain)
        self.chain.keep_sample(self._sums)

    def drop(self) -> None:
        """Forget the samples kept so far."""
        self._sums = None

    def export(self) -> tuple[State, Sums | None, np.ndarray]:
        """Give the state, the sums and the sizes of levels."""
        return self.chain.state, self._sums, np.diff(self.chain.layout.level_start)

    def usage(self) -> Usage:
        """Tell what was used so far."""
        sent = self._exchange.traffic
        return Usage(sent.messages, sent.bytes, sent.seconds, time.process_time(), most_memory())

    def close(self) -> None:
        """End the threads of the part."""
        self.chain.close()


def most_memory() -> int:
    """Give the most memory that this process has held, in bytes; 0 where that is not known."""
    if sys.platform == "win32":
        return 0
    import resource  # noqa: PLC0415 (not on every system)

    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return kilobytes if sys.platform == "darwin" else 1024 * kilobytes
