"""The web application: routes, static files and error responses."""

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
"""Largest request body; a long abstract with a few hundred references takes a tenth of it."""

_HEADINGS = {
    404: "Page not found",
    405: "Not allowed here",
    403: "Refused",
    413: "Request too large",
}


def entries() -> tuple[Endpoint, ...]:
    """Return the table of all routes."""
    return (*pages.ENTRIES, *api.ENTRIES, *downloads.ENTRIES, _DESCRIPTION)


def create_app(
    site: Site, *, hosts: Collection[str] = LOCAL_NAMES, max_body: int = MAX_BODY
) -> ASGIApp:
    """Create the ASGI application for one run.

    Parameters
    ----------
    site : Site
        The run, with the state kept between requests.
    hosts : collection of str
        Accepted host names, see `citeweave.web.security.allowed_hosts`.
    max_body : int
        Largest request body, in bytes.
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
    """Create an application from a table of routes, with error handling and security middleware.

    Parameters
    ----------
    site : Pages
        Passed to all handlers; renders their pages.
    table : iterable of Endpoint
    hosts, max_body
        As for `create_app`.
    further : sequence of BaseRoute
        Further routes that are not in the table.
    lifespan : callable, optional
        A Starlette lifespan handler.
    """

    async def show_error(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        text = str(error.detail) if isinstance(error, HTTPException) else _UNEXPECTED
        if status == 404 and text == "Not Found":
            text = f"There is no page at {request.url.path}."
        # small, but the first rendering reads a template from disk
        return await run_in_threadpool(error_response, site, request, status, text)

    routes: list[BaseRoute] = [
        Route(entry.path, _endpoint(site, entry), methods=[entry.method], name=entry.name)
        for entry in table
    ]
    # generated from the palette; must precede the static files
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
    "An internal error occurred in citeweave. The details are in the terminal it runs in; please "
    "include them in a bug report."
)


def error_response(site: Pages, request: Request, status: int, text: str) -> Response:
    """Return an error response: JSON for programs, a page for people."""
    if own_path(request).startswith("/api/"):
        return JSONResponse({"error": text}, status_code=status)
    heading = _HEADINGS.get(status, "Something went wrong" if status >= 500 else "Request failed")
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
    """Return the HTTP status of an error."""
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
    "This OpenAPI description.",
    answer={"type": "object", "description": "An OpenAPI 3.1 document."},
)
