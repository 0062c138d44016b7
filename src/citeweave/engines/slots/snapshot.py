"""A chain of snapshot sweeps over slots, in threads."""

from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from citeweave.engines.core.spec import ModelSpec
from citeweave.engines.dense.chain import Data, Settings
from citeweave.engines.dense.words import SWEEP
from citeweave.engines.slots.exponent import Pending, new_pending
from citeweave.engines.slots.merge import Marks, mark_moves, merge_nodes, merge_words, new_marks
from citeweave.engines.slots.slots import Slots, new_slots
from citeweave.engines.slots.slotted import SlottedChain
from citeweave.engines.slots.snapshot_citations import (
    Neighbourhood,
    new_neighbourhood,
    note_moved_documents,
    sweep_citing,
)
from citeweave.engines.slots.visits import Sharing
from citeweave.engines.slots.words import word_sweep
from citeweave.engines.threads.chain import SnapshotChain
from citeweave.engines.threads.merge import add_moves, refresh_topics
from citeweave.engines.threads.world import Changes, new_changes

__all__ = ["SparseSnapshotChain"]


class Worker(NamedTuple):
    """What one thread writes to, and nobody else."""

    slots: Slots
    pending: Pending
    sharing: Sharing
    before: np.ndarray
    tally: np.ndarray
    """int64 [7]: as that of ``word_sweep``."""
    citations: Neighbourhood | None


class Rooms(NamedTuple):
    """What all threads write to."""

    changes: Changes
    marks: Marks
    workers: list[Worker]


class SparseSnapshotChain(SlottedChain, SnapshotChain):
    """A chain of snapshot sweeps for many topics: what `SnapshotChain` is, over slots.

    Parameters
    ----------
    spec, data, settings, seed, stream, threads, rounds
        As those of `SnapshotChain`; words must not choose their author.
    """

    def __init__(
        self,
        spec: ModelSpec,
        data: Data,
        settings: Settings,
        *,
        seed: int,
        stream: int = 0,
        threads: int = 1,
        rounds: int = 1,
    ) -> None:
        super().__init__(
            spec, data, settings, seed=seed, stream=stream, threads=threads, rounds=rounds
        )
        self._learn()

    @cached_property
    def _rooms(self) -> Rooms:
        topics, n_words = self.settings.topics, len(self.known.words)
        rooms = Rooms(
            new_changes(self.threads, self._n_shared, n_words, topics),
            new_marks(self.threads, self._n_shared, n_words, topics),
            [],
        )
        for worker in range(self.threads):
            own = Changes(*(array[worker] for array in rooms.changes))
            rooms.workers.append(self._new_worker(own, *(marks[worker] for marks in rooms.marks)))
        return rooms

    def _new_worker(self, own: Changes, node_marks: np.ndarray, word_marks: np.ndarray) -> Worker:
        topics, n_levels = self.settings.topics, len(self.spec.topic_side)
        longest = int(np.diff(self.layout.document_start).max(initial=1))
        citations = None
        if self.spec.citations is not None:
            citations = new_neighbourhood(self, max(self._most_cited, 1), own, node_marks)
        return Worker(
            slots=new_slots(topics, n_levels),
            pending=new_pending(n_levels, self.spec.n_shared),
            sharing=Sharing((0,), own, node_marks, word_marks),
            before=np.zeros(longest, np.int16),
            tally=np.zeros(7, np.int64),
            citations=citations,
        )

    def _sweep_words(self, mode: int) -> np.ndarray:
        if mode != SWEEP:
            tally = super()._sweep_words(mode)
            self._counts_set()
            return tally
        rooms = self._rooms.workers
        for room in rooms:
            room.tally[:] = 0
        self.known.before_words()
        for round_, key in self._rounds():
            if self.network_on:
                if round_ > 0:
                    self._rebuild_exponent()
                self.known.gather_rates()
            self.crew.run(partial(self._words_of, key, round_))
            self._merge_words()
            self._merge_nodes()
        if self.network_on:  # the citation sweep starts from what the words have become
            self._rebuild_exponent()
        return np.sum([room.tally for room in rooms], axis=0)

    def _words_of(self, key: np.uint64, round_: int, worker: int) -> None:
        room, known = self._rooms.workers[worker], self.known
        word_sweep(
            self.shape,
            self.layout,
            self.tables,
            self.state,
            self.cache,
            room.slots,
            room.pending,
            known.nodes,
            known.words,
            known.guesses,
            known.rates,
            self.exponent,
            room.sharing,
            room.before,
            key,
            self._documents_of(round_, worker),
            room.tally,
        )

    def _sweep_citations(self) -> np.ndarray:
        rooms = [room.citations for room in self._rooms.workers if room.citations is not None]
        for here in rooms:
            here.tally[:] = 0
        self.known.before_citations()
        for round_, key in self._rounds():
            if round_ > 0:
                self._rebuild_exponent()
            self.known.gather_rates()
            self.crew.run(partial(self._citations_of, key, round_))
            self._merge_citations(round_)
            self._merge_nodes()
        return np.sum([here.tally for here in rooms], axis=0)

    def _citations_of(self, key: np.uint64, round_: int, worker: int) -> None:
        known = self.known
        sweep_citing(
            self.citation_level,
            self._n_shared,
            self._cites,
            self.layout,
            self.tables,
            self.state,
            self.exponent,
            known.nodes,
            known.guesses,
            known.rates,
            self._rooms.workers[worker].citations,
            self._moves,
            key,
            self._documents_of(round_, worker),
        )

    def _merge_words(self) -> None:
        words = self.state.words
        self.repaired[1] += merge_words(
            self.crew,
            self.shape,
            self.tables,
            words,
            self.cache,
            self.known.words,
            self._rooms.changes,
            self._rooms.marks,
        )
        refresh_topics(words, self.state.parameters, self.cache)

    def _merge_nodes(self) -> None:
        self.repaired[0] += merge_nodes(
            self.crew,
            self.layout,
            self.state.topics,
            self.known.nodes,
            self.spec.n_shared,
            self._rooms.changes,
            self._rooms.marks,
        )
        self._draws.counts_moved()

    def _merge_citations(self, round_: int) -> None:
        """Add what the citations of a round did to the counts of documents."""
        layout, counts, turn = self.layout, self.state.topics, (round_, self.rounds)
        lists, moves = self._lists, self._moves
        changes, marks, _ = self._rooms

        def merge(begin: int, end: int, worker: int) -> int:
            repaired = add_moves(layout, counts, lists, moves, changes, turn, begin, end, worker)
            mark_moves(layout, lists, moves, turn, marks, begin, end, worker)
            note_moved_documents(layout, counts, self.known.nodes, lists, moves, turn, begin, end)
            return repaired

        self.repaired[0] += self._by_ranges(merge, 0, self.n_documents)
