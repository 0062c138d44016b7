"""Progress of an import: a line that moves on a terminal, plain lines elsewhere."""

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
    """Shows nothing; the base of those that do."""

    def __call__(self, step: str, done: int, total: int | None) -> None:
        """Take the news of one step."""

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """End."""


class LiveImport(ImportDisplay):
    """One line a step on a terminal, gone at the end: the report says what there was."""

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
        """Begin to draw."""
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Take the lines away."""
        self._progress.stop()

    def __call__(self, step: str, done: int, total: int | None) -> None:
        """Move the step's line."""
        if step not in self._tasks:
            name = STEPS.get(step, (step, ""))[0]
            self._tasks[step] = self._progress.add_task(name, total=None, count="")
        # a step that only says when it begins and ends has no middle to draw
        shown = total if total is not None and done else None
        self._progress.update(
            self._tasks[step], completed=done, total=shown, count=count_line(step, done, total)
        )


class PlainImport(ImportDisplay):
    """Lines for files and pipes: the end of each step, and one now and then in between."""

    interval = 10.0

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._clock = clock
        self._last = clock()
        self._ended: set[str] = set()

    def __call__(self, step: str, done: int, total: int | None) -> None:
        """Write a line if it is time for one."""
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
    """Write how far a step is.

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
    """Choose the display that the console can show; None for silence."""
    if console is None:
        return ImportDisplay()
    return LiveImport(console) if console.is_terminal else PlainImport(console)
