"""The sums P and M of the citation likelihood over the topics that nodes have.

Like `engines.threads.exponents`, but with lists instead of rows. Counts do not change between two
sweeps, but the sums are recomputed for every point of a slice and after every draw. So the topics
of all nodes are gathered once, together with c - alpha t, and each pass goes over these lists.
The sums are of integers (`engines.core.exact_sums`), so they do not depend on which thread adds
which terms.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from citeweave.compiled import hot_kernel, index
from citeweave.engines.core.exchange import Exchange
from citeweave.engines.core.exponent import Exponent
from citeweave.engines.core.pieces import Share, cut
from citeweave.engines.core.row_places import ranked_count
from citeweave.engines.slots.presence import lowest_bit
from citeweave.engines.threads.exponents import (
    Network,
    Nodes,
    inherit_shares,
    leave_share,
    node_rate,
    read_children,
    scaled_weights,
)
from citeweave.engines.threads.workers import WorkerPool

__all__ = ["Held", "TopicSums"]

_MOST_PIECES = 64
_SPARE = 2
"""Minimum number of entries in a piece per topic, so that clearing its sums costs little."""
_FEW = 1 << 14
"""Levels with fewer entries are not worth waking a thread for."""


Complete = Callable[[int, np.ndarray], None]
"""In a part of a chain: takes a level and the weights that its nodes inherit (int64 [points, nodes,
2]), and adds those from children in other parts, also for copies."""


class Held(NamedTuple):
    """The topics of every node from the root to the level that citations reach.

    At that level, a part of a chain lists only its own documents.
    """

    begin: np.ndarray
    """int64 [nodes]: first entry of each node."""
    end: np.ndarray
    """int64 [nodes]: one past the last entry of each node."""
    topic: np.ndarray
    """uint16 [entries]."""
    own: np.ndarray
    """float64 [entries]: c - alpha t."""


class Pieces(NamedTuple):
    """How the nodes of a level are cut into pieces."""

    bounds: np.ndarray
    """int64 [pieces + 1]: first node of each piece, then the end of the last."""
    place: np.ndarray
    """int64 [pieces]: first entry of each piece."""
    entries: int
    """Number of entries of the level."""


class TopicSums:
    """Lists of topics, and passes over them that keep an `Exponent` up to date.

    Parameters
    ----------
    workers : WorkerPool
    nodes : Nodes
    network : Network
        The tree read downwards, and memory for shares and rates; its own sums are not used.
    presence : ndarray
        Bits of the topics in which each node has customers.
    discounts : ndarray
    exchange : Exchange
        With the other parts of the chain.
    """

    def __init__(
        self,
        workers: WorkerPool,
        nodes: Nodes,
        network: Network,
        presence: np.ndarray,
        discounts: np.ndarray,
        *,
        exchange: Exchange,
    ) -> None:
        self.workers = workers
        self.nodes = nodes
        self.network = network
        self.presence = presence
        self.discounts = discounts
        self.exchange = exchange
        self._spans = [
            (int(own[0]), int(own[-1]), int(held[-1]))
            for own, held in zip(network.bounds, network.held, strict=True)
        ]
        """By level: first node, end of the nodes that the chain owns, end of all nodes."""
        last, topics = self._spans[-1][1], nodes.customers.shape[1]
        levels = len(self._spans)
        self.by_level = np.zeros((levels, topics, 2), np.int64)
        """Contribution of each level's nodes to P and to M, in units."""
        self._held = Held(
            np.zeros(last, np.int64),
            np.zeros(last, np.int64),
            np.zeros(0, np.uint16),
            np.zeros(0),
        )
        self._pieces: list[Pieces] = []
        """By level: the nodes that the chain owns."""
        self._copies: list[Pieces] = []
        """By level above the lowest: copies of nodes that other parts own."""
        self._room = np.zeros((0, topics, 2), np.int64)

    def gather(self) -> None:
        """List the topics of all nodes, from the current bits and counts."""
        self._cut()
        for level, pieces in self._all_pieces():

            def hold(
                worker: int,
                step: int = self.workers.size,
                level: int = level,
                pieces: Pieces = pieces,
            ) -> None:
                discount = self.discounts[level]
                bounds, place = pieces.bounds, pieces.place
                share = Share(bounds, worker, step)
                _hold(self.nodes, self.presence, discount, place, self._held, share)

            self._share(pieces, hold)

    def _cut(self) -> None:
        """Count the topics of all nodes, allocate memory and cut pieces of similar length."""
        workers, held = self.workers, self._held
        parts = cut(0, len(held.end))
        workers.run(lambda worker: _count(self.presence, held.end, parts, worker, workers.size))
        ends = np.cumsum(held.end)
        topics = self.by_level.shape[1]
        self._pieces = [_cut_level(ends, begin, own, topics) for begin, own, _ in self._spans]
        self._copies = [_cut_level(ends, own, end, topics) for _, own, end in self._spans[:-1]]
        most = max(len(pieces.place) for pieces in self._pieces)
        if most > len(self._room):
            self._room = np.zeros((most, topics, 2), np.int64)
        if ends[-1] > len(self._held.topic):
            size = int(1.25 * ends[-1])
            self._held = self._held._replace(topic=np.zeros(size, np.uint16), own=np.zeros(size))

    def _all_pieces(self) -> list[tuple[int, Pieces]]:
        """Return the pieces of all nodes with their levels, parents first."""
        found = [(level, pieces) for level, pieces in enumerate(self._pieces)]
        if self.exchange.size > 1:
            found += list(enumerate(self._copies))
        return sorted(found, key=lambda one: one[0])

    def add_up(self, exponent: Exponent, lowest: int, complete: Complete | None = None) -> None:
        """Recompute the contributions of level ``lowest`` and above to P and M, and their weights.

        The weights of the nodes at ``lowest`` itself and below are not recomputed. ``complete``
        adds the weights that nodes inherit from children in other parts of the chain.
        """
        self.add_up_at(exponent, lowest, (None,), complete)

    def add_up_at(
        self,
        exponent: Exponent,
        lowest: int,
        points: Sequence[float | None],
        complete: Complete | None = None,
    ) -> np.ndarray:
        """Do the same at several concentrations of level ``lowest``, None for the present one.

        Parts of a chain exchange the sums of all points at once. Sums, weights and concentrations
        are left at the values of the last point.

        Returns
        -------
        ndarray of float64 [points, topics, 2]
            P and M.
        """
        nodes, n_points = self.nodes, len(points)
        weights = (exponent.cite_weight, exponent.cited_weight)
        by_level = np.repeat(self.by_level[None], n_points, axis=0)
        inherited = np.zeros((n_points, 0, 2), np.int64)
        for level in range(lowest, 0, -1):
            begin, _, end = self._spans[level]
            if complete is not None and level < lowest:
                complete(level, inherited)
            left = np.zeros((n_points, begin - self._spans[level - 1][0], 2), np.int64)
            for i, point in enumerate(points):
                if level == lowest and point is not None:
                    nodes.concentration[begin:end] = point
                if level < lowest:
                    for weight, found in zip(weights, self._in_ones(inherited[i]), strict=True):
                        weight[begin:end] = found
                by_level[i, level] = self._add_level(level, weights)
                self._inherit(level - 1, left[i])
            inherited = left
        below = np.concatenate([by_level[:, 1:].sum(axis=1), inherited], axis=1)
        below = self.exchange.sum(below)
        total = np.zeros((n_points, self.by_level.shape[1], 2))
        for i, point in enumerate(points):
            if lowest > 0:
                weights[0][:1], weights[1][:1] = self._in_ones(below[i, -1:])
            elif point is not None:
                nodes.concentration[0] = point
            by_level[i, 0] = self._add_level(0, weights)
            found = below[i, : total.shape[1]] + by_level[i, 0]
            total[i] = found / self.network.unit
        self.by_level[:] = by_level[-1]
        exponent.cite_sum[:], exponent.cited_sum[:] = total[-1].T
        return total

    def _in_ones(self, found: np.ndarray) -> np.ndarray:
        """Convert sums in units (int64 [nodes, 2]) to weights of citing and of being cited."""
        return np.asarray((found / self.network.unit).T)

    def _add_level(self, level: int, weights: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        """Sum the terms of the nodes of a level that the chain owns: int64 [topics, 2]."""
        pieces, children = self._pieces[level], read_children(self.network)

        def add(worker: int, step: int = self.workers.size) -> None:
            share = Share(pieces.bounds, worker, step)
            given = (self.nodes, self._held, self.discounts[level])
            _add_terms(*given, children, weights, self._room, share)

        self._share(pieces, add)
        return np.asarray(self._room[: len(pieces.place)].sum(axis=0))

    def _inherit(self, level: int, found: np.ndarray) -> None:
        """Add up the shares that children leave to the nodes of a level: int64 [nodes, 2]."""
        begin, _, end = self._spans[level]
        children, size = read_children(self.network), self.workers.size
        if end - begin < _FEW:
            inherit_shares(children, begin, end, found)
            return
        bounds = [begin + (end - begin) * i // size for i in range(size + 1)]

        def inherit(worker: int) -> None:
            first, last = bounds[worker : worker + 2]
            inherit_shares(children, first, last, found[first - begin : last - begin])

        self.workers.run(inherit)

    def rate(self, slope: np.ndarray) -> None:
        """Set ``network.rate`` of all nodes to the product of ``slope`` and their means."""
        for level, pieces in self._all_pieces():

            def rate(
                worker: int,
                step: int = self.workers.size,
                level: int = level,
                pieces: Pieces = pieces,
            ) -> None:
                discount, rates, bounds = self.discounts[level], self.network.rate, pieces.bounds
                share = Share(bounds, worker, step)
                _rate_nodes(self.nodes, self._held, discount, rates, slope, share)

            self._share(pieces, rate)

    def _share(self, pieces: Pieces, task) -> None:
        """Run a task on a level's pieces in all workers, or in one if entries are few."""
        if pieces.entries < _FEW:
            task(0, 1)
        else:
            self.workers.run(task)


def _cut_level(ends: np.ndarray, begin: int, end: int, topics: int) -> Pieces:
    """Cut nodes ``begin`` to ``end`` - 1 into pieces; ``ends`` are the ends of their entries."""
    first = int(ends[begin - 1]) if begin > 0 else 0
    entries = int(ends[end - 1]) - first if end > begin else 0
    n_pieces = max(min(entries // (_SPARE * topics), _MOST_PIECES, end - begin), 1)
    wanted = first + np.arange(1, n_pieces) * entries // n_pieces
    inner = begin + np.searchsorted(ends[begin:end], wanted)
    bounds = np.concatenate([[begin], inner, [end]]).astype(np.int64)
    place = np.concatenate([[first], ends[np.maximum(inner - 1, begin)]])
    place[1:][inner == begin] = first
    return Pieces(bounds, place.astype(np.int64), entries)


@hot_kernel
def _count(presence, found, bounds, first, step):
    """Count the topics of nodes, in pieces ``first``, ``first + step``, ..."""
    for c in range(first, bounds.shape[0] - 1, step):
        for n in range(bounds[c], bounds[c + 1]):
            row = index(n)
            count = 0
            for i in range(presence.shape[1]):
                bits = presence[row, index(i)]
                while bits != np.uint64(0):  # compiled to one instruction
                    bits &= bits - np.uint64(1)
                    count += 1
            found[row] = count


@hot_kernel
def _hold(nodes, presence, discount, place, held, share):
    """List the topics of one level's nodes, in a worker's share of pieces."""
    bounds, first, step = share
    for c in range(first, bounds.shape[0] - 1, step):
        end = index(place[c])
        for n in range(bounds[c], bounds[c + 1]):
            row = index(n)
            held.begin[row] = end
            for i in range(presence.shape[1]):
                bits = presence[row, index(i)]
                while bits != np.uint64(0):
                    held.topic[end] = 64 * i + lowest_bit(bits)
                    bits &= bits - np.uint64(1)
                    end += index(1)
            held.end[row] = end
        # separate from the loop above, so that many reads of counts are in flight at a time
        for n in range(bounds[c], bounds[c + 1]):
            row = index(n)
            first = index(held.begin[row])
            for j in range(first, index(held.end[row])):
                k, rank = index(held.topic[j]), j - first
                customers = ranked_count(nodes.customers, row, rank, k)
                tables = ranked_count(nodes.tables, row, rank, k) if customers > 1 else customers
                held.own[j] = customers - discount * tables


@hot_kernel
def _add_terms(nodes, held, discount, children, weights, sums, share):
    """Sum the terms of one level's nodes, and note the shares that they leave to their parents.

    ``weights`` are the weights of citing and of being cited; ``sums`` (int64 [pieces,
    topics, 2]) are in units.
    """
    bounds, first, step = share
    for c in range(first, bounds.shape[0] - 1, step):
        piece = index(c)
        sums[piece] = 0
        for n in range(bounds[c], bounds[c + 1]):
            cite, cited = scaled_weights(nodes, children, weights, False, n)
            cite_unit, cited_unit = cite * children.unit[0], cited * children.unit[1]
            for j in range(index(held.begin[n]), index(held.end[n])):
                k = index(held.topic[j])
                sums[piece, k, 0] += np.int64(cite_unit * held.own[j])
                sums[piece, k, 1] += np.int64(cited_unit * held.own[j])
            leave_share(nodes, children, discount, n, cite, cited)


@hot_kernel
def _rate_nodes(nodes, held, discount, rate, slope, share):
    """Set ``rate`` of one level's nodes; the level above must be done. Mu has no parent."""
    bounds, first, step = share
    for c in range(first, bounds.shape[0] - 1, step):
        for n in range(bounds[c], bounds[c + 1]):
            own = 0.0
            for j in range(index(held.begin[n]), index(held.end[n])):
                own += slope[index(held.topic[j])] * held.own[j]
            rate[n] = node_rate(nodes, discount, rate, n, own)
