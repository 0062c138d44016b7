"""Run the chains of a model in parallel until they agree, with progress and a way to stop.

With a fixed number of iterations, chains run one after the other as threads become free. Otherwise
all chains advance block by block and are compared after each block (`citeweave.model.settling`), by
statistics that depend only on the seed, so that every machine stops them at the same iteration.
When they agree, or at the maximum number of iterations before sampling, all keep samples for a
fixed number of iterations.
"""

import math
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from citeweave.engines.core.data import Data, Info
from citeweave.engines.core.estimates import Sums
from citeweave.engines.protocol import RunningChain
from citeweave.model.chains import new_chain
from citeweave.model.parameters import Plan
from citeweave.model.settling import (
    AIM,
    BLOCK,
    FIRST,
    Agreement,
    Check,
    Settlement,
    begins_anew,
    judge,
    judged_from,
    out_of_reach,
)
from citeweave.model.under_way import Beginning, ChainResult, ChainUnderWay, Timing, WriteMeans
from citeweave.naming import choice
from citeweave.runs.checkpoint import (
    Checkpoint,
    Identity,
    chain_folder,
    read_latest,
    remove_leftovers,
)

__all__ = ["ChainResult", "Progress", "RunInterrupted", "Runner", "Timing"]


class Progress(NamedTuple):
    """Passed to a progress callback after each iteration, from the chain's own thread.

    Examples
    --------
    >>> import citeweave
    >>> seen = []
    >>> model = citeweave.SCNTM(topics=3, iterations=5, chains=2, seed=1)
    >>> model = model.fit(citeweave.example_corpus(), progress=seen.append)
    >>> max(step.iteration for step in seen)
    5
    """

    chain: int
    iteration: int
    iterations: int
    """Iterations that the chain will make, or their maximum until that is known."""
    info: Info
    tokens_per_second: float
    seconds_left: float
    """For this chain, at the speed of its latest iterations."""
    rhat: float = math.nan
    """The largest R-hat at the latest comparison of chains; nan before the first."""
    aim: float = AIM
    open: str = ""
    """Description of what was farthest from agreeing then; empty if all agreed."""


class RunInterrupted(KeyboardInterrupt):
    """The run was stopped on request; the message says what is saved and how to continue.

    Examples
    --------
    >>> import threading
    >>> import citeweave
    >>> stop = threading.Event()
    >>> stop.set()
    >>> model = citeweave.SCNTM(topics=3, iterations=5, chains=2, seed=1)
    >>> try:
    ...     model.fit(citeweave.example_corpus(), stop=stop)
    ... except citeweave.model.RunInterrupted as error:
    ...     print("stopped")
    stopped
    """


class Runner:
    """Runs chains in threads; kernels release the GIL.

    Parameters
    ----------
    plan : Plan
    data : Data
    fingerprint : str
        Fingerprint of the corpus, written into checkpoints.
    chains : Path or None
        Folder of the chains' checkpoints; None to keep nothing on disk.
    timing : Timing
    progress : callable, optional
        Called after every iteration with a `Progress`, from the threads that run the chains.
    stop : threading.Event, optional
        Set it to stop all chains after their current iteration.
    first : RunningChain, optional
        The first chain, if it is already open; it is closed at the end.
    start : callable, optional
        Returns the initial topics of a chain by its number; random topics if not given.
    notes : tuple of str
        Notes on the run, in addition to those that arise.
    begin : mapping of int to Checkpoint
        Starting points by chain, if not at the beginning.
    data_of : callable, optional
        Returns the data of a chain by its number, if chains differ.

    Attributes
    ----------
    settlement : Settlement or None
        Set when the run is done.
    write_means : callable or None
        Has the workers of a divided chain write their estimates at its end; set it before.
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
        start: Callable[[int], Beginning] | None = None,
        notes: tuple[str, ...] = (),
        begin: Mapping[int, Checkpoint] | None = None,
        data_of: Callable[[int], Data] | None = None,
    ) -> None:
        self.plan = plan
        self.data = data
        self.fingerprint = fingerprint
        self.chains = chains
        self.timing = timing
        self.progress = progress
        self.stop = stop or threading.Event()
        self.notes = list(notes)
        self.settlement: Settlement | None = None
        self.write_means: WriteMeans | None = None
        self._begin = begin or {}
        self._results: dict[int, ChainResult] = {}
        self._iterations: dict[int, int] = {}
        self._errors: list[BaseException] = []
        self._lock = threading.Lock()
        self._first = first
        self._start = start
        self._data_of = data_of or (lambda _: data)
        self._latest: Settlement | None = None

    def run(self, *, resume: bool = False) -> list[ChainResult]:
        """Run all chains to their end.

        Parameters
        ----------
        resume : bool
            Continue from the latest valid checkpoints instead of starting anew.

        Raises
        ------
        RunInterrupted
            Ctrl-C was pressed or the stop event was set; chains with a folder are saved.
        RunError
            A checkpoint could not be written, or none of the existing ones can be used.
        """
        numbers = range(self.plan.chains)
        stored = {number: self._begin.get(number) for number in numbers}
        if resume:
            stored |= {n: found for n in numbers if (found := self._stored(n)) is not None}
        if self.plan.exactly:
            self._share_out(partial(self._run_whole, number, stored) for number in numbers)
            outcome = Settlement(False, "exactly", self.plan.burn_in, self.plan.chains)
        else:
            outcome = self._run_until_settled(stored)
        self.settlement = outcome if outcome.settled else self._judge_samples(outcome)
        return [self._results[number] for number in numbers]

    def identity(self, chain: int) -> Identity:
        """Return the identity that checkpoints of a chain must match."""
        return Identity(self.fingerprint, self.plan.digest(), chain)

    def _stored(self, chain: int) -> Checkpoint | None:
        if self.chains is None:
            return None
        folder = chain_folder(self.chains, chain)
        remove_leftovers(folder)
        identity, divided = self.identity(chain), self.plan.divided
        checkpoint, refused = read_latest(folder, identity, by_workers=divided)
        for text in refused:
            used = f"The one of iteration {checkpoint.iteration if checkpoint else 0} is used."
            self.notes.append(f"{text} {used}")
            warnings.warn(f"{text} {used}", RuntimeWarning, stacklevel=4)
        return checkpoint

    def _share_out(self, tasks: Iterable[Callable[[], None]]) -> None:
        """Run tasks in threads until none is left; an error stops the others."""
        waiting = iter(list(tasks))
        finished = [threading.Event() for _ in range(self.plan.chains_at_a_time)]

        def work(event: threading.Event) -> None:
            try:
                while not self.stop.is_set():
                    with self._lock:
                        task = next(waiting, None)
                    if task is None:
                        return
                    task()
            except BaseException as error:  # noqa: BLE001 (raised again in the calling thread)
                self._errors.append(error)
                self.stop.set()
            finally:
                event.set()

        try:
            for i, event in enumerate(finished):
                name = f"citeweave-{i}"
                threading.Thread(target=work, args=(event,), name=name, daemon=True).start()
            _wait(finished)
        except KeyboardInterrupt:
            self.stop.set()
            _wait(finished)  # interrupted a second time: leave without the last checkpoints
        if self._errors:
            raise self._errors[0]
        if self.stop.is_set() and len(self._results) < self.plan.chains:
            raise RunInterrupted(self._stopped())

    def _open(self, number: int, stored: dict[int, Checkpoint | None]) -> ChainUnderWay:
        made, self._first = (self._first, None) if number == 0 else (None, self._first)
        chain = made or new_chain(self.plan, self._data_of(number), number)
        folder = None if self.chains is None else chain_folder(self.chains, number)
        found = stored.pop(number, None)
        identity = self.identity(number)
        begin: Checkpoint | Beginning = found or Beginning()
        if found is None and self._start is not None:
            begin = self._start(number)
        return ChainUnderWay(self.plan, chain, begin, identity, folder, self.timing)

    def _run_whole(self, number: int, stored: dict[int, Checkpoint | None]) -> None:
        """Run one chain from its start to its end."""
        one = self._open(number, stored)
        with closing(one.chain):
            self._advance(number, one, self.plan.iterations)
            self._finish(number, one, self.plan.iterations)

    def _advance(self, number: int, one: ChainUnderWay, target: int) -> None:
        def tell(info: Info) -> None:
            self._iterations[number] = info.iteration
            if self.progress is not None:
                self.progress(self._progress(number, one, info))

        self._iterations[number] = one.iteration
        one.advance(target, lambda: not self.stop.is_set(), tell)

    def _finish(self, number: int, one: ChainUnderWay, end: int) -> None:
        one.save()
        if one.iteration == end:
            self._results[number] = one.result(self.write_means)

    def _run_until_settled(self, stored: dict[int, Checkpoint | None]) -> Settlement:
        """Run all chains block by block until they agree, then keep samples.

        Returns what ended the comparisons.
        """
        plan = self.plan
        begun = time.monotonic()
        known = [found for found in stored.values() if found is not None]
        furthest = max((found.iteration for found in known), default=0)
        before = sum(float(found.traces["seconds"].sum()) for found in known)
        before /= plan.chains_at_a_time
        chains: dict[int, ChainUnderWay] = {}
        with ExitStack() as held:

            def open_one(number: int) -> None:
                one = self._open(number, stored)
                with self._lock:
                    held.callback(one.chain.close)
                    chains[number] = one

            try:
                self._share_out(partial(open_one, number) for number in range(plan.chains))
                # if the stopped process had already decided, a checkpoint records it
                decided = next((one.settlement for one in chains.values() if one.settlement), None)
                done = min(one.iteration for one in chains.values())
                while decided is None:
                    end = _block_end(plan, done)
                    self._all_to(chains, end)
                    if end >= furthest:  # otherwise already compared, without agreement
                        used = before + time.monotonic() - begun
                        decided = self._compare(chains, end, used)
                    done = end + 1
                for one in chains.values():
                    if one.settlement is None:
                        self._all_to({one.identity.chain: one}, decided.iteration)
                        one.settlement = decided
                end = plan.sampling_from(decided.iteration).iterations
                self._all_to(chains, end)
            except RunInterrupted:
                for one in chains.values():
                    one.save()
                raise
            for number, one in chains.items():
                self._finish(number, one, end)
        return decided

    def _all_to(self, chains: Mapping[int, ChainUnderWay], target: int) -> None:
        self._share_out(
            partial(self._advance, number, one, target)
            for number, one in sorted(chains.items())
            if one.iteration < target
        )

    def _compare(
        self, chains: Mapping[int, ChainUnderWay], done: int, used: float
    ) -> Settlement | None:
        """Compare the chains after a block; return why they stop here, if they do."""
        plan = self.plan
        since = done - plan.joined
        found = Settlement(False, "", done, plan.chains)
        if since >= FIRST * BLOCK and since % BLOCK == 0:
            ordered = [one for _, one in sorted(chains.items())]
            window = slice(judged_from(plan.joined, done), done)
            # a single chain is compared by its traces alone
            sums = [one.collect() if len(ordered) > 1 else one.sums for one in ordered]
            checks = self._judge([one.traces for one in ordered], sums, window)
            agreed = bool(checks) and all(check.passes for check in checks)
            found = found._replace(checks=checks, settled=agreed)
            self._latest = found
            if found.settled:
                return found._replace(stopped="settled")
            if begins_anew(since) and self._hopeless(ordered, since, checks):
                return found._replace(stopped="pace")
        if done >= plan.burn_in:
            return found._replace(stopped="iterations")
        pace = max(one.pace for one in chains.values()) * plan.chains / plan.chains_at_a_time
        left = (plan.iterations - plan.burn_in) * pace
        if plan.minutes is not None and used + left >= 60.0 * plan.minutes:
            return found._replace(stopped="minutes")
        return None

    def _hopeless(
        self, chains: Sequence[ChainUnderWay], since: int, checks: Sequence[Check]
    ) -> bool:
        """Whether chains would not agree in time; their present agreement is stored."""
        before = max((one.agreement for one in chains), key=lambda agreement: agreement.done)
        for one in chains:
            one.agreement = Agreement.of(since, checks)
        most = self.plan.burn_in - self.plan.joined
        return self.plan.give_up and out_of_reach(before, checks, done=since, most=most)

    def _judge_samples(self, found: Settlement) -> Settlement:
        """Judge a run whose chains had not agreed earlier, by its final state."""
        results = [self._results[number] for number in range(self.plan.chains)]
        done = len(results[0].traces["seconds"])
        begin = found.iteration
        if found.stopped != "exactly":
            begin = min(begin, judged_from(self.plan.joined, done))
        checks = self._judge(
            [one.traces for one in results], [one.sums for one in results], slice(begin, done)
        )
        long_enough = bool(checks) and done - begin >= BLOCK
        agreed = long_enough and all(check.passes for check in checks)
        return found._replace(settled=agreed, checks=checks)

    def _judge(
        self, traces: Sequence[Mapping[str, np.ndarray]], sums: Sequence[Sums], window: slice
    ) -> tuple[Check, ...]:
        words = int(self.data.offsets[-1])
        return judge(self.plan.spec, self.plan.level_names, traces, sums, window, words=words)

    def _progress(self, number: int, one: ChainUnderWay, info: Info) -> Progress:
        plan, latest = self.plan, self._latest
        plan = one.schedule or plan
        return Progress(
            chain=number,
            iteration=info.iteration,
            iterations=plan.iterations,
            info=info,
            tokens_per_second=int(self.data.offsets[-1]) / one.pace if one.pace else float("nan"),
            seconds_left=(plan.iterations - info.iteration) * one.pace,
            rhat=math.nan if latest is None else latest.rhat,
            open=latest.open[0].text if latest is not None and latest.open else "",
        )

    def _stopped(self) -> str:
        done = [self._iterations.get(chain, 0) for chain in range(self.plan.chains)]
        shown = ", ".join(str(n) for n in done)
        text = f"Stopped after iteration {shown} of {self.plan.iterations}. "
        if self.chains is None:
            named = choice("out=FOLDER", "--out FOLDER")
            return text + f"The run had no folder, so nothing is kept; fit with {named}."
        return text + f"All is saved; continue with: citeweave resume {self.chains.parent}"


def _block_end(plan: Plan, done: int) -> int:
    """Return the end of the first block that ends at or after this many iterations."""
    since = max(done - plan.joined, 1)
    return min(plan.joined + -(-since // BLOCK) * BLOCK, plan.burn_in)


def _wait(finished: list[threading.Event]) -> None:
    """Wait for all workers in short intervals, so that Ctrl-C works on every system.

    This waits for events: an interrupted ``Thread.join`` may report a running thread as ended.
    """
    for event in finished:
        while not event.wait(0.2):
            pass
