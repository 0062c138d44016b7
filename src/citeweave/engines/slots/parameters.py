"""The parts of a step other than its sweeps, over the topics that nodes have; see `sums`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from citeweave.engines.core.exponent import total_rate
from citeweave.engines.core.random import uniform
from citeweave.engines.core.slice_sampling import SLICE_WIDTH, SMALLEST, slice_draw
from citeweave.engines.slots.sums import TopicSums
from citeweave.engines.threads.parameters import Draws

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citeweave.engines.threads.threaded import ThreadedChain

__all__ = ["SparseDraws"]

# Its densities are passes over lists, divided among threads, so they are called from Python.
_slice_draw = getattr(slice_draw, "py_func", slice_draw)


_STEPS_AHEAD = 3
"""Slice steps that parts of a chain evaluate ahead of time; a young chain takes many."""


def _first_points(random: np.ndarray, start: float, width: float) -> list[float]:
    """Guess the first points of a slice (`slice_draw`); most draws need only these.

    They are the present value, the ends of the first interval, and the point drawn from it. A wrong
    guess only costs time.
    """
    random = random.copy()
    _, below, _, inside = (float(uniform(random)) for _ in range(4))
    low = start - width * below
    high = low + width
    points = [start, high, max(low, SMALLEST) + inside * (high - max(low, SMALLEST))]
    return [*points, low] if low > SMALLEST else points


def _next_points(beta: float, start: float, width: float) -> list[float]:
    """Guess the next points of a slice from ``beta`` on: further steps if it steps out."""
    points = [beta]
    if abs(beta - start) > width:
        for _ in range(_STEPS_AHEAD):
            points.append(points[-1] + (width if beta > start else -width))
    return [point for point in points if point > SMALLEST]


class SparseDraws(Draws):
    """Concentrations, propensities, sums and likelihood of a chain with many topics.

    Draws are those of `Draws`, up to the rounding of sums computed in another order.

    Parameters
    ----------
    chain : Chain
        With its workers and the other attributes that `Draws` reads.
    presence : ndarray of uint64 [nodes, words of 64 topics]
        Topics in which nodes have customers; sweeps keep it up to date and then call
        ``counts_moved``.
    """

    def __init__(self, chain: ThreadedChain, presence: np.ndarray) -> None:
        super().__init__(chain)
        self._gathered = False
        self._is_current = False
        """Whether sums match the present counts, concentrations and propensities."""
        if chain.spec.citations is not None:
            self.sums = TopicSums(
                self.workers,
                self.nodes,
                self._network,
                presence,
                self._discounts,
                exchange=chain.exchange,
            )

    def counts_moved(self) -> None:
        """Discard the lists of topics after a sweep, or a stored state, has changed counts.

        Code that changes counts of topics must call this before any other method.
        """
        self._gathered = self._is_current = False

    def rebuild(self) -> None:
        """Recompute P, M and the weights of nodes; list topics again if counts have changed."""
        if self._is_current and self.chain.exchange.size > 1:
            return  # saves an exchange between parts
        if not self._gathered:
            self.sums.gather()
            self._gathered = True
        super().rebuild()
        self._is_current = True

    def _add_up(self) -> None:
        chain = self.chain
        self.sums.add_up(chain.exponent, chain.citation_level, chain.complete_shares)

    def _draw_documents(
        self,
        slope: np.ndarray,
        prior: np.ndarray,
        degree: np.ndarray,
        values: np.ndarray,
        key: np.uint64,
    ) -> None:
        self.sums.rate(slope)
        self._draw_at_rates(prior, degree, values, key)
        self._is_current = False

    def _draw_level(self, level: int, sums: tuple[float, float] | None) -> None:
        super()._draw_level(level, sums)
        self._is_current = False

    def _slice_level(self, level: int, shape: float, rate: float) -> float:
        """Draw a level's concentration; sums of the levels below it do not change."""
        start = float(self.nodes.concentration[self._levels[level][0]])
        random = self.chain.state.random
        if self.chain.exchange.size == 1:
            return float(_slice_draw(random, self.log_density, level, start, shape, rate))
        known: dict[float, float] = {}
        width = SLICE_WIDTH * np.sqrt(shape) / rate

        def weigh(points: list[float]) -> None:
            known.update(zip(points, self.log_densities(level, points, shape, rate), strict=True))

        def log_density(_: int, beta: float, __: float, ___: float) -> float:
            if beta not in known:
                weigh(_next_points(beta, start, width))
            return known[beta]

        weigh(_first_points(random, start, width))
        return float(_slice_draw(random, log_density, level, start, shape, rate))

    def log_density(self, level: int, beta: float, shape: float, rate: float) -> float:
        """Set a level's concentration and return its log density, including the exponential.

        The sums and the weights of the nodes above are updated to ``beta`` too.
        """
        return self.log_densities(level, [beta], shape, rate)[0]

    def log_densities(
        self, level: int, betas: Sequence[float], shape: float, rate: float
    ) -> list[float]:
        """Do the same for several concentrations; the last one stays set.

        Parts of a chain exchange sums once for all of them.
        """
        chain = self.chain
        exponent, out = chain.exponent, []
        sums = self.sums.add_up_at(exponent, level, betas, chain.complete_shares)
        for beta, found in zip(betas, sums, strict=True):
            exponent.cite_sum[:], exponent.cited_sum[:] = found.T
            total = float(total_rate(exponent, chain.state.parameters))
            out.append(float((shape - 1.0) * np.log(beta) - rate * beta - total))
        return out
