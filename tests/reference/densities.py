"""Draws of one number against the density that they should have."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

GRID = np.linspace(1e-3, 14.0, 1500)
"""Where densities of concentrations are summed; beyond it they are nothing."""


def draws_have_density(draws: Sequence[float], log_density: Callable[[float], float]) -> None:
    """Assert that mean and spread are those of the density, the mean by means of batches."""
    logs = np.array([log_density(value) for value in GRID])
    weight = np.exp(logs - logs.max())
    weight /= weight.sum()
    mean = weight @ GRID
    spread = np.sqrt(weight @ (GRID - mean) ** 2)
    batches = np.array([batch.mean() for batch in np.array_split(np.array(draws), 40)])
    assert abs(np.mean(draws) - mean) < 4.0 * batches.std(ddof=1) / np.sqrt(40)
    assert np.std(draws) == pytest.approx(spread, rel=0.08)
