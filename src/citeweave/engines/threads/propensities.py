"""Draws of lambda+ and lambda-, with one random stream per document, and of lambdaT."""

import numpy as np

from citeweave.compiled import hot_kernel
from citeweave.engines.core.pieces import Share
from citeweave.engines.core.random import standard_gamma
from citeweave.engines.threads.exponents import Network, Nodes, rate_nodes
from citeweave.engines.threads.streams import open_stream
from citeweave.engines.threads.workers import WorkerPool

__all__ = ["draw_at_rates", "draw_documents", "draw_scales"]


@hot_kernel
def draw_at_rates(rate, prior, degree, values, number, key, randoms, share):
    """Draw the propensities of the documents in some pieces from their Gamma conditionals.

    ``number`` holds the number of each document in the whole corpus.
    """
    bounds, first, step = share
    rng = randoms[first]
    for c in range(first, bounds.shape[0] - 1, step):
        for n in range(bounds[c], bounds[c + 1]):
            d = n - bounds[0]
            open_stream(key, 0, number[d], rng)
            values[d] = standard_gamma(rng, prior[0] + degree[d]) / (prior[1] + rate[n])


def draw_documents(
    workers: WorkerPool,
    nodes: Nodes,
    network: Network,
    discounts: np.ndarray,
    slope: np.ndarray,
    prior: np.ndarray,
    degree: np.ndarray,
    values: np.ndarray,
    number: np.ndarray,
    key: np.uint64,
) -> None:
    """Draw one propensity per document, given lambdaT times the other side's sums (``slope``)."""
    last = len(network.bounds) - 1
    randoms = np.zeros((workers.size, 4), np.uint64)
    for level in range(last):
        _share(workers, nodes, network, discounts, slope, level)
    bounds = network.bounds[last]

    def draw(worker: int) -> None:
        share = Share(bounds, worker, workers.size)
        rate_nodes(nodes, discounts[last], network.rate, slope, share)
        draw_at_rates(network.rate, prior, degree, values, number, key, randoms, share)

    workers.run(draw)


def _share(
    workers: WorkerPool,
    nodes: Nodes,
    network: Network,
    discounts: np.ndarray,
    slope: np.ndarray,
    level: int,
) -> None:
    """Set the rates of one level above documents."""
    bounds = network.held[level]
    if level == 0:
        rate_nodes(nodes, discounts[0], network.rate, slope, Share(bounds, 0, 1))
        return
    workers.run(
        lambda worker: rate_nodes(
            nodes, discounts[level], network.rate, slope, Share(bounds, worker, workers.size)
        )
    )


@hot_kernel
def draw_scales(rng, prior, citations, rate, scale):
    """Draw every lambdaT from its Gamma conditional; ``rate`` is P times M."""
    for k in range(scale.shape[0]):
        scale[k] = standard_gamma(rng, prior[0] + citations[k]) / (prior[1] + rate[k])
