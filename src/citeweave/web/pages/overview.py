"""The start page and the search results."""

from starlette.requests import Request
from starlette.responses import Response

from citeweave.web.api import search_results
from citeweave.web.overview import figures
from citeweave.web.routes import Endpoint, read_text
from citeweave.web.run_facts import RunFacts
from citeweave.web.site import Site
from citeweave.wording import count

__all__ = ["ENTRIES"]

_SHOWN = 6


def home(site: Site, request: Request) -> Response:
    """Show key figures, topics, and the most influential papers and authors."""
    view = site.view
    corpus = view.corpus
    years = {}
    if site.has_years:
        years = dict(zip(view.year_range, view.papers_by_year.tolist(), strict=True))
    authors = site.authors.select({})[:_SHOWN].tolist() if corpus.n_authors else []
    run = RunFacts(view)
    values = {
        "summary": _summary(site),
        "figures": figures(view),
        "verdict": run.diagnostics.verdict if run.sampled else None,
        "years": years,
        "topics": site.topics(),
        "papers": [view.paper_link(d) for d in site.papers.select({})[:_SHOWN].tolist()],
        "authors": [view.author_link(a) for a in authors],
    }
    return site.page(request, "home.html", values)


def _summary(site: Site) -> str:
    corpus = site.view.corpus
    parts = ["the words"]
    if corpus.n_authors:
        parts.append("the authors")
    if site.view.citing_topic is not None:
        parts.append("the citations")
    learned = " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
    return (
        f"{count(corpus.n_documents, 'paper')}, described by "
        f"{count(len(site.view.order), 'topic')} learned from {learned} of the papers."
    )


def search(site: Site, request: Request) -> Response:
    """Show search results; works without JavaScript."""
    text = read_text(request, "q")
    results = search_results(site, text, limit=50) if text else []
    return site.page(request, "search.html", {"text": text, "results": results})


ENTRIES = (
    Endpoint("/", home, "Start page.", page=True),
    Endpoint("/search", search, "Results of a search.", page=True),
)
