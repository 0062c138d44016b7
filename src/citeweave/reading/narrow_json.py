"""JSON decoders that create only the wanted parts of objects, if msgspec is installed."""

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
    """Return a decoder of objects that skips unwanted parts.

    Parameters
    ----------
    wanted : mapping
        Keys of the object. The value is None for everything below a key, or a mapping if only some
        parts of an object or of a list of objects are wanted.
    as_bytes : collection of str
        Keys whose values may stay JSON text, in bytes; null and empty values become None.

    Returns
    -------
    callable
        Takes the bytes of one object, and raises ValueError if they are not JSON. Without msgspec,
        and for values that msgspec refuses (a raw tab inside a text, NaN, text instead of an
        object), the standard library decodes everything.

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
    """Return the type of the wanted parts; a key may also contain a list of such objects."""
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
