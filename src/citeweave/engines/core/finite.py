"""Stop a run whose weights or parameters are not finite: its results would silently be wrong.

A single weight of infinity or nan makes the sums over topics meaningless, and a sweep would not
notice: it would move tokens to whatever topic comes last. Every step therefore checks the numbers
that sweeps read.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from citeweave.engines.core.arrays import Array
from citeweave.errors import RunError

__all__ = [
    "LEAST_SINGLE",
    "MOST_SINGLE",
    "Watched",
    "check_finite",
    "fault",
    "row_window",
]

_SINGLE = np.finfo(np.float32)
LEAST_SINGLE = float(_SINGLE.tiny)
"""Smallest number whose inverse is finite in single precision."""
MOST_SINGLE = float(_SINGLE.max)
_CELLS_PER_TOKEN = 8
"""Weights of words and topics checked per token: checking one takes a thousandth of the time of
sampling a token."""


class Watched(NamedTuple):
    """Numbers that must be finite."""

    what: str
    """Description, with the symbol."""
    values: Array
    least: float = 0.0
    """Smaller values are errors too."""
    first: int = 0
    """Index of the first row, if the values are only some of the rows."""


def row_window(iteration: int, n_rows: int, width: int, n_tokens: int) -> slice:
    """Choose the rows of weights that a step checks: all, or a different part each step.

    Examples
    --------
    >>> row_window(3, 1_000, 16, 50_000)
    slice(0, 1000, None)
    >>> [row_window(i, 1_000, 4_096, 200_000) for i in range(3)]
    [slice(0, 390, None), slice(390, 780, None), slice(780, 1170, None)]
    """
    rows = min(max(_CELLS_PER_TOKEN * n_tokens // width, 1), n_rows)
    turns = -(-n_rows // rows)
    first = iteration % turns * rows
    return slice(first, first + rows)


def check_finite(watched: Iterable[Watched], *, iteration: int, prior: tuple[float, float]) -> None:
    """Check that all numbers are finite in single precision and none is too small.

    ``iteration`` (the current one) and ``prior`` (that of concentrations) are for the message.

    Raises
    ------
    RunError
        States which number is not finite, and what to do.

    Examples
    --------
    >>> import numpy as np
    >>> shares = Watched("1 / (beta + C) of phi", np.array([0.1, np.inf]))
    >>> check_finite([shares], iteration=7, prior=(0.03, 0.03))
    Traceback (most recent call last):
    ...
    citeweave.errors.RunError: Iteration 7 stops: 1 / (beta + C) of phi at 1 is inf. ...
    """
    for what, values, least, first in watched:
        if values.size == 0 or (values.min() >= least and values.max() <= MOST_SINGLE):
            continue
        bad = ~((values >= least) & (values <= MOST_SINGLE))
        place = [int(i) for i in np.argwhere(bad)[0]]
        value = values[tuple(place)]
        place[0] += first
        raise fault(
            f"{what} at {', '.join(map(str, place))} is {value}", iteration=iteration, prior=prior
        )


def fault(what: str, *, iteration: int, prior: tuple[float, float]) -> RunError:
    """Make the error that stops a run whose weights or parameters are not finite."""
    return RunError(
        f"Iteration {iteration} stops: {what}. Continuing would give wrong topics; earlier "
        "checkpoints are valid. A concentration may have left the range of single precision: fit "
        f"again with a less vague concentration_prior (it is {prior[0]:g}, {prior[1]:g}), or with "
        "levels that share a concentration."
    )
