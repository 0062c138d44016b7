"""Run the chains of a model side by side, with progress, checkpoints and a way to stop."""

import threading
import time
import warnings
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import numpy as np

from citeweave.engines.core.data import Data, Info
from citeweave.engines.core.estimates import Sums, new_sums
from citeweave.engines.protocol import RunningChain
from citeweave.engines.staged import state_after
from citeweave.errors import RunError
from citeweave.model.chains import new_chain
from citeweave.model.parameters import Plan
from citeweave.model.traces import new_traces, record
from citeweave.naming import choice
from citeweave.runs.checkpoint import (
    Checkpoint,
    Identity,
    chain_folder,
    flatten,
    read_latest,
    remove_leftovers,
    restore_state,
    write_checkpoint,
)

__all__ = ["ChainResult", "Progress", "RunInterrupted", "Runner"]

_SMOOTHING = 0.1


class Progress(NamedTuple):
    """What a progress callback is told after each iteration, from the chain's own thread."""

    chain: int
    iteration: int
    iterations: int
    info: Info
    tokens_per_second: float
    seconds_left: float
    """For this chain, at the speed of its latest iterations."""


class RunInterrupted(KeyboardInterrupt):
    """The run was stopped on request; the text says what is saved and how to go on."""


class ChainResult(NamedTuple):
    """What is left of a chain that has done all its iterations."""

    sums: Sums
    traces: dict[str, np.ndarray]
    state: dict[str, np.ndarray]


class Timing(NamedTuple):
    """When checkpoints are due; None for never by that measure."""

    seconds: float | None = 60.0
    iterations: int | None = None


class Runner:
    """Runs chains in threads; the kernels leave Python free meanwhile.

    Parameters
    ----------
    plan : Plan
    data : Data
    fingerprint : str
        Of the corpus, written into checkpoints.
    chains : Path or None
        Folder of the chains' checkpoints; None to keep nothing on disk.
    timing : Timing
    progress : callable, optional
        Called after every iteration with a `Progress`, from the threads that run the chains.
    stop : threading.Event, optional
        Set it to stop all chains after their present iteration.
    first : RunningChain, optional
        The first chain, where there is one already; it is closed at the end.
    start : callable, optional
        Gives the first topics of tokens by the number of the chain; random ones if not given.
    notes : tuple of str
        What is to be said of the run besides what turns up.
    """

    def __init__(
        self,
        plan: Plan,
        data: Data,
        *,
        fingerprint: str,
        chains: Path | None = None,
        timing: Timing = Timing(),  # noqa: B008 (immutable)
        progress: Callable[[Progress], object] | None = None,
        stop: threading.Event | None = None,
        first: RunningChain | None = None,
        start: Callable[[int], np.ndarray | None] | None = None,
        notes: tuple[str, ...] = (),
    ) -> None:
        self.plan = plan
        self.data = data
        self.fingerprint = fingerprint
        self.chains = chains
        self.timing = timing
        self.progress = progress
        self.stop = stop or threading.Event()
        self.notes = list(notes)
        self._results: dict[int, ChainResult] = {}
        self._iterations: dict[int, int] = {}
        self._errors: list[BaseException] = []
        self._waiting = iter(range(plan.chains))
        self._lock = threading.Lock()
        self._first = first
        self._start = start

    def run(self, *, resume: bool = False) -> list[ChainResult]:
        """Run all chains to their end.

        Parameters
        ----------
        resume : bool
            Go on from the latest good checkpoints instead of starting anew.

        Raises
        ------
        RunInterrupted
            Ctrl-C was pressed or the stop event set; chains with a folder are checkpointed.
        RunError
            A checkpoint could not be written, or none of those there can be used.
        """
        stored = {chain: self._stored(chain) for chain in range(self.plan.chains) if resume}
        finished: list[threading.Event] = []
        try:
            for i in range(self.plan.chains_at_a_time):
                event = threading.Event()
                threading.Thread(
                    target=self._work, args=(stored, event), name=f"citeweave-{i}", daemon=True
                ).start()
                finished.append(event)
            _wait(finished)
        except KeyboardInterrupt:
            self.stop.set()
            _wait(finished)  # asked a second time, we leave without the last checkpoints
        if self._errors:
            raise self._errors[0]
        if len(self._results) < self.plan.chains:
            raise RunInterrupted(self._stopped())
        return [self._results[chain] for chain in range(self.plan.chains)]

    def identity(self, chain: int) -> Identity:
        """Give what checkpoints of a chain must agree with."""
        return Identity(self.fingerprint, self.plan.digest(), chain)

    def _stored(self, chain: int) -> Checkpoint | None:
        if self.chains is None:
            return None
        folder = chain_folder(self.chains, chain)
        remove_leftovers(folder)
        checkpoint, refused = read_latest(folder, self.identity(chain))
        for text in refused:
            used = f"The one of iteration {checkpoint.iteration if checkpoint else 0} is used."
            self.notes.append(f"{text} {used}")
            warnings.warn(f"{text} {used}", RuntimeWarning, stacklevel=4)
        return checkpoint

    def _work(self, stored: dict[int, Checkpoint | None], finished: threading.Event) -> None:
        try:
            self._take_chains(stored)
        finally:
            finished.set()

    def _take_chains(self, stored: dict[int, Checkpoint | None]) -> None:
        """Take chains from the queue until none is left; what goes wrong stops the others."""
        while not self.stop.is_set():
            with self._lock:
                chain = next(self._waiting, None)
            if chain is None:
                return
            try:
                with closing(self._new_chain(chain)) as running:
                    self._run_chain(chain, running, stored.pop(chain, None))
            except BaseException as error:  # noqa: BLE001 (raised again in the calling thread)
                self._errors.append(error)
                self.stop.set()

    def _new_chain(self, number: int) -> RunningChain:
        made, self._first = (self._first, None) if number == 0 else (None, self._first)
        return made or new_chain(self.plan, self.data, number)

    def _run_chain(self, number: int, chain: RunningChain, stored: Checkpoint | None) -> None:
        plan = self.plan
        traces = new_traces(plan.level_names, plan.iterations)
        sums = new_sums(chain)
        folder = None if self.chains is None else chain_folder(self.chains, number)
        if stored is None:
            topics = None if self._start is None else self._start(number)
            chain.start(topics)
            if folder is not None and topics is not None:  # which may not be there another time
                self._save(folder, number, chain, sums, traces)
        else:
            like = state_after(chain, stored.iteration)
            chain.restore(restore_state(stored, like), stored.proposal)
            for name, trace in stored.traces.items():
                traces[name][: len(trace)] = trace
            if stored.sums is not None:
                sums = stored.sums
            elif stored.iteration >= plan.first_kept:
                raise RunError(
                    f"The checkpoint of chain {number} holds a state but no sums of samples, so "
                    "its estimates cannot be made from it; fit again."
                )
            del stored
        saved, saved_at = chain.iteration, time.monotonic()
        pace = 0.0
        while chain.iteration < plan.iterations and not self.stop.is_set():
            info = chain.step()
            record(traces, info)
            if plan.keeps(info.iteration):
                chain.keep_sample(sums)
            # the first iterations may have been compiling
            weight = 1.0 if pace == 0.0 or info.seconds < pace / 4 else _SMOOTHING
            pace += weight * (info.seconds - pace)
            self._iterations[number] = info.iteration
            if self.progress is not None:
                self.progress(self._progress(number, info, pace))
            if folder is not None and self._due(info.iteration - saved, saved_at):
                self._save(folder, number, chain, sums, traces)
                saved, saved_at = info.iteration, time.monotonic()
        self._iterations[number] = chain.iteration
        chain.collect_samples(sums)
        if folder is not None and saved < chain.iteration:
            self._save(folder, number, chain, sums, traces)
        if chain.iteration == plan.iterations:
            self._results[number] = ChainResult(sums, traces, flatten(chain.state))

    def _progress(self, number: int, info: Info, pace: float) -> Progress:
        return Progress(
            chain=number,
            iteration=info.iteration,
            iterations=self.plan.iterations,
            info=info,
            tokens_per_second=len(self.data.tokens) / pace if pace else float("nan"),
            seconds_left=(self.plan.iterations - info.iteration) * pace,
        )

    def _due(self, iterations: int, since: float) -> bool:
        timing = self.timing
        return (timing.iterations is not None and iterations >= timing.iterations) or (
            timing.seconds is not None and time.monotonic() - since >= timing.seconds
        )

    def _save(
        self,
        folder: Path,
        number: int,
        chain: RunningChain,
        sums: Sums,
        traces: dict[str, np.ndarray],
    ) -> None:
        done = chain.iteration
        chain.collect_samples(sums)
        checkpoint = Checkpoint(
            iteration=done,
            state=flatten(chain.state),
            sums=sums if sums.samples[0] else None,
            traces={name: trace[:done] for name, trace in traces.items()},
            proposal=chain.extra_state(),
        )
        write_checkpoint(folder, self.identity(number), checkpoint)

    def _stopped(self) -> str:
        done = [self._iterations.get(chain, 0) for chain in range(self.plan.chains)]
        shown = ", ".join(str(n) for n in done)
        text = f"Stopped after iteration {shown} of {self.plan.iterations}. "
        if self.chains is None:
            named = choice("out=FOLDER", "--out FOLDER")
            return text + f"The run had no folder, so nothing is kept; fit with {named}."
        return text + f"All is saved; go on with: citeweave resume {self.chains.parent}"


def _wait(finished: list[threading.Event]) -> None:
    """Wait for all workers, in slices, so that Ctrl-C comes through on every system.

    On events, not on ``Thread.join``: interrupted, that may take a running thread for ended.
    """
    for event in finished:
        while not event.wait(0.2):
            pass
