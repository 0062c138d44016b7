"""The joint log density of the state of a chain, which its sampler explores.

It is the density of words, citations, topics, tables and hyperparameters, up to a constant:

    sum over nodes of   log (beta|alpha)_T - log (beta)_C + sum_k log S(c_k, t_k)
    + words             T_gamma times log 1 / V
    + new topics        the free places that topics in use may have taken
    + categories        prod_c (a / C)_{n_c}, where papers are drawn into them
    + authors           who serves the tables of a paper, and its next one, where they share it:
                        a Dirichlet-multinomial, pi summed out, and Gamma(delta)
    + citations         sum g+ log lambda+  + sum g- log lambda-  + sum_k g_k log lambdaT_k  - E
    + hyperparameters   the Gamma densities of concentrations and propensities

(eq:modularized_likelihood, eq:approx_network_likelihood). Nodes of the word side, and 1 / V, count
`ModelSpec.word_weight` times. While citations are not used, their terms are left out, so the
density drops when they join. Threads and parts of a chain may share the work: sums are exact and do
not depend on their number.
"""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from scipy.special import gammaln

from citeweave.compiled import hot_kernel, index
from citeweave.engines.core.arrays import Array, Shape, State
from citeweave.engines.core.exact_sums import BINS, add_exact, bin_total, exact_sum
from citeweave.engines.core.log_stirling import (
    StirlingLogs,
    log_rising,
    log_stirling,
    stirling_logs,
)
from citeweave.engines.core.pieces import Share, cut
from citeweave.engines.core.row_places import count_at, n_places
from citeweave.engines.core.stirling import RatioTable
from citeweave.engines.core.word_climb import next_run

if TYPE_CHECKING:
    from citeweave.engines.core.chain import Chain

__all__ = ["LogPosterior"]

_TABULATED = 512
"""Rising products of a shared concentration with fewer factors are looked up in a table."""


class Workers(Protocol):
    """Threads that share the pieces."""

    size: int

    def run(self, task: Callable[[int], Any]) -> None:
        """Run ``task(worker)`` for every worker, and wait until all are done."""


class _Alone:
    """The calling thread."""

    size = 1

    def run(self, task: Callable[[int], Any]) -> None:
        task(0)


class Risings(NamedTuple):
    """Rising products of a level: log (beta)_n and log (beta|alpha)_n for n below their length.

    Empty if nodes have concentrations of their own.
    """

    customers: Array
    tables: Array


class WordLogs(NamedTuple):
    """Tables of log S of the word side."""

    background: StirlingLogs
    topic_word: StirlingLogs
    burst: StirlingLogs


class LogPosterior:
    """Computes the joint log density of the states of one chain.

    Parameters
    ----------
    chain : Chain
        Its model, corpus and settings are read; states are given later.
    """

    def __init__(self, chain: "Chain") -> None:
        self.spec, self.settings = chain.spec, chain.settings
        self.shape: Shape = chain.shape
        self.layout = chain.layout
        self.degrees = chain.degrees
        self._author_counts = chain.author_work.authors
        tables = chain.tables
        place, *stacked = tables.topic
        self._levels = [stirling_logs(RatioTable(*(part[i] for part in stacked))) for i in place]
        self._words = WordLogs(
            *(stirling_logs(one) for one in (tables.background, tables.topic_word, tables.burst))
        )
        self.part, self.exchange = chain.part, chain.exchange
        starts = [int(n) for n in self.layout.level_start[:-1]]
        ends = [int(n) for n in self.part.level_end]
        if self.exchange.rank > 0:
            ends[0] = 0  # mu belongs to all parts and is counted once
        self._nodes = [cut(*level) for level in zip(starts, ends, strict=True)]
        self._documents = cut(0, self.part.n_documents)
        leaves = np.diff(self.layout.leaf_start)
        tokens = np.diff(self.layout.document_start)
        self._paths = -float(tokens[leaves > 1] @ np.log(leaves[leaves > 1]))

    def __call__(self, state: State, rate: float, workers: Workers | None = None) -> float:
        """Return the log density of a state.

        Parameters
        ----------
        state : State
        rate : float
            E, the expected number of citations; ignored while citations are not used.
        workers : Workers, optional
            Threads that share the pieces; the calling one if not given.
        """
        crew = workers or _Alone()
        counted = self.spec.citations is not None and bool(state.clock[1])
        weight = self.spec.word_weight
        # sums over nodes, words, documents and citations are exact, so their order does not matter
        bins = np.zeros((len(self._levels) + 3, BINS), np.int64)
        self._topic_side(state, crew, bins)
        self._word_side(state, crew, bins[-3])
        if self.shape.burst:
            self._bursts(state, crew, bins[-2])
        if counted:
            self._citations(state, bins[-1])
        found = [bin_total(row) for row in self.exchange.sum(bins)]
        total = self._paths + self._new_topics(state) + sum(found[:-3])
        total += weight * (found[-3] + found[-2] + self._word_totals(state))
        total += self._concentrations(state) + self._categories(state) + self._authors(state)
        if counted:
            topics = state.parameters.topic_scale
            total += found[-1] + _log_gamma(topics, self.settings.propensity_prior) - rate
        return float(total)

    def _new_topics(self, state: State) -> float:
        topics = state.topics.customers.shape[1]
        used = int(state.topics.total_tables[0])
        return float(_log_factorial(topics - used) - _log_factorial(topics))

    def _topic_side(self, state: State, workers: Workers, bins: Array) -> None:
        counts, parameters = state.topics, state.parameters
        for level, (logs, bounds) in enumerate(zip(self._levels, self._nodes, strict=True)):
            pooled = self.spec.topic_side[level].shared_concentration
            begin = int(self.layout.level_start[level])
            risings = _risings(
                float(parameters.topic_concentration[begin]) if pooled else 0.0,
                float(parameters.topic_discount[level]),
            )
            sums = np.zeros((workers.size, BINS), np.int64)

            def measure(
                worker: int,
                logs: StirlingLogs = logs,
                risings: Risings = risings,
                bounds: Array = bounds,
                sums: Array = sums,
            ) -> None:
                share = Share(bounds, worker, workers.size)
                _measure_nodes(logs, counts, parameters, risings, share, sums)

            workers.run(measure)
            bins[level] += sums.sum(axis=0)

    def _word_side(self, state: State, workers: Workers, bins: Array) -> None:
        """Sum log S of phi and gamma; parts of a chain share the words."""
        words = state.words
        n_words, exchange = len(words.customers), self.exchange
        ends = [n_words * (exchange.rank + i) // exchange.size for i in range(2)]
        bounds = cut(*ends)
        sums = np.zeros((workers.size, BINS), np.int64)

        def measure(worker: int) -> None:
            share = Share(bounds, worker, workers.size)
            _measure_words(self.shape, self._words, words, share, sums)

        workers.run(measure)
        bins += sums.sum(axis=0)

    def _word_totals(self, state: State) -> float:
        words, parameters = state.words, state.parameters
        total = _measure_topics(words, parameters)
        drawn = int(words.total_tables.sum())
        if self.shape.background:
            beta = parameters.word_concentration[0]
            customers, drawn = (int(n) for n in words.background_totals)
            total += log_rising(beta, parameters.word_discount[0], drawn)
            total -= log_rising(beta, 1.0, customers)
        return float(total - drawn * np.log(len(words.customers)))

    def _bursts(self, state: State, workers: Workers, bins: Array) -> None:
        parameters = state.parameters
        beta, discount = (
            float(parameters.word_concentration[1]),
            float(parameters.word_discount[2]),
        )
        risings = _risings(beta, discount)
        bounds = self._documents
        sums = np.zeros((workers.size, BINS), np.int64)
        room = np.zeros((workers.size, 4, state.words.customers.shape[1]), np.int64)

        def measure(worker: int) -> None:
            share = Share(bounds, worker, workers.size)
            _measure_bursts(
                self._words.burst, self.layout, state.assignments, beta, risings, share, room, sums
            )

        workers.run(measure)
        bins += sums.sum(axis=0)

    def _concentrations(self, state: State) -> float:
        """Compute the log prior of all concentrations: one per level, or one per node."""
        parameters, starts = state.parameters, self.layout.level_start
        prior = self.settings.concentration_prior
        total = 0.0
        for level, traits in enumerate(self.spec.topic_side):
            end = starts[level] + 1 if traits.shared_concentration else starts[level + 1]
            total += _log_gamma(parameters.topic_concentration[starts[level] : end], prior)
        word_side = {
            "corpus": parameters.word_concentration[:1],
            "topic": parameters.topic_word_concentration,
            "document-topic": parameters.word_concentration[1:],
        }
        for traits in self.spec.word_side:
            values = word_side[traits.nodes]
            total += _log_gamma(values[:1] if traits.shared_concentration else values, prior)
        return total

    def _categories(self, state: State) -> float:
        """Compute the log prior of the categories of papers, their shares summed out."""
        if not self.spec.draws_categories:
            return 0.0
        n_categories = int(self.layout.level_start[2] - self.layout.level_start[1])
        sizes = np.bincount(state.assignments.category, minlength=n_categories)
        share = self.settings.category_prior / n_categories
        return float(sum(log_rising(share, 1.0, size) for size in sizes))

    def _authors(self, state: State) -> float:
        """Compute the log density of the servers of shared papers, contributions summed out."""
        if not len(self.layout.server):
            return 0.0
        served, prior = state.assignments.served, state.parameters.contribution_prior
        paper = np.repeat(np.arange(len(self.degrees[0])), np.diff(self.layout.server_start))
        counts = served.sum(axis=1) + (state.assignments.server[paper] == np.arange(len(paper)))
        mass = self._author_counts @ prior
        all_counts = np.bincount(paper, counts)
        all_mass = np.bincount(paper, mass)
        by_topic = np.zeros((len(all_counts), served.shape[1]))
        np.add.at(by_topic, paper, served)
        total = (gammaln(mass + counts) - gammaln(mass)).sum()
        shared = all_counts > 0
        all_mass, all_counts = all_mass[shared], all_counts[shared]
        total -= (gammaln(all_mass + all_counts) - gammaln(all_mass)).sum()
        total += gammaln(by_topic + 1.0).sum() - gammaln(served + 1.0).sum()
        return float(total) + _log_gamma(prior, self.settings.concentration_prior)

    def _citations(self, state: State, bins: Array) -> None:
        """Sum the log densities of citations and propensities, except for the exponential of E.

        Sampled self-citations add the log of (lambda+_i lambda-_i lambdaT_k)^n / n!.
        """
        parameters, part = state.parameters, self.part
        own = slice(part.n_documents)
        made, received = (degree[own] for degree in self.degrees)
        prior = self.settings.propensity_prior
        _measure_documents(made, parameters.cite[own], prior, bins)
        _measure_documents(received, parameters.cited[own], prior, bins)
        scale = parameters.topic_scale
        _measure_citations(state.assignments.citing_topic[: part.n_citations], scale, bins)
        drawn = state.assignments.self_topic[own]
        document, place = np.nonzero(drawn >= 0)
        topic = drawn[document, place].astype(np.int64)
        rates = parameters.cite[document] * parameters.cited[document] * scale[topic]
        _measure_documents(np.ones(len(rates), np.int64), rates, (1.0, 0.0), bins)
        _, repeated = np.unique(np.stack([document, topic], axis=1), axis=0, return_counts=True)
        for n in repeated[repeated > 1]:
            bins += exact_sum(np.array([-_log_factorial(int(n))]))


def _log_factorial(number: int) -> float:
    return float(log_rising(1.0, 1.0, number))


def _log_gamma(values: Array, prior: tuple[float, float]) -> float:
    """Compute the log density of Gamma(shape, rate), up to its constant."""
    shape, rate = prior
    return float((shape - 1.0) * np.log(values).sum() - rate * values.sum())


def _risings(beta: float, discount: float) -> Risings:
    if beta <= 0.0:
        return Risings(np.zeros(0), np.zeros(0))
    steps = np.arange(_TABULATED - 1)
    logs = np.zeros((2, _TABULATED))
    np.cumsum(np.log(beta + steps), out=logs[0, 1:])
    np.cumsum(np.log(beta + discount * steps), out=logs[1, 1:])
    return Risings(logs[0], logs[1])


@hot_kernel
def _log_totals(risings, beta, discount, customers, tables):
    """Return the log of (beta|alpha)_T / (beta)_C of one node."""
    if customers < risings.customers.shape[0]:
        return risings.tables[tables] - risings.customers[customers]
    return log_rising(beta, discount, tables) - log_rising(beta, 1.0, customers)


@hot_kernel
def _measure_nodes(logs, counts, parameters, risings, share, sums):
    """Sum the terms of nodes of one topic-side level over a worker's pieces."""
    bounds, first, step = share
    discount = logs.ratios.discount
    bins = sums[first]
    for piece in range(first, bounds.shape[0] - 1, step):
        for n in range(bounds[piece], bounds[piece + 1]):
            if counts.total_customers[n] == 0:
                continue
            total = _log_totals(
                risings,
                parameters.topic_concentration[n],
                discount,
                counts.total_customers[n],
                counts.total_tables[n],
            )
            for j in range(n_places(counts.customers, n)):
                c = count_at(counts.customers, n, j)
                if c > 1:
                    tables = count_at(counts.tables, n, j)
                    total += log_stirling(logs, np.int64(c), np.int64(tables))
            add_exact(bins, total)


@hot_kernel
def _measure_words(shape, logs, words, share, sums):
    """Sum log S of phi and gamma over the words of a worker's pieces."""
    bounds, first, step = share
    n_topics = words.customers.shape[1]
    bins = sums[first]
    for piece in range(first, bounds.shape[0] - 1, step):
        for v in range(bounds[piece], bounds[piece + 1]):
            total = 0.0
            for k in range(n_topics):
                c = words.customers[v, k]
                if c > 1:
                    tables = np.int64(words.tables[v, k])
                    total += log_stirling(logs.topic_word, np.int64(c), tables)
            if shape.background > 0:
                total += log_stirling(
                    logs.background,
                    np.int64(words.background_customers[v]),
                    np.int64(words.background_tables[v]),
                )
            add_exact(bins, total)


@hot_kernel
def _measure_topics(words, parameters):
    """Sum log (beta|alpha)_T / (beta)_C over all phi_k."""
    discount = parameters.word_discount[1]
    total = 0.0
    for k in range(words.total_customers.shape[0]):
        beta = parameters.topic_word_concentration[k]
        total += log_rising(beta, discount, words.total_tables[k])
        total -= log_rising(beta, 1.0, words.total_customers[k])
    return total


@hot_kernel
def _measure_bursts(logs, layout, assignments, beta, risings, share, room, sums):
    """Sum the terms of all phi'_dk over a worker's documents, with counts from the assignments."""
    bounds, first, step = share
    discount = logs.ratios.discount
    z = assignments.topic
    bits = assignments.burst_table
    customers, tables, run_customers, run_tables = room[first]
    bins = sums[first]
    for piece in range(first, bounds.shape[0] - 1, step):
        for d in range(bounds[piece], bounds[piece + 1]):
            total = 0.0
            begin = layout.document_start[d]
            end = layout.document_start[d + 1]
            run_begin = begin
            while run_begin < end:
                run = next_run(layout.word, run_begin, end)
                for i in range(run.begin, run.end):
                    k = index(z[i])
                    customers[k] += 1
                    tables[k] += bits[i]
                    run_customers[k] += 1
                    run_tables[k] += bits[i]
                for i in range(run.begin, run.end):
                    k = index(z[i])
                    if run_customers[k] > 1:
                        total += log_stirling(logs, run_customers[k], run_tables[k])
                    run_customers[k] = 0
                    run_tables[k] = 0
                run_begin = run.end
            for i in range(begin, end):
                k = index(z[i])
                if customers[k] > 0:
                    total += _log_totals(risings, beta, discount, customers[k], tables[k])
                    customers[k] = 0
                    tables[k] = 0
            add_exact(bins, total)


@hot_kernel
def _measure_documents(degree, values, prior, bins):
    """Add g log lambda and the Gamma density of lambda, up to its constant, of some documents."""
    for d in range(values.shape[0]):
        shape = prior[0] - 1.0 + degree[d]
        add_exact(bins, shape * math.log(values[d]) - prior[1] * values[d])


@hot_kernel
def _measure_citations(topics, scale, bins):
    """Add log lambdaT of every citation."""
    for e in range(topics.shape[0]):
        add_exact(bins, math.log(scale[index(topics[e])]))
