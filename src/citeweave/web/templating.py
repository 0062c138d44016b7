"""Templates, styles and scripts shared by the explorer and the report.

All output is escaped, undefined names are errors, and chart functions are available.
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
"""Number of cell strengths in heat tables, each with its own CSS class."""


def query(current: Mapping[str, Any], **changes: Any) -> str:
    """Return the current query string with changes."""
    merged = {**current, **changes}
    return urlencode({k: v for k, v in merged.items() if v not in {None, ""}})


def peak(topics: Iterable[Any]) -> float:
    """Return the largest yearly share of any topic: the maximum of a common axis."""
    trends = (topic["trend"] if isinstance(topic, dict) else topic.trend for topic in topics)
    return max((share for trend in trends for share in trend if share is not None), default=1.0)


def heat_class(strength: float) -> str:
    """Return the CSS class for a cell strength from 0 to 1; the policy forbids inline styles.

    Examples
    --------
    >>> heat_class(0.0), heat_class(0.04), heat_class(1.0)
    ('heat-0', 'heat-1', 'heat-10')
    """
    step = -(-HEAT_STEPS * min(max(strength, 0.0), 1.0) // 1)
    return f"heat-{step:.0f}"


def _shown(value: object) -> object:
    """Strip control characters from strings before they are rendered."""
    return printable(value) if type(value) is str else value


class _BelowBase(Extension):
    """Prefixes every local URL with the path under which the application is mounted.

    Templates write URLs as if the application were at the root, so that none can be forgotten.
    """

    _addresses = re.compile(r'\b(href|src|action|data-map|data-papers)="/')

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        """Rewrite the source of a template before it is compiled."""
        del name, filename
        return self._addresses.sub(r'\1="{{ base }}/', source)


def make_environment(view: "Exploration | None", base: str = "") -> Environment:
    """Create the Jinja environment; templates about a run need its topic colours.

    Parameters
    ----------
    view : Exploration, optional
    base : str
        Path prefix of all pages.
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
    """Return the content security policy of a self-contained page with one script.

    The page may load nothing; the script is allowed by its hash.
    """
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
        f"script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )


@cache
def topic_rules() -> str:
    """Return the CSS rules of the topic colours, one per palette slot."""
    return "\n".join(
        f".{charts.topic_class(slot)} {{ --topic: {colour}; }}"
        for slot, colour in enumerate(PALETTE)
    )


def resource(name: str) -> str:
    """Read a style sheet or script from the package."""
    return files("citeweave.web").joinpath("static", name).read_text(encoding="utf-8")
