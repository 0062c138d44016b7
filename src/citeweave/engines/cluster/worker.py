"""The worker of one part of a chain, in a thread of this process or in a Ray actor."""

import platform
import sys
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from citeweave.engines.cluster.cuda_part import CudaPartChain
from citeweave.engines.cluster.exchanges import PartExchange
from citeweave.engines.cluster.part_chain import ChainInParts, PartChain
from citeweave.engines.cluster.plans import PartPlan
from citeweave.engines.cluster.row_means import write_means
from citeweave.engines.cluster.sparse_part import SparsePartChain
from citeweave.engines.cluster.state_parts import (
    all_rows,
    overwrite,
    own_places,
    own_rows,
    owned_arrays,
    owned_extra,
    part_of_extra,
    part_of_state,
    part_of_sums,
    shared_arrays,
    stored_state,
)
from citeweave.engines.core.arrays import Array, State, flatten
from citeweave.engines.core.capabilities import CPU, CUDA
from citeweave.engines.core.chain import NO_EXTRA
from citeweave.engines.core.data import ChainSettings, Data, Info, read_words
from citeweave.engines.core.estimates import Sums, new_sums
from citeweave.engines.core.row_files import PartFile, RowMean, read_rows, write_rows
from citeweave.engines.core.sparse_sweeps import SPARSE_FROM
from citeweave.engines.core.spec import ModelSpec
from citeweave.engines.core.starting import add_bursts
from citeweave.errors import CorpusError, RunError
from citeweave.files import writing

__all__ = ["PartWorker", "Recipe", "Usage", "most_memory"]


_EXTRA = "proposal."
"""Prefix, in a checkpoint, of the arrays that a chain needs in addition to its state."""


class Recipe(NamedTuple):
    """The settings from which the chain of each part is created."""

    spec: ModelSpec
    settings: ChainSettings
    seed: int
    stream: int
    threads: int
    """Threads per worker."""
    rounds: int
    device: str = CPU
    """Device that each worker samples on."""
    longest: int = 0
    """Maximum number of customers of a document; for workers on GPUs."""

    @property
    def sparse(self) -> bool:
        """Whether there are enough topics for sweeps to go over slots."""
        return self.settings.topics >= SPARSE_FROM


class Usage(NamedTuple):
    """Resources that a worker has used since it was started."""

    messages: int
    """Number of messages sent to other workers."""
    bytes: int
    """Total size of these messages."""
    waited: float
    """Seconds spent on exchanges, including waiting for other workers."""
    processor: float
    """Processor time of its process, in seconds."""
    memory: int
    """Peak memory of its process, in bytes."""


class PartWorker:
    """Holds one part of a chain and carries out what the driver requests of all parts.

    Parameters
    ----------
    plan : PartPlan
    recipe : Recipe
    exchange : PartExchange
    """

    def __init__(self, plan: PartPlan, recipe: Recipe, exchange: PartExchange) -> None:
        self._plan = plan._replace(data=_open_words(plan.data))
        self._recipe = recipe
        self._exchange = exchange
        self.chain = self._make(recipe.spec)
        self._sums: Sums | None = None
        self._frozen = False
        """Whether the driver has called `freeze` since the chain was restored."""

    def _make(self, spec: ModelSpec) -> ChainInParts | CudaPartChain:
        recipe = self._recipe
        kind: Any = SparsePartChain if recipe.sparse else PartChain
        if recipe.device == CUDA:
            kind = partial(CudaPartChain, longest=recipe.longest)
        found: ChainInParts | CudaPartChain = kind(
            self._plan,
            self._exchange,
            spec,
            recipe.settings._replace(debug=False),  # some of the counts are in other parts
            seed=recipe.seed,
            stream=recipe.stream,
            threads=recipe.threads,
            rounds=recipe.rounds,
        )
        return found

    def _enter(self, spec: ModelSpec) -> None:
        """Make sure that the chain is one of this model, which gains a level during the run."""
        if spec != self.chain.spec:
            self._collect()
            self.chain.close()
            self.chain = self._make(spec)

    def _collect(self) -> Sums | None:
        """Return the sums of all samples so far, downloading them if they are on a GPU."""
        if self._sums is not None:
            self.chain.collect_samples(self._sums)
        return self._sums

    def begin(self, spec: ModelSpec, topics: Array | None) -> None:
        """Assign an initial topic to each token of the part, together with all other parts.

        ``topics`` are those of its own tokens, in corpus order; random if not given.
        """
        self._sums, self._frozen = None, False
        self.chain.close()
        self.chain = self._make(spec)
        self.chain.start(topics)

    def restore(
        self,
        spec: ModelSpec,
        state: State,
        sums: Sums | None,
        extra: Mapping[str, np.ndarray] = NO_EXTRA,
    ) -> None:
        """Continue from the part of a state, with that of the sums of samples kept before.

        These, and ``extra``, what the chain needs in addition, are those of the whole chain.
        """
        plan = self._plan
        self.drop()
        self._enter(spec)
        self.chain.restore(part_of_state(state, plan), part_of_extra(extra, plan))
        if sums is not None:
            self._sums = Sums(*(array.copy() for array in part_of_sums(sums, plan)))
        self._frozen = False

    def join_bursts(self, spec: ModelSpec) -> None:
        """Add phi', which makes the model ``spec``; keep the sums."""
        first = self._recipe.settings.concentration
        joined = add_bursts(spec, self.chain.state, concentration=first)
        self._enter(spec)
        self.chain.restore(joined)
        if self._frozen:
            self.chain.freeze()

    def freeze(self) -> None:
        """Stop all adaptation."""
        self._frozen = True
        self.chain.freeze()

    def extra_state(self) -> dict[str, np.ndarray]:
        """Return what the part owns in addition to its state.

        The first part includes the arrays that are the same in all parts.
        """
        first = self._exchange.rank == 0
        return owned_extra(self.chain.extra_state(), self._plan, with_shared=first)

    def read(self, spec: ModelSpec, path: Path, with_sums: bool) -> None:  # noqa: FBT001 (remote)
        """Continue from a stored state and its sums; only the rows needed are kept."""
        if not path.is_file():
            raise RunError(_unseen(path, "the checkpoint"))
        found = read_rows(path, all_rows(self._plan))
        self.drop()
        self._enter(spec)
        state = stored_state(self.chain.state, found)
        stored = {name: found[name] for name in found if name.startswith(_EXTRA)}
        extra = {name.removeprefix(_EXTRA): array for name, array in stored.items()}
        self.chain.restore(state, part_of_extra(extra, self._plan))
        self._frozen = False
        if with_sums and "sums.samples" in found:
            self._sums = new_sums(self.chain)
            overwrite(flatten(self._sums, "sums."), found)

    def see(self, folder: Path) -> None:
        """Check that the folder for parts of checkpoints exists."""
        if not folder.is_dir():
            raise RunError(_unseen(folder, "the run folder"))

    def write(
        self, folder: Path
    ) -> tuple[PartFile, dict[str, tuple[int, ...]], dict[str, np.ndarray]]:
        """Write the arrays that the part owns.

        Returns the file, the shapes of the arrays in it and, for the first part, the arrays that
        are the same in all parts.
        """
        self.see(folder)
        sums = self._collect()
        sums = sums if sums is not None and sums.samples[0] else None
        path = folder / f"{self._exchange.rank:05d}.npz"
        with writing(
            path,
            f"It is a worker's part of a checkpoint, on {platform.node()}. Earlier checkpoints are "
            "intact: free some space or mend the permissions, then go on with `citeweave resume`.",
        ):
            owned = owned_arrays(self._plan, self.chain.state, sums)
            file = write_rows(path, own_rows(self._plan), owned)
        shapes = {name: array.shape for name, array in owned.items()}
        first = self._exchange.rank == 0
        return file, shapes, shared_arrays(self.chain.state, sums) if first else {}

    def write_means(
        self, folder: Path, wanted: Sequence[RowMean]
    ) -> tuple[dict[str, str], dict[str, np.ndarray]]:
        """Write means over the samples kept, together with all other parts.

        Returns checksums by file and, for the first part, the sums of the root and those that are
        the same in all parts.
        """
        self.see(folder)
        sums = self._collect()
        if sums is None:
            raise RunError("The chain has kept no samples to take means of.")
        plan = self._plan
        with writing(folder, "The chains are saved: free some space or mend the permissions."):
            files = write_means(
                folder, wanted, own_rows(plan), own_places(plan), self._exchange, sums
            )
        if self._exchange.rank > 0:
            return files, {}
        root = {f"sums.{name}": getattr(sums, name)[:1] for name in ("nodes", "nodes_squared")}
        return files, shared_arrays(self.chain.state, sums) | root

    def step(self) -> Info:
        """Advance the chain by one iteration, together with all other parts."""
        return self.chain.step()

    def keep(self) -> None:
        """Add the current state to the sums."""
        if self._sums is None:
            self._sums = new_sums(self.chain)
        self.chain.keep_sample(self._sums)

    def drop(self) -> None:
        """Discard the samples kept so far."""
        self._sums = None
        self.chain.drop_samples()

    def export(self) -> dict[str, Any]:
        """Return the arrays of the state and the sums that the part owns, by name.

        The first part includes the arrays that are the same in all parts.
        """
        state, sums = self.chain.state, self._collect()
        shared = shared_arrays(state, sums) if self._exchange.rank == 0 else {}
        return owned_arrays(self._plan, state, sums) | shared

    def usage(self) -> Usage:
        """Report the resources used so far."""
        sent = self._exchange.traffic
        return Usage(sent.messages, sent.bytes, sent.seconds, time.process_time(), most_memory())

    def close(self) -> None:
        """Release the threads of the part, and its memory on a GPU."""
        self.chain.close()


def _open_words(data: Data) -> Data:
    """Read the words of a part; their folder may be missing on this node."""
    try:
        return data._replace(tokens=read_words(data))
    except CorpusError as error:
        raise CorpusError(
            f"A worker on {platform.node()} cannot open its part of the corpus: {error} Workers "
            "read it themselves, so its folder must be one that all nodes share."
        ) from error


def _unseen(path: Path, what: str) -> str:
    return (
        f"A worker on {platform.node()} does not see {what} '{path}'. Workers write and read their "
        "own part of it: put the run into a folder that all nodes share under the same name, and "
        "resume it or fit again."
    )


def most_memory() -> int:
    """Return the peak memory of this process in bytes; 0 if it is unknown."""
    if sys.platform == "win32":
        return 0
    import resource  # noqa: PLC0415 (not on every system)

    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return kilobytes if sys.platform == "darwin" else 1024 * kilobytes
