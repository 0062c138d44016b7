"""Topics over years: time spans for a table, smoothed shares, and growth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["Course", "courses", "span_names"]

MOST_SPANS = 12
"""Maximum number of columns of the table of trends; more years are grouped."""

_SIZES = (1, 2, 3, 4, 5, 10, 20, 25, 50, 100)


@dataclass(frozen=True, eq=False)
class Course:
    """Shares of all topics over time.

    Attributes
    ----------
    years : ndarray of int, shape (Y,)
        All years from the first to the last.
    smooth : ndarray, shape (Y, K)
        Shares, each the mean over the papers of three years.
    spans : tuple of str
        Names of the time spans of the table.
    by_span : ndarray, shape (S, K)
        Shares in each span; nan for a span without papers.
    early, late : ndarray, shape (K,)
        Shares in the first and the last quarter of the papers, by year.
    error : ndarray, shape (K,)
        Standard error of ``late - early``, taking the papers as a sample.
    middle : ndarray, shape (K,)
        The mean year of each topic.
    """

    years: np.ndarray
    smooth: np.ndarray
    spans: tuple[str, ...]
    by_span: np.ndarray
    early: np.ndarray
    late: np.ndarray
    error: np.ndarray
    middle: np.ndarray


def courses(years: np.ndarray, doc_topic: np.ndarray) -> Course | None:
    """Compute the shares of topics over the years.

    Parameters
    ----------
    years : ndarray of int, shape (D,)
        Year of each paper, 0 if unknown.
    doc_topic : ndarray, shape (D, K)
        Topics of papers.

    Returns
    -------
    Course or None
        None if the papers cover fewer than three years, too few for a trend.
    """
    known = np.flatnonzero(years > 0)
    if len(np.unique(years[known])) < 3:
        return None
    first = int(years[known].min())
    place = years[known] - first
    papers = np.bincount(place)
    weights = np.asarray(doc_topic[known], np.float64)
    mass = _sum_by(place, weights)
    years = first + np.arange(len(papers))
    size = next((s for s in _SIZES if len(papers) / s <= MOST_SPANS), _SIZES[-1])
    # counted from the end, so that the latest span is whole
    span = (len(papers) - 1 - np.arange(len(papers))) // size
    span = span.max() - span
    by_span = _mean(_sum_by(span, mass), np.bincount(span, weights=papers))
    window = np.clip(np.arange(len(papers))[:, None] + np.array([-1, 0, 1]), 0, len(papers) - 1)
    inside = np.abs(window - np.arange(len(papers))[:, None]) <= 1
    inside[0, 0] = inside[-1, 2] = False  # beyond the ends there is nothing to take in
    smooth = _mean(
        (mass[window] * inside[:, :, None]).sum(axis=1), (papers[window] * inside).sum(axis=1)
    )
    smooth = _fill(smooth)
    reached = np.cumsum(papers) / papers.sum()
    begun = np.concatenate([[0.0], reached[:-1]])
    early, late = begun < 0.25, reached > 0.75
    ends = [weights[part[place]] for part in (early, late)]
    error = np.sqrt(sum(end.var(axis=0) / len(end) for end in ends))
    total = mass.sum(axis=0)
    middle = years @ mass / np.where(total > 0, total, 1.0)
    return Course(
        years=years,
        smooth=smooth,
        spans=tuple(span_names(years, span)),
        by_span=by_span,
        early=ends[0].mean(axis=0),
        late=ends[1].mean(axis=0),
        error=error,
        middle=middle,
    )


def span_names(years: np.ndarray, span: np.ndarray) -> list[str]:
    """Name spans by their years.

    Examples
    --------
    >>> span_names(np.arange(1998, 2003), np.array([0, 1, 1, 2, 2]))
    ['1998', '1999–00', '2001–02']
    """
    names = []
    for number in range(int(span.max()) + 1):
        inside = years[span == number]
        begin, end = int(inside[0]), int(inside[-1])
        names.append(str(begin) if begin == end else f"{begin}–{end % 100:02d}")
    return names


def _sum_by(keys: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Add up rows of the same key, a column at a time."""
    return np.stack([np.bincount(keys, weights=column) for column in values.T], axis=1)


def _mean(sums: np.ndarray, counts: np.ndarray) -> np.ndarray:
    known = counts > 0
    return np.where(known[:, None], sums / np.where(known, counts, 1.0)[:, None], np.nan)


def _fill(values: np.ndarray) -> np.ndarray:
    """Draw straight lines over years without papers; the first and last years have some."""
    known = ~np.isnan(values).any(axis=1)
    place = np.arange(len(values))
    return np.stack([np.interp(place, place[known], column[known]) for column in values.T], axis=1)
