"""Charts whose labels are HTML beside an inline SVG, so that text stays legible at any width.

The drawing is stretched to the width there is (strokes are not), while the labels beside it keep
their size. Each chart is one image to a screen reader, described by its label; the figures
themselves stand in tables. All text is escaped by `Markup.format`. Bars and sparklines, which have
no text, are those of the explorer, `citeweave.web.charts`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from markupsafe import Markup

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Series", "columns", "lines", "nice_ticks", "short_number"]

WIDE, HIGH = 1000.0, 100.0
"""Units of a drawing; what the browser makes of them is up to the page."""

MOST_POINTS = 400
"""Longer lines are thinned: more cannot be seen, and a page is mailed."""

_MARKS_X = 6


class Series(NamedTuple):
    """A line of a chart: its name and its values at equal steps; nan leaves a gap."""

    name: str
    values: np.ndarray


def columns(names: Sequence[str], counts: Sequence[int], *, label: str) -> Markup:
    """Draw counts as columns, with a few of the names below.

    Each column has a title, which browsers show under the pointer.
    """
    ticks = nice_ticks(0.0, float(max(counts, default=1)) or 1.0, 3)
    top = max(ticks[-1], float(max(counts, default=1)))
    step = WIDE / max(len(counts), 1)
    bars = Markup("").join(
        Markup(
            '<rect x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:.2f}"><title>{}</title></rect>'
        ).format(
            i * step + 0.1 * step,
            HIGH * (1.0 - count / top),
            0.8 * step,
            HIGH * count / top,
            f"{name}: {count:,}",
        )
        for i, (name, count) in enumerate(zip(names, counts, strict=True))
    )
    places = _spread(len(names))
    x_marks = [((i + 0.5) / len(names), names[i]) for i in places]
    y_marks = [(value / top, short_number(value)) for value in ticks]
    return _frame(bars, x_marks, y_marks, label=label, kind="bars")


def lines(
    series: Sequence[Series],
    *,
    label: str,
    first: int = 1,
    rules: Sequence[tuple[int, str]] = (),
    lowest: float | None = None,
) -> Markup:
    """Draw courses over iterations, with named vertical rules.

    Parameters
    ----------
    series : sequence of Series
        All of the same length.
    label : str
        What a screen reader says.
    first : int
        The number of the first step on the axis.
    rules : sequence of (int, str)
        Places on the axis that are marked, with their names.
    lowest : float, optional
        Values below are cut off, as the first steps of a chain are.
    """
    known = np.concatenate([part.values[np.isfinite(part.values)] for part in series])
    if not len(known):
        return Markup("")
    low, high = float(known.min() if lowest is None else lowest), float(known.max())
    if high - low < 1e-9 * max(abs(high), 1.0):
        low, high = low - 0.5, high + 0.5
    pad = 0.04 * (high - low)
    low, high = low - pad, high + pad
    steps = len(series[0].values)
    last = first + steps - 1
    span = max(last - first, 1)
    body = Markup("").join(
        Markup('<path class="line chart-{}" d="{}"><title>{}</title></path>').format(
            number % 6,
            _path(_points(_thin(np.clip(part.values, low, None)), low, high)),
            part.name,
        )
        for number, part in enumerate(series)
    )
    body += Markup("").join(
        Markup('<path class="rule" d="M{0:.2f},0 V100"/>').format(WIDE * (place - first) / span)
        for place, _ in rules
    )
    y_marks = [
        ((value - low) / (high - low), short_number(value))
        for value in nice_ticks(low, high, 4)
        if low <= value <= high
    ]
    x_marks = [
        ((value - first) / span, f"{value:,.0f}")
        for value in nice_ticks(first, last, 5)
        if first <= value <= last
    ]
    notes = [((place - first) / span, text) for place, text in rules]
    return _frame(body, x_marks, y_marks, label=label, kind="lines", notes=notes)


def nice_ticks(low: float, high: float, wanted: int) -> list[float]:
    """Choose round numbers from `low` to `high`, about as many as wanted.

    Examples
    --------
    >>> nice_ticks(0, 93, 4), nice_ticks(-1.2e6, -1.1e6, 3)
    ([0.0, 20.0, 40.0, 60.0, 80.0], [-1200000.0, -1150000.0, -1100000.0])
    """
    if not high > low:
        return [float(low)]
    rough = (high - low) / max(wanted, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    steps = (power * part for part in (1, 2, 5, 10))
    step = min(steps, key=lambda value: max(value / rough, rough / value))
    begin, end = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(number * step) for number in range(begin, end + 1)]


def short_number(value: float) -> str:
    """Write a number in a few characters, with a true minus.

    Examples
    --------
    >>> [short_number(value) for value in (0, 1500, -1250000, 0.25, 12)]
    ['0', '1.5k', '−1.25M', '0.25', '12']
    """
    size = abs(value)
    for unit, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if size >= unit:
            return f"{value / unit:.4g}{letter}".replace("-", "−")
    return f"{value:.3g}".replace("-", "−")


def _points(values: np.ndarray, low: float, high: float) -> list[tuple[float, float]]:
    """Place values at equal steps over the width; y runs downwards."""
    if len(values) == 1:
        values = np.repeat(values, 2)
    x = np.linspace(0.0, WIDE, len(values))
    y = HIGH * (1.0 - (values - low) / (high - low))
    return [(float(a), float(b)) for a, b in zip(x, y, strict=True)]


def _path(points: Sequence[tuple[float, float]]) -> str:
    """Write a path; what is not finite breaks the line."""
    parts = []
    pen_down = False
    for x, y in points:
        if not math.isfinite(y):
            pen_down = False
            continue
        parts.append(f"{'L' if pen_down else 'M'}{x:.1f},{y:.2f}")
        pen_down = True
    return " ".join(parts)


def _thin(values: np.ndarray) -> np.ndarray:
    """Take every so many values of a long line, the last among them."""
    if len(values) <= MOST_POINTS:
        return values
    return np.asarray(values[np.linspace(0, len(values) - 1, MOST_POINTS).round().astype(int)])


def _spread(count: int) -> list[int]:
    """Choose at most `_MARKS_X` places, evenly, the first and the last among them."""
    if count <= _MARKS_X:
        return list(range(count))
    return sorted({round(i * (count - 1) / (_MARKS_X - 1)) for i in range(_MARKS_X)})


def _frame(
    body: Markup,
    x_marks: Sequence[tuple[float, str]],
    y_marks: Sequence[tuple[float, str]],
    *,
    label: str,
    kind: str,
    notes: Sequence[tuple[float, str]] = (),
) -> Markup:
    grid = Markup("").join(
        Markup('<path class="grid" d="M0,{0:.2f} H1000"/>').format(HIGH * (1.0 - share))
        for share, _ in y_marks
    )
    spans = [
        Markup('<span class="y" style="top:{:.2f}%">{}</span>').format(100 * (1 - share), text)
        for share, text in y_marks
    ]
    spans += [
        Markup('<span class="x{}" style="left:{:.2f}%">{}</span>').format(
            " start" if share < 0.04 else " end" if share > 0.96 else "", 100 * share, text
        )
        for share, text in x_marks
    ]
    spans += [
        # each on a line of its own: on a narrow page two would meet
        Markup('<span class="remark{}" style="left:{:.2f}%;--row:{}">{}</span>').format(
            " end" if share > 0.55 else "", 100 * share, row, text
        )
        for row, (share, text) in enumerate(notes)
    ]
    return Markup(
        '<div class="plot {}" role="img" aria-label="{}"><div class="plot-area">'
        '<svg viewBox="0 0 1000 100" preserveAspectRatio="none" aria-hidden="true">{}{}</svg>'
        "{}</div></div>"
    ).format(kind, label, grid, body, Markup("").join(spans))
