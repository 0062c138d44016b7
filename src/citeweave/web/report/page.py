"""The page: contents through templates into one HTML text, and onto the disk.

The page loads nothing and its own policy forbids it to; the one script it runs is named in the
policy by its hash. Everything that comes from a bibliography goes through autoescaping.
"""

from __future__ import annotations

import base64
import hashlib
import math
from importlib.resources import files
from typing import TYPE_CHECKING

import citeweave

if TYPE_CHECKING:
    from jinja2 import Environment

    from citeweave.web.report.contents import Contents

__all__ = ["render", "size_text"]

_SECTIONS = (
    ("short", "In short"),
    ("corpus", "The corpus"),
    ("topics", "Topics"),
    ("trends", "Trends"),
    ("network", "Authors and topics"),
    ("authors", "Authors"),
    ("map", "Map of papers"),
    ("papers", "Papers"),
    ("flow", "Citation flow"),
    ("diagnostics", "Reliability"),
    ("method", "Method"),
    ("cite", "How to cite"),
    ("data", "Tables"),
)

# classes of notes in the style sheet
_TONES = {"good": "good", "fair": "warn", "poor": "bad", "unknown": "warn"}


def render(contents: Contents) -> str:
    """Lay contents out as one HTML page.

    Raises
    ------
    MissingDependencyError
        Jinja2 is not installed; the text gives the install line.
    """
    environment = _environment()
    from markupsafe import Markup  # noqa: PLC0415 (comes with Jinja2, which is there now)

    style = _resource("static/citeweave.css") + _resource("report/templates/report.css")
    script = _resource("report/templates/report.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
        f"script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
    sections = [pair for pair in _SECTIONS if pair[0] != "data" or contents.downloads]
    return environment.get_template("report.html").render(
        it=contents,
        tone=_TONES[contents.diagnostics.verdict.level],
        sections=sections,
        policy=policy,
        style=Markup(style),  # noqa: S704 (our own files)
        script=Markup(script),  # noqa: S704
        version=citeweave.__version__,
    )


def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 (heavy)

    from citeweave.web.charts import sparkline, topic_class  # noqa: PLC0415 (needs markupsafe)

    environment = Environment(
        loader=PackageLoader("citeweave.web.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"topic_class": topic_class, "sparkline": sparkline}
    environment.filters |= {
        "figure": _figure,
        "ratio": _ratio,
        "whole": _whole,
        "bytes": size_text,
        "pair": lambda text: (text, ""),
    }
    return environment


def _resource(name: str) -> str:
    return files("citeweave.web").joinpath(name).read_text(encoding="utf-8")


def _figure(value: float) -> str:
    """Write a mean with about four digits and a true minus."""
    if not math.isfinite(value):
        return "–"
    text = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return text.replace("-", "−")


def _ratio(value: float) -> str:
    if math.isnan(value):
        return "–"
    return "∞" if math.isinf(value) else f"{value:.2f}"


def _whole(value: float) -> str:
    return f"{value:,.0f}" if math.isfinite(value) else "–"


def size_text(size: float) -> str:
    """Write a number of bytes for people.

    Examples
    --------
    >>> size_text(812), size_text(48_300), size_text(3_210_000)
    ('812 bytes', '48 kB', '3.2 MB')
    """
    if size < 1000:
        return f"{size:.0f} bytes"
    return f"{size / 1000:.0f} kB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"
