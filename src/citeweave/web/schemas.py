"""JSON schemas of the interface; those of detail pages are derived from their dataclasses."""

import dataclasses
import types
import typing
from collections.abc import Mapping
from typing import Any

from citeweave.explore import (
    AuthorLink,
    AuthorPage,
    ContributorPage,
    PaperLink,
    PaperPage,
    PaperPlacement,
    TopicPage,
)
from citeweave.explore.search import KINDS

__all__ = [
    "AUTHOR",
    "AUTHOR_LINK",
    "CONTRIBUTOR",
    "JOIN",
    "JOINED",
    "MAP",
    "NAME",
    "NAMED",
    "NETWORK",
    "PAPER",
    "PAPER_LINK",
    "PLACE",
    "PLACEMENT",
    "RUN",
    "SEARCH",
    "TOPIC",
    "listing",
    "of_class",
    "paged",
]

_PLAIN = {int: "integer", float: "number", str: "string", bool: "boolean", type(None): "null"}


def of_class(kind: type) -> dict[str, Any]:
    """Return the schema of a dataclass as written to JSON."""
    hints = typing.get_type_hints(kind)
    fields = dataclasses.fields(kind)
    return {
        "title": kind.__name__,
        "type": "object",
        "required": [field.name for field in fields],
        "properties": {field.name: _of_type(hints[field.name]) for field in fields},
    }


def _of_type(hint: Any) -> dict[str, Any]:
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    if dataclasses.is_dataclass(hint):
        return of_class(typing.cast("type", hint))
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in {typing.Union, types.UnionType}:
        parts = [_of_type(part) for part in arguments]
        if all(set(part) == {"type"} for part in parts):
            return {"type": [part["type"] for part in parts]}
        return {"anyOf": parts}
    if origin is list:
        return {"type": "array", "items": _of_type(arguments[0])}
    if origin is dict:
        return {"type": "object"}
    return {}


def _record(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(properties), "properties": properties}


def _list(items: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": dict(items)}


def listing(name: str, title: str, extra: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the schema of a named list of table rows."""
    return _record(**{name: _list({"type": "object", "title": title})}, **(extra or {}))


def paged(name: str, items: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of one page of a list."""
    return _record(**{name: _list(items)}, total=_INTEGER, page=_INTEGER, pages=_INTEGER)


_INTEGER = {"type": "integer"}
_TEXT = {"type": "string"}
_OBJECT = {"type": "object"}
_NUMBERS = _list({"type": "number"})

AUTHOR_LINK = of_class(AuthorLink)
PAPER_LINK = of_class(PaperLink)
TOPIC = of_class(TopicPage)
AUTHOR = of_class(AuthorPage)
PAPER = of_class(PaperPage)
CONTRIBUTOR = of_class(ContributorPage)
PLACEMENT = of_class(PaperPlacement)

RUN = _record(
    title=_TEXT, model=_TEXT, version=_TEXT, topics=_INTEGER, corpus=_OBJECT, missing=_OBJECT
)
SEARCH = _record(
    query=_TEXT,
    results=_list(
        _record(
            kind={"enum": list(KINDS)},
            id=_INTEGER,
            title=_TEXT,
            detail=_TEXT,
            url=_TEXT,
        )
    ),
)
NAME = {
    "type": "object",
    "required": ["name"],
    "properties": {"name": {"type": ["string", "null"], "maxLength": 80}},
}
JOIN = {"type": "object", "required": ["other"], "properties": {"other": _INTEGER}}
JOINED = _record(author=_INTEGER, name=_TEXT, joined=_list(_OBJECT))
NAMED = _record(topic=_INTEGER, name=_TEXT, label=_TEXT, renamed={"type": "boolean"})
NETWORK = _record(
    name=_TEXT,
    title=_TEXT,
    directed={"type": "boolean"},
    notes=_list(_TEXT),
    legend=_list(_OBJECT),
    nodes=_list(_OBJECT),
    edges=_list(_OBJECT),
)
MAP = _record(
    x=_NUMBERS,
    y=_NUMBERS,
    size=_NUMBERS,
    topic=_list(_INTEGER),
    title=_list(_TEXT),
    labels=_list(_OBJECT),
    colours=_list(_TEXT),
)
PLACE = {
    "type": "object",
    "properties": {
        "title": _TEXT,
        "abstract": _TEXT,
        "references": {
            "type": "array",
            "items": _TEXT,
            "description": "Titles or identifiers of papers in the corpus.",
        },
    },
}
