"""State shared by all pages of the app: projects, processes, templates and the form token."""

import secrets
import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse

import citeweave
from citeweave.errors import CiteweaveError, ParameterError
from citeweave.web.projects.shelf import Project, ProjectRun, Shelf
from citeweave.web.projects.tasks import ProjectTask, Starter, TaskState
from citeweave.web.security import check_intent, read_form
from citeweave.web.templating import make_environment

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Desk", "explorer_path", "project_path"]


def project_path(project: Project) -> str:
    """Return the path of a project's page.

    Examples
    --------
    >>> from pathlib import Path
    >>> project_path(Project(Path("my papers")))
    '/projects/my%20papers'
    """
    return f"/projects/{quote(project.name)}"


def explorer_path(run: ProjectRun) -> str:
    """Return the path below which the explorer of a run is mounted."""
    return f"{project_path(run.project)}/{run.name}/explore"


class Desk:
    """The state passed to all handlers.

    Parameters
    ----------
    shelf : Shelf
        The folder of projects.
    token : str, optional
        Secret token included in the forms of our own pages (default: random).
    """

    error_template = "app/error.html"
    home = None

    def __init__(self, shelf: Shelf, *, token: str | None = None) -> None:
        self.shelf = shelf
        self.starter = Starter()
        self.title = "Projects"
        self.version = citeweave.__version__
        self.token = secrets.token_urlsafe(24) if token is None else token
        self.starting = threading.Lock()
        """Held while checking whether a task may start, and while starting it."""
        self.before_removal: Callable[[Path], object] = lambda _: None
        """Called with a folder that is about to be deleted, so that open files in it are closed."""
        self._environment = make_environment(None)
        self._environment.filters["when"] = _when
        self._environment.globals |= {
            "site": self,
            "project_path": project_path,
            "explorer_path": explorer_path,
        }

    def refresh(self) -> None:
        """Do nothing: all state is on disk and read for each request."""

    def page(
        self, request: Request, template: str, values: Mapping[str, Any], *, status: int = 200
    ) -> HTMLResponse:
        """Render a template."""
        text = self.part(template, {**values, "path": request.url.path})
        return HTMLResponse(text, status_code=status)

    def part(self, template: str, values: Mapping[str, Any]) -> str:
        """Render a template for a part of a page."""
        return self._environment.get_template(template).render(**values)

    def read_form(self, request: Request, body: bytes) -> dict[str, str]:
        """Read a form sent by one of our own pages; reject it if the token is wrong."""
        return read_form(request, body, self.token)

    def check_intent(self, request: Request) -> None:
        """Reject a call that changes something unless it carries the intent header."""
        check_intent(request)

    def project_of(self, request: Request) -> Project:
        """Find the project named in the URL."""
        return self.shelf.project(request.path_params["name"])

    def own_project_of(self, request: Request) -> Project:
        """Find the project named in the URL, which must not be a run from the command line."""
        found = self.project_of(request)
        if found.alone:
            raise ParameterError(
                "This run was created on the command line; nothing can be added to it here."
            )
        return found

    def run_of(self, request: Request) -> ProjectRun:
        """Find the run named in the URL."""
        return self.project_of(request).run(request.path_params["run"])

    def task_of(self, request: Request) -> ProjectTask:
        """Find the task named in the URL."""
        project = self.project_of(request)
        name = request.path_params["task"]
        return project.import_task if name == "import" else project.run(name).task

    def look(self, task: ProjectTask) -> TaskState:
        """Return the state of a task."""
        return self.starter.look(task)

    def under_way(self) -> list[ProjectRun]:
        """Return the fits that are running, whichever process started them."""
        return [
            run
            for project in self.shelf.projects()
            if not project.alone
            for run in project.runs
            if self.look(run.task).active
        ]

    def busy(self, project: Project) -> bool:
        """Whether a task of the project is running."""
        tasks = [project.import_task, *(run.task for run in project.runs)]
        return not project.alone and any(self.look(task).active for task in tasks)

    def begin(
        self, project: Project, task: ProjectTask, kind: str, settings: Mapping[str, Any]
    ) -> None:
        """Start a task, unless a conflicting one is running.

        Raises
        ------
        ParameterError
            The same task, or another fit, is already running.
        """
        with self.starting:
            if self.look(task).active:
                raise ParameterError("This is already running.")
            if kind == "fit":
                others = self.under_way()
                if others:
                    raise ParameterError(
                        f"A model for “{others[0].project.title}” is being fitted, and only one "
                        "fit runs at a time. Wait until it is done, or stop it first."
                    )
                if self.look(project.import_task).active:
                    raise ParameterError(
                        "The files are still being imported. Wait until that is done."
                    )
            elif self.busy(project):
                raise ParameterError(
                    "This project is being worked on. Wait until that is done, or stop it."
                )
            try:
                task.prepare(kind, settings)
            except OSError as error:
                raise CiteweaveError(
                    f"Cannot write to the project folder: {error.strerror or error}. Free some "
                    "disk space and try again."
                ) from error
            self.starter.start(task)


def _when(seconds: float) -> str:
    """Format a file modification time as a date."""
    if not seconds:
        return ""
    moment = datetime.fromtimestamp(seconds, UTC).astimezone()
    return f"{moment.day} {moment:%B %Y, %H:%M}"
