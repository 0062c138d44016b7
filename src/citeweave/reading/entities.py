"""Decode HTML entities left in names, titles and keywords: ``&eacute;`` becomes "é"."""

from __future__ import annotations

import html
import re
from html.entities import html5
from typing import Any

__all__ = ["ENTITY", "decode_all", "decode_entities", "has_entities"]

# Only with a semicolon: "R&D" and "size&region" are not entities.
ENTITY = r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"
_ENTITY = re.compile(ENTITY)
# in JSON the ampersand may be written by its number
_ENTITY_IN_JSON = re.compile(ENTITY.replace("&", r"(?:&|\\u0026)").encode())


def decode_entities(text: str) -> str:
    """Return a text with entities decoded, including those encoded twice.

    This must come first, because lists are split at semicolons.

    Examples
    --------
    >>> decode_entities("Daum&eacute; III, Hal &amp;amp; others of R&D;")
    'Daumé III, Hal & others of R&D;'
    """
    if "&" not in text or ";" not in text:
        return text
    once = _ENTITY.sub(_character, text)
    return _ENTITY.sub(_character, once) if "&" in once else once


def _character(found: re.Match[str]) -> str:
    entity = found[0]
    # the standard library would decode "&region;" as "&reg;" plus "ion;"
    return html.unescape(entity) if entity[1] == "#" else html5.get(entity[1:], entity)


def has_entities(line: bytes) -> bool:
    """Return whether a line of JSON may contain an entity, without decoding it.

    Examples
    --------
    >>> has_entities(b'{"title": "Texas A&M"}'), has_entities(b'{"title": "Texas A&amp;M"}')
    (False, True)
    """
    return (b"&" in line or b"u0026" in line) and _ENTITY_IN_JSON.search(line) is not None


def decode_all(value: Any) -> Any:
    """Return a JSON value with the entities of all its texts decoded, in place if possible."""
    if not isinstance(value, dict | list):
        return decode_entities(value) if isinstance(value, str) else value
    waiting = [value]  # a stack instead of recursion: JSON may be deeply nested
    while waiting:
        inner = waiting.pop()
        places = inner.items() if isinstance(inner, dict) else enumerate(inner)
        for key, item in list(places):
            if isinstance(item, str):
                inner[key] = decode_entities(item)
            elif isinstance(item, dict | list):
                waiting.append(item)
    return value
