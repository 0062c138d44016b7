"""The draws and sums of a step outside its sweeps, divided between workers.

The result does not depend on the number of workers, to the byte. If a chain is divided into parts,
each part visits the nodes and documents that it owns, and the exchange adds up their sums.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from citeweave.engines.core.concentrations import draw_topic_concentrations
from citeweave.engines.core.exact_sums import bin_total
from citeweave.engines.core.pieces import Share, cut
from citeweave.engines.core.random import standard_gamma
from citeweave.engines.core.slice_sampling import SMALLEST
from citeweave.engines.threads.auxiliaries import (
    gather_bursts,
    gather_nodes,
    gather_one,
    gather_topics,
    new_auxiliaries,
    read_auxiliaries,
)
from citeweave.engines.threads.exponents import (
    Network,
    list_children,
    new_network,
    node_view,
    rebuild,
    set_units,
)
from citeweave.engines.threads.likelihood import log_likelihood
from citeweave.engines.threads.propensities import draw_at_rates, draw_documents, draw_scales
from citeweave.engines.threads.slices import draw_pooled, find_terms
from citeweave.engines.threads.streams import next_key

if TYPE_CHECKING:
    from citeweave.engines.threads.threaded import ThreadedChain

__all__ = ["Draws"]


class Draws:
    """Concentrations, propensities, the sums of the exponential and the likelihood of a chain."""

    def __init__(self, chain: ThreadedChain) -> None:
        self.chain = chain
        self.workers = chain.workers
        self.documents = cut(0, chain.part.n_documents)
        self.nodes = node_view(chain.layout, chain.state, chain.part)
        starts = [int(n) for n in chain.layout.level_start]
        self._levels = list(pairwise(starts))
        self._owned = [int(n) for n in chain.part.level_end]
        self._bounds = [cut(begin, end) for begin, end in zip(starts, self._owned, strict=False)]
        self._discounts = chain.state.parameters.topic_discount
        self._prior = np.array(chain.settings.concentration_prior)
        self._randoms = np.zeros((self.workers.size, 4), np.uint64)
        self.units_due = True
        """Whether propensities have changed since the units of sums were chosen. Only then do the
        parts of a chain exchange their largest weights, not before every sum."""
        if chain.spec.citations is not None:
            self._network = self._new_network()

    def _new_network(self) -> Network:
        chain = self.chain
        return new_network(chain.layout, chain.citation_level, chain.part)

    @property
    def unit(self) -> np.ndarray:
        """Units of the sums of the exponential (float64 [2]); see `engines.core.exact_sums`."""
        return self._network.unit

    def parents_moved(self) -> None:
        """Update the lists of children."""
        if self.chain.spec.citations is not None:
            list_children(self._network, self.chain.layout)

    def rebuild(self) -> None:
        """Recompute P, M and the weights of nodes, as in ``rebuild_exponent``."""
        chain = self.chain
        exponent, parameters = chain.exponent, chain.state.parameters
        first = chain.layout.citation_node
        exponent.cite_weight[first : first + chain.n_documents] = parameters.cite
        exponent.cited_weight[first : first + chain.n_documents] = parameters.cited
        if self.units_due or chain.exchange.size == 1:
            set_units(self._network, exponent, chain.part, chain.exchange)
            self.units_due = False
        self._add_up()

    def _add_up(self) -> None:
        """Compute P, M and the weights of nodes above documents."""
        chain = self.chain
        rebuild(
            self.workers,
            self.nodes,
            self._network,
            self._discounts,
            chain.exponent,
            chain.exchange,
            chain.inherit_weights,
        )

    def draw_propensities(self) -> None:
        """Draw all lambda+, then lambda-, then lambdaT, as in ``draw_propensities``."""
        chain = self.chain
        state, exponent = chain.state, chain.exponent
        parameters = state.parameters
        prior = np.array(chain.settings.propensity_prior)
        sides = (parameters.cite, exponent.cited_sum), (parameters.cited, exponent.cite_sum)
        self.rebuild()
        for (values, other), degree in zip(sides, chain.all_degrees(), strict=True):
            slope, key = parameters.topic_scale * other, next_key(state.random)
            self._draw_documents(slope, prior, degree, values, key)
            self.units_due = True
            self.rebuild()
        topics = len(parameters.topic_scale)
        made = state.assignments.citing_topic[: chain.part.n_citations]
        citations = np.bincount(made, minlength=topics)
        own = state.assignments.self_topic[: chain.part.n_documents]
        citations += np.bincount(own[own >= 0], minlength=topics)
        citations = chain.exchange.sum(citations)
        rate = exponent.cite_sum * exponent.cited_sum
        draw_scales(state.random, prior, citations, rate, parameters.topic_scale)

    def _draw_documents(
        self,
        slope: np.ndarray,
        prior: np.ndarray,
        degree: np.ndarray,
        values: np.ndarray,
        key: np.uint64,
    ) -> None:
        """Draw one propensity per document, given lambdaT times the other side's sums."""
        draw_documents(
            self.workers,
            self.nodes,
            self._network,
            self._discounts,
            slope,
            prior,
            degree,
            values,
            self.chain.part.document,
            key,
        )

    def _draw_at_rates(
        self, prior: np.ndarray, degree: np.ndarray, values: np.ndarray, key: np.uint64
    ) -> None:
        """Draw one propensity per document, given the rates of all nodes."""
        rate, bounds, workers = self._network.rate, self._network.bounds[-1], self.workers
        workers.run(
            lambda worker: draw_at_rates(
                rate,
                prior,
                degree,
                values,
                self.chain.part.document,
                key,
                self._randoms,
                Share(bounds, worker, workers.size),
            )
        )

    def draw_concentrations(self) -> None:
        """Draw the auxiliaries of all levels, then the concentrations, root first."""
        chain = self.chain
        state, spec = chain.state, chain.spec
        parameters, words = state.parameters, state.words
        sums = new_auxiliaries(len(self._levels) + 1, self.workers.size)  # bursts come last
        by_topic = np.zeros((chain.settings.topics, 2))
        exchange = chain.exchange
        room = np.zeros((self.workers.size, 2, chain.settings.topics), np.int64)
        # the sequential kernel handles the root and levels with one concentration per node
        pooled = [level for level in range(1, len(self._levels)) if chain.pooled[level]]
        key = next_key(state.random)
        word_key = next_key(state.random)
        bursty = spec.word_level("document-topic") is not None

        def gather(worker: int) -> None:
            step = self.workers.size
            for level in pooled:
                gather_nodes(
                    self.nodes,
                    self._discounts[level],
                    key,
                    Share(self._bounds[level], worker, step),
                    self._randoms,
                    sums[level],
                )
            first = exchange.rank * step + worker
            gather_topics(
                words,
                parameters,
                word_key,
                self._randoms[worker],
                by_topic,
                first,
                exchange.size * step,
            )
            if bursty:
                gather_bursts(
                    chain.layout,
                    chain.part.document,
                    state.assignments,
                    parameters.word_concentration[1],
                    parameters.word_discount[2],
                    word_key,
                    Share(self.documents, worker, step),
                    self._randoms,
                    room,
                    sums[-1],
                )

        self.workers.run(gather)
        by_topic = exchange.sum(by_topic)  # one part has a topic's sums; the others have zeros
        found = [read_auxiliaries(one) for one in exchange.sum(sums.sum(axis=1))]
        for level in range(len(self._levels)):
            self._draw_level(level, found[level] if level in pooled else None)
        self._draw_background()
        if chain.words_pooled:
            parameters.topic_word_concentration[:] = self._posterior(tuple(by_topic.sum(axis=0)))
        else:
            parameters.topic_word_concentration[:] = [
                self._posterior(tuple(row)) for row in by_topic
            ]
        if bursty:
            parameters.word_concentration[1] = self._posterior(found[-1])

    def _draw_level(self, level: int, sums: tuple[float, float] | None) -> None:
        """Draw the concentrations of a topic-side level, given the sums of its auxiliaries."""
        chain = self.chain
        state = chain.state
        citation_level = chain.citation_level if chain.network_on else -1
        leans = level <= citation_level
        if leans:
            self.rebuild()
        if sums is None:
            draw_topic_concentrations(
                chain.layout,
                state,
                self._prior,
                chain.pooled,
                citation_level,
                chain.exponent,
                level,
                level + 1,
            )
            return
        begin, end = self._levels[level]
        if leans:
            shape, rate = self._prior[0] + sums[0], self._prior[1] - sums[1]
            beta = self._slice_level(level, float(shape), float(rate))
        else:
            beta = self._posterior(sums)
        state.parameters.topic_concentration[begin:end] = beta

    def _slice_level(self, level: int, shape: float, rate: float) -> float:
        """Draw a level's concentration from Gamma(shape, rate) x exp(-E)."""
        chain = self.chain
        bounds = (self._levels[level][0], self._owned[level])
        terms = find_terms(
            self.workers,
            self.nodes,
            chain.exponent,
            self._discounts,
            level,
            bounds,
            self._network.unit,
            chain.exchange,
        )
        start = float(self.nodes.concentration[bounds[0]])
        scale = chain.state.parameters.topic_scale
        return draw_pooled(terms, scale, start, (shape, rate), chain.state.random)

    def _posterior(self, sums: tuple[float, float]) -> float:
        shape, rate = self._prior[0] + sums[0], self._prior[1] - sums[1]
        return max(float(standard_gamma(self.chain.state.random, shape) / rate), SMALLEST)

    def _draw_background(self) -> None:
        """Draw the concentration of gamma, which is a single node."""
        state = self.chain.state
        customers, tables = (int(n) for n in state.words.background_totals)
        if self.chain.spec.word_level("corpus") is None or customers == 0:
            return
        beta = float(state.parameters.word_concentration[0])
        discount = float(state.parameters.word_discount[0])
        found = gather_one(state.random, customers, tables, discount, beta)
        state.parameters.word_concentration[0] = self._posterior(found)

    def log_likelihood(self) -> float:
        """Compute the log likelihood of words, as in ``word_log_likelihood``."""
        chain = self.chain
        found = log_likelihood(self.workers, chain.shape, chain.layout, chain.state, self.documents)
        return bin_total(chain.exchange.sum(found))
