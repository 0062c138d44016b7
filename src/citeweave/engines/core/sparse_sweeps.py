"""The rules of sparse sweeps, for all engines: when to use them, and their proposals."""

from collections.abc import Mapping
from math import isqrt

import numpy as np

__all__ = ["MOST_LISTED", "SPARSE_FROM", "RefreshSchedule", "is_refreshed"]

SPARSE_FROM = 256
"""Number of topics from which sweeps are sparse; at 200, both kinds take the same time on an
H200."""
MOST_LISTED = 64
"""Maximum number of topics of an author to include them in the slots of the author's documents."""
_FROZEN = "frozen"
"""Name in checkpoints."""


def is_refreshed(iteration: int) -> bool:
    """Return whether adaptive proposals are rebuilt before an iteration; this becomes ever rarer.

    The gap after iteration i is the square root of i, which gives 94 times in 2,000 iterations.

    >>> [i for i in range(40) if is_refreshed(i)]
    [0, 1, 2, 3, 4, 6, 8, 10, 13, 16, 20, 24, 28, 33, 38]
    """
    at = 0
    while at < iteration:
        at += max(isqrt(at), 1)
    return at == iteration


class RefreshSchedule:
    """Schedule for rebuilding a chain's proposal tables: by `is_refreshed`, until it is frozen.

    With fixed tables, a sweep leaves the posterior invariant. Tables that are repeatedly rebuilt
    from the present state favour the region where the chain has just been, and the chain would not
    converge exactly to the posterior: it may adapt during burn-in, but not while samples are kept.

    Examples
    --------
    >>> schedule = RefreshSchedule()
    >>> schedule.is_due(7)  # there are no tables yet
    True
    >>> schedule.made = True
    >>> schedule.is_due(7), schedule.is_due(8)
    (False, True)
    >>> schedule.frozen = True
    >>> schedule.is_due(8)
    False
    """

    def __init__(self) -> None:
        self.made = False
        """Whether this chain has tables."""
        self.frozen = False
        """Whether existing tables are kept."""

    def is_due(self, iteration: int) -> bool:
        """Return whether tables must be rebuilt before an iteration."""
        return not self.made or (not self.frozen and is_refreshed(iteration))

    def export(self) -> dict[str, np.ndarray]:
        """Return what a checkpoint stores in addition to the tables."""
        return {_FROZEN: np.ones(1, np.uint8)} if self.frozen else {}

    def restore(self, stored: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Restore the schedule, and return the stored tables, if any."""
        tables = dict(stored)
        self.frozen = bool(np.any(tables.pop(_FROZEN, False)))
        self.made = False
        return tables
