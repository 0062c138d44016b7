"""Slice sampling of a concentration under a Gamma density times another density (Neal 2003)."""

import numpy as np

from citeweave.compiled import inlined
from citeweave.engines.core.random import uniform

__all__ = ["MOST_STEPS", "SLICE_WIDTH", "SMALLEST", "slice_draw"]

MOST_STEPS = 16
"""Maximum number of steps out, randomly divided between the two sides: an interval is then equally
likely from each of its points, and the draw remains exact if the limit is reached (Neal 2003)."""
SMALLEST = 1e-8
"""Smallest concentration; lower values are practically zero. It keeps logarithms finite, and also
the inverse for a node without customers in single precision, in which sweeps compute weights."""
SLICE_WIDTH = 8.0
"""Width of a slice's initial interval, in standard deviations without citations. It is wide because
the concentrations of a new chain have far to move, and evaluations cost less than iterations."""


@inlined
def slice_draw(rng, log_density, given, start, shape, rate):
    """Draw from Gamma(shape, rate) times another density, by stepping out and shrinkage.

    ``log_density(given, beta, shape, rate)`` is the logarithm of the product of both at ``beta``,
    up to a constant; ``start`` is the current value.
    """
    if not np.isfinite(rate):  # an interval of no width or of none at all; reported elsewhere
        return start
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
