"""Slice draws of a concentration under a Gamma density times a further one (Neal 2003)."""

import numpy as np

from citeweave.compiled import inlined
from citeweave.engines.core.random import uniform

__all__ = ["MOST_STEPS", "SLICE_WIDTH", "SMALLEST", "slice_draw"]

MOST_STEPS = 16
"""Steps out on both sides together, shared out between them by chance: so the same interval is as
likely from any point of it, and the draw stays exact where the limit binds (Neal 2003)."""
SMALLEST = 1e-8
"""Least concentration: smaller ones are as good as zero. Logarithms stay finite, and so does the
inverse of a node without customers in single precision, in which sweeps weigh."""
SLICE_WIDTH = 8.0
"""Width of a slice's first interval, in standard deviations without citations. Wide: the
concentrations of a young chain have far to go, and points cost less than iterations."""


@inlined
def slice_draw(rng, log_density, given, start, shape, rate):
    """Draw from Gamma(shape, rate) times a further density, stepping out and shrinking.

    ``log_density(given, beta, shape, rate)`` is the logarithm of both together at ``beta``, up to a
    constant; ``start`` is the present value.
    """
    height = log_density(given, start, shape, rate) + np.log(1.0 - uniform(rng))
    width = SLICE_WIDTH * np.sqrt(shape) / rate
    low = start - width * uniform(rng)
    high = low + width
    steps_down = int(uniform(rng) * MOST_STEPS)
    for _ in range(steps_down):
        if low <= SMALLEST or log_density(given, low, shape, rate) < height:
            break
        low -= width
    for _ in range(MOST_STEPS - 1 - steps_down):
        if log_density(given, high, shape, rate) < height:
            break
        high += width
    low = max(low, SMALLEST)
    while True:
        beta = low + uniform(rng) * (high - low)
        if beta == start or log_density(given, beta, shape, rate) >= height:
            return beta
        if beta < start:
            low = beta
        else:
            high = beta
