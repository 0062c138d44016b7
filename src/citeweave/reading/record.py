"""The one record type that every reader gives and everything downstream takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

__all__ = ["Affiliation", "Author", "Record", "Reference", "Source", "WordsKind"]

WordsKind = Literal["count", "tfidf"]


@dataclass(frozen=True, slots=True)
class Source:
    """Where a record came from.

    Attributes
    ----------
    file : str
        The file as the user named it (``-`` for standard input); a member of an archive
        is written ``archive.tgz!member``.
    position : int
        Number of the record's first line in that file, from 1; for files without lines
        (Parquet, one JSON document) the number of the record.

    Examples
    --------
    >>> from citeweave.reading import Source
    >>> Source("export.bib", 12).position
    12
    """

    file: str
    position: int


class Affiliation(NamedTuple):
    """Where an author works, as far as the source tells it apart: nothing is standardised here.

    Attributes
    ----------
    institution : str or None
        Name of the institution, where the source gives it by itself.
    country : str or None
        Country as the source writes it: a code or a name.
    ror : str or None
        Identifier of the Research Organization Registry without the URL, ``05ppvf150``.
    id : str or None
        The source's own id of the institution (OpenAlex ``I…``).
    raw : str or None
        The whole address, where that is what the source gives.

    Examples
    --------
    >>> from citeweave.reading import Affiliation
    >>> Affiliation(institution="Monash University", country="AU").country
    'AU'
    """

    institution: str | None = None
    country: str | None = None
    ror: str | None = None
    id: str | None = None
    raw: str | None = None


@dataclass(frozen=True, slots=True)
class Author:
    """One author of one record, as given: nothing is standardised here.

    Attributes
    ----------
    name : str
        The name for display, "Given Family" where the parts are known.
    given, family : str or None
        The parts of the name where the source tells them apart.
    id : str or None
        The source's own author id (OpenAlex ``A…``, Scopus author id, ResearcherID, …).
    orcid : str or None
        ORCID without the URL, ``0000-0000-0000-0000``.
    affiliations : tuple of Affiliation
        Where they work, by this record.

    Examples
    --------
    >>> from citeweave.reading import Author
    >>> Author("Ann Lee", given="Ann", family="Lee").family
    'Lee'
    """

    name: str
    given: str | None = None
    family: str | None = None
    id: str | None = None
    orcid: str | None = None
    affiliations: tuple[Affiliation, ...] = ()


class Reference(NamedTuple):
    """One entry of a record's reference list, with what the source gives to match it by.

    A named tuple, as there are many: making one takes a third of a frozen class's time.

    Attributes
    ----------
    id : str or None
        Identifier of the cited work in the same source as ``Record.id``.
    doi : str or None
        Normalised DOI.
    title : str or None
        Title of the cited work.
    year : int or None
        Its year of publication.
    first_author : str or None
        Its first author as written in the reference ("Lim KW", "Lim, K. W.").
    raw : str or None
        The whole string as given, for sources whose references are strings.

    Examples
    --------
    >>> from citeweave.reading import Reference
    >>> Reference(doi="10.1007/s10994-016-5562-3", year=2016).year
    2016
    """

    id: str | None = None
    doi: str | None = None
    title: str | None = None
    year: int | None = None
    first_author: str | None = None
    raw: str | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """One publication as its source gives it, before any cleaning.

    Attributes
    ----------
    id : str
        The source's identifier; where it gives none the DOI, else ``file#position``.
    source : Source
        File and position the record was read from.
    doi : str or None
        DOI in lower case without a URL prefix.
    title, abstract : str or None
        As given, white space collapsed.
    keywords : tuple of str
        Keywords in the order given.
    authors : tuple of Author
        Authors in the order given.
    year : int or None
        Year of publication.
    venue : str or None
        Journal, conference or book.
    category : str or None
        Class label or subject category of the source.
    references : tuple of Reference
        The works it cites, duplicates and self-citations included.
    language : str or None
        Language as the source writes it ("en", "English", "eng").
    words : tuple of (str, float) pairs, or None
        Bag of words for data that come as such instead of text.
    words_kind : {"count", "tfidf"} or None
        What the numbers of `words` are.
    affiliations : tuple of Affiliation
        Those that the source gives to the record without saying whose they are.
    document_type : str or None
        Article, review, ... as the source calls it.
    cited_by : int or None
        How often the work is cited, by the count of the source.
    funders : tuple of str
        Who paid for it.

    Examples
    --------
    >>> from citeweave.reading import Author, Record, Source
    >>> record = Record(
    ...     "w1", Source("export.bib", 1), title="Tree pruning", authors=(Author("Ann Lee"),)
    ... )
    >>> record.title, record.references
    ('Tree pruning', ())
    """

    id: str
    source: Source
    doi: str | None = None
    title: str | None = None
    abstract: str | None = None
    keywords: tuple[str, ...] = ()
    authors: tuple[Author, ...] = ()
    year: int | None = None
    venue: str | None = None
    category: str | None = None
    references: tuple[Reference, ...] = ()
    language: str | None = None
    words: tuple[tuple[str, float], ...] | None = None
    words_kind: WordsKind | None = None
    affiliations: tuple[Affiliation, ...] = ()
    document_type: str | None = None
    cited_by: int | None = None
    funders: tuple[str, ...] = ()
