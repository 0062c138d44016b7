"""A scan over numbers of topics, drawn: what held-out words and citations say of each."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from citeweave.explore.plots.style import OKABE_ITO, head, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot_scan"]

PANELS: tuple[tuple[str, Callable[[Any], float]], ...] = (
    ("Perplexity of held-out words (lower is better)", lambda row: row.perplexity),
    ("AUC of held-out citations", lambda row: row.auc),
    ("Coherence of topics (mean NPMI)", lambda row: row.coherence),
    ("Agreement of chains", lambda row: row.agreement),
)


def plot_scan(rows: Sequence[Any], recommended: int) -> "Figure":
    """Plot the measures of a scan against the number of topics, marking the recommended number.

    Parameters
    ----------
    rows : sequence of ScanRow
        From `citeweave.experiments.scan`.
    recommended : int
        Recommended maximum number of topics.
    """
    shown = [
        (title, values)
        for title, value in PANELS
        if np.isfinite(values := [value(row) for row in rows]).any()
    ]
    topics = [row.topics for row in rows]
    with styled():
        figure = new_figure(4.5, 1.35 * len(shown) + 0.4)
        axes = figure.subplots(len(shown), 1, sharex=True, squeeze=False)[:, 0]
        for ax, (title, values) in zip(axes, shown, strict=True):
            ax.axvline(recommended, color="#bbbbbb", linewidth=4, zorder=0)
            ax.plot(topics, values, color=OKABE_ITO[0], marker="o", markersize=3.5)
            head(ax, title)
        _mark_words(axes[0], rows)
        axes[-1].set_xscale("log", base=2)
        axes[-1].set_xticks(topics, [f"{n:,}" for n in topics])
        axes[-1].minorticks_off()
        axes[-1].set_xlabel("Largest number of topics")
    return figure


def _mark_words(ax: "Axes", rows: Sequence[Any]) -> None:
    """Show one standard error of the difference to the best on both sides of each perplexity."""
    middle = np.array([row.perplexity for row in rows])
    error = np.array([row.error for row in rows])
    ax.fill_between(
        [row.topics for row in rows],
        middle * np.exp(-error),
        middle * np.exp(error),
        color=OKABE_ITO[0],
        alpha=0.2,
        linewidth=0,
    )
