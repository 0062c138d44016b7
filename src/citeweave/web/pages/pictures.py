"""The networks and maps, as interactive pictures."""

from starlette.requests import Request
from starlette.responses import Response

from citeweave.errors import NotFoundError, ParameterError
from citeweave.explore.graphs import MAPS
from citeweave.web.maps import LEDES, MOST, NEEDS, choices_of, default_top, read_options
from citeweave.web.pictures import NETWORKS
from citeweave.web.routes import Endpoint, read_choice
from citeweave.web.site import Site

__all__ = ["ENTRIES"]


def network(site: Site, request: Request) -> Response:
    """Show the network of authors and topics, or the citation flow between topics."""
    first = ("authors", "flow") if site.has_authors else ("flow", "authors")
    kind = read_choice(request, "kind", first)
    try:
        (graph, drawing), problem = site.pictures.network(kind), ""
    except (NotFoundError, ParameterError) as error:
        graph, drawing, problem = None, None, str(error)
    values = {"kind": kind, "kinds": NETWORKS, "graph": graph, "drawing": drawing}
    values["problem"] = problem
    return site.page(request, "network.html", values)


def paper_map(site: Site, request: Request) -> Response:
    """Show all papers as dots; a script fetches their positions."""
    return site.page(request, "map.html", {"topics": site.topics()})


def bibliometrics(site: Site, request: Request) -> Response:
    """Show a bibliometric map."""
    there = {path.removeprefix("/") for _, path in site.people}
    there |= set(site.view.corpus.metadata) & {"outside_references"}
    offered = {k: name for k, name in MAPS.items() if NEEDS.get(k) in {None, *there}}
    kind = read_choice(request, "kind", tuple(offered))
    options = read_options(request, kind)
    try:
        (graph, drawing), problem = site.pictures.network(kind, options), ""
    except (NotFoundError, ParameterError) as error:
        graph, drawing, problem = None, None, str(error)
    usual = default_top(kind)
    values = {
        "kind": kind,
        "kinds": offered,
        "lede": LEDES[kind],
        "choices": choices_of(kind),
        "chosen": dict(options),
        "top": dict(options).get("top", usual),
        "most": MOST,
        "graph": graph,
        "drawing": drawing,
        "problem": problem,
    }
    return site.page(request, "bibliometrics.html", values)


ENTRIES = (
    Endpoint("/network", network, "Networks.", page=True),
    Endpoint("/bibliometrics", bibliometrics, "Bibliometric maps.", page=True),
    Endpoint("/map", paper_map, "Map of papers.", page=True),
)
