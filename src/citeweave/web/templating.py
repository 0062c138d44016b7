"""Templates, styles and scripts that the explorer and the report share.

Everything is escaped, undefined names are errors, and charts are at hand.
"""

import base64
import hashlib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined

from citeweave.explore.colours import PALETTE
from citeweave.web import charts
from citeweave.web.glossary import spoken
from citeweave.wording import count, number, people, percent, printable, short_number, size_text

if TYPE_CHECKING:
    from citeweave.explore import Exploration

__all__ = ["make_environment", "page_policy", "query", "resource", "topic_rules"]

HEAT_STEPS = 10
"""Strengths of the cells of a heat table, each a class of the style sheet."""


def query(current: Mapping[str, Any], **changes: Any) -> str:
    """Write the part of an address after the question mark: the present one, with changes."""
    merged = {**current, **changes}
    return urlencode({k: v for k, v in merged.items() if v not in {None, ""}})


def peak(topics: Iterable[Any]) -> float:
    """Give the largest share that any topic had in a year: the top of an axis that all share."""
    trends = (topic["trend"] if isinstance(topic, dict) else topic.trend for topic in topics)
    return max((share for trend in trends for share in trend if share is not None), default=1.0)


def heat_class(strength: float) -> str:
    """Name the class of a cell's strength, from 0 to 1; policies forbid styles of its own.

    Examples
    --------
    >>> heat_class(0.0), heat_class(0.04), heat_class(1.0)
    ('heat-0', 'heat-1', 'heat-10')
    """
    step = -(-HEAT_STEPS * min(max(strength, 0.0), 1.0) // 1)
    return f"heat-{step:.0f}"


def _shown(value: object) -> object:
    """Give what a template may show: texts of bibliographies without control characters."""
    return printable(value) if type(value) is str else value


def make_environment(view: "Exploration | None") -> Environment:
    """Make the environment of all templates; those about a run need its colours of topics."""
    environment = Environment(
        loader=PackageLoader("citeweave.web", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        finalize=_shown,
    )
    environment.filters |= {
        "percent": percent,
        "number": number,
        "short": short_number,
        "count": count,
        "people": people,
        "bytes": size_text,
        "peak": peak,
        "spoken": spoken,
    }
    environment.globals |= {
        "bar": charts.bar,
        "stripe": charts.stripe,
        "sparkline": charts.sparkline,
        "columns": charts.columns,
        "for_all_screens": charts.for_all_screens,
        "topic_class": charts.topic_class,
        "heat_class": heat_class,
        "query": query,
    }
    if view is not None:
        environment.globals["slot"] = view.colours.slot
    return environment


def page_policy(script: str) -> str:
    """Write the policy of a page that is complete in itself: it loads nothing and runs one script.

    The script is named by its hash.
    """
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
        f"script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )


@cache
def topic_rules() -> str:
    """Write the style rules of the colours of topics: one for each place in the palette."""
    return "\n".join(
        f".{charts.topic_class(slot)} {{ --topic: {colour}; }}"
        for slot, colour in enumerate(PALETTE)
    )


def resource(name: str) -> str:
    """Read a style sheet or a script of the package."""
    return files("citeweave.web").joinpath("static", name).read_text(encoding="utf-8")
