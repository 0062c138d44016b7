"""A chain whose step, except for its sweeps, is divided between worker threads."""

from collections.abc import Callable

import numpy as np

from citeweave.engines.core.estimates import Sums, add_sample
from citeweave.engines.core.exact_sums import bin_total, exact_mean, exact_sum
from citeweave.engines.dense.chain import DenseChain
from citeweave.engines.threads.exponents import Inherit
from citeweave.engines.threads.merge import refresh_topics
from citeweave.engines.threads.parameters import Draws
from citeweave.engines.threads.workers import WorkerPool

__all__ = ["ThreadedChain"]


class ThreadedChain(DenseChain):
    """Base class of threaded chains; subclasses implement the sweeps.

    Each node and document has its own random stream, and sums are computed in integers, so the
    result does not depend on the number of threads, to the byte.
    """

    workers: WorkerPool
    _draws: Draws
    inherit_weights: Inherit | None = None
    """Completes the weights of nodes that have children in other parts of the chain."""
    complete_shares: Callable[[int, np.ndarray], None] | None = None
    """The same for the shares that nodes inherit, in sums over the topics that they have. Called
    with a level and an array to complete (int64 [points, nodes, 2])."""

    def close(self) -> None:
        """Stop the threads; another step would start new ones."""
        self.workers.close()

    def parents_moved(self) -> None:
        """Update the tree over which sums are computed to the papers' new parents."""
        self._draws.parents_moved()

    def rebuild_exponent(self) -> None:
        """Rebuild P, M and the weights of nodes from the counts."""
        self._draws.rebuild()

    def refresh_cache(self) -> None:
        """Update the values that depend on concentrations; sweeps keep the rest up to date."""
        refresh_topics(self.state.words, self.state.parameters, self.cache)

    def draw_concentrations(self) -> None:
        """Draw the concentrations of all levels, with one random stream per node."""
        self._draws.draw_concentrations()

    def draw_propensities(self) -> None:
        """Draw all lambda+, then lambda-, then lambdaT."""
        self._draws.draw_propensities()

    def log_likelihood(self) -> float:
        """Return the training log likelihood of words in the current state."""
        return self._draws.log_likelihood()

    @staticmethod
    def mean_concentration(values: np.ndarray) -> float:
        """Return the mean concentration of a level's nodes; exact if they are all equal."""
        same = bool((values == values[0]).all())
        return float(values[0]) if same else exact_mean(values)

    def keep_sample(self, sums: Sums) -> None:
        """Add the posterior means of the current state to the sums of this chain."""
        add_sample(self, sums, self.propensity_means())

    def propensity_means(self) -> tuple[float, float]:
        """Return the means of lambda+ and lambda- over all documents."""
        own = slice(self.part.n_documents)
        parameters = self.state.parameters
        bins = np.stack([exact_sum(parameters.cite[own]), exact_sum(parameters.cited[own])])
        found = [bin_total(row) / self.part.all_documents for row in self.exchange.sum(bins)]
        return found[0], found[1]

    def log_posterior(self, rate: float) -> float:
        """Return the joint log density of the current state, computed by all workers."""
        return self._posterior(self.state, rate, self.workers)
