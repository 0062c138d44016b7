"""A chain whose sweeps go over slots, one document at a time."""

import numpy as np

from citeweave.engines.core.arrays import Model
from citeweave.engines.core.capabilities import SEQUENTIAL
from citeweave.engines.core.data import ChainSettings, Data
from citeweave.engines.core.spec import ModelSpec
from citeweave.engines.slots.change_lists import Noted, new_change_list
from citeweave.engines.slots.citations import citation_sweep, new_citation_work
from citeweave.engines.slots.exponent import new_pending
from citeweave.engines.slots.presence import Support, new_presence, note_papers
from citeweave.engines.slots.proposal_chain import SPARSE, ProposalChain
from citeweave.engines.slots.rates import CitationSums
from citeweave.engines.slots.slots import new_slots
from citeweave.engines.slots.visits import Sharing, WordBuffers
from citeweave.engines.slots.words import word_sweep
from citeweave.engines.threads.workers import WorkerPool
from citeweave.engines.threads.world import Changes, new_changes

__all__ = ["SparseChain"]


class SparseChain(ProposalChain):
    """A sequential chain for many topics: the same posterior as `DenseChain`, but other draws.

    The rest of a step is that of snapshot chains, over the topics that nodes have.

    Parameters
    ----------
    spec, data, settings, seed, stream
        As in `Chain`; words must not choose their author.
    """

    capabilities = SPARSE._replace(sweep=SEQUENTIAL)

    def __init__(
        self, spec: ModelSpec, data: Data, settings: ChainSettings, *, seed: int, stream: int = 0
    ) -> None:
        super().__init__(spec, data, settings, seed=seed, stream=stream)
        n_levels = len(spec.topic_side)
        self._documents = np.repeat(np.arange(self.n_documents), 2).reshape(-1, 2)
        self.workers = WorkerPool(1)
        self._new_proposals()
        self._ends_work = new_citation_work(settings.topics, n_levels)
        nothing = Changes(*(array[0] for array in new_changes(1, 1, 1, 1)))
        rows = (nothing.node_customers, nothing.node_tables)
        no_nodes = Noted(*rows, new_presence(1, 1), new_change_list(0))
        self._word_buffers = WordBuffers(
            new_slots(settings.topics, n_levels, held=len(self.layout.server) > 0),
            new_pending(n_levels, spec.n_shared),
            Sharing((), nothing, no_nodes, new_presence(1, 1)),
            np.zeros(int(np.diff(data.offsets).max(initial=1)), np.int16),
        )

    def start_at_random(self) -> None:
        """Assign a uniformly random topic to every token and build all counts."""
        super().start_at_random()
        self._counts_set()

    def start_citations(self) -> None:
        """Assign an initial topic to every citation."""
        super().start_citations()
        self._counts_set()

    def draw_self_citations(self) -> None:
        """Propose one self-citation more or less for every paper, and update the topic bits."""
        super().draw_self_citations()
        moved, count = self.self_work.moved, int(self.self_work.changed[0])
        note_papers(
            self.layout, self.state.topics, self.proposals.nodes, self.citation_level, moved[:count]
        )
        self._draws.counts_moved()

    def sweep_words(self) -> None:
        """Move every token once."""
        proposals = self.proposals
        proposals.before_words()
        if self.network_on:
            proposals.gather_rates()
        word_sweep(
            Model(self.shape, self.layout, self.tables),
            self.state,
            self.cache,
            self._word_buffers,
            Support(proposals.nodes, proposals.words),
            proposals.tables,
            CitationSums(proposals.rates, self.exponent),
            np.uint64(0),
            self._documents,
            self.word_tally,
        )
        self._draws.counts_moved()

    def sweep_citations(self) -> None:
        """Move the topic of every citation once."""
        proposals = self.proposals
        proposals.before_citations()
        citation_sweep(
            self.citation_level,
            self.layout,
            self.tables,
            self.state,
            self._ends_work,
            proposals.nodes,
            proposals.tables,
            proposals.rates,
            self.exponent,
            self.citation_tally,
        )
        self._draws.counts_moved()
