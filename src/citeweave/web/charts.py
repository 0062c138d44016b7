"""Charts of the explorer and the report as SVG: bars, stripes, sparklines, columns, lines.

Charts have classes but no inline styles. The style sheet decides how they look in light mode, dark
mode and print, and a strict content security policy can be kept.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import floor, isfinite, log10

import numpy as np
from markupsafe import Markup

from citeweave.wording import number as write_number
from citeweave.wording import percent as write_percent
from citeweave.wording import short_number

__all__ = [
    "MOST_POINTS",
    "Series",
    "bar",
    "columns",
    "for_all_screens",
    "lines",
    "sparkline",
    "stripe",
    "topic_class",
    "trace_series",
]

Place = Callable[[float, float], tuple[float, float]]

MOST_POINTS = 400
"""Longer lines are thinned: more points are not visible and would make reports larger."""


def topic_class(slot: int) -> str:
    """Return the CSS class of a palette slot, see `TopicColours.slot`.

    Examples
    --------
    >>> topic_class(3)
    'topic-3'
    """
    return f"topic-{slot}"


def bar(
    share: float,
    *,
    topic: int | None = None,
    low: float | None = None,
    high: float | None = None,
    largest: float = 1.0,
) -> Markup:
    """Draw a value as a bar relative to `largest`, with a whisker from `low` to `high` if given.

    The bar is decorative: the number is shown next to it as text.
    """

    def place(value: float) -> str:
        return f"{100 * min(max(value / largest, 0.0), 1.0) if largest > 0 else 0.0:.2f}"

    name = Markup("") if topic is None else Markup(" {}").format(topic_class(topic))
    whisker = Markup("")
    if low is not None and high is not None and high > low:
        whisker = Markup('<line class="whisker" x1="{}" x2="{}" y1="4" y2="4"/>').format(
            place(low), place(high)
        )
    return Markup(
        '<svg class="bar{}" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="track" width="100" height="8"/>'
        '<rect class="fill" width="{}" height="8"/>{}</svg>'
    ).format(name, place(share), whisker)


def stripe(shares: Sequence[tuple[int, float]]) -> Markup:
    """Draw topic shares side by side as one stripe; the remainder up to 1 stays empty."""
    parts, begin = [], 0.0
    for topic, share in shares:
        width = min(max(share, 0.0) * 100, 100 - begin)
        parts.append(
            Markup('<rect class="{}" x="{:.2f}" width="{:.2f}" height="8"/>').format(
                topic_class(topic), begin, max(width - 0.4, 0.0)
            )
        )
        begin += width
    return Markup(
        '<svg class="stripe" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        "{}</svg>"
    ).format(Markup("").join(parts))


def sparkline(
    values: Sequence[float | None],
    *,
    topic: int | None = None,
    label: str = "",
    largest: float | None = None,
) -> Markup:
    """Draw values over time as a small area chart; empty if fewer than two are known.

    Pass the same `largest`, the top of the axis, to sparklines that are to be compared.
    """
    known = [(i, v) for i, v in enumerate(values) if v is not None]
    if len(known) < 2:
        return Markup("")
    top = largest or max(v for _, v in known) or 1.0
    points = [
        f"{100 * i / (len(values) - 1):.1f},{29 - 27 * max(v / top, 0.0):.1f}" for i, v in known
    ]
    name = Markup("") if topic is None else Markup(" {}").format(topic_class(topic))
    path = " ".join(points)
    return Markup(
        '<svg class="spark{}" viewBox="0 0 100 30" preserveAspectRatio="none" role="img" '
        'aria-label="{}"><polygon class="area" points="{},29 {} {},29"/>'
        '<polyline class="line" points="{}"/></svg>'
    ).format(name, label, points[0].split(",")[0], path, points[-1].split(",")[0], path)


def columns(
    values: Mapping[int, float],
    *,
    label: str,
    topic: int | None = None,
    percent: bool = False,
    width: int = 720,
    height: int = 160,
) -> Markup:
    """Draw one column per year, with the years below and the scale on the left."""
    if not values:
        return Markup("")
    years = list(range(min(values), max(values) + 1))
    top, step = _scale(max(values.values()), least=0.0 if percent else 1.0)
    left, bottom, head = 44, 22, 10
    inner, tall = width - left - 4, height - bottom - head
    slot = inner / len(years)
    parts = [_grid(top, step, left=left, right=width - 4, head=head, tall=tall, percent=percent)]
    every = max(1, -(-len(years) * 48 // inner))
    for i, year in enumerate(years):
        size = tall * values.get(year, 0.0) / top
        x = left + i * slot
        value = values.get(year, 0.0)
        shown = write_percent(value) if percent else write_number(value, 0)
        parts.append(
            Markup(
                '<rect class="column" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}">'
                "<title>{}: {}</title></rect>"
            ).format(x + slot * 0.12, head + tall - size, slot * 0.76, size, year, shown)
        )
        if (len(years) - 1 - i) % every == 0:
            parts.append(_text(min(x + slot / 2, width - 18), height - 6, str(year)))
    name = Markup("") if topic is None else Markup(" {}").format(topic_class(topic))
    return _chart(name, width, height, label, parts)


@dataclass(frozen=True)
class Series:
    """A line of a chart: its name and points (x, y); non-finite points are gaps."""

    name: str
    points: Sequence[tuple[float, float]]


def trace_series(trace: np.ndarray) -> list[Series]:
    """Turn a trace [chains, iterations] into lines, thinned to what is visible on a screen.

    Examples
    --------
    >>> [len(one.points) for one in trace_series(np.zeros((2, 5000)))]
    [400, 400]
    """
    known = np.flatnonzero(np.isfinite(trace).any(axis=0))  # some are measured rarely
    if not len(known):
        return []
    chosen = np.linspace(0, len(known) - 1, min(len(known), MOST_POINTS)).round().astype(int)
    kept = known[chosen].tolist()
    return [
        Series(f"chain {chain + 1}", [(float(i + 1), float(row[i])) for i in kept])
        for chain, row in enumerate(trace)
    ]


def lines(
    series: Sequence[Series],
    *,
    label: str,
    marks: Sequence[tuple[float, str]] = (),
    width: int = 720,
    height: int = 240,
    from_zero: bool = False,
    lowest: float | None = None,
) -> Markup:
    """Draw lines on common axes.

    Parameters
    ----------
    series : sequence of Series
    label : str
        Text for screen readers.
    marks : sequence of (float, str)
        Positions to mark on the x axis, each with a label.
    width, height : int
    from_zero : bool
        Whether the scale starts at 0.
    lowest : float, optional
        Values below this are clipped, so that the first steps of a chain do not flatten the rest.
    """
    floor_of = -np.inf if lowest is None else lowest
    shown = [
        Series(one.name, [(x, max(y, floor_of) if isfinite(y) else y) for x, y in one.points])
        for one in series
    ]
    finite = [(x, y) for one in shown for x, y in one.points if isfinite(x) and isfinite(y)]
    if len(finite) < 2:
        return Markup("")
    first, last = min(x for x, _ in finite), max(x for x, _ in finite)
    low, high = min(y for _, y in finite), max(y for _, y in finite)
    low = 0.0 if from_zero else low
    if high <= low:
        high = low + 1.0
    step = _step(high - low)
    low, high = floor(low / step) * step, -floor(-high / step) * step
    left, bottom, head = 76, 24, 16
    inner, tall = width - left - 24, height - bottom - head

    def at(x: float, y: float) -> tuple[float, float]:
        across = (x - first) / (last - first) if last > first else 0.0
        return left + inner * across, head + tall * (high - y) / (high - low)

    parts = []
    for value in _ticks(low, high + step / 2, step):
        _, y = at(first, value)
        parts.append(_rule("grid", left, width - 24, y, y))
        parts.append(_text(left - 8, y + 4, short_number(value), anchor="end"))
    pace = _step(last - first)
    parts += [
        _text(at(tick, low)[0], height - 6, short_number(tick))
        for tick in _ticks(-floor(-first / pace) * pace, last, pace)
    ]
    for row, (place, words) in enumerate(marks):
        if first < place < last:
            x = at(place, low)[0]
            late = place > (first + last) / 2
            parts.append(_rule("mark", x, x, head, head + tall))
            # one line per label: on a narrow screen two would overlap
            y = head + 12 + 15 * row
            parts.append(_text(x - 6 if late else x + 6, y, words, "end" if late else "start"))
    for place, one in enumerate(shown):
        parts.append(
            Markup('<path class="line chart-{}" d="{}"><title>{}</title></path>').format(
                place % 6, _path(one.points, at), one.name
            )
        )
    return _chart(Markup(""), width, height, label, parts)


def for_all_screens(wide: Markup, narrow: Markup) -> Markup:
    """Return a wide and a narrow version of a chart; the style sheet shows the one that fits.

    Scaled down to a phone, the text of the wide version would be unreadable.
    """
    return Markup('<div class="wide-only">{}</div><div class="narrow-only">{}</div>').format(
        wide, narrow
    )


def _path(points: Sequence[tuple[float, float]], at: Place) -> str:
    steps, pen_down = [], False
    for x, y in points:
        if not (isfinite(x) and isfinite(y)):
            pen_down = False
            continue
        place = at(x, y)
        steps.append(f"{'L' if pen_down else 'M'}{place[0]:.1f} {place[1]:.1f}")
        pen_down = True
    return "".join(steps)


def _chart(name: Markup, width: int, height: int, label: str, parts: Sequence[Markup]) -> Markup:
    return Markup(
        '<svg class="chart{}" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>'
    ).format(name, width, height, label, Markup("").join(parts))


def _text(x: float, y: float, text: str, anchor: str = "middle") -> Markup:
    return Markup('<text x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>').format(
        x, y, anchor, text
    )


def _grid(
    top: float, step: float, *, left: int, right: int, head: int, tall: int, percent: bool
) -> Markup:
    parts = []
    for value in _ticks(0.0, top + step / 2, step):
        y = head + tall * (1 - value / top)
        parts.append(_rule("grid", left, right, y, y))
        shown = f"{100 * value:.3g} %" if percent else short_number(value)
        parts.append(_text(left - 6, y + 4, shown, "end"))
    return Markup("").join(parts)


def _rule(name: str, x1: float, x2: float, y1: float, y2: float) -> Markup:
    return Markup('<line class="{}" x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}"/>').format(
        name, x1, x2, y1, y2
    )


def _ticks(first: float, last: float, step: float) -> Iterator[float]:
    """Return the multiples of a step between two values, without accumulating rounding errors."""
    number = 0
    while first + number * step <= last:
        yield first + number * step
        number += 1


def _scale(largest: float, *, least: float = 0.0) -> tuple[float, float]:
    """Return a round maximum for an axis that starts at 0, and the step of its grid lines.

    Counts need a step of at least 1: there is no half a paper.
    """
    step = max(_step(largest if largest > 0 else 1.0, lines=3), least)
    return -floor(-(largest if largest > 0 else 1.0) / step) * step, step


def _step(extent: float, lines: int = 4) -> float:
    """Return 1, 2 or 5 times a power of ten, such that about `lines` steps cover the extent."""
    if extent <= 0:
        return 1.0
    rough = extent / lines
    power = 10.0 ** floor(log10(rough))
    return next(power * k for k in (1, 2, 5, 10) if power * k >= rough * 0.999)
