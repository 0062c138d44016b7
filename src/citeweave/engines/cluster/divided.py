"""A chain whose steps are made by workers, as a run sees it.

The driver holds the chain as one process would: it starts it, lets citations and phi' join, and has
its state when a checkpoint is due. Iterations are made by the workers, each with its part of the
documents. When one of them fails, all go back to the state that the driver has and repeat what was
done since; as every draw depends on the state alone, that leads to the same bytes.
"""

import time
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from citeweave.engines.cluster.plans import PartPlan, make_plans
from citeweave.engines.cluster.state_parts import (
    fill_state,
    fill_sums,
    part_of_state,
    part_of_sums,
)
from citeweave.engines.cluster.worker import Recipe, Usage
from citeweave.engines.core.arrays import Array, State
from citeweave.engines.core.chain import NO_EXTRA
from citeweave.engines.core.data import ChainSettings, Data, Info
from citeweave.engines.core.estimates import Sums
from citeweave.engines.core.invariants import check_state
from citeweave.engines.core.spec import ModelSpec
from citeweave.engines.threads.chain import SnapshotChain
from citeweave.errors import RunError

__all__ = ["DividedChain", "LostWorkerError", "Team", "refuse_undivided"]

_TRIES = 100
"""Times that lost workers are replaced before the run gives up without an iteration done."""


class LostWorkerError(Exception):
    """A worker has ended; the others have stopped, and it can be replaced."""


class Team(Protocol):
    """The workers of a chain."""

    def call(self, method: str, arguments: list[tuple[Any, ...]] | None = None) -> list[Any]:
        """Let all workers do something at a time; ``arguments`` are those of each.

        Raises
        ------
        LostWorkerError
            One of them has ended.
        """

    def replace_lost(self) -> None:
        """Have a worker for every part again."""

    def close(self) -> None:
        """Let all workers go."""


def refuse_undivided(spec: ModelSpec) -> str | None:
    """Say why a model cannot be divided between workers; None where it can."""
    advice = "Use another engine, of threads or of a GPU."
    if spec.words_choose_author:
        return f"In model {spec.name!r} words choose their author: it is not divided. {advice}"
    if spec.tables_choose_author:
        return f"All authors of a paper count: such a model is not divided. {advice}"
    if spec.n_document == 0:
        return f"Model {spec.name!r} has no level of documents: it is not divided. {advice}"
    own = [level.name for level in spec.topic_side[1:] if not level.shared_concentration]
    if own:
        return (
            f"Nodes of level {own[0]!r} have a concentration each: such a model is not divided. "
            "Give them a shared one, or use threads."
        )
    return None


class DividedChain(SnapshotChain):
    """A chain of snapshot sweeps made by a team of workers.

    Parameters
    ----------
    spec, data, settings, seed, stream, rounds
        As those of `SnapshotChain`.
    threads : int
        Threads of each worker, and of the driver for what it does alone.
    workers : int
        Workers, each with a part of the documents.
    """

    _state: State

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
        workers: int = 1,
    ) -> None:
        self._stale = False
        super().__init__(
            spec, data, settings, seed=seed, stream=stream, threads=threads, rounds=rounds
        )
        n_parts = max(1, min(workers, self.n_documents))
        self.plans: list[PartPlan] = make_plans(
            data, self.layout, self.degrees, spec.n_shared, n_parts
        )
        """What each worker is given."""
        self._recipe = Recipe(spec, settings, seed, stream, threads, rounds)
        self._team: Team | None = None
        self._done = 0
        self._given = False
        """Whether the workers have the state that the driver has, or a later one."""
        self._log: list[str] = []
        """What the workers have done since the driver had their state."""
        self._sums: Sums | None = None
        self.recovered = 0
        """How often lost workers were replaced."""

    @abstractmethod
    def _new_team(self, plans: list[PartPlan], recipe: Recipe) -> Team:
        """Start workers, one for each part."""

    @property
    def state(self) -> State:
        """All that the chain has drawn; fetched from the workers where they are ahead."""
        self._fetch()
        return self._state

    @state.setter
    def state(self, state: State) -> None:
        self._state = state

    @property
    def clock(self) -> Array:
        """Iterations done, and whether citations count by now: int64 [2]."""
        return self._state.clock if self._stale is False else self.state.clock

    @property
    def iteration(self) -> int:
        """Iterations done."""
        return self._done if self._stale else int(self._state.clock[0])

    @property
    def network_on(self) -> bool:
        """Whether citations count by now, which only the driver changes."""
        return bool(self._state.clock[1])

    def restore(self, state: State, extra: Mapping[str, Array] = NO_EXTRA) -> None:
        """Go on from a stored state; workers get it before the next step."""
        self._forget()
        super().restore(state, extra)

    def start(self, topics: Array | None = None, categories: Array | None = None) -> None:
        """Give every token a first topic and build all counts."""
        self._forget()
        super().start(topics, categories)

    def _forget(self) -> None:
        self._stale = self._given = False
        self._log.clear()

    def step(self) -> Info:
        """Take the chain one iteration on, by all workers together."""
        began = time.perf_counter()
        joins = self.spec.citations is not None and not self.network_on
        if joins and self.iteration >= self.settings.network_from:
            self._fetch()
            self.switch_network_on()
            self._given = False
        self._give()
        info: Info = self._do("step")[0]
        self._done = info.iteration
        if self.settings.debug:
            check_state(self.spec, self.layout, self.state)
        return info._replace(seconds=time.perf_counter() - began)

    def keep_sample(self, sums: Sums) -> None:
        """Let the workers add the present state to their parts of the sums."""
        if self._sums is not sums:
            self._fetch()
            self._sums, self._given = sums, False
        self._give()
        self._do("keep")

    def drop_samples(self) -> None:
        """Forget the samples kept so far."""
        self._sums = None
        if self._given:
            self._do("drop")

    def collect_samples(self, sums: Sums) -> None:
        """Bring the sums up to date with the workers'."""
        if self._sums is sums:
            self._fetch()

    def usage(self) -> list[Usage]:
        """Tell what each worker has used since it was started."""
        return [] if self._team is None else self._team.call("usage")

    def close(self) -> None:
        """Let the workers go."""
        super().close()
        team, self._team = self._team, None
        if team is not None:
            team.close()

    def _give(self) -> None:
        """Give the workers the driver's state, where they do not have it."""
        if self._given:
            return
        if self._team is None:
            self._team = self._new_team(self.plans, self._recipe)
        self._surely(self._send)
        self._given = True

    def _send(self, team: Team) -> None:
        sums = self._sums if self._sums is not None and self._sums.samples[0] else None
        team.call(
            "restore",
            [
                (
                    part_of_state(self._state, self.layout, plan),
                    None if sums is None else part_of_sums(sums, plan),
                )
                for plan in self.plans
            ],
        )

    def _repeat(self, team: Team) -> None:
        """Bring workers that begin anew to where they were."""
        self._send(team)
        for done in self._log:
            team.call(done)

    def _do(self, what: str) -> list[Any]:
        """Let the workers do something, all over again where one of them is lost."""
        found: list[Any] = []

        def work(team: Team) -> None:
            found[:] = team.call(what)

        self._surely(work, self._repeat)
        self._log.append(what)
        self._stale = True
        return found

    def _surely(
        self, work: Callable[[Team], None], before: Callable[[Team], None] | None = None
    ) -> None:
        """Do something with the team; where a worker is lost, replace it and begin anew.

        ``before`` brings workers that begin anew to where they were.
        """
        team = self._team
        if team is None:
            raise RunError("The workers of this chain have been let go.")
        lost = False
        for _ in range(_TRIES):
            try:
                if lost:
                    self.recovered += 1
                    team.replace_lost()
                    if before is not None:
                        before(team)
                work(team)
            except LostWorkerError:
                lost = True
            else:
                return
        raise RunError(
            f"Workers ended {_TRIES} times without an iteration done in between, most likely for "
            "want of memory: give them more of it, or use more workers. What was saved is intact; "
            "go on with `citeweave resume RUN`."
        )

    def _fetch(self) -> None:
        """Have the state and the sums of the workers."""
        if not self._stale:
            return
        found: list[Any] = []

        def work(team: Team) -> None:
            found[:] = team.call("export")

        self._surely(work, self._repeat)
        for plan, (state, sums, sizes) in zip(self.plans, found, strict=True):
            fill_state(self._state, self.layout, plan, state, sizes)
            if self._sums is not None and sums is not None:
                fill_sums(self._sums, plan, sums, sizes)
        self._stale = False
        self._log.clear()
