"""Courses over years: means over papers, whatever the years."""

import numpy as np
import pytest

from citeweave.web.report.years import courses


def test_a_topic_that_takes_over_is_seen_to() -> None:
    papers = np.array([10, 10, 10, 10])
    shares = np.array([[1.0, 0.0], [0.75, 0.25], [0.25, 0.75], [0.0, 1.0]])
    found = courses(2000, papers, shares)
    assert found.spans == ("2000", "2001", "2002", "2003")
    assert found.by_span == pytest.approx(shares)
    assert (found.early[0], found.late[0]) == (1.0, 0.0)
    assert found.middle[0] < found.middle[1]
    assert found.smooth.sum(axis=1) == pytest.approx(1.0)


def test_spans_are_means_over_papers_not_over_years() -> None:
    papers = np.zeros(24, int)
    papers[[0, 1, 23]] = [1, 3, 2]
    shares = np.full((24, 1), np.nan)
    shares[[0, 1, 23], 0] = [1.0, 0.0, 0.5]
    found = courses(1900, papers, shares)
    assert len(found.spans) == 12
    assert found.spans[0] == "1900–01"
    assert found.by_span[0, 0] == pytest.approx(0.25)
    assert np.isnan(found.by_span[5, 0])
    assert not np.isnan(found.smooth).any()


def test_the_smoothing_keeps_a_level_course_level() -> None:
    found = courses(2000, np.array([1, 50, 2, 9]), np.full((4, 1), 0.3))
    assert found.smooth[:, 0] == pytest.approx(0.3)


def test_two_years_make_no_course() -> None:
    assert courses(2000, np.array([5, 0, 5]), np.full((3, 2), 0.5)) is None
