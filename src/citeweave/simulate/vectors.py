"""Probability vectors from GEM distributions and Pitman-Yor processes, by stick-breaking.

A stick has length V_j ~ Beta(1 - a, b + j a) times the remainder and falls on an index drawn from
the base. The remainder after the last stick is again a Pitman-Yor process, of concentration b + J
a, around the base; it is replaced by its mean, that is, spread over the base. On the topic side
(discount 0.01) that is less than `TOLERANCE` of the mass. On the word side (discount 0.7) sticks
shrink so slowly that a few percent remain, which consist of many small sticks.
"""

import numpy as np

from citeweave.compiled import kernel
from citeweave.simulate._random import beta, find, uniform

__all__ = ["TOLERANCE", "draw_gem", "draw_pyp", "draw_pyp_rows"]

TOLERANCE = 1e-3
_MOST_STICKS = 1000


def draw_gem(
    size: int, discount: float, concentration: float, rng: np.random.Generator
) -> np.ndarray:
    """Draw mu ~ GEM truncated to `size` sticks, scaled to sum to one."""
    steps = np.arange(1, size + 1)
    sticks = rng.beta(1.0 - discount, concentration + discount * steps)
    left = np.concatenate(([1.0], np.cumprod(1.0 - sticks)[:-1]))
    lengths = np.maximum(sticks * left, np.finfo(float).tiny)
    return np.asarray(lengths / lengths.sum())


def draw_pyp(
    base: np.ndarray,
    discount: float,
    concentration: float,
    rng: np.random.Generator,
    *,
    sticks: int,
) -> np.ndarray:
    """Draw one long vector (a word distribution) from PYP(discount, concentration, base)."""
    steps = np.arange(1, sticks + 1)
    shares = rng.beta(1.0 - discount, concentration + discount * steps)
    left = np.cumprod(1.0 - shares)
    lengths = shares * np.concatenate(([1.0], left[:-1]))
    running = np.cumsum(base)
    places = np.searchsorted(running, rng.random(sticks) * running[-1], side="right")
    vector = np.bincount(np.minimum(places, len(base) - 1), weights=lengths, minlength=len(base))
    vector += left[-1] * base
    return np.asarray(vector / vector.sum())


@kernel
def draw_pyp_rows(
    bases: np.ndarray,
    parents: np.ndarray,
    discount: float,
    concentration: float,
    state: np.ndarray,
    out: np.ndarray,
) -> None:
    """Draw `out[i]` ~ PYP(discount, concentration, bases[parents[i]]) for every row i.

    Equals, up to the random numbers, `draw_pyp(bases[parents[i]], ...)` row by row, with as many
    sticks as leave less than TOLERANCE.
    """
    width = bases.shape[1]
    running = np.empty(width)
    vector = np.empty(width)
    for i in range(len(parents)):
        base = bases[parents[i]]
        total = 0.0
        for k in range(width):
            total += base[k]
            running[k] = total
            vector[k] = 0.0
        left = 1.0
        steps = 0
        while left > TOLERANCE and steps < _MOST_STICKS:
            steps += 1
            stick = left * beta(1.0 - discount, concentration + discount * steps, state)
            vector[find(running, uniform(state) * total)] += stick
            left -= stick
        for k in range(width):
            out[i, k] = vector[k] + left * base[k] / total
