"""The list of authors and the page of one author."""

import difflib
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from citeweave.errors import NotFoundError, ParameterError, RunError
from citeweave.explore.authors import topic_weights
from citeweave.web.listing import Cut
from citeweave.web.routes import Endpoint, read_integer, read_text
from citeweave.web.site import Site
from citeweave.wording import percent

__all__ = ["ENTRIES"]

_PUBLICATIONS = 25
_NAMED = 2


def authors(site: Site, request: Request) -> Response:
    """Show a page of the authors that match the filters."""
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
    """Show one author; redirect to the author they were merged into, if any."""
    number = site.view.check_author(request.path_params["author"])
    shown = site.view.people.shown_as(number)
    if shown != number:
        return RedirectResponse(f"{site.base}/authors/{shown}", status_code=307)
    return _show(site, request, number)


def _show(
    site: Site, request: Request, number: int, *, error: str = "", typed: str = ""
) -> Response:
    page = site.view.author(number)
    shown = len(page.publications) if request.query_params.get("all") else _PUBLICATIONS
    values = {
        "author": page,
        "shown": shown,
        "namesakes": site.view.namesakes(page.author),
        "join_error": error,
        "typed": typed,
        "kept": site.view.folder is not None,
    }
    return site.page(request, "author.html", values, status=400 if error else 200)


def join(site: Site, request: Request, body: bytes) -> Response:
    """Merge an author with another one given by name."""
    number = site.view.check_author(request.path_params["author"])
    typed = " ".join(site.read_form(request, body).get("other", "").split())
    try:
        site.join_authors(number, _named(site, number, typed))
    except NotFoundError:
        raise
    except (ParameterError, RunError) as error:
        return _show(site, request, number, error=str(error), typed=typed)
    shown = site.view.people.shown_as(number)
    return RedirectResponse(f"{site.base}/authors/{shown}", status_code=303)


def _named(site: Site, author: int, typed: str) -> int:
    """Find an author by the name shown on the pages."""
    view = site.view
    papers = view.papers_of_author.counts
    names = [name.casefold() for name in view.corpus.author_names]
    found = [
        other
        for other, name in enumerate(names)
        if papers[other] and other != author and name == typed.casefold()
    ]
    if len(found) == 1:
        return found[0]
    near = difflib.get_close_matches(typed.casefold(), names, 1)
    hint = f" Did you mean {view.corpus.author_names[names.index(near[0])]!r}?" if near else ""
    raise ParameterError(f"There is no other author called {typed[:80]!r}.{hint}")


def separate(site: Site, request: Request, body: bytes) -> Response:
    """Undo the merging of an author."""
    number = site.view.check_author(request.path_params["author"])
    site.read_form(request, body)
    try:
        site.separate_authors(number)
    except (ParameterError, RunError) as error:
        return _show(site, request, number, error=str(error))
    return RedirectResponse(f"{site.base}/authors/{number}", status_code=303)


ENTRIES = (
    Endpoint("/authors", authors, "Authors.", page=True),
    Endpoint("/authors/{author:id}", author, "One author.", page=True),
    Endpoint("/authors/{author:id}/join", join, "Merge two authors.", method="POST", page=True),
    Endpoint(
        "/authors/{author:id}/separate", separate, "Undo the merging.", method="POST", page=True
    ),
)
