"""Tables of contributors to a corpus, with or without a fitted model."""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from citeweave.corpus import Corpus
from citeweave.corpus.columns import years_of
from citeweave.errors import NotFoundError, ParameterError
from citeweave.explore.collaboration import MAX_MEMBERS, collaboration_columns, left_out
from citeweave.explore.contributors import (
    KINDS,
    Contributors,
    contributors_of,
    growth_of,
    h_index,
    singular_of,
)
from citeweave.explore.frames import Columns, make_frame
from citeweave.explore.topics import mixture_columns
from citeweave.naming import option
from citeweave.networks.counting import incidence
from citeweave.networks.papers import citations_got

if TYPE_CHECKING:
    from citeweave.explore.exploration import Exploration

__all__ = ["SORTS", "Literature", "contributor_columns", "contributor_topics"]

SORTS = ("papers", "citations", "h_index", "cited_by", "growth", "influence", "name")
"""Columns by which tables of contributors can be sorted."""


class Literature:
    """Explore a corpus without a model: authors, institutions, countries, venues and funders.

    Parameters
    ----------
    corpus : Corpus

    Examples
    --------
    >>> corpus = Corpus.from_lists(
    ...     tokens=[["a"], ["b"], ["c"]],
    ...     citations=[(1, 0), (2, 0)],
    ...     metadata={"year": [2001, 2002, 2003], "countries": [["AU", "SG"], ["AU"], None]},
    ... )
    >>> Literature(corpus).table("countries").select("name", "papers", "citations").rows()
    [('Australia', 2, 2), ('Singapore', 1, 2)]
    """

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self._found: dict[str, Contributors] = {}
        self._figures: dict[str, dict[str, np.ndarray]] = {}

    def contributors(self, kind: str) -> Contributors:
        """Return all contributors of a kind; a `NotFoundError` says why there are none.

        Examples
        --------
        >>> import citeweave
        >>> from citeweave.explore import Literature
        >>> sorted(Literature(citeweave.example_corpus()).contributors("countries").names)
        ['Japan', 'Kenya', 'New Zealand', 'Sweden']
        """
        if kind not in self._found:
            self._found[kind] = contributors_of(self.corpus, kind)
        return self._found[kind]

    @cached_property
    def missing(self) -> dict[str, str]:
        """Kinds of contributors that the corpus lacks, and why."""
        missing = {}
        for kind in KINDS:
            try:
                self.contributors(kind)
            except NotFoundError as error:
                missing[kind] = str(error)
        return missing

    @cached_property
    def years(self) -> np.ndarray:
        """Year of each paper [D], 0 where unknown."""
        return years_of(self.corpus)

    @cached_property
    def year_range(self) -> range:
        """All years from the first to the last, including those without papers."""
        known = self.years[self.years > 0]
        return range(int(known.min()), int(known.max()) + 1) if len(known) else range(0)

    @cached_property
    def cited(self) -> np.ndarray:
        """Number of citations of each paper within the corpus [D]."""
        return citations_got(self.corpus)

    @cached_property
    def cited_by(self) -> np.ndarray | None:
        """Number of citations of each paper as counted by the source [D], 0 if unknown."""
        column = self.corpus.metadata.get("cited_by")
        if column is None or not all(isinstance(value, int | None) for value in column):
            return None
        return np.array([value or 0 for value in column], np.int64)

    def figures(self, kind: str) -> dict[str, np.ndarray]:
        """Return measures of all contributors of a kind, by name.

        ``papers``, ``citations``, ``h_index``, ``joint`` (share of papers with another contributor
        of the kind), ``first_year``, ``last_year`` (0 where unknown), ``growth``, and ``cited_by``
        if the corpus has it.

        Examples
        --------
        >>> import citeweave
        >>> from citeweave.explore import Literature
        >>> Literature(citeweave.example_corpus()).figures("venues")["papers"].tolist()
        [40, 40]
        """
        if kind not in self._figures:
            self._figures[kind] = self._compute(self.contributors(kind))
        return self._figures[kind]

    def _compute(self, found: Contributors) -> dict[str, np.ndarray]:
        who, paper = found.pairs
        number, papers = len(found.names), found.papers.counts

        def total(values: np.ndarray) -> np.ndarray:
            return np.bincount(who, weights=values[paper], minlength=number)

        several = found.of_paper.counts > 1
        year = self.years[paper]
        first, last = np.full(number, 9999), np.zeros(number, np.int64)
        np.minimum.at(first, who, np.where(year > 0, year, 9999))
        np.maximum.at(last, who, year)
        figures = {
            "papers": papers,
            "citations": total(self.cited).astype(np.int64),
            "h_index": h_index(found.papers, self.cited),
            "joint": total(several) / np.maximum(papers, 1),
            "first_year": np.where(first == 9999, 0, first),
            "last_year": last,
            "growth": growth_of(found.papers, self.years),
        }
        if self.cited_by is not None:
            figures["cited_by"] = total(self.cited_by).astype(np.int64)
        return figures

    def by_year(self, kind: str, number: int) -> list[int]:
        """Count the papers of one contributor in each year of `year_range`.

        Examples
        --------
        >>> import citeweave
        >>> from citeweave.explore import Literature
        >>> sum(Literature(citeweave.example_corpus()).by_year("venues", 0))
        40
        """
        years = self.years[self.contributors(kind).papers[number]]
        first = self.year_range.start if self.year_range else 0
        counts = np.bincount(years[years > 0] - first, minlength=len(self.year_range))
        return [int(count) for count in counts]

    def table(
        self,
        kind: str,
        *,
        top: int | None = None,
        min_papers: int = 1,
        sort: str = "papers",
        pandas: bool = False,
    ) -> Any:
        """Return a table of contributors: papers, citations, h-index, years and growth.

        Parameters
        ----------
        kind : {"authors", "institutions", "countries", "venues", "funders"}
        top : int, optional
            Maximum number of rows; all if not given.
        min_papers : int
            Leave out contributors with fewer papers.
        sort : str
            One of `SORTS`, the largest first; names in alphabetical order.
        pandas : bool
            Return a pandas data frame.

        Examples
        --------
        >>> import citeweave
        >>> from citeweave.explore import Literature
        >>> Literature(citeweave.example_corpus()).table("venues", sort="name")["name"].to_list()
        ['Annals of Small Data', 'Journal of Examples']
        """
        columns = contributor_columns(self, kind, top=top, min_papers=min_papers, sort=sort)
        return make_frame(columns, pandas=pandas)

    def collaborations(
        self,
        kind: str,
        *,
        top: int | None = None,
        min_papers: int = 1,
        counting: str = "full",
        max_members: int = MAX_MEMBERS,
        pandas: bool = False,
    ) -> Any:
        """Return an edge list of collaborations: co-authors, co-institutions or co-countries.

        Parameters
        ----------
        kind : {"authors", "institutions", "countries", "venues", "funders"}
        top : int, optional
            Maximum number of pairs; all if not given.
        min_papers : int
            Leave out contributors with fewer papers.
        counting : {"full", "fractional"}
            Each joint paper counts 1, or 1/(n - 1) if it has n contributors of the kind, so that
            each of them receives 1 from the paper in total.
        max_members : int
            Papers with more contributors than this are left out: a paper with 3,000 authors would
            add 4.5 million pairs. `collaboration_note` says how many papers that concerns.
        pandas : bool
            Return a pandas data frame.

        Examples
        --------
        >>> import citeweave
        >>> from citeweave.explore import Literature
        >>> Literature(citeweave.example_corpus()).collaborations("countries", top=2).height
        2
        """
        columns = collaboration_columns(
            self.contributors(kind),
            top=top,
            min_papers=min_papers,
            counting=counting,
            max_members=max_members,
        )
        return make_frame(columns, pandas=pandas)

    def collaboration_note(self, kind: str, max_members: int = MAX_MEMBERS) -> str:
        """Return a note on papers left out for having too many contributors; "" if none.

        Examples
        --------
        >>> import citeweave
        >>> from citeweave.explore import Literature
        >>> Literature(citeweave.example_corpus()).collaboration_note("authors")
        ''
        """
        return left_out(self.contributors(kind), max_members)

    def __repr__(self) -> str:
        """Return a short description."""
        return f"Literature({self.corpus!r})"


def contributor_topics(found: Contributors, values: np.ndarray) -> np.ndarray:
    """Sum values of papers [D, K] by contributor [n, K]."""
    who, paper = found.pairs
    return np.asarray(incidence(who, paper, (len(found.names), found.n_papers)) @ values)


def ordered(
    literature: Literature,
    kind: str,
    *,
    sort: str,
    min_papers: int = 1,
    influence: np.ndarray | None = None,
) -> np.ndarray:
    """Return the contributors of a kind with enough papers, in order."""
    if sort not in SORTS:
        raise ParameterError(
            f"{option('sort')} must be one of {', '.join(SORTS)}. Got {sort!r} instead."
        )
    figures = literature.figures(kind)
    names = literature.contributors(kind).names
    papers = figures["papers"]
    chosen = np.flatnonzero(papers >= max(min_papers, 1))
    if sort == "name":
        return np.array(sorted(chosen.tolist(), key=lambda i: names[i].casefold()), np.int64)
    key = influence if sort == "influence" else figures.get(sort)
    if key is None:
        if sort == "influence":
            raise ParameterError(
                f"{option('sort')} influence needs a fitted run whose model has citations."
            )
        key = papers  # the corpus has no citation counts of the source
    key = np.where(np.isnan(key[chosen]), -np.inf, key[chosen])
    return chosen[np.lexsort((chosen, -papers[chosen], -key))]


def contributor_columns(
    literature: Literature,
    kind: str,
    *,
    view: "Exploration | None" = None,
    top: int | None = None,
    min_papers: int = 1,
    sort: str = "papers",
    numbers: Sequence[int] | None = None,
) -> Columns:
    """Return the columns of the table of contributors, with topics and influence from `view`.

    With `numbers`, only these contributors, in this order.
    """
    if top is not None and top < 1:
        raise ParameterError(f"{option('top')} must be at least 1. Got {top} instead.")
    found, figures = literature.contributors(kind), literature.figures(kind)
    influence = None if view is None else view.contributor_influence(kind)
    if numbers is not None:
        chosen = np.array([found.check(number) for number in numbers], np.int64)
    else:
        chosen = ordered(literature, kind, sort=sort, min_papers=min_papers, influence=influence)[
            :top
        ]
    some = chosen.tolist()
    known = figures["last_year"][chosen] > 0
    growth = figures["growth"][chosen]
    columns: dict[str, tuple[str, Any]] = {
        singular_of(kind): ("int", chosen),
        "name": ("text", [found.names[i] for i in some]),
    }
    if kind == "institutions":
        columns["id"] = ("text", [found.codes[i] or None for i in some])
        columns["country"] = ("text", [found.countries[i] or None for i in some])
    elif kind == "countries":
        columns["code"] = ("text", [found.codes[i] for i in some])
    columns |= {
        "papers": ("int", figures["papers"][chosen]),
        "citations": ("int", figures["citations"][chosen]),
        "h_index": ("int", figures["h_index"][chosen]),
        "cited_by": ("int", _take(figures.get("cited_by"), chosen)),
        "joint": ("float", figures["joint"][chosen]),
        "first_year": ("int", _known(figures["first_year"][chosen], known)),
        "last_year": ("int", _known(figures["last_year"][chosen], known)),
        "growth": ("float", _known(growth, ~np.isnan(growth))),
        "by_year": ("ints", [literature.by_year(kind, i) for i in some]),
    }
    if view is not None:
        topics = view.contributor_topics(kind)[chosen]
        main = topics.argmax(axis=1)
        found_topics = [view.contributor_mixture(kind, i) for i in some]
        mixtures = mixture_columns([parts for parts, _ in found_topics])
        columns |= {
            "influence": ("float", _take(influence, chosen)),
            "topic": ("int", main),
            "topic_name": ("text", [view.topic_name(k) for k in main.tolist()]),
            "weight": ("float", topics[np.arange(len(main)), main]),
            "topics_from": ("text", ["model" if own else "papers" for _, own in found_topics]),
            **mixtures,
        }
    return columns


def _take(values: np.ndarray | None, places: np.ndarray) -> Any:
    return [None] * len(places) if values is None else values[places]


def _known(values: np.ndarray, known: np.ndarray) -> Sequence[Any]:
    return [value if ok else None for value, ok in zip(values.tolist(), known, strict=True)]
