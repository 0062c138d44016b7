"""Records in tagged formats (RIS, WoS, MEDLINE, EndNote)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citeweave.reading.affiliations import addresses
from citeweave.reading.entities import decode_entities
from citeweave.reading.identifiers import clean, mesh_heading
from citeweave.reading.names import parse_name, parse_names, split_names
from citeweave.reading.record import Affiliation, Author

if TYPE_CHECKING:
    from collections.abc import Iterable

    from citeweave.reading.problems import FileContext

__all__ = ["Block", "address_lines", "keyword_list", "written_authors"]

_LARGEST_RECORD = 1 << 25
_STARRED = re.compile(r"^\*|/\*")


class Block:
    """Tags and values of one record in file order, limited in size.

    Parameters
    ----------
    start : int
        First line of the record.
    """

    __slots__ = ("_values", "size", "start")

    def __init__(self, start: int) -> None:
        self.start = start
        self.size = 0
        self._values: list[tuple[str, list[str]]] = []

    def __bool__(self) -> bool:
        """Return whether anything was added."""
        return bool(self._values)

    def __contains__(self, tag: str) -> bool:
        """Return whether a tag was added."""
        return any(name == tag for name, _ in self._values)

    def add(self, tag: str, value: str, context: FileContext) -> None:
        """Start a new value."""
        if self._fits(value, context):
            self._values.append((tag, [decode_entities(value)]))

    def extend(self, line: str, context: FileContext) -> None:
        """Continue the last value."""
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
                f"the record is longer than {_LARGEST_RECORD} characters; the rest is skipped (is "
                "its end marker missing?)",
            )
        return False

    def items(self) -> list[tuple[str, list[str]]]:
        """Return (tag, lines of the value) in file order."""
        return self._values

    def joined(self, separator: str) -> dict[str, list[str]]:
        """Return all values of each tag, with the lines of a value joined by `separator`."""
        fields: dict[str, list[str]] = {}
        for tag, lines in self._values:
            fields.setdefault(tag, []).append(separator.join(lines))
        return fields


def written_authors(values: Iterable[str]) -> tuple[Author, ...]:
    """Return the authors, usually one name per line; some programs write lists.

    A name that ends in a comma is an organisation, which EndNote does not split.

    Examples
    --------
    >>> [one.family for one in written_authors(["Lim, Kar Wai", "Wray Buntine and Lan Du", "ANU,"])]
    ['Lim', 'Buntine', 'Du', None]
    """
    authors: list[Author] = []
    for line in (line.strip() for value in values for line in value.splitlines()):
        group = clean(line.rstrip(", ")) if line.endswith(",") else None
        if group is not None and parse_name(group) is not None:
            authors.append(Author(group))
        elif line:
            names = split_names(line) if ";" in line or " and " in line else [line]
            authors += parse_names(names)
    return tuple(authors)


def keyword_list(values: Iterable[str]) -> tuple[str, ...]:
    """Return distinct keywords, one per line or in a list; headings without qualifiers.

    Examples
    --------
    >>> keyword_list(["topic models", "citations; *Stroke/therapy"])
    ('topic models', 'citations', 'Stroke')
    """
    words = [word for value in values for word in re.split(r"[\r\n]+|;\s", value)]
    words = [mesh_heading(word) if _STARRED.search(word) else word for word in words]
    return tuple(dict.fromkeys(word for word in map(clean, words) if word))


def address_lines(values: Iterable[str]) -> tuple[Affiliation, ...]:
    """Return affiliations given one per line, or several separated by semicolons."""
    return addresses(part for value in values for part in re.split(r"[\r\n]+|;", value))
