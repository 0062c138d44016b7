"""Single random numbers on the host, from a chain's generator, in plain Python.

They are those of `engines/core/random.py`, whose compiled form takes longer to make than a run on a
GPU needs all its numbers of this kind.
"""

import math

import numpy as np

from citeweave.engines.core.random import advance
from citeweave.engines.threads.streams import next_key

__all__ = ["peek_uniforms", "standard_gamma", "uniform"]


def uniform(random: np.ndarray) -> float:
    """Draw from the uniform distribution on [0, 1)."""
    return (int(next_key(random)) >> 11) * 2.0**-53


def peek_uniforms(random: np.ndarray, count: int) -> list[float]:
    """Return the next numbers of `uniform`, and leave the generator where it is."""
    state = random.tolist()
    return [(advance(state) >> 11) * 2.0**-53 for _ in range(count)]


def _standard_normal(random: np.ndarray) -> float:
    while True:
        x = 2.0 * uniform(random) - 1.0
        y = 2.0 * uniform(random) - 1.0
        s = x * x + y * y
        if 0.0 < s < 1.0:
            return x * math.sqrt(-2.0 * math.log(s) / s)


def _gamma_above_one(random: np.ndarray, shape: float) -> float:
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = _standard_normal(random)
        v = 1.0 + c * x
        if v <= 0.0:
            continue
        v = v * v * v
        u = 1.0 - uniform(random)
        if math.log(u) < 0.5 * x * x + d - d * v + d * math.log(v):
            return d * v


def standard_gamma(random: np.ndarray, shape: float) -> float:
    """Draw from Gamma(shape, 1) for any shape > 0."""
    if shape >= 1.0:
        return _gamma_above_one(random, shape)
    u = 1.0 - uniform(random)
    return _gamma_above_one(random, shape + 1.0) * float(u ** (1.0 / shape))
