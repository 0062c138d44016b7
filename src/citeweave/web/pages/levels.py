"""The topics of venues, periods and other groups that are levels of the model."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from citeweave.errors import NotFoundError
from citeweave.explore.levels import LevelTopics, contributor_nodes, level_topics, paper_levels
from citeweave.web.routes import Endpoint
from citeweave.web.site import Site
from citeweave.wording import percent

__all__ = ["ENTRIES"]

_NAMED = 3
MOST = 100


def levels(site: Site, request: Request) -> Response:
    """Show the groups of all levels above the papers."""
    names = paper_levels(site.view)
    if not names:
        raise NotFoundError(
            f"The model '{site.view.model_name}' has no levels such as venues or periods. To fit "
            "one that has: citeweave fit CORPUS --level venue"
        )
    shown = [_level(site, level_topics(site.view, name)) for name in names]
    return site.page(request, "levels.html", {"levels": shown})


def _level(site: Site, level: LevelTopics) -> dict[str, Any]:
    pages = contributor_nodes(site.view, level)
    rows = level.rows[:MOST].tolist()
    return {
        "name": level.name,
        "nodes": len(level.rows),
        "left_out": len(level.rows) - len(rows),
        "rows": [_row(site, level, row) | {"page": pages.get(row)} for row in rows],
    }


def _row(site: Site, level: LevelTopics, row: int) -> dict[str, Any]:
    spread = None if level.spread is None else level.spread[row]
    weights = site.view.mixture(level.topics[row], spread, most=8, least=0.02)
    return {
        "name": level.groups.names[row],
        "papers": int(level.groups.documents[row]),
        "stripe": [(site.view.colours.slot(one.topic), one.weight) for one in weights],
        "topics": [
            (one, f"{percent(one.low, 0)} to {percent(one.high, 0)}" if one.high else "")
            for one in weights[:_NAMED]
        ],
    }


ENTRIES = (Endpoint("/levels", levels, "Topics of venues, periods and other levels.", page=True),)
