"""Tables from which topics are proposed, built from the counts of an earlier iteration.

A word proposes topic k with the weight that k would have for it in an empty document, under an
author without papers. Tables are fixed between rebuilds: a table of the present counts would depend
on the token that it moves, and accepting by it would not leave the posterior invariant. They are
whole numbers, cumulative over topics, so the probability in the acceptance ratio is exactly the one
drawn from.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from citeweave.compiled import hot_kernel, index, inlined
from citeweave.engines.core.arrays import Layout, Parameters, Shape, State, Tables, TopicCounts
from citeweave.engines.core.climb import find_path
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
_EVEN = 0.01
"""Share of a table that is spread evenly: every topic can be reached from everywhere."""


class ProposalTables(NamedTuple):
    """Proposals by word, and those of citations."""

    word: np.ndarray
    """uint32 [words, topics]: cumulative."""
    word_mass: np.ndarray
    """float64 [words]: the weight that a word's whole table stands for."""
    root: np.ndarray
    """float64 [topics]: shares of topics above documents when the tables were made."""
    citation: np.ndarray
    """uint32 [topics]: cumulative, of a citation's topic."""
    citation_mass: np.ndarray
    """float64 [1]."""
    listed: np.ndarray
    """uint8 [nodes of the lowest shared level]: whether documents take their topics for slots."""


def new_proposal_tables(
    layout: Layout, n_shared: int, n_words: int, n_topics: int
) -> ProposalTables:
    """Allocate room for the tables; ``n_shared`` counts the levels above documents."""
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
    """Turn weights into cumulative whole numbers, about 2^31 in all; returns the weights' sum."""
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
def _fill_shares(layout, n_shared, tables, state, proposal, row, weights):
    """Set the share of each topic that documents have nothing of.

    A listed author has nothing of it either: then it comes from mu. Of all others it comes from the
    author, who is much more decided than mu is; they are taken together.
    """
    counts, parameters = state.topics, state.parameters
    level = n_shared - 1
    first, last = layout.level_start[level], layout.level_start[n_shared]
    everybody, listed = 0.0, 0.0
    for n in range(first, last):
        everybody += counts.total_customers[n]
        if n_shared == 1 or proposal.listed[n - first] > 0:
            listed += counts.total_customers[n]
    everybody = max(everybody, 1.0)
    find_path(layout, row, 0, 0)
    node_weights(tables, counts, parameters, row, 0, weights)
    share = listed / everybody
    share /= parameters.topic_concentration[0] + counts.total_customers[0]
    for k in range(weights.shape[0]):
        proposal.root[k] = share * weights[k]
    for n in range(first, last):
        if n_shared > 1 and proposal.listed[n - first] == 0 and counts.total_customers[n] > 0:
            find_path(layout, row, level, n)
            node_weights(tables, counts, parameters, row, level, weights)
            share = counts.total_customers[n] / everybody
            share /= parameters.topic_concentration[n] + counts.total_customers[n]
            for k in range(weights.shape[0]):
                proposal.root[k] += share * weights[k]


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
) -> None:
    """Build the words' tables from the present counts; listed authors are determined already."""
    n_words, n_topics = proposal.word.shape
    rooms = np.zeros((workers.size, n_topics))
    row = np.zeros(len(layout.level_start), np.int64)
    _fill_shares(layout, len(shape.shared), tables, state, proposal, row, rooms[0])

    def fill(worker: int) -> None:
        first, last = (n_words * i // workers.size for i in (worker, worker + 1))
        _fill_words(shape, state, cache, proposal, rooms[worker], first, last)

    workers.run(fill)


def make_citation_proposal(parameters: Parameters, proposal: ProposalTables) -> None:
    """Make the citations' table: lambdaT_k times the squared share at mu.

    Shares are those of the words' tables; lambdaT is the present one, which no citation's topic has
    a part in while topics are drawn.
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
    """Find the authors with few topics. A token must not decide how it is moved: hence here."""
    first, last = layout.level_start[n_shared - 1], layout.level_start[n_shared]
    most = MOST_LISTED if most is None else most
    for begin in range(first, last, 1024):
        end = min(begin + 1024, last)
        topics = np.count_nonzero(counts.customers[begin:end], axis=1)
        proposal.listed[begin - first : end - first] = topics <= most
    if n_shared == 1:  # mu itself: its topics are everybody's, and nobody's slots
        proposal.listed[:] = 0


@inlined
def proposal_weight(cumulative, k):
    """Give a topic's own part of a cumulative table."""
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
"""Names in checkpoints, which are those of the GPU's tables too."""


def export_tables(proposal: ProposalTables) -> dict[str, np.ndarray]:
    """Copy what a chain needs to continue with the same tables."""
    stored = {name: getattr(proposal, field).ravel().copy() for name, field in _STORED.items()}
    # the GPU has the citations' weight last
    stored["guess_mass"] = np.append(stored["guess_mass"], proposal.citation_mass)
    return stored


def restore_tables(proposal: ProposalTables, tables: Mapping[str, np.ndarray]) -> None:
    """Continue with stored tables.

    Raises
    ------
    ParameterError
        They are not those of this corpus and number of topics.
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
