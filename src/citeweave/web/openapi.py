"""The OpenAPI 3.1 description of the JSON interface, generated from the table of routes."""

import re
from collections.abc import Iterable
from typing import Any

import citeweave
from citeweave.web.routes import Endpoint
from citeweave.web.security import INTENT_HEADER

__all__ = ["describe", "open_path"]

_PLACE = re.compile(r"{(\w+)(?::(\w+))?}")
_TYPES = {"int": "integer", "str": "string", "path": "string"}


def open_path(path: str) -> str:
    """Convert a route path to OpenAPI syntax.

    Examples
    --------
    >>> open_path("/api/topics/{topic:id}/name")
    '/api/topics/{topic}/name'
    """
    return _PLACE.sub(r"{\1}", path)


def describe(entries: Iterable[Endpoint], base: str = "") -> dict[str, Any]:
    """Describe all routes that are not pages; `base` is the path prefix."""
    paths: dict[str, Any] = {}
    for entry in entries:
        if not entry.page:
            paths.setdefault(open_path(entry.path), {})[entry.method.lower()] = _operation(entry)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "citeweave explorer",
            "version": citeweave.__version__,
            "description": (
                "Topics, authors, papers and citations of one fitted run. GET requests are "
                "read-only; POST requests must carry the header {INTENT_HEADER}: 1."
            ),
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": f"{base}/"}],
        "paths": paths,
        "components": {
            "schemas": {
                "Error": {
                    "type": "object",
                    "required": ["error"],
                    "properties": {"error": {"type": "string", "description": "Error message."}},
                }
            }
        },
    }


def _operation(entry: Endpoint) -> dict[str, Any]:
    parameters = [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": {"type": _TYPES.get(kind or "str", "string")},
        }
        for name, kind in _PLACE.findall(entry.path)
    ]
    parameters += [
        {
            "name": query.name,
            "in": "query",
            "required": False,
            "description": query.description,
            "schema": dict(query.schema),
        }
        for query in entry.query
    ]
    good: dict[str, Any] = {"description": entry.summary}
    good["content"] = {entry.media: {"schema": dict(entry.answer or {})}}
    operation: dict[str, Any] = {
        "operationId": _identify(entry),
        "summary": entry.summary,
        "tags": [entry.tag],
        "responses": {"200": good, "default": _failure()},
    }
    if entry.body is not None:
        parameters.append(
            {
                "name": INTENT_HEADER,
                "in": "header",
                "required": True,
                "description": "Always 1. Pages of other sites cannot send this header.",
                "schema": {"const": "1"},
            }
        )
        operation["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": dict(entry.body)}},
        }
    if parameters:
        operation["parameters"] = parameters
    return operation


def _failure() -> dict[str, Any]:
    return {
        "description": "Error message.",
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
    }


def _identify(entry: Endpoint) -> str:
    words = [word for word in re.split(r"\W+", open_path(entry.path)) if word and word != "api"]
    return "_".join([entry.method.lower(), *words])
