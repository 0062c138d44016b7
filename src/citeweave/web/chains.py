"""Charts of the chains, for the diagnostics page and the report."""

from typing import NamedTuple

import numpy as np
from markupsafe import Markup

from citeweave.web.charts import for_all_screens, lines, trace_series
from citeweave.web.run_facts import RunFacts

__all__ = ["ChainChart", "chain_charts"]

SIZES = ((1140, 230), (330, 190))
"""Size of a chart on wide and on narrow screens."""

FIRST = 10
"""First iterations to clip: their steep climb would flatten the rest of the curve."""

_TRACES = {
    "log_posterior": (
        "Log posterior",
        (
            "The joint probability of topics, words, citations and parameters. It rises while "
            "topics form and drops when citations are switched on. A chain that has converged is "
            "flat, and chains that agree are flat at the same height."
        ),
    ),
    "log_likelihood": (
        "Log likelihood",
        (
            "A chain that has converged is flat, and chains that agree are flat at the same "
            "height. The height itself means little: it often falls while topics form."
        ),
    ),
    "topics": (
        "Topics in use",
        "The number of topics that have words, out of the maximum allowed.",
    ),
    "acceptance": (
        "Acceptance of citing topics",
        "The share of proposed citing topics that were accepted.",
    ),
}


_MAIN = ("log_posterior", "log_likelihood")
"""Traces that can be shown, in order of preference."""


class ChainChart(NamedTuple):
    """A chart of one trace over all chains: its name, heading, explanation and SVG."""

    name: str
    heading: str
    text: str
    svg: Markup


def chain_charts(run: RunFacts) -> list[ChainChart]:
    """Draw the traces of a sampled run, one line per chain; return nothing for other models."""
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
