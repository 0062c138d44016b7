"""A chain whose sweeps go over many documents at a time, behind the contract of `Chain`."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np

from citeweave.errors import ParameterError
from citeweave.parallel.citations import (
    Neighbourhood,
    add_moves,
    new_moves,
    new_neighbourhood,
    sweep_citing,
)
from citeweave.parallel.merge import add_changes, repair_documents, repair_nodes, repair_words
from citeweave.parallel.paths import find_paths
from citeweave.parallel.words import sweep_documents
from citeweave.parallel.world import World, new_world, word_places
from citeweave.sampler.arrays import State
from citeweave.sampler.chain import Chain, Data, Settings
from citeweave.sampler.random import new_generator
from citeweave.sampler.spec import ModelSpec
from citeweave.sampler.word_side import refresh_word_cache
from citeweave.sampler.words import SWEEP

__all__ = ["SnapshotChain"]


class SnapshotChain(Chain):
    """A chain of snapshot sweeps, in threads.

    A document's own counts move exactly, token by token. Counts above documents are read from a
    snapshot and the document's own changes of it; all documents' changes are added up afterwards.
    Each document has its own random stream, so the result depends on the seed and on ``rounds``,
    never on ``threads``. Concentrations and propensities are drawn as in the sequential chain, but
    those of the word side have a random stream of their own, so that both sides go at a time.

    Parameters
    ----------
    spec, data, settings, seed, stream
        As those of `Chain`.
    threads : int
        Workers that share the documents of a round.
    rounds : int
        Snapshots a sweep: documents r, r + rounds, r + 2 rounds, ... move in round r. With as
        many rounds as documents this is the sequential sampler.
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
        if threads < 1 or rounds < 1:
            raise ParameterError(
                "A snapshot chain needs at least one thread and one round a sweep. "
                f"Got threads={threads}, rounds={rounds} instead."
            )
        super().__init__(spec, data, settings, seed=seed, stream=stream)
        self.rounds = min(rounds, max(self.n_documents, 1))
        self.threads = min(threads, max(self.n_documents, 1))
        self.repaired = np.zeros(2, np.int64)
        """Tables moved into range so far: on the topic side and on the word side."""
        self._n_shared = int(self.layout.level_start[spec.n_shared])
        self._paths = find_paths(self.layout, len(spec.topic_side))
        self._places = word_places(self.layout)
        self._worlds: list[World] = []
        self._neighbourhoods: list[Neighbourhood] = []
        self._pool: ThreadPoolExecutor | None = None
        self._word_side: Future[float] | None = None
        if spec.citations is not None:
            if np.any(np.diff(self.layout.citing) < 0):
                raise ParameterError("Citations must be sorted by citing document.")
            made = np.bincount(self.layout.citing, minlength=self.n_documents)
            self._cites = np.concatenate([[0], np.cumsum(made)]).astype(np.int64)
            self._most_cited = int(made.max(initial=1))
            self._moves = new_moves(len(self.layout.citing))

    def close(self) -> None:
        """End the threads; another step would begin new ones."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def _submit(self, task: Callable[..., Any], *args: Any) -> Future[Any]:
        """Give a task to the chain's own threads, which wait for the next between steps."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.threads, "citeweave-sweep")
        return self._pool.submit(task, *args)

    def _workers(self) -> list[World]:
        """Make the workers' worlds when they are first needed."""
        while len(self._worlds) < self.threads:
            world = new_world(self, self._paths, self._places)
            self._worlds.append(world)
            if self.spec.citations is not None:
                self._neighbourhoods.append(
                    new_neighbourhood(self, max(self._most_cited, 1), world.changes)
                )
        return self._worlds

    def _sweep_words(self, mode: int) -> np.ndarray:
        if mode != SWEEP:  # the start is drawn one by one: it happens once
            return super()._sweep_words(mode)
        worlds = self._workers()
        for world in worlds:
            world.tally[:] = 0
        for round_, key in self._rounds():
            if self.network_on and round_ > 0:
                self._rebuild_exponent()
            self._share_out(round_, partial(self._words_of, key))
            add_changes(worlds[0].changes, [world.changes for world in worlds[1:]])
            changes = worlds[0].changes
            self.repaired[0] += repair_nodes(
                self.layout, self.state.topics, self.spec.n_shared, changes
            )
            self.repaired[1] += repair_words(self.shape, self.state.words, changes)
            refresh_word_cache(self.tables, self.state.words, self.state.parameters, self._cache)
        if self.network_on:  # the citation sweep starts from what the words have become
            self._rebuild_exponent()
        return np.sum([world.tally for world in worlds], axis=0)

    def _words_of(self, key: np.uint64, worker: int, docs: np.ndarray) -> None:
        sweep_documents(
            self.shape,
            self._paths,
            self.layout,
            self.tables,
            self.state,
            self._cache,
            self._exponent,
            self._worlds[worker],
            key,
            docs,
        )

    def _sweep_citations(self) -> np.ndarray:
        worlds = self._workers()
        for here in self._neighbourhoods:
            here.tally[:] = 0
        for round_, key in self._rounds():
            if round_ > 0:
                self._rebuild_exponent()
            self._share_out(round_, partial(self._citations_of, key))
            add_changes(worlds[0].changes, [world.changes for world in worlds[1:]])
            docs = np.array([round_, self.n_documents, self.rounds])
            add_moves(self.layout, self.state.topics, self._cites, self._moves, docs)
            changes = worlds[0].changes
            self.repaired[0] += repair_documents(
                self.layout, self.state.topics, self._citation_level, changes
            )
            self.repaired[0] += repair_nodes(
                self.layout, self.state.topics, self.spec.n_shared, changes
            )
        return np.sum([here.tally for here in self._neighbourhoods], axis=0)

    def _citations_of(self, key: np.uint64, worker: int, docs: np.ndarray) -> None:
        sweep_citing(
            self._citation_level,
            self._n_shared,
            self._cites,
            self.layout,
            self.tables,
            self.state,
            self._exponent,
            self._neighbourhoods[worker],
            self._moves,
            key,
            docs,
        )

    def _draw_concentrations(self) -> None:
        """Draw those of the two sides, which need nothing of each other, at a time."""
        random = new_generator(int(_next_key(self.state.random)), 0)
        state = self.state._replace(random=random)
        if self.threads > 1:
            self._word_side = self._submit(self._finish_word_side, state)
            self._draw_topic_concentrations()
            return
        self._draw_topic_concentrations()
        self._draw_word_concentrations(state)

    def _finish_word_side(self, state: State) -> float:
        """Draw its concentrations and measure the words, which nothing later in a step changes."""
        self._draw_word_concentrations(state)
        return super()._log_likelihood()

    def _log_likelihood(self) -> float:
        """Take what was measured beside the topic side, or measure it now."""
        if self._word_side is None:
            return super()._log_likelihood()
        found, self._word_side = self._word_side.result(), None
        return found

    def _rounds(self) -> Iterator[tuple[int, np.uint64]]:
        """Give each round's number and the key of its documents' streams."""
        for round_ in range(self.rounds):
            yield round_, _next_key(self.state.random)

    def _share_out(self, round_: int, task: Callable[[int, np.ndarray], None]) -> None:
        """Let the workers take the documents of a round between them."""
        step = self.rounds * self.threads
        jobs = [
            (worker, np.array([round_ + worker * self.rounds, self.n_documents, step]))
            for worker in range(self.threads)
        ]
        if len(jobs) == 1:
            task(*jobs[0])
            return
        for done in [self._submit(task, *job) for job in jobs]:
            done.result()


def _next_key(random: np.ndarray) -> np.uint64:
    """Draw 64 bits from the chain's own generator (xoshiro256++), in plain Python."""
    mask = (1 << 64) - 1
    s0, s1, s2, s3 = (int(x) for x in random)
    total = (s0 + s3) & mask
    result = (((total << 23) & mask | (total >> 41)) + s0) & mask
    shifted = (s1 << 17) & mask
    s2 ^= s0
    s3 ^= s1
    s1 ^= s2
    s0 ^= s3
    s2 ^= shifted
    s3 = ((s3 << 45) & mask) | (s3 >> 19)
    random[:] = np.array([s0, s1, s2, s3], np.uint64)
    return np.uint64(result)
