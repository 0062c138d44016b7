"""Concentrations by the auxiliary-variable sampler (subsec:hyperparameter_sampling).

For each node xi ~ Beta(C, beta) and psi_j ~ Bernoulli(beta / (beta + j alpha)), j < T; then
beta ~ Gamma(tau_0 + sum psi, tau_1 - sum log(1 - xi)), the sums over all nodes that share the
concentration. On the levels that affect citations, theta' and above, the exponential of the
citation likelihood depends on beta too: there, beta is slice-sampled from the Gamma density times
the exponential, given the same auxiliaries.
"""

from typing import NamedTuple

import numpy as np

from citeweave.compiled import hot_kernel, inlined, kernel
from citeweave.engines.core.arrays import Layout, Parameters, TopicCounts
from citeweave.engines.core.exponent import (
    Exponent,
    commit_change,
    concentration_change,
    rebuild_exponent,
    total_rate,
)
from citeweave.engines.core.random import log_beta_complement, standard_gamma, uniform
from citeweave.engines.core.slice_sampling import SMALLEST, slice_draw

__all__ = ["draw_successes", "draw_topic_concentrations", "draw_word_concentrations"]


class _Shared(NamedTuple):
    """Nodes that share a concentration on which citations depend."""

    layout: Layout
    counts: TopicCounts
    parameters: Parameters
    exponent: Exponent
    level: int
    citation_level: int
    begin: int
    """First node."""
    end: int
    """The node after the last."""


@inlined
def draw_successes(rng, n_tables, discount, beta):
    """Draw the sum of psi of one node."""
    successes = 0.0
    for j in range(n_tables):
        if uniform(rng) * (beta + j * discount) < beta:
            successes += 1.0
    return successes


@kernel(forceinline=True)
def _auxiliaries(rng, customers, n_tables, discount, beta):
    """Draw one node's sum of psi and its log(1 - xi)."""
    successes = draw_successes(rng, n_tables, discount, beta)
    return successes, log_beta_complement(rng, customers, beta)


@kernel(forceinline=True)
def _posterior_draw(rng, prior, successes, log_sum):
    """Draw from Gamma(prior[0] + successes, prior[1] - log_sum), bounded away from zero.

    Under a vague prior, a node without customers would draw values with infinite inverses.
    """
    return max(standard_gamma(rng, prior[0] + successes) / (prior[1] - log_sum), SMALLEST)


@kernel
def _gather(rng, counts, discount, beta, begin, end):
    """Draw the auxiliaries of the nodes ``begin`` to ``end`` - 1, which share a concentration."""
    successes = 0.0
    log_sum = 0.0
    for n in range(begin, end):
        if counts.total_customers[n] > 0:
            won, log_share = _auxiliaries(
                rng, counts.total_customers[n], counts.total_tables[n], discount, beta
            )
            successes += won
            log_sum += log_share
    return successes, log_sum


@hot_kernel
def _set_and_weigh(shared, beta, shape, rate):
    """Set a concentration and return its log density, the exponential of citations included."""
    layout, counts, parameters, exponent, level, citation_level, begin, end = shared
    before = parameters.topic_concentration[begin]
    parameters.topic_concentration[begin:end] = beta
    if end - begin == 1:
        concentration_change(layout, counts, parameters, exponent, level, begin, before)
        commit_change(exponent)
    else:
        rebuild_exponent(layout, counts, parameters, citation_level, exponent)
    return (shape - 1.0) * np.log(beta) - rate * beta - total_rate(exponent, parameters)


@hot_kernel
def _draw_shared(rng, shared, shape, rate):
    """Draw a concentration from Gamma(shape, rate) x exp(-E(beta)), and set it."""
    start = shared.parameters.topic_concentration[shared.begin]
    beta = slice_draw(rng, _set_and_weigh, shared, start, shape, rate)
    _set_and_weigh(shared, beta, shape, rate)


@kernel
def draw_topic_concentrations(
    layout, state, prior, pooled, citation_level, exponent, first_level, last_level
):
    """Update the concentrations of topic-side levels ``first_level`` to ``last_level`` - 1.

    ``pooled`` (uint8 [levels]) marks levels that share one; ``citation_level`` is -1 while
    citations are not used.
    """
    counts = state.topics
    parameters = state.parameters
    rng = state.random
    for level in range(first_level, last_level):
        begin = layout.level_start[level]
        end = layout.level_start[level + 1]
        step = end - begin if pooled[level] else 1
        for n in range(begin, end, step):
            successes, log_sum = _gather(
                rng,
                counts,
                parameters.topic_discount[level],
                parameters.topic_concentration[n],
                n,
                n + step,
            )
            if level > citation_level:
                parameters.topic_concentration[n : n + step] = _posterior_draw(
                    rng, prior, successes, log_sum
                )
            else:
                shared = _Shared(
                    layout, counts, parameters, exponent, level, citation_level, n, n + step
                )
                _draw_shared(rng, shared, prior[0] + successes, prior[1] - log_sum)


@kernel
def draw_word_concentrations(shape, layout, state, prior, pooled):
    """Update the word side's concentrations: gamma, phi (pooled or one per topic) and phi'."""
    words = state.words
    parameters = state.parameters
    rng = state.random
    n_topics = words.total_customers.shape[0]
    if shape.background > 0 and words.background_totals[0] > 0:
        successes, log_sum = _auxiliaries(
            rng,
            words.background_totals[0],
            words.background_totals[1],
            parameters.word_discount[0],
            parameters.word_concentration[0],
        )
        parameters.word_concentration[0] = _posterior_draw(rng, prior, successes, log_sum)
    successes = 0.0
    log_sum = 0.0
    for k in range(n_topics):
        beta = parameters.topic_word_concentration[k]
        if words.total_customers[k] > 0:
            won, log_share = _auxiliaries(
                rng,
                words.total_customers[k],
                words.total_tables[k],
                parameters.word_discount[1],
                beta,
            )
            successes += won
            log_sum += log_share
        if not pooled:
            parameters.topic_word_concentration[k] = _posterior_draw(rng, prior, successes, log_sum)
            successes = 0.0
            log_sum = 0.0
    if pooled:
        parameters.topic_word_concentration[:] = _posterior_draw(rng, prior, successes, log_sum)
    if shape.burst > 0:
        _draw_burst_concentration(layout, state, prior)


@kernel
def _draw_burst_concentration(layout, state, prior):
    """Update the one concentration of all phi'_dk, whose counts live in the assignments."""
    parameters = state.parameters
    rng = state.random
    z = state.assignments.topic
    bits = state.assignments.burst_table
    n_topics = state.words.total_customers.shape[0]
    customers = np.zeros(n_topics, np.int64)
    tables = np.zeros(n_topics, np.int64)
    beta = parameters.word_concentration[1]
    discount = parameters.word_discount[2]
    successes = 0.0
    log_sum = 0.0
    for d in range(layout.document_start.shape[0] - 1):
        begin = layout.document_start[d]
        end = layout.document_start[d + 1]
        for i in range(begin, end):
            customers[z[i]] += 1
            tables[z[i]] += bits[i]
        for i in range(begin, end):
            k = z[i]
            if customers[k] > 0:
                won, log_share = _auxiliaries(rng, customers[k], tables[k], discount, beta)
                successes += won
                log_sum += log_share
                customers[k] = 0
                tables[k] = 0
    parameters.word_concentration[1] = _posterior_draw(rng, prior, successes, log_sum)
