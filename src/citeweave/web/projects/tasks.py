"""Long tasks of a project, each in its own process with its state on disk.

A task is a folder with the request (``task.json``, written by the process that starts it), the
progress (``state.json``, written by the process that does the work), the log (``log.txt``), a
request to stop (``stop``), and a lock that the process holds while it runs. Pages, a second server
and a restarted server therefore all see the same state, and a killed process is recognised as such.
"""

import contextlib
import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple

from citeweave import files
from citeweave.errors import RunError
from citeweave.files import locked, write_text

__all__ = ["ENDED", "ProjectTask", "Starter", "State", "TaskState"]

State = Literal["none", "starting", "running", "stopping", "done", "stopped", "failed"]

ENDED: tuple[State, ...] = ("done", "stopped", "failed")

WORKER = "citeweave.cli.work"
"""Module that the process of a task runs; it reuses the progress displays of the command line."""

_PATIENCE = 60.0
"""Seconds within which a process started by another server must have taken its lock."""
_SILENCE = 30.0
"""Without file locks: seconds without an update after which a process is considered dead."""
_LONGEST_LOG = 200_000

KILLED = (
    "The process ended unexpectedly: the computer was shut down, or the process was killed, often "
    "because memory ran out. Everything that was saved is still there."
)


class TaskState(NamedTuple):
    """The state of a task."""

    state: State = "none"
    message: str = ""
    """Why it failed."""
    progress: Mapping[str, Any] = {}
    started: str = ""
    ended: str = ""

    @property
    def active(self) -> bool:
        """Whether a process is working on it."""
        return self.state in {"starting", "running", "stopping"}


class ProjectTask:
    """One task.

    Parameters
    ----------
    path : Path
        Its folder, which need not exist yet.

    Examples
    --------
    >>> import tempfile
    >>> task = ProjectTask(Path(tempfile.mkdtemp()) / "import")
    >>> task.prepare("import", {"files": ["a.bib"]})
    >>> task.kind, task.settings["files"], task.look().state
    ('import', ['a.bib'], 'starting')
    >>> with task.working():
    ...     task.write("running", progress={"records": 12})
    ...     task.look().progress["records"]
    12
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.name

    def prepare(self, kind: str, settings: Mapping[str, Any]) -> None:
        """Write the request, discarding any earlier one."""
        self.path.mkdir(parents=True, exist_ok=True)
        (self.path / "stop").unlink(missing_ok=True)
        request = {"format": "citeweave-task", "version": 1, "kind": kind, "settings": settings}
        write_text(self.path / "task.json", json.dumps(request, indent=2) + "\n")
        self.write("starting", progress=self._stored().progress if kind == "fit" else {})

    def _request(self) -> dict[str, Any]:
        return _read(self.path / "task.json")

    @property
    def kind(self) -> str:
        """The kind of task; empty if there is no request."""
        return str(self._request().get("kind", ""))

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the request."""
        found = self._request().get("settings", {})
        return found if isinstance(found, dict) else {}

    def change(self, **settings: Any) -> None:
        """Add settings that were determined while the task runs."""
        request = self._request()
        request["settings"] = self.settings | settings
        write_text(self.path / "task.json", json.dumps(request, indent=2) + "\n")

    def write(
        self, state: State, message: str = "", progress: Mapping[str, Any] | None = None
    ) -> None:
        """Write the current state."""
        before = self._stored()
        now = datetime.now(UTC).isoformat(timespec="seconds")
        content = {
            "state": state,
            "message": message,
            "started": now if state == "starting" else before.started,
            "ended": now if state in ENDED else "",
            "at": time.time(),
            "progress": before.progress if progress is None else progress,
        }
        part = self.path / f"state.json.{secrets.token_hex(4)}{files.PART}"
        # rewritten many times a minute, so it need not survive a power cut
        try:
            part.write_text(json.dumps(content), encoding="utf-8")
            part.replace(self.path / "state.json")
        finally:
            part.unlink(missing_ok=True)

    def _stored(self) -> TaskState:
        found = _read(self.path / "state.json")
        names = [name for name in TaskState._fields if name in found]
        return TaskState(**{name: found[name] for name in names})

    @contextlib.contextmanager
    def working(self) -> Iterator[None]:
        """Hold the lock while working on the task."""
        with locked(self.path / ".lock", wait=True):
            yield

    @property
    def held(self) -> bool:
        """Whether a process is working on it, whichever server started it."""
        if not self.path.is_dir():
            return False
        if files.fcntl is None:
            return self._silence() < _SILENCE and self._stored().state == "running"
        try:
            with locked(self.path / ".lock", wait=False):
                return False
        except BlockingIOError:
            return True

    def _silence(self) -> float:
        """Return the seconds since the process last wrote its state."""
        at = _read(self.path / "state.json").get("at")
        return time.time() - at if isinstance(at, float) else float("inf")

    def look(self, process: "subprocess.Popen[bytes] | None" = None) -> TaskState:
        """Return the state of the task, from the files on disk and the lock.

        ``process`` is its process, if we started it.
        """
        held = self.held
        found = self._stored()  # read after the lock, which is released after the last write
        if held:
            return found._replace(state="stopping" if self.asked_to_stop else "running")
        if found.state in ENDED or found.state == "none":
            return found
        ours = process is not None and process.poll() is None
        if found.state == "starting" and (
            ours or (process is None and self._silence() < _PATIENCE)
        ):
            return found
        return found._replace(state="failed", message=KILLED)

    @property
    def asked_to_stop(self) -> bool:
        """Whether the task was asked to stop."""
        return (self.path / "stop").exists()

    def stop(self) -> None:
        """Ask the process to save its state and stop."""
        if self.path.is_dir():
            (self.path / "stop").touch()

    def log(self) -> str:
        """Return the end of the log."""
        try:
            with (self.path / "log.txt").open("rb") as file:
                file.seek(0, os.SEEK_END)
                file.seek(max(file.tell() - _LONGEST_LOG, 0))
                return file.read().decode(errors="replace")
        except OSError:
            return ""


class Starter:
    """Starts processes and keeps track of them, so that none is left as a zombie."""

    def __init__(self) -> None:
        self._processes: dict[Path, subprocess.Popen[bytes]] = {}

    def start(self, task: ProjectTask) -> None:
        """Start the process of a prepared task."""
        environment = os.environ | {"PYTHONUNBUFFERED": "1"}
        # in a new session, so that the process survives Ctrl-C in the server's terminal
        try:
            with (task.path / "log.txt").open("ab") as log:
                self._processes[task.path] = subprocess.Popen(  # noqa: S603 (our own module)
                    [sys.executable, "-m", WORKER, str(task.path)],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    cwd=task.path,
                    env=environment,
                    start_new_session=True,
                )
        except OSError as error:
            task.write(
                "failed", f"The background process could not be started: {error.strerror or error}."
            )
            raise RunError(
                f"The background process could not be started: {error.strerror or error}."
            ) from error

    def look(self, task: ProjectTask) -> TaskState:
        """Return the state of a task."""
        process = self._processes.get(task.path)
        found = task.look(process)
        if process is not None and process.poll() is not None:
            del self._processes[task.path]
        return found


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
