"""Sums over *all* topics that a change of the citations' exponential needs, in few numbers.

E = sum_k lambdaT_k P_k M_k (`engines.core.exponent`). A move changes the totals of mu, and
with them P and M of every topic, by a multiple of mu's own share of each topic. So that term is
left out of the arrays, and its effect on E follows from three sums:

    P_k = cite_k + a own_k,  M_k = cited_k + b own_k,  own_k = c_k - alpha at mu,

a = weight+ / (beta + C) and b = weight- / (beta + C) of mu.
"""

from typing import NamedTuple

import numpy as np

from citeweave.compiled import hot_kernel, inlined
from citeweave.engines.core.exponent import Exponent
from citeweave.engines.core.row_places import pair_at

__all__ = [
    "CitationSums",
    "RateSums",
    "gather_rates",
    "new_rates",
    "root_own",
    "root_slopes",
    "set_rate",
]


class RateSums(NamedTuple):
    """P and M of every topic without mu's own term, and the sums that this term needs."""

    cite: np.ndarray
    """float64 [topics]."""
    cited: np.ndarray
    """float64 [topics]."""
    total: np.ndarray
    """float64 [3]: sums over topics of lambdaT own cited, lambdaT own cite and lambdaT own^2."""


class CitationSums(NamedTuple):
    """Sums of the citation likelihood as word sweeps need them."""

    rates: RateSums
    exponent: Exponent
    """Its weights are kept up to date; the sums P and M are in ``rates``."""


def new_rates(n_topics: int) -> RateSums:
    """Allocate memory for the sums."""
    return RateSums(np.zeros(n_topics), np.zeros(n_topics), np.zeros(3))


@inlined
def root_own(counts, parameters, k):
    """Return mu's own share of a topic: its customers minus the discount of its one table."""
    customers, tables = pair_at(counts.customers, counts.tables, 0, k)
    return customers - parameters.topic_discount[0] * tables


@inlined
def root_slopes(counts, parameters, exponent):
    """Return a and b: the share of mu's own counts in P and M."""
    scale = 1.0 / (parameters.topic_concentration[0] + counts.total_customers[0])
    return exponent.cite_weight[0] * scale, exponent.cited_weight[0] * scale


@hot_kernel
def gather_rates(counts, parameters, exponent, rates):
    """Compute the sums from those of ``exponent``, which are the present P and M."""
    cite_slope, cited_slope = root_slopes(counts, parameters, exponent)
    rates.total[:] = 0.0
    for k in range(rates.cite.shape[0]):
        own = root_own(counts, parameters, k)
        rates.cite[k] = exponent.cite_sum[k] - cite_slope * own
        rates.cited[k] = exponent.cited_sum[k] - cited_slope * own
        scaled = parameters.topic_scale[k] * own
        rates.total[0] += scaled * rates.cited[k]
        rates.total[1] += scaled * rates.cite[k]
        rates.total[2] += scaled * own


@inlined
def set_rate(parameters, rates, k, own_before, own, cite, cited):
    """Update a topic whose share at mu changed from ``own_before`` to ``own``."""
    scale = parameters.topic_scale[k]
    rates.total[0] += scale * (own * cited - own_before * rates.cited[k])
    rates.total[1] += scale * (own * cite - own_before * rates.cite[k])
    rates.total[2] += scale * (own * own - own_before * own_before)
    rates.cite[k] = cite
    rates.cited[k] = cited
