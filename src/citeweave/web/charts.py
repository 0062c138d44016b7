"""Small charts as SVG text: bars, stripes, sparklines, columns, lines.

No chart carries a colour or a style of its own: the style sheet knows its classes, so that light,
dark and print differ without a word here, and a strict content-security policy holds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor, isfinite, log10

from markupsafe import Markup

__all__ = [
    "Series",
    "bar",
    "columns",
    "for_all_screens",
    "lines",
    "sparkline",
    "stripe",
    "topic_class",
]

TOPIC_CLASSES = 24


def topic_class(topic: int) -> str:
    """Name the style-sheet class that has a topic's colour.

    Examples
    --------
    >>> topic_class(3), topic_class(27)
    ('topic-3', 'topic-3')
    """
    return f"topic-{topic % TOPIC_CLASSES}"


def bar(
    share: float,
    *,
    topic: int | None = None,
    low: float | None = None,
    high: float | None = None,
    largest: float = 1.0,
) -> Markup:
    """Draw a share of `largest` as a bar, with a line from `low` to `high` where they are known.

    It is decoration: the number stands beside it as text.
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
    """Draw topics and their shares side by side as one stripe; what they lack to 1 stays empty."""
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
    values: Sequence[float | None], *, topic: int | None = None, label: str = ""
) -> Markup:
    """Draw values over time as a small line with its area; nothing if fewer than two are known."""
    known = [(i, v) for i, v in enumerate(values) if v is not None]
    if len(known) < 2:
        return Markup("")
    top = max(v for _, v in known) or 1.0
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
    """Draw a value for each year as columns, with years below and the scale at the left."""
    if not values:
        return Markup("")
    years = list(range(min(values), max(values) + 1))
    top, step = _scale(max(values.values()))
    left, bottom, head = 44, 22, 10
    inner, tall = width - left - 4, height - bottom - head
    slot = inner / len(years)
    parts = [_grid(top, step, left=left, right=width - 4, head=head, tall=tall, percent=percent)]
    every = max(1, -(-len(years) * 48 // inner))
    for i, year in enumerate(years):
        size = tall * values.get(year, 0.0) / top
        x = left + i * slot
        shown = (
            f"{100 * values.get(year, 0.0):.1f} %" if percent else f"{values.get(year, 0.0):,.0f}"
        )
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
    """A line of a chart: its name and its points (x, y); points that are not finite are gaps."""

    name: str
    points: Sequence[tuple[float, float]]


def lines(
    series: Sequence[Series],
    *,
    label: str,
    mark: tuple[float, str] | None = None,
    width: int = 720,
    height: int = 240,
    from_zero: bool = False,
) -> Markup:
    """Draw lines over a common axis; ``mark`` is a place on it with words of its own."""
    finite = [(x, y) for one in series for x, y in one.points if isfinite(x) and isfinite(y)]
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
    value = low
    while value <= high + step / 2:
        _, y = at(first, value)
        parts.append(
            Markup('<line class="grid" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"/>').format(
                left, width - 24, y, y
            )
        )
        parts.append(_text(left - 8, y + 4, _short(value), anchor="end"))
        value += step
    pace = _step(last - first)
    tick = floor(first / pace) * pace
    while tick <= last:
        if tick >= first:
            parts.append(_text(at(tick, low)[0], height - 6, _short(tick)))
        tick += pace
    if mark is not None and first < mark[0] < last:
        x = at(mark[0], low)[0]
        late = mark[0] > (first + last) / 2
        parts.append(
            Markup('<line class="mark" x1="{:.1f}" x2="{:.1f}" y1="{}" y2="{}"/>').format(
                x, x, head, head + tall
            )
        )
        parts.append(
            _text(x - 6 if late else x + 6, head + 12, mark[1], "end" if late else "start")
        )
    for number, one in enumerate(series):
        parts.append(
            Markup('<path class="line chart-{}" d="{}"><title>{}</title></path>').format(
                number % 6, _path(one.points, at), one.name
            )
        )
    return _chart(Markup(""), width, height, label, parts)


def for_all_screens(wide: Markup, narrow: Markup) -> Markup:
    """Give a chart drawn for wide and for narrow screens; the style sheet shows the one that fits.

    A picture that is scaled down to a telephone has letters that nobody can read.
    """
    return Markup('<div class="wide-only">{}</div><div class="narrow-only">{}</div>').format(
        wide, narrow
    )


def _path(points: Sequence[tuple[float, float]], at: "object") -> str:
    assert callable(at)  # noqa: S101 (for the type checker)
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
    parts, value = [], 0.0
    while value <= top + step / 2:
        y = head + tall * (1 - value / top)
        parts.append(
            Markup('<line class="grid" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"/>').format(
                left, right, y, y
            )
        )
        shown = f"{100 * value:.3g} %" if percent else _short(value)
        parts.append(_text(left - 6, y + 4, shown, "end"))
        value += step
    return Markup("").join(parts)


def _scale(largest: float) -> tuple[float, float]:
    """Give a round top of an axis that begins at 0, and the step of its lines."""
    step = _step(largest if largest > 0 else 1.0, lines=3)
    return -floor(-(largest if largest > 0 else 1.0) / step) * step, step


def _step(extent: float, lines: int = 4) -> float:
    """Give 1, 2 or 5 times a power of ten, so that about `lines` steps make the extent."""
    if extent <= 0:
        return 1.0
    rough = extent / lines
    power = 10.0 ** floor(log10(rough))
    return next(power * k for k in (1, 2, 5, 10) if power * k >= rough * 0.999)


def _short(value: float) -> str:
    """Write a number of an axis, thousands and millions by letter."""
    size = abs(value)
    if size >= 1e6:
        return f"{value / 1e6:.4g}M"
    if size >= 1e4:
        return f"{value / 1e3:.4g}k"
    return f"{value:.4g}"
