"""Read JSON objects from JSON Lines, lists and result pages, one at a time.

JSON Lines is read line by line. Other JSON is read by a cursor that decodes the objects of a list
one after the other, so that a page of a million works needs the memory of one. A value that cannot
be decoded is reported and skipped.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from citeweave.reading.entities import decode_all

if TYPE_CHECKING:
    from collections.abc import Iterator

    from citeweave.reading.problems import FileContext
    from citeweave.reading.streams import ByteStream

__all__ = ["json_objects"]

_LARGEST_VALUE = 1 << 26
_SOME = 1 << 20
_PIECE = 1 << 16
_COST_OF_DEPTH = 20_000
_CONTAINERS = frozenset(
    {"articles", "data", "documents", "hits", "items", "papers", "records", "results", "works"}
)
_ABOUT_PAGES = frozenset(
    {"meta", "total", "offset", "next", "status", "message-type", "message-version", "message"}
)
"""Other keys that a page of results may start with."""
_WHITE = re.compile(r"[\s,\ufeff]*")
# A string must end on its line; a broken one is abandoned there.
_MARKS = re.compile(r'"[^"\\\r\n]*(?:\\[^\r\n]?+[^"\\\r\n]*)*(?P<end>"|[\r\n]|\Z)|[{}\[\]]')
_SCALAR_END = re.compile(r"[,}\]\r\n]")
_NEXT_OBJECT = re.compile(r"\{\s*\"")
# Not strict: a raw tab inside a string should not cost a record.
_decoder = json.JSONDecoder(strict=False)
_decode = _decoder.raw_decode


def json_objects(stream: ByteStream, context: FileContext) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line, object) of each JSON object that represents a record."""
    if _is_json_lines(stream.head_text):
        yield from _from_lines(stream, context)
    else:
        yield from _from_document(stream, context)


def _is_json_lines(head: str) -> bool:
    head = head.lstrip("\ufeff \t\r\n")
    if not head.startswith("{"):
        return False
    # All lines but the last are complete.
    lines = [line.strip() for line in re.split(r"\r\n|\r|\n", head)]
    lines = [line for line in lines if line]
    if len(lines) == 1:
        # One object on one (possibly long) line; a page of results has its own reader.
        key = re.match(r"\{\s*\"([\w-]+)\"\s*:", head)
        return key is None or key[1] not in _CONTAINERS | _ABOUT_PAGES
    return lines[0] != "{" and all(line.startswith("{") for line in lines[:2])


def _from_lines(stream: ByteStream, context: FileContext) -> Iterator[tuple[int, dict[str, Any]]]:
    loads = _decoder.decode
    for number, line in stream.lines():
        if not line or line.isspace():
            continue
        try:
            value = loads(line)
        except RecursionError:
            context.skip(number, "JSON nested too deeply; line skipped")
            continue
        except ValueError as error:
            context.skip(number, f"line is not valid JSON and was skipped ({error})")
            continue
        if isinstance(value, dict):
            yield from _unwrapped(number, decode_all(value) if "&" in line else value)
        else:
            context.skip(number, f"expected a JSON object, got {type(value).__name__}")


def _unwrapped(number: int, value: dict[str, Any]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a page of results on one line, or else the object itself."""
    if "message" in value and isinstance(value["message"], dict) and "title" not in value:
        value = value["message"]
    if not value.keys() & {"title", "display_name", "id", "paper_id", "paperId"}:
        for key in value.keys() & _CONTAINERS:
            inner = value[key]
            if isinstance(inner, list) and inner and all(isinstance(x, dict) for x in inner):
                for item in inner:
                    yield number, item
                return
    yield number, value


def _from_document(
    stream: ByteStream, context: FileContext
) -> Iterator[tuple[int, dict[str, Any]]]:
    cursor = _Cursor(stream.text(), context)
    while mark := cursor.peek():
        if mark == "[":
            cursor.step()
            yield from cursor.elements()
        elif mark == "{":
            yield from _object_or_page(cursor)
        elif mark in "]}":
            cursor.step()
        else:
            context.note(cursor.line, f"text that is not JSON skipped, starting at {mark!r}")
            if not cursor.next_object():
                return


def _object_or_page(
    cursor: _Cursor, *, inner: bool = False
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Read one object; if one of its values is a list of records, yield those instead.

    Crossref wraps its response, a work or a page, in an object under "message".
    """
    line = cursor.line
    cursor.step()
    rest: dict[str, Any] = {}
    page = False
    while cursor.peek() == '"':
        found, key = cursor.value()
        if not found or not isinstance(key, str) or cursor.peek() != ":":
            break
        cursor.step()
        if key in _CONTAINERS and cursor.peek() == "[" and cursor.peek(1) == "{":
            page = True
            cursor.step()
            yield from cursor.elements()
            continue
        if key == "message" and not inner and cursor.peek() == "{":
            page = True
            yield from _object_or_page(cursor, inner=True)
            continue
        found, value = cursor.value(within=rest)
        if found:
            rest[key] = value
    if cursor.peek() == "}":
        cursor.step()
    elif not page:
        cursor.context.note(
            line, "the JSON object is truncated or broken; its readable fields are kept"
        )
        cursor.next_object()
    if rest and not page:
        yield line, rest


class _Cursor:
    """A position in a stream of JSON text."""

    def __init__(self, pieces: Iterator[str], context: FileContext) -> None:
        self.context = context
        self._pieces = pieces
        self._buffer = ""
        self._at = 0
        self._line = 1
        self._counted = 0
        self._ended = False
        self._known_keys: frozenset[str] = frozenset()

    @property
    def line(self) -> int:
        """Line of the next character."""
        self.peek()
        self._line += self._buffer.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._line

    def _fill(self, least: int) -> bool:
        """Append at least `least` characters, if available."""
        parts = [self._buffer[self._at :]]
        self._line += self._buffer.count("\n", self._counted, self._at)
        got = 0
        while got < least and not self._ended:
            piece = next(self._pieces, None)
            if piece is None:
                self._ended = True
                break
            parts.append(piece)
            got += len(piece)
        self._buffer = "".join(parts)
        self._at = self._counted = 0
        return got > 0

    def peek(self, ahead: int = 0) -> str:
        """Return the next character, or the one `ahead` positions after it; "" at the end."""
        while True:
            at = self._at
            for step in range(ahead + 1):
                found = _WHITE.match(self._buffer, at + (step > 0))
                at = found.end() if found else at
            if ahead == 0:
                self._at = at
            if at < len(self._buffer):
                return self._buffer[at]
            if self._ended or not self._fill(1):
                return ""

    def step(self) -> None:
        """Skip one character."""
        self._at += 1

    def elements(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the objects of a list after its opening bracket, and consume its end.

        Nested lists are flattened: if each were decoded as one value, an unclosed list would be
        read to the end of the file once per bracket.
        """
        depth = 1
        while mark := self.peek():
            line = self.line
            if mark in "[]":
                self.step()
                depth += 1 if mark == "[" else -1
                if depth == 0:
                    return
                continue
            if mark in "}:":
                self.step()
                continue
            found, value = self.value()
            if found and isinstance(value, dict):
                self._known_keys = self._known_keys or frozenset(value)
                yield line, value
            elif found:
                self.context.skip(line, f"expected a JSON object, got {type(value).__name__}")

    def value(self, *, within: dict[str, Any] | None = None) -> tuple[bool, Any]:
        """Decode the next value; on failure, report it and continue after it.

        `within` is the record that the value belongs to, if known: after a failure, the search then
        looks for an object that resembles this record.
        """
        self.peek()
        if self._at >= len(self._buffer):
            return False, None
        reason = "nested too deeply"
        while True:
            try:
                value, after = _decode(self._buffer, self._at)
            except RecursionError:
                pass
            except ValueError as error:
                reason = str(error)
            else:
                # A number at the end of the buffer may continue in the next chunk.
                if after < len(self._buffer) or self._ended or not isinstance(value, int | float):
                    if self._buffer.find("&", self._at, after) >= 0:
                        value = decode_all(value)
                    self._at = after
                    return True, value
            end, broken = self._value_end()
            size = len(self._buffer) - self._at
            # A value may look broken only because the buffer ends: read more first.
            if end is not None or self._ended or size > (_SOME if broken else _LARGEST_VALUE):
                break
            self._fill(max(size, 1 << 16))
        if within:
            self._known_keys = self._known_keys or frozenset(within)
        self.context.skip(self.line, f"unreadable JSON value skipped ({reason})")
        if end is not None:
            self._at = end
        else:
            self._at += 1
            self.next_object()
        return False, None

    def _value_end(self) -> tuple[int | None, bool]:
        """Return the end of a value judged by its brackets only, and whether these are broken.

        None if the end is not in the buffer or cannot be determined.
        """
        start = self._buffer[self._at]
        if start == '"':
            string = _MARKS.match(self._buffer, self._at)
            return (string.end() if string and string["end"] else None), False
        if start not in "{[":
            found = _SCALAR_END.search(self._buffer, self._at + 1)
            return (found.start() if found else None), False
        closing: list[str] = []
        for mark in _MARKS.finditer(self._buffer, self._at):
            here = mark[0]
            if here in "{[":
                closing.append("}" if here == "{" else "]")
            elif here in "}]":
                if closing.pop() != here:
                    return None, True
                if not closing:
                    return mark.end(), False
            elif mark["end"] in ("\r", "\n"):
                return None, True
        return None, False

    def next_object(self) -> bool:
        """Find the next object that can be decoded and resembles the records so far."""
        # Failures take time without much progress: skip larger pieces of a broken file.
        budget = _LARGEST_VALUE
        while True:
            found = _NEXT_OBJECT.search(self._buffer, self._at)
            if found is None:
                self._at = len(self._buffer)
                if self._ended or not self._fill(1):
                    return False
                continue
            self._at = found.start()
            try:
                value, end = self._decode_here()
            except (RecursionError, ValueError) as error:
                if isinstance(error, json.JSONDecodeError):
                    if not self._ended and len(self._buffer) - self._at < _SOME:
                        self._fill(_SOME)
                        continue
                    budget -= error.pos
                else:
                    budget -= _COST_OF_DEPTH
                self._at = self._at + 1 if budget > 0 else len(self._buffer)
                continue
            if self._looks_known(value):
                return True
            self._at = end

    def _decode_here(self) -> tuple[dict[str, Any], int]:
        """Decode the object at this position, starting with a part of the buffer.

        Each error counts the lines before it, which adds up in a large buffer.
        """
        piece = self._buffer[self._at : self._at + _PIECE]
        try:
            value, length = _decode(piece)
        except json.JSONDecodeError as error:
            cut = error.pos > _PIECE - 10 or error.msg.startswith("Unterminated")
            if len(piece) < _PIECE or not cut:
                raise
            value, length = _decode(self._buffer[self._at :])
        return value, self._at + length

    def _looks_known(self, value: dict[str, Any]) -> bool:
        if self._known_keys:
            return 2 * len(self._known_keys & value.keys()) >= len(self._known_keys)
        return not value.keys().isdisjoint({"title", "display_name"})
