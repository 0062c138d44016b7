"""Exploration of fitted models: tables, pages, search, names of topics.

>>> from citeweave.explore import Exploration
"""

import warnings

from citeweave.explore.contributor_pages import ContributorLink, ContributorPage
from citeweave.explore.exploration import Exploration
from citeweave.explore.frames import flatten_lists, to_csv
from citeweave.explore.inspect import Inspection
from citeweave.explore.literature import Literature
from citeweave.explore.pages import (
    AuthorLink,
    AuthorPage,
    Difference,
    PaperLink,
    PaperPage,
    PaperPlacement,
    TopicPage,
    TopicWeight,
    WordWeight,
)
from citeweave.explore.search import Hit
from citeweave.explore.workbook import to_xlsx

__all__ = [
    "AuthorLink",
    "AuthorPage",
    "ContributorLink",
    "ContributorPage",
    "Difference",
    "Exploration",
    "Hit",
    "Inspection",
    "Literature",
    "PaperLink",
    "PaperPage",
    "PaperPlacement",
    "TopicPage",
    "TopicWeight",
    "WordWeight",
    "flatten_lists",
    "to_csv",
    "to_xlsx",
]


def __getattr__(name: str) -> object:
    """Return an object under its previous name, with a warning."""
    if name == "Placement":
        warnings.warn("Placement is now PaperPlacement.", DeprecationWarning, stacklevel=2)
        return PaperPlacement
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
