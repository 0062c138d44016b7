"""The category sweep: propose moving each paper without a label, as a whole, to another category.

A paper d is a child of the node nu_c of its category. The tables of its upper document level are
n_k customers of topic k there. To move the paper, its customers are removed from nu_a one after the
other, a category b is proposed, and they are added to nu_b one after the other in reverse order,
each with table indicators drawn from their conditional. Let W_j be the weight of the j-th
customer's topic at its node, given the customers before it. Each customer is removed with the
distribution of indicators that adding it would use, so the density of a state times the probability
of this removal is the product of the W_j along the way. The move is exact if it is accepted with
probability

    min(1, p(b) prod_j W_j(new) q(a) / (p(a) prod_j W_j(old) q(b)) exp(-(change of E)))

p(c) is n_c + a / C without the paper, which follows from the shares' Dirichlet prior. q(c) is a
function of the state after all customers have been removed: p(c) times the probability of the n_k
under a Dirichlet-multinomial with the posterior mean of nu_c, with tables summed out. The paper may
return to its own category, in which case its customers are seated anew. If the removal of a
customer is blocked, all customers are restored.

In E (`citeweave.engines.core.exponent`), such a move changes the terms and weights of the two
categories and of the corpus; the documents' own terms stay the same.
"""

from typing import NamedTuple

import numpy as np

from citeweave.compiled import hot_kernel, index, inlined
from citeweave.engines.core.climb import (
    Climb,
    TopicPath,
    draw_addition,
    draw_removal,
    move_customer,
    new_climb,
)
from citeweave.engines.core.exponent import total_rate
from citeweave.engines.core.hierarchy import new_topic_weight, path_weight, root_weight
from citeweave.engines.core.random import uniform

__all__ = ["CategoryWork", "category_sweep", "new_category_work"]

_LEVEL = 1
"""Level of the categories; `ModelSpec` allows no other."""


class CategoryWork(NamedTuple):
    """Scratch arrays of the category sweep."""

    size: np.ndarray
    """int64 [categories]: number of papers, including those with known labels."""
    proposal: np.ndarray
    """float64 [categories]: log q."""
    left: np.ndarray
    """int64 [topics]: tables that closed when the paper's customers were removed."""
    came: np.ndarray
    """int64 [topics]: tables that opened when they were added."""
    row: np.ndarray
    """int64 [levels]: the current path."""
    climb: Climb
    kept_sums: np.ndarray
    """float64 [2, topics]: P and M before the move."""
    kept_weights: np.ndarray
    """float64 [3, 2]: weights of the corpus and of the two categories before the move."""
    tally: np.ndarray
    """int64 [4]: papers visited, blocked, accepted, and moved to another category."""


def new_category_work(n_topics: int, n_categories: int, n_levels: int) -> CategoryWork:
    """Allocate scratch arrays for a model of the given size."""
    return CategoryWork(
        size=np.zeros(n_categories, np.int64),
        proposal=np.zeros(n_categories),
        left=np.zeros(n_topics, np.int64),
        came=np.zeros(n_topics, np.int64),
        row=np.zeros(n_levels, np.int64),
        climb=new_climb(n_levels),
        kept_sums=np.zeros((2, n_topics)),
        kept_weights=np.zeros((3, 2)),
        tally=np.zeros(4, np.int64),
    )


@inlined
def _move_all(counts, row, k, customers, tables, sign):
    """Add or remove customers of one topic at the end of a path, including ``tables`` tables."""
    path = TopicPath(row, k)
    for j in range(customers):
        move_customer(counts, path, _LEVEL, 2 if j < tables else 1, sign)


@inlined
def _leave(rng, tables, state, paper, work):
    """Remove a paper's customers from the current path; return the sum of log W.

    The second value is the topic at which a removal was blocked, or -1. The customers of that topic
    are restored.
    """
    counts = state.topics
    total = 0.0
    for k in range(work.left.shape[0]):
        work.left[k] = 0
        path = TopicPath(work.row, k)
        for j in range(counts.tables[paper, k]):
            depth = draw_removal(rng, counts, path, _LEVEL)
            if depth == 0:
                _move_all(counts, work.row, k, j, work.left[k], 1)
                return total, k
            move_customer(counts, path, _LEVEL, depth, -1)
            work.left[k] += depth - 1
            total += np.log(path_weight(tables, counts, state.parameters, path, _LEVEL, work.climb))
    return total, -1


@inlined
def _come(rng, tables, state, paper, work):
    """Add a paper's customers to the current path, last topic first; return the sum of log W."""
    counts = state.topics
    total = 0.0
    for k in range(work.came.shape[0] - 1, -1, -1):
        work.came[k] = 0
        path = TopicPath(work.row, k)
        for _ in range(counts.tables[paper, k]):
            total += np.log(path_weight(tables, counts, state.parameters, path, _LEVEL, work.climb))
            depth = draw_addition(rng, work.climb, _LEVEL)
            move_customer(counts, path, _LEVEL, depth, 1)
            work.came[k] += depth - 1
    return total


@inlined
def _move_paper(counts, row, paper, tables, n_topics, sign):
    """Move all customers of a paper at once; ``tables`` (int64 [topics]) open or close."""
    for k in range(n_topics):
        _move_all(counts, row, k, counts.tables[paper, k], tables[k], sign)


@inlined
def _propose(rng, layout, state, paper, prior, work):
    """Compute log q of all categories and draw one; the paper's customers are removed already."""
    counts, parameters = state.topics, state.parameters
    n_categories = work.size.shape[0]
    new = new_topic_weight(counts, parameters)
    scale = 1.0 / (parameters.topic_concentration[0] + counts.total_customers[0])
    discount = parameters.topic_discount[_LEVEL]
    highest = -np.inf
    for c in range(n_categories):
        n = layout.level_start[_LEVEL] + c
        beta = parameters.topic_concentration[n]
        share = (beta + discount * counts.total_tables[n]) * scale
        value = np.log(work.size[c] + prior / n_categories)
        seated = 0
        for k in range(work.left.shape[0]):
            customers = counts.tables[paper, k]
            if customers > 0:
                pseudo = share * root_weight(counts, parameters, new, k)
                pseudo += counts.customers[n, k] - discount * counts.tables[n, k]
                for j in range(customers):
                    value += np.log((pseudo + j) / (beta + counts.total_customers[n] + seated))
                    seated += 1
        work.proposal[c] = value
        highest = max(highest, value)
    total = 0.0
    for c in range(n_categories):
        total += np.exp(work.proposal[c] - highest)
    target = uniform(rng) * total
    for c in range(n_categories):
        target -= np.exp(work.proposal[c] - highest)
        if target < 0.0:
            return c
    return n_categories - 1


@inlined
def _add_terms(counts, parameters, exponent, level, n, sign):
    """Add or subtract a node's terms of P and M."""
    discount = parameters.topic_discount[level]
    scale = sign / (parameters.topic_concentration[n] + counts.total_customers[n])
    for k in range(exponent.cite_sum.shape[0]):
        own = scale * (counts.customers[n, k] - discount * counts.tables[n, k])
        exponent.cite_sum[k] += exponent.cite_weight[n] * own
        exponent.cited_sum[k] += exponent.cited_weight[n] * own


@inlined
def _share(counts, parameters, level, n):
    """Return the share of a node's posterior mean that comes from its parent."""
    top = parameters.topic_concentration[n]
    beta = top
    top += parameters.topic_discount[level] * counts.total_tables[n]
    return top / (beta + counts.total_customers[n])


@inlined
def _show(counts, parameters, exponent, n, sign):
    """Add or subtract a category's terms of E, including its part of the corpus's weights."""
    _add_terms(counts, parameters, exponent, _LEVEL, n, sign)
    share = sign * _share(counts, parameters, _LEVEL, n)
    exponent.cite_weight[0] += share * exponent.cite_weight[n]
    exponent.cited_weight[0] += share * exponent.cited_weight[n]


@inlined
def _hang(counts, parameters, exponent, paper, old, new):
    """Move a paper's weights to another category."""
    share = _share(counts, parameters, _LEVEL + 1, paper)
    exponent.cite_weight[old] -= share * exponent.cite_weight[paper]
    exponent.cited_weight[old] -= share * exponent.cited_weight[paper]
    exponent.cite_weight[new] += share * exponent.cite_weight[paper]
    exponent.cited_weight[new] += share * exponent.cited_weight[paper]


@inlined
def _keep_weights(exponent, work, place, n):
    """Save the weights of a node."""
    work.kept_weights[place, 0] = exponent.cite_weight[n]
    work.kept_weights[place, 1] = exponent.cited_weight[n]


@inlined
def _take_back(exponent, work, old, new):
    """Restore the sums and weights from before the move."""
    for k in range(exponent.cite_sum.shape[0]):
        exponent.cite_sum[k] = work.kept_sums[0, k]
        exponent.cited_sum[k] = work.kept_sums[1, k]
    for place in range(3):
        n = 0 if place == 0 else (old if place == 1 else new)
        exponent.cite_weight[n] = work.kept_weights[place, 0]
        exponent.cited_weight[n] = work.kept_weights[place, 1]


@inlined
def _begin_rate(counts, parameters, exponent, work, old):
    """Subtract the corpus's and the category's terms from the sums of E; return E before that."""
    for k in range(exponent.cite_sum.shape[0]):
        work.kept_sums[0, k] = exponent.cite_sum[k]
        work.kept_sums[1, k] = exponent.cited_sum[k]
    _keep_weights(exponent, work, 0, 0)
    _keep_weights(exponent, work, 1, old)
    _keep_weights(exponent, work, 2, old)
    before = total_rate(exponent, parameters)
    _add_terms(counts, parameters, exponent, 0, 0, -1.0)
    _show(counts, parameters, exponent, old, -1.0)
    return before


@inlined
def _end_rate(counts, parameters, exponent, paper, old, new):
    """Add the terms after the move to the sums of E; return E."""
    _hang(counts, parameters, exponent, paper, old, new)
    _show(counts, parameters, exponent, old, 1.0)
    if new != old:
        _show(counts, parameters, exponent, new, 1.0)
    _add_terms(counts, parameters, exponent, 0, 0, 1.0)
    return total_rate(exponent, parameters)


@inlined
def _visit(layout, tables, state, paper, prior, work, exponent, networked):
    """Propose another category for the paper at node ``paper``; return the category's node."""
    rng, counts, parameters = state.random, state.topics, state.parameters
    n_topics = work.left.shape[0]
    first = layout.level_start[_LEVEL]
    old = np.int64(layout.parent[paper])
    work.row[0], work.row[_LEVEL] = 0, old
    change = 0.0
    if networked:
        change -= _begin_rate(counts, parameters, exponent, work, old)
    log_old, blocked = _leave(rng, tables, state, paper, work)
    if blocked >= 0:
        _move_paper(counts, work.row, paper, work.left, blocked, 1)
        if networked:
            _take_back(exponent, work, old, old)
        work.tally[1] += 1
        return old
    drawn = _propose(rng, layout, state, paper, prior, work)
    new = first + drawn
    if networked and new != old:
        _keep_weights(exponent, work, 2, new)
        _show(counts, parameters, exponent, new, -1.0)
    work.row[_LEVEL] = new
    ratio = _come(rng, tables, state, paper, work) - log_old
    if networked:
        change += _end_rate(counts, parameters, exponent, paper, old, new)
    share = prior / work.size.shape[0]
    ratio += work.proposal[index(old - first)] - work.proposal[index(drawn)]
    ratio += np.log(work.size[index(drawn)] + share)
    ratio -= np.log(work.size[index(old - first)] + share)
    if uniform(rng) < np.exp(ratio - change):
        work.tally[2] += 1
        return new
    _move_paper(counts, work.row, paper, work.came, n_topics, -1)
    work.row[_LEVEL] = old
    _move_paper(counts, work.row, paper, work.left, n_topics, 1)
    if networked:
        _take_back(exponent, work, old, new)
    return old


@hot_kernel
def category_sweep(layout, tables, state, unlabelled, prior, work, exponent, networked):
    """Visit every paper without a label once; ``prior`` is a, the weight of all categories.

    If ``networked``, P, M and the weights of nodes must match the counts on entry; they are kept up
    to date.
    """
    category = state.assignments.category
    first = layout.level_start[_LEVEL]
    work.tally[:] = 0
    work.size[:] = 0
    for d in range(category.shape[0]):
        work.size[index(category[d])] += 1
    for i in range(unlabelled.shape[0]):
        d = index(unlabelled[i])
        paper = layout.level_start[_LEVEL + 1] + unlabelled[i]
        work.size[index(category[d])] -= 1
        new = _visit(layout, tables, state, paper, prior, work, exponent, networked)
        work.tally[0] += 1
        if new != layout.parent[paper]:
            work.tally[3] += 1
            layout.parent[paper] = new
            category[d] = new - first
        work.size[index(category[d])] += 1
