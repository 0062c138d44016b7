"""One Markov chain: its state, and the step that takes it one iteration on (alg:gibbs)."""

import time
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from citeweave.engines.core.arrays import (
    Array,
    Assignments,
    Layout,
    Parameters,
    Shape,
    StackedTables,
    State,
    Tables,
    TopicCounts,
    WordCounts,
)
from citeweave.engines.core.concentrations import (
    draw_topic_concentrations,
    draw_word_concentrations,
)
from citeweave.engines.core.exponent import new_exponent, rebuild_exponent
from citeweave.engines.core.invariants import check_state
from citeweave.engines.core.likelihood import topic_word_means, word_log_likelihood
from citeweave.engines.core.propensities import degrees, draw_propensities
from citeweave.engines.core.random import new_generator
from citeweave.engines.core.spec import MOST_TOPICS, ModelSpec
from citeweave.engines.core.stirling import RatioTable, build_ratio_table
from citeweave.engines.core.word_side import new_word_cache, refresh_word_cache
from citeweave.engines.dense.citations import citation_sweep, new_citation_work, start_citations
from citeweave.engines.dense.document import new_word_work
from citeweave.engines.dense.words import RANDOM_START, SWEEP, word_sweep
from citeweave.errors import ParameterError

__all__ = ["Chain", "Data", "Info", "Settings"]


class Data(NamedTuple):
    """What a chain is fitted to, as plain arrays."""

    tokens: Array
    """int32 [tokens], documents one after the other."""
    offsets: Array
    """int64 [documents + 1]."""
    n_words: int
    parents: tuple[Array, ...]
    """By topic-side level below the root: int [nodes], the parent's place one level up."""
    leaf: Array
    """int [paths]: places of the documents' leaf nodes on the last level."""
    leaf_start: Array
    """int64 [documents + 1]."""
    citing: Array
    cited: Array


class Settings(NamedTuple):
    """How a chain is run."""

    topics: int
    network_from: int = 0
    """Iterations of text alone before citations count."""
    concentration: float = 0.1
    """First value of every concentration."""
    concentration_prior: tuple[float, float] = (1.0, 1.0)
    """tau_0 and tau_1."""
    propensity_prior: tuple[float, float] = (1.0, 1.0)
    """epsilon_0 and epsilon_1."""
    self_citation: int = 1
    """x_ii of the paper: 1, or 0 to leave it out."""
    sample_concentrations: bool = True
    sample_propensities: bool = True
    debug: bool = False
    """Check every count against the assignments after each iteration (slow)."""


class Info(NamedTuple):
    """What one step reports."""

    iteration: int
    log_likelihood: float
    """Training word log likelihood."""
    acceptance: float
    """Share of citation proposals accepted; nan while the network is off."""
    word_acceptance: float
    """Share accepted of the word moves that the citation exponential had a say in."""
    blocked: float
    """Share of tokens whose removal was blocked."""
    blocked_citations: float
    topics: int
    """Topics in use."""
    concentrations: tuple[float, ...]
    """Mean by level: topic side root first, then word side."""
    rate: float
    """Expected number of citations, sum of all rates; nan while the network is off."""
    seconds: float
    word_seconds: float
    citation_seconds: float


def _share(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")


class Chain:
    """A chain of one model on one corpus.

    Parameters
    ----------
    spec : ModelSpec
    data : Data
    settings : Settings
    seed : int
    stream : int
        Number of the chain; each draws its own random stream from the seed.
    """

    def __init__(
        self, spec: ModelSpec, data: Data, settings: Settings, *, seed: int, stream: int = 0
    ) -> None:
        if not 1 <= settings.topics <= MOST_TOPICS:
            raise ParameterError(
                f"The 'topics' parameter must be from 1 to {MOST_TOPICS}. "
                f"Got {settings.topics} instead."
            )
        self.spec = spec
        self.settings = settings
        self.shape = _shape(spec)
        self.layout, self.order = _layout(spec, data)
        self.tables = _tables(spec)
        self.state = _new_state(spec, data, self.layout, settings, new_generator(seed, stream))
        self._finish(spec, data, settings)

    def _finish(self, spec: ModelSpec, data: Data, settings: Settings) -> None:
        n_levels = len(spec.topic_side)
        n_paths = int(np.diff(data.leaf_start).max(initial=1))
        self.cache = new_word_cache(data.n_words, settings.topics)
        """Weights of words, kept up to date by sweeps."""
        self._work = new_word_work(settings.topics, n_paths, spec.n_shared, spec.n_document)
        self._citation_work = new_citation_work(settings.topics, n_levels)
        self.citation_level = n_levels - 1 - spec.below_citations
        """Level of the topic side that citations reach."""
        networked = spec.citations is not None
        self.exponent = new_exponent(
            len(self.layout.parent) if networked else 1, settings.topics, n_levels
        )
        """Sums of the citation likelihood."""
        self.pooled = np.array([lv.shared_concentration for lv in spec.topic_side], np.uint8)
        """By level of the topic side: whether its nodes share one concentration."""
        topic_level = spec.word_level("topic")
        self.words_pooled = topic_level is None or topic_level.shared_concentration
        self.degrees = degrees(
            data.citing,
            data.cited,
            len(data.offsets) - 1,
            self_citation=settings.self_citation,
        )
        """Citations made and received by each document."""
        self._background = np.zeros(data.n_words)
        self._means = np.zeros((data.n_words, settings.topics))

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return len(self.layout.document_start) - 1

    @property
    def iteration(self) -> int:
        """Iterations done."""
        return int(self.state.clock[0])

    @property
    def network_on(self) -> bool:
        """Whether citations count by now."""
        return bool(self.state.clock[1])

    def start(self) -> None:
        """Give every token a first topic and build all counts (step 1 of alg:gibbs)."""
        refresh_word_cache(self.tables, self.state.words, self.state.parameters, self.cache)
        self._sweep_words(RANDOM_START)

    def restore(self, state: State) -> None:
        """Go on from a stored state: everything else is a function of it."""
        for mine, theirs in zip(_flat(self.state), _flat(state), strict=True):
            mine[...] = theirs
        refresh_word_cache(self.tables, self.state.words, self.state.parameters, self.cache)

    def step(self) -> Info:
        """Take the chain one iteration on."""
        began = time.perf_counter()
        state = self.state
        parameters = state.parameters
        if (
            self.spec.citations is not None
            and not self.network_on
            and self.iteration >= self.settings.network_from
        ):
            self._switch_network_on()
        if self.network_on:
            self._rebuild_exponent()
        self._refresh_cache()
        words_began = time.perf_counter()
        word_tally = self._sweep_words(SWEEP)
        citations_began = time.perf_counter()
        citation_tally = self._sweep_citations() if self.network_on else np.zeros(4, np.int64)
        citations_ended = time.perf_counter()
        if self.settings.sample_concentrations:
            self._draw_concentrations()
        rate = float("nan")
        if self.network_on:
            if self.settings.sample_propensities:
                self._draw_propensities()
            self._rebuild_exponent()
            exponent = self.exponent
            rate = float(parameters.topic_scale @ (exponent.cite_sum * exponent.cited_sum))
        log_likelihood = self._log_likelihood()
        state.clock[0] += 1
        if self.settings.debug:
            check_state(self.spec, self.layout, state)
        visited, blocked, corrected, rejected = (int(x) for x in word_tally[:4])
        tried = int(citation_tally[0] - citation_tally[1])
        return Info(
            iteration=self.iteration,
            log_likelihood=log_likelihood,
            acceptance=_share(int(citation_tally[2]), tried),
            word_acceptance=_share(corrected - rejected, corrected),
            blocked=_share(blocked, visited),
            blocked_citations=_share(int(citation_tally[1]), int(citation_tally[0])),
            topics=int(state.topics.total_tables[0]),
            concentrations=self.concentrations(),
            rate=rate,
            seconds=time.perf_counter() - began,
            word_seconds=citations_began - words_began,
            citation_seconds=citations_ended - citations_began,
        )

    def proposal(self) -> dict[str, Array]:
        """Copy what a chain needs beside its state to go on with the same bytes, if anything."""
        return {}

    def set_proposal(self, tables: Mapping[str, Array]) -> None:
        """Go on with what `proposal` of a chain of the same kind gave."""

    def close(self) -> None:
        """Give back what the chain holds beside memory, when it takes no more steps."""

    def concentrations(self) -> tuple[float, ...]:
        """Mean concentration of each level, topic side root first, then the word side."""
        parameters = self.state.parameters
        starts = self.layout.level_start
        values = [
            float(parameters.topic_concentration[starts[i] : starts[i + 1]].mean())
            for i in range(len(starts) - 1)
        ]
        by_nodes = {
            "corpus": parameters.word_concentration[0],
            "topic": parameters.topic_word_concentration.mean(),
            "document-topic": parameters.word_concentration[1],
        }
        values.extend(float(by_nodes[level.nodes]) for level in self.spec.word_side)
        return tuple(values)

    def _sweep_words(self, mode: int) -> Array:
        tally = np.zeros(5, np.int64)
        word_sweep(
            self.shape,
            self.layout,
            self.tables,
            self.state,
            self.cache,
            self._work,
            self.exponent,
            0,
            self.n_documents,
            mode,
            tally,
        )
        return tally

    def _sweep_citations(self) -> Array:
        tally = np.zeros(4, np.int64)
        citation_sweep(
            self.citation_level,
            self.layout,
            self.tables,
            self.state,
            self._citation_work,
            self.exponent,
            tally,
        )
        return tally

    def _refresh_cache(self) -> None:
        """Renew the cached weights of words before a sweep."""
        refresh_word_cache(self.tables, self.state.words, self.state.parameters, self.cache)

    def _rebuild_exponent(self) -> None:
        rebuild_exponent(
            self.layout,
            self.state.topics,
            self.state.parameters,
            self.citation_level,
            self.exponent,
        )

    def _switch_network_on(self) -> None:
        """Give citations their first topics, with rates that expect as many as there are."""
        self._rebuild_exponent()
        expected = float(self.exponent.cite_sum @ self.exponent.cited_sum)
        n_citations = len(self.layout.citing)
        self.state.parameters.topic_scale[:] = max(n_citations, 1) / max(expected, 1e-12)
        self._start_citations()
        self.state.clock[1] = 1
        self._rebuild_exponent()
        if self.settings.sample_propensities:
            self._draw_propensities()

    def _start_citations(self) -> None:
        """Give every citation its first topic."""
        work = new_citation_work(self.settings.topics, len(self.spec.topic_side))
        start_citations(self.citation_level, self.layout, self.tables, self.state, work)

    def _draw_propensities(self) -> None:
        self._rebuild_exponent()
        draw_propensities(
            self.citation_level,
            self.layout,
            self.state,
            *self.degrees,
            np.array(self.settings.propensity_prior),
            self.exponent,
        )

    def _log_likelihood(self) -> float:
        topic_word_means(self.shape, self.state, self._background, self._means)
        return float(word_log_likelihood(self.shape, self.layout, self.state, self._means))

    def _draw_concentrations(self) -> None:
        self._draw_topic_concentrations()
        self._draw_word_concentrations(self.state)

    def _draw_topic_concentrations(self) -> None:
        prior = np.array(self.settings.concentration_prior)
        if self.network_on:
            self._rebuild_exponent()
        draw_topic_concentrations(
            self.layout,
            self.state,
            prior,
            self.pooled,
            self.citation_level if self.network_on else -1,
            self.exponent,
            0,
            len(self.spec.topic_side),
        )

    def _draw_word_concentrations(self, state: State) -> None:
        """Draw those of the word side, with the generator of the state given."""
        prior = np.array(self.settings.concentration_prior)
        draw_word_concentrations(self.shape, self.layout, state, prior, self.words_pooled)


def _flat(state: State) -> list[Array]:
    """All arrays of a state, in a fixed order."""
    arrays: list[Array] = []
    for part in state:
        if isinstance(part, tuple):
            arrays.extend(part)
        else:
            arrays.append(part)
    return arrays


def _shape(spec: ModelSpec) -> Shape:
    return Shape(
        shared=(0,) * spec.n_shared,
        document=(0,) * spec.n_document,
        background=(0,) * (spec.word_level("corpus") is not None),
        burst=(0,) * (spec.word_level("document-topic") is not None),
        network=(0,) * (spec.citations is not None),
        below_citations=spec.below_citations,
    )


def _layout(spec: ModelSpec, data: Data) -> tuple[Layout, Array]:
    """Sort tokens by word inside documents and lay the topic tree out in one row of nodes."""
    order = _sort_by_word(data)
    sizes = [1, *(len(parent) for parent in data.parents)]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    parent = np.zeros(starts[-1], np.int32)
    for level, above in enumerate(data.parents, start=1):
        parent[starts[level] : starts[level + 1]] = starts[level - 1] + above
    citation_level = len(spec.topic_side) - 1 - spec.below_citations
    layout = Layout(
        word=np.ascontiguousarray(data.tokens[order], np.int32),
        document_start=np.ascontiguousarray(data.offsets, np.int64),
        parent=parent,
        level_start=starts,
        leaf=(starts[-2] + data.leaf).astype(np.int32),
        leaf_start=np.ascontiguousarray(data.leaf_start, np.int64),
        citing=np.ascontiguousarray(data.citing, np.int32),
        cited=np.ascontiguousarray(data.cited, np.int32),
        citation_node=int(starts[citation_level]),
    )
    return layout, order


def _sort_by_word(data: Data) -> Array:
    """Give the order of tokens by word inside documents, equal ones as they come.

    Turning the matrix of documents and words over twice is a counting sort, four times as fast
    as comparing.
    """
    places = np.arange(len(data.tokens), dtype=np.int32 if len(data.tokens) < 2**31 else np.int64)
    shape = (len(data.offsets) - 1, data.n_words)
    matrix = csr_array((places, data.tokens, data.offsets), shape=shape)
    order: Array = matrix.tocsc().tocsr().data
    return order


@lru_cache(maxsize=8)
def _table(discount: float) -> RatioTable:
    """Build the table of a discount once a process: several chains and levels share it."""
    return build_ratio_table(discount)


@lru_cache(maxsize=8)
def _stacked(discounts: tuple[float, ...]) -> StackedTables:
    distinct = list(dict.fromkeys(discounts))
    tables = [_table(discount) for discount in distinct]
    return StackedTables(
        place=np.array([distinct.index(discount) for discount in discounts]),
        discount=np.array(distinct),
        ratios=np.stack([table.ratios for table in tables]),
        weights=np.stack([table.weights for table in tables]),
        patches=np.stack([table.patches for table in tables]),
    )


def _tables(spec: ModelSpec) -> Tables:
    def word_table(nodes: str) -> RatioTable:
        level = spec.word_level(nodes)
        return _table(level.discount if level else spec.word_side[0].discount)

    return Tables(
        topic=_stacked(tuple(level.discount for level in spec.topic_side)),
        background=word_table("corpus"),
        topic_word=word_table("topic"),
        burst=word_table("document-topic"),
    )


def _new_state(
    spec: ModelSpec, data: Data, layout: Layout, settings: Settings, random: Array
) -> State:
    n_nodes = len(layout.parent)
    n_tokens = len(layout.word)
    n_documents = len(layout.document_start) - 1
    k = settings.topics
    beta = settings.concentration

    def discount(levels: Sequence[str]) -> Array:
        found = (spec.word_level(nodes) for nodes in levels)
        return np.array([level.discount if level else 0.0 for level in found])

    return State(
        topics=TopicCounts(
            customers=np.zeros((n_nodes, k), np.int32),
            tables=np.zeros((n_nodes, k), np.int32),
            total_customers=np.zeros(n_nodes, np.int64),
            total_tables=np.zeros(n_nodes, np.int64),
        ),
        words=WordCounts(
            customers=np.zeros((data.n_words, k), np.int32),
            tables=np.zeros((data.n_words, k), np.int32),
            total_customers=np.zeros(k, np.int64),
            total_tables=np.zeros(k, np.int64),
            background_customers=np.zeros(data.n_words, np.int32),
            background_tables=np.zeros(data.n_words, np.int32),
            background_totals=np.zeros(2, np.int64),
        ),
        assignments=Assignments(
            topic=np.zeros(n_tokens, np.int16),
            path=np.zeros(n_tokens if spec.words_choose_author else 0, np.int16),
            burst_table=np.zeros(n_tokens if spec.word_level("document-topic") else 0, np.uint8),
            citing_topic=np.full(len(layout.citing), -1, np.int16),
        ),
        parameters=Parameters(
            topic_discount=np.array([level.discount for level in spec.topic_side]),
            topic_concentration=np.full(n_nodes, beta),
            word_discount=discount(("corpus", "topic", "document-topic")),
            topic_word_concentration=np.full(k, beta),
            word_concentration=np.full(2, beta),
            cite=np.ones(n_documents),
            cited=np.ones(n_documents),
            topic_scale=np.ones(k),
        ),
        random=random,
        clock=np.zeros(2, np.int64),
    )
