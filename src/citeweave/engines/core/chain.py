"""One Markov chain: its state, and the step that takes it one iteration on (alg:gibbs)."""

import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import ClassVar, NamedTuple, Self

import numpy as np

from citeweave.engines.core.arrays import Array, State
from citeweave.engines.core.authors import draw_authors, expected_contributions, new_author_work
from citeweave.engines.core.capabilities import Capabilities
from citeweave.engines.core.data import ChainSettings, Data, Info, Request, Servers
from citeweave.engines.core.estimates import Sums, add_sample
from citeweave.engines.core.exchange import ALONE, ChainPart, Exchange, the_whole
from citeweave.engines.core.exponent import Exponent
from citeweave.engines.core.finite import LEAST_SINGLE, MOST_SINGLE, Watched, check_finite
from citeweave.engines.core.invariants import check_state
from citeweave.engines.core.posterior import LogPosterior
from citeweave.engines.core.propensities import degrees
from citeweave.engines.core.random import new_generator
from citeweave.engines.core.setting_up import (
    all_arrays,
    new_layout,
    new_shape,
    new_state,
    new_tables,
)
from citeweave.engines.core.spec import LEFT_OUT, ModelSpec
from citeweave.engines.core.starting import start_at

__all__ = ["NO_EXTRA", "Chain", "StepReport"]

NO_EXTRA: Mapping[str, Array] = MappingProxyType({})
"""The extra state of an engine that has none."""


class StepReport(NamedTuple):
    """What an engine has found out by the end of a step."""

    log_likelihood: float
    topics: int
    """Topics in use."""
    rate: float
    """Expected number of citations; nan while the network is off."""
    words: Sequence[int]
    """Tokens visited and blocked, those that the exponential had a say in, and of them rejected."""
    citations: Sequence[int]
    """Citations visited, blocked and accepted."""


class Chain(ABC):
    """What all engines of this package share: the arrays of a chain, and the order of a step.

    It implements `citeweave.engines.protocol.Engine` but for the stages of a step, which are the
    abstract methods below. An engine may override the others too.

    Parameters
    ----------
    spec : ModelSpec
    data : Data
    settings : ChainSettings
    seed : int
    stream : int
        Number of the chain; each draws its own random stream from the seed.
    """

    capabilities: ClassVar[Capabilities]
    exchange: Exchange = ALONE
    """How the chain reaches its other parts, where it is one of several."""

    def __init__(
        self, spec: ModelSpec, data: Data, settings: ChainSettings, *, seed: int, stream: int = 0
    ) -> None:
        self.capabilities.check(spec, settings.topics)
        self.spec = spec
        self.settings = settings
        self.shape = new_shape(spec)
        self.layout, self.order = new_layout(spec, data)
        self.tables = new_tables(spec)
        self.state = new_state(spec, data, self.layout, settings, new_generator(seed, stream))
        self.citation_level = len(spec.topic_side) - 1 - spec.below_citations
        """Level of the topic side that citations reach."""
        self.degrees = degrees(
            data.citing, data.cited, len(data.offsets) - 1, self_citations=settings.self_citations
        )
        """Citations of the corpus made and received by each document."""
        self.draws_self = spec.citations is not None and settings.self_citations == LEFT_OUT
        """Whether self-citations are unknown, and so drawn."""
        self.unlabelled = np.ascontiguousarray(data.unlabelled, np.int32)
        """Papers that are drawn into categories."""
        self.author_work = new_author_work(self.layout, data.servers, spec.n_shared)
        """Who shares papers, scratch of the draw of who serves them, and what the latest did."""
        if len(self.layout.server):
            self._expect_contributions(data.servers)

    def _expect_contributions(self, servers: Servers) -> None:
        """Begin with the shares that authors are expected to have."""
        parameters, server = self.state.parameters, self.state.assignments.server
        parameters.contribution[:] = expected_contributions(servers, parameters.contribution_prior)
        shared = np.flatnonzero(server >= 0)
        papers = self.author_work.place[1] + shared
        parameters.share[papers] = parameters.contribution[server[shared]]

    @classmethod
    def probe(cls) -> str:
        """Make sure that the machine has what the engine needs; describe it in a line."""
        return ""

    @classmethod
    def open(cls, request: Request) -> Self:
        """Make a chain, not yet started."""
        spec, data, settings, seed, stream, *_ = request
        return cls(spec, data, settings, seed=seed, stream=stream)

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return len(self.layout.document_start) - 1

    @cached_property
    def part(self) -> ChainPart:
        """What the chain owns of the corpus: all of it, unless it is one of several parts."""
        return the_whole(self.layout)

    @property
    def clock(self) -> Array:
        """Iterations done, and whether citations count by now: int64 [2]."""
        return self.state.clock

    @property
    def iteration(self) -> int:
        """Iterations done."""
        return int(self.clock[0])

    @property
    def joined(self) -> int:
        """Iterations after which all parts of the model count; until then papers keep categories.

        While topics are still being found, they say nothing of a paper's category.
        """
        settings = self.settings
        network_from = settings.network_from if self.spec.citations is not None else 0
        return max(network_from, settings.burst_from)

    @property
    def network_on(self) -> bool:
        """Whether citations count by now."""
        return bool(self.clock[1])

    def start(self, topics: Array | None = None, categories: Array | None = None) -> None:
        """Assign a first topic to every token and build all counts (step 1 of alg:gibbs).

        ``topics`` are those of the tokens, in the order of the corpus; random ones if not given.
        ``categories`` are those of papers, where they are drawn; as in the data if not given.
        """
        if categories is not None:
            self.state.assignments.category[:] = categories
        self._follow_parents()
        if topics is None:
            self.start_at_random()
        else:
            start_at(self.spec, self.layout, self.state, topics[self.order])
            self.restore(self.state)

    @abstractmethod
    def start_at_random(self) -> None:
        """Assign a uniformly random topic to every token and build all counts."""

    def restore(self, state: State, extra: Mapping[str, Array] = NO_EXTRA) -> None:  # noqa: ARG002
        """Go on from a stored state; ``extra`` is what `extra_state` gave beside it.

        The state may be that of a chain of any engine, and without ``extra`` the chain goes on as
        well; with it, in the same bytes as the one that it was stored from.
        """
        for mine, theirs in zip(all_arrays(self.state), all_arrays(state), strict=True):
            mine[...] = theirs
        self._follow_parents()

    def _follow_parents(self) -> None:
        """Hang papers below their categories or the authors who serve them, as they are drawn."""
        category, server = self.state.assignments.category, self.state.assignments.server
        if len(category):
            starts = self.layout.level_start
            self.layout.parent[starts[2] : starts[3]] = starts[1] + category
        if len(server):
            shared = np.flatnonzero(server >= 0)
            nodes = self.layout.server[server[shared]]
            self.layout.parent[self.author_work.place[1] + shared] = nodes
            self.parents_moved()

    def parents_moved(self) -> None:  # noqa: B027 (the layout may be all there is)
        """Bring what an engine keeps of the tree beside its layout up to the papers' parents."""

    def extra_state(self) -> dict[str, Array]:
        """Copy what the chain needs beside its state to go on in the same bytes, if anything."""
        return {}

    def freeze(self) -> None:  # noqa: B027 (nothing adapts)
        """Let nothing adapt any more: each step from here on leaves the posterior as it is."""

    def step(self) -> Info:
        """Take the chain one iteration on."""
        began = time.perf_counter()
        settings = self.settings
        if (
            self.spec.citations is not None
            and not self.network_on
            and self.iteration >= settings.network_from
        ):
            self.switch_network_on()
        self.prepare_sweeps()
        self.check_numbers(self.watched())
        if self.network_on and self.draws_self:
            self.draw_self_citations()
        words_began = time.perf_counter()
        self.sweep_words()
        citations_began = time.perf_counter()
        if self.network_on:
            self.sweep_citations()
        if len(self.unlabelled) and self.iteration >= self.joined:
            self.sweep_categories()
        if len(self.layout.server):
            self.sweep_authors()
        citations_ended = time.perf_counter()
        if settings.sample_concentrations:
            self.draw_concentrations()
        if self.network_on and settings.sample_propensities:
            self.draw_propensities()
        found = self.measure()
        concentrations = self.concentrations()
        self.check_numbers(self._watched_results(found, concentrations))
        log_posterior = self.log_posterior(found.rate)
        self.clock[0] += 1
        if settings.debug:
            check_state(self.spec, self.layout, self.state)
        visited, blocked, corrected, rejected = found.words
        citations, blocked_citations, accepted = found.citations
        return Info(
            iteration=self.iteration,
            log_likelihood=found.log_likelihood,
            log_posterior=log_posterior,
            acceptance=_share(accepted, citations - blocked_citations),
            word_acceptance=_share(corrected - rejected, corrected),
            blocked=_share(blocked, visited),
            blocked_citations=_share(blocked_citations, citations),
            topics=found.topics,
            concentrations=concentrations,
            rate=found.rate,
            seconds=time.perf_counter() - began,
            word_seconds=citations_began - words_began,
            citation_seconds=citations_ended - citations_began,
        )

    def watched(self) -> Iterable[Watched]:
        """Return the numbers that the sweeps of a step are about to read, nothing by default.

        A step stops where one of them is none. An engine that keeps them elsewhere looks there.
        """
        return ()

    def _watched_results(
        self, found: StepReport, concentrations: tuple[float, ...]
    ) -> Iterable[Watched]:
        yield Watched(
            "the log likelihood of words", np.array([found.log_likelihood]), least=-MOST_SINGLE
        )
        yield Watched("the mean concentration of level", np.array(concentrations), LEAST_SINGLE)
        if self.network_on:
            yield Watched("the expected number of citations", np.array([found.rate]))

    def check_numbers(self, watched: Iterable[Watched]) -> None:
        """Stop with a `RunError` where a number is infinite, nan or too small for a weight."""
        prior = self.settings.concentration_prior
        check_finite(watched, iteration=self.iteration + 1, prior=prior)

    @abstractmethod
    def switch_network_on(self) -> None:
        """Give citations their first topics, with rates that expect as many as there are."""

    @abstractmethod
    def prepare_sweeps(self) -> None:
        """Bring up to date what sweeps read beside the state."""

    @abstractmethod
    def draw_self_citations(self) -> None:
        """Offer papers a self-citation more or less, where x_ii is left out of the data."""

    @abstractmethod
    def sweep_words(self) -> None:
        """Move every token once (eq:conditional_posterior)."""

    @abstractmethod
    def sweep_citations(self) -> None:
        """Move the topic of every citation once (eq:proposal_y, eq:acceptance_probability)."""

    def sweep_categories(self) -> None:  # noqa: B027 (an engine that cannot refuses such models)
        """Offer every paper without a label another category."""

    def sweep_authors(self) -> None:  # noqa: B027 (an engine that cannot refuses such models)
        """Draw who serves the tables of papers that several authors share."""

    def draw_authors(self, exponent: Exponent) -> None:
        """Make that draw in the state on the host; sums of the exponent are up to date."""
        draw_authors(self, exponent)
        self.parents_moved()

    @abstractmethod
    def draw_concentrations(self) -> None:
        """Draw the concentrations of all levels, topic side root first."""

    @abstractmethod
    def draw_propensities(self) -> None:
        """Draw all lambda+, then lambda-, then lambdaT."""

    @abstractmethod
    def measure(self) -> StepReport:
        """Return what the step has found out, after all draws."""

    def log_posterior(self, rate: float) -> float:
        """Joint log density of the present state, E being the expected number of citations."""
        return self._posterior(self.state, rate)

    @cached_property
    def _posterior(self) -> LogPosterior:
        return LogPosterior(self)

    def concentrations(self) -> tuple[float, ...]:
        """Mean concentration of each level, topic side root first, then the word side."""
        parameters = self.state.parameters
        starts = self.layout.level_start
        values = [
            self.mean_concentration(parameters.topic_concentration[starts[i] : starts[i + 1]])
            for i in range(len(starts) - 1)
        ]
        by_nodes = {
            "corpus": parameters.word_concentration[0],
            "topic": parameters.topic_word_concentration.mean(),
            "document-topic": parameters.word_concentration[1],
        }
        values.extend(float(by_nodes[level.nodes]) for level in self.spec.word_side)
        return tuple(values)

    @staticmethod
    def mean_concentration(values: Array) -> float:
        """Return the mean concentration of the nodes of a topic-side level."""
        return float(values.mean())

    def keep_sample(self, sums: Sums) -> None:
        """Add the posterior means of the present state to the sums of this chain.

        An engine may hold them back until `collect_samples`.
        """
        add_sample(self, sums)

    def drop_samples(self) -> None:  # noqa: B027 (nothing is held back)
        """Forget the samples kept so far; the next begin other sums."""

    def collect_samples(self, sums: Sums) -> None:  # noqa: B027 (nothing is held back)
        """Bring the sums up to date with all samples that were kept."""

    def close(self) -> None:  # noqa: B027 (there may be nothing)
        """Give back what the chain holds beside memory, when it takes no more steps."""


def _share(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")
