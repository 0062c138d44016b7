"""Sums of floating-point numbers whose bits do not depend on the order of their terms.

Snapshot sweeps are divided between threads and computers, and the result must not depend on how.
Integer sums are the same in any order, so every sum over documents or nodes is a sum of integers:

- A sum of a few numbers per node, of any size, is kept in *bins* of 32 bits, as in the small
  superaccumulator of Neal (2015). It is exact, and `bin_total` rounds it once: the result is that
  of `math.fsum`.
- A sum of a number per node and topic, whose total is bounded beforehand, is kept in one integer of
  64 bits per topic, in whole multiples of 1 / unit (`unit_for`). Each term is cut by less than
  1 / unit, which is a 2^-60th of the bound.
"""

import math

import numpy as np

from citeweave.compiled import hot_kernel, inlined

__all__ = ["BINS", "add_exact", "bin_total", "exact_mean", "exact_sum", "unit_for"]

BINS = 68
"""Bins of an exact sum: 2,098 bits for every double, and two more bins for carries."""
_LOWEST = 1088
"""The lowest bit of the first bin is worth 2^-1088; the smallest double is 2^-1074."""
_MANTISSA = 2.0**53
_LOW = (1 << 32) - 1
_BITS = 61
"""Bits of the largest sum of integers; one bit is left for rounding."""


@inlined
def add_exact(bins, value):
    """Add a number to the sum in ``bins`` (int64 [BINS]); at most 2^31 may be added.

    Infinity and nan are ignored; callers that may sum them must check first
    (`citeweave.engines.core.finite`).
    """
    if value == 0.0 or not np.isfinite(value):
        return
    fraction, exponent = math.frexp(value)
    mantissa = np.int64(fraction * _MANTISSA)
    place = np.int64(exponent) - 53 + _LOWEST
    i, shift = place >> 5, place & 31
    low = (mantissa & _LOW) << shift
    high = (mantissa >> 32) << shift
    bins[i] += low & _LOW
    bins[i + 1] += (low >> 32) + (high & _LOW)
    bins[i + 2] += high >> 32


def bin_total(bins: np.ndarray) -> float:
    """Return the sum in bins, rounded once; bins of several workers may be added first.

    Examples
    --------
    >>> bin_total(exact_sum(np.array([1e100, 1.0, -1e100])))
    1.0
    """
    total = 0
    for one in reversed(bins.tolist()):
        total = (total << 32) + one
    return total / (1 << _LOWEST)


@hot_kernel
def _add_all(bins, values):
    for i in range(values.shape[0]):
        add_exact(bins, values[i])


def exact_sum(values: np.ndarray) -> np.ndarray:
    """Sum an array (float64 [n]) into bins: int64 [BINS]."""
    bins = np.zeros(BINS, np.int64)
    _add_all(bins, values)
    return bins


def exact_mean(values: np.ndarray) -> float:
    """Return the mean of an array, independent of the order of its values.

    Examples
    --------
    >>> exact_mean(np.array([0.1, 0.2, 0.3])) == exact_mean(np.array([0.3, 0.1, 0.2]))
    True
    """
    return bin_total(exact_sum(values)) / len(values)


def unit_for(bound: float) -> float:
    """Return the power of two that turns terms into integers whose sum stays within 64 bits.

    Parameters
    ----------
    bound : float
        Upper bound of the sum of the terms' absolute values.

    Examples
    --------
    >>> unit_for(1.0) == 2.0**60
    True
    """
    if not 0.0 < bound < math.inf:
        return 1.0
    return math.ldexp(1.0, min(max(_BITS - math.frexp(bound)[1], -1000), 1000))
