"""The record type that all readers produce."""

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
        The file as named by the user (``-`` for standard input); archive members are written
        ``archive.tgz!member``.
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
    """The affiliation of an author as given by the source, without standardisation.

    Attributes
    ----------
    institution : str or None
        Name of the institution, if the source gives it separately.
    country : str or None
        Country as written in the source: a code or a name.
    ror : str or None
        Research Organization Registry identifier without the URL, such as ``05ppvf150``.
    id : str or None
        The source's own id of the institution (OpenAlex ``I…``).
    raw : str or None
        The full address, if the source gives it.

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
    """One author of one record as given by the source, without standardisation.

    Attributes
    ----------
    name : str
        Display name, "Given Family" if the parts are known.
    given, family : str or None
        The parts of the name, if the source separates them.
    id : str or None
        The source's own author id (OpenAlex ``A…``, Scopus author id, ResearcherID, …).
    orcid : str or None
        ORCID without the URL, ``0000-0000-0000-0000``.
    affiliations : tuple of Affiliation
        Affiliations given in this record.

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
    """One entry of a reference list, with the information available for matching.

    A named tuple, because there are many: creating one takes a third of the time of a frozen
    dataclass.

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
        The full string, for sources whose references are strings.

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
    """One publication as given by its source, before any cleaning.

    Attributes
    ----------
    id : str
        Identifier in the source, or else the DOI, or else ``file#position``.
    source : Source
        File and position the record was read from.
    doi : str or None
        DOI in lower case without a URL prefix.
    title, abstract : str or None
        As given, with collapsed white space.
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
        The works it cites, including duplicates and self-citations.
    language : str or None
        Language as written in the source ("en", "English", "eng").
    words : tuple of (str, float) pairs, or None
        Bag of words, for data sets that contain no text.
    words_kind : {"count", "tfidf"} or None
        Meaning of the numbers in `words`.
    affiliations : tuple of Affiliation
        Affiliations of the record that the source does not assign to an author.
    document_type : str or None
        Article, review, ..., as named by the source.
    cited_by : int or None
        Number of citations of the work according to the source.
    funders : tuple of str
        Funding organisations.

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
