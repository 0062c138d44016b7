"""A map of papers: one island per topic, with an area in proportion to its papers.

A paper about a single topic is in the middle of its island; the larger its share of other topics,
the closer it is to the shore on their side. Islands of topics that share papers are adjacent. The
layout is deterministic and takes about a second for tens of thousands of papers.
"""

import numpy as np
from scipy.spatial import cKDTree

from citeweave.explore.graphs.stress import remove_overlaps, scaled_stress

__all__ = ["Islands", "place_papers"]

SPACING = 9.0
"""Space per paper in points: an island of n papers has the area of n squares of this side."""

ROUNDS = 25
EVEN = 0.8
"""Degree to which papers are spread evenly around their island rather than towards others."""


class Islands:
    """Positions of papers and topics.

    Attributes
    ----------
    papers : ndarray, shape (D, 2)
    centres : ndarray, shape (K, 2)
        Centres of the islands; nan for a topic that dominates no paper.
    radii : ndarray, shape (K,)
    """

    def __init__(self, papers: np.ndarray, centres: np.ndarray, radii: np.ndarray) -> None:
        self.papers = papers
        self.centres = centres
        self.radii = radii


def place_papers(doc_topic: np.ndarray, dominant: np.ndarray | None = None) -> Islands:
    """Place papers by their topics.

    Parameters
    ----------
    doc_topic : ndarray, shape (D, K)
        Rows of weights that sum to one.
    dominant : ndarray of int, shape (D,), optional
        The topic on whose island each paper is placed; by default the one with the largest weight.
    """
    theta = np.asarray(doc_topic, np.float64)
    documents, topics = theta.shape
    dominant = theta.argmax(axis=1) if dominant is None else np.asarray(dominant)
    sizes = np.bincount(dominant, minlength=topics)
    used = np.flatnonzero(sizes)
    radii = np.zeros(topics)
    radii[used] = SPACING * np.sqrt(sizes[used] / np.pi) * 1.08 + SPACING / 2
    centres = np.full((topics, 2), np.nan)
    centres[used] = _place_islands(theta[:, used], radii[used])
    papers = np.zeros((documents, 2))
    for k in used.tolist():
        members = np.flatnonzero(dominant == k)
        papers[members] = centres[k] + _fill_island(theta[members], k, used, centres, radii[k])
    _push_apart(papers, dominant, centres, radii)
    return Islands(papers, centres, radii)


def _place_islands(theta: np.ndarray, radii: np.ndarray) -> np.ndarray:
    """Place islands so that topics that share papers are adjacent and none overlap."""
    number = theta.shape[1]
    if number == 1:
        return np.zeros((1, 2))
    shared = theta.T @ theta
    # a consensus may give an island to a topic without weight
    norms = np.maximum(np.sqrt(np.diag(shared)), np.finfo(float).tiny ** 0.5)
    likeness = shared / np.outer(norms, norms)
    np.fill_diagonal(likeness, 0.0)
    likeness /= max(float(likeness.max()), np.finfo(float).tiny)
    # the most similar islands nearly touch, and those that share nothing are far apart
    touch = radii[:, None] + radii[None]
    distances = touch * 1.05 + 1.6 * radii.mean() * (1.0 - np.sqrt(likeness))
    np.fill_diagonal(distances, 0.0)
    places = scaled_stress(distances)
    boxes = np.column_stack((2 * radii, 2 * radii))
    return remove_overlaps(places * 0.8, boxes * 0.94, margin=SPACING)


def _fill_island(
    theta: np.ndarray, k: int, used: np.ndarray, centres: np.ndarray, radius: float
) -> np.ndarray:
    """Offsets of the papers of one topic from the centre of its island."""
    number = len(theta)
    others = used[used != k]
    golden = np.arange(number) * (np.pi * (3.0 - np.sqrt(5.0)))
    if len(others):
        ways = centres[others] - centres[k]
        ways /= np.linalg.norm(ways, axis=1, keepdims=True)
        pull = theta[:, others] @ ways
        angles = np.arctan2(pull[:, 1], pull[:, 0])
        # many papers have the same second topic and would otherwise be in one line
        ranks = np.empty(number)
        ranks[np.lexsort((golden % 1.0, angles))] = (np.arange(number) + 0.5) / number
        even = ranks * 2 * np.pi - np.pi
        angles = angles + EVEN * _turn(even - angles)
    else:
        angles = golden
    order = np.lexsort((np.arange(number), -theta[:, k]))
    steps = np.empty(number)
    steps[order] = np.sqrt((np.arange(number) + 0.5) / number)
    distance = (radius - SPACING / 2) * steps
    return np.column_stack((distance * np.cos(angles), distance * np.sin(angles)))


def _turn(angles: np.ndarray) -> np.ndarray:
    """Reduce angles to the range from -pi to pi."""
    return np.asarray((angles + np.pi) % (2 * np.pi) - np.pi)


def _push_apart(
    papers: np.ndarray, dominant: np.ndarray, centres: np.ndarray, radii: np.ndarray
) -> None:
    """Separate papers that are too close, within their islands; in place."""
    if len(papers) < 2:
        return
    near = SPACING * 0.9
    for _ in range(ROUNDS):
        pairs = cKDTree(papers).query_pairs(near, output_type="ndarray")
        if not len(pairs):
            break
        a, b = pairs[:, 0], pairs[:, 1]
        between = papers[b] - papers[a]
        apart = np.linalg.norm(between, axis=1)
        # two at the same point are separated in a direction of their own
        still = apart < 1e-9
        turns = (a[still] * 2.399963) % (2 * np.pi)
        between[still] = np.column_stack((np.cos(turns), np.sin(turns)))
        apart[still] = 1.0
        missing = np.where(still, near, near - apart)
        push = between / apart[:, None] * (0.35 * missing)[:, None]
        for axis in (0, 1):
            moved = np.bincount(b, push[:, axis], len(papers))
            papers[:, axis] += moved - np.bincount(a, push[:, axis], len(papers))
        offsets = papers - centres[dominant]
        far = np.linalg.norm(offsets, axis=1)
        limit = radii[dominant]
        out = far > limit
        papers[out] = centres[dominant[out]] + offsets[out] * (limit[out] / far[out])[:, None]
