"""All authors, and one author."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from citeweave.explore.authors import topic_weights
from citeweave.web.listing import Cut
from citeweave.web.routes import Endpoint, read_integer, read_text
from citeweave.web.site import Site
from citeweave.wording import percent

__all__ = ["ENTRIES"]

_PUBLICATIONS = 25
_NAMED = 2


def authors(site: Site, request: Request) -> Response:
    """Show a page of the authors that fit the filters."""
    site.view.require("authors")
    current = {name: read_text(request, name) for name in ("q", "topic", "sort")}
    chosen = site.authors.select(current)
    page = Cut.make(read_integer(request, "page", 1, low=1, high=10**6), len(chosen))
    values = {
        "current": current,
        "filtered": bool(current["q"] or current["topic"]),
        "topics": site.topics(),
        "sorts": site.authors.sorts,
        "authors": [_row(site, author) for author in page.of(chosen)],
        "page": page,
    }
    return site.page(request, "authors.html", values)


def _row(site: Site, author: int) -> dict[str, Any]:
    view = site.view
    weights = topic_weights(view, author)
    named = [f"{one.name} {percent(one.weight, 0)}" for one in weights[:_NAMED]]
    return {
        "author": author,
        "name": view.corpus.author_names[author],
        "papers": int(view.papers_of_author.counts[author]),
        "first_papers": int(view.first_papers[author]),
        "h_index": int(view.literature.figures("authors")["h_index"][author]),
        "influence": None
        if view.author_influence is None
        else float(view.author_influence[author]),
        "stripe": [(view.colours.slot(one.topic), one.weight) for one in weights],
        "topic_text": " · ".join(named),
    }


def author(site: Site, request: Request) -> Response:
    """Show one author."""
    page = site.view.author(request.path_params["author"])
    shown = len(page.publications) if request.query_params.get("all") else _PUBLICATIONS
    return site.page(request, "author.html", {"author": page, "shown": shown})


ENTRIES = (
    Endpoint("/authors", authors, "Authors.", page=True),
    Endpoint("/authors/{author:id}", author, "One author.", page=True),
)
