"""Progress of an import: progress bars on a terminal, plain lines elsewhere."""

import time
from collections.abc import Callable
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)

__all__ = ["ImportDisplay", "LiveImport", "PlainImport", "open_import_display"]

STEPS = {
    "parts": ("reading", "parts"),
    "words": ("words and phrases", "documents"),
    "shards": ("writing", "documents"),
    "records": ("reading", "records"),
    "text": ("words and phrases", "documents"),
    "citations": ("citations", "references"),
    "saving": ("saving", ""),
}


class ImportDisplay:
    """Base class of import displays, which shows nothing."""

    def __call__(self, step: str, done: int, total: int | None) -> None:
        """Handle a progress report."""

    def __enter__(self) -> Self:
        """Start the display."""
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the display."""


class LiveImport(ImportDisplay):
    """One progress bar per step on a terminal; removed at the end, when the report is printed."""

    def __init__(self, console: Console) -> None:
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[count]}"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
        )
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> Self:
        """Start drawing."""
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the bars."""
        self._progress.stop()

    def __call__(self, step: str, done: int, total: int | None) -> None:
        """Update the bar of a step."""
        if step not in self._tasks:
            name = STEPS.get(step, (step, ""))[0]
            self._tasks[step] = self._progress.add_task(name, total=None, count="")
        # a step that only reports its start and end has no progress to draw
        shown = total if total is not None and done else None
        self._progress.update(
            self._tasks[step], completed=done, total=shown, count=count_line(step, done, total)
        )


class PlainImport(ImportDisplay):
    """Plain lines for files and pipes: at the end of each step, and occasionally in between."""

    interval = 10.0

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._clock = clock
        self._last = clock()
        self._ended: set[str] = set()

    def __call__(self, step: str, done: int, total: int | None) -> None:
        """Print a line if it is due."""
        if step in self._ended or total == 0:
            return
        at_end = total is not None and done >= total
        if not at_end and self._clock() - self._last < self.interval:
            return
        if at_end:
            self._ended.add(step)
        self._last = self._clock()
        self._console.out(f"{STEPS.get(step, (step, ''))[0]}: {count_line(step, done, total)}")


def count_line(step: str, done: int, total: int | None) -> str:
    """Format the progress of a step.

    Examples
    --------
    >>> count_line("records", 12500, None), count_line("text", 0, 300)
    ('12,500 records', '300 documents')
    """
    noun = STEPS.get(step, ("", ""))[1]
    if step == "parts" and total:
        return f"{done:,} of {total:,} {noun}"
    number = done or total or 0
    return f"{number:,} {noun}".strip() if noun else ""


def open_import_display(console: Console | None) -> ImportDisplay:
    """Choose a display that suits the console; a silent one if the console is None."""
    if console is None:
        return ImportDisplay()
    return LiveImport(console) if console.is_terminal else PlainImport(console)
