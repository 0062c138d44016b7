"""Agglomeration: pairs of mentions become people, the surest first."""

from __future__ import annotations

import heapq
import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

__all__ = ["ClusterRules", "agglomerate"]


class ClusterRules(NamedTuple):
    """What the score of two clusters is made of.

    Attributes
    ----------
    nothing : float
        Evidence of a pair of papers that were not compared, as they have nothing in common.
    power : float
        Evidence between clusters of n and m papers is divided by ``(n m) ** power``.
    least : float
        Evidence against one person counts no more than this, so that a rare name is one person
        however far apart the papers are.
    threshold : float
        Least score of two clusters that are joined.
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
    """Join the two clusters of the highest score, again and again while it is high enough.

    The score of clusters A and B is the prior of the most telling two of their names, plus the
    evidence of all pairs of their papers over ``(|A| |B|) ** power``. They are never joined if two
    of their names cannot be one person's, if they share a paper, or if their marks (kinds of
    identifiers) contradict.

    Parameters
    ----------
    sizes, names, papers, marks
        Of each starting cluster: papers that count, numbers of names, papers that no other mention
        of the same person can be in, identifiers by kind.
    pairs : iterable of (int, int, float, int)
        Starting clusters with the sum of their evidence and the number of pairs in it.
    prior : callable
        Log-odds of two names, None if they cannot be one person's, not a number if only an
        identifier can tell.
    rules : ClusterRules

    Returns
    -------
    list of int
        For each starting cluster the number of the cluster that it ends in.

    Notes
    -----
    Memory grows with the pairs. A merger takes time in the neighbours of the cluster that has
    fewer (and of the other, if that gets a new name); the queue has outdated entries, which are
    looked at again when they come up.
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
        # others of the larger cluster are looked at again when they come up in the queue
        for other in list(clusters[a].near) if grown else changed:
            offer(a, other)
    return [_root(parent, number) for number in range(len(parent))]


def _merge(clusters: dict[int, _Cluster], parent: list[int], a: int, b: int) -> None:
    """Make cluster b part of cluster a."""
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
