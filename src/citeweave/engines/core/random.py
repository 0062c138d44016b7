"""Random numbers inside kernels: xoshiro256++ on a ``uint64`` array that the chain owns.

The state is an argument, so a checkpoint stores it and the same seed gives the same bytes.
"""

import math

import numpy as np

from citeweave.compiled import hot_kernel, inlined, numba_config

__all__ = [
    "advance",
    "log_beta_complement",
    "new_generator",
    "standard_gamma",
    "standard_normal",
    "uniform",
]

_TO_UNIT = 2.0**-53
_MASK = (1 << 64) - 1


def new_generator(seed: int, stream: int = 0) -> np.ndarray:
    """Make a random state for one chain from a seed and the chain's number.

    Returns
    -------
    ndarray of uint64, shape (4,)
    """
    return np.random.SeedSequence(entropy=seed, spawn_key=(stream,)).generate_state(4, np.uint64)


def advance(state: list[int]) -> int:
    """Advance a generator's state, four integers, by one draw; return the 64 bits drawn."""
    s0, s1, s2, s3 = state
    total = (s0 + s3) & _MASK
    result = (((total << 23) & _MASK | (total >> 41)) + s0) & _MASK
    shifted = (s1 << 17) & _MASK
    s2 ^= s0
    s3 ^= s1
    s1 ^= s2
    s0 ^= s3
    s2 ^= shifted
    state[:] = [s0, s1, s2, ((s3 << 45) & _MASK) | (s3 >> 19)]
    return result


if numba_config.DISABLE_JIT:

    def _advance(rng):
        """Do the same with Python integers: NumPy scalars warn when uint64 overflows."""
        state = [int(x) for x in rng]
        result = advance(state)
        rng[0], rng[1], rng[2], rng[3] = state
        return result >> 11

else:

    @inlined
    def _advance(rng):
        """Step xoshiro256++ and return 53 random bits."""
        s0, s1, s2, s3 = rng[0], rng[1], rng[2], rng[3]
        total = s0 + s3
        result = ((total << np.uint64(23)) | (total >> np.uint64(41))) + s0
        shifted = s1 << np.uint64(17)
        s2 ^= s0
        s3 ^= s1
        s1 ^= s2
        s0 ^= s3
        s2 ^= shifted
        s3 = (s3 << np.uint64(45)) | (s3 >> np.uint64(19))
        rng[0] = s0
        rng[1] = s1
        rng[2] = s2
        rng[3] = s3
        return result >> np.uint64(11)


@hot_kernel(forceinline=True)
def uniform(rng):
    """Draw from the uniform distribution on [0, 1)."""
    return np.float64(_advance(rng)) * _TO_UNIT


@hot_kernel
def standard_normal(rng):
    """Draw from the standard normal distribution (polar method)."""
    while True:
        x = 2.0 * uniform(rng) - 1.0
        y = 2.0 * uniform(rng) - 1.0
        s = x * x + y * y
        if 0.0 < s < 1.0:
            return x * math.sqrt(-2.0 * math.log(s) / s)


@hot_kernel
def _gamma_above_one(rng, shape):
    """Draw from Gamma(shape, 1) for shape >= 1 (Marsaglia and Tsang's squeeze)."""
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = standard_normal(rng)
        v = 1.0 + c * x
        if v <= 0.0:
            continue
        v = v * v * v
        u = 1.0 - uniform(rng)
        if math.log(u) < 0.5 * x * x + d - d * v + d * math.log(v):
            return d * v


@hot_kernel
def standard_gamma(rng, shape):
    """Draw from Gamma(shape, 1) for any shape > 0."""
    if shape >= 1.0:
        return _gamma_above_one(rng, shape)
    u = 1.0 - uniform(rng)
    return _gamma_above_one(rng, shape + 1.0) * u ** (1.0 / shape)


@hot_kernel
def log_beta_complement(rng, customers, concentration):
    """Draw log(1 - xi) with xi ~ Beta(customers, concentration).

    Computed in logarithms throughout, since 1 - xi underflows if the concentration is small.
    """
    log_small = math.log(_gamma_above_one(rng, concentration + 1.0))
    log_small += math.log(1.0 - uniform(rng)) / concentration
    log_large = math.log(_gamma_above_one(rng, customers)) if customers >= 1 else -math.inf
    top = max(log_small, log_large)
    return log_small - (top + math.log(math.exp(log_small - top) + math.exp(log_large - top)))
