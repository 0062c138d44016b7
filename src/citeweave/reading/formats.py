"""What a format is, how one is told from the first bytes of a file, and how readers fail."""

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
"""What a value of another shape than expected leads to."""


@dataclass(frozen=True, slots=True)
class Format:
    """One format: how to recognise it and how to read it.

    Attributes
    ----------
    name : str
        What the user writes in ``format=``.
    label : str
        What people call it.
    sniff : callable
        From a `Sample` to a score: 0 for "not mine", 10 to 40 for formats that many files
        would pass for, 50 and more for files that bear a clear mark of the format.
    read : callable
        From a `ByteStream` and a `FileContext` to records.
    suffixes : tuple of str
        Usual endings of file names; they only break ties.
    gives : str
        Fields of `Record` the format can fill, separated by spaces; ``author_ids`` stands
        for an author id or ORCID.
    companions : callable or None
        From a file's name to the names of files that belong to it.
    """

    name: str
    label: str
    sniff: Callable[[Sample], int]
    read: Callable[[ByteStream, FileContext], Iterator[Record]]
    suffixes: tuple[str, ...] = ()
    gives: str = ""
    companions: Callable[[str], tuple[str, ...]] | None = None

    def score(self, sample: Sample) -> int:
        """Return the sniffed score, raised a little where the name's suffix agrees."""
        score = self.sniff(sample)
        return score + 3 if score and sample.name.endswith(self.suffixes) else score


class Sample:
    """The head of a file and cheap views of it, shared by the sniffers of all formats.

    Parameters
    ----------
    name : str
        The file's name without folders and ``.gz``.
    head : bytes
        Its first 64 kB.
    text : str
        The same as text; kept with one kind of line end.
    """

    def __init__(self, name: str, head: bytes, text: str) -> None:
        self.name = name.lower()
        self.head = head
        self.text = text.replace("\r\n", "\n").replace("\r", "\n")

    @cached_property
    def lines(self) -> list[str]:
        """The first lines that are not empty, at most 200."""
        return [line for line in self.text.split("\n") if line.strip()][:200]

    @cached_property
    def first_line(self) -> str:
        """The first line that is not empty."""
        return self.lines[0] if self.lines else ""

    @cached_property
    def is_json(self) -> bool:
        """Whether the text begins as a JSON object or a list of objects."""
        return re.match(r"\s*(?:\[\s*)?\{\s*(?:\"|\}|$)", self.text) is not None

    @cached_property
    def json_keys(self) -> frozenset[str]:
        """All keys seen in the head, nested ones too."""
        return frozenset(_JSON_KEY.findall(self.text)) if self.is_json else frozenset()

    @cached_property
    def table_head(self) -> str:
        """The line that heads the columns, if this is a table.

        Some exports begin with a line on the search or with Excel's "sep=;".
        """
        for line in self.lines[:5]:
            if len(_split(line, _delimiter(line))) > 2:
                return line
        return self.first_line

    @cached_property
    def delimiter(self) -> str:
        """The most frequent of the usual delimiters in the line that heads the columns."""
        return _delimiter(self.table_head)

    @cached_property
    def header(self) -> frozenset[str]:
        """Column names in lower case, if this is a table."""
        return frozenset(cell.strip().lower() for cell in self.cells)

    @cached_property
    def cells(self) -> list[str]:
        """The cells of the line that heads the columns."""
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
    """Make a record of each (line, item); one that cannot be made is reported, not fatal."""
    for line, item in items:
        try:
            record = make(item, line, context)
        except SHAPE_ERRORS as error:
            context.skip(
                line,
                f"record passed over, a field has an unexpected shape "
                f"({type(error).__name__}: {str(error)[:200]})",
            )
            continue
        if record is None or not (
            record.title or record.abstract or record.doi or record.words is not None
        ):
            context.skip(
                line, "record passed over: it has no title, no abstract, no DOI and no words"
            )
            continue
        yield record


def as_list(value: Any) -> list[Any]:
    """Return a list as it is, None as an empty list, anything else as a list of one."""
    if isinstance(value, list):
        return value
    return [] if value is None else [value]


def as_dict(value: Any) -> dict[str, Any]:
    """Return a JSON object as it is and anything else as an empty one."""
    return value if isinstance(value, dict) else {}
