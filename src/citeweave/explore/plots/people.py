"""Plots of authors and papers: who works on what, and the map."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from citeweave.errors import NotFoundError, ParameterError
from citeweave.explore.graphs.facts import facts_of
from citeweave.explore.graphs.layout import layout
from citeweave.explore.graphs.paper_map import paper_map
from citeweave.explore.graphs.picture import compose
from citeweave.explore.graphs.text import shorten_name
from citeweave.explore.plots.style import figure_for, plain, styled, width_or
from citeweave.naming import option
from citeweave.wording import count

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
    """Plot the topics of authors: one row per author, one column per topic.

    The area of a disc is the weight of the topic for the author.

    Parameters
    ----------
    view : Exploration, SCNTM or path of a run
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.
    authors : int or sequence of int
        How many of the most influential authors, or their ids.

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.explore import plots
    >>> figure = plots.plot_author_profiles(citeweave.example_model(), authors=5)
    >>> len(figure.axes[0].get_yticklabels())
    5
    """
    facts = facts_of(view)
    people = facts.authors
    if isinstance(authors, int):
        if authors < 1:
            raise ParameterError(f"{option('authors')} must be at least 1. Got {authors} instead.")
        rows = list(range(min(authors, len(people.ids))))
    else:
        place = {int(author): row for row, author in enumerate(people.ids.tolist())}
        unknown = [author for author in authors if author not in place]
        if unknown or not len(authors):
            raise ParameterError(
                f"{option('authors')} must be ids of authors for whom the model has topics. "
                f"Got {unknown[0] if unknown else 'none'!r} instead."
            )
        rows = [place[author] for author in authors]
    weights = people.weights[rows]
    used = [k for k in facts.topics if weights[:, k].max() >= MIN_WEIGHT]
    if not used:
        raise NotFoundError("None of these authors has a topic with a noticeable weight.")
    # columns in the order of the first row that needs them, so that discs run down a diagonal
    first = {k: int(weights[:, k].argmax()) for k in used}
    columns = sorted(used, key=lambda k: (first[k], -weights[:, k].max()))
    names = facts.corpus.author_names
    with styled():
        beside = 2.0  # inches for names and figures
        own = max(0.27 * len(columns) + beside, 3.2)
        step = (width_or(own) - beside) / len(columns)
        dense = step < 0.2
        largest = min(150.0, (72.0 * max(step, 0.1)) ** 2)
        figure, ax = figure_for(ax, own, 1.5 + 0.2 * len(rows))
        x, y = np.meshgrid(range(len(columns)), range(len(rows)))
        shown = weights[:, columns]
        big = shown >= 0.02
        ax.scatter(
            x[big],
            y[big],
            s=largest * shown[big],
            c=np.array([facts.colours[k] for k in columns], dtype=object)[x[big]].tolist(),
            linewidth=0,
            zorder=2,
        )
        ax.set_yticks(
            range(len(rows)), [plain(shorten_name(names[int(people.ids[row])])) for row in rows]
        )
        ax.set_xticks(
            range(len(columns)),
            [plain(facts.name(k, 24)) for k in columns],
            rotation=90 if dense else 50,
            ha="left",
            va="center" if dense else "baseline",
            rotation_mode="anchor",
            fontsize=5.5 if dense else 6.5,
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
                [],
                [],
                s=largest * value,
                color="#777777",
                linewidth=0,
                label=f"{100 * value:.0f} %",
            )
        ax.legend(
            loc="upper right",
            bbox_to_anchor=(0.0, 0.0),
            ncols=1,
            frameon=False,
            title="weight of topic",
            title_fontsize=6.5,
            borderpad=0.1,
        )
    return figure


def plot_paper_map(view: Any, ax: "Axes | None" = None) -> "Figure":
    """Plot all papers as a map, with one named island per topic.

    The larger a dot, the more the paper is cited.

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
    >>> plots.plot_paper_map(citeweave.example_model()).savefig("papers.png")
    """
    from citeweave.explore.graphs.image import draw_on  # noqa: PLC0415 (imports the style of plots)

    graph = paper_map(view, papers=None, links=0)
    picture = compose(graph, layout(graph))
    _, _, wide, high = picture.box
    width = width_or(5.6)
    with styled():
        own = float(np.clip(width * high / wide, 0.5 * width, 2.2 * width))
        figure, ax = figure_for(ax, width, own + 0.3)
        box = ax.get_window_extent()
        room = min(box.width / wide, box.height / high) * 72.0 / figure.dpi
        room *= 1.15 if figure.get_layout_engine() is not None else 1.0  # it gives margins back
        draw_on(ax, picture, room=room)
        ax.set_aspect("equal")
        number = facts_of(view).corpus.n_documents
        ax.set_title(f"{count(number, 'paper')} by topic")
    return figure
