"""Exploration of fitted models: tables, pages, search, names of topics.

>>> from citeweave.explore import Exploration
"""

from citeweave.explore.exploration import Exploration
from citeweave.explore.frames import flatten_lists, to_csv
from citeweave.explore.inspect import Inspection
from citeweave.explore.pages import (
    AuthorLink,
    AuthorPage,
    Difference,
    PaperLink,
    PaperPage,
    Placement,
    TopicPage,
    TopicWeight,
    WordWeight,
)
from citeweave.explore.search import Hit

__all__ = [
    "AuthorLink",
    "AuthorPage",
    "Difference",
    "Exploration",
    "Hit",
    "Inspection",
    "PaperLink",
    "PaperPage",
    "Placement",
    "TopicPage",
    "TopicWeight",
    "WordWeight",
    "flatten_lists",
    "to_csv",
]
