"""Charts: well-formed drawings whose marks stand where the values are, with text escaped."""

import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from citeweave.web import charts
from citeweave.web.templating import heat_class, query, topic_rules


def widths(svg: str) -> list[float]:
    return [float(x) for x in re.findall(r'width="([\d.]+)" height="8"', svg)]


def test_bars_stay_inside() -> None:
    assert widths(charts.bar(0.25))[1] == 25
    assert widths(charts.bar(7.0))[1] == 100
    assert widths(charts.bar(-1.0))[1] == 0
    assert widths(charts.bar(1.0, largest=0.0))[1] == 0
    assert 'x1="20.00" x2="60.00"' in charts.bar(0.4, low=0.2, high=0.6)
    assert "whisker" not in charts.bar(0.4)


def test_stripes_do_not_overlap() -> None:
    svg = charts.stripe([(0, 0.5), (1, 0.3), (2, 0.4)])
    begins = [float(x) for x in re.findall(r' x="([\d.]+)"', svg)]
    assert begins == [0, 50, 80]
    assert all(a + w <= 100 for a, w in zip(begins, widths(svg), strict=True))


def test_gaps_in_years_are_left_out() -> None:
    svg = charts.sparkline([0.1, None, 0.2], topic=1, label="x")
    line = re.search(r'polyline class="line" points="([^"]*)"', svg)
    assert line is not None
    assert [point.split(",")[0] for point in line.group(1).split()] == ["0.0", "100.0"]
    assert charts.sparkline([0.1]) == ""
    assert charts.sparkline([None, 0.1, None]) == ""


def test_columns_have_one_for_each_year_and_escape() -> None:
    svg = charts.columns({2000: 3, 2004: 6}, label='<"&')
    assert svg.count('class="column"') == 5
    assert "&lt;&#34;&amp;" in svg
    assert charts.columns({}, label="x") == ""
    assert charts.columns({2000: 0.0}, label="x").count('class="column"') == 1


def test_counts_have_whole_ticks() -> None:
    for largest in (1, 2, 3, 7):
        svg = charts.columns({2000: largest, 2001: 0}, label="papers")
        ticks = re.findall(r'text-anchor="end">([^<]*)<', svg)
        assert ticks[0] == "0"
        assert all(tick.isdecimal() for tick in ticks)
    assert "0.5 %" in charts.columns({2000: 0.015}, label="share", percent=True)


def test_lines_break_where_values_are_missing() -> None:
    nan = float("nan")
    series = [charts.Series("a", [(1, 1.0), (2, 2.0), (3, nan), (4, 3.0), (5, 1.0)])]
    path = re.search(r' d="([^"]*)"', charts.lines(series, label="x", marks=[(3, "here")]))
    assert path is not None
    assert path.group(1).count("M") == 2
    assert charts.lines([charts.Series("a", [(1, nan)])], label="x") == ""
    flat = [charts.Series("a", [(1, 5.0), (2, 5.0)])]
    assert "line chart-0" in charts.lines(flat, label="x")


def test_columns_are_as_high_as_their_counts() -> None:
    tree = ET.fromstring(str(charts.columns({2001: 10, 2003: 5}, label="Papers")))  # noqa: S314
    heights = [float(bar.get("height")) for bar in tree.iter("rect")]
    assert heights[0] == pytest.approx(2 * heights[2])
    assert heights[1] == 0.0
    assert next(bar.findtext("title") for bar in tree.iter("rect")) == "2001: 10"


def test_long_lines_are_thinned_but_keep_their_ends() -> None:
    (series,) = charts.trace_series(np.arange(10_000.0)[None])
    assert len(series.points) == charts.MOST_POINTS
    assert (series.points[0], series.points[-1]) == ((1.0, 0.0), (10_000.0, 9999.0))


def test_the_climb_of_the_first_steps_is_cut_off() -> None:
    series = [charts.Series("a", [(1, -1000.0), (2, -10.0), (3, -9.0), (4, -8.0)])]
    whole, cut = (charts.lines(series, label="x", lowest=low) for low in (None, -10.0))
    assert "−1000" in whole
    assert "−1000" not in cut


@pytest.mark.parametrize("value", [0.0, 0.04, 0.55, 1.0, 7.0, -1.0])
def test_heat_is_one_of_the_classes_of_the_style_sheet(value: float) -> None:
    assert re.fullmatch(r"heat-(\d|10)", heat_class(value))


def test_every_colour_of_the_palette_has_a_rule() -> None:
    from citeweave.explore.colours import PALETTE

    rules = dict(re.findall(r"\.(topic-\d+) \{ --topic: (#[0-9a-f]{6}); \}", topic_rules()))
    assert rules == {charts.topic_class(slot): colour for slot, colour in enumerate(PALETTE)}


def test_addresses_keep_their_filters() -> None:
    assert query({"a": "1", "b": ""}, a=None, c="x y") == "c=x+y"
