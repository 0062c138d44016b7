"""Pages about the run (diagnostics, method, glossary) and about the JSON interface."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from citeweave.web.chains import chain_charts
from citeweave.web.glossary import AGREEMENT, GLOSSARY, MAP_TERMS
from citeweave.web.method import BIBTEX, CITATIONS
from citeweave.web.routes import Endpoint
from citeweave.web.run_facts import RunFacts
from citeweave.web.site import Site

__all__ = ["ENTRIES"]


def diagnostics(site: Site, request: Request) -> Response:
    """Show whether the chains agree."""
    run = RunFacts(site.view)
    values = {
        "result": run.diagnostics,
        "charts": chain_charts(run),
        "chains": list(range(run.diagnostics.chains)),
        "agreement": AGREEMENT,
    }
    return site.page(request, "diagnostics.html", values)


def glossary(site: Site, request: Request) -> Response:
    """Show the glossary."""
    return site.page(request, "glossary.html", {"terms": GLOSSARY, "map_terms": MAP_TERMS})


def about(site: Site, request: Request) -> Response:
    """Show the method, the parameters, and how to cite."""
    run = RunFacts(site.view)
    corpus = site.view.corpus
    coverage: list[tuple[str, int]] = [
        ("papers", corpus.n_documents),
        ("total words", corpus.n_tokens),
        ("distinct words and phrases", corpus.vocabulary_size),
        ("authors", corpus.n_authors),
        ("categories", corpus.n_categories),
        ("citations between papers", corpus.n_citations),
    ]
    values = {
        "method": run.method_text(),
        "parameters": run.parameter_rows(),
        "coverage": coverage,
        "citations": CITATIONS,
        "bibtex": BIBTEX,
        "missing": dict(site.missing),
    }
    return site.page(request, "about.html", values)


def interface(site: Site, request: Request) -> Response:
    """Describe the JSON interface."""
    from citeweave.web.app import entries  # noqa: PLC0415 (the table includes this page)

    tags: dict[str, list[Any]] = {}
    for entry in entries():
        if not entry.page:
            tags.setdefault(entry.tag, []).append(entry)
    values = {"groups": list(tags.items()), "address": str(request.base_url)}
    return site.page(request, "api.html", values)


ENTRIES = (
    Endpoint("/diagnostics", diagnostics, "Convergence.", page=True),
    Endpoint("/glossary", glossary, "Glossary.", page=True),
    Endpoint("/about", about, "Method, parameters, how to cite.", page=True),
    Endpoint("/api", interface, "The JSON interface.", page=True),
)
