"""Render the contents of a report as one HTML page.

The page loads nothing, which its own content security policy enforces; the policy allows one
script, identified by its hash. All text from bibliographies is autoescaped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import citeweave

if TYPE_CHECKING:
    from citeweave.explore import Exploration
    from citeweave.web.report.contents import Contents

__all__ = ["render"]

_SECTIONS = (
    ("short", "Summary"),
    ("corpus", "The corpus"),
    ("topics", "Topics"),
    ("trends", "Trends"),
    ("categories", "Categories"),
    ("network", "Authors and topics"),
    ("authors", "Authors"),
    ("map", "Map of papers"),
    ("papers", "Papers"),
    ("flow", "Citation flow"),
    ("diagnostics", "Reliability"),
    ("method", "Method"),
    ("glossary", "Glossary"),
    ("cite", "How to cite"),
    ("data", "Tables"),
)

_SCRIPTS = ("canvas.js", "network.js", "map.js")

# CSS classes of notes
_TONES = {"good": "good", "fair": "warn", "poor": "bad", "unknown": "warn"}


def render(contents: Contents, view: Exploration) -> str:
    """Render contents as one HTML page."""
    from markupsafe import Markup  # noqa: PLC0415 (slow import, like the next ones)

    from citeweave.web.glossary import AGREEMENT, GLOSSARY  # noqa: PLC0415
    from citeweave.web.templating import (  # noqa: PLC0415
        make_environment,
        page_policy,
        resource,
        topic_rules,
    )

    style = "\n".join((resource("citeweave.css"), topic_rules(), resource("report.css")))
    script = "\n".join(resource(name) for name in _SCRIPTS)
    optional = {"data": contents.downloads, "categories": contents.drawn}
    sections = [pair for pair in _SECTIONS if optional.get(pair[0], True)]
    return (
        make_environment(view)
        .get_template("report/report.html")
        .render(
            it=contents,
            tone=_TONES[contents.diagnostics.verdict.level],
            sections=sections,
            policy=page_policy(script),
            style=Markup(style),  # noqa: S704 (our own files)
            script=Markup(script),  # noqa: S704
            version=citeweave.__version__,
            glossary=GLOSSARY,
            agreement=AGREEMENT,
        )
    )
