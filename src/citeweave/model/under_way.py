"""A running chain: its steps, samples and checkpoints."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from citeweave.engines.core.data import Info
from citeweave.engines.core.estimates import Sums, new_sums
from citeweave.engines.protocol import DividedRunningChain, RunningChain, as_divided
from citeweave.engines.staged import state_after
from citeweave.errors import RunError
from citeweave.model.parameters import Plan
from citeweave.model.settling import LOOK, Agreement, Settlement, begins_anew
from citeweave.model.traces import new_traces, record
from citeweave.runs.checkpoint import (
    Checkpoint,
    Identity,
    flatten,
    restore_state,
    write_checkpoint,
    write_sampling_start,
)

__all__ = ["Beginning", "ChainResult", "ChainUnderWay", "Timing", "WriteMeans"]

_SMOOTHING = 0.1


class ChainResult(NamedTuple):
    """The outcome of a chain that has done all its iterations."""

    sums: Sums
    """Without rows if workers have written the estimates."""
    traces: dict[str, np.ndarray]
    state: dict[str, np.ndarray]
    written: Mapping[str, str] = MappingProxyType({})
    """Checksums of files of estimates that workers have written."""


WriteMeans = Callable[[DividedRunningChain], tuple[dict[str, str], Sums]]
"""Has the workers of a divided chain write estimates; returns checksums and the other sums."""


class Beginning(NamedTuple):
    """The starting point of a chain."""

    topics: np.ndarray | None = None
    """Initial topics of tokens; None for random ones."""
    categories: np.ndarray | None = None
    """Initial categories of papers, if they are latent."""


class Timing(NamedTuple):
    """When checkpoints are due; None disables a criterion."""

    seconds: float | None = 60.0
    iterations: int | None = None


class ChainUnderWay:
    """A chain with everything that belongs to it.

    Before samples are kept, a chain that will be compared with others is sampled at intervals;
    comparisons, and runs that are stopped early, use the sums of these samples. When sampling
    proper begins, the sums restart, adaptation is frozen, and the state is stored, so that an
    extended run can continue from it.

    Parameters
    ----------
    plan : Plan
    chain : RunningChain
        Not yet started.
    begin : Checkpoint or Beginning
        Checkpoint to continue from, or starting point.
    identity : Identity
    folder : Path, optional
        Folder of the chain's checkpoints; None to keep nothing on disk.
    timing : Timing
    """

    def __init__(
        self,
        plan: Plan,
        chain: RunningChain,
        begin: Checkpoint | Beginning,
        identity: Identity,
        folder: Path | None,
        timing: Timing,
    ) -> None:
        self.plan, self.chain, self.identity = plan, chain, identity
        self.folder, self.timing = folder, timing
        self.traces = new_traces(plan.level_names, plan.iterations)
        divided = as_divided(chain)
        self._divided = None if folder is None else divided
        """The chain, if its workers write and read checkpoints themselves."""
        if self._divided is not None and folder is not None:
            self._divided.lodge(folder.parent)
        self.sums = new_sums(chain) if divided is None else divided.empty_sums()
        self.settlement: Settlement | None = None
        """Why samples are kept, if that was decided during the run."""
        self.agreement = Agreement()
        """Agreement of chains when their pace was last judged."""
        self.pace = 0.0
        if isinstance(begin, Checkpoint):
            self._restore(begin)
        else:
            chain.start(*begin)
            given = any(part is not None for part in begin)
            if folder is not None and given:  # the given start may be missing next time
                self._store(write_checkpoint)
        self.saved, self.saved_at = chain.iteration, time.monotonic()

    def _restore(self, stored: Checkpoint) -> None:
        if self._divided is not None and stored.path is not None:
            sums = self.sums if stored.samples else None
            self._divided.restore_from(stored.path, sums)
        else:
            like = state_after(self.chain, stored.iteration)
            self.chain.restore(restore_state(stored, like), stored.proposal)
        for name, trace in stored.traces.items():
            self.traces[name][: len(trace)] = trace
        if stored.settlement is not None:
            self.settlement = Settlement.from_json(stored.settlement)
        if stored.agreement is not None:
            self.agreement = Agreement(**stored.agreement)
        if stored.sums is not None:
            self.sums = stored.sums
        elif (
            stored.samples == 0
            and self.schedule is not None
            and stored.iteration >= self.schedule.first_kept
        ):
            raise RunError(
                f"The checkpoint of chain {self.identity.chain} holds a state but no sums of "
                "samples, so its estimates cannot be made from it; fit again."
            )
        if self.schedule is not None and stored.iteration > self.schedule.burn_in:
            self.chain.freeze()

    @property
    def schedule(self) -> Plan | None:
        """When samples are kept; None while undecided."""
        if self.plan.exactly:
            return self.plan
        return (
            None if self.settlement is None else self.plan.sampling_from(self.settlement.iteration)
        )

    @property
    def iteration(self) -> int:
        """Iterations done."""
        return self.chain.iteration

    def advance(self, target: int, going: Callable[[], bool], tell: Callable[[Info], None]) -> None:
        """Make steps until this many iterations are done, or ``going`` returns False.

        ``tell`` is called after each step.
        """
        chain, schedule = self.chain, self.schedule
        while chain.iteration < target and going():
            self._before_step(schedule)
            info = chain.step()
            record(self.traces, info)
            if (schedule is not None and schedule.keeps(info.iteration)) or self._looks_at(
                info.iteration, schedule
            ):
                chain.keep_sample(self.sums)
            # the first iterations may include compilation
            weight = 1.0 if self.pace == 0.0 or info.seconds < self.pace / 4 else _SMOOTHING
            self.pace += weight * (info.seconds - self.pace)
            tell(info)
            if self._due():
                self.save()
        if self._divided is None:
            chain.collect_samples(self.sums)

    def collect(self) -> Sums:
        """Return the sums, which the workers of a divided chain hold until then."""
        self.chain.collect_samples(self.sums)
        return self.sums

    def _before_step(self, schedule: Plan | None) -> None:
        done = self.chain.iteration
        before = schedule is None or done < schedule.burn_in
        if schedule is not None and done == schedule.burn_in:
            if self.folder is not None:
                self._store(write_sampling_start)
            self._begin_sums()
            self.chain.freeze()
        elif not self.plan.exactly and before and begins_anew(done - self.plan.joined):
            self._begin_sums()

    def _looks_at(self, done: int, schedule: Plan | None) -> bool:
        since = done - self.plan.joined
        before = schedule is None or done <= schedule.burn_in
        return not self.plan.exactly and before and since > 0 and since % LOOK == 0

    def _begin_sums(self) -> None:
        self.chain.drop_samples()
        if self._divided is not None:
            self.sums = self._divided.empty_sums()
            return
        for array in self.sums:
            array[...] = 0

    def _due(self) -> bool:
        timing = self.timing
        since = self.chain.iteration - self.saved
        return (timing.iterations is not None and since >= timing.iterations) or (
            timing.seconds is not None and time.monotonic() - self.saved_at >= timing.seconds
        )

    def save(self) -> None:
        """Write a checkpoint, if the chain has a folder and has advanced since the last one."""
        if self.folder is not None and self.saved < self.chain.iteration:
            self._store(write_checkpoint)
        self.saved, self.saved_at = self.chain.iteration, time.monotonic()

    def _store(self, write: Callable[..., Path]) -> None:
        """Write a checkpoint of some kind; the workers of a divided chain write their parts."""
        divided = self._divided
        if divided is None:
            write(self.folder, self.identity, self._checkpoint())
            return
        checkpoint = self._beside({}, None)
        divided.go_back_to(write(self.folder, self.identity, checkpoint, divided.write_parts))

    def _checkpoint(self) -> Checkpoint:
        self.chain.collect_samples(self.sums)
        return self._beside(flatten(self.chain.state), self.sums if self.sums.samples[0] else None)

    def _beside(self, state: dict[str, np.ndarray], sums: Sums | None) -> Checkpoint:
        return Checkpoint(
            iteration=self.chain.iteration,
            state=state,
            sums=sums,
            traces=self.done_traces(),
            proposal=self.chain.extra_state(),
            settlement=None if self.settlement is None else self.settlement.as_json(),
            agreement=self.agreement._asdict() if self.agreement.done else None,
        )

    def done_traces(self) -> dict[str, np.ndarray]:
        """Return the traces of the iterations done."""
        return {name: trace[: self.chain.iteration] for name, trace in self.traces.items()}

    def result(self, write_means: WriteMeans | None = None) -> ChainResult:
        """Return the outcome of the chain at its end."""
        if self._divided is None:
            return ChainResult(self.collect(), self.done_traces(), flatten(self.chain.state))
        # the state is in the run folder
        if write_means is None:
            return ChainResult(self.collect(), self.done_traces(), {})
        files, sums = write_means(self._divided)
        return ChainResult(sums, self.done_traces(), {}, files)
