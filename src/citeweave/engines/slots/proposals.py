"""Data of sparse sweeps besides a chain's state: bits, proposal tables, sums of rates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citeweave.engines.core.sparse_sweeps import MOST_LISTED, RefreshSchedule
from citeweave.engines.slots.presence import mark_topics, new_presence
from citeweave.engines.slots.proposal_tables import (
    choose_listed,
    export_tables,
    make_citation_proposal,
    make_word_proposal,
    new_proposal_tables,
    restore_tables,
)
from citeweave.engines.slots.rates import gather_rates, new_rates

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

    from citeweave.engines.threads.threaded import ThreadedChain

__all__ = ["Proposals"]


class Proposals:
    """Data that sweeps keep up to date; all but the proposal tables follow from the state.

    Parameters
    ----------
    chain : Chain
        The chain whose state is described.
    """

    def __init__(self, chain: ThreadedChain) -> None:
        self._chain = chain
        n_words, topics = chain.state.words.customers.shape
        self.nodes = new_presence(len(chain.layout.parent), topics)
        """Bits of the topics that nodes have."""
        self.words = new_presence(n_words, topics)
        """Bits of the topics that words have."""
        self.tables = new_proposal_tables(chain.layout, chain.spec.n_shared, n_words, topics)
        self.rates = new_rates(topics)
        self.schedule = RefreshSchedule()

    def mark(self) -> None:
        """Set all bits from the present counts."""
        state = self._chain.state
        mark_topics(state.topics, self.nodes, 0, len(self.nodes))
        mark_topics(state.words, self.words, 0, len(self.words))

    def mark_shared(self) -> None:
        """Set the bits of nodes above documents."""
        chain = self._chain
        last = int(chain.layout.level_start[chain.spec.n_shared])
        mark_topics(chain.state.topics, self.nodes, 0, last)

    def before_words(self) -> None:
        """Rebuild the proposal tables if they are due."""
        if self.schedule.is_due(self._chain.iteration):
            self.refresh()

    def before_citations(self) -> None:
        """Update the citations' table to the present propensities of topics."""
        make_citation_proposal(self._chain.state.parameters, self.tables)

    def gather_rates(self) -> None:
        """Compute the sums P and M from those of the chain's exponent."""
        state = self._chain.state
        gather_rates(state.topics, state.parameters, self._chain.exponent, self.rates)

    def refresh(self, most_listed: int = MOST_LISTED) -> None:
        """Build proposal tables from the present counts.

        The topics of an author are included in the slots of the author's documents if there are at
        most ``most_listed`` of them.
        """
        chain = self._chain
        counts, n_shared = chain.state.topics, chain.spec.n_shared
        choose_listed(chain.layout, counts, n_shared, self.tables, most_listed)
        make_word_proposal(
            chain.workers,
            chain.shape,
            chain.layout,
            chain.tables,
            chain.state,
            chain.cache,
            self.tables,
            last=int(chain.part.level_end[n_shared - 1]),
            exchange=chain.exchange,
        )
        self.schedule.made = True

    def export(self) -> dict[str, np.ndarray]:
        """Copy the tables, if they have been built, and whether they are frozen."""
        tables = export_tables(self.tables) if self.schedule.made else {}
        return tables | self.schedule.export()

    def restore(self, stored: Mapping[str, np.ndarray]) -> None:
        """Continue with stored tables; if there are none, they are built before the next sweep."""
        tables = self.schedule.restore(stored)
        if tables:
            restore_tables(self.tables, tables)
            self.schedule.made = True
