"""Templates: everything is escaped, undefined names are errors, and charts are at hand."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined

from citeweave.web import charts

__all__ = ["make_environment", "number", "percent"]


def percent(share: float | None, digits: int = 1) -> str:
    """Write a share as a percentage.

    Examples
    --------
    >>> percent(0.1234), percent(0.0004), percent(None)
    ('12.3 %', '< 0.1 %', '–')
    """
    if share is None or share != share:  # noqa: PLR0124 (nan)
        return "–"
    if 0 < share < 0.5 * 10.0 ** -(digits + 2):
        return f"< {10.0**-digits:.{digits}f} %"
    return f"{100 * share:.{digits}f} %"


def number(value: float | None, digits: int | None = None) -> str:
    """Write a number with thousands parted; a dash where there is none.

    Examples
    --------
    >>> number(12345), number(2.345, 1), number(None)
    ('12,345', '2.3', '–')
    """
    if value is None or value != value:  # noqa: PLR0124 (nan)
        return "–"
    return f"{value:,}" if digits is None else f"{value:,.{digits}f}"


def count(value: int, one: str, many: str | None = None) -> str:
    """Write a number with its noun: "1 paper", "12 papers"."""
    return f"{value:,} {one if value == 1 else many or one + 's'}"


def query(current: Mapping[str, Any], **changes: Any) -> str:
    """Write the part of an address after the question mark: the present one, with changes."""
    merged = {**current, **changes}
    return urlencode({k: v for k, v in merged.items() if v not in {None, ""}})


def make_environment() -> Environment:
    """Make the environment of the explorer's templates."""
    environment = Environment(
        loader=PackageLoader("citeweave.web", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters |= {"percent": percent, "number": number, "count": count}
    environment.globals |= {
        "bar": charts.bar,
        "stripe": charts.stripe,
        "sparkline": charts.sparkline,
        "columns": charts.columns,
        "for_all_screens": charts.for_all_screens,
        "topic_class": charts.topic_class,
        "query": query,
    }
    return environment
