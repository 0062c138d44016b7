"""A client that calls an application in this process."""

import asyncio
from typing import Any

import httpx

from citeweave.explore import Exploration
from citeweave.web.app import create_app
from citeweave.web.site import Site


class Client:
    """Call an ASGI application; each call is one request of its own."""

    def __init__(self, app: Any, *, base: str = "http://127.0.0.1:8765") -> None:
        self.app = app
        self.base = base

    def request(self, method: str, path: str, **options: Any) -> Any:
        async def call() -> Any:
            transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url=self.base) as client:
                return await client.request(method, path, **options)

        return asyncio.run(call())

    def get(self, path: str, **options: Any) -> Any:
        return self.request("GET", path, **options)

    def post(self, path: str, **options: Any) -> Any:
        return self.request("POST", path, **options)


def make_site(run: Any, *, title: str = "A literature") -> Site:
    return Site(Exploration(run), title=title, token="secret-token")  # noqa: S106


def open_client(run: Any, **options: Any) -> Client:
    """Make a client of any run or fitted model."""
    return Client(create_app(make_site(run), **options))
