"""Random numbers inside kernels: xoshiro256+ on an explicit state of four uint64."""

import math

import numpy as np

from citeweave.compiled import kernel

__all__ = ["beta", "find", "gamma", "new_state", "uniform"]

_S11, _S17, _S19, _S45 = np.uint64(11), np.uint64(17), np.uint64(19), np.uint64(45)
_SCALE = 2.0**-53


def new_state(sequence: np.random.SeedSequence) -> np.ndarray:
    """Return a random state; children of one seed give independent streams."""
    return sequence.generate_state(4, np.uint64)


@kernel
def uniform(state: np.ndarray) -> float:
    """Draw from [0, 1) with 53 bits, and advance the state."""
    total = state[0] + state[3]  # wraps around on purpose
    shifted = state[1] << _S17
    state[2] ^= state[0]
    state[3] ^= state[1]
    state[1] ^= state[2]
    state[0] ^= state[3]
    state[2] ^= shifted
    state[3] = (state[3] << _S45) | (state[3] >> _S19)
    return float(total >> _S11) * _SCALE


@kernel
def gamma(shape: float, state: np.ndarray) -> float:
    """Draw from Gamma(shape, 1) by the squeeze of Marsaglia and Tsang (2000)."""
    boost = 1.0
    if shape < 1.0:
        boost = (1.0 - uniform(state)) ** (1.0 / shape)
        shape += 1.0
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        # a normal by the polar method
        x = 2.0 * uniform(state) - 1.0
        y = 2.0 * uniform(state) - 1.0
        square = x * x + y * y
        if square >= 1.0 or square == 0.0:
            continue
        normal = x * math.sqrt(-2.0 * math.log(square) / square)
        v = 1.0 + c * normal
        if v <= 0.0:
            continue
        v = v * v * v
        u = 1.0 - uniform(state)
        if math.log(u) < 0.5 * normal * normal + d - d * v + d * math.log(v):
            return float(boost * d * v)


@kernel
def beta(a: float, b: float, state: np.ndarray) -> float:
    """Draw from Beta(a, b)."""
    if a == 1.0:
        return float(1.0 - (1.0 - uniform(state)) ** (1.0 / b))
    x = gamma(a, state)
    y = gamma(b, state)
    return float(x / (x + y))


@kernel
def find(cumulative: np.ndarray, value: float) -> int:
    """Return the first index whose running sum exceeds a value, at most the last.

    Equals `min(np.searchsorted(cumulative, value, side="right"), len(cumulative) - 1)`.
    """
    low = 0
    high = len(cumulative) - 1
    while low < high:
        middle = (low + high) // 2
        if cumulative[middle] > value:
            high = middle
        else:
            low = middle + 1
    return low
