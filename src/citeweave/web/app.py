"""The application: routes of the table, static files, and the answers to what is wrong."""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Lifespan

from citeweave.errors import (
    CiteweaveError,
    MissingDependencyError,
    NotFoundError,
    ParameterError,
)
from citeweave.web import LOCAL_NAMES, api, downloads, pages
from citeweave.web.openapi import describe
from citeweave.web.routes import Endpoint, Pages, own_path
from citeweave.web.security import Guard
from citeweave.web.site import Site
from citeweave.web.templating import topic_rules

__all__ = ["MAX_BODY", "assemble", "create_app", "entries", "error_response", "status_of"]

MAX_BODY = 256 * 1024
"""Largest body of a request: a long abstract with some hundred references is a tenth of it."""

_HEADINGS = {
    404: "There is no such page",
    405: "That cannot be done here",
    403: "Refused",
    413: "That is too much",
}


def entries() -> tuple[Endpoint, ...]:
    """Give the table of all routes."""
    return (*pages.ENTRIES, *api.ENTRIES, *downloads.ENTRIES, _DESCRIPTION)


def create_app(
    site: Site, *, hosts: Collection[str] = LOCAL_NAMES, max_body: int = MAX_BODY
) -> ASGIApp:
    """Make the ASGI application of one run.

    Parameters
    ----------
    site : Site
        The run and what is kept about it.
    hosts : collection of str
        Names that requests may call the server by, see `citeweave.web.security.allowed_hosts`.
    max_body : int
        Largest body of a request in bytes.
    """

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        site.warm_up()
        yield

    return assemble(site, entries(), hosts=hosts, max_body=max_body, lifespan=lifespan)


def assemble(
    site: Pages,
    table: Iterable[Endpoint],
    *,
    hosts: Collection[str],
    max_body: int,
    further: Sequence[BaseRoute] = (),
    lifespan: Lifespan[Starlette] | None = None,
) -> ASGIApp:
    """Put together an application of a table of routes, with what every one needs.

    Parameters
    ----------
    site : Pages
        Given to all handlers; makes their pages.
    table : iterable of Endpoint
    hosts, max_body
        As for `create_app`.
    further : sequence of BaseRoute
        Routes that are not in the table.
    lifespan : callable, optional
        As Starlette takes it.
    """

    async def show_error(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        text = str(error.detail) if isinstance(error, HTTPException) else _UNEXPECTED
        if status == 404 and text == "Not Found":
            text = f"Nothing is at {request.url.path}."
        # the page is small, but its first use reads a template
        return await run_in_threadpool(error_response, site, request, status, text)

    routes: list[BaseRoute] = [
        Route(entry.path, _endpoint(site, entry), methods=[entry.method], name=entry.name)
        for entry in table
    ]
    # written from the palette, before the folder of files is asked
    routes.append(Route("/static/topics.css", _topic_colours, name="topic-colours"))
    static = StaticFiles(directory=Path(__file__).parent / "static")
    routes.append(Mount("/static", static, name="static"))
    app = Starlette(
        routes=[*routes, *further],
        exception_handlers={HTTPException: show_error, 500: show_error},
        lifespan=lifespan,
    )
    return Guard(app, hosts=hosts, max_body=max_body)


def _topic_colours(_: Request) -> Response:
    return Response(topic_rules(), media_type="text/css")


_UNEXPECTED = (
    "Something went wrong inside citeweave; the terminal it runs in shows what. "
    "Please report it with these lines."
)


def error_response(site: Pages, request: Request, status: int, text: str) -> Response:
    """Say what is wrong: as JSON to programs, as a page to people."""
    if own_path(request).startswith("/api/"):
        return JSONResponse({"error": text}, status_code=status)
    heading = _HEADINGS.get(
        status, "Something went wrong" if status >= 500 else "That did not work"
    )
    return site.page(
        request,
        site.error_template,
        {"status": status, "heading": heading, "text": text},
        status=status,
    )


def _endpoint(site: Pages, entry: Endpoint) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        arguments: tuple[object, ...] = (site, request)
        if entry.method == "POST":
            arguments += (await request.body(),)

        def handle() -> Response:
            site.refresh()
            return entry.handler(*arguments)

        try:
            return await run_in_threadpool(handle)
        except CiteweaveError as error:
            return await run_in_threadpool(
                error_response, site, request, status_of(error), str(error)
            )

    return endpoint


def status_of(error: CiteweaveError) -> int:
    """Give the status of an answer that tells what is wrong."""
    for kind, status in (
        (NotFoundError, 404),
        (ParameterError, 400),
        (MissingDependencyError, 501),
    ):
        if isinstance(error, kind):
            return status
    return 500


def _description(site: Site, _: Request) -> Response:
    return JSONResponse(describe(entries(), site.base))


_DESCRIPTION = Endpoint(
    "/api/openapi.json",
    _description,
    "This description.",
    answer={"type": "object", "description": "An OpenAPI 3.1 document."},
)
