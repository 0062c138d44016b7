"""Sums that no order of their terms shows in."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from citeweave.engines.core.exact_sums import BINS, bin_total, exact_mean, exact_sum, unit_for

numbers = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300)


@given(st.lists(numbers, max_size=60))
def test_sums_in_bins_are_rounded_once(values):
    assert bin_total(exact_sum(np.array(values, np.float64))) == math.fsum(values)


@given(st.lists(numbers, min_size=1, max_size=40), st.integers(1, 5), st.randoms())
def test_any_order_and_partition_has_the_same_bits(values, parts, source):
    whole = exact_sum(np.array(values))
    source.shuffle(values)
    shuffled = np.array(values)
    part = np.arange(len(values)) % parts
    pieces = [exact_sum(shuffled[part == p]) for p in range(parts)]
    assert bin_total(sum(pieces)) == bin_total(whole)


@pytest.mark.parametrize(
    "values",
    [[5e-324, -5e-324, 2e-323], [1.7976931348623157e308, -1e308], [0.0, -0.0], [2.0**-1060]],
)
def test_the_ends_of_the_range_are_exact(values):
    assert bin_total(exact_sum(np.array(values))) == math.fsum(values)


def test_many_terms_do_not_overflow_bins():
    value = np.float64(-1.0) / 3.0
    bins = exact_sum(np.full(100_000, value))
    assert bins.shape == (BINS,)
    assert bin_total(bins) == math.fsum([value] * 100_000)
    assert exact_mean(np.full(7, 0.1)) == pytest.approx(0.1, rel=1e-15)


@given(st.lists(st.floats(0.0, 1e12, allow_subnormal=False), min_size=1, max_size=50), st.randoms())
def test_sums_in_units_keep_within_their_bound(values, source):
    """Each term is cut by less than a unit, and no order shows."""
    bound = len(values) * max(values)
    unit = unit_for(bound)
    source.shuffle(values)
    total = sum(int(value * unit) for value in values)
    assert total < 2**62
    assert abs(total / unit - math.fsum(values)) <= len(values) / unit + 1e-15 * bound
    assert bound < 1e-200 or 1.0 / unit <= 2.0**-59 * bound


def test_numbers_that_are_none_have_no_unit():
    assert [unit_for(value) for value in (0.0, math.inf, math.nan)] == [1.0, 1.0, 1.0]
