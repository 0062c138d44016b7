"""The explorer: a local web server that shows a fitted run as pages and as JSON."""

import os
from collections.abc import Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp

__all__ = ["LOCAL_NAMES", "open_run"]

LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
"""Host names that always mean this computer."""


def open_run(
    run: str | os.PathLike[str],
    *,
    title: str | None = None,
    host: str = "127.0.0.1",
    allow_hosts: Collection[str] = (),
) -> "ASGIApp":
    """Create the web application for a run folder, to be served by any ASGI server.

    Parameters
    ----------
    run : path
        Folder of a fitted run.
    title : str, optional
        Name of the literature on the pages (default: named after the folder).
    host : str
        Address that the server will listen on. It determines which host names are accepted.
    allow_hosts : collection of str
        Further host names to accept.

    Raises
    ------
    RunError
        The folder is not a run, has an unsupported version, or has no samples yet.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.web import open_run
    >>> folder = citeweave.example_model().save("my-run")
    >>> callable(open_run("my-run", title="Examples"))
    True
    """
    from citeweave.explore import Exploration  # noqa: PLC0415
    from citeweave.runs.results_folder import literature_name  # noqa: PLC0415
    from citeweave.web.app import create_app  # noqa: PLC0415
    from citeweave.web.security import allowed_hosts  # noqa: PLC0415
    from citeweave.web.site import Site  # noqa: PLC0415

    view = Exploration(run)
    site = Site(view, title=title or literature_name(run))
    return create_app(site, hosts=allowed_hosts(host, allow_hosts))
