"""Templates, styles and scripts that the explorer and the report share.

Everything is escaped, undefined names are errors, and charts are at hand.
"""

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from jinja2.ext import Extension

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


class _BelowBase(Extension):
    """Puts the path that an application is mounted below before every address on this server.

    Templates write addresses as if it stood at the root, so that none can be forgotten.
    """

    _addresses = re.compile(r'\b(href|src|action|data-map|data-papers)="/')

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        """Change the text of a template before it is compiled."""
        del name, filename
        return self._addresses.sub(r'\1="{{ base }}/', source)


def make_environment(view: "Exploration | None", base: str = "") -> Environment:
    """Make the environment of all templates; those about a run need its colours of topics.

    Parameters
    ----------
    view : Exploration, optional
    base : str
        Path that all pages stand below.
    """
    environment = Environment(
        loader=PackageLoader("citeweave.web", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        finalize=_shown,
        extensions=[_BelowBase],
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
        "base": base,
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
