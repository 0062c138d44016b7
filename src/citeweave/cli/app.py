"""The command `app`: the whole workflow in the browser, from export files to the explorer."""

# ruff: noqa: PLC0415  heavy imports inside the command, so that the others start at once
from pathlib import Path
from typing import Annotated

import typer

from citeweave.cli.errors import guarded
from citeweave.cli.options import OpenPage, RequestLog

__all__ = ["register"]

HOST = "127.0.0.1"
PORT = 8766


def register(app: typer.Typer) -> None:
    """Add the command of this file."""
    app.command("app")(run_app)


@guarded
def run_app(
    *,
    folder: Annotated[
        Path | None,
        typer.Argument(
            help="Folder for projects (default: citeweave in your documents).",
            metavar="FOLDER",
            show_default=False,
        ),
    ] = None,
    port: Annotated[int, typer.Option(help="Port to listen on; 0 picks a free one.")] = PORT,
    open_page: OpenPage = None,
    log: RequestLog = None,
) -> None:
    """Work in the browser: choose files, import, fit with live progress, explore.

    Only this computer can reach it. Ctrl-C stops the app; a running fit continues in the background
    and is shown again the next time.
    """
    from citeweave.web import server
    from citeweave.web.projects.app import create_projects_app
    from citeweave.web.projects.desk import Desk
    from citeweave.web.projects.shelf import Shelf, default_folder

    desk = Desk(Shelf(default_folder() if folder is None else folder))
    taken = server.listen(HOST, port)
    address = server.address_of(taken, HOST)

    def tell() -> None:
        typer.echo(f"Projects of {desk.shelf.path} at {address}   (press Ctrl-C to stop)")
        if server.wants_browser() if open_page is None else open_page:
            server.open_browser(address)

    server.run_server(create_projects_app(desk), taken, when_ready=tell, log_file=log)
    for run in desk.under_way():
        typer.echo(
            f"The fit of '{run.project.title}' continues in the background; start `citeweave app` "
            "again to see it."
        )
