"""Plots of the chains: whether they settled and agree, and when the network started."""

from typing import TYPE_CHECKING, Any

import numpy as np

from citeweave.errors import NotFoundError
from citeweave.evaluate import convergence
from citeweave.explore.graphs.facts import PictureFacts, facts_of
from citeweave.explore.plots.style import (
    LINE_COLOURS,
    OKABE_ITO,
    figure_for,
    head,
    label_ends,
    plain,
    styled,
)
from citeweave.model.convergence import FEWEST_DRAWS
from citeweave.model.traces import ShownTrace, shown_trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "plot_acceptance",
    "plot_active_topics",
    "plot_concentrations",
    "plot_convergence",
    "plot_rhat",
]

AGREE = 1.01
"""R-hat below which chains agree (Vehtari and others 2021)."""

DOUBTFUL = 1.1

FIRST = 10
"""Iterations whose climb is left out of the range of values."""


def _traces(view: Any) -> tuple[PictureFacts, dict[str, np.ndarray], ShownTrace]:
    facts = facts_of(view)
    found = getattr(facts.model, "traces_", None) or {}
    shown = shown_trace(found)
    if shown is None:
        raise NotFoundError(
            f"There are no traces of chains to plot: the model '{facts.view.model_name}' is not "
            "fitted by sampling."
        )
    return facts, {name: np.asarray(values) for name, values in found.items()}, shown


def _kept_from(facts: PictureFacts, iterations: int) -> int:
    """First iteration after burn-in, counted from 0; three quarters for a model without a plan."""
    plan = getattr(getattr(facts.model, "_result", None), "plan", None)
    burn_in = 3 * iterations // 4 if plan is None else int(plan.burn_in)
    return min(burn_in, max(iterations - 1, 0))


def _network_start(traces: dict[str, np.ndarray]) -> int | None:
    """First iteration at which citations counted; acceptance is not a number before."""
    known = np.flatnonzero(np.isfinite(traces["acceptance"]).any(axis=0))
    return int(known[0]) if len(known) else None


def _measures(values: np.ndarray) -> str:
    """R-hat and effective sample size of draws after burn-in, in words."""
    values = values[:, np.isfinite(values).all(axis=0)]
    if values.shape[1] < FEWEST_DRAWS:
        return "too few draws for R-hat"
    found = convergence(values)
    if np.isnan(found.rhat):
        return "constant after burn-in"
    return f"R-hat {found.rhat:.3f}, effective draws {found.bulk:,.0f}"


def _mark_phases(ax: "Axes", start: int | None, kept: int, iterations: int) -> None:
    """Mark where the network starts, and shade the iterations that samples are kept of."""
    from matplotlib.patheffects import withStroke  # noqa: PLC0415 (optional)

    ax.axvspan(kept + 1, iterations, color="#eeeeee", zorder=0, linewidth=0)
    words: Any = {
        "transform": ax.get_xaxis_transform(),
        "fontsize": 6.5,
        "color": "#444444",
        "path_effects": [withStroke(linewidth=1.5, foreground="#ffffff")],
        "zorder": 4,
    }
    ax.text(iterations, 0.98, "samples kept ", ha="right", va="top", **words)
    if start is not None and start > 0:
        ax.axvline(start + 1, color="#444444", linewidth=0.8, linestyle=(0, (4, 2)))
        ax.text(start + 1, 0.03, " citations from here", ha="left", **words)
    ax.set_xlim(1, max(iterations, 2))
    ax.set_xlabel("iteration")


def _draw_chains(ax: "Axes", values: np.ndarray, *, labels: bool) -> None:
    iterations = np.arange(1, values.shape[1] + 1)
    for chain, row in enumerate(values):
        colour = LINE_COLOURS[chain % len(LINE_COLOURS)]
        known = np.isfinite(row)  # some engines measure now and then
        ax.plot(iterations[known], row[known], color=colour, linewidth=0.9, label=f"chain {chain}")
    if labels and len(values) > 1:
        if len(values) <= len(LINE_COLOURS):
            ax.legend(frameon=False, loc="best", handlelength=1.2)
        else:
            ax.text(
                0.02, 0.95, f"{len(values)} chains", transform=ax.transAxes, fontsize=6.5, va="top"
            )


def plot_convergence(view: Any, ax: "Axes | None" = None) -> "Figure":
    """Plot the joint log posterior of each chain by iteration.

    The log posterior rises while topics form, drops when citations begin to count, and levels off
    once a chain has settled. R-hat and the effective number of draws are computed after burn-in.
    Runs from earlier releases show the log likelihood of words instead, which may fall.

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
    >>> figure = plots.plot_convergence(citeweave.example_model())
    >>> figure.savefig("convergence.png")
    """
    facts, traces, shown = _traces(view)
    values = shown.values / max(facts.corpus.n_tokens, 1)
    kept = _kept_from(facts, values.shape[1])
    with styled():
        figure, ax = figure_for(ax, 4.6, 2.9)
        _draw_chains(ax, values, labels=True)
        _mark_phases(ax, _network_start(traces), kept, values.shape[1])
        _leave_out_the_climb(ax, values)
        ax.set_ylabel(f"{shown.words} a word")
        head(ax, f"{shown.words.capitalize()}\n{_measures(values[:, kept:])}")
    return figure


def _leave_out_the_climb(ax: "Axes", values: np.ndarray) -> None:
    """Choose the range by what follows the first iterations, which would press it into a line."""
    later = values[:, min(FIRST, values.shape[1] - 1) :]
    later = later[np.isfinite(later)]
    if len(later) and np.ptp(later) > 0:
        room = 0.05 * float(np.ptp(later))
        ax.set_ylim(float(later.min()) - room, float(later.max()) + room)


def plot_acceptance(view: Any, ax: "Axes | None" = None) -> "Figure":
    """Plot the share of proposals accepted, for citing topics and for topics of words.

    Only iterations in which citations count are shown.

    Parameters
    ----------
    view : Exploration, SCNTM or path of a run
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    NotFoundError
        The model was not fitted by sampling, or citations were never used.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.explore import plots
    >>> figure = plots.plot_acceptance(citeweave.example_model())
    >>> figure.axes[0].get_ylabel()
    'accepted'
    """
    facts, traces, _ = _traces(view)
    start = _network_start(traces)
    if start is None:
        raise NotFoundError(
            "There is no acceptance to plot: citations were never used in this run "
            f"(model '{facts.view.model_name}')."
        )
    iterations = traces["acceptance"].shape[1]
    with styled():
        figure, ax = figure_for(ax, 4.6, 2.6)
        steps = np.arange(1, iterations + 1)
        ends = []
        kinds = [("acceptance", "citing\ntopics"), ("word_acceptance", "topics\nof words")]
        for colour, (name, text) in zip(OKABE_ITO, kinds, strict=False):
            for row in traces[name]:
                ax.plot(steps, row, color=colour, linewidth=0.8)
            ends.append((text, float(np.nanmean(traces[name][:, -max(iterations // 20, 1) :]))))
        ax.set_xlim(start + 1, max(iterations, start + 2))
        low = np.nanmin([np.nanpercentile(traces[name], 1) for name, _ in kinds])
        ax.set_ylim(max(0.0, float(low) - 0.05), 1.0)
        _percent(ax)
        label_ends(
            ax,
            [(iterations, value) for _, value in ends],
            [text for text, _ in ends],
            OKABE_ITO[: len(ends)],
            size=7.0,
            lines=2,
        )
        ax.set_xlabel("iteration")
        ax.set_ylabel("accepted")
        means = [100 * float(np.nanmean(traces[name])) for name, _ in kinds]
        head(ax, f"Acceptance\n{means[0]:.1f} % of citing topics, {means[1]:.1f} % of words")
    return figure


def _percent(ax: "Axes") -> None:
    from matplotlib.ticker import PercentFormatter  # noqa: PLC0415 (optional)

    ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))


def plot_concentrations(view: Any, ax: "Axes | None" = None) -> "Figure":
    """Plot the concentrations beta of all levels, one line per chain.

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
    >>> figure = plots.plot_concentrations(citeweave.example_model())
    >>> figure.axes[0].get_ylabel(), figure.axes[0].get_yscale()
    ('concentration', 'log')
    """
    facts, traces, _ = _traces(view)
    values = traces["concentrations"]
    names = list(getattr(facts.model, "level_names_", range(values.shape[2])))
    with styled():
        figure, ax = figure_for(ax, 4.6, 3.2)
        steps = np.arange(1, values.shape[1] + 1)
        colours = [LINE_COLOURS[i % len(LINE_COLOURS)] for i in range(values.shape[2])]
        for level, colour in enumerate(colours):
            for row in values[:, :, level]:
                ax.plot(steps, np.maximum(row, 1e-12), color=colour, linewidth=0.8)
        ax.set_yscale("log")
        _mark_phases(ax, _network_start(traces), _kept_from(facts, len(steps)), len(steps))
        ends = [(float(steps[-1]), float(values[:, -1, i].mean())) for i in range(len(colours))]
        label_ends(ax, ends, [_symbol(name) for name in names], colours, size=8.0, maths=True)
        ax.set_ylabel("concentration")
        ax.set_title("Concentrations of the levels")
    return figure


_GREEK = ("alpha", "gamma", "lambda", "mu", "nu", "phi", "theta")


def _symbol(name: object) -> str:
    r"""Write the name of a level as the symbol it is, other names as they are.

    Examples
    --------
    >>> _symbol("theta'"), _symbol("journal")
    ("$\\theta'$", 'journal')
    """
    text = str(name)
    letters = text.rstrip("'")
    return f"$\\{text}$" if letters in _GREEK else plain(text)


def plot_active_topics(view: Any, ax: "Axes | None" = None) -> "Figure":
    """Plot the number of topics in use by iteration, one line per chain.

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
    >>> figure = plots.plot_active_topics(citeweave.example_model())
    >>> figure.axes[0].get_ylabel()
    'topics in use'
    """
    facts, traces, _ = _traces(view)
    values = traces["topics"]
    most = len(facts.share)
    with styled():
        from matplotlib.ticker import MaxNLocator  # noqa: PLC0415 (optional)

        figure, ax = figure_for(ax, 4.6, 2.4)
        _draw_chains(ax, values, labels=True)
        ax.axhline(most, color="#888888", linewidth=0.8, linestyle=(0, (1, 2)))
        low = float(np.nanmin(values))
        ax.set_ylim(max(0.0, low - 0.15 * most - 1), most + 0.1 * most + 1)
        ax.text(
            0.01,
            most,
            f"most there may be: {most}",
            transform=ax.get_yaxis_transform(),
            fontsize=6.5,
            color="#555555",
            va="bottom",
        )
        kept = _kept_from(facts, values.shape[1])
        _mark_phases(ax, _network_start(traces), kept, values.shape[1])
        ax.yaxis.set_major_locator(MaxNLocator(5, integer=True))
        ax.set_ylabel("topics in use")
        last = values[:, kept:].mean()
        head(ax, f"Topics in use\n{last:.1f} on average after burn-in")
    return figure


def plot_rhat(view: Any, ax: "Axes | None" = None) -> "Figure":
    """Plot R-hat of each trace after burn-in, labelled with its effective number of draws.

    Parameters
    ----------
    view : Exploration, SCNTM or path of a run
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    NotFoundError
        Fewer than four iterations were kept, or no trace moves.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.explore import plots
    >>> figure = plots.plot_rhat(citeweave.example_model())
    >>> figure.axes[0].get_yticklabels()[0].get_text()
    'log posterior'
    """
    facts, traces, shown = _traces(view)
    kept = _kept_from(facts, shown.values.shape[1])
    names = list(getattr(facts.model, "level_names_", []))
    rows = [(shown.words, shown.values), ("topics in use", traces["topics"])]
    rows += [(_symbol(name), traces["concentrations"][:, :, i]) for i, name in enumerate(names)]
    found = []
    for name, values in rows:
        draws = values[:, kept:]
        draws = draws[:, np.isfinite(draws).all(axis=0)]
        if draws.shape[1] >= FEWEST_DRAWS:
            measured = convergence(draws)
            if np.isfinite(measured.rhat):
                found.append((name, measured.rhat, measured.bulk))
    if not found:
        raise NotFoundError(
            "R-hat needs at least four kept iterations of a trace that varies: run longer, "
            "with citeweave fit --iterations."
        )
    with styled():
        figure, ax = figure_for(ax, 4.6, 0.9 + 0.22 * len(found))
        places = np.arange(len(found))[::-1]
        excess = np.array([max(rhat, 1.0) for _, rhat, _ in found])
        colours = [OKABE_ITO[0] if value <= DOUBTFUL else OKABE_ITO[4] for value in excess]
        ax.hlines(places, 1.0, excess, color=colours, linewidth=1.5)
        ax.scatter(excess, places, color=colours, s=14, zorder=3)
        ax.axvline(AGREE, color="#444444", linewidth=0.8, linestyle=(0, (4, 2)))
        right = max(1.05, float(excess.max()) * 1.03)
        ax.set_xlim(1.0, right)
        ax.set_ylim(-0.7, len(found) - 0.3)
        ax.set_yticks(places, [name for name, *_ in found])
        for place, (_, _, bulk) in zip(places.tolist(), found, strict=True):
            ax.text(
                1.02,
                place,
                f"{bulk:,.0f}",
                transform=ax.get_yaxis_transform(),
                va="center",
                fontsize=7,
            )
        ax.text(1.02, 1.0, "effective\ndraws", transform=ax.transAxes, fontsize=6.5, va="bottom")
        ax.set_xlabel(f"R-hat (dashed: {AGREE})")
        chains = shown.values.shape[0]
        halves = f"{chains} chains" if chains > 1 else "halves of one chain"
        head(ax, f"Do the chains agree?\n{halves}, after burn-in")
    return figure
