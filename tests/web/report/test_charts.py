"""Charts: well-formed drawings whose marks stand where the values are, with text escaped."""

import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from citeweave.web.report.charts import Series, columns, lines, nice_ticks, short_number


def parse(chart):
    return ET.fromstring(str(chart))  # noqa: S314 (our own drawing)


def test_columns_are_as_high_as_their_counts() -> None:
    tree = parse(columns(["2001", "2002", "2003"], [10, 0, 5], label="Papers by year"))
    heights = [float(bar.get("height")) for bar in tree.iter("rect")]
    assert heights[0] == pytest.approx(2 * heights[2])
    assert heights[1] == 0.0
    assert tree.get("aria-label") == "Papers by year"
    assert next(bar.findtext("title") for bar in tree.iter("rect")) == "2001: 10"


def test_text_is_escaped() -> None:
    chart = columns(["<script>"], [1], label='"><script>alert(1)</script>')
    assert "<script" not in chart
    assert parse(chart).get("aria-label") == '"><script>alert(1)</script>'


def test_lines_break_where_nothing_is_known() -> None:
    values = np.array([1.0, 2.0, np.nan, 4.0, 5.0])
    tree = parse(lines([Series("one", values)], label="A line"))
    path = next(node for node in tree.iter("path") if "line" in node.get("class"))
    assert path.get("d").count("M") == 2
    assert path.get("d").count("L") == 2


def test_long_lines_are_thinned_but_keep_their_ends() -> None:
    tree = parse(lines([Series("one", np.arange(10_000.0))], label="A line"))
    path = next(node for node in tree.iter("path") if "line" in node.get("class"))
    points = re.findall(r"[ML]([\d.]+),([-\d.]+)", path.get("d"))
    assert len(points) == 400
    assert (points[0][0], points[-1][0]) == ("0.0", "1000.0")


def test_a_line_that_never_moves_and_one_of_nothing_are_drawn() -> None:
    assert parse(lines([Series("one", np.full(5, 3.0))], label="Level")) is not None
    assert lines([Series("one", np.full(5, np.nan))], label="Nothing") == ""


@pytest.mark.parametrize(("low", "high"), [(0, 7), (-1e6, -9.9e5), (0.001, 0.002), (3, 3)])
def test_ticks_are_inside_and_evenly_spaced(low: float, high: float) -> None:
    ticks = nice_ticks(low, high, 4)
    assert all(low - 1e-9 <= tick <= high + 1e-9 for tick in ticks)
    assert np.allclose(np.diff(ticks, 2), 0.0)


def test_numbers_have_a_true_minus() -> None:
    assert short_number(-2_500_000) == "−2.5M"
