"""The web application: the project pages, with the explorers of their runs mounted below them."""

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
    """Create the ASGI application for a folder of projects."""
    table = (*pages.ENTRIES, *receiving.ENTRIES, *runs.ENTRIES)
    explorers = Mount("/projects/{name}/{run:run}/explore", Explorers(desk, hosts))
    return assemble(desk, table, hosts=hosts, max_body=PIECE + MAX_BODY, further=[explorers])


def open_projects(folder: str | os.PathLike[str]) -> ASGIApp:
    """Create the web application for a folder of projects, to be served by any ASGI server.

    Parameters
    ----------
    folder : path
        Folder for projects; created if it does not exist.

    Raises
    ------
    RunError
        The folder cannot be created or written to.

    Examples
    --------
    >>> import tempfile
    >>> app = open_projects(tempfile.mkdtemp())
    """
    return create_projects_app(Desk(Shelf(folder)))
