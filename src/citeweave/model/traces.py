"""Traces: the values that steps report, one per iteration and chain."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from citeweave.engines.core.data import Info

__all__ = ["TRACES", "ShownTrace", "new_traces", "record", "shown_trace"]

TRACES = (
    "log_posterior",
    "log_likelihood",
    "acceptance",
    "word_acceptance",
    "topics",
    "blocked",
    "blocked_citations",
    "rate",
    "seconds",
)
"""Fields of `Info` that are kept for every iteration, in addition to the concentrations."""

_EARLY = 50
"""Initial iterations, in which every engine measures the log posterior at least once."""


class ShownTrace(NamedTuple):
    """The trace by which a run is displayed and judged."""

    name: str
    words: str
    """Display name."""
    values: np.ndarray
    """Shape (chains, iterations); nan for iterations without a measurement."""


def shown_trace(traces: Mapping[str, np.ndarray]) -> ShownTrace | None:
    """Return the trace that shows whether chains still rise and whether they agree.

    The joint log posterior or, for runs of earlier releases that did not measure it throughout, the
    log likelihood of words. None for a model that was not sampled.

    Examples
    --------
    >>> shown_trace({"log_likelihood": np.zeros((2, 5))}).words
    'log likelihood'
    """
    for name in ("log_posterior", "log_likelihood"):
        if name not in traces:
            continue
        values = np.asarray(traces[name], np.float64)
        # for runs begun by an earlier release, only a later part is known
        if name == "log_likelihood" or np.isfinite(values[:, :_EARLY]).any():
            return ShownTrace(name, name.replace("_", " "), values)
    return None


def new_traces(level_names: Sequence[str], iterations: int) -> dict[str, np.ndarray]:
    """Allocate the traces of one chain, filled with nan."""
    traces = {name: np.full(iterations, np.nan) for name in TRACES}
    traces["concentrations"] = np.full((iterations, len(level_names)), np.nan)
    return traces


def record(traces: Mapping[str, np.ndarray], info: Info) -> None:
    """Record the report of a step in the traces."""
    row = info.iteration - 1
    for name in TRACES:
        traces[name][row] = getattr(info, name)
    traces["concentrations"][row] = info.concentrations
