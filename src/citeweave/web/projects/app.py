"""The application: pages of projects, and the explorers of their runs below them."""

import os
from collections.abc import Collection

from starlette.routing import Mount
from starlette.types import ASGIApp

from citeweave.web import LOCAL_NAMES
from citeweave.web.app import MAX_BODY, assemble
from citeweave.web.projects import pages, receiving, runs
from citeweave.web.projects.desk import Desk
from citeweave.web.projects.explorers import Explorers
from citeweave.web.projects.shelf import Shelf
from citeweave.web.projects.uploads import PIECE

__all__ = ["create_projects_app", "open_projects"]


def create_projects_app(desk: Desk, *, hosts: Collection[str] = LOCAL_NAMES) -> ASGIApp:
    """Make the ASGI application of a folder of projects."""
    table = (*pages.ENTRIES, *receiving.ENTRIES, *runs.ENTRIES)
    explorers = Mount("/projects/{name}/{run:run}/explore", Explorers(desk, hosts))
    return assemble(desk, table, hosts=hosts, max_body=PIECE + MAX_BODY, further=[explorers])


def open_projects(folder: str | os.PathLike[str]) -> ASGIApp:
    """Make the web application of a folder of projects; any ASGI server can serve it.

    Parameters
    ----------
    folder : path
        Where projects are kept; made if it is not there.

    Raises
    ------
    RunError
        The folder cannot be made or written.

    Examples
    --------
    >>> import tempfile
    >>> app = open_projects(tempfile.mkdtemp())
    """
    return create_projects_app(Desk(Shelf(folder)))
