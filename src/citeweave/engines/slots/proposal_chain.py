"""Base class of chains with sparse sweeps, sequential and snapshot."""

from collections.abc import Iterator, Mapping

import numpy as np

from citeweave.engines.core.arrays import State
from citeweave.engines.core.capabilities import SNAPSHOT, Capabilities
from citeweave.engines.core.chain import NO_EXTRA
from citeweave.engines.core.compact_rows import CompactRows
from citeweave.engines.core.data import Info
from citeweave.engines.core.finite import Watched
from citeweave.engines.core.sparse_sweeps import SPARSE_FROM
from citeweave.engines.core.spec import ModelSpec
from citeweave.engines.slots.parameters import SparseDraws
from citeweave.engines.slots.proposals import Proposals
from citeweave.engines.threads.threaded import ThreadedChain
from citeweave.errors import RunError

__all__ = ["SPARSE", "ProposalChain"]


def _refuse(spec: ModelSpec) -> str | None:
    if spec.words_choose_author:
        return (
            f"In model {spec.name!r} words choose their author, so that no document has few topics "
            "to sweep over. Use an engine of dense sweeps."
        )
    return None


SPARSE = Capabilities(SNAPSHOT, best_from=SPARSE_FROM, refuses=_refuse)
"""Capabilities of sparse sweeps on the CPU."""


class ProposalChain(ThreadedChain):
    """A chain that knows which topics nodes and words have, and proposes the others."""

    compact_counts = True
    proposals: Proposals
    _draws: SparseDraws

    def _new_proposals(self) -> None:
        """Create the data of sparse sweeps; the chain and its workers must exist."""
        self.proposals = Proposals(self)
        self._draws = SparseDraws(self, self.proposals.nodes)

    def step(self) -> Info:
        """Advance the chain by one iteration."""
        info = super().step()
        customers = self.state.topics.customers
        if isinstance(customers, CompactRows) and customers.lost[0]:
            raise RunError(
                f"In iteration {info.iteration} a node got more topics than there is room for, so "
                "counts are wrong. This is a mistake in citeweave: please report it."
            )
        return info

    def restore(self, state: State, extra: Mapping[str, np.ndarray] = NO_EXTRA) -> None:
        """Continue from a stored state, with the stored proposal tables or with new ones."""
        super().restore(state, extra)
        self._counts_set()
        self.proposals.restore(extra)

    def freeze(self) -> None:
        """Keep the proposal tables fixed from now on."""
        self.proposals.schedule.frozen = True

    def extra_state(self) -> dict[str, np.ndarray]:
        """Copy the proposal tables, and whether they are frozen."""
        return self.proposals.export()

    def watched(self) -> Iterator[Watched]:
        """Yield the sums of proposals, too."""
        yield from super().watched()
        yield Watched("the share of topic", self.proposals.tables.root)
        yield Watched("the weight of proposals for word", self.proposals.tables.word_mass)

    def sweep_authors(self) -> None:
        """Draw who serves the tables of shared papers, and update the topics that authors have."""
        super().sweep_authors()
        self.proposals.mark_shared()
        self._draws.counts_moved()

    def _counts_set(self) -> None:
        """Adopt counts that were not made by a sparse sweep."""
        self.proposals.mark()
        self._draws.counts_moved()
