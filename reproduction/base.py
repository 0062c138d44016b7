"""Experiments: functions from a `Context` to an `Outcome` of tables and figures."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from citeweave.errors import ParameterError
from reproduction.context import Context

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

__all__ = [
    "Cell",
    "Context",
    "Experiment",
    "Figure",
    "Outcome",
    "Spread",
    "Table",
    "difference",
    "spread",
]


class Spread(NamedTuple):
    """A mean with its standard deviation over runs or folds; `sd` is None for a single one."""

    mean: float
    sd: float | None = None
    n: int = 1


Cell = str | int | float | bool | Spread | None
"""Values of table cells; None is a missing figure, shown as a dash."""


def spread(values: Iterable[float]) -> Spread | None:
    """Summarise repeated figures by mean and standard deviation (n - 1); None if there are none.

    Examples
    --------
    >>> spread([1.0, 2.0, 3.0])
    Spread(mean=2.0, sd=1.0, n=3)
    >>> spread([]) is None
    True
    """
    numbers = [float(value) for value in values]
    if not numbers:
        return None
    sd = statistics.stdev(numbers) if len(numbers) > 1 else None
    return Spread(statistics.fmean(numbers), sd, len(numbers))


def difference(ours: Cell, paper: Cell) -> float | None:
    """Subtract the paper's figure from ours; None if one of them is missing.

    Examples
    --------
    >>> difference(Spread(700.0, 2.0), 688.0)
    12.0
    >>> difference(None, 688.0) is None
    True
    """
    values = [cell.mean if isinstance(cell, Spread) else cell for cell in (ours, paper)]
    if any(not isinstance(value, int | float) or isinstance(value, bool) for value in values):
        return None
    mine, printed = (float(value) for value in values)  # type: ignore[arg-type]
    if math.isnan(mine) or math.isnan(printed):
        return None
    return mine - printed


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table of an outcome.

    Attributes
    ----------
    title : str
        What it shows, and for which data.
    columns : tuple of str
        Column headings.
    rows : tuple of tuples
        Cells, one per column in each row.
    decimals : mapping
        Decimal places by column; 3 for other columns of non-integers.
    notes : tuple of str
        Notes for the reader, shown below the table.
    signed : tuple of str
        Columns shown with their sign, such as differences.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    decimals: Mapping[str, int] = field(default_factory=dict)
    notes: Sequence[str] = ()
    signed: Sequence[str] = ("difference",)

    def __post_init__(self) -> None:
        """Check the shape."""
        for number, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                raise ParameterError(
                    f"Row {number} of the table {self.title!r} must have {len(self.columns)} "
                    f"cells, one for each column. Got {len(row)} instead: {tuple(row)!r}."
                )
        unknown = [name for name in self.decimals if name not in self.columns]
        if unknown:
            raise ParameterError(
                f"The 'decimals' of the table {self.title!r} must be keyed by columns "
                f"({', '.join(self.columns)}). Got {unknown[0]!r} instead."
            )


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A picture of an outcome: the numbers, and the drawing that shows them.

    The numbers go into the JSON file, so that a picture can be drawn later, on a machine that
    has matplotlib.

    Attributes
    ----------
    name : str
        Short name for files: letters, digits and hyphens.
    caption : str
        What it shows.
    drawing : str
        Name of a function of `reproduction.drawings`.
    data : mapping
        Arguments of that function, JSON-serialisable.
    table : Table
        The same numbers (or enough of them) as rows; written as CSV next to the picture.
    """

    name: str
    caption: str
    drawing: str
    data: Mapping[str, Any]
    table: Table


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The result of an experiment.

    Attributes
    ----------
    title : str
        Heading of its page.
    protocol : str
        Description of the method, exact enough to be repeated; paragraphs separated by blank lines.
    tables, figures : sequences
        In reading order.
    notes : sequence of str
        Notes below all of them: differences from the paper, missing results, findings.
    seeds : sequence of int
        All seeds that were used.
    facts : mapping
        Further figures for programs, JSON-serialisable.
    """

    title: str
    protocol: str
    tables: Sequence[Table] = ()
    figures: Sequence[Figure] = ()
    notes: Sequence[str] = ()
    seeds: Sequence[int] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """One table or figure of the paper, and how it is reproduced.

    Attributes
    ----------
    name : str
        Name on the command line.
    label : str
        Label of the table, figure or section in the paper's source, such as "tbl:datasets".
    what : str
        Description in one line.
    datasets : tuple of str
        Data sets that are used by default.
    quick_datasets : tuple of str
        The same with ``--quick``; sets that are not on this computer are left out, and the demo
        corpus is used if none are left.
    run : callable
        Runs the experiment.
    conclude : callable, optional
        Returns notes on the tables as shown, including rows of earlier runs.
    """

    name: str
    label: str
    what: str
    datasets: Sequence[str]
    quick_datasets: Sequence[str]
    run: Callable[[Context], Outcome]
    conclude: Callable[[Context, Sequence[Table]], list[str]] = field(
        default=lambda _context, _tables: []
    )
