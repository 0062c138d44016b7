"""The training log likelihood of words, an exact sum; see `citeweave.engines.core.likelihood`."""

import numpy as np

from citeweave.compiled import hot_kernel, index
from citeweave.engines.core.arrays import Layout, Shape, State
from citeweave.engines.core.exact_sums import BINS, add_exact
from citeweave.engines.core.likelihood import Bursts, add_document
from citeweave.engines.core.pieces import Share
from citeweave.engines.threads.workers import WorkerPool

__all__ = ["log_likelihood"]


def log_likelihood(
    workers: WorkerPool, shape: Shape, layout: Layout, state: State, bounds: np.ndarray
) -> np.ndarray:
    """Sum log p(w | z, phi') over the tokens of documents, with phi' at its posterior mean.

    Returns the bins of the sum (`engines.core.exact_sums`).
    """
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
    total = np.zeros((workers.size, BINS), np.int64)
    means = (background, scale, opening)

    def measure(worker: int) -> None:
        share = Share(bounds, worker, workers.size)
        _measure(shape, layout, state, means, share, room, read, total)

    workers.run(measure)
    return np.asarray(total.sum(axis=0))


@hot_kernel
def _measure(shape, layout, state, means, share, room, read, total):
    """Sum over the tokens of a worker's pieces of documents.

    ``means`` holds gamma by word, and 1 / (beta + C) and beta + alpha T of phi by topic.
    """
    words = state.words
    z = state.assignments.topic
    background, scale, opening = means
    word_discount = state.parameters.word_discount[1]
    bounds, first, step = share
    bursts = Bursts(room[first, 0], room[first, 1], room[first, 2])
    mean = read[first]
    for c in range(first, bounds.shape[0] - 1, step):
        for d in range(bounds[c], bounds[c + 1]):
            begin = layout.document_start[d]
            # separate from the arithmetic, so that many reads are in flight at once
            for i in range(begin, layout.document_start[d + 1]):
                w, k = index(layout.word[i]), index(z[i])
                own = words.customers[w, k] - word_discount * words.tables[w, k]
                mean[index(i - begin)] = (own + opening[k] * background[w]) * scale[k]
            found, product = add_document(shape, layout, state, d, mean, bursts, 0.0, 1.0)
            add_exact(total[first], found + np.log(product))
