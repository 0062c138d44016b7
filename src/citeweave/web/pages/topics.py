"""The list of topics, the page of one topic, and renaming."""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from citeweave.errors import NotFoundError, ParameterError, RunError
from citeweave.web.routes import Endpoint
from citeweave.web.site import Site
from citeweave.web.tables import flow_table

__all__ = ["ENTRIES"]


def topics(site: Site, request: Request) -> Response:
    """Show all topics as a table, with the citation flow between them."""
    flow = flow_table(site.view, site.view.order)
    return site.page(request, "topics.html", {"topics": site.topics(), "flow": flow})


def topic(site: Site, request: Request) -> Response:
    """Show one topic."""
    return _show(site, request, request.path_params["topic"])


def _show(site: Site, request: Request, number: int, *, error: str = "") -> Response:
    page = site.topic(number)
    trend = {y: v for y, v in zip(page.years, page.trend, strict=True) if v is not None}
    values = {"topic": page, "trend": trend if len(trend) > 1 else {}, "rename_error": error}
    return site.page(request, "topic.html", values, status=400 if error else 200)


def rename(site: Site, request: Request, body: bytes) -> Response:
    """Rename a topic and show its page again."""
    number = request.path_params["topic"]
    form = site.read_form(request, body)
    try:
        site.rename(number, form.get("name", ""))
    except NotFoundError:
        raise
    except (ParameterError, RunError) as error:
        return _show(site, request, number, error=str(error))
    return RedirectResponse(f"{site.base}/topics/{number}", status_code=303)


ENTRIES = (
    Endpoint("/topics", topics, "All topics.", page=True),
    Endpoint("/topics/{topic:id}", topic, "One topic.", page=True),
    Endpoint("/topics/{topic:id}/name", rename, "Rename a topic.", method="POST", page=True),
)
