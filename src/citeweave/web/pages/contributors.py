"""Institutions, countries, venues and funders: a list per kind and a page per contributor."""

from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from citeweave.countries import country_name
from citeweave.explore.contributors import singular_of
from citeweave.web.contributor_list import KINDS, ContributorList
from citeweave.web.listing import Cut
from citeweave.web.routes import Endpoint, Handler, read_integer, read_text
from citeweave.web.site import Site
from citeweave.wording import percent

__all__ = ["ENTRIES", "FILTERS"]

FILTERS = ("q", "topic", "country", "sort")
_NAMED = 2
_TITLES = {
    "institutions": "Where the authors work. A paper counts fully for each of its institutions.",
    "countries": "Where the authors work. A paper counts fully for each of its countries.",
    "venues": "The journals, conferences and books in which the papers appeared.",
    "funders": "Who funded the work, as named in the papers.",
}


def _list(kind: str) -> Handler:
    def show(site: Site, request: Request) -> Response:
        listing = ContributorList(site.view, kind)
        current = {name: read_text(request, name) for name in FILTERS}
        chosen = listing.select(current)
        page = Cut.make(read_integer(request, "page", 1, low=1, high=10**6), len(chosen))
        values = {
            "kind": kind,
            "one": singular_of(kind),
            "lede": _TITLES[kind],
            "current": current,
            "filtered": any(value for name, value in current.items() if name != "sort"),
            "topics": site.topics(),
            "places": [(code, country_name(code)) for code in listing.countries],
            "sorts": listing.sorts,
            "rows": [_row(site, kind, number) for number in page.of(chosen)],
            "page": page,
            "world": site.view.literature.cited_by is not None,
        }
        return site.page(request, "contributors.html", values)

    return show


def _row(site: Site, kind: str, number: int) -> dict[str, Any]:
    view = site.view
    found, figures = view.literature.contributors(kind), view.literature.figures(kind)
    influence = view.contributor_influence(kind)
    weights, _ = view.contributor_mixture(kind, number)
    named = [f"{one.name} {percent(one.weight, 0)}" for one in weights[:_NAMED]]
    code = found.countries[number]
    return {
        "number": number,
        "name": found.names[number],
        "country": country_name(code) if code else "",
        "influence": None if influence is None else float(influence[number]),
        "by_year": view.literature.by_year(kind, number),
        "stripe": [(view.colours.slot(one.topic), one.weight) for one in weights],
        "topic_text": " · ".join(named),
        **{
            name: int(figures[name][number])
            for name in ("papers", "citations", "h_index", "cited_by")
            if name in figures
        },
    }


def _page(kind: str) -> Handler:
    def show(site: Site, request: Request) -> Response:
        page = site.view.contributor(kind, request.path_params["number"])
        kinds = dict.fromkeys(link.kind for link in page.contributors)
        beside = [
            (other, [link for link in page.contributors if link.kind == other]) for other in kinds
        ]
        values = {
            "contributor": page,
            "one": singular_of(kind),
            "beside": beside,
            "trend": dict(zip(page.years, page.by_year, strict=True)),
        }
        return site.page(request, "contributor.html", values)

    return show


def _entries(make: Callable[[str], Handler], path: str, summary: str) -> tuple[Endpoint, ...]:
    return tuple(
        Endpoint(path.format(kind=kind), make(kind), summary.format(kind=kind), page=True)
        for kind in KINDS
    )


ENTRIES = (
    *_entries(_list, "/{kind}", "All {kind}."),
    *_entries(_page, "/{kind}/{{number:id}}", "One of the {kind}."),
)
