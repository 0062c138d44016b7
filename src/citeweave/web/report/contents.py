"""The contents of a report as plain values, filled by `gather` and rendered by the templates.

Texts are unescaped; the templates escape them. Parts that a run lacks are None or empty, and
`missing` gives the reasons.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from markupsafe import Markup

    from citeweave.evaluate.diagnostics import Diagnostics
    from citeweave.explore import PaperLink
    from citeweave.explore.pages import CategoryCard
    from citeweave.web.chains import ChainChart
    from citeweave.web.overview import Coverage
    from citeweave.web.tables import CarriedTable, HeatTable, Trends

__all__ = [
    "AuthorRow",
    "Contents",
    "Figure",
    "Part",
    "Topic",
    "TopicPapers",
]


class Part(NamedTuple):
    """A topic and its share of something, from 0 to 1."""

    topic: int
    name: str
    share: float


@dataclass(frozen=True)
class Topic:
    """A card about one topic."""

    topic: int
    name: str
    share: float
    papers: int
    """Number of papers with this main topic."""
    words: tuple[str, ...]
    coherence: float | None = None
    trend: tuple[float, ...] = ()
    """Its share in each year (or period) of `Contents.years`."""
    growth: str = ""
    """Its growth in words; empty if years are unknown."""


@dataclass(frozen=True)
class AuthorRow:
    """A row about one author."""

    name: str
    papers: int
    influence: float | None
    topics: tuple[Part, ...]


@dataclass(frozen=True)
class TopicPapers:
    """The papers shown for a topic."""

    topic: int
    name: str
    papers: tuple[tuple[PaperLink, str], ...]
    """Each with its venue, empty if unknown."""


@dataclass(frozen=True)
class Figure:
    """A picture with its caption."""

    drawing: Markup
    caption: str


@dataclass(frozen=True)
class Contents:
    """The contents of a report."""

    title: str
    lede: str
    made: str
    figures: tuple[tuple[str, str], ...]
    short: tuple[str, ...]
    coverage: tuple[Coverage, ...]
    topics: tuple[Topic, ...]
    span: tuple[str, str] | None
    """First and last year of the trends."""
    diagnostics: Diagnostics
    small_topics: str = ""
    """A sentence that lists the topics without a card."""
    papers_by_year: Markup | None = None
    categories: tuple[tuple[str, int], ...] = ()
    drawn: tuple[CategoryCard, ...] = ()
    """The inferred categories of papers."""
    drawn_note: str = ""
    venues: tuple[tuple[str, int], ...] = ()
    trends: Trends | None = None
    authors: tuple[AuthorRow, ...] = ()
    authors_note: str = ""
    by_influence: bool = False
    papers: tuple[TopicPapers, ...] = ()
    papers_note: str = ""
    flow: HeatTable | None = None
    network: Figure | None = None
    papers_map: Figure | None = None
    likelihood: ChainChart | None = None
    chains: int = 0
    method: tuple[str, ...] = ()
    parameters: tuple[tuple[str, str], ...] = ()
    cite: tuple[str, ...] = ()
    bibtex: str = ""
    downloads: tuple[CarriedTable, ...] = ()
    missing: dict[str, str] = field(default_factory=dict)
    """Why something is missing, by section."""
