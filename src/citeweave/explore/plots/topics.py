"""Plots of topics: over the years, similarity, and citations between them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from citeweave.errors import NotFoundError
from citeweave.explore.colours import readable_on
from citeweave.explore.graphs.facts import PictureFacts, facts_of
from citeweave.explore.plots.style import (
    figure_for,
    label_ends,
    new_figure,
    plain,
    styled,
    width_or,
    wrap_name,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "draw_lines",
    "draw_panels",
    "plot_topic_flow",
    "plot_topic_similarity",
    "plot_topics_over_time",
]

MOST_PANELS = 24
MOST_LINES = 6
MOST_NUMBERS = 16
"""Maximum number of topics for which a heat map shows numbers in its cells."""

FEWEST_PAPERS = 3
"""Years with fewer papers are left out: their shares are noise."""


def plot_topics_over_time(view: Any, ax: "Axes | None" = None) -> "Figure":
    """Plot the share of topics by year, one small panel per topic, the largest first.

    If axes are given, the largest topics are drawn as lines in one panel, labelled at their ends.
    Years with fewer than three papers are left out.

    Parameters
    ----------
    view : Exploration, SCNTM or path of a run
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.explore import plots
    >>> figure = plots.plot_topics_over_time(citeweave.example_model())
    >>> len(figure.axes)
    3
    """
    facts = facts_of(view)
    facts.view.require("years")
    enough = facts.view.papers_by_year >= FEWEST_PAPERS
    if not enough.any():
        raise NotFoundError(
            f"No year has {FEWEST_PAPERS} papers or more, so no share over time can be drawn."
        )
    years = np.array(facts.view.year_range)[enough]
    shares = facts.view.share_by_year[enough]
    with styled():
        if ax is not None:
            figure, ax = figure_for(ax, 4.6, 3.0)
            draw_lines(ax, facts, years, shares, by="year")
            return figure
        return draw_panels(facts, years, shares, by="year")


def draw_lines(
    ax: "Axes",
    facts: PictureFacts,
    places: np.ndarray,
    shares: np.ndarray,
    *,
    by: str,
    names: Sequence[str] = (),
) -> None:
    """Draw the shares of the largest topics as labelled lines in one panel.

    The parameters are those of `draw_panels`.
    """
    from matplotlib.ticker import PercentFormatter  # noqa: PLC0415 (optional)

    shown = facts.topics[:MOST_LINES]
    for k in shown:
        marker = "o" if len(places) == 1 else None
        ax.plot(places, shares[:, k], color=facts.colours[k], marker=marker)
    if names:
        ax.set_xticks(places, [plain(name) for name in names], rotation=90)
    ax.set_ylim(bottom=0.0)
    ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    ax.set_xlabel(by)
    ax.set_title(f"Share of topics by {by}")
    ends = [(float(places[-1]), float(shares[-1, k])) for k in shown]
    label_ends(ax, ends, [facts.name(k, 24) for k in shown], [facts.colours[k] for k in shown])


def draw_panels(
    facts: PictureFacts,
    places: np.ndarray,
    shares: np.ndarray,
    *,
    by: str,
    band: tuple[np.ndarray, np.ndarray] | None = None,
    names: Sequence[str] = (),
    joined: bool = True,
) -> "Figure":
    """Draw the shares of each topic in its own panel, the largest topics first.

    Parameters
    ----------
    facts : PictureFacts
    places : ndarray, shape (n,)
        Positions on the horizontal axis.
    shares : ndarray, shape (n, K)
    by : str
        What the positions are, such as "year".
    band : pair of ndarray of shape (n, K), optional
        Bounds of intervals, which are shaded; without them, the area below the line is shaded.
    names : sequence of str, optional
        Names of the positions; numbers if not given.
    joined : bool
        Whether to join the positions by a line.
    """
    from matplotlib.ticker import MaxNLocator, PercentFormatter  # noqa: PLC0415 (optional)

    shown = facts.topics[:MOST_PANELS]
    columns = min(max(1, round(width_or(7.0) / 1.75)), len(shown))
    rows = -(-len(shown) // columns)
    figure = new_figure(max(1.75 * columns, 2.6), 1.15 * rows + 0.4)
    grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    low, high = band if band is not None else (np.zeros_like(shares), shares)
    top = float(np.nanmax(high[:, shown])) * 1.08
    for place, ax in enumerate(grid.ravel().tolist()):
        if place >= len(shown):
            ax.set_axis_off()
            continue
        k = shown[place]
        colour = facts.colours[k]
        if joined:
            ax.fill_between(places, low[:, k], high[:, k], color=colour, alpha=0.25, linewidth=0)
        else:
            ax.vlines(places, low[:, k], high[:, k], color=colour, alpha=0.5, linewidth=2.0)
        ax.plot(
            places,
            shares[:, k],
            color=colour,
            linewidth=1.0 if joined else 0.0,
            marker="o" if len(places) == 1 or names else None,
            markersize=2.5,
        )
        name = wrap_name(facts.name(k), 24, 2)
        ax.set_title(name, fontsize=6.5, pad=2.0, fontweight="normal")
        ax.set_ylim(0.0, top)
        if names:
            ax.set_xticks(places, [plain(name) for name in names], rotation=90)
        else:
            ax.xaxis.set_major_locator(MaxNLocator(3, integer=True))
        ax.yaxis.set_major_locator(MaxNLocator(3))
        ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        ax.tick_params(labelsize=6.0, length=2.0)
        below = place + columns
        if below >= len(shown):  # the lowest of its column shows the years
            ax.tick_params(labelbottom=True)
    left = len(facts.topics) - len(shown)
    more = f" ({left} smaller ones not shown)" if left else ""
    figure.suptitle(
        f"Share of topics by {by}{more}", fontsize=8.5, fontweight="bold", x=0.01, ha="left"
    )
    return figure


def plot_topic_similarity(view: Any, ax: "Axes | None" = None) -> "Figure":
    """Plot how similar topics are in their words, with similar topics next to each other.

    Similarity is the Bhattacharyya coefficient of two word distributions phi.

    Parameters
    ----------
    view : Exploration, SCNTM or path of a run
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.explore import plots
    >>> figure = plots.plot_topic_similarity(citeweave.example_model())
    >>> figure.axes[0].images[0].get_array().shape
    (3, 3)
    """
    facts = facts_of(view)
    shown = facts.topics
    if len(shown) < 2:
        raise NotFoundError("Similarity needs at least two topics in use; there is one.")
    roots = np.sqrt(np.asarray(facts.model.topic_word_, np.float64)[shown])
    roots /= np.linalg.norm(roots, axis=1, keepdims=True)
    alike = np.clip(roots @ roots.T, 0.0, 1.0)
    order = _leaf_order(1.0 - alike)
    names = [facts.name(shown[i], 26) for i in order]
    values = alike[np.ix_(order, order)].copy()
    np.fill_diagonal(values, np.nan)  # a topic is like itself; the scale is for the others
    return _heat_map(
        ax,
        values,
        names,
        title="Similarity of topics by their words",
        bar="Bhattacharyya coefficient, %",
        scale=100,
        low=100 * float(np.nanmin(values)),
    )


def _leaf_order(distances: np.ndarray) -> list[int]:
    from scipy.cluster.hierarchy import leaves_list, linkage  # noqa: PLC0415 (slow to import)
    from scipy.spatial.distance import squareform  # noqa: PLC0415

    if len(distances) < 3:
        return list(range(len(distances)))
    flat = squareform((distances + distances.T) / 2, checks=False)
    return [int(i) for i in leaves_list(linkage(flat, "average", optimal_ordering=True))]


def plot_topic_flow(view: Any, ax: "Axes | None" = None) -> "Figure":
    """Plot which topics cite which, as percentages of the citations of each row.

    Parameters
    ----------
    view : Exploration, SCNTM or path of a run
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.explore import plots
    >>> figure = plots.plot_topic_flow(citeweave.example_model())
    >>> figure.axes[1].get_ylabel()
    '% of the citations of a row'
    """
    facts = facts_of(view)
    flow = facts.flow
    both = flow.sum(axis=0) + flow.sum(axis=1)
    shown = [k for k in facts.topics if both[k] > 0.01 * both.sum() / 2]
    totals = flow[shown].sum(axis=1, keepdims=True)
    values = np.divide(
        flow[np.ix_(shown, shown)], totals, where=totals > 0, out=np.zeros((len(shown), len(shown)))
    )
    order = list(range(len(shown)))
    if len(shown) > 2:
        most = float(values.max()) or 1.0
        order = _leaf_order(1.0 - np.minimum((values + values.T) / (2 * most), 1.0))
    names = [facts.name(shown[i], 26) for i in order]
    return _heat_map(
        ax,
        values[np.ix_(order, order)],
        names,
        title="Citations from row to column",
        bar="% of the citations of a row",
        scale=100,
    )


def _heat_map(
    ax: "Axes | None",
    values: np.ndarray,
    names: list[str],
    *,
    title: str,
    bar: str,
    scale: float,
    low: float = 0.0,
) -> "Figure":
    number = len(names)
    beside = 2.0  # inches for names and the bar
    size = width_or(max(2.2, 0.19 * number) + beside) - beside
    letters = float(np.clip(0.95 * size / number * 72.0, 4.0, 6.5))
    dense = letters < 6.5
    with styled():
        import matplotlib as mpl  # noqa: PLC0415 (optional)

        figure, ax = figure_for(ax, size + beside, size + 1.5)
        colours = mpl.colormaps["Blues"].with_extremes(bad="#eeeeee")
        image = ax.imshow(values * scale, cmap=colours, vmin=low)
        ax.set_xticks(
            range(number),
            [plain(name) for name in names],
            rotation=90 if dense else 55,
            ha="right",
            va="center" if dense else "top",
            rotation_mode="anchor",
            fontsize=letters,
        )
        ax.set_yticks(range(number), [plain(name) for name in names], fontsize=letters)
        ax.tick_params(length=0.0)
        ax.spines[:].set_visible(False)
        if number <= MOST_NUMBERS and size / number >= 0.18:
            for i, j in zip(*np.nonzero(np.isfinite(values)), strict=True):
                fill: Any = image.cmap(image.norm(values[i, j] * scale))
                ax.text(
                    j,
                    i,
                    f"{values[i, j] * scale:.0f}",
                    ha="center",
                    va="center",
                    fontsize=5.5,
                    color=readable_on(mpl.colors.to_hex(fill)),
                )
        line = figure.colorbar(image, ax=ax, shrink=0.6, pad=0.02)
        line.set_label(bar, fontsize=6.5)
        line.ax.tick_params(labelsize=6.0)
        line.outline.set_visible(False)
        ax.set_title(title)
    return figure
