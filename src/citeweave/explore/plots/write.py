"""Plots by name, written to files: one, or all that a run can show."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from citeweave.errors import NotFoundError, ParameterError
from citeweave.explore.graphs.facts import facts_of
from citeweave.explore.plots.chains import (
    plot_acceptance,
    plot_active_topics,
    plot_concentrations,
    plot_convergence,
    plot_rhat,
)
from citeweave.explore.plots.contributors import plot_countries, plot_institutions
from citeweave.explore.plots.levels import plot_levels
from citeweave.explore.plots.people import plot_author_profiles, plot_paper_map
from citeweave.explore.plots.style import (
    check_dpi,
    figures_of_width,
    need_matplotlib,
    saving,
)
from citeweave.explore.plots.topics import (
    plot_topic_flow,
    plot_topic_similarity,
    plot_topics_over_time,
)
from citeweave.files import write_atomically
from citeweave.naming import option

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["KINDS", "check_plot_file", "write_figure", "write_plot", "write_plots"]

KINDS: dict[str, Callable[[Any], "Figure"]] = {
    "convergence": plot_convergence,
    "acceptance": plot_acceptance,
    "concentrations": plot_concentrations,
    "active-topics": plot_active_topics,
    "rhat": plot_rhat,
    "time": plot_topics_over_time,
    "levels": plot_levels,
    "authors": plot_author_profiles,
    "institutions": plot_institutions,
    "countries": plot_countries,
    "map": plot_paper_map,
    "similarity": plot_topic_similarity,
    "flow": plot_topic_flow,
}

SUFFIXES = (".png", ".pdf", ".svg")
NARROWEST, WIDEST = 1.0, 60.0


def write_plot(
    view: Any,
    kind: str,
    path: str | os.PathLike[str],
    *,
    width: float | None = None,
    dpi: float = 200.0,
) -> Path:
    """Draw one plot and write it to a file; the suffix of the file sets the format.

    Parameters
    ----------
    view : Exploration, SCNTM or path of a run
    kind : str
        One of `KINDS`.
    path : path
        Ends in ``.png``, ``.pdf`` or ``.svg``.
    width : float, optional
        Width in inches, such as 3.5 for one column and 7 for a page; the font size does not change.
        If not given, each plot has a width that suits it.
    dpi : float
        Resolution of a PNG, in pixels per inch.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.explore import plots
    >>> plots.write_plot(citeweave.example_model(), "similarity", "topics.svg", width=3.5).name
    'topics.svg'
    """
    if kind not in KINDS:
        raise ParameterError(
            f"{option('kind')} must be one of {', '.join(KINDS)}. Got {kind!r} instead."
        )
    return write_figure(lambda: KINDS[kind](view), path, width=width, dpi=dpi)


def check_plot_file(
    path: str | os.PathLike[str], *, width: float | None = None, dpi: float = 200.0
) -> None:
    """Check the options of a plot before doing the work that it is to show."""
    _check(Path(path), width, dpi)


def write_figure(
    draw: "Callable[[], Figure]",
    path: str | os.PathLike[str],
    *,
    width: float | None = None,
    dpi: float = 200.0,
) -> Path:
    """Write the figure that ``draw`` makes, in our style; the options are those of `write_plot`."""
    path = Path(path)
    _check(path, width, dpi)
    # dates left out, so that the same run gives the same bytes
    dates: dict[str, Any] = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}}
    suffix = path.suffix.lower()
    with saving(), figures_of_width(width):
        figure = draw()
        with write_atomically(path) as file:
            figure.savefig(file, format=suffix[1:], dpi=dpi, metadata=dates.get(suffix))
    return path


def _check(path: Path, width: float | None, dpi: float) -> None:
    need_matplotlib()
    if path.suffix.lower() not in SUFFIXES:
        raise ParameterError(
            f"A plot is written to a file that ends in one of {', '.join(SUFFIXES)}. "
            f"Got '{path}' instead."
        )
    if width is not None and not NARROWEST <= width <= WIDEST:
        raise ParameterError(
            f"'width' must be between {NARROWEST:g} and {WIDEST:g} inches. Got {width!r} instead."
        )
    check_dpi(dpi)


def write_plots(
    view: Any,
    folder: str | os.PathLike[str],
    *,
    suffix: str = ".png",
    width: float | None = None,
    dpi: float = 200.0,
) -> tuple[list[Path], dict[str, str]]:
    """Write every plot that a run can show into a folder, one file per kind.

    Parameters
    ----------
    view : Exploration, SCNTM or path of a run
    folder : path
        Created if it does not exist.
    suffix : {".png", ".pdf", ".svg"}
    width, dpi
        As in `write_plot`.

    Returns
    -------
    list of Path
        The files written.
    dict of str
        Plots that cannot be drawn, each with the reason.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.explore import plots
    >>> written, missing = plots.write_plots(citeweave.example_model(), "plots", suffix=".svg")
    >>> "convergence.svg" in [path.name for path in written], sorted(missing)
    (True, ['levels'])
    """
    _check(Path(f"plot{suffix}"), width, dpi)
    facts = facts_of(view)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    missing: dict[str, str] = {}
    for kind in KINDS:
        path = folder / f"{kind}{suffix}"
        try:
            written.append(write_plot(facts, kind, path, width=width, dpi=dpi))
        except NotFoundError as error:
            missing[kind] = str(error)
    return written, missing
