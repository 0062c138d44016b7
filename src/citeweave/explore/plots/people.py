"""Plots of authors and papers: who works on what, and the map."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from citeweave.errors import NotFoundError, ParameterError
from citeweave.explore.graphs.colours import topic_colours
from citeweave.explore.graphs.facts import facts_of
from citeweave.explore.graphs.text import shorten_name
from citeweave.explore.plots.style import OKABE_ITO, figure_for, plain, styled, wrap

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot_author_profiles", "plot_paper_map"]

MOST_AUTHORS = 15
MIN_WEIGHT = 0.08
"""A topic is a column if one of the authors has as much of it."""


def plot_author_profiles(
    view: Any, ax: "Axes | None" = None, *, authors: Sequence[int] | int = MOST_AUTHORS
) -> "Figure":
    """Topics of authors: a row an author, a column a topic, a disc as large as its weight.

    Parameters
    ----------
    view : Exploration, SCNTM or path of a run
    ax : matplotlib Axes, optional
    authors : int or sequence of int
        How many of the most influential, or which by id.
    """
    facts = facts_of(view)
    people = facts.authors
    if isinstance(authors, int):
        if authors < 1:
            raise ParameterError(f"'authors' must be at least 1. Got {authors} instead.")
        rows = list(range(min(authors, len(people.ids))))
    else:
        place = {int(author): row for row, author in enumerate(people.ids.tolist())}
        unknown = [author for author in authors if author not in place]
        if unknown or not len(authors):
            raise ParameterError(
                "'authors' must be ids of authors that the model has topics of. "
                f"Got {unknown[0] if unknown else 'none'!r} instead."
            )
        rows = [place[author] for author in authors]
    weights = people.weights[rows]
    used = [k for k in facts.topics if weights[:, k].max() >= MIN_WEIGHT]
    if not used:
        raise NotFoundError("None of these authors has a topic of any weight.")
    # columns in the order of the first row that needs them, so that discs run down a diagonal
    first = {k: int(weights[:, k].argmax()) for k in used}
    columns = sorted(used, key=lambda k: (first[k], -weights[:, k].max()))
    names = facts.corpus.author_names
    with styled():
        width = 1.6 + 0.27 * len(columns) + 0.6
        figure, ax = figure_for(ax, max(width, 3.2), 1.5 + 0.2 * len(rows))
        x, y = np.meshgrid(range(len(columns)), range(len(rows)))
        shown = weights[:, columns]
        big = shown >= 0.02
        ax.scatter(x[big], y[big], s=150 * shown[big], color=OKABE_ITO[0], linewidth=0, zorder=2)
        ax.set_yticks(
            range(len(rows)), [plain(shorten_name(names[int(people.ids[row])])) for row in rows]
        )
        ax.set_xticks(
            range(len(columns)),
            [plain(facts.name(k, 24)) for k in columns],
            rotation=50,
            ha="left",
            rotation_mode="anchor",
            fontsize=6.5,
        )
        ax.xaxis.tick_top()
        ax.set_xlim(-0.6, len(columns) - 0.4)
        ax.set_ylim(len(rows) - 0.4, -0.6)
        ax.grid(color="#e4e4e4", linewidth=0.5, zorder=0)
        ax.set_axisbelow(True)
        ax.tick_params(length=0.0)
        ax.spines[:].set_visible(False)
        unit = "influence" if people.measure == "influence" else "papers"
        right = ax.get_yaxis_transform()
        for place_, row in enumerate(rows):
            value = people.influence[row]
            text = f"{value:.1f}" if unit == "influence" else f"{value:.0f}"
            ax.text(1.02, place_, text, transform=right, va="center", fontsize=6.5)
        ax.text(
            1.02, len(rows) - 0.35, unit, transform=right, va="top", fontsize=6.5, color="#555555"
        )
        for value in (0.25, 1.0):
            ax.scatter(
                [], [], s=150 * value, color=OKABE_ITO[0], linewidth=0, label=f"{100 * value:.0f} %"
            )
        figure.legend(
            *ax.get_legend_handles_labels(),
            loc="lower left",
            ncols=2,
            frameon=False,
            title="weight of topic",
            title_fontsize=6.5,
            borderpad=0.1,
        )
    return figure


def plot_paper_map(view: Any, ax: "Axes | None" = None) -> "Figure":
    """Draw the map of all papers: an island a topic, named; larger dots are cited more."""
    facts = facts_of(view)
    islands = facts.islands
    colours = topic_colours(facts.topics)
    with styled():
        from matplotlib.patheffects import withStroke  # noqa: PLC0415 (optional)

        extent = np.ptp(islands.papers, axis=0) + 1e-9
        width = 5.2
        height = float(np.clip(width * extent[1] / extent[0], 3.0, 6.5))
        figure, ax = figure_for(ax, width, height)
        cited = facts.cited / max(float(facts.cited.max()), np.finfo(float).tiny)
        scale = 60.0 / np.sqrt(len(cited))
        order = np.argsort(cited, kind="stable")  # what is cited most lies on top
        hues = np.array([colours.get(int(k), "#999999") for k in facts.dominant], dtype=object)
        ax.scatter(
            islands.papers[order, 0],
            islands.papers[order, 1],
            s=scale * (1.0 + 12.0 * cited[order]),
            c=hues[order].tolist(),
            linewidth=0,
            rasterized=len(cited) > 5000,
        )
        halo = [withStroke(linewidth=2.0, foreground="#ffffff")]
        known = [k for k in facts.topics if islands.radii[k] > 0]
        size = 6.5 if len(known) <= 24 else 5.5
        for k in known:
            x, y = islands.papers[facts.dominant == k].mean(axis=0)
            text = "\n".join(map(plain, wrap(facts.name(k, 36), 18, 2).split("\n")))
            ax.text(
                x,
                y,
                text,
                ha="center",
                va="center",
                fontsize=size,
                fontweight="bold",
                path_effects=halo,
                linespacing=1.0,
            )
        ax.set_aspect("equal")
        ax.invert_yaxis()
        ax.set_axis_off()
        ax.set_title(f"{len(cited):,} papers by topic")
    return figure
