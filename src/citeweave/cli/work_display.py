"""Progress for the app: the information of the terminal displays, as JSON on disk."""

import contextlib
import math
import threading
import time
from typing import Any, Self

from citeweave.cli.import_progress import STEPS, ImportDisplay, count_line
from citeweave.cli.progress import (
    JOINING,
    STARTING,
    STOPPING,
    SWITCHING,
    WARMING,
    DisplayConsole,
    PlainDisplay,
)
from citeweave.model import Progress
from citeweave.web.projects.tasks import ProjectTask

__all__ = ["Reporter", "TaskConsole", "TaskDisplay", "TaskImport", "thin_out"]

INTERVAL = 1.0
"""Seconds between two writes."""
_WAITING = {STARTING: "start", SWITCHING: "citations", JOINING: "bursts", STOPPING: "stop"}
"""Reasons for a silence, by message; pages have their own texts for them."""
MOST_POINTS = 400
"""Maximum number of points in the trace of a chain; longer traces are thinned."""


class Reporter:
    """Writes the progress of a task at intervals, from its own thread, during a block.

    Parameters
    ----------
    task : ProjectTask
    interval : float
        Seconds between two writes.
    """

    def __init__(self, task: ProjectTask, interval: float = INTERVAL) -> None:
        self.task = task
        self.interval = interval
        self._lock = threading.Lock()
        self._progress: dict[str, Any] = dict(task.look().progress)
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._write_on, daemon=True)

    def __enter__(self) -> Self:
        """Start writing."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop writing; the final state is written separately."""
        self._ending.set()
        self._thread.join()

    @property
    def progress(self) -> dict[str, Any]:
        """The current progress."""
        with self._lock:
            return dict(self._progress)

    def tell(self, **news: Any) -> None:
        """Update the progress."""
        with self._lock:
            self._progress |= news

    def _write_on(self) -> None:
        while True:
            with contextlib.suppress(
                OSError
            ):  # if the disk is full, the task itself will report it
                self.task.write("running", progress=self.progress)
            if self._ending.wait(self.interval):
                return


class TaskConsole(DisplayConsole):
    """The log of a task, which also reports the progress of fits.

    Parameters
    ----------
    reporter : Reporter

    Attributes
    ----------
    scanning : bool
        Whether the fits belong to a scan for the number of topics.
    """

    def __init__(self, reporter: Reporter) -> None:
        super().__init__(markup=False, highlight=False, emoji=False, width=100)
        self.reporter = reporter
        self.scanning = False

    def open_display(self) -> PlainDisplay:
        """Create the display of one fit."""
        return TaskDisplay(self)


class TaskDisplay(PlainDisplay):
    """Writes lines to the log, and the traces of all chains for the page."""

    def __init__(self, console: TaskConsole) -> None:
        self._reporter = console.reporter
        self._console = console
        self._traces: list[list[list[float]]] = []
        self._strides: list[int] = []
        self._seen: list[int] = []
        self._begun = time.monotonic()
        super().__init__(console)

    def _expected(self, chains: int) -> None:
        super()._expected(chains)
        before = self._reporter.progress.get("traces", [])
        # for a resumed run, the page also shows the earlier part
        known = before if len(before) == chains else [[] for _ in range(chains)]
        self._traces = [list(trace) for trace in known]
        self._strides = [_stride(trace) for trace in self._traces]
        self._seen = [0] * chains
        plan = self.plan
        self._reporter.tell(
            stage="scan" if self._console.scanning else "fit",
            planned={}
            if plan is None
            else {
                "topics": plan.settings.topics,
                "iterations": plan.iterations,
                "burn_in": plan.burn_in,
                "exactly": plan.exactly,
                "minutes": plan.minutes,
                "network_from": self.network_from,
                "burst_from": self.burst_from,
                "at_a_time": plan.chains_at_a_time,
            },
        )

    def __call__(self, progress: Progress) -> None:
        """Handle a progress report of one chain."""
        super().__call__(progress)
        with self._lock:
            self._seen[progress.chain] += 1
            if self._seen[progress.chain] <= WARMING:  # also for a resumed run
                self.chains[progress.chain].seconds_left = math.nan
                self.chains[progress.chain].iterations_per_second = math.nan
            trace, number = self._traces[progress.chain], progress.chain
            while trace and trace[-1][0] >= progress.iteration:
                trace.pop()  # a killed run continues from its last checkpoint
            value = progress.info.log_posterior
            if self.tokens and math.isfinite(value):
                at = progress.iteration
                if at % self._strides[number] == 0 or at == progress.iterations:
                    trace.append([at, round(value / self.tokens, 5)])
                if len(trace) > MOST_POINTS:
                    self._traces[number] = thin_out(trace)
                    self._strides[number] = _stride(self._traces[number])
            self._reporter.tell(**self._facts(), rhat=_known(progress.rhat), aim=progress.aim)

    def _watch(self) -> None:
        while not self._done.wait(0.5):
            with self._lock:
                waiting = self.waiting_for()
                self._reporter.tell(waiting=_WAITING.get(waiting or "", ""))
                if waiting is not None and waiting not in self._said:
                    self._said.add(waiting)
                    self._write(waiting)

    def _facts(self) -> dict[str, Any]:
        """Return what a page shows; the lock must be held."""
        return {
            "iterations": self.iterations,
            "agreement": self.agreement,
            "waiting": "",
            "seconds": round(time.monotonic() - self._begun, 1),
            "chains": [
                {
                    "iteration": chain.iteration,
                    "log_posterior": _known(chain.log_posterior),
                    "topics": chain.topics,
                    "speed": _known(chain.iterations_per_second),
                    "seconds_left": _known(chain.seconds_left),
                }
                for chain in self.chains
            ],
            "traces": [list(trace) for trace in self._traces],
        }


class TaskImport(ImportDisplay):
    """Reports the steps of an import for a page."""

    def __init__(self, reporter: Reporter) -> None:
        self._reporter = reporter

    def __call__(self, step: str, done: int, total: int | None) -> None:
        """Handle a progress report of one step."""
        steps: dict[str, Any] = self._reporter.progress.get("steps", {})
        name = STEPS.get(step, (step, ""))[0]
        now = {"name": name, "count": count_line(step, done, total), "done": done, "total": total}
        self._reporter.tell(stage="import", step=step, steps={**steps, step: now})


def thin_out(trace: list[list[float]]) -> list[list[float]]:
    """Keep every second point, and always the last one.

    Examples
    --------
    >>> thin_out([[1, 0.1], [2, 0.2], [3, 0.3], [4, 0.4]])
    [[2, 0.2], [4, 0.4]]
    """
    return trace[::-1][::2][::-1]


def _stride(trace: list[list[float]]) -> int:
    """Return the number of iterations between points."""
    return int(max(trace[-1][0] - trace[-2][0], 1)) if len(trace) > 1 else 1


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None
