"""A chain of snapshot sweeps over slots, in threads."""

from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from citeweave.engines.core.arrays import Model
from citeweave.engines.core.data import ChainSettings, Data
from citeweave.engines.core.spec import ModelSpec
from citeweave.engines.slots.change_lists import (
    ChangeList,
    Noted,
    new_change_list,
    rows_kept,
)
from citeweave.engines.slots.exponent import new_pending
from citeweave.engines.slots.hubs import MANY_TOPICS, HubRows, list_hubs, new_hub_rows
from citeweave.engines.slots.merge import (
    Marks,
    add_noted_moves,
    give_up_marked,
    merge_nodes,
    merge_words,
    new_marks,
    worker_notes,
)
from citeweave.engines.slots.presence import Support
from citeweave.engines.slots.proposal_chain import SPARSE, ProposalChain
from citeweave.engines.slots.rates import CitationSums
from citeweave.engines.slots.self_citations import (
    OwnOffers,
    new_own_offers,
    offer_self_citations,
)
from citeweave.engines.slots.slots import new_slots
from citeweave.engines.slots.snapshot_citations import (
    Snapshot,
    SparseNeighbourhood,
    new_neighbourhood,
    note_moved_documents,
    sweep_citing,
)
from citeweave.engines.slots.starting import open_marked_tables
from citeweave.engines.slots.visits import Sharing, WordBuffers
from citeweave.engines.slots.words import word_sweep
from citeweave.engines.threads.chain import SnapshotChain, add_tallies
from citeweave.engines.threads.citations import Citing
from citeweave.engines.threads.merge import refresh_topics
from citeweave.engines.threads.starting import new_opening_work
from citeweave.engines.threads.world import Changes, new_changes

__all__ = ["SparseSnapshotChain"]


class WorkerBuffers(NamedTuple):
    """Buffers that only one thread writes to."""

    words: WordBuffers
    tally: np.ndarray
    """int64 [7]: as in ``word_sweep``."""
    citations: SparseNeighbourhood | None
    offers: OwnOffers | None


class SweepBuffers(NamedTuple):
    """Buffers of all threads."""

    changes: Changes
    """Of all nodes above documents, or only mu: the others are listed if that takes less memory."""
    marks: Marks
    lists: list[ChangeList]
    workers: list[WorkerBuffers]


class SparseSnapshotChain(ProposalChain, SnapshotChain):
    """A chain of snapshot sweeps for many topics: like `SnapshotChain`, but over slots.

    Parameters
    ----------
    spec, data, settings, seed, stream, threads, rounds
        As in `SnapshotChain`; words must not choose their author.
    """

    capabilities = SPARSE
    _hubs: HubRows
    """Hubs of the snapshot from which citations are swept."""

    def __init__(
        self,
        spec: ModelSpec,
        data: Data,
        settings: ChainSettings,
        *,
        seed: int,
        stream: int = 0,
        threads: int = 1,
        rounds: int = 1,
    ) -> None:
        super().__init__(
            spec, data, settings, seed=seed, stream=stream, threads=threads, rounds=rounds
        )
        self._new_proposals()

    @cached_property
    def _buffers(self) -> SweepBuffers:
        topics, n_words = self.settings.topics, len(self.proposals.words)
        n_rows, room = rows_kept(
            self.layout, self.spec.n_shared, topics, self.threads, self.rounds, self.part
        )
        buffers = SweepBuffers(
            new_changes(self.threads, n_rows, n_words, topics),
            new_marks(self.threads, n_rows, n_words, topics),
            [new_change_list(room) for _ in range(self.threads)],
            [],
        )
        for worker, listed in enumerate(buffers.lists):
            own = Changes(*(array[worker] for array in buffers.changes))
            noted = worker_notes(buffers.changes, buffers.marks, worker, listed)
            buffers.workers.append(self._new_worker(own, noted, buffers.marks.words[worker]))
        return buffers

    def _new_worker(self, own: Changes, noted: Noted, word_marks: np.ndarray) -> WorkerBuffers:
        topics, n_levels = self.settings.topics, len(self.spec.topic_side)
        longest = int(np.diff(self.layout.document_start).max(initial=1))
        citations = offers = None
        if self.spec.citations is not None:
            citations = new_neighbourhood(self, max(self._most_cited, 1), noted)
            offers = new_own_offers(citations, n_levels)
        return WorkerBuffers(
            words=WordBuffers(
                slots=new_slots(topics, n_levels, held=len(self.layout.server) > 0),
                pending=new_pending(n_levels, self.spec.n_shared),
                sharing=Sharing((0,), own, noted, word_marks),
                before=np.zeros(longest, np.int16),
            ),
            tally=np.zeros(7, np.int64),
            citations=citations,
            offers=offers,
        )

    def _make_room(self) -> None:
        self._buffers  # noqa: B018 (made when it is first asked for)

    def _open_tables(self) -> None:
        super()._open_tables()
        self._counts_set()

    def _open_tables_of(self, round_: int, worker: int) -> None:
        open_marked_tables(
            self.shape,
            self.layout,
            self.state,
            new_opening_work(self.settings.topics),
            self._buffers.workers[worker].words.sharing,
            self._documents_of(round_, worker),
        )

    def _self_citations_of(self, key: np.uint64, round_: int, worker: int) -> None:
        offer_self_citations(
            Citing(self.citation_level, self._n_shared, self._cites),
            self.layout,
            self.tables,
            self.state,
            self.proposals.nodes,
            self.exponent,
            self._buffers.workers[worker].offers,
            key,
            self._documents_of(round_, worker),
        )

    def sweep_words(self) -> None:
        """Move every token once, those of a round's documents from one snapshot."""
        workers = self._buffers.workers
        for mine in workers:
            mine.tally[:] = 0
        self.proposals.before_words()
        for round_, key in self._rounds():
            if self.network_on:
                if round_ > 0:
                    self.rebuild_exponent()
                self.proposals.gather_rates()
            self.workers.run(partial(self._words_of, key, round_))
            self._merge_words()
            self._merge_nodes()
        if self.network_on:  # the citation sweep starts from the new counts of words
            self.rebuild_exponent()
        add_tallies(self.word_tally, [mine.tally for mine in workers])

    def _words_of(self, key: np.uint64, round_: int, worker: int) -> None:
        mine, proposals = self._buffers.workers[worker], self.proposals
        word_sweep(
            Model(self.shape, self.layout, self.tables),
            self.state,
            self.cache,
            mine.words,
            Support(proposals.nodes, proposals.words),
            proposals.tables,
            CitationSums(proposals.rates, self.exponent),
            key,
            self._documents_of(round_, worker),
            mine.tally,
        )

    def sweep_citations(self) -> None:
        """Move the topic of every citation once, those of a round from one snapshot."""
        ends = [mine.citations for mine in self._buffers.workers if mine.citations is not None]
        for here in ends:
            here.tally[:] = 0
        self.proposals.before_citations()
        for round_, key in self._rounds():
            if round_ > 0:
                self.rebuild_exponent()
            self._before_citations()
            self.proposals.gather_rates()
            self.workers.run(partial(self._citations_of, key, round_))
            self._merge_citations(round_)
            self._merge_nodes()
        add_tallies(self.citation_tally, [here.tally for here in ends])

    def _before_citations(self) -> None:
        """List the hubs of the snapshot."""
        self._hubs = self._list_hubs()

    def _list_hubs(self) -> HubRows:
        """List mu and the nodes with many topics that the chain owns."""
        state, found = self.state, new_hub_rows(self.settings.topics)
        levels = (self.layout.level_start, self.part.level_end, self.spec.n_shared)
        bits, exponent = self.proposals.nodes, self.exponent
        list_hubs(state.topics, state.parameters, bits, exponent, levels, MANY_TOPICS, found)
        return found

    def _citations_of(self, key: np.uint64, round_: int, worker: int) -> None:
        proposals = self.proposals
        snapshot = Snapshot(
            proposals.nodes, proposals.tables, proposals.rates, self.exponent, self._hubs
        )
        sweep_citing(
            Citing(self.citation_level, self._n_shared, self._cites),
            self.layout,
            self.tables,
            self.state,
            snapshot,
            self._buffers.workers[worker].citations,
            self._moves,
            key,
            self._documents_of(round_, worker),
        )

    def _merge_words(self) -> None:
        words = self.state.words
        self.repaired[1] += merge_words(
            self.workers,
            self.shape,
            self.tables,
            words,
            self.cache,
            self.proposals.words,
            self._buffers.changes,
            self._buffers.marks,
        )
        refresh_topics(words, self.state.parameters, self.cache)

    def _merge_nodes(self) -> None:
        self.repaired[0] += merge_nodes(
            self.workers,
            self.layout,
            self.state.topics,
            self.proposals.nodes,
            self.spec.n_shared,
            self._buffers.changes,
            self._buffers.marks,
            self._buffers.lists,
            level_end=self.part.level_end,
            before=self._before_level,
        )
        self._draws.counts_moved()

    def _before_level(self, level: int, entries: list[np.ndarray]) -> None:
        """Exchange changes of a level's nodes with other parts, if there are any."""

    def _merge_citations(self, round_: int) -> None:
        """Add the changes by the citations of a round to the counts of documents."""
        layout, counts = self.layout, self.state.topics
        lists, moves = self._lists, self._moves
        changes, marks, listed, _ = self._buffers
        turn = (round_, self.rounds, self.part.document)

        def merge(begin: int, end: int, worker: int) -> int:
            noted = worker_notes(changes, marks, worker, listed[worker])
            repaired = add_noted_moves(layout, counts, lists, moves, noted, turn, begin, end)
            note_moved_documents(
                layout, counts, self.proposals.nodes, lists, moves, turn, begin, end
            )
            return repaired

        self.repaired[0] += self._by_ranges(merge, 0, self.part.n_documents)
        if len(layout.server):
            self.repaired[0] += give_up_marked(
                layout, self.state, changes.node_customers[0], marks.nodes[0]
            )
