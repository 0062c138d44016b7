"""The page of one institution, country, venue or funder, with topics of a fitted model."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from citeweave.countries import country_name
from citeweave.explore.authors import author_link
from citeweave.explore.contributors import KINDS
from citeweave.explore.pages import AuthorLink, Page, PaperLink, TopicWeight

if TYPE_CHECKING:
    from citeweave.explore.exploration import Exploration

__all__ = ["ContributorLink", "ContributorPage", "contributor_links", "contributor_page"]

_LIST = 10


@dataclass(frozen=True, slots=True)
class ContributorLink(Page):
    """An institution, country, venue or funder as shown on another page.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.explore import Exploration
    >>> view = Exploration(citeweave.example_model())
    >>> partner = view.contributor("countries", 0).partners[0]
    >>> partner.kind, partner.papers > 0
    ('countries', True)
    """

    kind: str
    number: int
    name: str
    papers: int
    score: float | None = None
    """Number of papers shared with the subject of the page."""


@dataclass(frozen=True, slots=True)
class ContributorPage(Page):
    """Everything known about one institution, country, venue or funder.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.explore import Exploration
    >>> page = Exploration(citeweave.example_model()).contributor("venues", 0)
    >>> page.name, page.papers
    ('Journal of Examples', 40)
    """

    kind: str
    """``institutions``, ``countries``, ``venues`` or ``funders``."""
    number: int
    name: str
    code: str
    """ROR of an institution, ISO code of a country; empty if there is none."""
    country: str
    """Name of the country of an institution."""
    papers: int
    citations: int
    """Number of citations of its papers by papers of the corpus."""
    cited_by: int | None
    """Number of citations of its papers, as counted by the source."""
    h_index: int
    """h-index within the corpus."""
    joint: float
    """Share of its papers that involve another contributor of its kind."""
    growth: float | None
    """Relative growth of its number of papers per year."""
    years: list[int]
    """All years of the corpus."""
    by_year: list[int]
    """Number of its papers in each year."""
    influence: float | None
    """Sum of lambda- of its papers."""
    topics: list[TopicWeight]
    """Topics of its node, with intervals, if the model has a level of its kind; otherwise the mean
    of theta' over its papers."""
    topics_from: str
    """``model`` or ``papers``."""
    partners: list[ContributorLink]
    """Others of its kind that share papers with it."""
    authors: list[AuthorLink]
    """Authors of most of its papers; only those who work there, if the corpus records this."""
    contributors: list[ContributorLink]
    """Contributors of other kinds that share most papers with it."""
    influential: list[PaperLink]
    """The most influential of its papers, or the most cited."""
    latest: list[PaperLink]


def contributor_page(view: "Exploration", kind: str, number: int) -> ContributorPage:
    """Collect everything known about one contributor."""
    literature = view.literature
    found = literature.contributors(kind)
    one = found.check(number)
    figures = literature.figures(kind)
    papers = found.papers[one]
    growth = float(figures["growth"][one])
    influence = view.contributor_influence(kind)
    rank = view.cited_propensity if influence is not None else literature.cited
    best = papers[np.lexsort((papers, -np.asarray(rank)[papers]))][:_LIST]
    latest = papers[np.lexsort((papers, -literature.years[papers]))][:_LIST]
    code = found.countries[one]
    topics, modelled = view.contributor_mixture(kind, one, most=8, least=0.02)
    others = [other for other in KINDS if other not in (kind, "authors")]
    beside = [
        link
        for other in others
        if other not in literature.missing
        for link in contributor_links(view, other, papers, most=5)
    ]
    return ContributorPage(
        kind=kind,
        number=one,
        name=found.names[one],
        code=found.codes[one],
        country=country_name(code) if code else "",
        papers=len(papers),
        citations=int(figures["citations"][one]),
        cited_by=int(figures["cited_by"][one]) if "cited_by" in figures else None,
        h_index=int(figures["h_index"][one]),
        joint=float(figures["joint"][one]),
        growth=None if np.isnan(growth) else growth,
        years=list(literature.year_range),
        by_year=literature.by_year(kind, one),
        influence=None if influence is None else float(influence[one]),
        topics=topics,
        topics_from="model" if modelled else "papers",
        partners=contributor_links(view, kind, papers, most=_LIST, without=one),
        authors=_authors(view, kind, one, papers),
        contributors=beside,
        influential=[view.paper_link(d) for d in best.tolist()],
        latest=[view.paper_link(d) for d in latest.tolist()],
    )


def contributor_links(
    view: "Exploration", kind: str, papers: np.ndarray, *, most: int, without: int = -1
) -> list[ContributorLink]:
    """Return the contributors of a kind with the most papers among those given."""
    found = view.literature.contributors(kind)
    members = found.of_paper
    who = np.concatenate([members[d] for d in papers.tolist()] or [np.zeros(0, np.int64)])
    numbers, counts = np.unique(who[who != without], return_counts=True)
    order = np.lexsort((numbers, -counts))[:most]
    return [
        ContributorLink(
            kind,
            int(number),
            found.names[number],
            int(found.papers.counts[number]),
            float(shared),
        )
        for number, shared in zip(numbers[order].tolist(), counts[order].tolist(), strict=True)
    ]


def _authors(view: "Exploration", kind: str, one: int, papers: np.ndarray) -> list[AuthorLink]:
    """Return the authors of most papers; for an institution, those who work there.

    If the source records this for only a few of the papers, all authors are listed.
    """
    corpus = view.corpus
    if not corpus.n_authors:
        return []
    members = view.affiliations.members
    mine = members[members[:, 1] == one, 0] if kind == "institutions" else members[:0, 0]
    told = np.unique(np.searchsorted(corpus.author_offsets, mine, side="right"))
    if len(told) > len(papers) / 2:
        who = corpus.author_ids[mine]
    else:
        starts = corpus.author_offsets
        parts = [corpus.author_ids[starts[d] : starts[d + 1]] for d in papers.tolist()]
        who = np.concatenate(parts) if parts else np.zeros(0, np.int64)
    numbers, counts = np.unique(who, return_counts=True)
    order = np.lexsort((numbers, -counts))[:_LIST]
    return [
        author_link(view, author, shared)
        for author, shared in zip(numbers[order].tolist(), counts[order].tolist(), strict=True)
    ]
