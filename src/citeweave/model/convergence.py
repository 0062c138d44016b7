"""Have the chains converged? Rank-normalised split R-hat and effective sample size.

As in Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021), "Rank-normalization, folding, and
localization: an improved R-hat". A trace has the shape (chains, draws), as those of
`SCNTM.traces_`; leave out the iterations before burn-in. Each chain is cut into halves, which also
reveals a single drifting chain.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from citeweave.errors import ParameterError

__all__ = ["Convergence", "convergence", "effective_sample_size", "split_rhat", "tail_sample_size"]

FEWEST_DRAWS = 4
"""Minimum number of draws per chain: two in each half."""


class Convergence(NamedTuple):
    """Measures of one trace: mean over all draws, R-hat, bulk and tail effective sample size.

    Examples
    --------
    >>> from citeweave.evaluate import Convergence
    >>> Convergence(mean=0.1, rhat=1.003, bulk=950.0, tail=870.0).rhat < 1.01
    True
    """

    mean: float
    rhat: float
    bulk: float
    tail: float


def split_rhat(trace: Any) -> float:
    """Compute the rank-normalised split R-hat, the larger of the plain and the folded one.

    Near 1 if the half chains agree in location and spread; values above 1.01 suggest more
    iterations. Infinite if half chains are constant at different values, and nan if all draws are
    equal.

    Parameters
    ----------
    trace : array-like, shape (chains, draws)

    Examples
    --------
    >>> import numpy as np
    >>> draws = np.random.default_rng(0).normal(size=(4, 500))
    >>> split_rhat(draws) < 1.01, split_rhat(draws + np.arange(4)[:, None]) > 1.5
    (True, True)
    """
    halves = _halves(_as_trace(trace))
    folded = np.abs(halves - np.median(halves))
    values = [_rhat(_normal_scores(part)) for part in (halves, folded)]
    # |x - median| may be constant (a trace of two values) although the trace is not
    known = [value for value in values if not np.isnan(value)]
    return max(known) if known else float("nan")


def effective_sample_size(trace: Any) -> float:
    """Estimate the bulk effective sample size: the equivalent number of independent draws.

    Computed from rank-normalised split chains, with autocorrelations summed by Geyer's initial
    monotone sequence. nan if all draws are equal.

    Parameters
    ----------
    trace : array-like, shape (chains, draws)

    Examples
    --------
    >>> import numpy as np
    >>> from citeweave.evaluate import effective_sample_size
    >>> draws = np.random.default_rng(0).normal(size=(4, 250))
    >>> steps = np.cumsum(draws, axis=1)
    >>> effective_sample_size(draws) > 500, effective_sample_size(steps) < 50
    (True, True)
    """
    return _sample_size(_normal_scores(_halves(_as_trace(trace))))


def tail_sample_size(trace: Any) -> float:
    """Estimate the tail effective sample size: the smaller of those of the 5 % and 95 % quantiles.

    nan if the indicators of both quantiles are constant.

    Parameters
    ----------
    trace : array-like, shape (chains, draws)

    Examples
    --------
    >>> import numpy as np
    >>> from citeweave.evaluate import tail_sample_size
    >>> tail_sample_size(np.random.default_rng(0).normal(size=(4, 250))) > 300
    True
    """
    halves = _halves(_as_trace(trace))
    sizes = [
        _sample_size((halves <= quantile).astype(np.float64))
        for quantile in np.quantile(halves, [0.05, 0.95])
    ]
    known = [size for size in sizes if not np.isnan(size)]
    return min(known) if known else float("nan")


def convergence(trace: Any) -> Convergence:
    """Return all measures of one trace of shape (chains, draws).

    Examples
    --------
    >>> import numpy as np
    >>> from citeweave.evaluate import convergence
    >>> found = convergence(np.random.default_rng(0).normal(size=(4, 250)))
    >>> found.rhat < 1.01, found.bulk > 500
    (True, True)
    """
    values = _as_trace(trace)
    return Convergence(
        mean=float(values.mean()),
        rhat=split_rhat(values),
        bulk=effective_sample_size(values),
        tail=tail_sample_size(values),
    )


def _as_trace(trace: Any) -> np.ndarray:
    values = np.asarray(trace, dtype=np.float64)
    if values.ndim != 2 or values.shape[0] < 1 or values.shape[1] < FEWEST_DRAWS:
        raise ParameterError(
            f"'trace' must have the shape (chains, draws) with at least {FEWEST_DRAWS} draws. "
            f"Got shape {values.shape} instead."
        )
    if not np.isfinite(values).all():
        chain, draw = np.argwhere(~np.isfinite(values))[0].tolist()
        raise ParameterError(
            "'trace' must hold finite numbers; leave out iterations where a value is not defined. "
            f"Got {values[chain, draw]} in chain {chain}, draw {draw} instead."
        )
    return values


def _halves(values: np.ndarray) -> np.ndarray:
    """Cut each chain in two; the middle draw of an odd number is left out."""
    half = values.shape[1] // 2
    return np.concatenate((values[:, :half], values[:, -half:]))


def _normal_scores(values: np.ndarray) -> np.ndarray:
    """Replace values by normal quantiles of their ranks among all (ties share the mean rank)."""
    from scipy.stats import rankdata  # noqa: PLC0415 (slow to import: the explorer starts without)

    ranks = rankdata(values, method="average").reshape(values.shape)
    return np.asarray(ndtri((ranks - 0.375) / (values.size + 0.25)))


def _rhat(values: np.ndarray) -> float:
    draws = values.shape[1]
    within = values.var(axis=1, ddof=1).mean()
    between = draws * values.mean(axis=1).var(ddof=1)
    if np.ptp(values) == 0.0:
        return float("nan")
    if within == 0.0:
        return float("inf")
    return float(np.sqrt((between / within + draws - 1) / draws))


def _autocovariance(values: np.ndarray) -> np.ndarray:
    """Compute the autocovariance of each row at every lag, divided by the number of draws.

    Equals ``[[(x[:n - t] - m) @ (x[t:] - m) / n for t in range(n)] for x in values]``.
    """
    draws = values.shape[1]
    size = 1 << int(2 * draws - 1).bit_length()  # zero-padded, so that nothing wraps around
    spectrum = np.fft.rfft(values - values.mean(axis=1, keepdims=True), n=size)
    return np.asarray(np.fft.irfft(np.abs(spectrum) ** 2, n=size)[:, :draws] / draws)


def _sample_size(values: np.ndarray) -> float:
    """Estimate the effective sample size of several chains (Vehtari et al. 2021, section 3.2)."""
    if np.ptp(values) == 0.0:
        return float("nan")
    chains, draws = values.shape
    covariance = _autocovariance(values).mean(axis=0)
    within = covariance[0] * draws / (draws - 1)
    pooled = covariance[0] + values.mean(axis=1).var(ddof=1)
    correlation = 1.0 - (within - covariance * draws / (draws - 1)) / pooled
    correlation[0] = 1.0
    # sums of neighbouring pairs are positive and falling for a reversible chain: cut at the first
    # that is not positive, and let none exceed the one before it
    pairs = correlation[: draws - draws % 2].reshape(-1, 2).sum(axis=1)
    negative = np.flatnonzero(pairs <= 0.0)
    if len(negative):
        pairs = pairs[: negative[0]]
    time = -1.0 + 2.0 * np.minimum.accumulate(pairs).sum()
    # alternating draws may be worth more than independent ones; bounded as in the paper
    total = chains * draws
    return float(total / max(time, 1.0 / np.log10(total)))
