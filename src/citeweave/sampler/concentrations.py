"""Concentrations by the auxiliary-variable sampler (subsec:hyperparameter_sampling).

For each node xi ~ Beta(C, beta) and psi_j ~ Bernoulli(beta / (beta + j alpha)), j = 0 ... T - 1; then
beta ~ Gamma(tau_0 + sum psi, tau_1 - sum log(1 - xi)), the sums over all nodes that share the
concentration. On the levels that citations lean on, the draw is a proposal: it is reversible
with respect to the posterior without the exponential, so Metropolis-Hastings accepts it
with the ratio of the exponentials alone.
"""

import numpy as np

from citeweave.sampler._compile import kernel
from citeweave.sampler.exponent import (
    commit_change,
    concentration_change,
    rebuild_exponent,
    total_rate,
)
from citeweave.sampler.random import log_beta_complement, standard_gamma, uniform

__all__ = ["draw_topic_concentrations", "draw_word_concentrations"]


@kernel(forceinline=True)
def _auxiliaries(rng, customers, n_tables, discount, beta):
    """Draw one node's sum of psi and its log(1 - xi)."""
    successes = 0.0
    for j in range(n_tables):
        if uniform(rng) * (beta + j * discount) < beta:
            successes += 1.0
    return successes, log_beta_complement(rng, customers, beta)


@kernel(forceinline=True)
def _posterior_draw(rng, prior, successes, log_sum):
    return standard_gamma(rng, prior[0] + successes) / (prior[1] - log_sum)


@kernel
def _propose(rng, counts, discount, beta, prior, begin, end):
    """Draw a concentration shared by the nodes ``begin`` to ``end`` - 1."""
    successes = 0.0
    log_sum = 0.0
    for n in range(begin, end):
        if counts.total_customers[n] > 0:
            won, log_share = _auxiliaries(
                rng, counts.total_customers[n], counts.total_tables[n], discount, beta
            )
            successes += won
            log_sum += log_share
    return _posterior_draw(rng, prior, successes, log_sum)


@kernel
def draw_topic_concentrations(layout, state, prior, pooled, citation_level, exponent, tally):
    """Renew the topic side's concentrations, root level first.

    ``pooled`` (uint8 [levels]) says which levels share one; ``citation_level`` is -1 while no
    citation counts. ``tally`` (int64 [2]) counts corrected proposals and the accepted ones.
    """
    counts = state.topics
    parameters = state.parameters
    rng = state.random
    for level in range(layout.level_start.shape[0] - 1):
        discount = parameters.topic_discount[level]
        begin = layout.level_start[level]
        end = layout.level_start[level + 1]
        step = end - begin if pooled[level] else 1
        corrected = level <= citation_level
        for n in range(begin, end, step):
            before = parameters.topic_concentration[n]
            after = _propose(rng, counts, discount, before, prior, n, n + step)
            if not corrected:
                parameters.topic_concentration[n : n + step] = after
                continue
            tally[0] += 1
            rate = total_rate(exponent, parameters)
            parameters.topic_concentration[n : n + step] = after
            if step == 1:
                change = concentration_change(
                    layout, counts, parameters, exponent, level, n, before
                )
            else:
                rebuild_exponent(layout, counts, parameters, citation_level, exponent)
                change = total_rate(exponent, parameters) - rate
            if change <= 0.0 or uniform(rng) < np.exp(-change):
                tally[1] += 1
                if step == 1:
                    commit_change(exponent)
            else:
                parameters.topic_concentration[n : n + step] = before
                if step > 1:
                    rebuild_exponent(layout, counts, parameters, citation_level, exponent)


@kernel
def draw_word_concentrations(shape, layout, state, prior, pooled):
    """Renew the word side's concentrations: gamma, phi (pooled or one a topic) and phi'."""
    words = state.words
    parameters = state.parameters
    rng = state.random
    n_topics = words.total_customers.shape[0]
    if len(shape.background) > 0 and words.background_totals[0] > 0:
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
            parameters.topic_word_concentration[k] = _posterior_draw(
                rng, prior, successes, log_sum
            )
            successes = 0.0
            log_sum = 0.0
    if pooled:
        parameters.topic_word_concentration[:] = _posterior_draw(rng, prior, successes, log_sum)
    if len(shape.burst) > 0:
        _draw_burst_concentration(layout, state, prior)


@kernel
def _draw_burst_concentration(layout, state, prior):
    """Renew the one concentration of all phi'_dk, whose counts live in the assignments."""
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
