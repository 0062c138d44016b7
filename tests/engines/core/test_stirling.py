"""The ratios against exact and arbitrary-precision arithmetic, at every size of counts."""

import logging
import math
import os
import subprocess
import sys
import timeit
from fractions import Fraction
from functools import cache
from typing import NamedTuple

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citeweave.compiled import kernel
from citeweave.engines.core.spec import DISCOUNT_LIMIT
from citeweave.engines.core.stirling import (
    COUNT_LIMIT,
    DENSE_LIMIT,
    RatioTable,
    build_ratio_table,
    open_weight,
    ratio,
    stay_weight,
    weight_pair,
)
from citeweave.errors import ParameterError

LOG = logging.getLogger(__name__)

DISCOUNTS = (0.0, 0.01, 0.1, 0.5, 0.7, 0.9)
TOLERANCE = 1e-6
"""Ten times below the bound that the sampler asks for."""

table_of = cache(build_ratio_table)


@kernel
def all_weights(table, customers, tables):
    out = np.empty((customers.size, 3))
    for i in range(customers.size):
        out[i, 0] = stay_weight(table, customers[i], tables[i])
        out[i, 1] = open_weight(table, customers[i], tables[i])
        out[i, 2] = ratio(table, customers[i], tables[i])
    return out


def weights_at(discount, pairs):
    counts = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return all_weights(table_of(discount), counts[:, 0].copy(), counts[:, 1].copy())


def weights_from(discount, c, t, this, following):
    """A0, B1 and R from R(c, t) and R(c, t + 1), the latter None where t = c."""
    stay = (c - t * discount + this) * (c + 1 - t) / (c + 1)
    grow = 1 if t == c else 1 + (c - (t + 1) * discount) / following
    return stay, grow * (t + 1) / (c + 1), this


def assert_close(discount, pairs, expected, tolerance=TOLERANCE):
    found = weights_at(discount, pairs)
    expected = np.array(expected, dtype=float)
    assert np.isfinite(found).all()
    error = np.abs(found - expected) / np.where(expected == 0.0, 1.0, expected)
    worst = np.unravel_index(error.argmax(), error.shape)
    assert error[worst] < tolerance, (pairs[worst[0]], worst[1], error[worst])


# References. Exact: the recurrence in fractions, and two power series that are exact at any
# number of customers but need few tables, or few customers more than tables. Between them: the
# Cauchy integral of S itself in 40 digits, on another contour than the library's.


def exact_rows(discount, limit):
    """S(c, t) for c = 0 .. limit + 1 in fractions of the discount's decimal value."""
    a = Fraction(str(discount))
    rows = [[Fraction(1)]]
    for c in range(limit + 1):
        row = rows[-1]
        rows.append(
            [
                (row[t - 1] if t > 0 else 0) + ((c - t * a) * row[t] if t <= c else 0)
                for t in range(c + 2)
            ]
        )
    return rows


def power_coefficients(series, power, order):
    """Coefficients of series^power up to the order (J. C. P. Miller's recurrence)."""
    out = [series[0] ** power]
    for n in range(1, order + 1):
        total = sum((power * k - n + k) * series[k] * out[n - k] for k in range(1, n + 1))
        out.append(total / (n * series[0]))
    return out


def near_diagonal(discount, c, d):
    """log S(c, c - d) from t = c - d:  S = c!/t! [x^d] (f(x)/x)^t."""
    a = mpmath.mpf(discount)
    series = [mpmath.mpf(1)]
    for k in range(2, d + 2):
        series.append(series[-1] * (k - 1 - a) / k)
    value = power_coefficients(series, c - d, d)[d]
    return mpmath.loggamma(c + 1) - mpmath.loggamma(c - d + 1) + mpmath.log(value)


def few_tables(discount, c, t):
    """log S(c, t): a sum over residues, or where a = 0 the series of Gamma(z + c)/Gamma(z + 1)."""
    a = mpmath.mpf(discount)
    if discount == 0:
        logs = [mpmath.loggamma(c)]
        logs += [
            (mpmath.psi(k - 1, c) - mpmath.psi(k - 1, 1)) / mpmath.factorial(k) for k in range(1, t)
        ]
        out = [mpmath.mpf(1)]
        for n in range(1, t):
            out.append(sum(k * logs[k] * out[n - k] for k in range(1, n + 1)) / n)
        return logs[0] + mpmath.log(out[t - 1])
    base = mpmath.loggamma(c)
    total = mpmath.fsum(
        (-1) ** j
        * mpmath.binomial(t, j)
        * mpmath.exp(mpmath.loggamma(c - j * a) - base)
        * mpmath.rgamma(-j * a)
        for j in range(1, t + 1)
    )
    return base + mpmath.log(total) - t * mpmath.log(a) - mpmath.loggamma(t + 1)


def contour_ratio(discount, c, t):
    """R(c, t) = t <1/f>, the mean over c!/t! (2 pi i)^-1 int f^t x^(-c-1) dx, to 15 digits."""
    a = mpmath.mpf(discount)

    def f(s):
        return -mpmath.expm1(-a * s) / a if discount > 0 else s

    def slope(s):
        inner = a / mpmath.expm1(a * s) if discount > 0 else 1 / s
        return (c + 1) / mpmath.expm1(s) - t * inner - 3

    low, high = mpmath.mpf(c - t + 1) / (20 * c), mpmath.log(c) + 2
    for _ in range(80):
        middle = mpmath.sqrt(low * high)
        low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    start = low
    scale, bend = (start, mpmath.mpf(2) / 3) if start < 1 else (mpmath.mpf(1), mpmath.mpf(1) / 3)
    f0, x0 = f(start), -mpmath.expm1(-start)
    spread = scale * mpmath.sqrt(abs(mpmath.diff(slope, start)))

    def mean(step):
        weight = inverse = mpmath.mpf(0)
        k = 0
        while True:
            y = step * (k + mpmath.mpf(1) / 2)
            s = start + scale * (
                1j * mpmath.pi * mpmath.tanh(y / mpmath.pi) - bend * (mpmath.cosh(y) - 1)
            )
            ds = 1j * mpmath.sech(y / mpmath.pi) ** 2 - bend * mpmath.sinh(y)
            fs, x = f(s), -mpmath.expm1(-s)
            term = ds * mpmath.exp(
                t * mpmath.log(fs / f0) - (c + 1) * mpmath.log(x / x0) - (s - start)
            )
            weight += term.imag
            inverse += (term / fs).imag
            k += 1
            if abs(term) < mpmath.mpf(10) ** -32 and k > 5:
                return inverse / weight

    step = 1 / (2 * spread + 2)
    previous = mean(step)
    for _ in range(8):
        step /= 2
        current = mean(step)
        if abs(current / previous - 1) < mpmath.mpf(10) ** -15:
            return t * current
        previous = current
    raise AssertionError(("no convergence of the reference", discount, c, t))


def recurrence_rows(discount, limit):
    """Give c and A0, B1, R for all t, in double precision: all terms are positive."""
    row = np.zeros(1)
    for c in range(1, limit + 1):
        t = np.arange(1.0, c + 1)
        growth = row + (c - t * discount)
        weights = np.ones((c, 3))
        weights[:, 0] = growth * (c + 1 - t) / (c + 1)
        weights[:-1, 1] = (1 + (c - t[1:] * discount) / row[1:]) * t[1:] / (c + 1)
        weights[:, 2] = row
        yield c, weights
        row = np.concatenate([[0.0], row[1:] * growth[:-1] / growth[1:], growth[-1:]])


def reference(discount, c, t):
    """A0, B1, R in arbitrary precision."""

    def one(tables):
        if tables == 1:
            return mpmath.mpf(0)
        if c - tables <= 12:
            return mpmath.exp(
                near_diagonal(discount, c, c - tables + 1) - near_diagonal(discount, c, c - tables)
            )
        if tables <= 12:
            return mpmath.exp(few_tables(discount, c, tables - 1) - few_tables(discount, c, tables))
        return contour_ratio(discount, c, tables)

    with mpmath.workdps(60):
        a = mpmath.mpf(discount)
        return weights_from(a, c, t, one(t), one(t + 1) if t < c else None)


def log_uniform_pairs(seed, number, low, high):
    """Counts spread evenly in log c, and in log t or log(c - t + 1) by turns."""
    rng = np.random.default_rng(seed)
    pairs = []
    for i in range(number):
        c = round(math.exp(rng.uniform(math.log(low), math.log(high))))
        part = min(c, math.floor(math.exp(rng.uniform(0.0, math.log(c)))))
        pairs.append((c, part if i % 2 else c + 1 - part))
    return pairs


@pytest.mark.parametrize("discount", DISCOUNTS)
def test_small_counts_equal_exact_fractions(discount):
    rows = exact_rows(discount, 60)
    pairs = [(c, t) for c in range(1, 61) for t in range(1, c + 1)]
    expected = [
        (
            rows[c + 1][t] / rows[c][t] * Fraction(c + 1 - t, c + 1),
            rows[c + 1][t + 1] / rows[c][t] * Fraction(t + 1, c + 1),
            rows[c][t - 1] / rows[c][t],
        )
        for c, t in pairs
    ]
    assert_close(discount, pairs, expected, 1e-12)


@pytest.mark.parametrize("discount", [0.0, 0.01, 0.7, 0.9])
def test_references_equal_exact_fractions(discount):
    rows = exact_rows(discount, 60)
    for c, t in [(60, 2), (60, 12), (60, 30), (60, 48), (60, 59), (41, 20)]:
        exact = pytest.approx(float(rows[c][t - 1] / rows[c][t]), rel=1e-13)
        with mpmath.workdps(60):
            assert float(contour_ratio(discount, c, t)) == exact
            surplus = near_diagonal(discount, c, c - t + 1) - near_diagonal(discount, c, c - t)
            assert float(mpmath.exp(surplus)) == exact
            if t <= 12:
                tables = few_tables(discount, c, t - 1) - few_tables(discount, c, t)
                assert float(mpmath.exp(tables)) == exact


@pytest.mark.parametrize("discount", [*DISCOUNTS, 1e-9, 0.95, 0.99, DISCOUNT_LIMIT])
def test_both_sides_of_the_dense_table_follow_the_recurrence(discount):
    chosen = {*range(DENSE_LIMIT - 2, DENSE_LIMIT + 20), 600, 767, 768, 1023, 1024, 1025, 1500}
    for c, expected in recurrence_rows(discount, max(chosen)):
        if c in chosen:
            assert_close(discount, [(c, t) for t in range(1, c + 1)], expected)


@pytest.mark.parametrize("discount", DISCOUNTS)
def test_random_counts_to_a_million_in_arbitrary_precision(discount):
    pairs = log_uniform_pairs(7, 24, DENSE_LIMIT + 1, 10**6)
    assert_close(discount, pairs, [reference(discount, *pair) for pair in pairs])


@pytest.mark.parametrize("discount", DISCOUNTS)
@pytest.mark.parametrize("c", [10**6, 10**7, 10**9])
def test_edges_in_arbitrary_precision(discount, c):
    near = [1, 2, 3, 11, c - 13, c - 12, c - 2, c - 1, c]
    pairs = [(c, t) for t in near]
    assert_close(discount, pairs, [reference(discount, *pair) for pair in pairs])


@pytest.mark.parametrize("discount", DISCOUNTS)
def test_closed_forms_at_one_table_and_at_one_customer_a_table(discount):
    counts = [1, 2, 3, 100, DENSE_LIMIT, DENSE_LIMIT + 1, 10**4, 10**7, 2**31 - 1, COUNT_LIMIT]
    for c in counts:
        first, last = weights_at(discount, [(c, 1), (c, c)])
        assert first[2] == 0.0
        assert first[0] == pytest.approx((c - discount) * c / (c + 1), rel=1e-14)
        assert last[1] == 1.0
        assert last[0] == pytest.approx((1 - discount) * c / 2, rel=TOLERANCE)
        assert last[2] == pytest.approx((1 - discount) * c * (c - 1) / 2, rel=TOLERANCE)


@kernel
def all_pairs(table, customers, tables):
    out = np.empty((customers.size, 2))
    for i in range(customers.size):
        out[i, 0], out[i, 1] = weight_pair(table, customers[i], tables[i])
    return out


@pytest.mark.parametrize("discount", DISCOUNTS)
def test_the_pair_is_the_two_weights(discount):
    pairs = [(0, 0), (512, 512), (512, 1), *log_uniform_pairs(9, 300, 1, 10**9)]
    c, t = np.array(pairs).T.copy()
    found = all_pairs(table_of(discount), c, t)
    np.testing.assert_allclose(found, weights_at(discount, pairs)[:, :2], rtol=1e-14)


def test_an_empty_node_opens_its_first_table():
    assert ratio(table_of(0.7), 0, 0) == 0.0
    assert stay_weight(table_of(0.7), 0, 0) == 0.0
    assert open_weight(table_of(0.7), 0, 0) == 1.0


@pytest.mark.parametrize("discount", DISCOUNTS)
def test_recurrence_holds_across_the_borders_of_cells(discount):
    borders = [2**k * (4 + j) // 4 for k in range(2, 24, 3) for j in range(4)]
    pairs = [
        (t + surplus + i, t + j)
        for t in borders
        for surplus in borders
        if t + surplus > DENSE_LIMIT + 2
        for i in (-2, -1, 0)
        for j in (-1, 0)
    ]
    c, t = np.array(pairs).T
    here = weights_at(discount, pairs)[:, 2]
    fewer = weights_at(discount, np.stack([c, t - 1], axis=1))[:, 2]
    after = weights_at(discount, np.stack([c + 1, t], axis=1))[:, 2]
    expected = here * (fewer + c - (t - 1) * discount) / (here + c - t * discount)
    np.testing.assert_allclose(after, expected, rtol=TOLERANCE)


@pytest.mark.parametrize("discount", DISCOUNTS)
def test_the_two_weights_belong_to_the_same_ratios(discount):
    pairs = [(c, t) for c, t in log_uniform_pairs(3, 500, 2, 10**9) if t < c]
    c, t = np.array(pairs).T
    found = weights_at(discount, pairs)
    following = weights_at(discount, np.stack([c, t + 1], axis=1))[:, 2]
    stay = (c - t * discount + found[:, 2]) * (c + 1 - t) / (c + 1)
    opened = (1 + (c - (t + 1) * discount) / following) * (t + 1) / (c + 1)
    np.testing.assert_allclose(found[:, 0], stay, rtol=1e-13)
    np.testing.assert_allclose(found[:, 1], opened, rtol=1e-13)


@pytest.mark.parametrize("discount", DISCOUNTS)
def test_ratio_grows_with_tables(discount):
    # S(c, .) is log-concave, so that R(c, .) increases
    for c in (DENSE_LIMIT, DENSE_LIMIT + 1, 5000, 10**7):
        tables = sorted({min(c, math.ceil(1.001**k)) for k in range(17_000)})
        assert tables[-1] == c
        assert (np.diff(weights_at(discount, [(c, t) for t in tables])[:, 2]) > 0).all()


@settings(max_examples=300)
@given(
    st.sampled_from([*DISCOUNTS, 0.99]),
    st.integers(1, COUNT_LIMIT) | st.integers(1, 2000),
    st.data(),
)
def test_any_counts_give_finite_weights_within_bounds(discount, c, data):
    t = data.draw(st.integers(1, c) | st.integers(1, min(c, 50)) | st.integers(max(1, c - 50), c))
    stay, opened, _ = weights_at(discount, [(c, t)])[0]
    assert (c - t * discount) * (c + 1 - t) / (c + 1) * (1 - 1e-12) <= stay < math.inf
    assert (t + 1) / (c + 1) * (1 - 1e-12) <= opened < math.inf


def test_memory_is_bounded_and_the_type_is_one():
    numba = pytest.importorskip("numba")
    tables = [table_of(discount) for discount in (*DISCOUNTS, DISCOUNT_LIMIT)]
    assert all(table.nbytes <= 6_000_000 for table in tables)
    assert len({numba.typeof(table) for table in tables}) == 1
    assert len({tuple((x.shape, x.dtype) for x in table[1:]) for table in tables}) == 1


def test_building_twice_gives_the_same_bytes():
    for first, second in zip(build_ratio_table(0.3)[1:], build_ratio_table(0.3)[1:], strict=True):
        assert first.tobytes() == second.tobytes()


@pytest.mark.parametrize("counts", [(17, 5), (511, 40), (512, 40), (10**7, 12_345)])
def test_integer_types_give_the_same_weights(counts):
    table = table_of(0.7)
    for weight in (stay_weight, open_weight, ratio):
        values = {float(weight(table, *map(kind, counts))) for kind in (int, np.int32, np.int64)}
        assert len(values) == 1


class Holder(NamedTuple):
    words: RatioTable
    topics: RatioTable


@kernel
def nested_weight(holder, customers, tables):
    return stay_weight(holder.words, customers, tables) - stay_weight(
        holder.topics, customers, tables
    )


def test_tables_can_stand_inside_other_kernel_arguments():
    words, topics = table_of(0.7), table_of(0.01)
    for counts in [(30, 4), (3000, 4)]:
        expected = stay_weight(words, *counts) - stay_weight(topics, *counts)
        assert nested_weight(Holder(words, topics), *counts) == pytest.approx(expected, rel=1e-12)


def test_uncompiled_kernels_give_the_same_weights():
    code = (
        "from citeweave.engines.core.stirling import *\n"
        "table = build_ratio_table(0.7)\n"
        "for c, t in [(0, 0), (17, 5), (600, 600), (10**7, 12345)]:\n"
        "    print(stay_weight(table, c, t), open_weight(table, c, t))\n"
    )
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    output = subprocess.run(
        [sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True
    ).stdout
    found = np.array(output.split(), dtype=float).reshape(-1, 2)
    expected = weights_at(0.7, [(0, 0), (17, 5), (600, 600), (10**7, 12345)])[:, :2]
    np.testing.assert_allclose(found, expected, rtol=1e-14)


@pytest.mark.parametrize("weight", [stay_weight, open_weight, ratio])
@pytest.mark.parametrize(
    "counts", [(0, 1), (5, 6), (5, 0), (5, -1), (-1, -1), (600, 0), (600, 601), (10**7, -3)]
)
def test_impossible_counts_are_refused(weight, counts):
    with pytest.raises(ValueError, match="1 <= tables <= customers"):
        weight(table_of(0.5), *counts)


@pytest.mark.parametrize("weight", [stay_weight, open_weight, ratio])
def test_counts_beyond_the_limit_are_refused(weight):
    assert np.isfinite(weight(table_of(0.5), COUNT_LIMIT, 1000))
    with pytest.raises(ValueError, match="COUNT_LIMIT"):
        weight(table_of(0.5), COUNT_LIMIT + 1, 1000)


@pytest.mark.parametrize("discount", [-0.1, 1.0, 1, 7, math.nan, math.inf, "0.5", None, True])
def test_wrong_discounts_are_refused(discount):
    with pytest.raises(ParameterError, match="discount"):
        build_ratio_table(discount)


@pytest.mark.long
@pytest.mark.parametrize("discount", [*DISCOUNTS, 0.95, 0.99, DISCOUNT_LIMIT])
def test_every_pair_to_four_thousand_customers(discount):
    worst = np.zeros(3)
    for c, expected in recurrence_rows(discount, 4000):
        if c > DENSE_LIMIT:
            tables = np.arange(1, c + 1)
            found = all_weights(table_of(discount), np.full(c, c), tables)
            error = np.abs(found - expected) / np.where(expected == 0.0, 1.0, expected)
            worst = np.maximum(worst, error.max(axis=0))
    LOG.info("a = %s, all c = 512 .. 4000: A0 %.1e, B1 %.1e, R %.1e", discount, *worst)
    assert worst.max() < TOLERANCE


@pytest.mark.long
@pytest.mark.parametrize("discount", DISCOUNTS)
@pytest.mark.parametrize(("low", "high"), [(4000, 10**7), (10**7, 10**9)])
def test_many_random_counts_in_arbitrary_precision(discount, low, high):
    pairs = log_uniform_pairs(11, 200, low, high)
    expected = np.array([reference(discount, *pair) for pair in pairs], dtype=float)
    found = weights_at(discount, pairs)
    error = np.abs(found - expected) / np.where(expected == 0.0, 1.0, expected)
    worst = error.max(axis=0)
    LOG.info("a = %s, c = %g .. %g: A0 %.1e, B1 %.1e, R %.1e", discount, low, high, *worst)
    assert worst.max() < TOLERANCE


@kernel
def total_weight(table, customers, tables):
    total = 0.0
    for i in range(customers.size):
        total += stay_weight(table, customers[i], tables[i])
    return total


@kernel
def chained_weight(table, customers, tables):
    last = 0.0
    for i in range(customers.size):
        # 0 is added, but known only when the last weight is
        last = stay_weight(table, customers[i] + np.int64(last * 1e-300), tables[i])
    return last


@pytest.mark.long
@pytest.mark.parametrize(("low", "high"), [(1, 30), (1, 511), (512, 10**5), (512, 10**7)])
def test_speed_of_lookups(low, high):
    counts = np.array(log_uniform_pairs(5, 200_000, low, high), dtype=np.int32)
    arguments = table_of(0.7), counts[:, 0].copy(), counts[:, 1].copy()
    for loop in (total_weight, chained_weight):
        assert np.isfinite(loop(*arguments))
        seconds = min(timeit.repeat(lambda loop=loop: loop(*arguments), number=1, repeat=9))
        nanoseconds = seconds / len(counts) * 1e9
        LOG.info("%s, c = %d .. %g: %.1f ns", loop.__name__, low, high, nanoseconds)


@pytest.mark.long
@pytest.mark.parametrize("discount", [*DISCOUNTS, 0.99, DISCOUNT_LIMIT])
def test_speed_of_building(discount):
    seconds = min(timeit.repeat(lambda: build_ratio_table(discount), number=1, repeat=3))
    size = table_of(discount).nbytes
    LOG.info("a = %s: built in %.2f s, %d bytes", discount, seconds, size)
    assert size < 1 << 24
