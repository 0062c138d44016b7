"""Agglomerative clustering of mentions into people, most certain pairs first."""

from __future__ import annotations

import heapq
import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

__all__ = ["ClusterRules", "agglomerate"]


class ClusterRules(NamedTuple):
    """Parameters of the score of two clusters.

    Attributes
    ----------
    nothing : float
        Evidence for a pair of papers that were not compared because they have nothing in common.
    power : float
        Evidence between clusters of n and m papers is divided by ``(n m) ** power``.
    least : float
        Lower bound on the evidence, so that a rare name is one person however different the papers
        are.
    threshold : float
        Minimum score for joining two clusters.
    """

    nothing: float = -0.05
    power: float = 0.7
    least: float = -2.0
    threshold: float = 0.0


class _Cluster(NamedTuple):
    size: int
    names: frozenset[int]
    papers: set[int]
    marks: dict[Hashable, Hashable]
    near: dict[int, tuple[float, int]]


def agglomerate(
    sizes: Sequence[int],
    names: Sequence[Iterable[int]],
    papers: Sequence[Iterable[int]],
    marks: Sequence[dict[Hashable, Hashable]],
    pairs: Iterable[tuple[int, int, float, int]],
    *,
    prior: Callable[[int, int], float | None],
    rules: ClusterRules = ClusterRules(),  # noqa: B008 (immutable)
) -> list[int]:
    """Repeatedly join the two clusters with the highest score, while it is high enough.

    The score of clusters A and B is the prior of their most informative pair of names, plus the
    evidence of all pairs of their papers divided by ``(|A| |B|) ** power``. Clusters are never
    joined if two of their names are incompatible, if they share a paper, or if their marks
    (identifiers by kind) contradict each other.

    Parameters
    ----------
    sizes, names, papers, marks
        For each initial cluster: the number of papers, the numbers of its names, papers that cannot
        contain another mention of the same person, and identifiers by kind.
    pairs : iterable of (int, int, float, int)
        Pairs of initial clusters with the sum of their evidence and the number of pairs in it.
    prior : callable
        Log-odds of two names; None if they are incompatible, NaN if only an identifier can decide.
    rules : ClusterRules

    Returns
    -------
    list of int
        The final cluster of each initial cluster.

    Notes
    -----
    Memory grows with the number of pairs. A merge takes time proportional to the neighbours of the
    smaller cluster (and of the other one, if it gets a new name). The queue contains outdated
    entries, which are re-evaluated when they come up.
    """
    clusters: dict[int, _Cluster] = {
        number: _Cluster(size, frozenset(own), set(at), dict(mark), {})
        for number, (size, own, at, mark) in enumerate(
            zip(sizes, names, papers, marks, strict=True)
        )
    }
    parent = list(range(len(clusters)))
    for a, b, evidence, number in pairs:
        before, seen = clusters[a].near.get(b, (0.0, 0))
        clusters[a].near[b] = clusters[b].near[a] = (before + evidence, seen + number)
    known: dict[tuple[int, int], float | None] = {}

    def log_odds(one: int, other: int) -> float | None:
        key = (one, other) if one < other else (other, one)
        if key not in known:
            known[key] = prior(*key)
        return known[key]

    def score(a: int, b: int) -> float | None:
        first, second = clusters[a], clusters[b]
        if not first.papers.isdisjoint(second.papers):
            return None
        if any(second.marks.get(kind, mark) != mark for kind, mark in first.marks.items()):
            return None
        best: float | None = None
        for one in first.names:
            for other in second.names:
                odds = log_odds(one, other)
                if odds is None:
                    return None
                if not math.isnan(odds) and (best is None or odds > best):
                    best = odds
        if best is None:
            return None
        evidence, seen = first.near[b]
        all_pairs = first.size * second.size
        evidence += rules.nothing * max(all_pairs - seen, 0)
        return float(best + max(evidence / all_pairs**rules.power, rules.least))

    queue: list[tuple[float, int, int, int, int]] = []

    def offer(a: int, b: int) -> None:
        a, b = (a, b) if a < b else (b, a)
        found = score(a, b)
        if found is not None and found >= rules.threshold:
            heapq.heappush(queue, (-found, a, b, clusters[a].size, clusters[b].size))

    for a, cluster in clusters.items():
        for b in cluster.near:
            if a < b:
                offer(a, b)
    while queue:
        _, a, b, size_a, size_b = heapq.heappop(queue)
        if a not in clusters or b not in clusters:
            continue
        if (clusters[a].size, clusters[b].size) != (size_a, size_b):
            offer(a, b)  # one of them has grown since
            continue
        if len(clusters[a].near) < len(clusters[b].near):
            a, b = b, a
        grown = not clusters[b].names <= clusters[a].names
        changed = [other for other in clusters[b].near if other != a]
        _merge(clusters, parent, a, b)
        # other neighbours of the larger cluster are re-evaluated when they come up in the queue
        for other in list(clusters[a].near) if grown else changed:
            offer(a, other)
    return [_root(parent, number) for number in range(len(parent))]


def _merge(clusters: dict[int, _Cluster], parent: list[int], a: int, b: int) -> None:
    """Merge cluster b into cluster a."""
    first, second = clusters[a], clusters.pop(b)
    parent[b] = a
    first.near.pop(b, None)
    for other, (evidence, seen) in second.near.items():
        if other == a:
            continue
        before, number = first.near.get(other, (0.0, 0))
        merged = (before + evidence, number + seen)
        first.near[other] = merged
        near = clusters[other].near
        near.pop(b, None)
        near[a] = merged
    first.papers.update(second.papers)
    first.marks.update(second.marks)
    clusters[a] = first._replace(size=first.size + second.size, names=first.names | second.names)


def _root(parent: list[int], number: int) -> int:
    while parent[number] != number:
        parent[number] = parent[parent[number]]
        number = parent[number]
    return number
