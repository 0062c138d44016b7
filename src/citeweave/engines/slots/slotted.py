"""What chains over slots share, whether documents move one by one or many at a time."""

from collections.abc import Mapping

import numpy as np

from citeweave.engines.core.arrays import State
from citeweave.engines.slots.known import Known
from citeweave.engines.slots.parameters import SparseDraws
from citeweave.engines.threads.crewed import CrewedChain

__all__ = ["SlottedChain"]


class SlottedChain(CrewedChain):
    """A chain that knows which topics nodes and words have, and proposes the others."""

    known: Known
    _draws: SparseDraws

    def _learn(self) -> None:
        """Make room for what sweeps over slots need; the chain and its crew are there."""
        self.known = Known(self)
        self._draws = SparseDraws(self, self.known.nodes)

    def restore(self, state: State) -> None:
        """Go on from a stored state, with new tables of proposals; see `set_proposal`."""
        super().restore(state)
        self._counts_set()
        self.known.forget()

    def proposal(self) -> dict[str, np.ndarray]:
        """Copy the tables that topics are proposed from, which a state does not tell."""
        return self.known.export()

    def set_proposal(self, tables: Mapping[str, np.ndarray]) -> None:
        """Go on with the tables of another chain of the same corpus and number of topics."""
        self.known.restore(tables)

    def _counts_set(self) -> None:
        """Take in counts that no sweep over slots has made."""
        self.known.mark()
        self._draws.counts_moved()

    def _start_citations(self) -> None:
        super()._start_citations()
        self._counts_set()
