"""What every engine offers: the contract between a run and what samples it.

An *engine* is a class of chains: it says what it can do (`Capabilities`), whether the machine has
what it needs (`probe`), and makes chains (`open`). A *chain* is started or restored, taken step by
step, asked for its state and its samples, and closed. `citeweave.engines.registry` lists the
engines and chooses one; `tests/engines/test_contract.py` holds each of them to what is written
here. `citeweave.engines.core.chain.Chain` has the parts that engines need not write anew, and
`citeweave.engines.staged` lets levels of a model join one after the other, whatever the engine.
"""

from collections.abc import Mapping
from typing import ClassVar, Protocol, Self

from citeweave.engines.core.arrays import Array, Layout, Shape, State
from citeweave.engines.core.capabilities import Capabilities
from citeweave.engines.core.chain import NO_EXTRA
from citeweave.engines.core.data import ChainSettings, Info, Request
from citeweave.engines.core.estimates import Sums
from citeweave.engines.core.spec import ModelSpec

__all__ = ["Engine", "RunningChain"]


class RunningChain(Protocol):
    """A chain, as a run sees it."""

    @property
    def spec(self) -> ModelSpec:
        """The model that is sampled."""

    @property
    def settings(self) -> ChainSettings:
        """How the chain is run."""

    @property
    def shape(self) -> Shape:
        """Which levels the model has."""

    @property
    def layout(self) -> Layout:
        """What never changes while the chain runs."""

    @property
    def state(self) -> State:
        """All that the chain has drawn, on the host; change it through `restore` alone."""

    @property
    def iteration(self) -> int:
        """Iterations done."""

    @property
    def network_on(self) -> bool:
        """Whether citations count by now."""

    @property
    def n_documents(self) -> int:
        """Number of documents."""

    def start(self, topics: Array | None = None, categories: Array | None = None) -> None:
        """Assign a first topic to every token and build all counts.

        ``topics`` (int [tokens], in the order of the corpus) are random if not given. Where papers
        are drawn into categories, ``categories`` (int [documents]) are their first ones.
        """

    def restore(self, state: State, extra: Mapping[str, Array] = NO_EXTRA) -> None:
        """Go on from the state of a chain of any engine.

        With ``extra``, what `extra_state` gave beside it, the chain goes on in the same bytes.
        """

    def extra_state(self) -> dict[str, Array]:
        """Copy what the chain needs beside its state to go on in the same bytes, if anything."""

    def freeze(self) -> None:
        """Let nothing adapt any more: each step from here on leaves the posterior as it is.

        An engine may learn from the chain's past what it proposes, on the way to the posterior. A
        run freezes its chains before the first step whose state may be kept as a sample: at a
        fixed iteration, or where a rule finds that the chain has settled. Freezing twice does no
        harm, and there is no way back but `restore`, which takes over what was stored. Whether a
        chain is frozen is part of `extra_state`, so that it goes on in the same bytes; one that
        is restored without it is to be frozen again. What an engine has never made it makes once,
        from the state it finds, and then keeps.
        """

    def step(self) -> Info:
        """Take the chain one iteration on."""

    def keep_sample(self, sums: Sums) -> None:
        """Add the posterior means of the present state to the sums of this chain.

        The engine may hold them back until `collect_samples`.
        """

    def drop_samples(self) -> None:
        """Forget the samples kept so far, so that the next begin with the sums given then."""

    def collect_samples(self, sums: Sums) -> None:
        """Bring the sums up to date with all samples that were kept."""

    def close(self) -> None:
        """Give back what the chain holds beside memory; closing it twice does no harm."""


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
        """Make sure that the machine has what the engine needs, and describe it in a line.

        Returns
        -------
        str
            Name and size of the device; empty for this process.

        Raises
        ------
        CiteweaveError
            What is missing, and how to do without.
        """

    @classmethod
    def open(cls, request: Request) -> Self:
        """Make a chain, not yet started.

        Raises
        ------
        ParameterError
            The model or the number of topics is not one that `capabilities` allow.
        RunError
            The device has no room for it.
        """
