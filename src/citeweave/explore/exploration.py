"""Exploration of a fitted model: tables, pages, search and names of topics."""

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
    """Explore a fitted model; results are computed on first use and then kept.

    Parameters
    ----------
    model : fitted model, or path
        `citeweave.SCNTM`, a baseline, or the folder of a run. Names given to topics are kept in the
        folder of the run, or in memory if there is none.
    corpus : Corpus, optional
        The corpus of the fit, for models that do not keep it.

    Notes
    -----
    Tables are polars data frames, or pandas data frames with ``pandas=True``. Their columns are
    always the same; values that a model or corpus lacks are null, and `missing` says why.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.explore import Exploration
    >>> view = Exploration(citeweave.example_model())
    >>> view.topics().height, view.papers(top=5).height
    (3, 5)
    >>> view.paper(0).title
    'Early holocene for ancient dna'
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
        """Return a table of the topics in use, the largest first.

        Parameters
        ----------
        words : int
            Number of words per topic.
        relevance : float
            In ``distinctive``, weight of the probability of a word against its lift over the
            corpus.
        pandas : bool
            Return a pandas data frame.

        Examples
        --------
        >>> import citeweave
        >>> from citeweave.explore import Exploration
        >>> table = Exploration(citeweave.example_model()).topics(words=3)
        >>> sorted(table["topic"].to_list()), sorted(table["category"].to_list())
        ([0, 1, 2], ['Agriculture', 'Archaeology', 'Biology'])
        """
        columns = _topics.topic_columns(self, words=words, relevance=relevance)
        return make_frame(columns, pandas=pandas)

    def topic(self, topic: int, *, words: int = 20, relevance: float = 0.6) -> TopicPage:
        """Return everything known about one topic.

        Examples
        --------
        >>> import citeweave
        >>> from citeweave.explore import Exploration
        >>> page = Exploration(citeweave.example_model()).topic(0, words=5)
        >>> len(page.words), 0 < page.share < 1
        (5, True)
        """
        return _topics.topic_page(self, topic, words=words, relevance=relevance)

    def top_words(self, number: int = 10, *, relevance: float = 1.0) -> list[list[str]]:
        """Return the top words of every topic, including topics not in use.

        Words are ranked by probability, or by relevance if that is below 1.

        Examples
        --------
        >>> import citeweave
        >>> from citeweave.explore import Exploration
        >>> [len(words) for words in Exploration(citeweave.example_model()).top_words(4)]
        [4, 4, 4]
        """
        ids = _topics.words_of(self, number, relevance)
        return [[self.vocabulary[word] for word in row] for row in ids.tolist()]

    def name_topic(self, topic: int, name: str | None) -> None:
        """Name a topic; None or an empty string restores its automatic label.

        The name is kept in ``names.json`` in the folder of the run, if the model has one.

        Examples
        --------
        >>> import citeweave
        >>> from citeweave.explore import Exploration
        >>> view = Exploration(citeweave.example_model())
        >>> view.name_topic(0, "Soil and water")
        >>> view.topic(0).name
        'Soil and water'
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
        """Return the main topics of a vector of weights [K], with intervals if a spread is given.

        Examples
        --------
        >>> import citeweave
        >>> from citeweave.explore import Exploration
        >>> model = citeweave.example_model()
        >>> found = Exploration(model).mixture(model.doc_topic_[0], most=2)
        >>> found[0].topic == int(model.doc_topic_[0].argmax())
        True
        """
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
        """Return a table of authors, the most influential first.

        Parameters
        ----------
        top : int, optional
            Maximum number of authors; all if not given.
        min_papers : int
            Leave out authors with fewer papers.
        nearest : int
            How many similar authors to list for each (one pass over all authors for each).
        pandas : bool
            Return a pandas data frame.

        Examples
        --------
        >>> import citeweave
        >>> from citeweave.explore import Exploration
        >>> table = Exploration(citeweave.example_model()).authors(top=5, min_papers=2)
        >>> table.height, table["papers"].min() >= 2
        (5, True)
        """
        self.require("authors")
        columns = _authors.author_columns(
            self, top=_positive("top", top), min_papers=min_papers, nearest=nearest
        )
        return make_frame(columns, pandas=pandas)

    def influence(
        self, *, top: int | None = None, min_papers: int = 1, pandas: bool = False
    ) -> Any:
        """Return a table of the influence of authors by topic, one row per author and topic.

        Examples
        --------
        >>> import citeweave
        >>> from citeweave.explore import Exploration
        >>> table = Exploration(citeweave.example_model()).influence(top=5)
        >>> {"author", "topic", "influence"} <= set(table.columns)
        True
        """
        self.require("authors")
        columns = _authors.influence_columns(self, top=_positive("top", top), min_papers=min_papers)
        return make_frame(columns, pandas=pandas)

    def author(self, author: int) -> AuthorPage:
        """Return everything known about one author.

        Examples
        --------
        >>> import citeweave
        >>> from citeweave.explore import Exploration
        >>> Exploration(citeweave.example_model()).author(0).name
        'R. Schmidt'
        """
        return _authors.author_page(self, author)

    def author_link(self, author: int, score: float | None = None) -> AuthorLink:
        """Return an author as shown on other pages.

        Examples
        --------
        >>> import citeweave
        >>> from citeweave.explore import Exploration
        >>> Exploration(citeweave.example_model()).author_link(1).name
        'Y. Wilson'
        """
        return _authors.author_link(self, author, score)

    def authors_of_topic(self, topic: int, number: int = 10) -> list[AuthorLink]:
        """Return the most influential authors of a topic.

        Examples
        --------
        >>> import citeweave
        >>> from citeweave.explore import Exploration
        >>> len(Exploration(citeweave.example_model()).authors_of_topic(0, number=3))
        3
        """
        return _authors.authors_of_topic(self, topic, number)

    def nearest_authors(
        self, author: int, number: int = 10, *, min_papers: int = 2
    ) -> list[AuthorLink]:
        """Return authors with similar topics, by Hellinger distance, who have enough papers.

        Examples
        --------
        >>> import citeweave
        >>> from citeweave.explore import Exploration
        >>> found = Exploration(citeweave.example_model()).nearest_authors(0, 3, min_papers=1)
        >>> len(found)
        3
        """
        return _similarity.nearest_authors(self, author, number, min_papers)

    def join_authors(self, author: int, other: int) -> "Exploration":
        """Treat two authors as one person with the name of the first, and return the updated view.

        The decision is kept in ``people.csv`` in the folder of the run, if the model has one, for
        ``citeweave import --people``. The fit itself stays as it is until a corpus imported that
        way is fitted again.

        Examples
        --------
        >>> import citeweave
        >>> from citeweave.explore import Exploration
        >>> view = Exploration(citeweave.example_model())
        >>> joined = view.join_authors(0, 1)
        >>> joined.author(0).joined[0]["name"] == view.author(1).name
        True
        """
        self.people.join(self.check_author(author), self.check_author(other))
        return self.renewed()

    def separate_authors(self, author: int) -> "Exploration":
        """Undo the joining of an author with others, and return the updated view.

        Examples
        --------
        >>> import citeweave
        >>> from citeweave.explore import Exploration
        >>> joined = Exploration(citeweave.example_model()).join_authors(0, 1)
        >>> joined.separate_authors(0).author(0).joined
        []
        """
        self.people.separate(self.check_author(author))
        return self.renewed()

    def namesakes(self, author: int) -> list[AuthorLink]:
        """Return the authors whose names are most similar to that of one author.

        Examples
        --------
        >>> import citeweave
        >>> from citeweave.explore import Exploration
        >>> [author.name for author in Exploration(citeweave.example_model()).namesakes(0)]
        []
        """
        found = namesakes(self.corpus, self.check_author(author))
        return [self.author_link(other) for other in found]

    def renewed(self) -> "Exploration":
        """Return the same run with authors joined as currently recorded.

        Examples
        --------
        >>> import citeweave
        >>> from citeweave.explore import Exploration
        >>> view = Exploration(citeweave.example_model())
        >>> view.renewed().topics().equals(view.topics())
        True
        """
        fresh = Exploration(self.model, corpus=self.people.corpus)
        fresh.folder = self.folder
        fresh.people = self.people
        fresh.corpus = self.people.applied()
        fresh.__dict__["names"] = self.names  # without a folder, names exist only here
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
        """Return a table of institutions, countries, venues or funders, with topics and influence.

        Parameters
        ----------
        kind : {"institutions", "countries", "venues", "funders", "authors"}
        top : int, optional
            Maximum number of rows; all if not given.
        min_papers : int
            Leave out contributors with fewer papers.
        sort : {"papers", "citations", "h_index", "cited_by", "growth", "influence", "name"}
        numbers : sequence of int, optional
            Only these contributors, in this order.
        pandas : bool
            Return a pandas data frame.

        See Also
        --------
        citeweave.explore.Literature : the same tables without a model, and collaborations.

        Examples
        --------
        >>> import citeweave
        >>> from citeweave.explore import Exploration
        >>> table = Exploration(citeweave.example_model()).contributors("countries", sort="name")
        >>> table["name"].to_list()
        ['Japan', 'Kenya', 'New Zealand', 'Sweden']
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
        """Return everything known about one institution, country, venue or funder.

        Examples
        --------
        >>> import citeweave
        >>> from citeweave.explore import Exploration
        >>> Exploration(citeweave.example_model()).contributor("venues", 0).name
        'Journal of Examples'
        """
        return _contributors.contributor_page(self, kind, number)

    def levels(self, level: str | None = None, *, pandas: bool = False) -> Any:
        """Return a table of the topics of venues, periods and other levels that divide papers.

        Parameters
        ----------
        level : str, optional
            Name of one level of the model; all levels if not given.
        pandas : bool
            Return a pandas data frame.

        Examples
        --------
        >>> import citeweave
        >>> from citeweave.explore import Exploration
        >>> model = citeweave.SCNTM(topics=3, levels=("venue",), iterations=20, chains=1, seed=1)
        >>> view = Exploration(model.fit(citeweave.example_corpus()))
        >>> sorted(view.levels("venue")["name"].unique())
        ['Annals of Small Data', 'Journal of Examples']
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
        """Return a table of papers, the most influential first.

        Parameters
        ----------
        topic : int, optional
            Only papers in which this topic has a share of at least one fifth, ordered by influence
            times that share.
        top : int, optional
            Maximum number of papers; all if not given.
        pandas : bool
            Return a pandas data frame.

        Examples
        --------
        >>> import citeweave
        >>> from citeweave.explore import Exploration
        >>> Exploration(citeweave.example_model()).papers(topic=0, top=5).height
        5
        """
        columns = _papers.paper_columns(self, topic=topic, top=_positive("top", top))
        return make_frame(columns, pandas=pandas)

    def paper(self, paper: int) -> PaperPage:
        """Return everything known about one paper.

        Examples
        --------
        >>> import citeweave
        >>> from citeweave.explore import Exploration
        >>> Exploration(citeweave.example_model()).paper(3).title
        'Rice and soil water in nitrogen'
        """
        return _papers.paper_page(self, paper)

    def paper_link(self, paper: int, score: float | None = None) -> PaperLink:
        """Return a paper as shown on other pages.

        Examples
        --------
        >>> import citeweave
        >>> from citeweave.explore import Exploration
        >>> Exploration(citeweave.example_model()).paper_link(3).title
        'Rice and soil water in nitrogen'
        """
        return _papers.paper_link(self, paper, score)

    def author_names(self, paper: int) -> list[str]:
        """Return the names of a paper's authors, in order.

        Examples
        --------
        >>> import citeweave
        >>> from citeweave.explore import Exploration
        >>> view = Exploration(citeweave.example_model())
        >>> view.author_names(0) == view.corpus.authors(0)
        True
        """
        return self.corpus.authors(paper) if self.corpus.n_authors else []

    def similar_papers(self, paper: int, number: int = 10) -> list[PaperLink]:
        """Return papers with similar topics and words.

        Examples
        --------
        >>> import citeweave
        >>> from citeweave.explore import Exploration
        >>> found = Exploration(citeweave.example_model()).similar_papers(0, number=3)
        >>> len(found), found[0].score >= found[1].score
        (3, True)
        """
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
        """Return a table of citations with the probability of each citing topic.

        Parameters
        ----------
        paper : int, optional
            Only citations made or received by this paper.
        top : int, optional
            Maximum number of rows.
        probabilities : bool
            Include a column ``topic_k`` for each topic in use, not only the most probable topic.
        titles : bool
            Include the titles of both papers.
        pandas : bool
            Return a pandas data frame.

        Examples
        --------
        >>> import citeweave
        >>> from citeweave.explore import Exploration
        >>> table = Exploration(citeweave.example_model()).citations(top=5)
        >>> [name for name in table.columns if name.startswith("topic_")]
        ['topic_name', 'topic_0', 'topic_1', 'topic_2']
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
        """Return a table of the citations from topic to topic, observed and expected.

        With ``by_citing_topic``, counts are also divided by the topic for which the citation was
        made.

        Examples
        --------
        >>> import citeweave
        >>> from citeweave.explore import Exploration
        >>> Exploration(citeweave.example_model()).flow().columns
        ['citing_topic', 'cited_topic', 'citing_name', 'cited_name', 'citations', 'share',
        'expected', 'lift']
        """
        columns = _citations.flow_columns(self, by_citing_topic=by_citing_topic)
        return make_frame(columns, pandas=pandas)

    def categories(self, *, pandas: bool = False) -> Any:
        """Return a table of categories and their topics.

        The topics come from the model if it has seen the categories, otherwise from the papers. In
        models that infer categories, the inferred ones are listed.

        Examples
        --------
        >>> import citeweave
        >>> from citeweave.explore import Exploration
        >>> sorted(Exploration(citeweave.example_model()).categories()["name"].to_list())
        ['Agriculture', 'Archaeology', 'Biology']
        """
        if self.category_probability is not None:
            return make_frame(drawn_columns(self), pandas=pandas)
        return make_frame(_categories.category_columns(self), pandas=pandas)

    def category_cards(self) -> list[CategoryCard]:
        """Describe the inferred categories that are in use, the largest first.

        Examples
        --------
        >>> import citeweave
        >>> from citeweave.explore import Exploration
        >>> model = citeweave.SCNTM(topics=3, categories=3, iterations=20, chains=1, seed=1)
        >>> view = Exploration(model.fit(citeweave.example_corpus()))
        >>> sum(card.papers for card in view.category_cards())
        80
        """
        return category_cards(self)

    def crosstab(self, *, pandas: bool = False) -> Any:
        """Return a table of categories by topics, one row per pair.

        Examples
        --------
        >>> import citeweave
        >>> from citeweave.explore import Exploration
        >>> Exploration(citeweave.example_model()).crosstab().height
        9
        """
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
        """Find where a new paper belongs: topics, similar papers, likely citations and authors.

        Parameters
        ----------
        title, abstract : str
        references : sequence of int or str
            Papers of the corpus that it cites: positions, ids, DOIs or titles.
        tokenise : callable, optional
            Maps title and abstract to the tokens of each, such as ``Pipeline.tokens`` of the
            pipeline that made the corpus. If not given, words are matched with the vocabulary as
            they are.
        number : int
            Length of the lists.
        seed : int
            Seed of the fold-in; the same paper gets the same place.

        Examples
        --------
        >>> import citeweave
        >>> from citeweave.explore import Exploration
        >>> view = Exploration(citeweave.example_model())
        >>> found = view.place("Rice and soil water", references=["example-03"], number=5)
        >>> len(found.similar), found.references_found[0].title
        (5, 'Rice and soil water in nitrogen')
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
        """Return the customer and table counts behind a document's topics, in one sample.

        Examples
        --------
        >>> import citeweave
        >>> from citeweave.explore import Exploration
        >>> Exploration(citeweave.example_model()).inspect(0).levels
        ['theta', "theta'"]
        """
        return _inspect.inspect_document(self, document, chain=chain)

    def search(
        self, text: str, *, kinds: Sequence[str] = _search.KINDS, limit: int = 20
    ) -> list[Hit]:
        """Find papers, authors, topics, institutions and so on by beginnings of words, best first.

        Examples
        --------
        >>> import citeweave
        >>> from citeweave.explore import Exploration
        >>> hits = Exploration(citeweave.example_model()).search("otago")
        >>> hits[0].kind, hits[0].label
        ('institution', 'University of Otago')
        """
        return _search.search(self, text, kinds, limit)

    def search_index(self, kind: str) -> SearchIndex:
        """Return the index of one kind of entry, built on first use.

        Examples
        --------
        >>> import citeweave
        >>> from citeweave.explore import Exploration
        >>> index = Exploration(citeweave.example_model()).search_index("venue")
        >>> [number for number, score in index.find("annals", limit=5)]
        [1]
        """
        names = self.names.revision if kind == "topic" else 0
        known = self._indexes.get(kind)
        if known is None or known[0] != names:
            known = self._indexes[kind] = (names, _search.build_index(self, kind))
        return known[1]

    def __repr__(self) -> str:
        """Return a short description."""
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
