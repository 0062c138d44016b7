"""JSON decoders that make objects of the wanted parts only, where msgspec is installed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

__all__ = ["narrow_decoder"]

_NOTHING = frozenset({b"null", b"{}", b"[]"})


def narrow_decoder(
    wanted: Mapping[str, Any], *, as_bytes: Collection[str] = ()
) -> Callable[[bytes], Any]:
    """Give a decoder of objects that makes nothing of the parts that nobody wants.

    Parameters
    ----------
    wanted : mapping
        Keys of the object; the value is None for all that is below a key, or again a mapping, for
        an object or a list of objects of which only some parts are wanted.
    as_bytes : collection of str
        Keys whose values may be left as JSON text, in bytes; null and what is empty become None.

    Returns
    -------
    callable
        Takes the bytes of one object. It raises ValueError where they are no JSON. Without msgspec,
        and for what msgspec does not take (a raw tab inside a text, NaN, a text where an object is
        expected), the standard library decodes everything.

    Examples
    --------
    >>> decode = narrow_decoder({"id": None, "topic": {"field": None}})
    >>> work = decode(b'{"id": "W1", "topic": {"field": "Physics", "score": 1}, "mesh": [1, 2]}')
    >>> work["id"], work["topic"]["field"]
    ('W1', 'Physics')
    """
    slow = json.JSONDecoder(strict=False).decode
    try:
        import msgspec  # noqa: PLC0415 (an extra: reading is slower without it, and the same)
    except ImportError:
        return lambda line: slow(line.decode())
    raw = {name: msgspec.Raw for name in as_bytes if name in wanted}
    shape = _shape("Work", wanted, raw)
    typed = msgspec.json.Decoder(shape).decode

    def decode(line: bytes) -> Any:
        try:
            found = typed(line)
        except ValueError:
            return slow(line.decode())
        for name in raw:
            value = found.get(name)
            if value is not None:
                text = bytes(value)
                found[name] = None if text in _NOTHING else text
        return found

    return decode


def _shape(name: str, wanted: Mapping[str, Any], raw: Mapping[str, Any]) -> Any:
    """Describe wanted parts as a type; what a key holds may be a list of such objects as well."""
    fields: dict[str, Any] = {}
    for key, inside in wanted.items():
        if key in raw:
            fields[key] = raw[key]
        elif inside is None:
            fields[key] = Any
        else:
            inner = _shape(f"{name}_{key}", inside, {})
            fields[key] = list[inner] | inner | None  # type: ignore[valid-type]
    return TypedDict(name, fields, total=False)  # type: ignore[operator]
