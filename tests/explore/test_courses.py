"""Courses over years: means over papers, whatever the years."""

import numpy as np
import pytest

from citeweave.explore.courses import courses


def papers(counts, shares):
    """Make papers of one topic each, so many of the first one that a year's share is as given."""
    years, topics = [], []
    for year, (count, share) in enumerate(zip(counts, shares, strict=True), start=2000):
        first = round(count * share)
        years += [year] * count
        topics += [[1.0, 0.0]] * first + [[0.0, 1.0]] * (count - first)
    return np.array(years), np.array(topics)


def test_a_topic_that_takes_over_is_seen_to() -> None:
    found = courses(*papers([20, 20, 20, 20], [1.0, 0.75, 0.25, 0.0]))
    assert found.spans == ("2000", "2001", "2002", "2003")
    assert found.by_span[:, 0] == pytest.approx([1.0, 0.75, 0.25, 0.0])
    assert (found.early[0], found.late[0]) == (1.0, 0.0)
    assert found.middle[0] < found.middle[1]
    assert found.smooth.sum(axis=1) == pytest.approx(1.0)


def test_spans_are_means_over_papers_not_over_years() -> None:
    counts = [0] * 24
    counts[0], counts[1], counts[2], counts[23] = 1, 3, 1, 2
    shares = [0.0] * 24
    shares[0], shares[23] = 1.0, 0.5
    found = courses(*papers(counts, shares))
    assert len(found.spans) == 12
    assert found.spans[0] == "2000–01"
    assert found.by_span[0, 0] == pytest.approx(0.25)
    assert np.isnan(found.by_span[5, 0])
    assert not np.isnan(found.smooth).any()


def test_the_smoothing_keeps_a_level_course_level() -> None:
    found = courses(*papers([2, 50, 4, 10], [0.5] * 4))
    assert found.smooth[:, 0] == pytest.approx(0.5)


def test_the_error_is_that_of_a_difference_of_means() -> None:
    found = courses(*papers([100, 100, 100, 100], [0.5, 0.5, 0.5, 0.8]))
    assert found.error[0] == pytest.approx(np.sqrt(0.25 / 100 + 0.16 / 100))


def test_papers_without_a_year_do_not_count() -> None:
    years, topics = papers([4, 4, 4], [0.5, 0.5, 0.5])
    found = courses(np.append(years, 0), np.vstack([topics, [[1.0, 0.0]]]))
    assert found.by_span[:, 0] == pytest.approx(0.5)


def test_two_years_make_no_course() -> None:
    assert courses(*papers([5, 0, 5], [0.5, 0.5, 0.5])) is None
