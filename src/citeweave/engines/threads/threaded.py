"""A chain whose step, its sweeps aside, is shared between worker threads."""

from citeweave.engines.dense.chain import DenseChain
from citeweave.engines.threads.merge import refresh_topics
from citeweave.engines.threads.parameters import Draws
from citeweave.engines.threads.workers import WorkerPool

__all__ = ["ThreadedChain"]


class ThreadedChain(DenseChain):
    """What chains of several kinds of sweeps share; the sweeps are theirs.

    Draws have a random stream for each node and document, and sums are taken over pieces of fixed
    bounds: no byte of the result depends on the number of threads.
    """

    workers: WorkerPool
    _draws: Draws

    def close(self) -> None:
        """End the threads; another step would begin new ones."""
        self.workers.close()

    def parents_moved(self) -> None:
        """Bring the tree that sums go over up to the papers' parents."""
        self._draws.parents_moved()

    def rebuild_exponent(self) -> None:
        """Rebuild P, M and the weights of nodes from the counts."""
        self._draws.rebuild()

    def refresh_cache(self) -> None:
        """Renew what depends on concentrations; sweeps keep the rest up to date."""
        refresh_topics(self.state.words, self.state.parameters, self.cache)

    def draw_concentrations(self) -> None:
        """Draw the concentrations of all levels, a random stream for each node."""
        self._draws.draw_concentrations()

    def draw_propensities(self) -> None:
        """Draw all lambda+, then lambda-, then lambdaT."""
        self._draws.draw_propensities()

    def log_likelihood(self) -> float:
        """Training word log likelihood of the present state."""
        return self._draws.log_likelihood()

    def log_posterior(self, rate: float) -> float:
        """Joint log density of the present state, measured by all workers."""
        return self._posterior(self.state, rate, self.workers)
