"""The interface of an engine: the contract between a run and its sampler.

An *engine* is a class of chains: it declares what it can do (`Capabilities`), checks whether the
machine has what it needs (`probe`), and opens chains (`open`). A *chain* is started or restored,
advanced step by step, asked for its state and its samples, and closed. `citeweave.engines.registry`
lists the engines and chooses one; `tests/engines/test_contract.py` tests this contract for each of
them. `citeweave.engines.core.chain.Chain` implements the parts that engines share, and
`citeweave.engines.staged` adds levels of a model in stages, for any engine.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Protocol, Self, cast

from citeweave.engines.core.arrays import Array, Layout, Shape, State
from citeweave.engines.core.capabilities import Capabilities
from citeweave.engines.core.chain import NO_EXTRA
from citeweave.engines.core.data import ChainSettings, Info, Request
from citeweave.engines.core.estimates import Sums
from citeweave.engines.core.row_files import RowMean, WrittenParts
from citeweave.engines.core.spec import ModelSpec

__all__ = ["DividedRunningChain", "Engine", "RunningChain", "as_divided"]


class RunningChain(Protocol):
    """A chain, as a run sees it."""

    @property
    def spec(self) -> ModelSpec:
        """The model to sample."""

    @property
    def settings(self) -> ChainSettings:
        """How the chain is run."""

    @property
    def shape(self) -> Shape:
        """Which levels the model has."""

    @property
    def layout(self) -> Layout:
        """Everything that is constant while the chain runs."""

    @property
    def state(self) -> State:
        """The whole state of the chain, on the host; change it only through `restore`."""

    @property
    def iteration(self) -> int:
        """Iterations done."""

    @property
    def network_on(self) -> bool:
        """Whether citations are used yet."""

    @property
    def n_documents(self) -> int:
        """Number of documents."""

    def start(self, topics: Array | None = None, categories: Array | None = None) -> None:
        """Assign a first topic to every token and build all counts.

        ``topics`` (int [tokens], in the order of the corpus) are random if not given. With latent
        categories, ``categories`` (int [documents]) are the initial ones.
        """

    def restore(self, state: State, extra: Mapping[str, Array] = NO_EXTRA) -> None:
        """Continue from the state of a chain of any engine.

        With ``extra``, the output of `extra_state` at that state, the chain continues with the same
        bytes.
        """

    def extra_state(self) -> dict[str, Array]:
        """Copy what the chain needs, besides its state, to continue with the same bytes."""

    def freeze(self) -> None:
        """Stop all adaptation: from here on, each step leaves the posterior invariant.

        During burn-in, an engine may adapt its proposals to the chain's past. A run freezes its
        chains before the first step whose state may be kept as a sample: at a fixed iteration, or
        when a rule finds that the chain has settled. Freezing twice is harmless, and only `restore`
        undoes it, by taking over the stored state. Whether a chain is frozen is part of
        `extra_state`, so that it continues with the same bytes; a chain restored without it must be
        frozen again. Proposals that an engine has not built yet are built once, from the current
        state, and then kept.
        """

    def step(self) -> Info:
        """Advance the chain by one iteration."""

    def keep_sample(self, sums: Sums) -> None:
        """Add the posterior means of the present state to the sums of this chain.

        The engine may defer this until `collect_samples`.
        """

    def drop_samples(self) -> None:
        """Discard the samples kept so far; the next one starts from the sums given then."""

    def collect_samples(self, sums: Sums) -> None:
        """Update the sums with all kept samples."""

    def close(self) -> None:
        """Release the chain's resources; closing it twice is harmless."""


class DividedRunningChain(RunningChain, Protocol):
    """A chain in parts whose workers write and read checkpoints themselves.

    `state` and `collect_samples` assemble everything in this process; a run with a folder avoids
    this.
    """

    @property
    def device(self) -> str:
        """Device that each worker samples on, detected if the request left it open."""

    def empty_sums(self) -> Sums:
        """Make empty sums; memory is allocated when samples are collected."""

    def lodge(self, folder: Path) -> None:
        """Set the folder that all workers must have access to, before anything is written to it."""

    def write_parts(self, folder: Path) -> WrittenParts:
        """Let every worker write its part of the state and the sums into a folder."""

    def write_means(self, folder: Path, wanted: Sequence[RowMean]) -> tuple[dict[str, str], Sums]:
        """Let the workers write means of rows; return checksums by file and the remaining sums.

        In the remaining sums, the root is the only node, and all other arrays by row are empty.
        """

    def go_back_to(self, path: Path) -> None:
        """Set a checkpoint, just written, as the one from which lost workers are restored."""

    def restore_from(self, path: Path, sums: Sums | None) -> None:
        """Continue from a checkpoint, from which every worker reads its own rows.

        ``sums`` receive the samples kept from here on, in addition to the stored ones, which the
        workers read; None discards the stored ones.
        """


def as_divided(chain: RunningChain) -> DividedRunningChain | None:
    """Return the chain, typed as divided, if it is divided, else None."""
    able = getattr(chain, "capabilities", None)
    return cast("DividedRunningChain", chain) if able is not None and able.divided else None


class Engine(RunningChain, Protocol):
    """A chain, as a run sees it; its class is the engine.

    Examples
    --------
    >>> from citeweave.engines.registry import ENGINES
    >>> ENGINES["dense"].capabilities.sweep, ENGINES["dense-snapshot"].capabilities.device
    ('sequential', 'cpu')
    """

    capabilities: ClassVar[Capabilities]

    @classmethod
    def probe(cls) -> str:
        """Check that the machine has what the engine needs, and describe it in one line.

        Returns
        -------
        str
            Name and size of the device; empty for this process.

        Raises
        ------
        CiteweaveError
            States what is missing, and the alternative.
        """

    @classmethod
    def open(cls, request: Request) -> Self:
        """Open a chain, not yet started.

        Raises
        ------
        ParameterError
            `capabilities` do not allow the model or the number of topics.
        RunError
            The device has too little memory for it.
        """
