"""What chains over slots share, whether documents move one by one or many at a time."""

from collections.abc import Mapping

import numpy as np

from citeweave.engines.core.arrays import State
from citeweave.engines.slots.parameters import SparseDraws
from citeweave.engines.slots.proposals import Proposals
from citeweave.engines.threads.threaded import ThreadedChain

__all__ = ["ProposalChain"]


class ProposalChain(ThreadedChain):
    """A chain that knows which topics nodes and words have, and proposes the others."""

    proposals: Proposals
    _draws: SparseDraws

    def _learn(self) -> None:
        """Make room for what sweeps over slots need; the chain and its workers are there."""
        self.proposals = Proposals(self)
        self._draws = SparseDraws(self, self.proposals.nodes)

    def restore(self, state: State) -> None:
        """Go on from a stored state, with new tables of proposals; see `set_proposal`."""
        super().restore(state)
        self._counts_set()
        self.proposals.forget()

    def proposal(self) -> dict[str, np.ndarray]:
        """Copy the tables that topics are proposed from, which a state does not tell."""
        return self.proposals.export()

    def set_proposal(self, tables: Mapping[str, np.ndarray]) -> None:
        """Go on with the tables of another chain of the same corpus and number of topics."""
        self.proposals.restore(tables)

    def _counts_set(self) -> None:
        """Take in counts that no sweep over slots has made."""
        self.proposals.mark()
        self._draws.counts_moved()

    def _start_citations(self) -> None:
        super()._start_citations()
        self._counts_set()
