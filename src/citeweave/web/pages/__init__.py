"""The HTML pages, one module per part of the site."""

from citeweave.web.pages import (
    about,
    authors,
    contributors,
    levels,
    overview,
    papers,
    pictures,
    place,
    topics,
)

__all__ = ["ENTRIES"]

ENTRIES = (
    *overview.ENTRIES,
    *topics.ENTRIES,
    *authors.ENTRIES,
    *contributors.ENTRIES,
    *levels.ENTRIES,
    *papers.ENTRIES,
    *pictures.ENTRIES,
    *place.ENTRIES,
    *about.ENTRIES,
)
