"""Logarithms of generalised Stirling numbers and of rising products, for densities of whole states.

Sweeps need only ratios (`citeweave.engines.core.stirling`); here their logarithms are summed. With
R(c, t) = S(c, t-1) / S(c, t) and S(c, c) = 1,

    log S(c, t) = log S(c, 1) - sum_{j=2..t} log R(c, j),     S(c, 1) = Gamma(c - a) / Gamma(1 - a)
                = sum_{m=t..c-1} log(m - t a + R(m, t))

Up to ``DENSE_LIMIT`` customers the sums are in a table; beyond it, the shorter sum is used.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from citeweave.compiled import hot_kernel
from citeweave.engines.core.stirling import DENSE_LIMIT, RatioTable, ratio

__all__ = ["StirlingLogs", "log_rising", "log_stirling", "stirling_logs"]

_FEW = 64
"""Maximum number of factors of a rising product that is multiplied out."""
_LARGE = 1e200
_SMALL = 1e-200


class StirlingLogs(NamedTuple):
    """Tables from which log S of one discount is computed."""

    ratios: RatioTable
    dense: np.ndarray
    """float64: log S(c, t) at ``c * (c + 1) // 2 + t`` for c up to ``DENSE_LIMIT``."""


@lru_cache(maxsize=8)
def _dense_logs(discount: float, ratios: bytes) -> np.ndarray:
    """Sum log(c - t a + R(c, t)) row by row, once per discount and process."""
    table = np.frombuffer(ratios)
    logs = np.full(len(table), -np.inf)
    logs[0] = 0.0
    for customers in range(DENSE_LIMIT):
        start = customers * (customers + 1) // 2
        below = start + customers + 1
        tables = np.arange(1, customers + 1)
        growth = customers - tables * discount + table[start + tables]
        logs[below + tables] = logs[start + tables] + np.log(growth)
        logs[below + customers + 1] = 0.0
    return logs


def stirling_logs(ratios: RatioTable) -> StirlingLogs:
    """Make the table of log S that belongs to a table of ratios.

    Examples
    --------
    >>> from citeweave.engines.core.stirling import build_ratio_table
    >>> logs = stirling_logs(build_ratio_table(0.5))
    >>> round(math.exp(log_stirling(logs, 3, 1)), 9)  # 0.5 * 1.5
    0.75
    """
    return StirlingLogs(ratios, _dense_logs(float(ratios.discount), ratios.ratios.tobytes()))


@hot_kernel
def log_stirling(logs, customers, tables):
    """Return the logarithm of S(c, t); 1 <= tables <= customers, or both 0."""
    if customers <= DENSE_LIMIT:
        return logs.dense[((customers * (customers + 1)) >> 1) + tables]
    return _log_large(logs.ratios, customers, tables)


@hot_kernel
def _log_large(table, customers, tables):
    """Sum the logarithms of ratios, taking one logarithm for many of them."""
    discount = table.discount
    product = 1.0
    total = 0.0
    if tables - 1 <= customers - tables:
        for t in range(2, tables + 1):
            product *= ratio(table, customers, t)
            if product > _LARGE or product < _SMALL:
                total -= math.log(product)
                product = 1.0
        total -= math.log(product)
        return total + math.lgamma(customers - discount) - math.lgamma(1.0 - discount)
    for c in range(tables, customers):
        product *= c - tables * discount + ratio(table, c, tables)
        if product > _LARGE:
            total += math.log(product)
            product = 1.0
    return total + math.log(product)


@hot_kernel
def log_rising(start, step, count):
    """Return the logarithm of start (start + step) ... (start + (count - 1) step); step >= 0.

    NumPy: ``np.log(start + step * np.arange(count)).sum()``.
    """
    if count > _FEW and step > 0.0:
        first = start / step
        return count * math.log(step) + math.lgamma(first + count) - math.lgamma(first)
    if step == 0.0:
        return count * math.log(start)
    product = 1.0
    total = 0.0
    for j in range(count):
        product *= start + j * step
        if product > _LARGE or product < _SMALL:
            total += math.log(product)
            product = 1.0
    return total + math.log(product)
