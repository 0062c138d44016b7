"""The command `serve`: explore a fitted run in a browser on this computer."""

# ruff: noqa: PLC0415  heavy imports inside the command, so that the others start at once
from typing import Annotated

import typer

from citeweave.cli.errors import guarded
from citeweave.cli.options import OpenPage, RequestLog, Run

__all__ = ["register"]

PORT = 8765


def register(app: typer.Typer) -> None:
    """Add the command of this file."""
    app.command("serve")(serve)


@guarded
def serve(
    *,
    run: Run,
    host: Annotated[
        str, typer.Option(help="Address to listen on; 127.0.0.1 means this computer only.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on; 0 picks a free one.")] = PORT,
    title: Annotated[
        str | None,
        typer.Option(
            help="Title of the pages (default: named after the folder).", show_default=False
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="Additional host name to accept; may be repeated."),
    ] = None,
    open_page: OpenPage = None,
    log: RequestLog = None,
) -> None:
    """Explore a run in the browser: topics, authors, papers, networks, maps.

    Only this computer can reach it, unless another --host is given. Press Ctrl-C to stop.
    """
    from citeweave.web import LOCAL_NAMES, open_run, server

    taken = server.listen(host, port)
    try:
        app = open_run(run, title=title, host=host, allow_hosts=allow_host or ())
    except BaseException:
        taken.close()
        raise
    address = server.address_of(taken, host)

    def tell() -> None:
        typer.echo(f"Explore {run} at {address}   (press Ctrl-C to stop)")
        if host not in LOCAL_NAMES:
            typer.echo(
                f"The server listens on {host}: others on the network can read everything and "
                "rename topics.",
                err=True,
            )
        if server.wants_browser() if open_page is None else open_page:
            server.open_browser(address)

    server.run_server(app, taken, when_ready=tell, log_file=log)
