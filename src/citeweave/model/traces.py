"""Traces: a value an iteration and chain of what steps report."""

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
"""Fields of `Info` of which a value an iteration is kept, beside the concentrations."""

_EARLY = 50
"""First iterations, in which every engine measures the log posterior at least once."""


class ShownTrace(NamedTuple):
    """The trace by which a run is shown and judged."""

    name: str
    words: str
    """The name as people read it."""
    values: np.ndarray
    """Shape (chains, iterations); nan where nothing was measured."""


def shown_trace(traces: Mapping[str, np.ndarray]) -> ShownTrace | None:
    """Give the trace that tells whether chains still climb and whether they agree.

    The joint log posterior; of runs of earlier releases, which did not measure it all the way, the
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
        # of a run that an earlier release began, only a later part is known
        if name == "log_likelihood" or np.isfinite(values[:, :_EARLY]).any():
            return ShownTrace(name, name.replace("_", " "), values)
    return None


def new_traces(level_names: Sequence[str], iterations: int) -> dict[str, np.ndarray]:
    """Make room for the traces of one chain, nan where nothing is known yet."""
    traces = {name: np.full(iterations, np.nan) for name in TRACES}
    traces["concentrations"] = np.full((iterations, len(level_names)), np.nan)
    return traces


def record(traces: Mapping[str, np.ndarray], info: Info) -> None:
    """Enter what a step reports into the traces."""
    row = info.iteration - 1
    for name in TRACES:
        traces[name][row] = getattr(info, name)
    traces["concentrations"][row] = info.concentrations
