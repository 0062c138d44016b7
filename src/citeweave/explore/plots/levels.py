"""Topics of venues, periods and other levels that divide papers, with their intervals."""

from typing import TYPE_CHECKING, Any

import numpy as np

from citeweave.errors import NotFoundError
from citeweave.explore.facts import Z90
from citeweave.explore.graphs.facts import PictureFacts, facts_of
from citeweave.explore.levels import LevelTopics, level_topics, paper_levels
from citeweave.explore.plots.style import cut_name, figure_for, styled
from citeweave.explore.plots.topics import draw_lines, draw_panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot_levels"]

MOST_NODES = 12
_NAME = 18


def plot_levels(view: Any, ax: "Axes | None" = None, *, level: str | None = None) -> "Figure":
    """Plot the topics of venues, periods or other levels of the model, one small panel per topic.

    Bands are 90 % intervals over samples. Periods are in chronological order; of other levels, the
    twelve nodes with the most papers are shown. If axes are given, the largest topics are drawn as
    lines in one panel.

    Parameters
    ----------
    view : Exploration, SCNTM or path of a run
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.
    level : str, optional
        Name of a level; by default periods if the model has them, otherwise the first level that
        divides papers.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    NotFoundError
        The model has no level that divides papers.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.explore import plots
    >>> model = citeweave.SCNTM(
    ...     model="cntm-text", levels=("venue",), topics=3, iterations=20, chains=1, seed=1
    ... ).fit(citeweave.example_corpus())
    >>> len(plots.plot_levels(model, level="venue").axes)
    3
    """
    facts = facts_of(view)
    names = paper_levels(facts.view)
    if level is None:
        if not names:
            raise NotFoundError(
                f"The model '{facts.view.model_name}' has no level that divides papers; "
                "fit one with --level venue or --level period."
            )
        found = [level_topics(facts.view, name) for name in names]
        chosen = next((one for one in found if one.timed), found[0])
    else:
        chosen = level_topics(facts.view, level)
    rows = chosen.rows[:MOST_NODES] if not chosen.timed else chosen.rows
    return _draw(facts, chosen, rows, ax)


def _draw(
    facts: PictureFacts, chosen: LevelTopics, rows: np.ndarray, ax: "Axes | None"
) -> "Figure":
    topics, places = chosen.topics[rows], np.arange(len(rows))
    names = [cut_name(chosen.groups.names[row], _NAME) for row in rows.tolist()]
    band = None
    if chosen.spread is not None:
        half = Z90 * np.asarray(chosen.spread)[rows]
        band = (np.maximum(topics - half, 0.0), np.minimum(topics + half, 1.0))
    with styled():
        if ax is None:
            by, joined = chosen.name, chosen.timed
            return draw_panels(facts, places, topics, by=by, band=band, names=names, joined=joined)
        figure, ax = figure_for(ax, 4.6, 3.0)
        draw_lines(ax, facts, places, topics, by=chosen.name, names=names)
    return figure
