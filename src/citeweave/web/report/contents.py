"""What a report says, as plain values: filled by `gather`, laid out by the templates.

Texts are plain; the templates escape them. What a run lacks is None or empty, and `missing` says
why.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from markupsafe import Markup

    from citeweave.evaluate.diagnostics import Diagnostics

__all__ = [
    "Author",
    "Contents",
    "Coverage",
    "Download",
    "Flow",
    "HeatCell",
    "HeatRow",
    "Network",
    "Paper",
    "Part",
    "Topic",
    "TopicPapers",
    "Trends",
]


class Part(NamedTuple):
    """A topic and its share of something, from 0 to 1."""

    topic: int
    name: str
    share: float


class Coverage(NamedTuple):
    """How many papers have a thing: an abstract's words, authors, a year, ..."""

    name: str
    papers: int
    share: float


@dataclass(frozen=True)
class Topic:
    """A card about one topic."""

    topic: int
    name: str
    share: float
    papers: int
    """Papers whose dominant topic it is."""
    words: tuple[str, ...]
    coherence: float | None = None
    trend: tuple[float, ...] = ()
    """Its share in each year (or span of years) of `Contents.years`."""
    growth: str = ""
    """Its growth in words, empty where years are unknown."""


@dataclass(frozen=True)
class Author:
    """A row about one author."""

    name: str
    papers: int
    influence: float | None
    topics: tuple[Part, ...]


@dataclass(frozen=True)
class Paper:
    """An entry of a list of papers."""

    title: str
    about: str
    """Authors, year and venue, as far as they are known."""
    influence: float | None
    cited: int | None


@dataclass(frozen=True)
class TopicPapers:
    """The papers of a topic that are shown."""

    topic: int
    name: str
    papers: tuple[Paper, ...]


class HeatCell(NamedTuple):
    """A cell of a heat table: its text, its strength from 0 to 1, its full meaning."""

    text: str
    strength: float
    title: str
    own: bool = False


class HeatRow(NamedTuple):
    """A row of a heat table, named by a topic; `last` is plain text at its end."""

    topic: int
    name: str
    cells: tuple[HeatCell, ...]
    last: str = ""


@dataclass(frozen=True)
class Trends:
    """Shares of topics over years."""

    spans: tuple[str, ...]
    rows: tuple[HeatRow, ...]
    growing: tuple[str, ...]
    fading: tuple[str, ...]
    left_out: int


@dataclass(frozen=True)
class Flow:
    """Which topics cite which: a row a citing topic, a column a cited one."""

    columns: tuple[tuple[str, str], ...]
    """Number and name of each topic."""
    rows: tuple[HeatRow, ...]
    across: tuple[str, ...]
    """The largest flows between different topics, in words."""
    kept: float
    """Share of citations that stay within their topic."""
    left_out: int


@dataclass(frozen=True)
class Network:
    """A picture, with what stands below it."""

    svg: Markup
    caption: str


class Download(NamedTuple):
    """A table inside the page: file name, what it is, its text as a data: address, bytes."""

    file: str
    name: str
    address: str
    size: int
    note: str = ""


@dataclass(frozen=True)
class Contents:
    """All of a report."""

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
    """The topics that have no card, in a sentence."""
    papers_by_year: Markup | None = None
    categories: tuple[tuple[str, int], ...] = ()
    venues: tuple[tuple[str, int], ...] = ()
    trends: Trends | None = None
    authors: tuple[Author, ...] = ()
    authors_note: str = ""
    by_influence: bool = False
    papers: tuple[TopicPapers, ...] = ()
    papers_note: str = ""
    flow: Flow | None = None
    network: Network | None = None
    papers_map: Network | None = None
    likelihood: Markup | None = None
    chain_names: tuple[str, ...] = ()
    method: tuple[str, ...] = ()
    parameters: tuple[tuple[str, str], ...] = ()
    cite: tuple[str, ...] = ()
    bibtex: str = ""
    downloads: tuple[Download, ...] = ()
    missing: dict[str, str] = field(default_factory=dict)
    """By section, why something is not there."""
