"""Co-occurrences in a corpus, for each kind of network: events, items, names and sizes."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from citeweave.corpus import Corpus
from citeweave.corpus.affiliations import Affiliations
from citeweave.corpus.columns import years_of
from citeweave.countries import country_name
from citeweave.errors import NotFoundError
from citeweave.naming import choice
from citeweave.networks.counting import check_choice, check_number, incidence, link_strength
from citeweave.networks.network import several
from citeweave.networks.papers import (
    citations_got,
    need_citations,
    paper_label,
    paper_name,
    work_label,
)
from citeweave.wording import count

__all__ = ["SOURCES", "TERMS", "Occurrences", "SourceOptions"]

TERMS = ("auto", "keywords", "text")

Naming = Callable[[int], tuple[str, str]]


class SourceOptions(NamedTuple):
    """Options of some kinds; see `citeweave.networks.network_of`."""

    counting: str = "full"
    max_members: int | None = 100
    terms: str = "auto"


class Occurrences(NamedTuple):
    """Items that occur together in events.

    Attributes
    ----------
    of, title : str
        What the items are, and a heading.
    table : csr_array of ones, shape (events, things)
    sizes : ndarray, shape (things,)
    size_name : str
    rank : ndarray, shape (things,)
        The items with the largest values are selected.
    papers : csr_array of ones, shape (papers, things)
        Papers in which each item occurs.
    name : callable
        Maps an item to its name and to a short name for pictures.
    relevant : bool
        Whether to select the most informative of the largest items.
    notes : tuple of str
    """

    of: str
    title: str
    table: Any
    sizes: np.ndarray
    size_name: str
    rank: np.ndarray
    papers: Any
    name: Naming
    relevant: bool = False
    notes: tuple[str, ...] = ()


def _need_authors(corpus: Corpus, what: str) -> None:
    if not corpus.n_authors:
        raise NotFoundError(f"There is no {what}: the papers of the corpus have no authors.")


def _paper_names(corpus: Corpus) -> Naming:
    years = years_of(corpus)
    return lambda d: (paper_name(corpus, d), paper_label(corpus, d, int(years[d])))


def co_citation(corpus: Corpus, _: SourceOptions) -> Occurrences:
    """Return papers, linked if a paper cites both."""
    citations = need_citations(corpus, "co-citation")
    total = corpus.n_documents
    got = citations_got(corpus).astype(float)
    return Occurrences(
        of="paper",
        title="Papers that are cited together",
        table=incidence(citations[:, 0], citations[:, 1], (total, total)),
        sizes=got,
        size_name="citations",
        rank=got,
        papers=sparse.eye_array(total, format="csr"),
        name=_paper_names(corpus),
    )


def co_cited_works(corpus: Corpus, _: SourceOptions) -> Occurrences:
    """Return works, inside or outside the corpus, linked if a paper cites both."""
    column = corpus.metadata.get("outside_references")
    if column is None:
        raise NotFoundError(
            "There is no map of cited works: the corpus does not record outside works that two of "
            "its papers cite. Import it again from files with references (Scopus, Web of Science, "
            "Crossref, PubMed XML), or take co-citation."
        )
    total = corpus.n_documents
    numbers: dict[str, int] = {}
    outside = [
        (paper, numbers.setdefault(work, len(numbers)))
        for paper, works in enumerate(column)
        for work in works or ()
    ]
    pairs = np.array(outside, np.int64).reshape(-1, 2) + np.array([0, total])
    pairs = np.concatenate([np.asarray(corpus.citations, np.int64), pairs])
    table = incidence(pairs[:, 0], pairs[:, 1], (total, total + len(numbers)))
    got = np.asarray(table.sum(axis=0), float)
    works, inside = list(numbers), _paper_names(corpus)
    return Occurrences(
        of="work",
        title="Works that are cited together, inside the corpus and outside",
        table=table,
        sizes=got,
        size_name="citations",
        rank=got,
        papers=table,
        name=lambda d: inside(d) if d < total else (works[d - total], work_label(works[d - total])),
        notes=("Works outside the corpus are those that two or more of its papers cite.",),
    )


def coupling(corpus: Corpus, options: SourceOptions) -> Occurrences:
    """Return papers, linked if both cite the same paper."""
    citations = need_citations(corpus, "bibliographic coupling")
    total = corpus.n_documents
    table = incidence(citations[:, 1], citations[:, 0], (total, total))
    return Occurrences(
        of="paper",
        title="Papers that cite the same papers",
        table=table,
        sizes=citations_got(corpus).astype(float),
        size_name="citations",
        rank=link_strength(table, counting=options.counting),
        papers=sparse.eye_array(total, format="csr"),
        name=_paper_names(corpus),
    )


def _members(
    corpus: Corpus, pairs: np.ndarray, number: int, of: str, most: int | None
) -> tuple[Any, tuple[str, ...]]:
    """Table of papers and who made them, without papers of more than `most` of these; also a note.

    Parameters
    ----------
    corpus : Corpus
    pairs : ndarray of int, shape (m, 2)
        Papers, and their authors, institutions or countries.
    number : int
        How many authors, institutions or countries there are.
    of : str
        What they are.
    most : int, optional
    """
    notes: tuple[str, ...] = ()
    if most is not None:
        check_number("max_members", most, 1)
        few = np.bincount(pairs[:, 0], minlength=corpus.n_documents) <= most
        dropped = int((~few).sum())
        if dropped:
            pairs = pairs[few[pairs[:, 0]]]
            option = choice("max_members=None", "--max-members 0")
            left = f"{count(dropped, 'paper')} with more than {most:,} {several(of)} left out"
            notes = (f"{left} ({option} counts all).",)
    return incidence(pairs[:, 0], pairs[:, 1], (corpus.n_documents, number)), notes


def _authorship(corpus: Corpus, most: int | None) -> tuple[Any, tuple[str, ...]]:
    papers = np.repeat(np.arange(corpus.n_documents), np.diff(corpus.author_offsets))
    pairs = np.column_stack((papers, np.asarray(corpus.author_ids, np.int64)))
    return _members(corpus, pairs, corpus.n_authors, "author", most)


def co_authors(corpus: Corpus, options: SourceOptions) -> Occurrences:
    """Return authors, linked if they wrote a paper together."""
    _need_authors(corpus, "network of co-authors")
    table, notes = _authorship(corpus, options.max_members)
    names = corpus.author_names
    return _together("author", "Authors who write together", table, names, notes)


def co_institutions(corpus: Corpus, options: SourceOptions) -> Occurrences:
    """Return institutions, linked if authors of the same paper work at them."""
    found = Affiliations.of(corpus)
    if not found.names:
        raise NotFoundError("There is no network of institutions: the corpus names none.")
    pairs, number = found.institutions, len(found.names)
    table, notes = _members(corpus, pairs, number, "institution", options.max_members)
    return _together("institution", "Institutions that work together", table, found.names, notes)


def co_countries(corpus: Corpus, options: SourceOptions) -> Occurrences:
    """Return countries, linked if authors of the same paper work in them."""
    found = Affiliations.of(corpus)
    if not found.codes:
        raise NotFoundError("There is no network of countries: the corpus names none.")
    names = [country_name(code) for code in found.codes]
    pairs, number = found.nations, len(names)
    table, notes = _members(corpus, pairs, number, "country", options.max_members)
    return _together("country", "Countries that work together", table, names, notes)


def _together(
    of: str,
    title: str,
    table: Any,
    names: Sequence[str],
    notes: tuple[str, ...],
    *,
    papers: Any = None,
) -> Occurrences:
    """Describe the contributors in a table of co-occurrences, sized by number of papers.

    ``papers`` says who made which; the table itself, if not given.
    """
    made = table if papers is None else papers
    sizes = np.asarray(made.sum(axis=0))
    return Occurrences(
        of=of,
        title=title,
        table=table,
        sizes=sizes,
        size_name="papers",
        rank=sizes,
        papers=made,
        name=lambda one: (names[one],) * 2,
        notes=notes,
    )


def author_coupling(corpus: Corpus, options: SourceOptions) -> Occurrences:
    """Return authors, linked if papers of both cite the same paper, however often."""
    _need_authors(corpus, "coupling of authors")
    citations = need_citations(corpus, "coupling of authors")
    written, notes = _authorship(corpus, options.max_members)
    total = corpus.n_documents
    cited: Any = incidence(citations[:, 1], citations[:, 0], (total, total))
    table = sparse.csr_array(cited @ written)
    table.data[:] = 1.0
    title = "Authors who cite the same papers"
    return _together("author", title, table, corpus.author_names, notes, papers=written)


def co_words(corpus: Corpus, options: SourceOptions) -> Occurrences:
    """Return keywords, or words of titles and abstracts, linked if a paper has both."""
    check_choice("terms", options.terms, TERMS)
    keywords = corpus.metadata.get("keywords")
    if options.terms == "keywords" and keywords is None:
        other = choice("terms='text'", "--terms text")
        raise NotFoundError(f"The papers of the corpus have no keywords; take {other}.")
    if keywords is not None and options.terms != "text":
        return _keywords(corpus, keywords)
    if not corpus.n_tokens:
        raise NotFoundError("There is no map of words: the papers of the corpus have none.")
    papers = np.repeat(np.arange(corpus.n_documents), corpus.lengths)
    table = incidence(papers, corpus.tokens, (corpus.n_documents, corpus.vocabulary_size))
    counts = np.asarray(table.sum(axis=0))
    words = corpus.vocabulary
    return Occurrences(
        of="word",
        title="Words that occur together",
        table=table,
        sizes=counts,
        size_name="papers",
        rank=counts,
        papers=table,
        name=lambda w: (words[w].replace("_", " "),) * 2,
        relevant=True,
    )


def _keywords(corpus: Corpus, column: list[list[str] | None]) -> Occurrences:
    """Keywords, compared case-insensitively and named by their most frequent spelling."""
    numbers: dict[str, int] = {}
    spellings: list[Counter[str]] = []
    papers, things = [], []
    for paper, given in enumerate(column):
        for keyword in given or ():
            plain = " ".join(keyword.split())
            if not plain:
                continue
            place = numbers.setdefault(plain.casefold(), len(numbers))
            if place == len(spellings):
                spellings.append(Counter())
            spellings[place][plain] += 1
            papers.append(paper)
            things.append(place)
    shape = (corpus.n_documents, len(numbers))
    table = incidence(np.array(papers, np.int64), np.array(things, np.int64), shape)
    counts = np.asarray(table.sum(axis=0))
    names = [max(sorted(found), key=found.__getitem__) for found in spellings]
    missing = sum(not given for given in column)
    note = f"{missing:,} of {corpus.n_documents:,} papers have no keywords."
    return Occurrences(
        of="word",
        title="Keywords that occur together",
        table=table,
        sizes=counts,
        size_name="papers",
        rank=counts,
        papers=table,
        name=lambda w: (names[w],) * 2,
        notes=(note,) if missing else (),
    )


SOURCES: dict[str, Callable[[Corpus, SourceOptions], Occurrences]] = {
    "co-citation": co_citation,
    "coupling": coupling,
    "co-cited-works": co_cited_works,
    "author-coupling": author_coupling,
    "co-words": co_words,
    "co-authors": co_authors,
    "co-institutions": co_institutions,
    "co-countries": co_countries,
}
