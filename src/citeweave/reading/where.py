"""Conditions on OpenAlex works, for the option ``--where``.

    type = article | review, year >= 2000, field = "Computer Science", has_abstract = true

Conditions are separated by commas and must all hold; ``|`` separates alternative values. Names are
compared case-insensitively and can also be given by their OpenAlex id; ``~`` matches a part of a
name. A value that contains a comma or a bar must be quoted.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Self

from citeweave.errors import ParameterError
from citeweave.reading.formats import as_dict, as_list
from citeweave.reading.openalex import short_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["FIELDS", "Where"]

Kind = Literal["name", "number", "date", "flag"]

_OPERATORS: dict[Kind, tuple[str, ...]] = {
    "name": ("=", "!=", "~", "!~"),
    "number": ("=", "!=", ">=", "<=", ">", "<"),
    "date": ("=", "!=", ">=", "<=", ">", "<"),
    "flag": ("=", "!="),
}
_CONDITION = re.compile(r"\s*([A-Za-z_]+)\s*(>=|<=|!=|!~|==|=|>|<|~)\s*(.*?)\s*", re.DOTALL)
_PART = re.compile(r'"[^"]*"|\'[^\']*\'|[^"\',|]+|[,|]|["\']')
_DATE = re.compile(r"\d{4}(-\d\d(-\d\d)?)?")
_FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


@dataclass(frozen=True, slots=True)
class WorkField:
    """A field of a work that can be used in conditions.

    Attributes
    ----------
    kind : str
        Type of its values.
    column : str
        The part of a work from which it is read.
    values : callable
        Returns the values of that part.
    about : str
        Description.
    """

    kind: Kind
    column: str
    values: Callable[[Any], Iterator[Any]]
    about: str


def _plain(value: Any) -> Iterator[Any]:
    if value is not None:
        yield value


def _named(item: Any) -> Iterator[str]:
    """Yield the names of an object: its display name and its ids."""
    for key in ("display_name", "id", "ror"):
        value = as_dict(item).get(key)
        if isinstance(value, str):
            yield value if key == "display_name" else short_id(value) or ""


def _each(items: Any) -> Iterator[str]:
    for item in as_list(items):
        yield from _named(item)


# named functions, not lambdas: conditions are sent to worker processes
def _inside(key: str, item: Any) -> Iterator[str]:
    return _named(as_dict(item).get(key))


def _is_oa(item: Any) -> Iterator[bool]:
    return _any(as_dict(item).get("is_oa"))


def _institutions(authorships: Any) -> Iterator[str]:
    for one in as_list(authorships):
        yield from _each(as_dict(one).get("institutions"))


def _authors(authorships: Any) -> Iterator[str]:
    for one in as_list(authorships):
        yield from _named(as_dict(one).get("author"))


def _countries(authorships: Any) -> Iterator[str]:
    for one in as_list(authorships):
        for code in as_list(as_dict(one).get("countries")):
            yield str(code)
        for place in as_list(as_dict(one).get("institutions")):
            code = as_dict(place).get("country_code")
            if code:
                yield str(code)


def _any(value: Any) -> Iterator[bool]:
    yield bool(value)


FIELDS: dict[str, WorkField] = {
    "year": WorkField("number", "publication_year", _plain, "year of publication"),
    "cited_by": WorkField("number", "cited_by_count", _plain, "citations in all of OpenAlex"),
    "updated": WorkField("date", "updated_date", _plain, "date of the last change"),
    "date": WorkField("date", "publication_date", _plain, "date of publication"),
    "type": WorkField("name", "type", _plain, "article, review, preprint, book-chapter, ..."),
    "language": WorkField("name", "language", _plain, "two letters: en, de, ..."),
    "domain": WorkField(
        "name", "primary_topic", partial(_inside, "domain"), "domain of the primary topic"
    ),
    "field": WorkField(
        "name", "primary_topic", partial(_inside, "field"), "field of the primary topic"
    ),
    "subfield": WorkField("name", "primary_topic", partial(_inside, "subfield"), "its subfield"),
    "topic": WorkField("name", "primary_topic", _named, "the primary topic"),
    "topics": WorkField("name", "topics", _each, "any topic of the work"),
    "keyword": WorkField("name", "keywords", _each, "any keyword"),
    "concept": WorkField("name", "concepts", _each, "any concept"),
    "source": WorkField(
        "name",
        "primary_location",
        partial(_inside, "source"),
        "journal, conference or repository",
    ),
    "author": WorkField("name", "authorships", _authors, "any author"),
    "institution": WorkField("name", "authorships", _institutions, "any institution, or its ROR"),
    "country": WorkField("name", "authorships", _countries, "any author's country, two letters"),
    "is_xpac": WorkField(
        "flag", "is_xpac", _any, "part of the 2025 expansion (DataCite, repositories)"
    ),
    "is_retracted": WorkField("flag", "is_retracted", _any, "retracted"),
    "is_paratext": WorkField("flag", "is_paratext", _any, "cover, table of contents, ..."),
    "is_oa": WorkField("flag", "open_access", _is_oa, "open access"),
    "has_abstract": WorkField("flag", "abstract_inverted_index", _any, "has an abstract"),
    "has_references": WorkField("flag", "referenced_works", _any, "has references"),
    "has_doi": WorkField("flag", "doi", _any, "has a DOI"),
}
"""Fields that can be used in conditions, by name."""


@dataclass(frozen=True, slots=True)
class _Condition:
    field: WorkField
    operator: str
    values: tuple[Any, ...]

    def holds(self, work: dict[str, Any]) -> bool:
        found = list(self.field.values(work.get(self.field.column)))
        kind, operator = self.field.kind, self.operator
        if kind == "name":
            names = [str(value).casefold() for value in found]
            if operator.endswith("~"):
                fits = any(part in name for part in self.values for name in names)
            else:
                fits = any(name in self.values for name in names)
            return fits != operator.startswith("!")
        if operator in {"=", "!="}:
            if kind == "date":
                same = any(str(f).startswith(v) for f in found for v in self.values)
            else:
                same = any(f == v for f in found for v in self.values)
            return same == (operator == "=")
        if not found:
            return False
        limit = self.values[0]
        value = str(found[0])[: len(limit)] if kind == "date" else found[0]
        if operator == ">=":
            return bool(value >= limit)
        if operator == "<=":
            return bool(value <= limit)
        return bool(value > limit) if operator == ">" else bool(value < limit)


@dataclass(frozen=True, slots=True)
class Where:
    """Conditions that a work must meet.

    Attributes
    ----------
    text : str
        Conditions as written.
    columns : tuple of str
        The parts of a work needed to check the conditions.

    Examples
    --------
    >>> where = Where.parse("type = article|review, year >= 2000, field ~ computer")
    >>> field = {"display_name": "Computer Science"}
    >>> work = {"type": "article", "publication_year": 2003, "primary_topic": {"field": field}}
    >>> where.holds(work), where.holds(work | {"publication_year": 1999})
    (True, False)
    """

    text: str
    conditions: tuple[_Condition, ...]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse conditions.

        Raises
        ------
        ParameterError
            A condition cannot be parsed; the message says which one and what would be valid.
        """
        return cls(text, tuple(_condition(part) for part in _split(text)))

    @property
    def columns(self) -> tuple[str, ...]:
        """The parts of a work needed to check the conditions."""
        return tuple(dict.fromkeys(condition.field.column for condition in self.conditions))

    def holds(self, work: dict[str, Any]) -> bool:
        """Return whether a work meets all conditions."""
        return all(condition.holds(work) for condition in self.conditions)


def _split(text: str) -> list[str]:
    """Split a text at commas outside quotes, keeping the quotes."""
    parts = [""]
    for piece in _PART.findall(text):
        if piece in {'"', "'"}:
            raise ParameterError(f"--where has an unclosed quote in {text!r}.")
        if piece == ",":
            parts.append("")
        else:
            parts[-1] += piece
    filled = [part for part in parts if part.strip()]
    if not filled:
        raise ParameterError(
            "--where must contain a condition, such as 'type = article, year >= 2000'. "
            f"Got {text!r} instead."
        )
    return filled


def _condition(text: str) -> _Condition:
    shown = text.strip()
    found = _CONDITION.fullmatch(text)
    if found is None:
        raise ParameterError(
            "Each condition of --where must have the form FIELD OPERATOR VALUE, such as "
            f"'year >= 2000'. Got {shown!r} instead."
        )
    name, operator, rest = found[1].lower(), found[2].replace("==", "="), found[3]
    field = FIELDS.get(name)
    if field is None:
        near = difflib.get_close_matches(name, FIELDS, n=1)
        hint = f"Did you mean {near[0]!r}?" if near else f"Available: {', '.join(FIELDS)}."
        raise ParameterError(f"--where has no field {name!r} (in {shown!r}). {hint}")
    if operator not in _OPERATORS[field.kind]:
        raise ParameterError(
            f"--where accepts {', '.join(_OPERATORS[field.kind])} for {name!r}. Got {operator!r} "
            f"in {shown!r} instead."
        )
    raw = [piece for piece in _PART.findall(rest) if piece != "|" and piece.strip()]
    values = tuple(_value(piece.strip().strip("\"'").strip(), field.kind, shown) for piece in raw)
    if not values:
        raise ParameterError(f"--where is missing a value in {shown!r}.")
    if len(values) > 1 and operator in {">=", "<=", ">", "<"}:
        raise ParameterError(
            f"--where accepts only one value here. Got {len(values)} in {shown!r}."
        )
    return _Condition(field, operator, values)


def _value(text: str, kind: Kind, shown: str) -> Any:
    if kind == "name":
        # ids may be given as OpenAlex URLs
        return (text.rsplit("/", 1)[-1] if text.startswith("https://") else text).casefold()
    if kind == "number":
        if not re.fullmatch(r"-?\d+", text):
            raise ParameterError(f"--where needs an integer in {shown!r}. Got {text!r} instead.")
        return int(text)
    if kind == "flag":
        if text.lower() not in _FLAGS:
            raise ParameterError(f"--where needs true or false in {shown!r}. Got {text!r} instead.")
        return _FLAGS[text.lower()]
    if not _DATE.fullmatch(text):
        raise ParameterError(
            f"--where needs a date such as 2026-06-24 in {shown!r}. Got {text!r} instead."
        )
    return text
