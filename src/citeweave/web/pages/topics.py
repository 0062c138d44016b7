"""All topics, one topic, and giving it a name."""

from typing import Any

import numpy as np
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from citeweave.errors import NotFoundError, ParameterError, RunError
from citeweave.web.routes import Entry
from citeweave.web.site import Site

__all__ = ["ENTRIES"]

_LARGEST_MATRIX = 30


def topics(site: Site, request: Request) -> Response:
    """Show all topics as a table, and which of them cite which."""
    return site.page(request, "topics.html", {"topics": site.topics(), "flow": _flow(site)})


def _flow(site: Site) -> dict[str, Any] | None:
    view = site.view
    if view.flow_matrix is None or len(view.order) > _LARGEST_MATRIX:
        return None
    order = view.order
    matrix = np.asarray(view.flow_matrix)[np.ix_(order, order)]
    part = matrix / np.maximum(matrix.sum(axis=1, keepdims=True), 1e-12)
    part /= max(float(part.max()), 1e-12)
    names = [{"topic": k, "name": view.topic_name(k)} for k in order]
    rows = [
        {
            **name,
            "cells": [
                {"count": count, "shade": share}
                for count, share in zip(matrix[i].tolist(), part[i].tolist(), strict=True)
            ],
        }
        for i, name in enumerate(names)
    ]
    return {"topics": names, "rows": rows}


def topic(site: Site, request: Request) -> Response:
    """Show one topic."""
    return _show(site, request, request.path_params["topic"])


def _show(site: Site, request: Request, number: int, *, error: str = "") -> Response:
    page = site.topic(number)
    trend = {y: v for y, v in zip(page.years, page.trend, strict=True) if v is not None}
    values = {"topic": page, "trend": trend if len(trend) > 1 else {}, "rename_error": error}
    return site.page(request, "topic.html", values, status=400 if error else 200)


def rename(site: Site, request: Request, body: bytes) -> Response:
    """Give a topic a name and show its page again."""
    number = request.path_params["topic"]
    form = site.read_form(request, body)
    try:
        site.rename(number, form.get("name", ""))
    except NotFoundError:
        raise
    except (ParameterError, RunError) as error:
        return _show(site, request, number, error=str(error))
    return RedirectResponse(f"/topics/{number}", status_code=303)


ENTRIES = (
    Entry("/topics", topics, "All topics.", page=True),
    Entry("/topics/{topic:int}", topic, "One topic.", page=True),
    Entry("/topics/{topic:int}/name", rename, "Name a topic.", method="POST", page=True),
)
