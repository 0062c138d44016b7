"""Posterior means of the word side and the training log likelihood of words."""

from typing import NamedTuple

import numpy as np

from citeweave.compiled import index, inlined, kernel
from citeweave.engines.core.word_climb import next_run

__all__ = ["Bursts", "add_document", "topic_word_means", "word_log_likelihood"]


@kernel
def topic_word_means(shape, state, background, means):
    """Fill gamma (``background``) and phi (``means`` [words, topics]) by eq:recover_vector."""
    words = state.words
    parameters = state.parameters
    n_words, n_topics = words.customers.shape
    base = 1.0 / n_words
    for v in range(n_words):
        background[v] = base
    if shape.background > 0:
        beta = parameters.word_concentration[0]
        discount = parameters.word_discount[0]
        scale = 1.0 / (beta + words.background_totals[0])
        share = (beta + discount * words.background_totals[1]) * base
        for v in range(n_words):
            own = words.background_customers[v] - discount * words.background_tables[v]
            background[v] = (share + own) * scale
    discount = parameters.word_discount[1]
    scales = np.empty(n_topics)
    shares = np.empty(n_topics)
    for k in range(n_topics):
        beta = parameters.topic_word_concentration[k]
        scales[k] = 1.0 / (beta + words.total_customers[k])
        shares[k] = beta + discount * words.total_tables[k]
    for v in range(n_words):
        for k in range(n_topics):
            own = words.customers[v, k] - discount * words.tables[v, k]
            means[v, k] = (shares[k] * background[v] + own) * scales[k]


class Bursts(NamedTuple):
    """Counts of phi'_dk of the current document, by topic; zero between documents."""

    customers: np.ndarray
    tables: np.ndarray
    own: np.ndarray
    """float64 [topics]: c - alpha t at the current word."""


@inlined
def add_document(shape, layout, state, d, means, bursts, total, product):
    """Add log p(w | z, phi') of a document's tokens; ``means`` has phi at each of them.

    One logarithm is taken for many tokens: ``product`` holds the factors whose logarithm is not yet
    in ``total``. Returns both.
    """
    z = state.assignments.topic
    bits = state.assignments.burst_table
    beta = state.parameters.word_concentration[1]
    discount = state.parameters.word_discount[2]
    customers, tables, own = bursts
    begin = layout.document_start[d]
    end = layout.document_start[d + 1]
    if shape.burst > 0:
        for i in range(begin, end):
            customers[index(z[i])] += 1
            tables[index(z[i])] += bits[i]
    run_begin = begin
    while run_begin < end:
        run = next_run(layout.word, run_begin, end)
        if shape.burst > 0:
            for i in range(run.begin, run.end):
                own[index(z[i])] = 0.0
            for i in range(run.begin, run.end):
                own[index(z[i])] += 1.0 - discount * bits[i]
        for i in range(run.begin, run.end):
            k = index(z[i])
            mean = means[index(i - begin)]
            if shape.burst > 0:
                mean = (beta + discount * tables[k]) * mean + own[k]
                mean /= beta + customers[k]
            product *= mean
            if product < 1e-200:
                total += np.log(product)
                product = 1.0
        run_begin = run.end
    if shape.burst > 0:
        for i in range(begin, end):
            customers[index(z[i])] = 0
            tables[index(z[i])] = 0
    return total, product


@kernel
def word_log_likelihood(shape, layout, state, means):
    """Sum log p(w | z, phi') over tokens, with the posterior mean of phi' (subsec:convergence)."""
    z = state.assignments.topic
    n_topics = means.shape[1]
    bursts = Bursts(np.zeros(n_topics, np.int64), np.zeros(n_topics, np.int64), np.zeros(n_topics))
    longest = 1
    for d in range(layout.document_start.shape[0] - 1):
        longest = max(longest, layout.document_start[d + 1] - layout.document_start[d])
    read = np.zeros(longest)
    total = 0.0
    product = 1.0
    for d in range(layout.document_start.shape[0] - 1):
        begin = layout.document_start[d]
        for i in range(begin, layout.document_start[d + 1]):
            read[i - begin] = means[layout.word[i], z[i]]
        total, product = add_document(shape, layout, state, d, read, bursts, total, product)
    return total + np.log(product)
