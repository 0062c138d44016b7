"""A fitted model to look at: tables, pages, search and names of topics."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from citeweave.corpus import Corpus
from citeweave.errors import NotFoundError, ParameterError
from citeweave.explore import authors as _authors
from citeweave.explore import categories as _categories
from citeweave.explore import citations as _citations
from citeweave.explore import contributor_pages as _contributors
from citeweave.explore import inspect as _inspect
from citeweave.explore import papers as _papers
from citeweave.explore import place as _place
from citeweave.explore import search as _search
from citeweave.explore import similarity as _similarity
from citeweave.explore import topics as _topics
from citeweave.explore.contributor_pages import ContributorPage
from citeweave.explore.derived import Derived
from citeweave.explore.drawn import category_cards, drawn_columns
from citeweave.explore.facts import Z90
from citeweave.explore.frames import make_frame
from citeweave.explore.levels import level_columns, paper_levels
from citeweave.explore.literature import contributor_columns
from citeweave.explore.pages import (
    AuthorLink,
    AuthorPage,
    CategoryCard,
    PaperLink,
    PaperPage,
    PaperPlacement,
    TopicPage,
    TopicWeight,
)
from citeweave.explore.people import JoinedAuthors, namesakes
from citeweave.explore.search import Hit, SearchIndex
from citeweave.naming import choice, option

__all__ = ["Exploration"]


class Exploration(Derived):
    """Look at a fitted model; nothing is computed before it is asked for, and then kept.

    Parameters
    ----------
    model : fitted model, or path
        `citeweave.SCNTM`, a baseline, or the folder of a run. Names given to topics are kept in
        the run's folder, or in memory where there is none.
    corpus : Corpus, optional
        What the model was fitted to, for models that do not keep it.

    Notes
    -----
    Tables are polars data frames, or pandas ones with ``pandas=True``. Their columns are always the
    same; what a model or corpus lacks is null there, and `missing` says why.

    Examples
    --------
    >>> from citeweave import SCNTM, simulate
    >>> from citeweave.explore import Exploration
    >>> corpus = simulate(documents=60, vocabulary=80, topics=3, authors=20, citations=90).corpus
    >>> view = Exploration(SCNTM(topics=4, iterations=20, seed=1).fit(corpus))
    >>> view.papers(top=5).shape[0], view.paper(0).cited >= 0
    (5, True)
    """

    def __init__(
        self, model: Any | str | os.PathLike[str], *, corpus: Corpus | None = None
    ) -> None:
        super().__init__(model, corpus=corpus)
        self._indexes: dict[str, tuple[int, SearchIndex]] = {}
        self.people = JoinedAuthors(self.folder, self.corpus)
        self.corpus = self.people.applied()

    # Topics

    def topics(self, *, words: int = 10, relevance: float = 0.6, pandas: bool = False) -> Any:
        """Table of the topics in use, the largest first.

        Parameters
        ----------
        words : int
            How many words of each topic.
        relevance : float
            Weight of a word's probability against its lift over the corpus in ``distinctive``.
        pandas : bool
            Return a pandas data frame.
        """
        columns = _topics.topic_columns(self, words=words, relevance=relevance)
        return make_frame(columns, pandas=pandas)

    def topic(self, topic: int, *, words: int = 20, relevance: float = 0.6) -> TopicPage:
        """All about one topic."""
        return _topics.topic_page(self, topic, words=words, relevance=relevance)

    def top_words(self, number: int = 10, *, relevance: float = 1.0) -> list[list[str]]:
        """Words of every topic, those not in use included: by probability, or by relevance < 1."""
        ids = _topics.words_of(self, number, relevance)
        return [[self.vocabulary[word] for word in row] for row in ids.tolist()]

    def name_topic(self, topic: int, name: str | None) -> None:
        """Name a topic; None or an empty text gives it its automatic label back.

        Kept in ``names.json`` of the run's folder, if the model has one.
        """
        self.names.set(self.check_topic(topic), name)

    def mixture(
        self,
        weights: np.ndarray,
        spread: np.ndarray | None = None,
        *,
        most: int = 5,
        least: float = 0.05,
    ) -> list[TopicWeight]:
        """Name the main topics of a vector of weights [K], with intervals if a spread is given."""
        best = np.argsort(-np.asarray(weights), kind="stable")[:most].tolist()
        parts = []
        for rank, k in enumerate(best):
            weight = float(weights[k])
            if weight <= 0 or (rank and weight < least):
                break
            low = high = None
            if spread is not None:
                half = Z90 * float(spread[k])
                low, high = max(weight - half, 0.0), min(weight + half, 1.0)
            parts.append(TopicWeight(k, self.topic_name(k), weight, low, high))
        return parts

    # Authors

    def authors(
        self,
        *,
        top: int | None = None,
        min_papers: int = 1,
        nearest: int = 0,
        pandas: bool = False,
    ) -> Any:
        """Table of authors, the most influential first.

        Parameters
        ----------
        top : int, optional
            How many; all if not given.
        min_papers : int
            Only authors of at least so many papers.
        nearest : int
            How many nearest authors to name for each (costs a pass over all authors each).
        pandas : bool
            Return a pandas data frame.
        """
        self.require("authors")
        columns = _authors.author_columns(
            self, top=_positive("top", top), min_papers=min_papers, nearest=nearest
        )
        return make_frame(columns, pandas=pandas)

    def influence(
        self, *, top: int | None = None, min_papers: int = 1, pandas: bool = False
    ) -> Any:
        """Table of the influence of authors by topic, a row an author and topic."""
        self.require("authors")
        columns = _authors.influence_columns(self, top=_positive("top", top), min_papers=min_papers)
        return make_frame(columns, pandas=pandas)

    def author(self, author: int) -> AuthorPage:
        """All about one author."""
        return _authors.author_page(self, author)

    def author_link(self, author: int, score: float | None = None) -> AuthorLink:
        """Name an author as on other pages."""
        return _authors.author_link(self, author, score)

    def authors_of_topic(self, topic: int, number: int = 10) -> list[AuthorLink]:
        """Name the authors of most influence in a topic."""
        return _authors.authors_of_topic(self, topic, number)

    def nearest_authors(
        self, author: int, number: int = 10, *, min_papers: int = 2
    ) -> list[AuthorLink]:
        """Find authors of similar topics, by Hellinger distance, among those of some papers."""
        return _similarity.nearest_authors(self, author, number, min_papers)

    def join_authors(self, author: int, other: int) -> "Exploration":
        """Make two authors one person, called as the first; return the run as it is shown now.

        Kept in ``people.csv`` of the run's folder, if the model has one, which ``citeweave import
        --people`` takes: what was fitted stays as it is until a corpus made so is fitted anew.
        """
        self.people.join(self.check_author(author), self.check_author(other))
        return self.renewed()

    def separate_authors(self, author: int) -> "Exploration":
        """Undo the joining of an author with others; return the run as it is shown now."""
        self.people.separate(self.check_author(author))
        return self.renewed()

    def namesakes(self, author: int) -> list[AuthorLink]:
        """Name the authors whose names are likest to that of one."""
        found = namesakes(self.corpus, self.check_author(author))
        return [self.author_link(other) for other in found]

    def renewed(self) -> "Exploration":
        """Return the same run with the authors as they are joined now."""
        fresh = Exploration(self.model, corpus=self.people.corpus)
        fresh.folder = self.folder
        fresh.people = self.people
        fresh.corpus = self.people.applied()
        fresh.__dict__["names"] = self.names  # those without a folder are in it alone
        return fresh

    # Institutions, countries, venues, funders

    def contributors(
        self,
        kind: str,
        *,
        top: int | None = None,
        min_papers: int = 1,
        sort: str = "papers",
        numbers: Sequence[int] | None = None,
        pandas: bool = False,
    ) -> Any:
        """Table of institutions, countries, venues or funders, with their topics and influence.

        Parameters
        ----------
        kind : {"institutions", "countries", "venues", "funders", "authors"}
        top : int, optional
            How many; all if not given.
        min_papers : int
            Only those of at least so many papers.
        sort : {"papers", "citations", "h_index", "cited_by", "growth", "influence", "name"}
        numbers : sequence of int, optional
            Only these, in this order.
        pandas : bool
            Return a pandas data frame.

        See Also
        --------
        citeweave.explore.Literature : the same tables without a model, and who works with whom.
        """
        columns = contributor_columns(
            self.literature,
            kind,
            view=self,
            top=top,
            min_papers=min_papers,
            sort=sort,
            numbers=numbers,
        )
        return make_frame(columns, pandas=pandas)

    def contributor(self, kind: str, number: int) -> ContributorPage:
        """All about one institution, country, venue or funder."""
        return _contributors.contributor_page(self, kind, number)

    def levels(self, level: str | None = None, *, pandas: bool = False) -> Any:
        """Table of the topics of venues, periods, ...: the nodes of levels that divide papers.

        Parameters
        ----------
        level : str, optional
            Name of one level of the model; all of them if not given.
        pandas : bool
            Return a pandas data frame.
        """
        names = paper_levels(self) if level is None else [level]
        if not names:
            raise NotFoundError(
                f"The model '{self.model_name}' has no levels that divide papers. Fit one that "
                "has: citeweave fit CORPUS --level venue"
            )
        return make_frame(level_columns(self, names), pandas=pandas)

    # Papers

    def papers(
        self, *, topic: int | None = None, top: int | None = None, pandas: bool = False
    ) -> Any:
        """Table of papers, the most influential first.

        Parameters
        ----------
        topic : int, optional
            Only papers that hold a fifth of this topic or more, by influence times its weight.
        top : int, optional
            How many; all if not given.
        pandas : bool
            Return a pandas data frame.
        """
        columns = _papers.paper_columns(self, topic=topic, top=_positive("top", top))
        return make_frame(columns, pandas=pandas)

    def paper(self, paper: int) -> PaperPage:
        """All about one paper."""
        return _papers.paper_page(self, paper)

    def paper_link(self, paper: int, score: float | None = None) -> PaperLink:
        """Name a paper as on other pages."""
        return _papers.paper_link(self, paper, score)

    def author_names(self, paper: int) -> list[str]:
        """Names of a paper's authors, in order."""
        return self.corpus.authors(paper) if self.corpus.n_authors else []

    def similar_papers(self, paper: int, number: int = 10) -> list[PaperLink]:
        """Papers of similar topics and words; see `similarity.similarities`."""
        return _similarity.similar_papers(self, paper, number)

    # Citations and categories

    def citations(
        self,
        *,
        paper: int | None = None,
        top: int | None = None,
        probabilities: bool = True,
        titles: bool = False,
        pandas: bool = False,
    ) -> Any:
        """Table of citations with the probability of each citing topic.

        Parameters
        ----------
        paper : int, optional
            Only citations that this paper makes or gets.
        top : int, optional
            Only so many rows.
        probabilities : bool
            Have a column ``topic_k`` for each topic in use, not only the most probable one.
        titles : bool
            Have the titles of both papers.
        pandas : bool
            Return a pandas data frame.
        """
        columns = _citations.citation_columns(
            self,
            paper=paper,
            top=_positive("top", top),
            probabilities=probabilities,
            titles=titles,
        )
        return make_frame(columns, pandas=pandas)

    def flow(self, *, by_citing_topic: bool = False, pandas: bool = False) -> Any:
        """Table of how many citations go from topic to topic, and how many one would expect.

        With ``by_citing_topic`` also divided by the topic that citations are made for.
        """
        columns = _citations.flow_columns(self, by_citing_topic=by_citing_topic)
        return make_frame(columns, pandas=pandas)

    def categories(self, *, pandas: bool = False) -> Any:
        """Table of categories: topics by the model if it has seen them, else of their papers.

        Where papers are drawn into categories, it is those that are listed.
        """
        if self.category_probability is not None:
            return make_frame(drawn_columns(self), pandas=pandas)
        return make_frame(_categories.category_columns(self), pandas=pandas)

    def category_cards(self) -> list[CategoryCard]:
        """Describe the categories that papers are drawn into, those in use, the largest first."""
        return category_cards(self)

    def crosstab(self, *, pandas: bool = False) -> Any:
        """Table of categories by topics, a row a pair."""
        return make_frame(_categories.crosstab_columns(self), pandas=pandas)

    # Search

    def place(
        self,
        title: str,
        abstract: str = "",
        *,
        references: Sequence[int | str] = (),
        tokenise: _place.Tokenise | None = None,
        number: int = 10,
        seed: int = 0,
    ) -> PaperPlacement:
        """Find where a new paper belongs: topics, similar papers, papers likely cited, authors.

        Parameters
        ----------
        title, abstract : str
        references : sequence of int or str
            Papers of the corpus that it cites: positions, ids, DOIs or titles.
        tokenise : callable, optional
            From title and abstract to the tokens of each, as ``Pipeline.tokens`` of the pipeline
            that the corpus was made with. Words are matched with the vocabulary as they stand if
            not given.
        number : int
            Length of the lists.
        seed : int
            Of the fold-in; the same paper gets the same place.
        """
        return _place.place_paper(
            self,
            title,
            abstract,
            references=references,
            tokenise=tokenise,
            number=number,
            seed=seed,
        )

    def inspect(self, document: int, *, chain: int | None = None) -> _inspect.Inspection:
        """Read the counts of customers and tables behind a document's topics, of one sample."""
        return _inspect.inspect_document(self, document, chain=chain)

    def search(
        self, text: str, *, kinds: Sequence[str] = _search.KINDS, limit: int = 20
    ) -> list[Hit]:
        """Find papers, authors, topics, institutions, ... by beginnings of words, best first."""
        return _search.search(self, text, kinds, limit)

    def search_index(self, kind: str) -> SearchIndex:
        """Return the index of one kind of things, built when first asked for."""
        names = self.names.revision if kind == "topic" else 0
        known = self._indexes.get(kind)
        if known is None or known[0] != names:
            known = self._indexes[kind] = (names, _search.build_index(self, kind))
        return known[1]

    def __repr__(self) -> str:
        """Say what is looked at."""
        return f"Exploration({self.model_name!r}, {len(self.order)} topics, {self.corpus!r})"

    def _repr_html_(self) -> str:
        """Show the topics as a table in notebooks, and say what cannot be shown."""
        from citeweave.html import html_table  # noqa: PLC0415 (for notebooks alone)

        words = self.top_words(8, relevance=0.6)
        rows = [
            (
                k,
                self.topic_name(k),
                f"{100 * self.share[k]:.1f} %",
                f"{self.papers_of_topic[k]:,}",
                ", ".join(words[k]),
            )
            for k in self.order
        ]
        columns = ["#topic", "name", "#share", "#papers", "words"]
        table = html_table(columns, rows, caption=repr(self))
        if self.missing:
            table += html_table(["not shown", "why"], list(self.missing.items()))
        return table


def _positive(name: str, value: int | None) -> int | None:
    if value is not None and value < 1:
        others = choice(", or None for all", "")
        raise ParameterError(f"{option(name)} must be at least 1{others}. Got {value} instead.")
    return value
