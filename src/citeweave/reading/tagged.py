"""The lines of one record in formats that put a tag before each value (RIS, WoS, MEDLINE)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citeweave.reading.entities import decode_entities

if TYPE_CHECKING:
    from citeweave.reading.problems import FileContext

__all__ = ["Block"]

_LARGEST_RECORD = 1 << 25


class Block:
    """Tags and values of one record in the order of the file, bounded in size.

    Parameters
    ----------
    start : int
        Line the record begins at.
    """

    __slots__ = ("_values", "size", "start")

    def __init__(self, start: int) -> None:
        self.start = start
        self.size = 0
        self._values: list[tuple[str, list[str]]] = []

    def __bool__(self) -> bool:
        """Tell whether anything was added."""
        return bool(self._values)

    def __contains__(self, tag: str) -> bool:
        """Tell whether a tag was added."""
        return any(name == tag for name, _ in self._values)

    def add(self, tag: str, value: str, context: FileContext) -> None:
        """Begin a new value."""
        if self._fits(value, context):
            self._values.append((tag, [decode_entities(value)]))

    def extend(self, line: str, context: FileContext) -> None:
        """Go on with the last value."""
        if self._values and self._fits(line, context):
            self._values[-1][1].append(decode_entities(line))

    def _fits(self, text: str, context: FileContext) -> bool:
        before = self.size
        self.size += len(text) + 1
        if self.size <= _LARGEST_RECORD:
            return True
        if before <= _LARGEST_RECORD:
            context.note(
                self.start,
                f"the record is longer than {_LARGEST_RECORD} characters; its rest is left out "
                "(is a line missing that ends it?)",
            )
        return False

    def items(self) -> list[tuple[str, list[str]]]:
        """Return (tag, lines of the value), in the order of the file."""
        return self._values

    def joined(self, separator: str) -> dict[str, list[str]]:
        """Return all values of each tag, the lines of a value joined by `separator`."""
        fields: dict[str, list[str]] = {}
        for tag, lines in self._values:
            fields.setdefault(tag, []).append(separator.join(lines))
        return fields
