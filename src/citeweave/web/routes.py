"""The form of a route: server and description are made from one table of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from starlette.convertors import Convertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import Response

if TYPE_CHECKING:
    from citeweave.web.site import Site


class _IdConvertor(Convertor[int]):
    """Numbers in addresses; longer ones than any corpus needs lead nowhere."""

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
    """A parameter after the question mark: its name, what it means, and its JSON schema."""

    name: str
    description: str
    schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "string"})


@dataclass(frozen=True)
class Endpoint:
    """One route.

    Attributes
    ----------
    path : str
        As Starlette writes it: ``/api/topics/{topic:id}``.
    handler : callable
        Takes the site and the request (and, for POST, the body as bytes); gives the answer.
    summary : str
        What it gives, in a line.
    method : {"GET", "POST"}
    tag : str
        Heading in the description.
    query : tuple of QueryField
    body : mapping, optional
        JSON schema of the body of a POST.
    answer : mapping, optional
        JSON schema of the answer; a file of another type names that in `media`.
    media : str
        Media type of the answer.
    page : bool
        Whether it is for people: pages are not part of the described interface.
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
    """What answers need of the site that they belong to."""

    @property
    def error_template(self) -> str:
        """Template of the page that tells what is wrong."""

    def refresh(self) -> None:
        """Look whether something has changed; called before each answer."""

    def page(
        self, request: Request, template: str, values: Mapping[str, Any], *, status: int = 200
    ) -> Response:
        """Fill a template."""


def own_path(request: Request) -> str:
    """Give the path of a request below the place where the application is mounted."""
    path: str = request.scope["path"]  # decoded, as the place is
    return path.removeprefix(request.scope.get("root_path", ""))


def read_integer(request: Request, name: str, default: int, *, low: int, high: int) -> int:
    """Read a whole number from the query; what is no number, or outside, is the nearest that fits.

    A page is better shown from its start than refused for a hand-written address.
    """
    text = request.query_params.get(name, "").strip()
    try:
        value = int(text) if text else default
    except ValueError:
        value = default
    return min(max(value, low), high)


def read_text(request: Request, name: str, *, longest: int = 200) -> str:
    """Read a text from the query, without spaces at its ends and not longer than `longest`."""
    return request.query_params.get(name, "").strip()[:longest]


def read_choice(request: Request, name: str, choices: tuple[str, ...]) -> str:
    """Read one of some words from the query; the first of them stands for any other."""
    text = request.query_params.get(name, "")
    return text if text in choices else choices[0]
