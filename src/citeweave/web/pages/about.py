"""How the run came about: diagnostics and method; and the interface for programs."""

from typing import Any

import numpy as np
from starlette.requests import Request
from starlette.responses import Response

from citeweave.web.charts import Series, for_all_screens, lines
from citeweave.web.report.method import BIBTEX, CITATIONS
from citeweave.web.report.run_facts import RunFacts
from citeweave.web.routes import Entry
from citeweave.web.site import Site

__all__ = ["ENTRIES", "trace_series"]

_POINTS = 400
"""Points of a line: more than a screen shows as different."""

_CHARTS = (
    (
        "log_likelihood",
        "Log likelihood",
        "Moves while the chains settle, then wavers about one level.",
    ),
    ("topics", "Topics in use", "How many topics have words, out of those allowed."),
    (
        "acceptance",
        "Acceptance of citing topics",
        "Share of proposed topics of citations that were accepted.",
    ),
)


def diagnostics(site: Site, request: Request) -> Response:
    """Show whether the chains agree."""
    run = RunFacts(site.view)
    charts = []
    start = run.plan.get("network_from")
    mark = (float(start), "citations from here") if start else None
    for name, heading, text in _CHARTS:
        if name in run.traces:
            series = trace_series(np.asarray(run.traces[name]))
            wide, narrow = (
                lines(
                    series,
                    label=f"{heading} by iteration",
                    mark=mark,
                    width=width,
                    height=height,
                    from_zero=name != "log_likelihood",
                )
                for width, height in ((1140, 230), (330, 190))
            )
            if wide:
                drawn = for_all_screens(wide, narrow)
                charts.append({"heading": heading, "text": text, "svg": drawn, "name": name})
    values = {
        "result": run.diagnostics,
        "charts": charts,
        "chains": list(range(run.diagnostics.chains)),
        "plan": run.plan,
    }
    return site.page(request, "diagnostics.html", values)


def trace_series(trace: np.ndarray) -> list[Series]:
    """Turn a trace [chains, iterations] into lines, thinned to what a screen can show."""
    step = max(1, -(-trace.shape[1] // _POINTS))
    return [
        Series(
            f"chain {chain + 1}",
            [(float(i + 1), float(row[i])) for i in range(0, len(row), step)],
        )
        for chain, row in enumerate(trace)
    ]


def about(site: Site, request: Request) -> Response:
    """Show the method, the parameters, and how to cite."""
    run = RunFacts(site.view)
    corpus = site.view.corpus
    coverage: list[tuple[str, int]] = [
        ("papers", corpus.n_documents),
        ("words in all", corpus.n_tokens),
        ("different words and phrases", corpus.vocabulary_size),
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
    """Describe the interface for programs."""
    from citeweave.web.app import entries  # noqa: PLC0415 (the table holds this page too)

    tags: dict[str, list[Any]] = {}
    for entry in entries():
        if not entry.page:
            tags.setdefault(entry.tag, []).append(entry)
    values = {"groups": list(tags.items()), "address": str(request.base_url)}
    return site.page(request, "api.html", values)


ENTRIES = (
    Entry("/diagnostics", diagnostics, "Convergence.", page=True),
    Entry("/about", about, "Method, parameters, how to cite.", page=True),
    Entry("/api", interface, "The interface for programs.", page=True),
)
