"""Plots of institutions and countries: their papers, alone and with others."""

from typing import TYPE_CHECKING, Any

import numpy as np

from citeweave.corpus import Corpus
from citeweave.errors import ParameterError
from citeweave.explore.contributors import singular_of
from citeweave.explore.graphs.facts import facts_of
from citeweave.explore.literature import Literature, ordered
from citeweave.explore.plots.style import (
    LINE_COLOURS,
    cut_name,
    figure_for,
    plain,
    styled,
    width_or,
)
from citeweave.naming import option

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot_contributors", "plot_countries", "plot_institutions"]

MOST = 20
_NAME = 36


def plot_contributors(
    view: Any, ax: "Axes | None" = None, *, kind: str = "institutions", most: int = MOST
) -> "Figure":
    """Plot the number of papers of the largest contributors as bars.

    Each bar is divided into papers by that contributor alone and papers written with others of the
    same kind.

    Parameters
    ----------
    view : Corpus, Exploration, fitted model or path of a run
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.
    kind : {"institutions", "countries", "authors", "venues", "funders"}
    most : int
        Maximum number of bars.

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.explore import plots
    >>> figure = plots.plot_contributors(citeweave.example_corpus(), kind="venues")
    >>> sorted(label.get_text() for label in figure.axes[0].get_yticklabels())
    ['Annals of Small Data', 'Journal of Examples']
    """
    if most < 1:
        raise ParameterError(f"{option('most')} must be at least 1. Got {most} instead.")
    literature = Literature(view) if isinstance(view, Corpus) else facts_of(view).view.literature
    with styled():
        found, figures = literature.contributors(kind), literature.figures(kind)
        chosen = ordered(literature, kind, sort="papers")[:most]
        papers = figures["papers"][chosen]
        joint = np.round(figures["joint"][chosen] * papers).astype(int)
        places = np.arange(len(chosen))
        figure, ax = figure_for(ax, width_or(5.0), 0.9 + 0.19 * len(chosen))
        alone, shared = LINE_COLOURS[0], LINE_COLOURS[1]
        ax.barh(places, papers - joint, color=alone, height=0.7, label=f"one {singular_of(kind)}")
        if joint.any():
            ax.barh(places, joint, left=papers - joint, color=shared, height=0.7, label="several")
            ax.legend(loc="lower right", frameon=False)
        names = [plain(cut_name(found.names[i], _NAME)) for i in chosen.tolist()]
        ax.set_yticks(places, names)
        ax.set_ylim(len(chosen) - 0.4, -0.6)
        ax.set_xlabel("papers")
        ax.tick_params(axis="y", length=0.0)
        ax.spines[["top", "right", "left"]].set_visible(False)
        for place, number in zip(places.tolist(), papers.tolist(), strict=True):
            ax.annotate(
                f"{number:,}",
                (number, place),
                xytext=(3, 0),
                textcoords="offset points",
                va="center",
                fontsize=6.5,
            )
    return figure


def plot_institutions(view: Any, ax: "Axes | None" = None) -> "Figure":
    """Plot the papers of the largest institutions; see `plot_contributors`.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.explore import plots
    >>> figure = plots.plot_institutions(citeweave.example_corpus())
    >>> len(figure.axes[0].get_yticklabels())
    5
    """
    return plot_contributors(view, ax, kind="institutions")


def plot_countries(view: Any, ax: "Axes | None" = None) -> "Figure":
    """Plot the papers of the largest countries; see `plot_contributors`.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.explore import plots
    >>> figure = plots.plot_countries(citeweave.example_corpus())
    >>> sorted(label.get_text() for label in figure.axes[0].get_yticklabels())
    ['Japan', 'Kenya', 'New Zealand', 'Sweden']
    """
    return plot_contributors(view, ax, kind="countries")
