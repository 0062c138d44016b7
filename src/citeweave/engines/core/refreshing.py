"""When proposals are made anew: tables that stand still between ever rarer iterations."""

from math import isqrt

__all__ = ["is_refreshed"]


def is_refreshed(iteration: int) -> bool:
    """Say whether tables are made anew before an iteration: more and more rarely.

    The gap after iteration i is the square root of i: 94 times in 2,000 iterations.

    >>> [i for i in range(40) if is_refreshed(i)]
    [0, 1, 2, 3, 4, 6, 8, 10, 13, 16, 20, 24, 28, 33, 38]
    """
    at = 0
    while at < iteration:
        at += max(isqrt(at), 1)
    return at == iteration
