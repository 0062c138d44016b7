"""Progress of a download."""

import contextlib
from collections.abc import Iterator

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn

from citeweave.datasets import FetchProgress

__all__ = ["fetching"]


@contextlib.contextmanager
def fetching(console: Console | None) -> Iterator[FetchProgress | None]:
    """Show a progress bar on a terminal, one line per file elsewhere, and nothing if None."""
    if console is None:
        yield None
    elif not console.is_terminal:
        yield _Lines(console)
    else:
        columns = (TextColumn("{task.description}"), BarColumn(bar_width=24), DownloadColumn())
        with Progress(*columns, console=console, transient=True) as bars:
            yield _Bars(bars)


class _Bars:
    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._tasks: dict[str, TaskID] = {}

    def __call__(self, address: str, done: int, total: int | None) -> None:
        if address not in self._tasks:
            self._tasks[address] = self._bars.add_task(address.rpartition("/")[2], total=total)
        self._bars.update(self._tasks[address], completed=done, total=total)


class _Lines:
    def __init__(self, console: Console) -> None:
        self._console = console

    def __call__(self, address: str, done: int, _total: int | None) -> None:
        if done == 0:
            self._console.out(f"fetching {address}")
