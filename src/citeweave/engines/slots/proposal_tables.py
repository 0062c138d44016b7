"""Tables from which topics are proposed, built from the counts of an earlier iteration.

A word proposes topic k with the weight that k would have for it in an empty document, under an
author without papers. Tables are fixed between rebuilds: a table of the present counts would depend
on the token that it moves, and the acceptance step would not leave the posterior invariant. Tables
are integers, cumulative over topics, so the probability in the acceptance ratio is exactly the one
of the draw.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from citeweave.compiled import hot_kernel, index, inlined
from citeweave.engines.core.arrays import Layout, Parameters, Shape, State, Tables, TopicCounts
from citeweave.engines.core.climb import find_path
from citeweave.engines.core.exchange import ALONE, Exchange
from citeweave.engines.core.hierarchy import node_weights
from citeweave.engines.core.random import uniform
from citeweave.engines.core.sparse_sweeps import MOST_LISTED
from citeweave.engines.core.word_side import WordCache, word_background
from citeweave.engines.threads.workers import WorkerPool
from citeweave.errors import ParameterError

__all__ = [
    "ProposalTables",
    "choose_listed",
    "draw_proposal",
    "export_tables",
    "make_citation_proposal",
    "make_word_proposal",
    "new_proposal_tables",
    "proposal_weight",
    "restore_tables",
]

_WHOLE = 2.0**31
_UNIT = 2.0**50
"""Units per share: shares are summed as integers. The shares of all authors sum to about 1; weights
of topics whose tables are known may sum to a few times as much."""
_EVEN = 0.01
"""Share of a table that is spread evenly, so that every topic can be reached from every other."""


class ProposalTables(NamedTuple):
    """Proposals for each word, and for citations."""

    word: np.ndarray
    """uint32 [words, topics]: cumulative."""
    word_mass: np.ndarray
    """float64 [words]: total weight that a word's table represents."""
    root: np.ndarray
    """float64 [topics]: shares of topics above documents when the tables were built."""
    citation: np.ndarray
    """uint32 [topics]: cumulative, for the topic of a citation."""
    citation_mass: np.ndarray
    """float64 [1]."""
    listed: np.ndarray
    """uint8 [nodes of the lowest shared level]: whether documents use their topics as slots."""


def new_proposal_tables(
    layout: Layout, n_shared: int, n_words: int, n_topics: int
) -> ProposalTables:
    """Allocate memory for the tables; ``n_shared`` is the number of levels above documents."""
    above = int(layout.level_start[n_shared] - layout.level_start[n_shared - 1])
    return ProposalTables(
        word=np.zeros((n_words, n_topics), np.uint32),
        word_mass=np.zeros(n_words),
        root=np.zeros(n_topics),
        citation=np.zeros(n_topics, np.uint32),
        citation_mass=np.zeros(1),
        listed=np.zeros(above, np.uint8),
    )


@hot_kernel
def _accumulate(weights, cumulative):
    """Turn weights into cumulative integers, about 2^31 in total; return the sum of the weights."""
    n_topics = weights.shape[0]
    total = 0.0
    for k in range(n_topics):
        total += weights[k]
    scale = (1.0 - _EVEN) * _WHOLE / total
    least = _EVEN * _WHOLE / n_topics
    running = np.int64(0)
    for k in range(n_topics):
        running += np.int64(weights[k] * scale + least) + 1
        cumulative[k] = running
    return total


@hot_kernel
def _count_customers(counts, proposal, first, last, found):
    """Count the customers of authors ``first`` to ``last`` - 1: of all, and of listed ones."""
    for n in range(first, last):
        found[0] += counts.total_customers[n]
        if proposal.listed[n - first] > 0:
            found[1] += counts.total_customers[n]


@hot_kernel
def _root_shares(tables, state, row, listed, root):
    """Set the share of each topic under listed authors, who have the share ``listed`` of all."""
    counts, parameters = state.topics, state.parameters
    node_weights(tables, counts, parameters, row, 0, root)
    share = listed / (parameters.topic_concentration[0] + counts.total_customers[0])
    for k in range(root.shape[0]):
        root[k] *= share


@hot_kernel
def _add_shares(layout, level, tables, state, proposal, everybody, row, weights, units, span):
    """Sum the shares under authors ``span[0]`` to ``span[1]`` - 1 who are not listed.

    ``units`` (int64 [topics]) is in multiples of 1 / _UNIT.
    """
    counts, parameters = state.topics, state.parameters
    first = layout.level_start[level]
    for n in range(span[0], span[1]):
        if proposal.listed[n - first] == 0 and counts.total_customers[n] > 0:
            find_path(layout, row, level, n)
            node_weights(tables, counts, parameters, row, level, weights)
            share = counts.total_customers[n] / everybody
            share *= _UNIT / (parameters.topic_concentration[n] + counts.total_customers[n])
            for k in range(weights.shape[0]):
                units[k] += np.int64(share * weights[k])


@hot_kernel
def _fill_words(shape, state, cache, proposal, weights, first, last):
    words, parameters = state.words, state.parameters
    n_topics = proposal.word.shape[1]
    for w in range(first, last):
        background = word_background(shape, words, parameters, cache, w)
        row = index(w)
        for j in range(n_topics):
            k = index(j)
            value = cache.stay[row, k] * cache.inverse[k]
            value += cache.open[row, k] * cache.opening[k] * background
            weights[k] = value * proposal.root[k]
        proposal.word_mass[row] = _accumulate(weights, proposal.word[row])


def make_word_proposal(
    workers: WorkerPool,
    shape: Shape,
    layout: Layout,
    tables: Tables,
    state: State,
    cache: WordCache,
    proposal: ProposalTables,
    *,
    last: int | None = None,
    exchange: Exchange = ALONE,
) -> None:
    """Build the words' tables from the present counts; listed authors must be known already.

    A part of a chain sums the shares of its own authors, which are those before ``last``.
    """
    n_words, n_topics = proposal.word.shape
    rooms = np.zeros((workers.size, n_topics))
    _make_shares(workers, shape, layout, tables, state, proposal, rooms, last, exchange)

    def fill(worker: int) -> None:
        begin, end = (n_words * i // workers.size for i in (worker, worker + 1))
        _fill_words(shape, state, cache, proposal, rooms[worker], begin, end)

    workers.run(fill)


def _make_shares(
    workers: WorkerPool,
    shape: Shape,
    layout: Layout,
    tables: Tables,
    state: State,
    proposal: ProposalTables,
    rooms: np.ndarray,
    last: int | None,
    exchange: Exchange,
) -> None:
    """Set the share of each topic for documents that do not have it.

    A listed author does not have it either, so it comes from mu. For all other authors it comes
    from the author, whose distribution is much more concentrated than mu; these authors are
    combined. Their shares are summed as integers, so the sum depends neither on threads nor on
    parts.
    """
    level = len(shape.shared) - 1
    first = int(layout.level_start[level])
    end = int(layout.level_start[level + 1]) if last is None else last
    size = workers.size
    rows = np.zeros((size, len(layout.level_start)), np.int64)
    if level == 0:
        _root_shares(tables, state, rows[0], 1.0, proposal.root)
        return
    customers = np.zeros(2, np.int64)
    _count_customers(state.topics, proposal, first, end, customers)
    found = exchange.sum(customers)
    everybody, listed = max(float(found[0]), 1.0), float(found[1])
    units = np.zeros((size, proposal.root.size), np.int64)

    def add(worker: int) -> None:
        span = tuple(first + (end - first) * i // size for i in (worker, worker + 1))
        row, weights = rows[worker], rooms[worker]
        given = (layout, level, tables, state, proposal, everybody)
        _add_shares(*given, row, weights, units[worker], span)

    workers.run(add)
    shares = exchange.sum(units.sum(axis=0)) / _UNIT
    _root_shares(tables, state, rows[0], listed / everybody, proposal.root)
    proposal.root[:] += shares


def make_citation_proposal(parameters: Parameters, proposal: ProposalTables) -> None:
    """Build the citations' table: lambdaT_k times the squared share at mu.

    Shares are those of the words' tables. lambdaT is the present one: it does not depend on any
    citation's topic while topics are drawn.
    """
    weights = parameters.topic_scale * proposal.root**2
    proposal.citation_mass[0] = _accumulate(weights, proposal.citation)


def choose_listed(
    layout: Layout,
    counts: TopicCounts,
    n_shared: int,
    proposal: ProposalTables,
    most: int | None = None,
) -> None:
    """Find authors with few topics, outside of sweeps: a token must not decide how it is moved."""
    first, last = layout.level_start[n_shared - 1], layout.level_start[n_shared]
    most = MOST_LISTED if most is None else most
    for begin in range(first, last, 1024):
        end = min(begin + 1024, last)
        topics = np.count_nonzero(counts.customers[begin:end], axis=1)
        proposal.listed[begin - first : end - first] = topics <= most
    if n_shared == 1:  # mu itself: its topics belong to all documents and are nobody's slots
        proposal.listed[:] = 0


@inlined
def proposal_weight(cumulative, k):
    """Return a topic's own part of a cumulative table."""
    below = np.int64(cumulative[index(k - 1)]) if k > 0 else np.int64(0)
    return np.int64(cumulative[index(k)]) - below


@inlined
def draw_proposal(rng, cumulative):
    """Draw a topic from a cumulative table."""
    high = cumulative.shape[0] - 1
    target = np.int64(uniform(rng) * cumulative[index(high)])
    low = 0
    while low < high:
        middle = (low + high) >> 1
        if np.int64(cumulative[index(middle)]) > target:
            high = middle
        else:
            low = middle + 1
    return low


_STORED = {"guess": "word", "guess_mass": "word_mass", "guess_root": "root", "listed": "listed"}
"""Names in checkpoints, the same as those of the GPU's tables."""


def export_tables(proposal: ProposalTables) -> dict[str, np.ndarray]:
    """Copy the arrays that a chain needs to continue with the same tables."""
    stored = {name: getattr(proposal, field).ravel().copy() for name, field in _STORED.items()}
    # the GPU stores the citations' weight last
    stored["guess_mass"] = np.append(stored["guess_mass"], proposal.citation_mass)
    return stored


def restore_tables(proposal: ProposalTables, tables: Mapping[str, np.ndarray]) -> None:
    """Continue with stored tables.

    Raises
    ------
    ParameterError
        If they do not match this corpus and number of topics.
    """
    for name, field in _STORED.items():
        size = getattr(proposal, field).size + (name == "guess_mass")
        if name not in tables or tables[name].size != size:
            raise ParameterError(
                f"Stored proposals must have {size} numbers in {name!r}. "
                f"Got {tables[name].size if name in tables else 'none'} instead."
            )
    for name, field in _STORED.items():
        mine = getattr(proposal, field)
        mine[...] = tables[name].ravel()[: mine.size].reshape(mine.shape)
