"""The list of papers and the page of one paper."""

from typing import Any
from urllib.parse import quote

import numpy as np
from starlette.requests import Request
from starlette.responses import Response

from citeweave.corpus.affiliations import COLUMNS
from citeweave.explore import ContributorLink, PaperPage
from citeweave.explore.contributor_pages import contributor_links
from citeweave.web.listing import Cut
from citeweave.web.routes import Endpoint, read_integer, read_text
from citeweave.web.site import Site

__all__ = ["ENTRIES", "FILTERS", "read_filters"]

FILTERS = ("q", "topic", "from", "to", "category", "venue", "sort")
_LINKS = 10
_OWN_PLACE = frozenset({"abstract", "venue", "year", "doi", "cited_by", *COLUMNS})
_MOST_PLACES = 30
_LONGEST_VALUE = 500


def read_filters(request: Request) -> dict[str, str]:
    """Read the filters from the query string."""
    return {name: read_text(request, name) for name in FILTERS}


def papers(site: Site, request: Request) -> Response:
    """Show a page of the papers that match the filters."""
    current = read_filters(request)
    chosen = site.papers.select(current)
    page = Cut.make(read_integer(request, "page", 1, low=1, high=10**6), len(chosen))
    years = site.view.year_range
    values = {
        "current": current,
        "filtered": any(value for name, value in current.items() if name != "sort"),
        "topics": site.topics(),
        "categories": site.papers.categories,
        "venues": site.papers.venues,
        "has_venues": site.papers.has_venues,
        "first_year": years.start if years else "",
        "last_year": years.stop - 1 if years else "",
        "sorts": site.papers.sorts,
        "papers": [site.view.paper_link(d) for d in page.of(chosen)],
        "page": page,
    }
    return site.page(request, "papers.html", values)


def paper(site: Site, request: Request) -> Response:
    """Show one paper."""
    page = site.view.paper(request.path_params["paper"])
    most = max(len(page.cited_by), len(page.references))
    values = {
        "paper": page,
        "venue": _text(page.metadata.get("venue")),
        "abstract": _text(page.metadata.get("abstract")),
        "details": _details(page),
        "places": _places(site, page.paper),
        "world": page.metadata.get("cited_by"),
        "shown": most if request.query_params.get("all") else _LINKS,
    }
    return site.page(request, "paper.html", values)


def _places(site: Site, paper: int) -> list[ContributorLink]:
    """Return the institutions of a paper, or its countries if no institution is known."""
    for kind in ("institutions", "countries"):
        if kind not in site.view.literature.missing:
            found = contributor_links(site.view, kind, np.array([paper]), most=_MOST_PLACES)
            if found:
                return found
    return []


def _details(page: PaperPage) -> list[tuple[str, str, str]]:
    """List the remaining metadata: name, value, and a link if there is a safe one."""
    metadata = page.metadata
    rows = [("Identifier", page.id, "")]
    doi = _text(metadata.get("doi"))
    if doi:
        rows.append(("DOI", doi, f"https://doi.org/{quote(doi, safe='/')}"))
    for name, value in metadata.items():
        text = _text(value)
        if name not in _OWN_PLACE and text:
            rows.append((name.replace("_", " ").capitalize(), text[:_LONGEST_VALUE], ""))
    return rows


def _text(value: Any) -> str:
    if value is None or (isinstance(value, float) and value != value):  # noqa: PLR0124 (nan)
        return ""
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


ENTRIES = (
    Endpoint("/papers", papers, "Papers.", page=True),
    Endpoint("/papers/{paper:id}", paper, "One paper.", page=True),
)
