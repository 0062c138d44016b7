"""All authors of a paper: which of them serves its tables, and their shares in the paper.

Every table of a paper's upper document level (theta'_d) is served by one of its authors a, drawn
with the paper's contributions pi_d ~ Dirichlet(delta), and its dish becomes a customer of nu_a. So
theta'_d varies about the mixture sum_a pi_da nu_a. One author at a time, a*_d ~ pi_d, serves the
tables that sweeps open: they see one path, through nu of that author, on which the weight of a new
table is multiplied by pi_da*, and they do not touch the tables of the others (`TopicCounts.held`).
Because a* is sampled rather than determined by the tables, each sweep leaves the posterior
invariant. Citations see theta'_d with the posterior mean of nu_a* above it: the author of the next
table, drawn rather than averaged over.

Between sweeps, an author is sampled for every table of shared papers, then a*, delta and pi. A
table of topic k is removed from nu_a like a customer, by indicators, and author b is drawn with
weight pi_db P(k | nu_b); the exponential of the citations decides on acceptance.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from citeweave.compiled import hot_kernel, index, inlined
from citeweave.engines.core.arrays import Array, Layout
from citeweave.engines.core.climb import (
    Climb,
    Ends,
    TopicPath,
    draw_addition,
    draw_removal,
    find_ends,
    find_path,
    move_customer,
    new_climb,
)
from citeweave.engines.core.data import Servers
from citeweave.engines.core.exponent import (
    Exponent,
    commit_change,
    discard_change,
    exponent_change,
    server_change,
)
from citeweave.engines.core.hierarchy import path_weight
from citeweave.engines.core.log_stirling import log_rising
from citeweave.engines.core.random import standard_gamma, uniform
from citeweave.engines.core.row_places import count_at, n_places, topic_at
from citeweave.engines.core.slice_sampling import slice_draw
from citeweave.engines.core.turnover import Move

if TYPE_CHECKING:
    from citeweave.engines.core.chain import Chain

__all__ = [
    "AuthorWork",
    "author_sweep",
    "draw_authors",
    "expected_contributions",
    "new_author_work",
]

_LEAST = 1e-300
"""Minimum share of an author before shares are normalised."""


class AuthorWork(NamedTuple):
    """Input of the sampling of servers besides the state, and scratch memory."""

    authors: Array
    """float64 [servers, positions]: number of authors that an entry represents, by position."""
    place: Array
    """int64 [2]: level of the servers' nodes; node of document 0 on the level below."""
    mass: Array
    """float64 [maximum servers per paper]: cumulative weights."""
    tables: Array
    """int64 [servers]: tables served, including the next one."""
    row: Array
    """int64 [2, levels]: the current paths."""
    climb: Climb
    tally: Array
    """int64 [4]: tables visited, blocked, and reassigned to another author; papers whose server
    changed."""


def new_author_work(layout: Layout, servers: Servers, n_shared: int) -> AuthorWork:
    """Allocate scratch memory for a model with ``n_shared`` levels above documents."""
    levels = len(layout.level_start) - 1
    most = int(np.diff(servers.start).max(initial=0))
    return AuthorWork(
        authors=np.ascontiguousarray(servers.authors, np.float64),
        place=np.array([max(n_shared - 1, 0), layout.level_start[min(n_shared, levels)]]),
        mass=np.zeros(most),
        tables=np.zeros(len(servers.group), np.int64),
        row=np.zeros((2, levels), np.int64),
        climb=new_climb(levels),
        tally=np.zeros(4, np.int64),
    )


def expected_contributions(servers: Servers, prior: Array) -> Array:
    """Return the prior expectation of the authors' shares.

    Returns
    -------
    ndarray of float64, shape (servers,)
        The shares of each paper sum to 1.

    Examples
    --------
    >>> two = Servers(np.array([0, 2]), np.array([0, 1]), np.array([[1.0], [3.0]]))
    >>> expected_contributions(two, np.array([0.5])).tolist()
    [0.25, 0.75]
    """
    mass = servers.authors @ prior
    paper = np.repeat(np.arange(len(servers.start) - 1), np.diff(servers.start))
    total = np.bincount(paper, mass, minlength=max(len(servers.start) - 1, 0))
    expected: Array = mass / total[paper]
    return expected


@inlined
def _find_server(served, first, last, k, place):
    """Find the author who serves a paper's table number ``place`` of a topic."""
    for a in range(first, last - 1):
        place -= served[a, k]
        if place < 0:
            return a
    return last - 1


@inlined
def _draw_server(rng, layout, tables, state, work, first, last, k):
    """Draw an author for a table of a topic, with weights pi_b P(k | nu_b)."""
    level = work.place[0]
    total = 0.0
    for b in range(first, last):
        find_path(layout, work.row[1], level, layout.server[b])
        weight = path_weight(
            tables, state.topics, state.parameters, TopicPath(work.row[1], k), level, work.climb
        )
        total += state.parameters.contribution[b] * weight
        work.mass[b - first] = total
    target = uniform(rng) * total
    for b in range(first, last - 1):
        if target < work.mass[b - first]:
            return b
    return last - 1


@inlined
def _move_table(layout, tables, state, work, exponent, first, last, k, networked):
    """Resample the author of one of a paper's tables of a topic, drawn at random."""
    rng, counts, parameters = state.random, state.topics, state.parameters
    served, level = state.assignments.served, work.place[0]
    total = 0
    for a in range(first, last):
        total += served[a, k]
    work.tally[0] += 1
    old = _find_server(served, first, last, k, np.int64(uniform(rng) * total))
    find_path(layout, work.row[0], level, layout.server[old])
    left = TopicPath(work.row[0], k)
    out = draw_removal(rng, counts, left, level)
    if out == 0:
        work.tally[1] += 1
        return
    move_customer(counts, left, level, out, -1)
    new = _draw_server(rng, layout, tables, state, work, first, last, k)
    meet = find_ends(layout, work.row, level, layout.server[old], layout.server[new])
    joined = TopicPath(work.row[1], k)
    path_weight(tables, counts, parameters, joined, level, work.climb)
    into = draw_addition(rng, work.climb, level)
    move_customer(counts, joined, level, into, 1)
    if networked and (new != old or into != out):
        move = Move(k, k, (out, 0), (0, into))
        ends = Ends(work.row, level, meet)
        change = exponent_change(counts, parameters, exponent, ends, move)
        if change > 0.0 and uniform(rng) >= np.exp(-change):
            discard_change(exponent)
            move_customer(counts, joined, level, into, -1)
            move_customer(counts, left, level, out, 1)
            return
        commit_change(exponent)
    if new != old:
        work.tally[2] += 1
        served[old, k] -= 1
        served[new, k] += 1


@inlined
def _change_server(layout, state, work, exponent, d, first, last, networked):
    """Propose from pi who serves the next tables of a paper; the exponential decides."""
    rng, contribution = state.random, state.parameters.contribution
    server, level = state.assignments.server, work.place[0]
    target = uniform(rng)
    new = first
    while new < last - 1 and target >= contribution[new]:
        target -= contribution[new]
        new += 1
    old = server[d]
    if new == old:
        return
    n = work.place[1] + d
    if networked:
        meet = find_ends(layout, work.row, level, layout.server[old], layout.server[new])
        ends = Ends(work.row, level, meet)
        change = server_change(state.topics, state.parameters, exponent, ends, n)
        if change > 0.0 and uniform(rng) >= np.exp(-change):
            discard_change(exponent)
            return
        commit_change(exponent)
    work.tally[3] += 1
    server[d] = new
    layout.parent[n] = layout.server[new]


@inlined
def _prior_mass(authors, prior, a):
    """Return the Dirichlet mass of an entry: the sum of delta over the authors it represents."""
    mass = 0.0
    for j in range(prior.shape[0]):
        mass += authors[a, j] * prior[j]
    return mass


@inlined
def _log_prior(given, value, shape, rate):
    """Compute the log density of delta at one position, contributions summed out (`slice_draw`)."""
    layout, work, prior, position = given
    prior[position] = value
    log_density = (shape - 1.0) * np.log(value) - rate * value
    for d in range(layout.server_start.shape[0] - 1):
        all_mass, all_tables = 0.0, 0
        for a in range(layout.server_start[d], layout.server_start[d + 1]):
            mass = _prior_mass(work.authors, prior, a)
            log_density += log_rising(mass, 1.0, work.tables[a])
            all_mass += mass
            all_tables += work.tables[a]
        if all_tables > 0:
            log_density -= log_rising(all_mass, 1.0, all_tables)
    return log_density


@hot_kernel
def _draw_prior(rng, layout, work, prior, hyperprior):
    """Draw delta of each position from its conditional, contributions summed out."""
    for j in range(prior.shape[0]):
        start = prior[j]
        drawn = slice_draw(
            rng, _log_prior, (layout, work, prior, j), start, hyperprior[0], hyperprior[1]
        )
        prior[j] = drawn


@inlined
def _draw_contributions(layout, state, work, d):
    """Draw pi of one paper, given who serves its tables and the next one."""
    rng, parameters = state.random, state.parameters
    first, last = layout.server_start[d], layout.server_start[d + 1]
    total = 0.0
    for a in range(first, last):
        mass = _prior_mass(work.authors, parameters.contribution_prior, a) + work.tables[a]
        drawn = max(standard_gamma(rng, mass), _LEAST)
        parameters.contribution[a] = drawn
        total += drawn
    for a in range(first, last):
        parameters.contribution[a] /= total


@inlined
def _count_tables(layout, state, work, d):
    """Count the tables that each author serves, including the next one."""
    for a in range(layout.server_start[d], layout.server_start[d + 1]):
        total = 0
        for k in range(state.assignments.served.shape[1]):
            total += state.assignments.served[a, k]
        work.tables[a] = total + (1 if state.assignments.server[d] == a else 0)


@inlined
def _hand_over(state, work, d):
    """Set up the author who serves a paper in the next sweeps; hold the tables of the others."""
    server, n = state.assignments.server[d], work.place[1] + d
    counts = state.topics
    for k in range(counts.held.shape[1]):
        counts.held[n, k] = -state.assignments.served[server, k]
    for j in range(n_places(counts.tables, n)):
        counts.held[n, topic_at(counts.tables, n, j)] += count_at(counts.tables, n, j)
    state.parameters.share[n] = state.parameters.contribution[server]


@inlined
def _take_over(state, work, d):
    """Record the tables of the author who served a paper during the latest sweeps."""
    counts, server, n = state.topics, state.assignments.server[d], work.place[1] + d
    for k in range(counts.held.shape[1]):
        state.assignments.served[server, k] = -counts.held[n, k]
    for j in range(n_places(counts.tables, n)):
        k = topic_at(counts.tables, n, j)
        state.assignments.served[server, k] += count_at(counts.tables, n, j)


@hot_kernel
def author_sweep(layout, tables, state, work, exponent, hyperprior, networked):
    """Draw who serves the tables of all shared papers, and everything that depends on it.

    ``hyperprior`` (float64 [2], or empty to hold delta) is the Gamma prior of delta.
    """
    counts = state.topics
    work.tally[:] = 0
    for d in range(layout.server_start.shape[0] - 1):
        first, last = layout.server_start[d], layout.server_start[d + 1]
        if first == last:
            continue
        n = work.place[1] + d
        _take_over(state, work, d)
        for j in range(n_places(counts.tables, n)):  # the paper's own counts do not change
            k = index(topic_at(counts.tables, n, j))
            for _ in range(count_at(counts.tables, n, j)):
                _move_table(layout, tables, state, work, exponent, first, last, k, networked)
        _change_server(layout, state, work, exponent, d, first, last, networked)
        _count_tables(layout, state, work, d)
    if hyperprior.shape[0] > 0:
        _draw_prior(state.random, layout, work, state.parameters.contribution_prior, hyperprior)
    for d in range(layout.server_start.shape[0] - 1):
        if layout.server_start[d] < layout.server_start[d + 1]:
            _draw_contributions(layout, state, work, d)
            _hand_over(state, work, d)


def draw_authors(chain: "Chain", exponent: Exponent) -> None:
    """Draw who serves the papers of a chain, in its state; the exponent must be up to date."""
    settings = chain.settings
    author_sweep(
        chain.layout,
        chain.tables,
        chain.state,
        chain.author_work,
        exponent,
        np.array(settings.concentration_prior if settings.sample_concentrations else ()),
        chain.network_on,
    )
