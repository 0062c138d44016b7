"""What occurs together in a corpus, for each kind of network: events, things, names and sizes."""

from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from citeweave.corpus import Corpus
from citeweave.errors import NotFoundError
from citeweave.naming import choice
from citeweave.networks.counting import check_choice, check_number, incidence, link_strength
from citeweave.networks.papers import (
    citations_got,
    need_citations,
    paper_label,
    paper_name,
    years_of,
)
from citeweave.wording import count

__all__ = ["SOURCES", "TERMS", "Occurrences", "SourceOptions"]

TERMS = ("auto", "keywords", "text")

Naming = Callable[[int], tuple[str, str]]


class SourceOptions(NamedTuple):
    """What some kinds ask for: see `citeweave.networks.network_of`."""

    counting: str = "full"
    max_authors: int | None = 100
    terms: str = "auto"


class Occurrences(NamedTuple):
    """Things that occur together in events.

    Attributes
    ----------
    of, title : str
        What the things are, and a heading.
    table : csr_array of ones, shape (events, things)
    sizes : ndarray, shape (things,)
    size_name : str
    rank : ndarray, shape (things,)
        The things with the largest values are chosen.
    papers : csr_array of ones, shape (papers, things)
        Papers that each thing occurs in.
    name : callable
        From a thing to its name and to a short one for pictures.
    relevant : bool
        Whether of the largest things the most telling ones are to be chosen.
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
    """Find papers, together where a paper cites both."""
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


def coupling(corpus: Corpus, options: SourceOptions) -> Occurrences:
    """Find papers, together where both cite a paper."""
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


def _authorship(corpus: Corpus, most: int | None) -> tuple[Any, tuple[str, ...]]:
    """Table of papers and authors, without papers of more authors than `most`, and a note."""
    number = np.diff(corpus.author_offsets)
    papers = np.repeat(np.arange(corpus.n_documents), number)
    authors = np.asarray(corpus.author_ids, np.int64)
    notes: tuple[str, ...] = ()
    if most is not None:
        check_number("max_authors", most, 1)
        few = number <= most
        dropped = int((~few).sum())
        if dropped:
            papers, authors = papers[few[papers]], authors[few[papers]]
            option = choice("max_authors=None", "--max-authors 0")
            left = f"{count(dropped, 'paper')} with more than {most:,} authors left out"
            notes = (f"{left} ({option} counts all).",)
    return incidence(papers, authors, (corpus.n_documents, corpus.n_authors)), notes


def _author_names(corpus: Corpus) -> Naming:
    names = corpus.author_names
    return lambda a: (names[a], names[a])


def co_authors(corpus: Corpus, options: SourceOptions) -> Occurrences:
    """Find authors, together where they wrote a paper."""
    _need_authors(corpus, "network of co-authors")
    table, notes = _authorship(corpus, options.max_authors)
    papers = np.asarray(table.sum(axis=0))
    return Occurrences(
        of="author",
        title="Authors who write together",
        table=table,
        sizes=papers,
        size_name="papers",
        rank=papers,
        papers=table,
        name=_author_names(corpus),
        notes=notes,
    )


def author_coupling(corpus: Corpus, options: SourceOptions) -> Occurrences:
    """Find authors, together where papers of both cite a paper, however often."""
    _need_authors(corpus, "coupling of authors")
    citations = need_citations(corpus, "coupling of authors")
    written, notes = _authorship(corpus, options.max_authors)
    total = corpus.n_documents
    cited: Any = incidence(citations[:, 1], citations[:, 0], (total, total))
    table = sparse.csr_array(cited @ written)
    table.data[:] = 1.0
    papers = np.asarray(written.sum(axis=0))
    return Occurrences(
        of="author",
        title="Authors who cite the same papers",
        table=table,
        sizes=papers,
        size_name="papers",
        rank=papers,
        papers=written,
        name=_author_names(corpus),
        notes=notes,
    )


def co_words(corpus: Corpus, options: SourceOptions) -> Occurrences:
    """Find keywords, or words of titles and abstracts, together where a paper has both."""
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
    """Keywords as they are, but for large and small letters; named as they are written most."""
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
    "author-coupling": author_coupling,
    "co-words": co_words,
    "co-authors": co_authors,
}
