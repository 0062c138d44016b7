"""What a step does beside its sweeps, over the topics that nodes have; see `sums`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from citeweave.engines.core.exponent import total_rate
from citeweave.engines.core.slice_sampling import slice_draw
from citeweave.engines.slots.sums import TopicSums
from citeweave.engines.threads.parameters import Draws

if TYPE_CHECKING:
    from citeweave.engines.threads.threaded import ThreadedChain

__all__ = ["SparseDraws"]

# Its densities are passes over lists, shared between threads: they are called from Python.
_slice_draw = getattr(slice_draw, "py_func", slice_draw)


class SparseDraws(Draws):
    """Concentrations, propensities, sums and likelihood of a chain of many topics.

    Draws are those of `Draws`, up to the rounding of sums taken in another order.

    Parameters
    ----------
    chain : Chain
        With its workers and the other attributes that `Draws` reads.
    presence : ndarray of uint64 [nodes, words of 64 topics]
        Topics that nodes have customers in; sweeps keep it up to date and then call
        ``counts_moved``.
    """

    def __init__(self, chain: ThreadedChain, presence: np.ndarray) -> None:
        super().__init__(chain)
        self._gathered = False
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
        """Forget the lists of topics: a sweep, or a stored state, has changed counts.

        Whoever changes counts of topics must call this before anything else is asked for.
        """
        self._gathered = False

    def rebuild(self) -> None:
        """Recompute P, M and the weights of nodes, listing topics anew where counts moved."""
        if not self._gathered:
            self.sums.gather()
            self._gathered = True
        super().rebuild()

    def _add_up(self) -> None:
        chain = self.chain
        self.sums.add_up(chain.exponent, chain.citation_level, chain.inherit_weights)

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

    def _slice_level(self, level: int, shape: float, rate: float) -> float:
        """Draw a level's concentration; sums of the levels below it stay as they are."""
        start = float(self.nodes.concentration[self._levels[level][0]])
        return float(
            _slice_draw(self.chain.state.random, self.log_density, level, start, shape, rate)
        )

    def log_density(self, level: int, beta: float, shape: float, rate: float) -> float:
        """Set a level's concentration and give its log density, the exponential included.

        The sums and the weights of the nodes above are left at ``beta`` too.
        """
        chain = self.chain
        begin, end = self._levels[level]
        self.nodes.concentration[begin:end] = beta
        self.sums.add_up(chain.exponent, level, chain.inherit_weights)
        total = float(total_rate(chain.exponent, chain.state.parameters))
        return float((shape - 1.0) * np.log(beta) - rate * beta - total)
