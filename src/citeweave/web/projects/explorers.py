"""The explorers of the projects' runs, opened on first use."""

import threading
from collections import OrderedDict
from collections.abc import Collection
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from citeweave.errors import CiteweaveError
from citeweave.explore import Exploration
from citeweave.web.app import create_app, error_response, status_of
from citeweave.web.projects.desk import Desk, explorer_path, project_path
from citeweave.web.projects.shelf import ProjectRun
from citeweave.web.site import Site, WayBack

__all__ = ["Explorers"]

MOST = 2
"""Maximum number of open runs; each holds its tables in memory."""


class Explorers:
    """An ASGI application that is mounted below the path of a run and serves its explorer.

    Parameters
    ----------
    desk : Desk
    hosts : collection of str
        Accepted host names.
    """

    def __init__(self, desk: Desk, hosts: Collection[str]) -> None:
        self.desk = desk
        self.hosts = hosts
        self._open: OrderedDict[tuple[Path, int], ASGIApp] = OrderedDict()
        self._lock = threading.Lock()
        desk.before_removal = self.forget

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        request = Request(scope)
        answer: ASGIApp
        try:
            answer = await run_in_threadpool(self._find, request)
        except CiteweaveError as error:
            answer = await run_in_threadpool(
                error_response, self.desk, request, status_of(error), str(error)
            )
        await answer(scope, receive, send)

    def forget(self, folder: Path) -> None:
        """Close the runs in a folder that is about to be deleted."""
        with self._lock:
            for key in [key for key in self._open if key[0].is_relative_to(folder)]:
                del self._open[key]

    def _find(self, request: Request) -> ASGIApp:
        run = self.desk.run_of(request)
        with self._lock:  # opening a run takes a second or two; do it only once
            key = (run.path, _version(run))
            if key in self._open:
                self._open.move_to_end(key)
            else:
                self._open[key] = self._open_run(run)
                while len(self._open) > MOST:
                    self._open.popitem(last=False)
            return self._open[key]

    def _open_run(self, run: ProjectRun) -> ASGIApp:
        site = Site(
            Exploration(run.path),
            title=run.project.title,
            base=explorer_path(run),
            home=WayBack("Projects", project_path(run.project)),
        )
        site.warm_up()
        return create_app(site, hosts=self.hosts)


def _version(run: ProjectRun) -> int:
    """Return a value that changes when the run changes: a stopped run may have been continued."""
    chains = run.path.glob("chains*/*/*.npz")
    places = [run.path / "manifest.json", *(() if run.usable else chains)]
    try:
        return max(int(path.stat().st_mtime_ns) for path in places)
    except OSError:
        return 0
