"""Two models compared on the same folds: differences fold by fold, and tests at 5 %."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from reproduction.base import Cell, Spread, Table, spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citeweave.experiments import Table as Values

__all__ = ["Comparison", "compare", "comparisons_table"]

LEVEL = 0.05
TEST_SHARE = 0.1
SMALLEST = 0.0001

_NOTE = (
    "Differences are taken fold by fold (split by split), because models share folds. p is that of "
    "the two-sided paired t-test, which treats folds as independent, as the paper's test must have "
    "done. Folds share training papers, so the corrected p also accounts for the resulting "
    "variance (Nadeau and Bengio, 2003)."
)


class Comparison(NamedTuple):
    """Difference between two models, on the same folds."""

    gaps: Spread
    """Mean and standard deviation of the differences."""
    lower: int
    """Number of folds on which the first has the lower value."""
    p: float | None
    """p-value of the paired t-test; None for a single fold."""
    corrected: float | None
    """The same, corrected for the training papers that folds share."""


def compare(one: Values, other: Values) -> Comparison | None:
    """Compare the values of two models on common folds; None if there are none.

    Examples
    --------
    >>> from citeweave.experiments import Row, Table
    >>> def rows(values):
    ...     return Table(
    ...         Row("cora", "m", f"{n}/3", 1, "perplexity", "test", value, "")
    ...         for n, value in enumerate(values)
    ...     )
    >>> found = compare(rows([600, 610, 620]), rows([630, 638, 652]))
    >>> found.gaps, found.lower, round(found.p, 4), round(found.corrected, 4)
    (Spread(mean=-30.0, sd=2.0, n=3), 3, 0.0015, 0.002)
    """
    from scipy.stats import t  # noqa: PLC0415 (a second to load)

    others = {(row.fold, row.seed): row.value for row in other}
    gaps = [row.value - others[row.fold, row.seed] for row in one if (row.fold, row.seed) in others]
    mean = spread(gaps)
    if mean is None:
        return None
    lower = sum(gap < 0 for gap in gaps)
    if not mean.sd:
        return Comparison(mean, lower, None, None)
    n = len(gaps)
    variances = (1 / n, 1 / n + TEST_SHARE / (1 - TEST_SHARE))
    plain, corrected = (
        float(2 * t.sf(abs(mean.mean) / (mean.sd * math.sqrt(part)), n - 1)) for part in variances
    )
    return Comparison(mean, lower, plain, corrected)


def comparisons_table(
    title: str, rows: Sequence[tuple[str, str, str, Comparison]], *, notes: Sequence[str] = ()
) -> Table:
    """Show comparisons, each with its data set, the model and the one compared with."""
    columns = ["set", "model", "minus", "folds", "difference", "lower in", "p", "p, corrected"]
    found: list[list[Cell]] = []
    for name, one, other, compared in rows:
        row: list[Cell] = [name, one, other, compared.gaps.n, compared.gaps, compared.lower]
        row += [_shown(compared.p), _shown(compared.corrected), _verdict(compared)]
        found.append(row)
    return Table(
        title=title,
        columns=[*columns, "at 5 %"],
        rows=found,
        decimals={"difference": 1, "p": 4, "p, corrected": 4},  # also in rows that were read
        notes=[_NOTE, *notes],
    )


def _shown(p: float | None) -> str | None:
    if p is None:
        return None
    return f"{p:.4f}" if p >= SMALLEST else f"below {SMALLEST}"


def _verdict(compared: Comparison) -> str | None:
    if compared.p is None or compared.corrected is None:
        return None
    way = "lower" if compared.gaps.mean < 0 else "higher"
    if compared.corrected < LEVEL:
        return way
    return f"{way} by the plain test alone" if compared.p < LEVEL else "no difference"
