"""What all pages of the app share: the shelf, the processes, the templates, the secret of forms."""

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
    """Give the address of a project.

    Examples
    --------
    >>> from pathlib import Path
    >>> project_path(Project(Path("my papers")))
    '/projects/my%20papers'
    """
    return f"/projects/{quote(project.name)}"


def explorer_path(run: ProjectRun) -> str:
    """Give the address that the explorer of a run stands below."""
    return f"{project_path(run.project)}/{run.name}/explore"


class Desk:
    """What all handlers get.

    Parameters
    ----------
    shelf : Shelf
        Where projects are kept.
    token : str, optional
        Secret that forms of our own pages carry; drawn at random if not given.
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
        """Held while it is looked whether something may start, and while it is started."""
        self.before_removal: Callable[[Path], object] = lambda _: None
        """Told of a folder that is about to go, so that nothing in it stays open."""
        self._environment = make_environment(None)
        self._environment.filters["when"] = _when
        self._environment.globals |= {
            "site": self,
            "project_path": project_path,
            "explorer_path": explorer_path,
        }

    def refresh(self) -> None:
        """Do nothing: the state of everything is on disk and read for each answer."""

    def page(
        self, request: Request, template: str, values: Mapping[str, Any], *, status: int = 200
    ) -> HTMLResponse:
        """Fill a template."""
        text = self.part(template, {**values, "path": request.url.path})
        return HTMLResponse(text, status_code=status)

    def part(self, template: str, values: Mapping[str, Any]) -> str:
        """Fill a template that is a part of a page."""
        return self._environment.get_template(template).render(**values)

    def read_form(self, request: Request, body: bytes) -> dict[str, str]:
        """Read a form that one of our own pages sent; refuse it if its token is not ours."""
        return read_form(request, body, self.token)

    def check_intent(self, request: Request) -> None:
        """Refuse a call that changes something unless it says that it means it."""
        check_intent(request)

    def project_of(self, request: Request) -> Project:
        """Find the project that an address names."""
        return self.shelf.project(request.path_params["name"])

    def own_project_of(self, request: Request) -> Project:
        """Find the project that an address names, and in which something is to be made."""
        found = self.project_of(request)
        if found.alone:
            raise ParameterError(
                "This run was made on the command line; nothing can be added to it here."
            )
        return found

    def run_of(self, request: Request) -> ProjectRun:
        """Find the run that an address names."""
        return self.project_of(request).run(request.path_params["run"])

    def task_of(self, request: Request) -> ProjectTask:
        """Find the task that an address names."""
        project = self.project_of(request)
        name = request.path_params["task"]
        return project.import_task if name == "import" else project.run(name).task

    def look(self, task: ProjectTask) -> TaskState:
        """Tell where a task stands."""
        return self.starter.look(task)

    def under_way(self) -> list[ProjectRun]:
        """Give the fits that processes are at work on, whoever started them."""
        return [
            run
            for project in self.shelf.projects()
            if not project.alone
            for run in project.runs
            if self.look(run.task).active
        ]

    def busy(self, project: Project) -> bool:
        """Whether any work of a project is under way."""
        tasks = [project.import_task, *(run.task for run in project.runs)]
        return not project.alone and any(self.look(task).active for task in tasks)

    def begin(
        self, project: Project, task: ProjectTask, kind: str, settings: Mapping[str, Any]
    ) -> None:
        """Start a task, unless something else is in its way.

        Raises
        ------
        ParameterError
            The same task, or for a fit another fit, is under way.
        """
        with self.starting:
            if self.look(task).active:
                raise ParameterError("This is under way already.")
            if kind == "fit":
                others = self.under_way()
                if others:
                    raise ParameterError(
                        f"A fit of “{others[0].project.title}” is under way, and one fit at a time "
                        "has the whole computer. Wait until it is done, or stop it first."
                    )
                if self.look(project.import_task).active:
                    raise ParameterError("The files are still being imported. Wait for that.")
            elif self.busy(project):
                raise ParameterError("Work on this project is under way. Wait for it or stop it.")
            try:
                task.prepare(kind, settings)
            except OSError as error:
                raise CiteweaveError(
                    f"The project's folder cannot be written: {error.strerror or error}. Free some "
                    "space first."
                ) from error
            self.starter.start(task)


def _when(seconds: float) -> str:
    """Write a time of the file system as a date."""
    if not seconds:
        return ""
    moment = datetime.fromtimestamp(seconds, UTC).astimezone()
    return f"{moment.day} {moment:%B %Y, %H:%M}"
