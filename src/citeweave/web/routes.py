"""The definition of a route. Both the server and the OpenAPI description use the same table."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from starlette.convertors import Convertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import Response

if TYPE_CHECKING:
    from citeweave.web.site import Site


class _IdConvertor(Convertor[int]):
    """Numbers in URLs; those longer than any corpus needs do not match."""

    regex = "[0-9]{1,12}"

    def convert(self, value: str) -> int:
        return int(value)

    def to_string(self, value: int) -> str:
        return str(value)


register_url_convertor("id", _IdConvertor())

__all__ = [
    "Endpoint",
    "Handler",
    "Pages",
    "QueryField",
    "own_path",
    "read_choice",
    "read_integer",
    "read_text",
]

Handler = Callable[["Site", Request], Response]
BodyHandler = Callable[["Site", Request, bytes], Response]


@dataclass(frozen=True)
class QueryField:
    """A query parameter: its name, description and JSON schema."""

    name: str
    description: str
    schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "string"})


@dataclass(frozen=True)
class Endpoint:
    """One route.

    Attributes
    ----------
    path : str
        Path in Starlette's syntax: ``/api/topics/{topic:id}``.
    handler : callable
        Called with the site and the request (and, for POST, the body as bytes); returns the
        response.
    summary : str
        One-line description.
    method : {"GET", "POST"}
    tag : str
        Section of the OpenAPI description.
    query : tuple of QueryField
    body : mapping, optional
        JSON schema of the request body of a POST.
    answer : mapping, optional
        JSON schema of the response; for files of another type, see `media`.
    media : str
        Media type of the response.
    page : bool
        Whether it is an HTML page; pages are not part of the OpenAPI description.
    """

    path: str
    handler: Callable[..., Response]
    summary: str
    method: str = "GET"
    tag: str = "run"
    query: tuple[QueryField, ...] = ()
    body: Mapping[str, Any] | None = None
    answer: Mapping[str, Any] | None = None
    media: str = "application/json"
    page: bool = False

    @property
    def name(self) -> str:
        """Name of the route, unique in the table."""
        return f"{self.method} {self.path}"


class Pages(Protocol):
    """What handlers require of the site they belong to."""

    @property
    def error_template(self) -> str:
        """Template of the error page."""

    def refresh(self) -> None:
        """Check whether something has changed; called before each response."""

    def page(
        self, request: Request, template: str, values: Mapping[str, Any], *, status: int = 200
    ) -> Response:
        """Render a template."""


def own_path(request: Request) -> str:
    """Return the path of a request relative to the mount point of the application."""
    path: str = request.scope["path"]  # decoded, like the mount point
    return path.removeprefix(request.scope.get("root_path", ""))


def read_integer(request: Request, name: str, default: int, *, low: int, high: int) -> int:
    """Read an integer from the query string, clipped to the range; the default if invalid.

    Showing the nearest page is better than rejecting a hand-written URL.
    """
    text = request.query_params.get(name, "").strip()
    try:
        value = int(text) if text else default
    except ValueError:
        value = default
    return min(max(value, low), high)


def read_text(request: Request, name: str, *, longest: int = 200) -> str:
    """Read a string from the query string, stripped and truncated to `longest` characters."""
    return request.query_params.get(name, "").strip()[:longest]


def read_choice(request: Request, name: str, choices: tuple[str, ...]) -> str:
    """Read one of several choices from the query string; anything else gives the first choice."""
    text = request.query_params.get(name, "")
    return text if text in choices else choices[0]
