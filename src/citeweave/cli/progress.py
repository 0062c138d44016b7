"""Progress of chains: a live table on a terminal, plain lines elsewhere.

Chains run in their own threads and report from there, so all shared state here is protected by a
lock.
"""

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from citeweave.model import Progress

if TYPE_CHECKING:
    from citeweave.model.parameters import Plan

__all__ = [
    "ChainProgress",
    "DisplayConsole",
    "LiveDisplay",
    "PlainDisplay",
    "open_display",
    "short",
    "time_left",
]

SILENCE = 2.0
"""Seconds without progress after which the display says what it is probably waiting for."""

WARMING = 3
"""First iterations, which may include compilation and are ignored when estimating the time left."""

STOPPING = "stopping after this iteration and saving; press Ctrl-C again to quit at once ..."
STARTING = "laying out the corpus and compiling kernels, once per machine ..."
SWITCHING = "switching citations on and compiling their kernels, once per machine ..."
JOINING = "switching burstiness on and compiling its kernels, once per machine ..."


@dataclass
class ChainProgress:
    """The latest progress of one chain, as the display shows it."""

    iteration: int = 0
    log_posterior: float = math.nan
    """Latest measured value, per word."""
    iterations_per_second: float = math.nan
    tokens_per_second: float = math.nan
    acceptance: float = math.nan
    topics: int = 0
    seconds_left: float = math.nan


class _Display:
    """Base class of both displays: the progress of all chains, protected by a lock."""

    def __init__(
        self,
        console: Console,
        *,
        chains: int = 0,
        iterations: int = 0,
        tokens: int = 0,
        network_from: int | None = None,
        burst_from: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.console = console
        self.clock = clock
        self._lock = threading.Lock()
        self._last = clock()
        self._stopping = False
        self.plan: Plan | None = None
        """What is being fitted, once it is known."""
        self.agreement = ""
        """How close the chains are to agreement, in words."""
        self.expect(chains, iterations, tokens, network_from, burst_from)

    def expect(
        self,
        chains: int,
        iterations: int,
        tokens: int,
        network_from: int | None = None,
        burst_from: int | None = None,
    ) -> None:
        """Set what will be fitted, before the first progress report."""
        with self._lock:
            self.iterations = iterations
            self.tokens = tokens
            self.network_from = network_from
            self.burst_from = burst_from
            self.chains = [ChainProgress() for _ in range(chains)]
            self._expected(chains)

    def _expected(self, chains: int) -> None:
        """Allocate the given number of chains; the lock must be held."""

    def stop(self) -> None:
        """Note that the chains were asked to stop; lock-free, for signal handlers."""
        self._stopping = True

    def __call__(self, progress: Progress) -> None:
        """Handle a progress report of one chain; called from its thread."""
        with self._lock:
            chain = self.chains[progress.chain]
            info = progress.info
            left = progress.iterations - progress.iteration
            self.iterations = progress.iterations
            if not math.isnan(progress.rhat):
                self.agreement = f"R-hat {progress.rhat:.2f}, target {progress.aim}" + (
                    f"; {progress.open}" if progress.open else ": the chains agree"
                )
            chain.iteration = progress.iteration
            if self.tokens and not math.isnan(info.log_posterior):
                chain.log_posterior = info.log_posterior / self.tokens
            if left and progress.seconds_left > 0 and progress.iteration > WARMING:
                chain.iterations_per_second = left / progress.seconds_left
            chain.tokens_per_second = progress.tokens_per_second
            chain.acceptance = info.acceptance
            chain.topics = info.topics
            if progress.iteration > WARMING:
                chain.seconds_left = progress.seconds_left
            self._last = self.clock()
            self._news(progress.chain)

    def _news(self, chain: int) -> None:
        """React to a progress report; the lock must be held."""

    def waiting_for(self) -> str | None:
        """Return what a long silence is probably about, or None if there is progress."""
        if self._stopping:
            return STOPPING
        if self.clock() - self._last < SILENCE:
            return None
        running = [chain.iteration for chain in self.chains if chain.iteration < self.iterations]
        if not self.chains:
            return STARTING
        if not running:
            return "averaging samples and saving the run ..."
        if max(chain.iteration for chain in self.chains) == 0:
            return STARTING
        if self.network_from in running:
            return SWITCHING
        return JOINING if self.burst_from in running else None


class LiveDisplay(_Display):
    """A table with one row per chain that is redrawn several times a second."""

    def __enter__(self) -> Self:
        """Start drawing."""
        self._spinner = Spinner("dots", style="cyan")
        self._live = Live(
            get_renderable=self.render, console=self.console, refresh_per_second=8, transient=False
        )
        self._live.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Draw a last time and leave the table on screen."""
        self._live.__exit__(kind, error, trace)

    def render(self) -> RenderableType:
        """Create the current table."""
        with self._lock:
            table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
            table.add_column("chain")
            wide = max(6, min(26, self.console.width - 74))
            table.add_column("", width=wide)
            for name in ("iteration", "it/s", "tokens/s", "log post/word", "accept", "topics"):
                table.add_column(name, justify="right", no_wrap=True)
            table.add_column("left", justify="right", no_wrap=True)
            for number, chain in enumerate(self.chains):
                bar = ProgressBar(
                    total=self.iterations, completed=chain.iteration, width=wide, style="grey37"
                )
                table.add_row(
                    str(number),
                    bar,
                    f"{chain.iteration}/{self.iterations}",
                    short(chain.iterations_per_second),
                    short(chain.tokens_per_second),
                    _number(chain.log_posterior, 3),
                    _number(chain.acceptance, 2),
                    str(chain.topics or "–"),
                    time_left(chain.seconds_left),
                )
            waiting = self.waiting_for()
            agreement = self.agreement
        parts: list[RenderableType] = [table]
        if agreement:
            parts.append(Text(agreement, style="dim"))
        if waiting is not None:
            self._spinner.update(text=Text(waiting, style="cyan"))
            parts.append(self._spinner)
        return Group(*parts)


class PlainDisplay(_Display):
    """Plain lines for files and pipes: every tenth of the way, at least every half minute."""

    interval = 30.0
    steps = 10

    def __enter__(self) -> Self:
        """Start watching for silence."""
        self._said: set[str] = set()
        self._done = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop watching."""
        self._done.set()
        self._watcher.join()

    def _expected(self, chains: int) -> None:
        now = self.clock()
        self._written = [(0, now) for _ in range(chains)]
        self._agreed = ""

    def _watch(self) -> None:
        while not self._done.wait(0.5):
            with self._lock:
                waiting = self.waiting_for()
                if waiting is not None and waiting not in self._said:
                    self._said.add(waiting)
                    self._write(waiting)

    def _news(self, chain: int) -> None:
        news = self.chains[chain]
        step, at = self._written[chain]
        now_step = news.iteration * self.steps // max(self.iterations, 1)
        if now_step > step or self.clock() - at >= self.interval:
            self._written[chain] = (now_step, self.clock())
            self._write(self.line(chain))
        if self.agreement != self._agreed:
            self._agreed = self.agreement
            self._write(self.agreement)

    def line(self, number: int) -> str:
        """Describe a chain in one line."""
        chain = self.chains[number]
        parts = [
            f"chain {number}",
            f"{chain.iteration}/{self.iterations}",
            f"{short(chain.iterations_per_second)} it/s",
            f"{short(chain.tokens_per_second)} tokens/s",
            f"log post/word {_number(chain.log_posterior, 3)}",
        ]
        if not math.isnan(chain.acceptance):
            parts.append(f"accepted {chain.acceptance:.2f}")
        parts.append(f"{chain.topics} topics")
        if chain.iteration < self.iterations:
            parts.append(f"{time_left(chain.seconds_left)} left")
        return "  ".join(parts)

    def _write(self, text: str) -> None:
        self.console.out(text, highlight=False)


class DisplayConsole(Console):
    """A console that provides its own display, for programs that monitor a fit."""

    def open_display(self) -> PlainDisplay:
        """Create the display of one fit."""
        return PlainDisplay(self)


def open_display(console: Console) -> LiveDisplay | PlainDisplay:
    """Choose a display that suits the console; call its `expect` before the fit."""
    if isinstance(console, DisplayConsole):
        return console.open_display()
    kind = LiveDisplay if console.is_terminal else PlainDisplay
    return kind(console)


def short(value: float) -> str:
    """Format a number with three digits and a unit.

    Examples
    --------
    >>> short(1_234_567), short(81.26), short(float("nan"))
    ('1.23M', '81.3', '–')
    """
    if math.isnan(value) or math.isinf(value):
        return "–"
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= 0.9995 * size:
            return f"{_three(value / size)}{unit}"
    return _three(value)


def _three(value: float) -> str:
    digits = 2 if abs(value) < 9.995 else 1 if abs(value) < 99.95 else 0
    return f"{value:.{digits}f}"


def _number(value: float, digits: int) -> str:
    return "–" if math.isnan(value) else f"{value:.{digits}f}"


def time_left(seconds: float) -> str:
    """Format a duration as minutes and seconds, with hours if there are any.

    Examples
    --------
    >>> time_left(5.4), time_left(65), time_left(3 * 3600 + 61)
    ('0:05', '1:05', '3:01:01')
    """
    if math.isnan(seconds) or math.isinf(seconds):
        return "–"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
