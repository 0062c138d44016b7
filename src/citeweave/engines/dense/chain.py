"""A chain whose sweeps compute the weight of every topic for one token at a time."""

from collections.abc import Iterator, Mapping

import numpy as np

from citeweave.engines.core.arrays import Array, State
from citeweave.engines.core.capabilities import SEQUENTIAL, Capabilities
from citeweave.engines.core.chain import NO_EXTRA, Chain, StepReport
from citeweave.engines.core.concentrations import (
    draw_topic_concentrations,
    draw_word_concentrations,
)
from citeweave.engines.core.data import ChainSettings, Data
from citeweave.engines.core.exponent import new_exponent, rebuild_exponent
from citeweave.engines.core.finite import LEAST_SINGLE, MOST_SINGLE, Watched, row_window
from citeweave.engines.core.likelihood import topic_word_means, word_log_likelihood
from citeweave.engines.core.propensities import draw_propensities
from citeweave.engines.core.self_citations import draw_self_citations, new_self_work
from citeweave.engines.core.spec import ModelSpec
from citeweave.engines.core.tempered_concentrations import draw_tempered_concentrations
from citeweave.engines.core.word_side import new_word_cache, refresh_word_cache
from citeweave.engines.dense.categories import category_sweep, new_category_work
from citeweave.engines.dense.citations import citation_sweep, new_citation_work, start_citations
from citeweave.engines.dense.document import new_word_work
from citeweave.engines.dense.words import RANDOM_START, TURNS, word_sweep

__all__ = ["DenseChain"]


class DenseChain(Chain):
    """The sequential sampler: the reference for all others and the base class of CPU engines.

    Other CPU engines override the sweeps and the stages that they divide between threads. They use
    the same initialisation.

    Parameters
    ----------
    spec, data, settings, seed, stream
        As in `Chain`.
    """

    capabilities = Capabilities(SEQUENTIAL, categories=True, word_weights=True)

    def __init__(
        self, spec: ModelSpec, data: Data, settings: ChainSettings, *, seed: int, stream: int = 0
    ) -> None:
        super().__init__(spec, data, settings, seed=seed, stream=stream)
        n_levels = len(spec.topic_side)
        n_paths = int(np.diff(data.leaf_start).max(initial=1))
        self.cache = new_word_cache(data.n_words, settings.topics, spec.word_weight)
        """Weights of words, kept up to date by sweeps."""
        networked = spec.citations is not None
        self.exponent = new_exponent(
            len(self.layout.parent) if networked else 1, settings.topics, n_levels
        )
        """Sums of the citation likelihood."""
        self.pooled = np.array([lv.shared_concentration for lv in spec.topic_side], np.uint8)
        """By level of the topic side: whether its nodes share one concentration."""
        topic_level = spec.word_level("topic")
        self.words_pooled = topic_level is None or topic_level.shared_concentration
        self.word_tally = np.zeros(7, np.int64)
        """Counts of the latest sweep: tokens visited, blocked, corrected by the exponential,
        rejected; further entries are specific to kernels."""
        self.citation_tally = np.zeros(6, np.int64)
        """Counts of the latest sweep: citations visited, blocked, accepted; further entries are
        specific to kernels."""
        self._work = new_word_work(settings.topics, n_paths, spec.n_shared, spec.n_document)
        self._citation_work = new_citation_work(settings.topics, n_levels)
        self.self_work = new_self_work(self.n_documents if self.draws_self else 0, n_levels)
        """Scratch arrays of the draw of self-citations, with the tally of the latest draw."""
        n_categories = len(data.parents[0]) if spec.draws_categories else 0
        self.category_work = new_category_work(settings.topics, n_categories, n_levels)
        """Scratch arrays of the draw of categories, with the tally of the latest draw."""
        self._background = np.zeros(data.n_words)
        self._means = np.zeros((data.n_words, settings.topics))

    def start_at_random(self) -> None:
        """Assign a uniformly random topic to every token, seated given those before it."""
        refresh_word_cache(self.tables, self.state.words, self.state.parameters, self.cache)
        self.walk_words(RANDOM_START)

    def restore(self, state: State, extra: Mapping[str, Array] = NO_EXTRA) -> None:
        """Continue from a stored state, which determines everything else."""
        super().restore(state, extra)
        refresh_word_cache(self.tables, self.state.words, self.state.parameters, self.cache)

    def prepare_sweeps(self) -> None:
        """Update the sums of the citation likelihood and the cached weights of words."""
        self.word_tally[:] = 0
        self.citation_tally[:] = 0
        if self.network_on:
            self.rebuild_exponent()
        self.refresh_cache()

    def watched(self) -> Iterator[Watched]:
        """Yield cached weights of words, concentrations and propensities, with their sums.

        If there are many weights of words and topics, which depend on counts alone, one part of
        them is checked at a time, in turn.
        """
        cache, parameters = self.cache, self.state.parameters
        for level, beta in (("corpus", 0), ("document-topic", 1)):
            if self.spec.word_level(level) is not None:
                values = parameters.word_concentration[beta : beta + 1]
                yield Watched(f"beta of the {level} level", values, LEAST_SINGLE, beta)
        yield Watched("beta of phi", parameters.topic_word_concentration, LEAST_SINGLE)
        yield Watched("beta of topic-side node", parameters.topic_concentration, LEAST_SINGLE)
        yield Watched("1 / (beta + C) of phi", cache.inverse)
        yield Watched("(beta + alpha T) / (beta + C) of phi", cache.opening)
        yield Watched("A0 of gamma", cache.background_stay)
        yield Watched("B1 of gamma", cache.background_open)
        n_words, width = cache.stay.shape
        rows = row_window(self.iteration, n_words, width, len(self.layout.word))
        yield Watched("A0 of phi", cache.stay[rows], first=rows.start)
        yield Watched("B1 of phi", cache.open[rows], first=rows.start)
        if self.network_on:
            yield Watched("lambda+", parameters.cite)
            yield Watched("lambda-", parameters.cited)
            yield Watched("lambdaT", parameters.topic_scale)
            yield Watched("P", self.exponent.cite_sum, -MOST_SINGLE)
            yield Watched("M", self.exponent.cited_sum, -MOST_SINGLE)

    def draw_self_citations(self) -> None:
        """Propose adding or removing one self-citation for every paper."""
        draw_self_citations(
            self.citation_level,
            self.layout,
            self.tables,
            self.state,
            self.self_work,
            self.exponent,
        )

    def all_degrees(self) -> tuple[Array, Array]:
        """Count citations made and received by each document, including drawn self-citations."""
        if not self.draws_self:
            return self.degrees
        drawn = (self.state.assignments.self_topic >= 0).sum(axis=1)
        return self.degrees[0] + drawn, self.degrees[1] + drawn

    def sweep_words(self) -> None:
        """Visit every word of every document."""
        self.walk_words(TURNS[self.iteration % len(TURNS)])

    def walk_words(self, mode: int) -> None:
        """Run one sweep in a mode defined in `citeweave.engines.dense.words`."""
        word_sweep(
            self.shape,
            self.layout,
            self.tables,
            self.state,
            self.cache,
            self._work,
            self.exponent,
            (0, self.n_documents),
            mode,
            self.word_tally,
        )

    def sweep_citations(self) -> None:
        """Move the topic of every citation once."""
        citation_sweep(
            self.citation_level,
            self.layout,
            self.tables,
            self.state,
            self._citation_work,
            self.exponent,
            self.citation_tally,
        )

    def sweep_categories(self) -> None:
        """Propose another category for every paper without a label."""
        if self.network_on:
            self.rebuild_exponent()
        category_sweep(
            self.layout,
            self.tables,
            self.state,
            self.unlabelled,
            self.settings.category_prior,
            self.category_work,
            self.exponent,
            self.network_on,
        )

    def sweep_authors(self) -> None:
        """Draw which author serves the tables of each paper with several authors."""
        if self.network_on:
            self.rebuild_exponent()
        self.draw_authors(self.exponent)

    def refresh_cache(self) -> None:
        """Update the cached weights of words before a sweep."""
        refresh_word_cache(self.tables, self.state.words, self.state.parameters, self.cache)

    def rebuild_exponent(self) -> None:
        """Rebuild P, M and the weights of nodes from the counts."""
        rebuild_exponent(
            self.layout,
            self.state.topics,
            self.state.parameters,
            self.citation_level,
            self.exponent,
        )

    def switch_network_on(self) -> None:
        """Assign first topics to citations, with rates that match the number of citations."""
        self.rebuild_exponent()
        expected = float(self.exponent.cite_sum @ self.exponent.cited_sum)
        n_citations = int(self.exchange.sum(np.array([self.part.n_citations]))[0])
        self.state.parameters.topic_scale[:] = max(n_citations, 1) / max(expected, 1e-12)
        self.start_citations()
        self.clock[1] = 1
        self.rebuild_exponent()
        if self.settings.sample_propensities:
            self.draw_propensities()

    def start_citations(self) -> None:
        """Assign a first topic to every citation."""
        work = new_citation_work(self.settings.topics, len(self.spec.topic_side))
        start_citations(self.citation_level, self.layout, self.tables, self.state, work)

    def draw_propensities(self) -> None:
        """Draw all lambda+, then lambda-, then lambdaT."""
        self.rebuild_exponent()
        draw_propensities(
            self.citation_level,
            self.layout,
            self.state,
            *self.all_degrees(),
            np.array(self.settings.propensity_prior),
            self.exponent,
        )

    def draw_concentrations(self) -> None:
        """Draw the concentrations of all levels, topic side root first."""
        prior = np.array(self.settings.concentration_prior)
        if self.network_on:
            self.rebuild_exponent()
        n_levels = len(self.spec.topic_side)
        held = self.spec.draws_categories and self.settings.paper_concentration is not None
        for first, last in ((0, 2), (3, n_levels)) if held else ((0, n_levels),):
            draw_topic_concentrations(
                self.layout,
                self.state,
                prior,
                self.pooled,
                self.citation_level if self.network_on else -1,
                self.exponent,
                first,
                last,
            )
        given, weight = (self.shape, self.layout, self.state, prior), self.spec.word_weight
        if weight == 1.0:
            draw_word_concentrations(*given, self.words_pooled)
        else:
            draw_tempered_concentrations(*given, weight, pooled=self.words_pooled)

    def measure(self) -> StepReport:
        """Return the report of the step, with the sums of the citation likelihood updated."""
        rate = float("nan")
        if self.network_on:
            self.rebuild_exponent()
            sums = self.exponent
            rate = float(self.state.parameters.topic_scale @ (sums.cite_sum * sums.cited_sum))
        return StepReport(
            log_likelihood=self.log_likelihood(),
            topics=int(self.state.topics.total_tables[0]),
            rate=rate,
            words=self.word_tally[:4].tolist(),
            citations=self.citation_tally[:3].tolist(),
        )

    def log_likelihood(self) -> float:
        """Return the training log likelihood of words in the current state."""
        topic_word_means(self.shape, self.state, self._background, self._means)
        return float(word_log_likelihood(self.shape, self.layout, self.state, self._means))
