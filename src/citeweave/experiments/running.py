"""Run many tasks in parallel, one result file each, so that an interrupted run can continue."""

import json
import os
import platform
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal, NamedTuple

import citeweave
from citeweave.corpus import Corpus
from citeweave.errors import CiteweaveError, ParameterError, RunError
from citeweave.experiments.folds import arrays_only
from citeweave.experiments.machine import cores, describe_machine
from citeweave.experiments.protocols import Measured, measure
from citeweave.experiments.tables import Row, Table
from citeweave.experiments.tasks import Task
from citeweave.files import write_atomically
from citeweave.model import RunInterrupted
from citeweave.naming import choice, option

__all__ = ["TaskProgress", "finished_tasks", "run_tasks"]

FORMAT = "citeweave-task"
VERSION = 1
_PACKAGES = ("numpy", "scipy", "numba")


class TaskProgress(NamedTuple):
    """Progress report of `run_tasks`.

    Attributes
    ----------
    task : Task
    state : {"kept", "started", "done", "failed"}
        ``kept``: its result existed already.
    finished : int
        Tasks that are done, including kept ones.
    total : int
    seconds : float
        Duration of the task, also if its result existed already.
    error : str
        Error message of a failed task.
    machine : str
        Where a done or kept task ran: the processor, or the GPU.

    Examples
    --------
    >>> from citeweave.experiments import Task, TaskProgress, choose
    >>> task = Task(dataset="cora", corpus="0f", model=choose("scntm"), protocol="whole", version=1)
    >>> TaskProgress(task, "done", finished=1, total=4, seconds=12.5).state
    'done'
    """

    task: Task
    state: Literal["kept", "started", "done", "failed"]
    finished: int
    total: int
    seconds: float = 0.0
    error: str = ""
    machine: str = ""


def run_tasks(
    tasks: Iterable[Task],
    corpora: Mapping[str, Corpus],
    *,
    out: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    device: str | None = None,
    fresh: bool = False,
    progress: Callable[[TaskProgress], object] | None = None,
    stop: threading.Event | None = None,
) -> Table:
    """Run tasks in threads (kernels release the GIL), one per core, and collect their rows.

    The results depend neither on the number of workers nor on the order of tasks.

    Parameters
    ----------
    tasks : iterable of Task
    corpora : mapping
        The corpora by fingerprint.
    out : path, optional
        Folder for results, one file per task. Existing results are not computed again. By default
        nothing is stored.
    workers : int, optional
        Number of parallel tasks; all cores by default.
    device : {"auto", "cpu", "cuda"}, optional
        Device for chains, see `ModelChoice.device`; by default each model's own choice. Results of
        a GPU are also used on other machines, because it samples the same distribution.
    fresh : bool
        Compute everything, including existing results.
    progress : callable, optional
        Called with a `TaskProgress`, by one thread at a time.
    stop : threading.Event, optional
        Set it to stop, as Ctrl-C does.

    Returns
    -------
    Table
        The rows in the order of the tasks.

    Raises
    ------
    RunError
        A task failed or its result cannot be written; the others are done nevertheless.
    RunInterrupted
        It was stopped. Finished results are kept; the same call continues.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.experiments import PROTOCOLS, choose, make_tasks, run_tasks
    >>> corpus = citeweave.example_corpus()
    >>> tasks = make_tasks(
    ...     {"example": corpus.fingerprint},
    ...     [choose("louvain")],
    ...     protocol="whole",
    ...     version=PROTOCOLS["whole"].version,
    ... )
    >>> table = run_tasks(tasks, {corpus.fingerprint: corpus}, out="results")
    >>> table.select(measure="nmi").values().shape
    (1,)
    """
    run = _Run(list(tasks), corpora, out, device=device, fresh=fresh, progress=progress, stop=stop)
    return run.run(workers)


def finished_tasks(tasks: Iterable[Task], out: str | os.PathLike[str]) -> list[Task]:
    """Return the tasks whose results are in a folder, which `run_tasks` would not run again.

    Raises
    ------
    RunError
        An existing file cannot be read.

    Examples
    --------
    >>> from citeweave.experiments import Task, choose, finished_tasks
    >>> task = Task(dataset="cora", corpus="0f", model=choose("scntm"), protocol="whole", version=1)
    >>> finished_tasks([task], "no-results-yet")
    []
    """
    return [task for task in tasks if _read(Path(out), task) is not None]


class _Kept(NamedTuple):
    """The result of a task, as read from its file."""

    rows: list[Measured]
    machine: str
    seconds: float


class _Run:
    def __init__(
        self,
        tasks: list[Task],
        corpora: Mapping[str, Corpus],
        out: str | os.PathLike[str] | None,
        *,
        device: str | None,
        fresh: bool,
        progress: Callable[[TaskProgress], object] | None,
        stop: threading.Event | None,
    ) -> None:
        self.tasks = tasks
        self.corpora = {name: arrays_only(corpus) for name, corpus in corpora.items()}
        for task in tasks:
            if task.corpus not in self.corpora:
                raise ParameterError(
                    f"The task '{task}' needs the corpus with fingerprint {task.corpus[:12]}, "
                    "which is not among those given."
                )
        self.folder = None if out is None else Path(out)
        self.device = device
        self.fresh = fresh
        self.progress = progress
        self.stop = stop or threading.Event()
        self.rows: dict[str, list[Measured]] = {}
        self.machines: dict[str, str] = {}
        """Where each task ran, by key."""
        self.failed: dict[str, tuple[Task, CiteweaveError]] = {}
        self._broken: list[BaseException] = []
        self._lock = threading.Lock()
        self._running, self._count = 0, 1
        # a task requested twice (under two names, for example) is run once
        self._waiting: list[Task] = list({task.key: task for task in tasks}.values())
        self._total = len(self._waiting)

    def run(self, workers: int | None) -> Table:
        if not self.fresh:
            self._take_what_is_there()
        # longest tasks first, so that cores do not idle at the end; taken from the end of the list
        self._waiting.sort(key=self._effort, reverse=True)
        self._waiting.reverse()
        self._count = min(_workers(workers), max(1, len(self._waiting)))
        finished = [threading.Event() for _ in range(self._count)]
        try:
            for number, event in enumerate(finished):
                threading.Thread(
                    target=self._work, args=(event,), name=f"task-{number}", daemon=True
                ).start()
            _wait(finished)
        except KeyboardInterrupt:
            self.stop.set()
            _wait(finished)
        return self._collect()

    def _effort(self, task: Task) -> float:
        return task.model.effort * self.corpora[task.corpus].n_tokens

    def _take_what_is_there(self) -> None:
        left = []
        for task in self._waiting:
            kept = None if self.folder is None else _read(self.folder, task)
            if kept is None:
                left.append(task)
            else:
                self.rows[task.key], self.machines[task.key] = kept.rows, kept.machine
                self._tell(task, "kept", kept.seconds)
        self._waiting = left

    def _work(self, finished: threading.Event) -> None:
        try:
            while not self.stop.is_set():
                with self._lock:
                    task = self._waiting.pop() if self._waiting else None
                    self._running += task is not None
                    # cores that no other task needs run the chains of this one
                    wanting = min(self._count, self._running + len(self._waiting))
                    threads = max(1, cores() // max(1, wanting))
                if task is None:
                    return
                try:
                    self._run_task(task, threads)
                finally:
                    with self._lock:
                        self._running -= 1
        except BaseException as error:  # noqa: BLE001 (raised again in the calling thread)
            self._broken.append(error)
            self.stop.set()
        finally:
            finished.set()

    def _run_task(self, task: Task, threads: int) -> None:
        self._tell(task, "started")
        begin = time.monotonic()
        try:
            rows = measure(
                task,
                self.corpora[task.corpus],
                threads=threads,
                device=self.device,
                stop=self.stop,
            )
            seconds = time.monotonic() - begin
            gpu = any(row.measure == "gpu" and row.value for row in rows)
            self.machines[task.key] = describe_machine(gpu=gpu)
            if self.folder is not None:
                self._write(task, rows, seconds)
        except RunInterrupted:
            return  # the stop event is set: nothing is kept of this task
        except CiteweaveError as error:
            self.failed[task.key] = (task, error)  # reported with all others at the end
            self._tell(task, "failed", time.monotonic() - begin, str(error))
            return
        self.rows[task.key] = rows
        self._tell(task, "done", seconds)

    def _tell(self, task: Task, state: Any, seconds: float = 0.0, error: str = "") -> None:
        if self.progress is not None:
            with self._lock:
                done = len(self.rows)
                where = self.machines.get(task.key, "")
                self.progress(TaskProgress(task, state, done, self._total, seconds, error, where))

    def _collect(self) -> Table:
        if self._broken:  # a bug, or no memory
            raise self._broken[0]
        if self.failed:
            task, error = next(iter(self.failed.values()))
            raise RunError(
                f"{len(self.failed)} of {self._total} tasks failed; the others are done. The "
                f"first ({task}): {error}"
            ) from error
        if len(self.rows) < self._total:
            kept = "Nothing was saved; pass a folder for the results."
            if self.folder is not None:
                kept = f"They are in '{self.folder}'; the same command continues."
            raise RunInterrupted(f"Stopped after {len(self.rows)} of {self._total} tasks. {kept}")
        return Table(
            Row(task.dataset, task.model.name, task.fold.name, task.seed, *measured)
            for task in self.tasks
            for measured in self.rows[task.key]
        )

    def _write(self, task: Task, rows: list[Measured], seconds: float) -> None:
        path = _path(self.folder, task)  # type: ignore[arg-type]
        content = {
            "format": FORMAT,
            "version": VERSION,
            "key": task.key,
            "dataset": task.dataset,
            "name": task.model.name,
            "task": task.as_json(),
            "rows": [row._asdict() | {"value": _finite(row.value)} for row in rows],
            "seconds": round(seconds, 3),
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
            "versions": _versions(),
            "machine": self.machines[task.key],
        }
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with write_atomically(path) as file:
                file.write((json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())
        except OSError as error:
            raise RunError(
                f"'{path}' cannot be written: {error.strerror or error}. Free some space or "
                "choose another folder; finished work is kept."
            ) from error


def _path(folder: Path, task: Task) -> Path:
    return folder / "tasks" / task.file_name


def _read(folder: Path, task: Task) -> _Kept | None:
    """Return an existing, complete result; None if it has to be computed."""
    path = _path(folder, task)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["format"] != FORMAT or content["version"] != VERSION:
            return None
        if content["key"] != task.key:
            return None
        rows = [
            Measured(row["measure"], row["where"], _number(row["value"]), row["protocol"])
            for row in content["rows"]
        ]
        return _Kept(rows, str(content.get("machine", "")), float(content.get("seconds", 0.0)))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise RunError(f"'{path}' cannot be read: {error.strerror or error}.") from error
    except (ValueError, KeyError, TypeError):
        return None


def _number(value: Any) -> float:
    return float("nan") if value is None else float(value)


def _finite(value: float) -> float | None:
    return value if abs(value) < float("inf") else None


def _versions() -> dict[str, str]:
    found = {"citeweave": citeweave.__version__, "python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "unknown"
    return found


def _workers(asked: int | None) -> int:
    if asked is None:
        return cores()
    if not isinstance(asked, int) or isinstance(asked, bool) or asked < 1:
        raise ParameterError(
            f"{option('workers')} must be an integer of at least 1, or "
            f"{choice('None', 'left out')} for one per core. Got {asked!r}."
        )
    return asked


def _wait(finished: list[threading.Event]) -> None:
    """Wait in short intervals, so that Ctrl-C works on every system."""
    for event in finished:
        while not event.wait(0.2):
            pass
