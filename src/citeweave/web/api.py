"""The JSON interface: everything that the pages show, in machine-readable form."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from citeweave.errors import ParameterError
from citeweave.explore.graphs import MAPS
from citeweave.explore.search import PLURALS
from citeweave.web import schemas
from citeweave.web.contributor_list import KINDS, ContributorList
from citeweave.web.listing import PAGE_SIZE, Cut
from citeweave.web.maps import QUERY as MAP_QUERY
from citeweave.web.maps import read_options
from citeweave.web.routes import Endpoint, Handler, QueryField, read_integer, read_text
from citeweave.web.site import Site
from citeweave.wording import printable

__all__ = ["ENTRIES", "answer", "search_results"]

_MOST = 500
_INTEGER = {"type": "integer"}


def answer(content: Any) -> Response:
    """Return a JSON response; NaN and infinities become null, which JSON can represent."""
    text = json.dumps(_clean(content), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Response(text, media_type="application/json")


def _clean(value: Any) -> Any:
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, Mapping):
        return {str(key): _clean(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(entry) for entry in value]
    if isinstance(value, np.generic):
        return _clean(value.item())
    return value


def run(site: Site, _: Request) -> Response:
    """Describe the run."""
    view = site.view
    return answer(
        {
            "title": site.title,
            "model": view.model_name,
            "version": site.version,
            "topics": len(view.order),
            "corpus": site.corpus_summary,
            "missing": dict(view.missing),
        }
    )


def topics(site: Site, _: Request) -> Response:
    """List all topics in use."""
    return answer(
        {"topics": site.view.topics(words=10).to_dicts(), "years": list(site.view.year_range)}
    )


def topic(site: Site, request: Request) -> Response:
    """Return the details of a topic."""
    return answer(site.topic(request.path_params["topic"]).to_dict())


def name_topic(site: Site, request: Request, body: bytes) -> Response:
    """Rename a topic."""
    site.check_intent(request)
    number = request.path_params["topic"]
    name = _read_json(body).get("name")
    if name is not None and not isinstance(name, str):
        raise ParameterError(f"'name' must be a string or null. Got {name!r} instead.")
    site.rename(number, name or "")
    page = site.topic(number)
    return answer(
        {"topic": number, "name": page.name, "label": page.label, "renamed": page.renamed}
    )


def authors(site: Site, request: Request) -> Response:
    """List authors."""
    site.view.require("authors")
    wanted = {name: read_text(request, name) for name in ("q", "topic", "sort")}
    chosen = site.authors.select(wanted)
    cut = _cut(request, len(chosen))
    found = [site.view.author_link(author).to_dict() for author in cut.of(chosen)]
    return answer({"authors": found, **_place(cut)})


def author(site: Site, request: Request) -> Response:
    """Return the details of an author."""
    return answer(site.view.author(request.path_params["author"]).to_dict())


def join_authors(site: Site, request: Request, body: bytes) -> Response:
    """Merge two authors."""
    site.check_intent(request)
    number = request.path_params["author"]
    other = _read_json(body).get("other")
    if not isinstance(other, int) or isinstance(other, bool):
        raise ParameterError(f"'other' must be the number of an author. Got {other!r} instead.")
    site.join_authors(number, other)
    return _joined(site, number)


def separate_authors(site: Site, request: Request, _: bytes) -> Response:
    """Undo the merging of an author."""
    site.check_intent(request)
    number = request.path_params["author"]
    site.separate_authors(number)
    return _joined(site, number)


def _joined(site: Site, number: int) -> Response:
    page = site.view.author(number)
    return answer({"author": page.author, "name": page.name, "joined": page.joined})


def _contributors(kind: str) -> Handler:
    def show(site: Site, request: Request) -> Response:
        names = ("q", "topic", "country", "sort")
        chosen = ContributorList(site.view, kind).select(
            {name: read_text(request, name) for name in names}
        )
        cut = _cut(request, len(chosen))
        table = site.view.contributors(kind, numbers=cut.of(chosen))
        return answer({kind: table.to_dicts(), **_place(cut)})

    return show


def _contributor(kind: str) -> Handler:
    def show(site: Site, request: Request) -> Response:
        return answer(site.view.contributor(kind, request.path_params["number"]).to_dict())

    return show


def papers(site: Site, request: Request) -> Response:
    """List the papers that match the filters."""
    names = ("q", "topic", "from", "to", "category", "venue", "sort")
    chosen = site.papers.select({name: read_text(request, name) for name in names})
    cut = _cut(request, len(chosen))
    found = [site.view.paper_link(paper).to_dict() for paper in cut.of(chosen)]
    return answer({"papers": found, **_place(cut)})


def paper(site: Site, request: Request) -> Response:
    """Return the details of a paper."""
    return answer(site.view.paper(request.path_params["paper"]).to_dict())


def search_results(site: Site, text: str, limit: int) -> list[dict[str, Any]]:
    """Find papers, authors, topics and so on, each with the URL of its page."""
    return [
        {
            "kind": hit.kind,
            "id": hit.id,
            "title": hit.label,
            "detail": hit.detail,
            "url": f"{site.base}/{PLURALS[hit.kind]}/{hit.id}",
        }
        for hit in site.search(text, limit)
    ]


def search(site: Site, request: Request) -> Response:
    """Return search results."""
    text = read_text(request, "q")
    limit = read_integer(request, "limit", 20, low=1, high=100)
    return answer({"query": text, "results": search_results(site, text, limit) if text else []})


def flow(site: Site, _: Request) -> Response:
    """Return the citation counts between topics."""
    if site.view.flow_matrix is None:
        site.view.require("citations")
    return answer({"flow": site.view.flow().to_dicts()})


def network(site: Site, request: Request) -> Response:
    """Return a network with node positions."""
    kind = request.path_params["kind"]
    graph, places = site.pictures.graph(kind, read_options(request, kind))
    return answer(graph.to_dict(places))


def paper_map(site: Site, _: Request) -> Response:
    """Return the map of papers."""
    text = site.pictures.paper_map()
    return Response(text, media_type="application/json")


def place(site: Site, request: Request, body: bytes) -> Response:
    """Place a new paper."""
    site.check_intent(request)
    given = _read_json(body)
    title, abstract = given.get("title", ""), given.get("abstract", "")
    references = given.get("references", [])
    if not isinstance(title, str) or not isinstance(abstract, str):
        raise ParameterError("'title' and 'abstract' must be strings.")
    if not isinstance(references, list) or not all(isinstance(one, str) for one in references):
        raise ParameterError("'references' must be a list of strings: titles or identifiers.")
    return answer(site.placer.place(title, abstract, references).to_dict())


def _read_json(body: bytes) -> dict[str, Any]:
    try:
        content = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, f"The request body is not valid JSON ({error}).") from error
    if not isinstance(content, dict):
        raise HTTPException(400, "The request body must be a JSON object.")
    return content


def _cut(request: Request, total: int) -> Cut:
    size = read_integer(request, "limit", PAGE_SIZE, low=1, high=_MOST)
    return Cut.make(read_integer(request, "page", 1, low=1, high=10**6), total, size)


def _place(cut: Cut) -> dict[str, int]:
    return {"total": cut.total, "page": cut.number, "pages": cut.pages}


_PAGING = (
    QueryField("page", "Page number, starting at 1.", _INTEGER),
    QueryField("limit", f"Entries per page, at most {_MOST}.", _INTEGER),
)
_BY_TOPIC = QueryField("topic", "Only entries with this main topic.", _INTEGER)

ENTRIES = (
    Endpoint(
        "/api/run", run, "The model, its corpus and the version of citeweave.", answer=schemas.RUN
    ),
    Endpoint(
        "/api/search",
        search,
        "Search papers, authors, topics, institutions and so on by the beginnings of words.",
        tag="search",
        query=(
            QueryField("q", "Search text."),
            QueryField("limit", "Number of results, at most 100.", _INTEGER),
        ),
        answer=schemas.SEARCH,
    ),
    Endpoint(
        "/api/topics",
        topics,
        "All topics in use, largest first.",
        tag="topics",
        answer=schemas.listing(
            "topics", "TopicRow", extra={"years": {"type": "array", "items": _INTEGER}}
        ),
    ),
    Endpoint(
        "/api/topics/{topic:id}", topic, "Details of one topic.", tag="topics", answer=schemas.TOPIC
    ),
    Endpoint(
        "/api/topics/{topic:id}/name",
        name_topic,
        "Rename a topic; null restores its automatic label.",
        method="POST",
        tag="topics",
        body=schemas.NAME,
        answer=schemas.NAMED,
    ),
    Endpoint(
        "/api/flow",
        flow,
        "Citations between topics.",
        tag="topics",
        answer=schemas.listing("flow", "Flow"),
    ),
    Endpoint(
        "/api/authors",
        authors,
        "Authors, most influential first.",
        tag="authors",
        query=(
            QueryField("q", "Part of the name."),
            _BY_TOPIC,
            QueryField("sort", "Order: influence, papers or name."),
            *_PAGING,
        ),
        answer=schemas.paged("authors", schemas.AUTHOR_LINK),
    ),
    Endpoint(
        "/api/authors/{author:id}",
        author,
        "Details of one author.",
        tag="authors",
        answer=schemas.AUTHOR,
    ),
    Endpoint(
        "/api/authors/{author:id}/join",
        join_authors,
        "Show two authors as one person; saved for the next import.",
        method="POST",
        tag="authors",
        body=schemas.JOIN,
        answer=schemas.JOINED,
    ),
    Endpoint(
        "/api/authors/{author:id}/separate",
        separate_authors,
        "Undo the merging of an author with others.",
        method="POST",
        tag="authors",
        answer=schemas.JOINED,
    ),
    *(
        Endpoint(
            f"/api/{kind}",
            _contributors(kind),
            f"{kind.capitalize()} of the papers, ordered by number of papers.",
            tag="contributors",
            query=(
                QueryField("q", "Part of the name."),
                _BY_TOPIC,
                QueryField("country", "ISO country code (institutions only)."),
                QueryField("sort", "Order: papers, influence, citations, h_index, growth or name."),
                *_PAGING,
            ),
            answer=schemas.paged(kind, {"type": "object"}),
        )
        for kind in KINDS
    ),
    *(
        Endpoint(
            f"/api/{kind}/{{number:id}}",
            _contributor(kind),
            f"Details of one of the {kind}.",
            tag="contributors",
            answer=schemas.CONTRIBUTOR,
        )
        for kind in KINDS
    ),
    Endpoint(
        "/api/papers",
        papers,
        "Papers that match the filters, most influential first.",
        tag="papers",
        query=(
            QueryField("q", "Words in the title."),
            _BY_TOPIC,
            QueryField("from", "First year.", _INTEGER),
            QueryField("to", "Last year.", _INTEGER),
            QueryField("category", "Name of a category."),
            QueryField("venue", "Name of a venue."),
            QueryField("sort", "Order: influence, cited, newest, oldest or title."),
            *_PAGING,
        ),
        answer=schemas.paged("papers", schemas.PAPER_LINK),
    ),
    Endpoint(
        "/api/papers/{paper:id}", paper, "Details of one paper.", tag="papers", answer=schemas.PAPER
    ),
    Endpoint(
        "/api/networks/{kind}",
        network,
        f"A network with node positions: authors, flow, {', '.join(MAPS)}.",
        tag="pictures",
        query=MAP_QUERY,
        answer=schemas.NETWORK,
    ),
    Endpoint(
        "/api/map", paper_map, "The map of papers, as columns.", tag="pictures", answer=schemas.MAP
    ),
    Endpoint(
        "/api/place",
        place,
        "Place a new paper: its topics and the papers and authors nearest to it.",
        method="POST",
        tag="place",
        body=schemas.PLACE,
        answer=schemas.PLACEMENT,
    ),
)
