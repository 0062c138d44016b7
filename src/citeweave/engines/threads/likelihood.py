"""The training log likelihood of words, piece by piece; see `citeweave.engines.core.likelihood`."""

import numpy as np

from citeweave.compiled import hot_kernel, index
from citeweave.engines.core.arrays import Layout, Shape, State
from citeweave.engines.threads.workers import WorkerPool

__all__ = ["log_likelihood"]


def log_likelihood(
    workers: WorkerPool, shape: Shape, layout: Layout, state: State, bounds: np.ndarray
) -> float:
    """Sum log p(w | z, phi') over all tokens, phi' by its posterior mean."""
    words, parameters = state.words, state.parameters
    n_words, n_topics = words.customers.shape
    background = np.full(n_words, 1.0 / n_words)
    if shape.background:
        beta, discount = parameters.word_concentration[0], parameters.word_discount[0]
        background *= beta + discount * words.background_totals[1]
        background += words.background_customers - discount * words.background_tables
        background /= beta + words.background_totals[0]
    beta = parameters.topic_word_concentration
    scale = 1.0 / (beta + words.total_customers)
    opening = beta + parameters.word_discount[1] * words.total_tables
    room = np.zeros((workers.size, 3, n_topics))
    longest = int(np.diff(layout.document_start).max(initial=1))
    read = np.zeros((workers.size, longest))
    total = np.zeros(len(bounds) - 1)

    def measure(worker: int) -> None:
        _measure(
            shape,
            layout,
            state,
            background,
            scale,
            opening,
            bounds,
            room,
            read,
            total,
            worker,
            workers.size,
        )

    workers.run(measure)
    return float(total.sum())


@hot_kernel
def _measure(
    shape, layout, state, background, scale, opening, bounds, room, read, total, first, step
):
    """Sum over the tokens of pieces ``first``, ``first + step``, ... of documents."""
    words = state.words
    z = state.assignments.topic
    bits = state.assignments.burst_table
    beta = state.parameters.word_concentration[1]
    discount = state.parameters.word_discount[2]
    word_discount = state.parameters.word_discount[1]
    customers, tables, own = room[first, 0], room[first, 1], room[first, 2]
    for c in range(first, bounds.shape[0] - 1, step):
        found = 0.0
        product = 1.0
        for d in range(bounds[c], bounds[c + 1]):
            begin = layout.document_start[d]
            end = layout.document_start[d + 1]
            # apart from the arithmetic, so that many reads are under way at a time
            for i in range(begin, end):
                w, k = index(layout.word[i]), index(z[i])
                read[index(first), index(i - begin)] = (
                    words.customers[w, k] - word_discount * words.tables[w, k]
                )
            if len(shape.burst) > 0:
                for i in range(begin, end):
                    customers[index(z[i])] += 1
                    tables[index(z[i])] += bits[i]
            run_begin = begin
            while run_begin < end:
                w = index(layout.word[run_begin])
                run_end = run_begin + 1
                while run_end < end and layout.word[run_end] == layout.word[run_begin]:
                    run_end += 1
                if len(shape.burst) > 0:
                    for i in range(run_begin, run_end):
                        own[index(z[i])] = 0.0
                    for i in range(run_begin, run_end):
                        own[index(z[i])] += 1.0 - discount * bits[i]
                for i in range(run_begin, run_end):
                    k = index(z[i])
                    mean = read[index(first), index(i - begin)]
                    mean = (mean + opening[k] * background[w]) * scale[k]
                    if len(shape.burst) > 0:
                        mean = (beta + discount * tables[k]) * mean + own[k]
                        mean /= beta + customers[k]
                    product *= mean
                    if product < 1e-200:  # one logarithm serves many tokens
                        found += np.log(product)
                        product = 1.0
                run_begin = run_end
            if len(shape.burst) > 0:
                for i in range(begin, end):
                    customers[index(z[i])] = 0
                    tables[index(z[i])] = 0
        total[c] = found + np.log(product)
