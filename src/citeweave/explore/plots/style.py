"""The style of plots: small, plain, with labels next to lines instead of a long legend."""

import importlib.util
import textwrap
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np

from citeweave.errors import MissingDependencyError, ParameterError
from citeweave.explore.colours import OKABE_ITO
from citeweave.installing import install_extra

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "LINE_COLOURS",
    "OKABE_ITO",
    "check_dpi",
    "cut_name",
    "figure_for",
    "figures_of_width",
    "head",
    "label_ends",
    "need_matplotlib",
    "new_figure",
    "plain",
    "saving",
    "spread_labels",
    "styled",
    "width_or",
    "wrap_name",
]

LINE_COLOURS = (*OKABE_ITO, "#000000")

FEWEST_DOTS, MOST_DOTS = 20.0, 2400.0

_LOCK = threading.RLock()

_SETTINGS: Any = {
    "font.size": 8.0,
    "axes.titlesize": 8.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 8.0,
    "xtick.labelsize": 7.0,
    "ytick.labelsize": 7.0,
    "legend.fontsize": 7.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "lines.linewidth": 1.0,
    "axes.formatter.useoffset": False,
    "savefig.dpi": 200.0,
    "pdf.fonttype": 42,  # text stays text, as journals require
    "svg.fonttype": "none",
    "svg.hashsalt": "citeweave",  # ids that are the same every time
    "text.usetex": False,
}


def need_matplotlib() -> None:
    """Raise an error with the install line if Matplotlib is missing."""
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingDependencyError(
            f"Plots, PNG and PDF need Matplotlib. Run: {install_extra('plot')}. "
            "(Graphs as SVG do not need it.)"
        )


def check_dpi(dpi: float) -> None:
    """Raise an error for a resolution that gives illegible text or files of many gigabytes."""
    if not FEWEST_DOTS <= dpi <= MOST_DOTS:
        raise ParameterError(
            f"'dpi' must be between {FEWEST_DOTS:g} and {MOST_DOTS:g}. Got {dpi!r} instead."
        )


@contextmanager
def styled() -> Iterator[None]:
    """Draw in our style, leaving the settings of the user's session as they are."""
    need_matplotlib()
    import matplotlib as mpl  # noqa: PLC0415 (optional)

    # the settings are one for all threads: two that draw at a time would mix them
    with _LOCK, mpl.rc_context(_SETTINGS):
        yield


@contextmanager
def saving() -> Iterator[None]:
    """Write a figure in our style, with a single warning about characters missing in the font."""
    with styled():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        lacking = [item for item in caught if "missing from font" in str(item.message)]
        for item in caught:
            if item not in lacking:
                warnings.warn_explicit(item.message, item.category, item.filename, item.lineno)
        if lacking:
            warnings.warn(
                f"{len(lacking)} letters are not in Matplotlib's font and show as boxes: write "
                "SVG, or set matplotlib.rcParams['font.family'] to a font that has them.",
                RuntimeWarning,
                stacklevel=3,
            )


_WIDTH: ContextVar[float | None] = ContextVar("width of figures", default=None)


@contextmanager
def figures_of_width(width: float | None) -> Iterator[None]:
    """Set the width of all new figures in inches; None restores the default of each plot."""
    token = _WIDTH.set(width)
    try:
        yield
    finally:
        _WIDTH.reset(token)


def width_or(own: float) -> float:
    """Return the width of new figures: the one that was set, or the default of the plot."""
    asked = _WIDTH.get()
    return own if asked is None else asked


def new_figure(width: float, height: float) -> "Figure":
    """Make a figure without pyplot, which would keep it alive and open windows."""
    from matplotlib.figure import Figure  # noqa: PLC0415

    return Figure(figsize=(width_or(width), height), layout="constrained")


def figure_for(ax: "Axes | None", width: float, height: float) -> "tuple[Figure, Axes]":
    """Return the axes to draw on: those of the caller, or those of a new figure."""
    if ax is not None:
        part: Any = ax.figure  # a part of a figure has the whole one as its `figure`
        return getattr(part, "figure", part), ax
    figure = new_figure(width, height)
    return figure, figure.add_subplot()


def head(ax: "Axes", text: str) -> None:
    """Write a heading; a second line is set below it in a regular weight."""
    first, _, second = text.partition("\n")
    ax.set_title(first, pad=15.0 if second else 6.0)
    if second:
        ax.annotate(
            second,
            (0.0, 1.0),
            xytext=(0.0, 4.0),
            xycoords="axes fraction",
            textcoords="offset points",
            fontsize=7.0,
            color="#333333",
        )


def plain(text: str) -> str:
    """Escape dollar signs, which Matplotlib would read as the start of a formula."""
    return " ".join(text.split()).replace("$", r"\$")


def spread_labels(wanted: Sequence[float], room: float, low: float, high: float) -> np.ndarray:
    """Move labels as little as needed so that each has `room`, within low to high if they fit.

    Examples
    --------
    >>> spread_labels([1.0, 1.1, 5.0], 1.0, 0.0, 10.0).round(2).tolist()
    [0.55, 1.55, 5.0]
    """
    places = np.asarray(wanted, np.float64)
    order = np.argsort(places, kind="stable")
    if not len(order):
        return places
    # blocks of labels that touch; each is centred on the mean of the wanted positions
    blocks: list[list[float]] = []  # sum of (wanted - offset), number
    for value in places[order].tolist():
        blocks.append([value, 1.0])
        while len(blocks) > 1:
            (sum_a, n_a), (sum_b, n_b) = blocks[-2], blocks[-1]
            if sum_a / n_a + room * n_a <= sum_b / n_b:
                break
            blocks[-2:] = [[sum_a + sum_b - room * n_a * n_b, n_a + n_b]]
    starts = np.array([block[0] / block[1] for block in blocks])
    counts = np.array([int(block[1]) for block in blocks])
    flat = np.concatenate(
        [start + room * np.arange(count) for start, count in zip(starts, counts, strict=True)]
    )
    number = len(flat)
    if room * (number - 1) > high - low:
        flat = np.linspace(low, high, number)
    else:
        # from below, then from above: neither pass makes room again what the other took
        flat = np.maximum(flat, low + room * np.arange(number))
        flat = np.minimum(flat, high - room * np.arange(number)[::-1])
    out = np.empty(number)
    out[order] = flat
    return out


def label_ends(
    ax: "Axes",
    ends: Sequence[tuple[float, float]],
    names: Sequence[str],
    colours: Sequence[str],
    *,
    size: float = 6.5,
    lines: int = 1,
    maths: bool = False,
) -> None:
    """Write names to the right of the ends of lines, moved apart where they would overlap."""
    # in parts of the height of the axes, whatever their scale
    to_axes = ax.transData + ax.transAxes.inverted()
    wanted = [float(to_axes.transform(end)[1]) for end in ends]
    height = ax.get_window_extent().height * 72.0 / ax.figure.dpi
    room = size * 1.2 * lines / max(height * 0.75, 1.0)  # a title and labels will take some of it
    places = spread_labels(wanted, room, 0.0, 1.0)
    for (x, y), place, name, colour in zip(ends, places.tolist(), names, colours, strict=True):
        ax.annotate(
            name if maths or "\n" in name else plain(name),
            xy=(x, y),
            xytext=(1.03, place),
            textcoords="axes fraction",
            fontsize=size,
            color="#222222",
            va="center",
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": colour,
                "linewidth": 0.6,
                "shrinkB": 1.0,
                "relpos": (0.0, 0.5),  # to where the name begins, not under it
            },
        )


def cut_name(name: str, longest: int) -> str:
    """Shorten a name to a number of letters.

    Examples
    --------
    >>> cut_name("Transactions on Graphics", 14)
    'Transactions…'
    """
    return name if len(name) <= longest else f"{name[: longest - 1].rstrip()}…"


def wrap_name(name: str, width: int, lines: int) -> str:
    r"""Break a name of words and commas into lines; text that does not fit is left out.

    Dollar signs are escaped.

    Examples
    --------
    >>> wrap_name("volume rendering, transfer function, gpu", 20, 2)
    'volume rendering,\ntransfer function'
    """
    parts = plain(name).split(", ")
    for number in range(len(parts), 0, -1):
        found = textwrap.wrap(", ".join(parts[:number]), width, break_long_words=False)
        if len(found) <= lines:
            return "\n".join(found)
    return "\n".join(textwrap.wrap(parts[0], width, max_lines=lines, placeholder="…"))
