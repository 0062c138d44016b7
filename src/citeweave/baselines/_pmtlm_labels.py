"""One topic per document: local search on PMTLM's likelihood, after EM (docs/understand/pmtlm.md).

Kernels here call none from other files, because Numba's cache would not notice a change there.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from citeweave.baselines._pmtlm_kernels import PmtlmData
from citeweave.compiled import kernel

__all__ = ["hard_log_likelihood", "refine_labels"]

_MOST_SWEEPS = 200
_LEAST_GAIN = 1e-9


class LabelGraph(NamedTuple):
    """Neighbours of each document: those of d are offsets[d] to offsets[d + 1]."""

    offsets: np.ndarray
    neighbours: np.ndarray
    times: np.ndarray
    degrees: np.ndarray


class Counts(NamedTuple):
    """Sums over the documents of each topic, on which the likelihood depends.

    words [V, K] of shares C_dw / L_d, texts [K] (documents with words), links [K, K] (inside a
    topic twice), degrees [K] and documents [K].
    """

    words: np.ndarray
    texts: np.ndarray
    links: np.ndarray
    degrees: np.ndarray
    documents: np.ndarray


def refine_labels(
    data: PmtlmData,
    graph: Any,
    labels: np.ndarray,
    topics: int,
    *,
    alpha: float,
    degree_corrected: bool,
    rng: np.random.Generator,
) -> tuple[np.ndarray, float]:
    """Move documents between topics while the likelihood of one topic per document grows.

    Parameters
    ----------
    data : PmtlmData
    graph : sparse csr_array, shape (D, D)
        Symmetric counts of links.
    labels : ndarray of int, shape (D,)
        Starting point of the search.
    topics : int
    alpha, degree_corrected
        Parameters of the model.
    rng : Generator
        Random generator for the order in which documents are visited.

    Returns
    -------
    labels : ndarray of int64
        No move of a single document would improve them.
    log_likelihood : float
    """
    found = labels.astype(np.int64)
    counts = _count(data, graph, found, topics)
    links = LabelGraph(
        graph.indptr.astype(np.int64),
        graph.indices.astype(np.int64),
        graph.data.astype(np.float64),
        np.asarray(graph.sum(axis=1), dtype=np.float64).ravel(),
    )
    for _ in range(_MOST_SWEEPS):
        order = rng.permutation(len(found))
        if not _move_documents(data, links, counts, order, alpha, degree_corrected, found):
            break
    value = _value(_count(data, graph, found, topics), alpha, corrected=degree_corrected)
    return found, value


def hard_log_likelihood(
    data: PmtlmData,
    graph: Any,
    labels: np.ndarray,
    topics: int,
    *,
    alpha: float,
    degree_corrected: bool,
) -> float:
    """Return the likelihood that `refine_labels` maximises, for any labels."""
    counts = _count(data, graph, labels.astype(np.int64), topics)
    return _value(counts, alpha, corrected=degree_corrected)


def _count(data: PmtlmData, graph: Any, labels: np.ndarray, topics: int) -> Counts:
    size = int(data.words.max(initial=-1)) + 1
    lengths = np.diff(data.offsets)
    words = np.zeros((size, topics))
    np.add.at(words, (data.words, np.repeat(labels, lengths)), data.shares)
    member = np.eye(topics)[labels]
    links = member.T @ (graph @ member)
    return Counts(
        words=words,
        texts=np.bincount(labels[lengths > 0], minlength=topics).astype(np.float64),
        links=np.ascontiguousarray(links),
        degrees=links.sum(axis=1),
        documents=member.sum(axis=0),
    )


def _value(counts: Counts, alpha: float, *, corrected: bool) -> float:
    by_words = _xlogx(counts.words).sum() - _xlogx(counts.texts).sum()
    by_links = 0.5 * _xlogx(counts.links).sum()
    if corrected:
        by_links -= _xlogx(counts.degrees).sum()
    else:
        by_links -= (counts.degrees * np.log(np.maximum(counts.documents, 1.0))).sum()
    return float(alpha * by_words + (1.0 - alpha) * by_links)


def _xlogx(values: np.ndarray) -> np.ndarray:
    return np.asarray(values * np.log(np.where(values > 1e-12, values, 1.0)))


@kernel
def _term(x: float) -> float:
    """Return ``x * log(x)``, and 0 if x is 0 up to rounding."""
    return x * math.log(x) if x > 1e-12 else 0.0


@kernel
def _link_gain(
    counts: Counts,
    near: np.ndarray,
    degree: float,
    r: int,
    s: int,
    degree_corrected: bool,  # noqa: FBT001 (kernels take no keywords)
) -> float:
    """Return the links' gain if a document with `near` links to each topic moves from r to s."""
    gain = 0.0
    for t in range(len(near)):
        if t not in (r, s):
            gain += _term(counts.links[r, t] - near[t]) - _term(counts.links[r, t])
            gain += _term(counts.links[s, t] + near[t]) - _term(counts.links[s, t])
    gain += 0.5 * (_term(counts.links[r, r] - 2.0 * near[r]) - _term(counts.links[r, r]))
    gain += 0.5 * (_term(counts.links[s, s] + 2.0 * near[s]) - _term(counts.links[s, s]))
    gain += _term(counts.links[r, s] + near[r] - near[s]) - _term(counts.links[r, s])
    if degree_corrected:
        gain -= _term(counts.degrees[r] - degree) - _term(counts.degrees[r])
        gain -= _term(counts.degrees[s] + degree) - _term(counts.degrees[s])
        return float(gain)
    left = max(counts.documents[r] - 1.0, 1.0)
    gain -= (counts.degrees[r] - degree) * math.log(left)
    gain += counts.degrees[r] * math.log(max(counts.documents[r], 1.0))
    gain -= (counts.degrees[s] + degree) * math.log(counts.documents[s] + 1.0)
    gain += counts.degrees[s] * math.log(max(counts.documents[s], 1.0))
    return float(gain)


@kernel
def _move_documents(
    data: PmtlmData,
    graph: LabelGraph,
    counts: Counts,
    order: np.ndarray,
    alpha: float,
    degree_corrected: bool,  # noqa: FBT001 (kernels take no keywords)
    labels: np.ndarray,
) -> int:
    """Assign each document, in this order, to its best topic; return the number moved."""
    topics = len(counts.texts)
    near = np.zeros(topics)
    moved = 0
    for d in order:
        r = labels[d]
        begin, end = data.offsets[d], data.offsets[d + 1]
        text = 1.0 if end > begin else 0.0
        near[:] = 0.0
        for entry in range(graph.offsets[d], graph.offsets[d + 1]):
            near[labels[graph.neighbours[entry]]] += graph.times[entry]
        leave = _term(counts.texts[r]) - _term(counts.texts[r] - text)
        for entry in range(begin, end):
            before = counts.words[data.words[entry], r]
            leave += _term(before - data.shares[entry]) - _term(before)
        best = r
        best_gain = _LEAST_GAIN
        for s in range(topics):
            if s == r:
                continue
            words = leave + _term(counts.texts[s]) - _term(counts.texts[s] + text)
            for entry in range(begin, end):
                before = counts.words[data.words[entry], s]
                words += _term(before + data.shares[entry]) - _term(before)
            links = _link_gain(counts, near, graph.degrees[d], r, s, degree_corrected)
            gain = alpha * words + (1.0 - alpha) * links
            if gain > best_gain:
                best, best_gain = s, gain
        if best == r:
            continue
        s = best
        moved += 1
        labels[d] = s
        for entry in range(begin, end):
            counts.words[data.words[entry], r] -= data.shares[entry]
            counts.words[data.words[entry], s] += data.shares[entry]
        across = counts.links[r, s] + near[r] - near[s]
        for t in range(topics):
            counts.links[r, t] -= near[t]
            counts.links[s, t] += near[t]
        for t in range(topics):
            counts.links[t, r] -= near[t]
            counts.links[t, s] += near[t]
        counts.links[r, s] = across
        counts.links[s, r] = across
        counts.texts[r] -= text
        counts.texts[s] += text
        counts.degrees[r] -= graph.degrees[d]
        counts.degrees[s] += graph.degrees[d]
        counts.documents[r] -= 1.0
        counts.documents[s] += 1.0
    return moved
