"""One Markov chain: its state, and the step that advances it by one iteration (alg:gibbs)."""

import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import ClassVar, NamedTuple, Self

import numpy as np

from citeweave.engines.core.arrays import Array, State, TopicCounts
from citeweave.engines.core.authors import draw_authors, expected_contributions, new_author_work
from citeweave.engines.core.capabilities import Capabilities
from citeweave.engines.core.count_lists import copy_counts
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
    arrays_of,
    new_layout,
    new_shape,
    new_state,
    new_tables,
)
from citeweave.engines.core.spec import LEFT_OUT, ModelSpec
from citeweave.engines.core.starting import start_at

__all__ = ["NO_EXTRA", "Chain", "StepReport"]

NO_EXTRA: Mapping[str, Array] = MappingProxyType({})
"""The extra state of an engine without any."""


class StepReport(NamedTuple):
    """The outcome of a step."""

    log_likelihood: float
    topics: int
    """Topics in use."""
    rate: float
    """Expected number of citations; nan while the network is off."""
    words: Sequence[int]
    """Tokens visited, blocked, affected by the exponential, and rejected among the latter."""
    citations: Sequence[int]
    """Citations visited, blocked and accepted."""


class Chain(ABC):
    """Base class of all engines: the arrays of a chain, and the order of a step.

    It implements `citeweave.engines.protocol.Engine` except for the stages of a step, which are the
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
    compact_counts: bool = False
    """Whether counts are stored as lists of the topics of each node (`CompactRows`)."""
    exchange: Exchange = ALONE
    """Communication with other parts, if the chain is one of several."""

    def __init__(
        self, spec: ModelSpec, data: Data, settings: ChainSettings, *, seed: int, stream: int = 0
    ) -> None:
        self.capabilities.check(spec, settings.topics)
        self.spec = spec
        self.settings = settings
        self.shape = new_shape(spec)
        self.layout, self.order = new_layout(spec, data)
        self.tables = new_tables(spec)
        self.state = new_state(
            spec,
            data,
            self.layout,
            settings,
            new_generator(seed, stream),
            compact=self.compact_counts,
            rooms=self._rooms(),
        )
        self.citation_level = len(spec.topic_side) - 1 - spec.below_citations
        """Level of the topic side that citations reach."""
        self.degrees = degrees(
            data.citing, data.cited, len(data.offsets) - 1, self_citations=settings.self_citations
        )
        """Citations of the corpus made and received by each document."""
        self.draws_self = spec.citations is not None and settings.self_citations == LEFT_OUT
        """Whether self-citations are unknown and therefore sampled."""
        self.unlabelled = np.ascontiguousarray(data.unlabelled, np.int32)
        """Papers whose category is sampled."""
        self.author_work = new_author_work(self.layout, data.servers, spec.n_shared)
        """Servers of shared papers, scratch memory for sampling them, and the latest tally."""
        if len(self.layout.server):
            self._expect_contributions(data.servers)

    def _rooms(self) -> Array | None:
        """Return the number of topics that each list has room for; None if it follows from data."""
        return None

    def _expect_contributions(self, servers: Servers) -> None:
        """Start with the expected shares of authors."""
        parameters, server = self.state.parameters, self.state.assignments.server
        parameters.contribution[:] = expected_contributions(servers, parameters.contribution_prior)
        shared = np.flatnonzero(server >= 0)
        papers = self.author_work.place[1] + shared
        parameters.share[papers] = parameters.contribution[server[shared]]

    @classmethod
    def probe(cls) -> str:
        """Check that the machine has what the engine needs; describe it in one line."""
        return ""

    @classmethod
    def open(cls, request: Request) -> Self:
        """Open a chain, not yet started."""
        spec, data, settings, seed, stream, *_ = request
        return cls(spec, data, settings, seed=seed, stream=stream)

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return len(self.layout.document_start) - 1

    @cached_property
    def part(self) -> ChainPart:
        """The part of the corpus that the chain owns: all of it, unless the chain is divided."""
        return the_whole(self.layout)

    @property
    def clock(self) -> Array:
        """Iterations done, and whether citations are used yet: int64 [2]."""
        return self.state.clock

    @property
    def iteration(self) -> int:
        """Iterations done."""
        return int(self.clock[0])

    @property
    def joined(self) -> int:
        """Iterations after which all parts of the model are on; until then categories are fixed.

        While topics are still forming, they carry no information about a paper's category.
        """
        settings = self.settings
        network_from = settings.network_from if self.spec.citations is not None else 0
        return max(network_from, settings.burst_from)

    @property
    def network_on(self) -> bool:
        """Whether citations are used yet."""
        return bool(self.clock[1])

    def start(self, topics: Array | None = None, categories: Array | None = None) -> None:
        """Assign a first topic to every token and build all counts (step 1 of alg:gibbs).

        ``topics`` are those of the tokens, in corpus order; random if not given. ``categories`` are
        the initial latent categories of papers; by default those of the data.
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
        """Continue from a stored state; ``extra`` is the output of `extra_state` at that state.

        The state may come from any engine. Without ``extra`` the chain continues too; with it, it
        continues with the same bytes as the stored chain.
        """
        if state is not self.state:
            self._take_counts(state.topics)
            for mine, theirs in zip(self.state[1:], state[1:], strict=True):
                for to, source in zip(arrays_of(mine), arrays_of(theirs), strict=True):
                    to[...] = source
        self._follow_parents()

    def _take_counts(self, counts: TopicCounts) -> None:
        """Copy stored counts into those of the chain."""
        copy_counts(self.state.topics, counts)

    def _follow_parents(self) -> None:
        """Place papers below their sampled categories or serving authors."""
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
        """Update an engine's own copy of the tree after the parents of papers changed."""

    def extra_state(self) -> dict[str, Array]:
        """Copy what the chain needs, besides its state, to continue with the same bytes."""
        return {}

    def freeze(self) -> None:  # noqa: B027 (nothing adapts)
        """Stop all adaptation: from here on, each step leaves the posterior invariant."""

    def step(self) -> Info:
        """Advance the chain by one iteration."""
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
        """Return the numbers that the sweeps of a step are about to read; none by default.

        A step stops if one of them is not finite. An engine that keeps them elsewhere checks there.
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
        """Stop with a `RunError` if a number is infinite, nan or too small for a weight."""
        prior = self.settings.concentration_prior
        check_finite(watched, iteration=self.iteration + 1, prior=prior)

    @abstractmethod
    def switch_network_on(self) -> None:
        """Assign initial topics to citations, with rates that match their number."""

    @abstractmethod
    def prepare_sweeps(self) -> None:
        """Update what sweeps read besides the state."""

    @abstractmethod
    def draw_self_citations(self) -> None:
        """Propose to add or remove a self-citation of each paper, if x_ii is unknown."""

    @abstractmethod
    def sweep_words(self) -> None:
        """Sample the topic of every token once (eq:conditional_posterior)."""

    @abstractmethod
    def sweep_citations(self) -> None:
        """Sample the topic of every citation once (eq:proposal_y, eq:acceptance_probability)."""

    def sweep_categories(self) -> None:  # noqa: B027 (an engine that cannot refuses such models)
        """Propose another category for every paper without a label."""

    def sweep_authors(self) -> None:  # noqa: B027 (an engine that cannot refuses such models)
        """Sample which authors serve the tables of shared papers."""

    def draw_authors(self, exponent: Exponent) -> None:
        """Sample them in the state on the host; the sums of the exponent must be up to date."""
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
        """Return the outcome of the step, after all draws."""

    def log_posterior(self, rate: float) -> float:
        """Compute the joint log density; ``rate`` is E, the expected number of citations."""
        return self._posterior(self.state, rate)

    @cached_property
    def _posterior(self) -> LogPosterior:
        return LogPosterior(self)

    def concentrations(self) -> tuple[float, ...]:
        """Return the mean concentration per level: topic side root first, then the word side."""
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

        An engine may defer this until `collect_samples`.
        """
        add_sample(self, sums)

    def drop_samples(self) -> None:  # noqa: B027 (nothing is held back)
        """Discard the samples kept so far; the next one starts new sums."""

    def collect_samples(self, sums: Sums) -> None:  # noqa: B027 (nothing is held back)
        """Update the sums with all kept samples."""

    def close(self) -> None:  # noqa: B027 (there may be nothing)
        """Release the chain's resources after its last step."""


def _share(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")
