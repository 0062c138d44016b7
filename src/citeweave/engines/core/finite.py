"""Weights and parameters that are no numbers end a run: sampling on would go wrong in silence.

One weight of infinity or nan makes the sums of all topics meaningless, and a sweep notices nothing:
it moves tokens to whatever topic comes last. So every step looks at what sweeps read.
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
"""Least number whose inverse single precision can hold."""
MOST_SINGLE = float(_SINGLE.max)
_CELLS_PER_TOKEN = 8
"""Weights of words and topics that a step looks at, for each token it moves: a look at one takes a
thousandth of the time that it takes to move a token."""


class Watched(NamedTuple):
    """Numbers that must be what they stand for."""

    what: str
    """In words, with the symbol."""
    values: Array
    least: float = 0.0
    """Smaller ones are faults too."""
    first: int = 0
    """Number of the first row, where the values are a part."""


def row_window(iteration: int, n_rows: int, width: int, n_tokens: int) -> slice:
    """Choose the rows of weights that a step looks at: all, or by turns where they are many.

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
    """Make sure that all numbers are finite in single precision, and none is below its least.

    ``iteration`` is the one under way and ``prior`` that of concentrations, for the message.

    Raises
    ------
    RunError
        Which number is none, and what to do.

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
    """Make the error that ends a run whose weights or parameters are no numbers."""
    return RunError(
        f"Iteration {iteration} stops: {what}. Topics cannot be weighed with that, and going on "
        "would give wrong ones. Earlier checkpoints are in order. Draws of concentrations may have "
        "left what single precision can hold: fit again with a less vague concentration_prior "
        f"(it is {prior[0]:g}, {prior[1]:g}), or with levels that share a concentration."
    )
