"""Long work of a project as a process of its own, whose state is on disk.

A task is a folder: what is to be done (``task.json``, written by whoever starts it), how far it is
(``state.json``, written by the process that works), what was said (``log.txt``), a wish to stop
(``stop``), and a lock that the process holds while it lives. So a page, a second server and a
server that was started anew all see the same, and a process that was killed is known to be gone.
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
"""Module that is run in the process of a task: it builds on the command line's displays."""

_PATIENCE = 60.0
"""Seconds in which a process that another server has started must have taken its lock."""
_SILENCE = 30.0
"""Seconds of silence after which a process counts as gone where there are no locks."""
_LONGEST_LOG = 200_000

KILLED = (
    "The work ended without a word: the computer was switched off, or the process was ended from "
    "outside, often for want of memory. Nothing that was saved is lost."
)


class TaskState(NamedTuple):
    """Where a task stands."""

    state: State = "none"
    message: str = ""
    """Why it failed, in plain words."""
    progress: Mapping[str, Any] = {}
    started: str = ""
    ended: str = ""

    @property
    def active(self) -> bool:
        """Whether a process is at work on it."""
        return self.state in {"starting", "running", "stopping"}


class ProjectTask:
    """One piece of work.

    Parameters
    ----------
    path : Path
        Its folder, which need not be there yet.

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
        """Write down what is to be done; what is left of an earlier time is forgotten."""
        self.path.mkdir(parents=True, exist_ok=True)
        (self.path / "stop").unlink(missing_ok=True)
        request = {"format": "citeweave-task", "version": 1, "kind": kind, "settings": settings}
        write_text(self.path / "task.json", json.dumps(request, indent=2) + "\n")
        self.write("starting", progress=self._stored().progress if kind == "fit" else {})

    def _request(self) -> dict[str, Any]:
        return _read(self.path / "task.json")

    @property
    def kind(self) -> str:
        """What is done; empty where nothing was asked for."""
        return str(self._request().get("kind", ""))

    @property
    def settings(self) -> dict[str, Any]:
        """What was asked for."""
        found = self._request().get("settings", {})
        return found if isinstance(found, dict) else {}

    def change(self, **settings: Any) -> None:
        """Write down what was found out on the way."""
        request = self._request()
        request["settings"] = self.settings | settings
        write_text(self.path / "task.json", json.dumps(request, indent=2) + "\n")

    def write(
        self, state: State, message: str = "", progress: Mapping[str, Any] | None = None
    ) -> None:
        """Write down where the work stands."""
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
        # many times a minute, and made anew by the next: it need not survive a power cut
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
        """Hold the task while it is worked on."""
        with locked(self.path / ".lock", wait=True):
            yield

    @property
    def held(self) -> bool:
        """Whether a process works on it, whoever started it."""
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
        """Seconds since the process last wrote."""
        at = _read(self.path / "state.json").get("at")
        return time.time() - at if isinstance(at, float) else float("inf")

    def look(self, process: "subprocess.Popen[bytes] | None" = None) -> TaskState:
        """Tell where the work stands, by what is on disk and by who holds the lock.

        ``process`` is the one that was started for it, where we started it.
        """
        held = self.held
        found = self._stored()  # after the lock, which is given back after the last word
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
        """Whether somebody wishes it to stop."""
        return (self.path / "stop").exists()

    def stop(self) -> None:
        """Ask the process to stop; it saves what there is and ends."""
        if self.path.is_dir():
            (self.path / "stop").touch()

    def log(self) -> str:
        """Give what the process has said, the latest of it."""
        try:
            with (self.path / "log.txt").open("rb") as file:
                file.seek(0, os.SEEK_END)
                file.seek(max(file.tell() - _LONGEST_LOG, 0))
                return file.read().decode(errors="replace")
        except OSError:
            return ""


class Starter:
    """Starts processes and knows those it has started, so that none is left as a zombie."""

    def __init__(self) -> None:
        self._processes: dict[Path, subprocess.Popen[bytes]] = {}

    def start(self, task: ProjectTask) -> None:
        """Start the process of a task that was prepared."""
        environment = os.environ | {"PYTHONUNBUFFERED": "1"}
        # a process of its own session: it goes on when the server is ended by Ctrl-C
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
            task.write("failed", f"The work could not be started: {error.strerror or error}.")
            raise RunError(f"The work could not be started: {error.strerror or error}.") from error

    def look(self, task: ProjectTask) -> TaskState:
        """Tell where a task stands."""
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
