"""A chain in two stages: first the model without phi', then, with the same topics, the full one.

Starting from random topics, a model with burstiness explains every repeated word by its own
document, and its chain needs a thousand iterations to find topics. The model without phi' finds
them in a few dozen; phi' then joins with these topics (docs/understand/starts.md). This wrapper
works for every engine without its knowledge. In the second stage, the chain is the engine's own.
"""

import math
from collections.abc import Mapping

import numpy as np

from citeweave.engines.core.arrays import Array, Layout, Shape, State
from citeweave.engines.core.capabilities import SNAPSHOT
from citeweave.engines.core.chain import NO_EXTRA
from citeweave.engines.core.data import ChainSettings, Info, Request
from citeweave.engines.core.estimates import Sums
from citeweave.engines.core.spec import ModelSpec
from citeweave.engines.core.starting import add_bursts, with_bursts
from citeweave.engines.protocol import Engine, RunningChain

__all__ = ["StagedChain", "open_chain", "state_after"]


def open_chain(engine: type[Engine], request: Request) -> RunningChain:
    """Open a chain of an engine, in stages if requested."""
    bursts = request.spec.word_level("document-topic")
    if bursts is None or request.settings.burst_from == 0 or engine.capabilities.divided:
        return engine.open(request)  # the workers of a divided chain handle its stages
    return StagedChain(engine, request, request.spec.without(bursts.name))


def state_after(chain: RunningChain, iterations: int) -> State:
    """Return a state with the shapes of a chain's state after this many iterations."""
    state = chain.state
    return chain.shaped(state, iterations) if isinstance(chain, StagedChain) else state


class StagedChain:
    """A chain whose phi' joins after ``burst_from`` iterations.

    Its state, shape and layout are those of the current stage; a state of either stage can be
    restored.

    Parameters
    ----------
    engine : type of Engine
        Engine of both stages.
    request : Request
        The full model, which has a document-topic level.
    plain : ModelSpec
        The model without that level.
    """

    def __init__(self, engine: type[Engine], request: Request, plain: ModelSpec) -> None:
        self._engine = engine
        self._whole = request
        self._plain = request._replace(spec=plain)
        self._opened = [engine.open(self._plain)]  # empty between two stages
        self._frozen = False

    @property
    def _chain(self) -> Engine:
        return self._opened[-1]

    @property
    def bursting(self) -> bool:
        """Whether phi' has joined."""
        return self._chain.spec.word_level("document-topic") is not None

    @property
    def spec(self) -> ModelSpec:
        """The model of the current stage."""
        return self._chain.spec

    @property
    def settings(self) -> ChainSettings:
        """How the chain is run."""
        return self._chain.settings

    @property
    def shape(self) -> Shape:
        """The levels of the current stage."""
        return self._chain.shape

    @property
    def layout(self) -> Layout:
        """Everything that is constant, in either stage."""
        return self._chain.layout

    @property
    def state(self) -> State:
        """The whole state of the chain, on the host; change it only through `restore`."""
        return self._chain.state

    @property
    def iteration(self) -> int:
        """Iterations done."""
        return self._chain.iteration

    @property
    def network_on(self) -> bool:
        """Whether citations are used yet."""
        return self._chain.network_on

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return self._chain.n_documents

    def shaped(self, state: State, iterations: int) -> State:
        """Return the current state with the shapes after this many iterations."""
        n_tokens = len(self.layout.word) if iterations > self.settings.burst_from else 0
        bits = np.zeros(n_tokens, state.assignments.burst_table.dtype)
        return state._replace(assignments=state.assignments._replace(burst_table=bits))

    def start(self, topics: Array | None = None, categories: Array | None = None) -> None:
        """Assign a first topic to every token and build all counts, without phi'."""
        self._enter(self._plain)
        self._chain.start(topics, categories)

    def restore(self, state: State, extra: Mapping[str, Array] = NO_EXTRA) -> None:
        """Continue from the state of a chain of any engine, in the stage that it was in."""
        bursting = len(state.assignments.burst_table) == len(self.layout.word)
        self._enter(self._whole if bursting else self._plain)
        self._frozen = False
        self._chain.restore(state, extra)

    def extra_state(self) -> dict[str, Array]:
        """Copy what the chain needs, besides its state, to continue with the same bytes."""
        return self._chain.extra_state()

    def freeze(self) -> None:
        """Stop all adaptation, in this stage and in the next."""
        self._frozen = True
        self._chain.freeze()

    def step(self) -> Info:
        """Advance the chain by one iteration; phi' joins before it when it is due."""
        if not self.bursting and self.iteration >= self.settings.burst_from:
            self._join()
        info = self._chain.step()
        if self.bursting:
            return info
        return info._replace(concentrations=(*info.concentrations, math.nan))

    def _join(self) -> None:
        """Add phi', at which words are seated at their topics, and continue with the full model."""
        spec, first = self._whole.spec, self.settings.concentration
        if self._engine.capabilities.sweep == SNAPSHOT:  # as parts of such a chain do
            joined = add_bursts(spec, self.state, concentration=first)
        else:
            joined = with_bursts(spec, self.layout, self.state, concentration=first)
        self._enter(self._whole)
        self._chain.restore(joined)
        if self._frozen:
            self._chain.freeze()

    def _enter(self, stage: Request) -> None:
        """Open the chain of a stage and close that of the other."""
        if self._chain.spec != stage.spec:
            self._opened.pop().close()  # before another chain allocates memory
            self._opened.append(self._engine.open(stage))

    def keep_sample(self, sums: Sums) -> None:
        """Add the posterior means of the present state to the sums of this chain."""
        self._chain.keep_sample(sums)

    def drop_samples(self) -> None:
        """Discard the samples kept so far; the next one starts new sums."""
        self._chain.drop_samples()

    def collect_samples(self, sums: Sums) -> None:
        """Update the sums with all kept samples."""
        self._chain.collect_samples(sums)

    def close(self) -> None:
        """Release the chain's resources; closing it twice is harmless."""
        for chain in self._opened:
            chain.close()
