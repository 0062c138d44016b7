"""Ratios of generalised Stirling numbers: the two weights of adding a customer to a node.

With S(c, t) the generalised Stirling number of a discount a,

    S(c+1, t) = S(c, t-1) + (c - t a) S(c, t),    S(0, 0) = 1,

a node with c customers at t tables needs only ratios of neighbouring numbers:

    R(c, t)  = S(c, t-1) / S(c, t)
    A0(c, t) = S(c+1, t) / S(c, t) (c+1-t) / (c+1)
             = (c - t a + R(c, t)) (c+1-t) / (c+1)
    B1(c, t) = S(c+1, t+1) / S(c, t) (t+1) / (c+1)
             = (1 + (c - (t+1) a) / R(c, t+1)) (t+1) / (c+1)

Up to ``DENSE_LIMIT`` customers they are read from a table filled by a recurrence of positive terms.
Beyond it, one smooth function covers all counts: with e = c - t + 1,

    G(t, e) = R(c, t) e / ((t - 1) c)

is bounded, and analytic in log t and log e. It is sampled by quadrature of the Cauchy integral of S
on a few Chebyshev points per octave, and stored as low-degree polynomials on cells of a quarter
octave of t by a quarter octave of e. ``docs/understand/stirling.md`` derives this and lists errors.

The weights are compiled into their callers without reference counting, which took more time
than the lookup itself.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from citeweave.compiled import hot_kernel
from citeweave.engines.core.spec import DISCOUNT_LIMIT
from citeweave.errors import ParameterError

__all__ = [
    "COUNT_LIMIT",
    "DENSE_LIMIT",
    "RatioTable",
    "build_ratio_table",
    "open_weight",
    "ratio",
    "stay_weight",
    "weight_pair",
]

FloatArray = npt.NDArray[np.float64]

DENSE_LIMIT = 511
"""Maximum number of customers in the dense table; above it max(t, e) >= 256, where the samples
are."""

COUNT_LIMIT = 2**32 - 2
"""Maximum number of customers for which a weight can be computed."""

_OCTAVES = 32
_BLOCK_OCTAVES = 4
_BLOCK_POINTS = 16
_CELL_BITS = 2  # cells per octave: 2**_CELL_BITS
_DEGREE = 5
_TERMS = (_DEGREE + 1) * (_DEGREE + 2) // 2
_FRACTION_BITS = 52 - _CELL_BITS
_FIRST_CELL = 1023 << _CELL_BITS
_FRACTION_MASK = (1 << _FRACTION_BITS) - 1
_FRACTION_SCALE = 1.0 / (1 << _FRACTION_BITS)


class RatioTable(NamedTuple):
    """Data from which the weights of one discount are computed; an argument of Numba kernels.

    Attributes
    ----------
    discount : float
        The discount a.
    ratios : ndarray of float64, shape (n,)
        R(c, t) at ``c * (c + 1) // 2 + t`` for c up to ``DENSE_LIMIT``; nan if S(c, t) = 0.
    weights : ndarray of float64, shape (n, 2)
        A0(c, t) and B1(c, t) at the same places.
    patches : ndarray of float64, shape (128, 128, 21)
        Coefficients of G on each cell: by cell of t, cell of e, and term u^i v^j, i + j <= 5,
        j running fastest, u and v the position inside the cell.
    """

    discount: float
    ratios: FloatArray
    weights: FloatArray
    patches: FloatArray

    @property
    def nbytes(self) -> int:
        """Memory held by the arrays, in bytes."""
        return self.ratios.nbytes + self.weights.nbytes + self.patches.nbytes


def build_ratio_table(discount: float) -> RatioTable:
    """Prepare the weights of one discount, for any counts up to ``COUNT_LIMIT``.

    Parameters
    ----------
    discount : float
        Discount a of the Pitman-Yor process, 0 <= a <= ``DISCOUNT_LIMIT``; 0 is the Dirichlet
        process, whose Stirling numbers are the unsigned ones of the first kind.

    Returns
    -------
    RatioTable
        About 6 MB, the same Numba type for every discount.

    Raises
    ------
    ParameterError
        If the discount is not a number in that range.

    Examples
    --------
    >>> table = build_ratio_table(0.5)
    >>> float(stay_weight(table, 2, 1))  # S(3,1)/S(2,1) * 2/3 = 1.5 * 2/3
    1.0
    """
    if isinstance(discount, bool) or not isinstance(discount, int | float | np.floating):
        raise ParameterError(
            f"The 'discount' of a ratio table must be a number from 0 to {DISCOUNT_LIMIT}. "
            f"Got {discount!r} of type {type(discount).__name__} instead."
        )
    if not 0.0 <= discount <= DISCOUNT_LIMIT:
        raise ParameterError(
            f"The 'discount' of a ratio table must be in [0, {DISCOUNT_LIMIT}]. "
            f"Got {discount!r} instead: give 0 for a Dirichlet process, a value below 1 otherwise."
        )
    discount = float(discount)
    ratios = _dense_ratios(discount)
    return RatioTable(
        discount=discount,
        ratios=ratios,
        weights=_dense_weights(discount, ratios),
        patches=_fit_patches(discount),
    )


@hot_kernel(forceinline=True)
def stay_weight(table: RatioTable, customers: int, tables: int) -> float:
    """Return the weight A0 of adding a customer without a new table; 0 if the node is empty.

    Requires 1 <= tables <= customers, or both 0. Equals
    ``(c - t * a + R(c, t)) * (c + 1 - t) / (c + 1)``.
    """
    _check_counts(customers, tables)
    if customers <= DENSE_LIMIT:
        return float(table.weights[customers * (customers + 1) // 2 + tables, 0])
    c = float(customers)
    t = float(tables)
    e = c - t + 1.0
    scaled = _scaled_ratio(table.patches, t, e)
    return float(((c - t * table.discount) * e + (t - 1.0) * c * scaled) / (c + 1.0))


@hot_kernel(forceinline=True)
def open_weight(table: RatioTable, customers: int, tables: int) -> float:
    """Return the weight B1 of adding a customer at a new table; 1 if the node is empty.

    Requires 1 <= tables <= customers, or both 0. Equals
    ``(1 + (c - (t + 1) * a) / R(c, t + 1)) * (t + 1) / (c + 1)``, and 1 if t = c.
    """
    _check_counts(customers, tables)
    if customers <= DENSE_LIMIT:
        return float(table.weights[customers * (customers + 1) // 2 + tables, 1])
    if tables == customers:
        return 1.0
    c = float(customers)
    t = float(tables)
    e = c - t
    product = t * c * _scaled_ratio(table.patches, t + 1.0, e)
    numerator = (t + 1.0) * (product + (c - (t + 1.0) * table.discount) * e)
    return float(numerator / ((c + 1.0) * product))


@hot_kernel(forceinline=True)
def weight_pair(table: RatioTable, customers: int, tables: int) -> tuple[float, float]:
    """Return both weights (A0, B1) at once, for hot loops: a table lookup if counts are small.

    Counts up to ``DENSE_LIMIT`` are not checked; larger ones are.
    """
    if customers <= DENSE_LIMIT:
        place = ((customers * (customers + 1)) >> 1) + tables
        return float(table.weights[place, 0]), float(table.weights[place, 1])
    pair: tuple[float, float] = _large_pair(table.discount, table.patches, customers, tables)
    return pair


@hot_kernel
def _large_pair(
    discount: float, patches: FloatArray, customers: int, tables: int
) -> tuple[float, float]:
    """Return both weights beyond the dense table; a separate function keeps its callers small."""
    _check_counts(customers, tables)
    c = float(customers)
    t = float(tables)
    e = c - t + 1.0
    stay = ((c - t * discount) * e + (t - 1.0) * c * _scaled_ratio(patches, t, e)) / (c + 1.0)
    if tables == customers:
        return stay, 1.0
    e -= 1.0
    product = t * c * _scaled_ratio(patches, t + 1.0, e)
    numerator = (t + 1.0) * (product + (c - (t + 1.0) * discount) * e)
    return stay, numerator / ((c + 1.0) * product)


@hot_kernel(forceinline=True)
def ratio(table: RatioTable, customers: int, tables: int) -> float:
    """Return the ratio R(c, t) = S(c, t-1) / S(c, t) for 1 <= tables <= customers."""
    _check_counts(customers, tables)
    if customers <= DENSE_LIMIT:
        return float(table.ratios[customers * (customers + 1) // 2 + tables])
    c = float(customers)
    t = float(tables)
    e = c - t + 1.0
    return float((t - 1.0) * c / e * _scaled_ratio(table.patches, t, e))


@hot_kernel(inline="always")
def _check_counts(customers: int, tables: int) -> None:
    """Reject counts that no node can have."""
    if tables > customers or tables < (customers > 0):
        raise ValueError("counts of a node must satisfy 1 <= tables <= customers, or both be 0")
    if customers > COUNT_LIMIT:
        raise ValueError("a node has more customers than COUNT_LIMIT")


@hot_kernel(inline="always")
def _cell(value: float) -> tuple[np.int64, np.float64]:
    """Find the cell of a float >= 1 and the position inside it from its exponent and mantissa bits.

    Four cells per octave: equals ``divmod(4 * value / 2**k - 4, 1)`` with the cell 4 k added.
    """
    bits = np.float64(value).view(np.int64)
    return (bits >> _FRACTION_BITS) - _FIRST_CELL, (bits & _FRACTION_MASK) * _FRACTION_SCALE


@hot_kernel(inline="always")
def _scaled_ratio(patches: FloatArray, t: float, e: float) -> float:
    """Evaluate G(t, e) by the polynomial of its cell, by Horner's rule in v and then in u."""
    row, u = _cell(t)
    column, v = _cell(e)
    p = patches[row, column]
    row0 = p[0] + v * (p[1] + v * (p[2] + v * (p[3] + v * (p[4] + v * p[5]))))
    row1 = p[6] + v * (p[7] + v * (p[8] + v * (p[9] + v * p[10])))
    row2 = p[11] + v * (p[12] + v * (p[13] + v * p[14]))
    row3 = p[15] + v * (p[16] + v * p[17])
    row4 = p[18] + v * p[19]
    return float(row0 + u * (row1 + u * (row2 + u * (row3 + u * (row4 + u * p[20])))))


def _dense_ratios(discount: float) -> FloatArray:
    """Compute R(c, t) for 0 <= t <= c <= DENSE_LIMIT, row by row.

    Uses R(c+1, t) = R(c, t) (R(c, t-1) + c - (t-1) a) / (R(c, t) + c - t a), all terms positive,
    and R(c+1, c+1) = R(c, c) + c - c a.
    """
    packed = np.full((DENSE_LIMIT + 1) * (DENSE_LIMIT + 2) // 2, np.nan)
    packed[0] = 0.0  # an empty node: S(0, -1) = 0
    row = np.zeros(1)
    for customers in range(1, DENSE_LIMIT + 1):
        start = customers * (customers + 1) // 2
        packed[start + 1 : start + 1 + customers] = row
        # growth = S(c+1, t) / S(c, t) for t = 1 .. c
        growth = row + (customers - discount * np.arange(1, customers + 1))
        longer = np.zeros(customers + 1)
        longer[1:-1] = row[1:] * growth[:-1] / growth[1:]
        longer[-1] = growth[-1]
        row = longer
    return packed


def _dense_weights(discount: float, ratios: FloatArray) -> FloatArray:
    """Compute A0 and B1 at the places of the dense ratios."""
    weights = np.full((ratios.size, 2), np.nan)
    weights[0] = 0.0, 1.0
    for c in range(1, DENSE_LIMIT + 1):
        start = c * (c + 1) // 2
        t = np.arange(1.0, c + 1)
        row = ratios[start + 1 : start + 1 + c]
        entry = weights[start + 1 : start + 1 + c]
        entry[:, 0] = (c - t * discount + row) * (c + 1 - t) / (c + 1)
        entry[:-1, 1] = (1.0 + (c - t[1:] * discount) / row[1:]) * t[1:] / (c + 1)
        entry[-1, 1] = 1.0
    return weights


def _fit_patches(discount: float) -> FloatArray:
    """Compute the coefficients of G on all cells from samples at few points.

    G is sampled on Chebyshev points in log t and log e, block by block; the samples are
    interpolated to the Chebyshev points of the cells, whose expansions are truncated at total
    degree 5 and rewritten in powers. Everything except the truncation is linear, so one matrix per
    axis does it.
    """
    points, to_cells = _axis()
    count = points.size
    samples = np.zeros((count, count))
    # c <= DENSE_LIMIT in the corner of the first two blocks each way: never looked up
    corner = 2 * _BLOCK_POINTS
    used = np.ones((count, count), dtype=bool)
    used[:corner, :corner] = False
    t = np.broadcast_to(points[:, None], samples.shape)[used]
    e = np.broadcast_to(points[None, :], samples.shape)[used]
    samples[used] = _sample(discount, t, e)

    cells = _OCTAVES << _CELL_BITS
    size = _DEGREE + 1
    coefficients = (to_cells @ samples @ to_cells.T).reshape(cells, size, cells, size)
    degree = np.arange(size)
    kept = degree[:, None] + degree[None, :] <= _DEGREE
    coefficients *= kept[None, :, None, :]
    powers = _chebyshev_to_powers(size)
    coefficients = np.einsum("ki,aibj,lj->abkl", powers, coefficients, powers, optimize=True)
    return np.ascontiguousarray(coefficients[:, :, kept])


def _axis() -> tuple[FloatArray, FloatArray]:
    """Return the sample points of an axis and the map to Chebyshev coefficients of cells."""
    angle = np.pi * (np.arange(_BLOCK_POINTS) + 0.5) / _BLOCK_POINTS
    nodes = -np.cos(angle)
    barycentric = np.sin(angle) * (-1.0) ** np.arange(_BLOCK_POINTS)
    blocks = _OCTAVES // _BLOCK_OCTAVES
    log_points = _BLOCK_OCTAVES * (np.arange(blocks)[:, None] + (nodes + 1.0) / 2.0)

    # more points per cell than coefficients kept, so that truncated terms do not alias
    fit = 2 * (_DEGREE + 1)
    fit_angle = np.pi * (np.arange(fit) + 0.5) / fit
    inside = (1.0 - np.cos(fit_angle)) / 2.0
    degree = np.arange(_DEGREE + 1)
    project = np.cos(degree[:, None] * (np.pi - fit_angle)) * 2.0 / fit
    project[0] /= 2.0

    cells = 1 << _CELL_BITS
    mantissa = 1.0 + (np.arange(cells)[:, None] + inside) / cells
    to_cells = np.zeros((_OCTAVES, cells, _DEGREE + 1, blocks, _BLOCK_POINTS))
    for octave in range(_OCTAVES):
        block, part = divmod(octave, _BLOCK_OCTAVES)
        target = (part + np.log2(mantissa)) * 2.0 / _BLOCK_OCTAVES - 1.0
        weight = barycentric / (target[..., None] - nodes)
        weight /= weight.sum(axis=-1, keepdims=True)
        to_cells[octave, :, :, block, :] = project @ weight
    return np.exp2(log_points).ravel(), to_cells.reshape(-1, log_points.size)


def _chebyshev_to_powers(size: int) -> FloatArray:
    """Return the matrix from Chebyshev coefficients on [0, 1] to coefficients of powers."""
    rows = np.zeros((size, size))
    for degree in range(size):
        series = np.polynomial.Chebyshev.basis(degree, domain=[0.0, 1.0])
        rows[: degree + 1, degree] = series.convert(kind=np.polynomial.Polynomial).coef
    return rows


def _sample(discount: float, t: FloatArray, e: FloatArray) -> FloatArray:
    """Compute G(t, e) at any real t, e >= 1, by quadrature, in pieces that keep memory small."""
    out = np.empty_like(t)
    for start in range(0, t.size, 1024):
        piece = slice(start, start + 1024)
        out[piece] = _mean_inverse(discount, t[piece], e[piece])
    return out * e / (t + e - 1.0)


def _mean_inverse(discount: float, t: FloatArray, e: FloatArray) -> FloatArray:
    """Compute R(c, t) / (t - 1) as the mean of 1/f over a contour, c = t + e - 1.

    S(c, t) = (c-1)!/(t-1)! [x^(c-1)] f^(t-1) f', f(x) = (1 - (1-x)^a)/a; with x = 1 - exp(-s),

        S(c, t) = (c-1)!/(t-1)! (2 pi i)^-1 int f^(t-1) x^-c exp(-a s) ds

    on a contour from -inf below the origin to -inf above it. It crosses the real axis near
    the saddle point s0 and bends left as the steepest path does in either limit: around the
    pole at s = 0 (t near c), or around the branch point x = 1 (t small).
    """
    a = discount
    c = t + e - 1.0
    if a <= 0.95:
        points = 32
    elif a <= 0.995:
        points = 64
    else:
        points = 256
    start, width = _saddle(a, c, t, e)
    near_pole = start < 1.0
    scale = np.where(near_pole, start, 1.0)
    step = np.minimum(np.pi, 8.5 * width / scale) / points
    angle = step[:, None] * (np.arange(points) + 0.5)
    cotangent = 1.0 / np.tan(angle)
    offset = np.where(near_pole[:, None], angle * cotangent - 1.0, np.log(np.sin(angle) / angle))
    slope = np.where(
        near_pole[:, None], cotangent - angle * (1.0 + cotangent**2), cotangent - 1.0 / angle
    )
    s = start[:, None] + scale[:, None] * (offset + 1j * angle)

    f = -np.expm1(-a * s) / a if a > 0.0 else s
    f0 = -np.expm1(-a * start) / a if a > 0.0 else start
    x = -np.expm1(-s)
    x0 = -np.expm1(-start)
    # f^(t-1) x^-c = (f/x)^(t-1) x^-e: the base of the large power is near 1
    small = start < 0.02
    quotient = np.log(f * (x0 / f0)[:, None] / x)
    quotient[small] = _log_quotient(a, s[small]) - _log_quotient(a, start[small])[:, None]
    exponent = (
        (t - 1.0)[:, None] * quotient
        - e[:, None] * np.log(x / x0[:, None])
        - a * (s - start[:, None])
    )
    weight = np.exp(exponent) * (slope + 1j)
    # the lower half of the contour is the conjugate of the upper
    mean: FloatArray = (weight / f).imag.sum(axis=1) / weight.imag.sum(axis=1)
    return mean


def _log_quotient(a: float, s: npt.NDArray[np.inexact]) -> npt.NDArray[np.inexact]:
    """Compute log(f/x) by its series at s = 0, where the quotient itself would round to 1."""
    square = s * s
    inner = (1.0 - a**4) / 2880.0 - square * ((1.0 - a**6) / 181440.0)
    return (1.0 - a) / 2.0 * s - square * ((1.0 - a**2) / 24.0 - square * inner)


def _saddle(a: float, c: FloatArray, t: FloatArray, e: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Find where the contour crosses the real axis, and the width of the integrand there.

    The root of (c+1)/(exp(s)-1) = t a/(exp(a s)-1) + 2: the saddle point up to a few units in the
    exponents, which keep it from diverging if t is small; found by bisection of log s.
    """

    def planck(s: FloatArray) -> FloatArray:
        return s / np.expm1(s)

    low = np.log(0.1 * e / (c + 5.0))
    high = np.log(np.log(c + 2.0) + 1.0)
    for _ in range(45):
        middle = 0.5 * (low + high)
        s = np.exp(middle)
        right = t * planck(a * s) if a > 0.0 else t
        above = (c + 1.0) * planck(s) - right - 2.0 * s > 0.0
        low = np.where(above, middle, low)
        high = np.where(above, high, middle)
    s = np.exp(0.5 * (low + high))
    pull = a * a * np.exp(a * s) / np.expm1(a * s) ** 2 if a > 0.0 else 1.0 / s**2
    curvature = (c + 1.0) * np.exp(-s) / np.expm1(-s) ** 2 - t * pull
    return s, 1.0 / np.sqrt(curvature)
