"""When proposals are made anew: tables that stand still between ever rarer iterations."""

__all__ = ["is_refreshed"]

_GROWTH = 1.3


def is_refreshed(iteration: int) -> bool:
    """Say whether tables are made anew before an iteration: more and more rarely.

    The iterations are 0, 1, 2, 3, ..., each 1.3 times the one before.

    >>> [i for i in range(40) if is_refreshed(i)]
    [0, 1, 2, 3, 4, 5, 6, 7, 9, 11, 14, 18, 23, 29, 37]
    """
    at = 0
    while at < iteration:
        at = max(at + 1, int(at * _GROWTH))
    return at == iteration
