"""The definition of a format, its detection from the start of a file, and error handling."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from citeweave.reading.problems import FileContext
    from citeweave.reading.record import Record
    from citeweave.reading.streams import ByteStream

__all__ = ["SHAPE_ERRORS", "Format", "Sample", "as_dict", "as_list", "convert"]

T = TypeVar("T")

_JSON_KEY = re.compile(r'"([A-Za-z_][\w.]*)"\s*:')
SHAPE_ERRORS = (
    ArithmeticError,
    AttributeError,
    IndexError,
    KeyError,
    RecursionError,
    TypeError,
    ValueError,
)
"""Errors raised for values of an unexpected shape."""


@dataclass(frozen=True, slots=True)
class Format:
    """A format: how to recognise and read it.

    Attributes
    ----------
    name : str
        Name used in ``format=``.
    label : str
        Name shown to people.
    sniff : callable
        Maps a `Sample` to a score: 0 if the format does not match, 10 to 40 for formats that many
        files resemble, 50 or more if the file is clearly of this format.
    read : callable
        Maps a `ByteStream` and a `FileContext` to records.
    suffixes : tuple of str
        Usual file name suffixes; they only break ties.
    gives : str
        Fields of `Record` that the format can fill, separated by spaces; ``author_ids`` means an
        author id or ORCID.
    companions : callable or None
        Maps a file name to the names of files that belong to it.
    """

    name: str
    label: str
    sniff: Callable[[Sample], int]
    read: Callable[[ByteStream, FileContext], Iterator[Record]]
    suffixes: tuple[str, ...] = ()
    gives: str = ""
    companions: Callable[[str], tuple[str, ...]] | None = None

    def score(self, sample: Sample) -> int:
        """Return the score of `sniff`, slightly higher if the suffix matches."""
        score = self.sniff(sample)
        return score + 3 if score and sample.name.endswith(self.suffixes) else score


class Sample:
    """The start of a file and cheap views of it, shared by the sniffers of all formats.

    Parameters
    ----------
    name : str
        File name without folders and ``.gz``.
    head : bytes
        The first 64 kB.
    text : str
        The same as text, with uniform line ends.
    """

    def __init__(self, name: str, head: bytes, text: str) -> None:
        self.name = name.lower()
        self.head = head
        self.text = text.replace("\r\n", "\n").replace("\r", "\n")

    @cached_property
    def lines(self) -> list[str]:
        """The first non-empty lines, at most 200."""
        return [line for line in self.text.split("\n") if line.strip()][:200]

    @cached_property
    def first_line(self) -> str:
        """The first non-empty line."""
        return self.lines[0] if self.lines else ""

    @cached_property
    def is_json(self) -> bool:
        """Whether the text starts like a JSON object or a list of objects."""
        return re.match(r"\s*(?:\[\s*)?\{\s*(?:\"|\}|$)", self.text) is not None

    @cached_property
    def json_keys(self) -> frozenset[str]:
        """All keys found in the head, including nested ones."""
        return frozenset(_JSON_KEY.findall(self.text)) if self.is_json else frozenset()

    @cached_property
    def table_head(self) -> str:
        """The header line, if this is a table.

        Some exports start with a line about the search or with Excel's "sep=;".
        """
        for line in self.lines[:5]:
            if len(_split(line, _delimiter(line))) > 2:
                return line
        return self.first_line

    @cached_property
    def delimiter(self) -> str:
        """The most frequent of the usual delimiters in the header line."""
        return _delimiter(self.table_head)

    @cached_property
    def header(self) -> frozenset[str]:
        """Column names in lower case, if this is a table."""
        return frozenset(cell.strip().lower() for cell in self.cells)

    @cached_property
    def cells(self) -> list[str]:
        """The cells of the header line."""
        return _split(self.table_head, self.delimiter)


def _delimiter(line: str) -> str:
    bare = re.sub(r'"[^"]*"', "", line)
    return max(",\t;|", key=bare.count)


def _split(line: str, delimiter: str) -> list[str]:
    return next(csv.reader([line[:50_000]], delimiter=delimiter), [])


def convert(
    items: Iterable[tuple[int, T]],
    make: Callable[[T, int, FileContext], Record | None],
    context: FileContext,
) -> Iterator[Record]:
    """Turn each (line, item) into a record; report failures and continue."""
    for line, item in items:
        try:
            record = make(item, line, context)
        except SHAPE_ERRORS as error:
            context.skip(
                line,
                f"record skipped: a field has an unexpected shape "
                f"({type(error).__name__}: {str(error)[:200]})",
            )
            continue
        if record is None or not (
            record.title or record.abstract or record.doi or record.words is not None
        ):
            context.skip(line, "record skipped: it has no title, abstract, DOI or words")
            continue
        yield record


def as_list(value: Any) -> list[Any]:
    """Return a list unchanged, None as an empty list, and anything else as a list of one."""
    if isinstance(value, list):
        return value
    return [] if value is None else [value]


def as_dict(value: Any) -> dict[str, Any]:
    """Return a JSON object unchanged, and anything else as an empty one."""
    return value if isinstance(value, dict) else {}
