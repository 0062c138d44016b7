"""Charts of the chains, for the page of diagnostics and for the report."""

from typing import NamedTuple

import numpy as np
from markupsafe import Markup

from citeweave.web.charts import for_all_screens, lines, trace_series
from citeweave.web.run_facts import RunFacts

__all__ = ["ChainChart", "chain_charts"]

SIZES = ((1140, 230), (330, 190))
"""Of a chart on wide and on narrow screens."""

FIRST = 10
"""Iterations whose climb would press all that follows into a line."""

_TRACES = {
    "log_posterior": (
        "Log posterior",
        (
            "How probable all that was drawn is: topics, words, citations and parameters together. "
            "It rises while topics form and drops where citations begin to count. A chain that has "
            "settled is level, and chains that agree are level at the same height."
        ),
    ),
    "log_likelihood": (
        "Log likelihood",
        (
            "A chain that has settled is level, and chains that agree are level at the same "
            "height. The height itself says little: while topics form, it often falls."
        ),
    ),
    "topics": ("Topics in use", "How many topics have words, out of those allowed."),
    "acceptance": (
        "Acceptance of citing topics",
        "Share of proposed topics of citations that were accepted.",
    ),
}


_MAIN = ("log_posterior", "log_likelihood")
"""The trace that is shown is one of these."""


class ChainChart(NamedTuple):
    """A trace of all chains: the trace, a heading, what it tells, and the drawing."""

    name: str
    heading: str
    text: str
    svg: Markup


def chain_charts(run: RunFacts) -> list[ChainChart]:
    """Draw the traces of a run that was sampled, a line a chain; none for another."""
    charts = []
    for name, (heading, text) in _TRACES.items():
        main = run.shown is not None and name == run.shown.name
        if name not in run.traces or (name in _MAIN and not main):
            continue
        trace = np.asarray(run.traces[name], np.float64)
        reached = np.flatnonzero(np.isfinite(trace).any(axis=0))
        if not len(reached):
            continue
        trace = trace[:, : reached[-1] + 1]
        early = trace[:, min(FIRST, trace.shape[1] - 1) :]
        climbing = main and np.isfinite(early).any()
        wide, narrow = (
            lines(
                trace_series(trace),
                label=f"{heading} by iteration",
                marks=_marks(run, trace.shape[1]),
                width=width,
                height=height,
                from_zero=not main,
                lowest=float(np.nanmin(early)) if climbing else None,
            )
            for width, height in SIZES
        )
        if wide:
            charts.append(ChainChart(name, heading, text, for_all_screens(wide, narrow)))
    return charts


def _marks(run: RunFacts, iterations: int) -> list[tuple[float, str]]:
    network, burn_in = run.plan["network_from"], run.plan["burn_in"]
    marks = []
    if network and network < iterations:
        marks.append((float(network) + 1, "citations from here"))
    if burn_in and burn_in < iterations and burn_in != network:
        marks.append((float(burn_in) + 1, "samples kept from here"))
    return marks
