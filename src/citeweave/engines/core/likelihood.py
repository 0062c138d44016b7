"""Posterior means of the word side and the training log likelihood of words."""

import numpy as np

from citeweave.compiled import kernel

__all__ = ["topic_word_means", "word_log_likelihood"]


@kernel
def topic_word_means(shape, state, background, means):
    """Fill gamma (``background``) and phi (``means`` [words, topics]) by eq:recover_vector."""
    words = state.words
    parameters = state.parameters
    n_words, n_topics = words.customers.shape
    base = 1.0 / n_words
    for v in range(n_words):
        background[v] = base
    if len(shape.background) > 0:
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


@kernel
def word_log_likelihood(shape, layout, state, means):
    """Sum over tokens of log p(w | z, phi'), phi' by its posterior mean (subsec:convergence)."""
    z = state.assignments.topic
    bits = state.assignments.burst_table
    beta = state.parameters.word_concentration[1]
    discount = state.parameters.word_discount[2]
    n_topics = means.shape[1]
    customers = np.zeros(n_topics, np.int64)
    tables = np.zeros(n_topics, np.int64)
    own = np.zeros(n_topics)
    total = 0.0
    product = 1.0
    for d in range(layout.document_start.shape[0] - 1):
        begin = layout.document_start[d]
        end = layout.document_start[d + 1]
        if len(shape.burst) > 0:
            for i in range(begin, end):
                customers[z[i]] += 1
                tables[z[i]] += bits[i]
        run_begin = begin
        while run_begin < end:
            w = layout.word[run_begin]
            run_end = run_begin + 1
            while run_end < end and layout.word[run_end] == w:
                run_end += 1
            if len(shape.burst) > 0:
                for i in range(run_begin, run_end):
                    own[z[i]] = 0.0
                for i in range(run_begin, run_end):
                    own[z[i]] += 1.0 - discount * bits[i]
            for i in range(run_begin, run_end):
                k = z[i]
                mean = means[w, k]
                if len(shape.burst) > 0:
                    mean = (beta + discount * tables[k]) * mean + own[k]
                    mean /= beta + customers[k]
                product *= mean
                if product < 1e-200:  # one logarithm serves many tokens
                    total += np.log(product)
                    product = 1.0
            run_begin = run_end
        if len(shape.burst) > 0:
            for i in range(begin, end):
                customers[z[i]] = 0
                tables[z[i]] = 0
    return total + np.log(product)
