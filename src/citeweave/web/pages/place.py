"""The page that places a new paper."""

from starlette.requests import Request
from starlette.responses import Response

from citeweave.errors import CiteweaveError
from citeweave.web.placing import LONGEST_ABSTRACT, LONGEST_TITLE
from citeweave.web.routes import Endpoint
from citeweave.web.site import Site

__all__ = ["ENTRIES"]

_EMPTY = {"title": "", "abstract": "", "references": ""}


def form(site: Site, request: Request) -> Response:
    """Show the empty form."""
    return _show(site, request, _EMPTY, placement=None, problem="")


def place(site: Site, request: Request, body: bytes) -> Response:
    """Place the submitted paper and show the result below the form."""
    sent = site.read_form(request, body)
    given = {name: sent.get(name, "") for name in _EMPTY}
    try:
        placement = site.placer.place(
            given["title"], given["abstract"], given["references"].splitlines()
        )
    except CiteweaveError as error:
        return _show(site, request, given, placement=None, problem=str(error))
    return _show(site, request, given, placement=placement, problem="")


def _show(
    site: Site, request: Request, given: dict[str, str], *, placement: object, problem: str
) -> Response:
    values = {
        "given": given,
        "placement": placement,
        "problem": problem,
        "longest_title": LONGEST_TITLE,
        "longest_abstract": LONGEST_ABSTRACT,
    }
    return site.page(request, "place.html", values, status=400 if problem else 200)


ENTRIES = (
    Endpoint("/place", form, "Place a paper.", page=True),
    Endpoint("/place", place, "Place a paper.", method="POST", page=True),
)
