"""A chain whose sweeps sample many documents in parallel threads."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Self

import numpy as np

from citeweave.engines.core.capabilities import SNAPSHOT, Capabilities
from citeweave.engines.core.data import ChainSettings, Data, Request
from citeweave.engines.core.self_citations import SelfWork, new_self_work
from citeweave.engines.core.setting_up import check_citation_order
from citeweave.engines.core.spec import ModelSpec
from citeweave.engines.core.starting import place_tokens
from citeweave.engines.core.word_side import refresh_word_cache
from citeweave.engines.dense.citations import new_citation_work
from citeweave.engines.threads.citations import (
    Citing,
    Neighbourhood,
    new_moves,
    new_neighbourhood,
    sweep_citing,
)
from citeweave.engines.threads.merge import (
    add_moves,
    finish_words,
    give_up_tables,
    merge_nodes,
    merge_words,
    refresh_topics,
)
from citeweave.engines.threads.parameters import Draws
from citeweave.engines.threads.paths import find_paths
from citeweave.engines.threads.self_citations import offer_self_citations
from citeweave.engines.threads.starting import (
    draw_citing_topics,
    draw_topics,
    new_opening_work,
    open_tables,
)
from citeweave.engines.threads.streams import next_key
from citeweave.engines.threads.threaded import ThreadedChain
from citeweave.engines.threads.words import sweep_documents, sweep_documents_entries
from citeweave.engines.threads.workers import WorkerPool
from citeweave.engines.threads.world import (
    FEW_TOPICS,
    Changes,
    World,
    copy_snapshot,
    keeps_all_words,
    new_changes,
    new_world,
    word_places,
)
from citeweave.errors import ParameterError

__all__ = ["SnapshotChain", "add_tallies"]

_FEW = 256
"""Minimum number of nodes in a level for which waking threads is worthwhile."""


class SnapshotChain(ThreadedChain):
    """A chain of snapshot sweeps in parallel threads.

    A document's own counts are updated exactly, token by token. Counts above documents are read
    from a snapshot plus the document's own changes to it; the changes of all documents are added up
    afterwards. Each document has its own random stream, so the result depends on the seed and on
    ``rounds``, but not on ``threads``. The rest of a step is also divided between threads: each
    node and document has its own random stream, and sums are computed in integers.

    Parameters
    ----------
    spec, data, settings, seed, stream
        As in `Chain`.
    threads : int
        Workers that share the documents of a round.
    rounds : int
        Snapshots per sweep: documents r, r + rounds, r + 2 rounds, ... move in round r. With as
        many rounds as documents this is the sequential sampler.
    """

    capabilities = Capabilities(SNAPSHOT)

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
        if threads < 1 or rounds < 1:
            raise ParameterError(
                "A snapshot chain needs at least one thread and one round per sweep. "
                f"Got threads={threads}, rounds={rounds} instead."
            )
        super().__init__(spec, data, settings, seed=seed, stream=stream)
        self.rounds = min(rounds, max(self.part.all_documents, 1))
        self.threads = min(threads, max(self.part.n_documents, 1))
        self.repaired = np.zeros(2, np.int64)
        """Number of repaired tables so far: on the topic side and on the word side."""
        self.workers = WorkerPool(self.threads)
        self._draws = Draws(self)
        self._n_shared = int(self.layout.level_start[spec.n_shared])
        self._paths = find_paths(self.layout, len(spec.topic_side))
        self._places = word_places(self.layout)
        self._whole = keeps_all_words(self, self._places)
        few = settings.topics <= FEW_TOPICS
        self._sweep_documents = sweep_documents if few else sweep_documents_entries
        self._worlds: list[World] = []
        self._self_works: list[SelfWork] = []
        self._neighbourhoods: list[Neighbourhood] = []
        self._changes: Changes | None = None
        self._turns: dict[tuple[int, int], np.ndarray] = {}
        """Documents by round and worker, listed when they are first swept."""
        if spec.citations is not None:
            self._list_citations()

    @classmethod
    def open(cls, request: Request) -> Self:
        """Create a chain, not yet started, that divides its work between the given threads."""
        spec, data, settings, seed, stream, threads, rounds, _ = request
        return cls(spec, data, settings, seed=seed, stream=stream, threads=threads, rounds=rounds)

    def _list_citations(self) -> None:
        """List the citations that each document makes and receives."""
        check_citation_order(self.layout)
        made, received = (
            np.bincount(ends, minlength=self.n_documents)
            for ends in (self.layout.citing, self.layout.cited)
        )
        self._cites = np.concatenate([[0], np.cumsum(made)]).astype(np.int64)
        self._lists = (
            self._cites,
            np.concatenate([[0], np.cumsum(received)]).astype(np.int64),
            np.argsort(self.layout.cited, kind="stable").astype(np.int64),
        )
        self._most_cited = int(made.max(initial=1))
        self._moves = new_moves(len(self.layout.citing))

    def _workers(self) -> list[World]:
        """Return the workers' copies, created on first use."""
        if self._changes is None:
            n_words, topics = self.state.words.customers.shape
            self._changes = new_changes(self.threads, self._n_shared, n_words, topics)
            for worker in range(self.threads):
                own = Changes(*(array[worker] for array in self._changes))
                self._worlds.append(
                    new_world(self, self._paths, self._places, own, whole=self._whole)
                )
                self._self_works.append(new_self_work(0, len(self.spec.topic_side)))
                if self.spec.citations is not None:
                    self._neighbourhoods.append(
                        new_neighbourhood(self, max(self._most_cited, 1), own)
                    )
        return self._worlds

    def _make_room(self) -> None:
        """Allocate the arrays that workers write to."""
        self._workers()

    def parents_moved(self) -> None:
        """Also update the documents' paths."""
        super().parents_moved()
        self._paths = find_paths(self.layout, len(self.spec.topic_side))

    def start_at_random(self) -> None:
        """Assign a uniformly random topic to every token and build all counts."""
        key, topics = next_key(self.state.random), self.settings.topics
        random = np.zeros((self.threads, 4), np.uint64)

        def draw(worker: int) -> None:
            for round_ in range(self.rounds):
                docs = self._documents_of(round_, worker)
                draw_topics(self.layout, self.state.assignments, topics, random[worker], key, docs)

        self.workers.run(draw)
        self._open_tables()

    def start_at_topics(self, topics: np.ndarray) -> None:
        """Build all counts of tokens at the given topics, in the order of the layout."""
        place_tokens(self.layout, self.state, topics)
        self._open_tables()

    def _open_tables(self) -> None:
        """Build all counts from the topics of tokens, with one table for each dish."""
        self._make_room()
        refresh_word_cache(self.tables, self.state.words, self.state.parameters, self.cache)
        for round_ in range(self.rounds):  # as many documents at a time as in a sweep
            self.workers.run(partial(self._open_tables_of, round_))
            self._merge_nodes()
        self._merge_words()
        self.repaired[:] = 0  # merges have opened tables

    def _open_tables_of(self, round_: int, worker: int) -> None:
        open_tables(
            self.shape,
            self.layout,
            self.state,
            new_opening_work(self.settings.topics),
            self._worlds[worker].changes,
            self._documents_of(round_, worker),
        )

    def start_citations(self) -> None:
        """Draw a first topic for every citation, as if there were no other citation."""
        self._make_room()
        self._before_citations()
        key, repaired = next_key(self.state.random), self.repaired.copy()
        self.workers.run(partial(self._first_topics_of, key))
        for round_ in range(self.rounds):
            self._merge_citations(round_)
            self._merge_nodes()
        self.repaired[:] = repaired  # merges have opened tables

    def _first_topics_of(self, key: np.uint64, worker: int) -> None:
        work = new_citation_work(self.settings.topics, len(self.spec.topic_side))
        random = np.zeros(4, np.uint64)
        for round_ in range(self.rounds):
            draw_citing_topics(
                Citing(self.citation_level, self._n_shared, self._cites),
                self.layout,
                self.tables,
                self.state,
                work,
                self._moves,
                random,
                key,
                self._documents_of(round_, worker),
            )

    def draw_self_citations(self) -> None:
        """Propose adding or removing one self-citation for every paper, round by round."""
        self._make_room()
        for round_, key in self._rounds():
            self.workers.run(partial(self._self_citations_of, key, round_))
            self._merge_nodes()
            self.rebuild_exponent()

    def _self_citations_of(self, key: np.uint64, round_: int, worker: int) -> None:
        offer_self_citations(
            self.citation_level,
            self._paths,
            self.layout,
            self.tables,
            self.state,
            self.exponent,
            self._worlds[worker],
            self._self_works[worker],
            key,
            self._documents_of(round_, worker),
        )

    def sweep_words(self) -> None:
        """Move every token once; all documents of a round use the same snapshot."""
        worlds = self._workers()
        for world in worlds:
            world.tally[:] = 0
        for round_, key in self._rounds():
            if self.network_on and round_ > 0:
                self.rebuild_exponent()
            self.workers.run(partial(self._words_of, key, round_))
            self._merge_words()
            self._merge_nodes()
        if self.network_on:  # the citation sweep starts from the updated words
            self.rebuild_exponent()
        add_tallies(self.word_tally, [world.tally for world in worlds])

    def _words_of(self, key: np.uint64, round_: int, worker: int) -> None:
        copy_snapshot(self._worlds[worker], self.state.words, self.cache)
        self._sweep_documents(
            self.shape,
            self._paths,
            self.layout,
            self.tables,
            self.state,
            self.cache,
            self.exponent,
            self._worlds[worker],
            key,
            self._documents_of(round_, worker),
        )

    def sweep_citations(self) -> None:
        """Move the topic of every citation once; all of a round use the same snapshot."""
        self._workers()
        for here in self._neighbourhoods:
            here.tally[:] = 0
        for round_, key in self._rounds():
            if round_ > 0:
                self.rebuild_exponent()
            self._before_citations()
            self.workers.run(partial(self._citations_of, key, round_))
            self._merge_citations(round_)
            self._merge_nodes()
        add_tallies(self.citation_tally, [here.tally for here in self._neighbourhoods])

    def _before_citations(self) -> None:
        """Update the chain's copies of data of other parts, if there are any."""

    def _citations_of(self, key: np.uint64, round_: int, worker: int) -> None:
        sweep_citing(
            Citing(self.citation_level, self._n_shared, self._cites),
            self.layout,
            self.tables,
            self.state,
            self.exponent,
            self._neighbourhoods[worker],
            self._moves,
            key,
            self._documents_of(round_, worker),
        )

    def _merge_words(self) -> None:
        """Merge all changes into the word side."""
        words = self.state.words
        n_words, topics = words.customers.shape
        totals = np.zeros((self.threads, 2, topics + 1), np.int64)

        def merge(begin: int, end: int, worker: int) -> int:
            return merge_words(
                self.shape,
                self.tables,
                words,
                self.cache,
                self._changes,
                totals,
                begin,
                end,
                worker,
            )

        self.repaired[1] += self._by_ranges(merge, 0, n_words)
        finish_words(words, totals)
        refresh_topics(words, self.state.parameters, self.cache)

    def _merge_nodes(self) -> None:
        """Merge all changes into the nodes above documents, lowest level first."""
        for level in range(self.spec.n_shared - 1, -1, -1):
            self._merge_level(level)

    def _merge_level(self, level: int) -> None:
        """Merge all changes into those nodes of a level that the chain owns."""

        def merge(begin: int, end: int, worker: int) -> int:
            parent, counts = self.layout.parent, self.state.topics
            return merge_nodes(parent, counts, self._changes, begin, end, worker)

        first, last = int(self.layout.level_start[level]), int(self.part.level_end[level])
        self.repaired[0] += self._by_ranges(merge, first, last)

    def _merge_citations(self, round_: int) -> None:
        """Add the changes made by the citations of a round to the counts of documents."""

        def merge(begin: int, end: int, worker: int) -> int:
            return add_moves(
                self.layout,
                self.state.topics,
                self._lists,
                self._moves,
                self._changes,
                (round_, self.rounds, self.part.document),
                begin,
                end,
                worker,
            )

        self.repaired[0] += self._by_ranges(merge, 0, self.part.n_documents)
        if self._changes is not None and len(self.layout.server):
            self.repaired[0] += give_up_tables(
                self.layout, self.state, self._changes.node_customers[0]
            )

    def _by_ranges(self, task: Callable[[int, int, int], int], first: int, last: int) -> int:
        """Run the task on one range per worker and return the sum of the results."""
        if last - first < _FEW:
            return int(task(first, last, 0))
        bounds = [first + (last - first) * i // self.threads for i in range(self.threads + 1)]
        found = [0] * self.threads

        def share(worker: int) -> None:
            found[worker] = int(task(bounds[worker], bounds[worker + 1], worker))

        self.workers.run(share)
        return sum(found)

    def _rounds(self) -> Iterator[tuple[int, np.uint64]]:
        """Yield each round's number and the key of its documents' streams."""
        for round_ in range(self.rounds):
            yield round_, next_key(self.state.random)

    def _documents_of(self, round_: int, worker: int) -> np.ndarray:
        """Return a worker's documents in a round, with their corpus numbers: int64 [n, 2]."""
        turn = round_, worker
        if turn not in self._turns:
            number = self.part.document[: self.part.n_documents]
            mine = np.flatnonzero(number % self.rounds == round_)[worker :: self.threads]
            self._turns[turn] = np.stack([mine, number[mine]], axis=1)
        return self._turns[turn]


def add_tallies(total: np.ndarray, parts: list[np.ndarray]) -> None:
    """Add the workers' tallies to the tally of a sweep, which may be longer."""
    for part in parts:
        total[: len(part)] += part
